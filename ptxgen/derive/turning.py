"""Units of a role that take turns: who they are, and a tree for each of them where they take work items in turn.

Up to the proof they are one role, whose items each have one unit. Then each unit becomes a role of its own: it takes
every n-th item, counts past the items of the others, meets at a barrier of its own and has its own buffers. Units that
share every item and take phases of a loop in rotation stay one role with one tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import evolve

from isa.mechanisms import Transaction
from ptxgen.derive.space import GROUP_BITS, IndexSpace
from ptxgen.errors import PlanError, UnsupportedError
from ptxgen.order.ops import Op
from ptxgen.order.threads import Rotation
from ptxgen.tile import (
    Advance,
    Buffer,
    Counter,
    ForEachItem,
    Let,
    Loop,
    Meet,
    Node,
    Region,
    Role,
    Sequence,
    Space,
    When,
)
from ptxgen.tile.regions import rewritten
from ptxgen.tile.trees import flattened


def rotations(space: IndexSpace) -> tuple[Rotation, ...]:
    """The turns that the plan asks for."""
    if space.turns is not None:
        return (Rotation(space.turns.role, space.turns.phases),)
    step = space.rotation
    return (Rotation(step.role, step.phases, step.over),) if step else ()


def check_units(space: IndexSpace) -> None:
    """PlanError where units that are to share every item in turns are one warpgroup, or none."""
    step = space.rotation
    if step is not None and (not space.grouped or space.warps >> GROUP_BITS < 2):
        dealt = f"{space.warps >> GROUP_BITS} warpgroup" if space.grouped else f"{space.warps} warps"
        raise PlanError(
            f"{step}: its tiles are dealt to {dealt}, and {step.role} takes turns with two warpgroups or more",
            line=step.line,
        )


def unit_count(space: IndexSpace, role: str) -> int:
    """How many units of a role take an item each; 1 where all its threads share every item."""
    if space.turns is None or space.turns.role != role:
        return 1
    assert space.roles is not None
    warps, each = dict(space.roles.roles)[role].warp_count, space.warps
    if not space.grouped or warps % each or warps // each < 2:
        raise PlanError(
            f"{space.turns}: an item is dealt to {each} warps, and the role has {warps}: each warpgroup that takes "
            f"turns has a tile of its own",
            line=space.turns.line,
        )
    return warps // each


def own_buffers(ops: Iterable[Op], role: str) -> tuple[Buffer, ...]:
    """The shared buffers that a role alone fills and reads."""
    landed, found = set[str](), dict[str, Buffer]()
    for op in ops:
        for touch in op.touches:
            if touch.buffer.space is Space.SHARED:
                landed |= {touch.buffer.name} if isinstance(op.mechanism.completes, Transaction) else set()
                found |= {touch.buffer.name: touch.buffer} if op.role == role else {}
    return tuple(buffer for name, buffer in found.items() if name not in landed)


def copies(buffer: Buffer, units: int) -> tuple[Buffer, ...]:
    """A buffer for each unit."""
    return tuple(evolve(buffer, name=f"{buffer.name} of {unit}") for unit in range(units))


def of_units(role: Role, units: int, own: tuple[Buffer, ...]) -> Iterator[Role]:
    """A role for each unit, which has its own one of the buffers."""
    for unit in range(units):
        mine = {buffer.name: copies(buffer, units)[unit] for buffer in own}
        body = _of_unit(role.body, unit, units, mine)
        yield evolve(role, name=f"{role.name} {unit}", warps=role.warps // units, body=flattened(body))


def _of_unit(node: Node, unit: int, units: int, own: dict[str, Buffer]) -> Node:
    def inside(child: Node) -> Node:
        return _of_unit(child, unit, units, own)

    def region(found: Region) -> Region:
        return evolve(found, buffer=own.get(found.buffer.name, found.buffer))

    match node:
        case Sequence(children):
            return Sequence(tuple(map(inside, children)))
        case Loop() | Let():
            return evolve(node, body=inside(node.body))
        case When(conditions, then, otherwise):
            return When(conditions, inside(then), otherwise and inside(otherwise))
        case ForEachItem():
            return evolve(node, body=inside(node.body), first=unit, step=units)
        case Counter(variable, body):
            return Counter(variable, Sequence((_of_item(variable, body),) * unit + (inside(body),)))
        case Advance():
            return Sequence((node,) * units)
        case Meet(barrier, covers):
            return Meet(barrier * units + unit, covers)
        case _:
            return rewritten(node, region, lambda affine: affine)


def _of_item(counter: str, body: Node) -> Advance:
    """How an item moves a counter on. UnsupportedError where it does so several times, or in a loop: the items of other
    units would have to be counted past behind the last one."""
    found = [advance for advance in _advances(body) if advance.variable == counter]
    if len(found) != 1:
        raise UnsupportedError(
            f"{counter}: units that take turns count past the items of others where an item moves it on once, outside "
            f"all loops; here it does so {len(found)} times"
        )
    return found[0]


def _advances(node: Node) -> Iterator[Advance]:
    match node:
        case Sequence(children):
            for child in children:
                yield from _advances(child)
        case Let(body=body) | ForEachItem(body=body) | Counter(body=body):
            yield from _advances(body)
        case When(_, then, otherwise):
            yield from _advances(then)
            if otherwise is not None:
                yield from _advances(otherwise)
        case Advance():
            yield node
        case _:
            return
