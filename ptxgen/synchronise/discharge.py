"""Synchronisation placed: each requirement goes to the rule that serves it, and places are renumbered for the atoms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve

from isa.mechanisms import AtIssue, GroupKind
from polyhedral import Set, System
from ptxgen.errors import UnsupportedError
from ptxgen.order.atoms import Commit, Fence, FenceKind, Retire
from ptxgen.order.nest import Body, Nest, nest
from ptxgen.order.ops import Op, Time, time_domain
from ptxgen.order.requirements import Requirement, check_order
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.order.threads import Threads
from ptxgen.synchronise.clusters import counted, entering
from ptxgen.synchronise.counters import advances
from ptxgen.synchronise.groups import lane_group
from ptxgen.synchronise.meetings import meetings
from ptxgen.synchronise.rings import between_roles, landing, ring_atoms, rings


def discharge(
    ops: tuple[Op, ...], requirements: Iterable[Requirement], threads: Mapping[str, Threads] | None = None
) -> Synchronised:
    """The fewest meetings that serve `requirements`, the commits and waits of copies that complete in groups, and the
    ops with places renumbered to make room for them. `threads` tells who runs each role, which rings count.

    A requirement is served in the body where its ends part, since a nested loop may run no step at all. Of equally few
    gaps, those directly before a sink are taken. Each meeting exists where a requirement that it covers does. What a
    lane's group delivers is awaited by the lane directly before the last meeting on the way to the sink, with as many
    groups left open as were closed since. Raises PlanError where a shift or a depth leaves no gap, UnsupportedError
    where neither discharges it.
    """
    places = nest(ops)
    bodies: dict[Body, list[Requirement]] = {
        Body(op.role, path): [] for op, path in zip(ops, places.paths, strict=True) if lane_group(op) is not None
    }
    served: dict[Body, list[Requirement]] = {}
    across: list[Requirement] = []
    for requirement in requirements:
        if between_roles(requirement):
            across.append(requirement)
            continue
        check_order(requirement, places)
        number, depth = requirement.source.number, len(requirement.loops)
        body = Body(requirement.source.op.role, places.paths[number][:depth])
        (served if requirement.own else bodies).setdefault(body, []).append(requirement)
    for requirement in (r for found in bodies.values() for r in found):
        _check_served_by_meeting(requirement)
    atoms = {body: meetings(body, places, ops, found) for body, found in bodies.items()}
    for body, found in served.items():
        _add(atoms, body, _product_waits(body, places, found))
    uses = rings(ops, across)
    awaited = frozenset(r.source.number for body, found in served.items() for r in found if _is_awaited(r, body))
    for use in uses:
        for part in ring_atoms(use, ops, places, awaited):
            _add(atoms, part.body, {part.gap: list(part.atoms)})
    for body, gap, fence in _register_fences(places, [r for found in served.values() for r in found]):
        _add(atoms, body, {gap: [fence]})
    for part in advances(uses, ops, places):
        _add(atoms, part.body, {part.gap: list(part.atoms)})
    placed = _renumbered(landing(ops, uses), places, atoms)
    return evolve(placed, rings=tuple(counted(use, placed.atoms, threads or {}) for use in uses), enter=entering(uses))


def _add(
    atoms: dict[Body, dict[int, list[Synchronisation]]], body: Body, more: dict[int, list[Synchronisation]]
) -> None:
    own = atoms.setdefault(body, {})
    for gap, found in more.items():
        own.setdefault(gap, []).extend(found)


def _product_waits(body: Body, places: Nest, found: list[Requirement]) -> dict[int, list[Synchronisation]]:
    """A wait for all products directly behind the item that issued them, at every step at which sums are used: also
    where no product lies between, so that no path goes around it. Where that item is the product, its group is closed
    there first."""
    depth = len(body.path)
    waits: dict[int, list[Requirement]] = {}
    for requirement in found:
        if not _is_fenced(requirement):
            waits.setdefault(places.positions[requirement.source.number][depth] + 1, []).append(requirement)
    loops = body.loops
    atoms: dict[int, list[Synchronisation]] = {}
    for gap, own in waits.items():
        pieces: list[System] = []
        for sink in (requirement.sink.op for requirement in own):
            whole = sink.domain if sink.domain.dims == loops else sink.domain.project_onto(*loops)
            pieces += (time_domain(whole, sink.time.ahead[: len(loops)]) if loops else whole).pieces
        domain, time = Set(loops, tuple(dict.fromkeys(pieces))), Time(loops, (0,) * len(loops), ())
        covers = tuple(dict.fromkeys(r.covered for r in own))
        wait = Synchronisation(body.role, Retire(GroupKind.WGMMA, 0), domain, time, covers)
        issued = [requirement.source.op for requirement in own if _is_awaited(requirement, body)]
        closing = [evolve(wait, atom=Commit(GroupKind.WGMMA), domain=op.domain, time=op.time) for op in issued[:1]]
        atoms[gap] = [*closing, wait]
    return atoms


def _is_awaited(requirement: Requirement, body: Body) -> bool:
    """Whether a product is waited for in the body that issues it."""
    return not _is_fenced(requirement) and requirement.source.op.time.loops == body.loops


def _register_fences(places: Nest, found: list[Requirement]) -> Iterator[tuple[Body, int, Synchronisation]]:
    """A fence directly before each product that reads what others wrote, wherever that was: assemblers put one of their
    own before products that none precedes in the same stretch of code."""
    sinks: dict[int, list[Requirement]] = {}
    for requirement in found:
        if _is_fenced(requirement):
            sinks.setdefault(requirement.sink.number, []).append(requirement)
    for number, own in sinks.items():
        op = own[0].sink.op
        covers = tuple(dict.fromkeys(r.covered for r in own))
        body, gap = Body(op.role, places.paths[number]), places.positions[number][-1]
        yield body, gap, Synchronisation(op.role, Fence(FenceKind.REGISTER), op.domain, op.time, covers)


def _is_fenced(requirement: Requirement) -> bool:
    return isinstance(requirement.source.op.mechanism.completes, AtIssue)


def _check_served_by_meeting(requirement: Requirement) -> None:
    source = requirement.source.op
    if not isinstance(source.mechanism.completes, AtIssue) and lane_group(source) is None:
        raise UnsupportedError(
            f"{requirement}: {source} ({source.line}) completes asynchronously ({source.mechanism.completes}); what is "
            f"complete when issued, or in a group of its own lane, is synchronised"
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
