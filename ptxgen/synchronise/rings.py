"""Rings between roles: one fills the tiles by transactions, another uses them, and a pair of mbarriers for each slot
tells either when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import evolve, frozen

from isa.mechanisms import AtIssue, Group, GroupKind, IssuedBy, Proxy, Transaction
from polyhedral import Affine, Set, var
from ptxgen.errors import PlanError, UnsupportedError
from ptxgen.order.atoms import Arrive, Commit, Expect, Fence, FenceKind, Retire, Side, Wait
from ptxgen.order.clusters import is_remote
from ptxgen.order.nest import Body, Nest
from ptxgen.order.ops import Op, Time, TouchKind
from ptxgen.order.requirement import Requirement
from ptxgen.order.synchronisation import RingUse, Synchronisation, numbered
from ptxgen.synchronise.clusters import before_leaving, freed_by
from ptxgen.synchronise.rounds import check_rounds
from ptxgen.tile import Copy, RequirementKind


def is_transaction(op: Op) -> bool:
    """Whether an op completes when its bytes have landed."""
    return isinstance(op.mechanism.completes, Transaction)


def between_roles(requirement: Requirement) -> bool:
    """Whether a ring's barriers serve a requirement: its ends are in two roles, or its source is a transaction."""
    source, sink = requirement.source.op, requirement.sink.op
    return source.role != sink.role or is_transaction(source)


def rings(ops: tuple[Op, ...], requirements: Iterable[Requirement]) -> tuple[RingUse, ...]:
    """The rings that serve these requirements. UnsupportedError names what no ring serves."""
    found: dict[tuple[object, ...], list[Requirement]] = {}
    for requirement in requirements:
        if requirement.kind is not RequirementKind.REWRITE:
            found.setdefault(_shared_by(requirement), []).append(requirement)
    uses = tuple(_ring(ops, own) for own in found.values())
    check_rounds(ops, uses)
    return uses


def _shared_by(requirement: Requirement) -> tuple[object, ...]:
    """What requirements of one ring have in common."""
    flow = requirement.kind is RequirementKind.FLOW
    ends = (requirement.source.op, requirement.sink.op)
    writer, reader = ends if flow else reversed(ends)
    if not is_transaction(writer):
        raise UnsupportedError(
            f"{requirement}: {writer} ({writer.line}) of the role {writer.role} fills tiles for the role {reader.role} "
            f"and completes otherwise than by a transaction ({writer.mechanism.completes}); copy them by tensor"
        )
    return writer.role, reader.role, requirement.buffer.depth, requirement.loops, requirement.counter


def _ring(ops: tuple[Op, ...], own: list[Requirement]) -> RingUse:
    first = own[0]
    if len(first.loops) > 1 and not first.counter:
        raise UnsupportedError(
            f"{first}: a ring between roles is counted by one loop, {first.source.op} and {first.sink.op} share "
            f"{', '.join(first.loops) or 'none'}"
        )
    buffers = tuple({requirement.buffer.name: requirement.buffer for requirement in own}.values())
    loop = first.loops[-1] if first.loops else ""
    rank = numbered(loop, first.counter)
    writers: list[int] = []
    readers: list[int] = []
    for number, op in enumerate(ops):
        for touch in op.touches:
            around = op.time.loops[: len(first.loops)]
            if touch.buffer in buffers and not (first.counter and around != first.loops):
                _check_counted(op, touch.rank, first.loops, rank)
                (writers if touch.kind is TouchKind.WRITE else readers).append(number)
    covers = tuple(dict.fromkeys(requirement.covered for requirement in own))
    window = max(ops[number].in_flight * (ops[number].time.loops == first.loops) for number in readers)
    if loop and buffers[0].depth <= window:
        reader = ops[readers[-1]]
        raise PlanError(
            f"{reader} keeps {window} steps in flight and frees a slot of {buffers[0].name} only behind them: with "
            f"{buffers[0].depth} slots none is ever free, a depth of {window + 1} or more is wanted",
            line=reader.line,
        )
    name = "+".join(buffer.name for buffer in buffers)
    fills, uses = tuple(dict.fromkeys(writers)), tuple(dict.fromkeys(readers))
    freed = freed_by(ops, buffers)
    return RingUse(name, buffers, loop, fills, uses, window, covers, first.counter, freed)


def _check_counted(op: Op, rank: Affine, loops: tuple[str, ...], counted: Affine) -> None:
    if rank != counted or op.time.loops[: len(loops)] != loops:
        raise UnsupportedError(
            f"{op} ({op.line}) uses tile {rank} in the loops {', '.join(op.time.loops) or 'none'}; roles count the "
            f"tiles of a ring by the one loop that both run"
        )


@frozen(eq=False)
class RingAtoms:
    """What a ring puts into the body of a role at a gap: before the item there, or `behind` what others put there."""

    body: Body
    gap: int
    atoms: tuple[Synchronisation, ...]


def ring_atoms(
    use: RingUse, ops: tuple[Op, ...], places: Nest, awaited: frozenset[int] = frozenset()
) -> Iterator[RingAtoms]:
    """The waits, expectations, arrivals and groups of a ring; the products numbered `awaited` are complete where the
    next item begins.

    The writer waits until the slot is free and announces the bytes before the first copy of a step. The reader waits
    for them before its first use, and releases the slot behind its last one: `window` steps later where its reads are
    in flight, the last of them behind the loop. Behind what it reads by itself it has a fence. A tile outside all loops
    is filled once and never again. Where other blocks release slots, the writer waits for the last of them behind its
    loop, or behind all work items. A tile that stays while loops inside of its own read it is waited for before them,
    and released behind them, by each warp: where those run no step, no product tells one warp of the others.
    """
    yield from _writing(use, ops, places)
    depth = len(ops[use.writers[0]].time.loops)
    order = _in_time(ops, places, use.readers, depth)
    first = order[0]
    body = Body(ops[first].role, places.paths[first][:depth])
    wait = _atom(use, _around(use, ops, first), Wait(use.name, Side.FULL))
    yield RingAtoms(body, places.positions[first][depth], (wait,))
    if use.loop:
        yield from _releasing(use, ops, places, order, awaited)


def _around(use: RingUse, ops: tuple[Op, ...], number: int) -> Op:
    """A reader as its ring's loops see it: where it stands in loops inside of them, once for each tile that is
    filled."""
    op, filler = ops[number], ops[use.writers[0]]
    depth = len(filler.time.loops)
    if len(op.time.loops) == depth:
        return op
    time = Time(op.time.loops[:depth], op.time.ahead[:depth], op.time.place[: depth + 1])
    return evolve(op, domain=filler.domain, time=time)


def _writing(use: RingUse, ops: tuple[Op, ...], places: Nest) -> Iterator[RingAtoms]:
    first = _in_time(ops, places, use.writers, len(ops[use.writers[0]].time.loops))[0]
    body = Body(ops[first].role, places.paths[first])
    wait = _atom(use, ops[first], Wait(use.name, Side.EMPTY))
    expect = _atom(use, ops[first], Expect(use.name, use.byte_count))
    yield RingAtoms(body, places.positions[first][-1], (wait, expect) if use.loop else (expect,))
    if is_remote(use.masks):
        last, outside = before_leaving(use, ops[first], ops[use.readers[-1]]), 2 if use.counter else 1
        around = Body(body.role, body.path[:-outside])
        yield RingAtoms(around, places.positions[first][-1 - outside] + 1, last)


def _in_time(ops: tuple[Op, ...], places: Nest, numbers: tuple[int, ...], depth: int) -> list[int]:
    """The users of a ring of so many loops in the order in which they come to one of its tiles."""

    def turn(number: int) -> tuple[int, int]:
        return -sum(ops[number].time.ahead[:depth][-1:]), places.positions[number][depth]

    return sorted(numbers, key=turn)


def _releasing(
    use: RingUse, ops: tuple[Op, ...], places: Nest, order: list[int], awaited: frozenset[int]
) -> Iterator[RingAtoms]:
    """What frees a slot behind its readers, which come in this order: a fence behind the last of those that read by
    themselves, the group of the last product that nobody awaits, and the arrival."""
    last = order[-1]
    op = _around(use, ops, last)
    depth = len(op.time.loops)
    release = _atom(use, op, Arrive(use.name, Side.EMPTY, _releasing_by(ops[last], op), use.masks))
    found: dict[int, list[Synchronisation]] = {}
    for number in [number for number in order if ops[number].mechanism.reads is Proxy.GENERIC][-1:]:
        found[number] = [_atom(use, _around(use, ops, number), Fence(FenceKind.PROXY))]
    products = [number for number in order if _is_product(ops[number]) and len(ops[number].time.loops) == depth]
    in_flight = [number for number in products[-1:] if number not in awaited]
    for number in in_flight:
        found.setdefault(number, []).append(_atom(use, ops[number], Commit(GroupKind.WGMMA)))
        retire = _later(use, _atom(use, ops[number], Retire(GroupKind.WGMMA, use.window)))
        found.setdefault(last, []).append(retire)
    found.setdefault(last, []).append(_later(use, release) if in_flight else release)
    body = Body(op.role, places.paths[last][:depth])
    for number, atoms in found.items():
        yield RingAtoms(body, places.positions[number][depth] + 1, tuple(atoms))
    if in_flight and use.window:
        outer = Body(body.role, body.path[:-1])
        rest = evolve(release, domain=_rest(use, op.domain), tail=True)
        yield RingAtoms(outer, body.path[-1][0] + 1, (rest,))


def _releasing_by(reader: Op, around: Op) -> IssuedBy:
    """Who frees a slot behind its last reader: one thread behind a product, which all warps issue together, else each
    warp for itself, as where loops inside may run no product."""
    if _is_product(reader):
        return IssuedBy.ELECTED if reader is around else IssuedBy.WARP
    if isinstance(reader.mechanism.completes, AtIssue):
        return IssuedBy.WARP
    raise UnsupportedError(f"{reader} ({reader.line}) reads a ring and completes by {reader.mechanism.completes}")


def _is_product(op: Op) -> bool:
    return isinstance(op.mechanism.completes, Group) and op.mechanism.completes.kind is GroupKind.WGMMA


def _later(use: RingUse, atom: Synchronisation) -> Synchronisation:
    """The atom `window` steps later, for the indices that the loop still reaches then."""
    if not use.window:
        return atom
    moved = {use.loop: var(use.loop) + use.window}
    domain = atom.domain & Set(atom.domain.dims, tuple(piece.substitute(moved) for piece in atom.domain.pieces))
    return evolve(atom, domain=domain, time=evolve(atom.time, ahead=(*atom.time.ahead[:-1], -use.window)))


def _rest(use: RingUse, domain: Set) -> Set:
    """The last indices of a loop, `window` of them."""
    moved = {use.loop: var(use.loop) + use.window}
    return domain - Set(domain.dims, tuple(piece.substitute(moved) for piece in domain.pieces))


def _atom(use: RingUse, op: Op, atom: Wait | Arrive | Expect | Commit | Retire | Fence) -> Synchronisation:
    """An atom that runs at the steps of an op."""
    frees = isinstance(atom, Arrive | Retire | Fence) or (isinstance(atom, Wait) and atom.side is Side.EMPTY)
    kind = RequirementKind.REUSE if frees else RequirementKind.FLOW
    covers = tuple(covered for covered in use.covers if covered.kind is kind)
    return Synchronisation(op.role, atom, op.domain, op.time, covers, use.rank)


def landing(ops: tuple[Op, ...], uses: Iterable[RingUse]) -> tuple[Op, ...]:
    """The ops, with copies that say at the barrier of which ring their bytes arrive."""
    names = {number: use.name for use in uses for number in use.writers}
    return tuple(
        evolve(op, node=evolve(op.node, ring=names[number])) if number in names and isinstance(op.node, Copy) else op
        for number, op in enumerate(ops)
    )
