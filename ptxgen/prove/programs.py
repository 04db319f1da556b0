"""Bodies as atoms in time steps, which the checker judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve

from isa.mechanisms import AtIssue, Group, GroupKind, Proxy, Transaction
from ptxgen.errors import InternalError
from ptxgen.order.atoms import (
    Arrive,
    AtomProgram,
    Commit,
    Expect,
    Fence,
    FenceKind,
    Issue,
    Join,
    Obligation,
    PassTurn,
    Placed,
    Ring,
    RoleBody,
    TakeTurn,
    Wait,
)
from ptxgen.order.clusters import joined
from ptxgen.order.ops import Op, TouchKind
from ptxgen.order.requirement import Requirement
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.order.threads import SEVERAL
from ptxgen.prove.clusters import reaches_others
from ptxgen.prove.nested import passages
from ptxgen.prove.parts import Key, Part, op_of, path_of
from ptxgen.prove.turns import turns_between

_Uses = Mapping[str, tuple[str, ...]]
_ORDERS = {None: 1} | {kind: 2 + 2 * number for number, kind in enumerate(GroupKind)}


def program_of(synchronised: Synchronised, part: Part) -> AtomProgram:
    """The bodies as atoms in time steps, with the rings between them."""
    uses = rings_of(synchronised, part)
    roles = tuple(_role(synchronised, part, key, uses) for key in part.keys)
    apart = _apart(synchronised, part, uses)
    rings = tuple(_ring(synchronised, part, name, buffers, apart[name]) for name, buffers in uses.items())
    obligations = (_obligation(synchronised, r, uses, apart) for r in part.requirements)
    turns = tuple(turn for role in roles for turn in turns_between(synchronised, part, role))
    program = AtomProgram(roles, rings, tuple(obligations), turns, cluster=_blocks(roles, part))
    return evolve(program, enter=synchronised.enter) if reaches_others(program) else program


def _blocks(roles: tuple[RoleBody, ...], part: Part) -> int:
    """The blocks that some atom tells apart: those of a cluster, or of parts of a sum that follow each other."""
    later = max((requirement.parts for requirement in part.requirements), default=0)
    if later:
        return later + 1
    reach = (p.atom.to for role in roles for p in role.body if isinstance(p.atom, Issue | Arrive))
    return max((len(masks) for masks in reach), default=0) or 1


def rings_of(synchronised: Synchronised, part: Part) -> dict[str, tuple[str, ...]]:
    """The buffers whose fillings each ring of the part counts: those that its waits cover."""
    found: dict[str, dict[str, None]] = {}
    for atom in (atom for own in part.atoms.values() for atom in own):
        if isinstance(atom.atom, Wait | Arrive | Expect):
            found.setdefault(atom.atom.ring, {}).update(dict.fromkeys(covered.buffer for covered in atom.covers))
    return {name: tuple(buffers) for name, buffers in found.items()}


def fillings(synchronised: Synchronised, part: Part, buffers: tuple[str, ...]) -> list[Op]:
    """The ops of a part that fill these buffers by transactions."""
    return [
        op
        for op in synchronised.ops
        if isinstance(op.mechanism.completes, Transaction)
        and (op.role, path_of(op, len(op.time.loops))) in part.keys
        and any(touch.kind is TouchKind.WRITE and touch.buffer.name in buffers for touch in op.touches)
    ]


def _apart(synchronised: Synchronised, part: Part, uses: _Uses) -> dict[str, tuple[str, ...]]:
    """Of each ring those that count other tiles: by another counter, or at other indices of its loops. The graph takes
    all to have every index, so that what an arrival of one tells of the other's tiles may never have happened."""
    counters = {use.name: use.counter for use in synchronised.rings}
    filled = {
        name: {op.time.loops: op.domain for op in fillings(synchronised, part, buffers)}
        for name, buffers in uses.items()
    }

    def alike(one: str, other: str) -> bool:
        if counters[one] != counters[other] or filled[one].keys() != filled[other].keys():
            return False
        return all(domain.equals(filled[other][loops]) for loops, domain in filled[one].items())

    return {one: tuple(other for other in uses if other != one and not alike(one, other)) for one in uses}


def _ring(synchronised: Synchronised, part: Part, name: str, buffers: tuple[str, ...], aside: tuple[str, ...]) -> Ring:
    """A ring with the counts that its barriers are given: one announcement, and what was counted of the readers."""
    depth = next((r.buffer.depth for r in part.requirements if r.buffer.name in buffers), None)
    if depth is None:
        raise InternalError(f"ring {name}: no requirement of the bodies that use it is about {', '.join(buffers)}")
    use = next(use for use in synchronised.rings if use.name == name)
    return Ring(name, depth, 1, use.empty_count, use.counts_by_rank, aside)


def _role(synchronised: Synchronised, part: Part, key: Key, uses: _Uses) -> RoleBody:
    """A body: what the requirements name, a nested loop being one atom for what is complete at issue and one for what
    is not of each kind, and what stands between. A nested loop whose ops complete in groups closes them itself. Where
    rings count, atoms act for indices, else for steps in time."""
    role, path = key
    depth = len(path)
    placed: dict[tuple[int, int], Placed] = {}
    for requirement in part.requirements:
        for event in (requirement.source, requirement.sink):
            op = op_of(synchronised, event)
            if (op.role, path_of(op, depth)) != key:
                continue
            place, order = op.time.place[depth], _order(op, depth)
            ahead = op.time.ahead[depth - 1] if uses and depth else 0
            placed.setdefault((place, order), Placed(_issue(op, depth, uses), ahead, op.line))
            if isinstance(op.mechanism.completes, Group) and order:
                placed[place, order + 1] = Placed(Commit(op.mechanism.completes.kind))
    for atom in part.atoms[key]:
        place = atom.time.place[depth]
        if any((place, order) in placed for order in (0, *_ORDERS.values())):
            raise InternalError(f"{atom} stands at the place of an op")
        what = atom.atom
        if isinstance(what, Commit) and part.closes_for_outside(atom):
            what = evolve(what, for_outside=True)
        if isinstance(what, Fence) and not _at_every_arrival(atom, (*part.atoms[key], *part.tails[key])):
            what = evolve(what, every_step=False)
        if isinstance(what, Join) and part.only_passes(atom):
            what = evolve(what, for_passing=True)
        in_time = isinstance(what, TakeTurn | PassTurn) and not uses
        placed[place, 0] = Placed(what, atom.time.ahead[depth - 1] if depth and not in_time else 0)
    for place, fence in part.lifted.get(key, {}).items():
        placed[place, -1] = Placed(fence.atom)
    for (place, order), passage in passages(synchronised, key).items():
        placed[place, order] = passage
    body = tuple(placed[place] for place in sorted(placed))
    threads = part.threads.get(role, SEVERAL)
    threads = threads if uses else threads.together
    tail = tuple(_tail(part.tails[key], body))
    leave = tuple(_tail(part.leaves.get(key, ()), body))
    resumes = bool(uses) and _goes_on(part)
    alone = threads.alternates
    return RoleBody(role, threads.units, threads.threads, body, tail, depth > 0, alone, resumes=resumes, leave=leave)


def _at_every_arrival(fence: Synchronisation, atoms: tuple[Synchronisation, ...]) -> bool:
    """Whether a fence stands at every index of these atoms that is told by an arrival, one of them at least."""
    arrivals = [atom.domain for atom in atoms if isinstance(atom.atom, Arrive)]
    return bool(arrivals) and all(domain.is_subset(fence.domain) for domain in arrivals)


def _goes_on(part: Part) -> bool:
    """Whether a ring's loop is followed by another round of it, or by another loop."""
    return any(requirement.counter for requirement in part.requirements)


def _issue(op: Op, depth: int, uses: _Uses) -> Issue:
    if isinstance(op.mechanism.completes, Transaction):
        for touch in op.touches:
            for ring, buffers in uses.items():
                if touch.kind is TouchKind.WRITE and touch.buffer.name in buffers:
                    byte_count = touch.buffer.slot_bytes // touch.shares
                    return Issue(_name(op, depth), op.mechanism, ring, byte_count, touch.masks)
        return Issue(_name(op, depth), op.mechanism)
    return Issue(_name(op, depth), op.mechanism, to=joined(t.masks for t in op.touches if t.masks))


def _tail(tail: tuple[Synchronisation, ...], body: tuple[Placed, ...]) -> Iterator[Placed]:
    """What follows a loop, once for each step that its own arrivals lag behind; a wait acts for the tile that it names,
    counted from the loop's last one. Behind all items a counter says how many tiles there were."""
    for atom in tail:
        if isinstance(atom.atom, Wait):
            yield Placed(atom.atom, atom.rank.constant - int(bool(atom.time.loops)))
            continue
        if not isinstance(atom.atom, Arrive):
            yield Placed(atom.atom, -1)
            continue
        lag = max((-placed.ahead for placed in body if placed.atom == atom.atom), default=0)
        yield from (Placed(atom.atom, step) for step in range(-lag, 0))


def _name(op: Op, depth: int) -> str:
    place = op.time.place[depth]
    if depth == len(op.time.loops):
        return f"{op} at {place}"
    loop = f"loop {op.time.loops[depth]} at {place}"
    if not _order(op, depth):
        return loop
    completes = op.mechanism.completes
    return f"{loop}, in the background" + (f" ({completes.kind.value})" if isinstance(completes, Group) else "")


def _order(op: Op, depth: int) -> int:
    """Where an op stands among those of its place: of a nested loop what may not be complete when it has been issued
    behind the rest, each kind of group by itself, since a wait for groups of one says nothing of another's."""
    completes = op.mechanism.completes
    if depth == len(op.time.loops) or isinstance(completes, AtIssue):
        return 0
    return _ORDERS[completes.kind if isinstance(completes, Group) else None]


def _obligation(
    synchronised: Synchronised, requirement: Requirement, uses: _Uses, apart: Mapping[str, tuple[str, ...]]
) -> Obligation:
    source, sink = op_of(synchronised, requirement.source), op_of(synchronised, requirement.sink)
    depth = len(requirement.loops)
    own = next((name for name, buffers in uses.items() if requirement.buffer.name in buffers), None)
    others = tuple(use.name for use in synchronised.rings if use.name in uses and use.counter != requirement.counter)
    return Obligation(
        _name(source, depth),
        requirement.source.kind,
        _name(sink, depth),
        requirement.distance if uses else steps_between(source, sink, requirement),
        str(requirement),
        fence_of(requirement),
        requirement.own,
        ctas=((0, 0, requirement.parts),) if requirement.parts else requirement.ctas,
        passed=bool(requirement.parts),
        aside=others if own is None else apart[own],
    )


def fence_of(requirement: Requirement) -> FenceKind | None:
    """The fence that must stand between: generic accesses before asynchronous ones, register writes before a product of
    a warpgroup."""
    if requirement.own:
        before = isinstance(requirement.source.op.mechanism.completes, AtIssue)
        return FenceKind.REGISTER if before else None
    return FenceKind.PROXY if requirement.proxies == (Proxy.GENERIC, Proxy.ASYNC) else None


def steps_between(source: Op, sink: Op, requirement: Requirement) -> int:
    """Steps in time from source to sink in the innermost of the requirement's loops."""
    depth = len(requirement.loops)
    return requirement.distance + source.time.ahead[depth - 1] - sink.time.ahead[depth - 1] if depth else 0
