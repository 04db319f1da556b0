"""Synchronisation placed: each requirement goes to the rule that serves it, and places are renumbered for the atoms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve

from isa.mechanisms import AtIssue, Group, IssuedBy
from ptxgen.errors import UnsupportedError
from ptxgen.order.atoms import Commit, Fence, FenceKind
from ptxgen.order.intervals import check_order
from ptxgen.order.nest import Body, Nest, nest
from ptxgen.order.ops import Op
from ptxgen.order.requirement import Requirement
from ptxgen.order.synchronisation import RingUse, Synchronisation, Synchronised
from ptxgen.order.threads import SEVERAL, Rotation, Threads
from ptxgen.synchronise.clusters import counted, entering
from ptxgen.synchronise.counters import advances
from ptxgen.synchronise.gatherings import gatherings
from ptxgen.synchronise.groups import lane_group
from ptxgen.synchronise.meetings import meetings
from ptxgen.synchronise.passing import passing
from ptxgen.synchronise.registers import own_waits, register_fences
from ptxgen.synchronise.rings import between_roles, landing, ring_atoms, rings
from ptxgen.synchronise.rotation import turn_advances
from ptxgen.synchronise.rounds import check_counts
from ptxgen.synchronise.turns import TurnAtoms, turn_atoms, turn_uses


def discharge(
    ops: tuple[Op, ...],
    requirements: Iterable[Requirement],
    threads: Mapping[str, Threads] | None = None,
    rotations: Iterable[Rotation] = (),
) -> Synchronised:
    """The fewest meetings that serve `requirements`, the commits and waits of copies that complete in groups, and the
    ops with places renumbered to make room for them. `threads` tells who runs each role, which rings count; `rotations`
    which roles' units take turns.

    A requirement is served in the body where its ends part, since a nested loop may run no step at all. Of equally few
    gaps, those directly before a sink are taken. Each meeting exists where a requirement that it covers does. What a
    lane's group delivers is awaited by the lane directly before the last meeting on the way to the sink, with as many
    groups left open as were closed since. What is between blocks of a cluster meets at its barrier. The only warpgroup
    of a role knows by its own wait that its products are done. Raises PlanError where a shift or a depth leaves no gap,
    UnsupportedError where neither discharges it.
    """
    places = nest(ops)
    bodies: dict[Body, list[Requirement]] = {
        Body(op.role, path): [] for op, path in zip(ops, places.paths, strict=True) if lane_group(op) is not None
    }
    served: dict[Body, list[Requirement]] = {}
    across: list[Requirement] = []
    around: list[Requirement] = []
    passed: list[Requirement] = []
    for requirement in requirements:
        if between_roles(requirement):
            across.append(requirement)
            if _is_collective(requirement) and len(requirement.source.op.time.loops) > len(requirement.loops):
                path = places.paths[requirement.source.number][: len(requirement.loops)]
                served.setdefault(Body(requirement.source.op.role, path), []).append(requirement)
            continue
        if requirement.parts:
            passed.append(requirement)
            continue
        check_order(requirement, places)
        if requirement.between_blocks:
            around.append(requirement)
            continue
        number, depth = requirement.source.number, len(requirement.loops)
        body = Body(requirement.source.op.role, places.paths[number][:depth])
        role = (threads or {}).get(body.role)
        alone = role is not None and role.together.units == 1 and _is_collective(requirement)
        if not requirement.own and not alone:
            bodies.setdefault(body, []).append(requirement)
        if requirement.own or _is_collective(requirement):
            served.setdefault(body, []).append(requirement)
    for requirement in (r for found in bodies.values() for r in found):
        _check_served_by_meeting(requirement)
    atoms = {body: meetings(body, places, ops, found) for body, found in bodies.items()}
    for body, found in served.items():
        _add_behind_commits(atoms.setdefault(body, {}), own_waits(body, places, found))
    uses = tuple(_rotating(use, ops, threads or {}) for use in rings(ops, across))
    awaited = frozenset(r.source.number for body, found in served.items() for r in found if _is_awaited(r, body))
    for use in uses:
        for part in ring_atoms(use, ops, places, awaited):
            _add(atoms, part.body, {part.gap: list(part.atoms)})
    for body, gap, atom in gatherings(places, around):
        _add(atoms, body, {gap: [atom]})
    for body, gap, own in passing(places, passed):
        _add(atoms, body, {gap: list(own)})
    for body, gap, fence in register_fences(places, [r for found in served.values() for r in found]):
        _add(atoms, body, {gap: [fence]})
    for part in advances(uses, ops, places):
        _add(atoms, part.body, {part.gap: list(part.atoms)})
    turns = turn_uses(rotations, ops, threads or {}, places)
    for part in turn_advances(turns, ops, places):
        _add(atoms, part.body, {part.gap: list(part.atoms)})
    for turn in turn_atoms(turns, ops, places):
        _add_turn(atoms.setdefault(turn.body, {}), turn)
    placed = _renumbered(landing(ops, uses), places, atoms)
    counts = tuple(counted(use, placed.atoms, threads or {}) for use in uses)
    check_counts(counts)
    return evolve(placed, rings=counts, enter=entering(uses), turns=turns)


def _add_turn(own: dict[int, list[Synchronisation]], turn: TurnAtoms) -> None:
    """A turn is taken behind all waits, but before the fence of the registers that the phase's products use, and passed
    on behind the groups that its products are closed in, before anybody waits for them."""
    here = own.setdefault(turn.before, [])
    waits = [n for n, atom in enumerate(here, start=1) if atom.atom != Fence(FenceKind.REGISTER)]
    here.insert(max(waits, default=0), turn.take)
    _add_behind_commits(own, {turn.behind: [turn.passed]})


def _rotating(use: RingUse, ops: tuple[Op, ...], threads: Mapping[str, Threads]) -> RingUse:
    return evolve(use, rotates=threads.get(ops[use.readers[0]].role, SEVERAL).alternates)


def _add(
    atoms: dict[Body, dict[int, list[Synchronisation]]], body: Body, more: dict[int, list[Synchronisation]]
) -> None:
    own = atoms.setdefault(body, {})
    for gap, found in more.items():
        own.setdefault(gap, []).extend(found)


def _is_collective(requirement: Requirement) -> bool:
    """Whether the source completes in a group of its warpgroup: its threads wait for it, then meet the others."""
    completes = requirement.source.op.mechanism.completes
    return isinstance(completes, Group) and completes.owner is IssuedBy.WARPGROUP


def _add_behind_commits(own: dict[int, list[Synchronisation]], more: dict[int, list[Synchronisation]]) -> None:
    """Puts what threads keep for themselves behind the groups that a gap closes, before it meets."""
    for gap, found in more.items():
        here = own.setdefault(gap, [])
        place = next((n for n, atom in enumerate(here) if not isinstance(atom.atom, Commit)), len(here))
        here[place:place] = found


def _is_awaited(requirement: Requirement, body: Body) -> bool:
    """Whether a product is waited for in the body that issues it."""
    return _is_collective(requirement) and requirement.source.op.time.loops == body.loops


def _check_served_by_meeting(requirement: Requirement) -> None:
    source = requirement.source.op
    served = isinstance(source.mechanism.completes, AtIssue | Group)
    if not served:
        raise UnsupportedError(
            f"{requirement}: {source} ({source.line}) completes asynchronously ({source.mechanism.completes}); what is "
            f"complete when issued, or in a group, is synchronised"
        )


def _renumbered(ops: tuple[Op, ...], places: Nest, atoms: dict[Body, dict[int, list[Synchronisation]]]) -> Synchronised:
    numbers: dict[Body, dict[int, int]] = {}
    for body, items in places.items.items():
        taken = atoms.get(body, {})
        numbers[body] = {p: p + sum(len(own) for gap, own in taken.items() if gap <= p) for p in range(len(items) + 1)}

    def place(role: str, path: Sequence[tuple[int, str]], positions: Sequence[int]) -> tuple[int, ...]:
        bodies = (Body(role, tuple(path[:depth])) for depth in range(len(positions)))
        return tuple(numbers[body][position] for body, position in zip(bodies, positions, strict=True))

    moved = tuple(
        evolve(op, time=evolve(op.time, place=place(op.role, path, positions)))
        for op, path, positions in zip(ops, places.paths, places.positions, strict=True)
    )
    found: list[Synchronisation] = []
    for body, taken in atoms.items():
        around = place(body.role, body.path, _positions_of(body, places))
        for gap in sorted(taken):
            first = numbers[body][gap] - len(taken[gap])
            for number, atom in enumerate(taken[gap]):
                inner = (0,) * (len(atom.time.loops) - len(body.loops))
                found.append(evolve(atom, time=evolve(atom.time, place=(*around, first + number, *inner))))
    return Synchronised(moved, tuple(found))


def _positions_of(body: Body, places: Nest) -> tuple[int, ...]:
    depth = len(body.path)
    return next(
        positions[:depth]
        for role, path, positions in zip(places.roles, places.paths, places.positions, strict=True)
        if role == body.role and path[:depth] == body.path
    )
