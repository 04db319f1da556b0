"""Synchronisation placed: each requirement goes to the rule that serves it, and places are renumbered for the atoms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import evolve

from isa.mechanisms import AtIssue, GroupKind
from polyhedral import Set, System
from ptxgen.errors import UnsupportedError
from ptxgen.order.atoms import Fence, FenceKind, Retire
from ptxgen.order.nest import Body, Nest, nest
from ptxgen.order.ops import Op, Time, time_domain
from ptxgen.order.requirements import Requirement, check_order
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.synchronise.groups import lane_group
from ptxgen.synchronise.meetings import meetings
from ptxgen.synchronise.rings import between_roles, landing, ring_atoms, rings


def discharge(ops: tuple[Op, ...], requirements: Iterable[Requirement]) -> Synchronised:
    """The fewest meetings that serve `requirements`, the commits and waits of copies that complete in groups, and the
    ops with places renumbered to make room for them.

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
        _add(atoms, body, _in_registers(body, places, found))
    uses = rings(ops, across)
    for use in uses:
        for part in ring_atoms(use, ops, places):
            _add(atoms, part.body, {part.gap: list(part.atoms)})
    return evolve(_renumbered(landing(ops, uses), places, atoms), rings=uses)


def _add(
    atoms: dict[Body, dict[int, list[Synchronisation]]], body: Body, more: dict[int, list[Synchronisation]]
) -> None:
    own = atoms.setdefault(body, {})
    for gap, found in more.items():
        own.setdefault(gap, []).extend(found)


def _in_registers(body: Body, places: Nest, found: list[Requirement]) -> dict[int, list[Synchronisation]]:
    """What orders registers with products in flight: a fence directly before the product that reads what others wrote,
    a wait for all products directly behind the item that issued them."""
    fences: dict[int, list[Requirement]] = {}
    waits: dict[int, list[Requirement]] = {}
    for requirement in found:
        depth = len(requirement.loops)
        if isinstance(requirement.source.op.mechanism.completes, AtIssue):
            fences.setdefault(places.positions[requirement.sink.number][depth], []).append(requirement)
        else:
            waits.setdefault(places.positions[requirement.source.number][depth] + 1, []).append(requirement)
    fence, wait = Fence(FenceKind.REGISTER), Retire(GroupKind.WGMMA, 0)
    atoms = {gap: [_of_all(body, wait, own)] for gap, own in waits.items()}
    for gap, own in fences.items():
        atoms.setdefault(gap, []).append(_of_all(body, fence, own))
    return atoms


def _of_all(body: Body, atom: Fence | Retire, found: list[Requirement]) -> Synchronisation:
    """A fence at every step at which registers are written, a wait at every step at which sums are used: also where no
    product lies between, so that no path goes around it."""
    loops = body.loops
    pieces: list[System] = []
    for requirement in found:
        end = requirement.source.op if isinstance(atom, Fence) else requirement.sink.op
        whole = end.domain if end.domain.dims == loops else end.domain.project_onto(*loops)
        pieces += (time_domain(whole, end.time.ahead[: len(loops)]) if loops else whole).pieces
    domain = Set(loops, tuple(dict.fromkeys(pieces)))
    time = Time(loops, (0,) * len(loops), ())
    return Synchronisation(body.role, atom, domain, time, tuple(dict.fromkeys(r.covered for r in found)))


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
