"""The proof that ops and what synchronises them keep their requirements: the atoms of each body, and the ends of each
loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache, reduce
from operator import and_

from attrs import frozen

from isa.mechanisms import AtIssue, Group, GroupKind, Proxy
from polyhedral import Set, var
from ptxgen.derive.atoms import (
    AtomProgram,
    Commit,
    FenceKind,
    Issue,
    Join,
    Obligation,
    Placed,
    Retire,
    RoleBody,
)
from ptxgen.derive.checker import Verdict, check
from ptxgen.derive.discharge import Synchronisation, Synchronised
from ptxgen.derive.ops import Op
from ptxgen.derive.requirements import Event, Requirement
from ptxgen.errors import Finding, InternalError, Severity

_Key = tuple[str, tuple[tuple[int, str], ...]]


@frozen(eq=False)
class _Part:
    """The requirements whose ends part in one body, with what synchronises that body."""

    role: str
    path: tuple[tuple[int, str], ...]
    requirements: tuple[Requirement, ...]
    atoms: tuple[Synchronisation, ...]


def check_meetings(
    synchronised: Synchronised, requirements: Iterable[Requirement], *, needless: bool = True
) -> Verdict:
    """Whether the meetings, and the waits for groups, keep every requirement of the ops.

    The event graph proves the steady state of each body. First and last steps are decided on the domains: no pair of
    instances may lie between meetings that do not exist, nor count on groups that are not closed (code
    `synchronisation.ends`). With `needless`, each atom must also be wanted. `requirements` are those of the same ops in
    the same order. Findings name the requirement and both ops, on the sink's line.
    """
    findings: list[Finding] = []
    for part in _parts(synchronised, tuple(requirements)):
        verdict = check(_program(synchronised, part), needless=needless)
        findings += verdict.findings
        if "synchronisation.covered" not in verdict.codes:
            findings += _unserved(synchronised, part)
    return Verdict(tuple(findings))


def _parts(synchronised: Synchronised, requirements: tuple[Requirement, ...]) -> Iterator[_Part]:
    bodies: dict[_Key, list[Requirement]] = {}
    for requirement in requirements:
        source, sink = _op(synchronised, requirement.source), _op(synchronised, requirement.sink)
        depth = len(requirement.loops)
        if source.role != sink.role or _path(source, depth) != _path(sink, depth):
            raise InternalError(f"{requirement}: its ops are not in one body of one role")
        bodies.setdefault((source.role, _path(source, depth)), []).append(requirement)
    atoms: dict[_Key, list[Synchronisation]] = {}
    for atom in synchronised.atoms:
        key = (atom.role, tuple(zip(atom.time.place, atom.time.loops, strict=False)))
        atoms.setdefault(key, []).append(atom)
    for key in dict.fromkeys((*bodies, *atoms)):
        yield _Part(*key, tuple(bodies.get(key, ())), tuple(atoms.get(key, ())))


def _op(synchronised: Synchronised, event: Event) -> Op:
    op = synchronised.ops[event.number]
    if (op.name, op.instance) != (event.op.name, event.op.instance):
        raise InternalError(f"the requirement of {event.op} names op number {event.number}, which is {op}")
    return op


def _path(op: Op, depth: int) -> tuple[tuple[int, str], ...]:
    return tuple(zip(op.time.place, op.time.loops, strict=False))[:depth]


def _program(synchronised: Synchronised, part: _Part) -> AtomProgram:
    """The body as atoms in time steps: what the requirements name, a nested loop being one atom, and what stands
    between them. A nested loop whose copies complete in groups closes them itself."""
    depth = len(part.path)
    placed: dict[tuple[int, int], Placed] = {}
    for requirement in part.requirements:
        for event in (requirement.source, requirement.sink):
            op = _op(synchronised, event)
            place = op.time.place[depth]
            known = placed.get((place, 0))
            if known is None or not isinstance(op.mechanism.completes, AtIssue):
                placed[place, 0] = Placed(Issue(_name(op, depth), op.mechanism), line=op.line)
                if isinstance(op.mechanism.completes, Group) and len(op.time.loops) > depth:
                    placed[place, 1] = Placed(Commit(op.mechanism.completes.kind))
    for atom in part.atoms:
        place = atom.time.place[depth]
        if (place, 0) in placed:
            raise InternalError(f"{atom} stands at the place of {placed[place, 0]}")
        placed[place, 0] = Placed(atom.atom)
    body = tuple(placed[place] for place in sorted(placed))
    role = RoleBody(part.role, units=1, threads=2, body=body, periodic=depth > 0)
    return AtomProgram((role,), (), tuple(_obligation(synchronised, r) for r in part.requirements))


def _name(op: Op, depth: int) -> str:
    place = op.time.place[depth]
    return f"loop {op.time.loops[depth]} at {place}" if depth < len(op.time.loops) else f"{op} at {place}"


def _obligation(synchronised: Synchronised, requirement: Requirement) -> Obligation:
    source, sink = _op(synchronised, requirement.source), _op(synchronised, requirement.sink)
    depth = len(requirement.loops)
    return Obligation(
        _name(source, depth),
        requirement.source.kind,
        _name(sink, depth),
        _steps(source, sink, requirement),
        str(requirement),
        FenceKind.PROXY if requirement.proxies == (Proxy.GENERIC, Proxy.ASYNC) else None,
    )


def _steps(source: Op, sink: Op, requirement: Requirement) -> int:
    """Steps in time from source to sink in the innermost of the requirement's loops."""
    depth = len(requirement.loops)
    return requirement.distance + source.time.ahead[depth - 1] - sink.time.ahead[depth - 1] if depth else 0


def _unserved(synchronised: Synchronised, part: _Part) -> Iterator[Finding]:
    for requirement in part.requirements:
        source, sink = _op(synchronised, requirement.source), _op(synchronised, requirement.sink)
        left = _left(
            source.domain,
            sink.domain,
            requirement.loops,
            requirement.distance,
            tuple(_ways(part, requirement, source, sink)),
        )
        witness = left.sample()
        if witness is not None:
            where = ", ".join(f"{name} = {value}" for name, value in witness.items())
            lacks = "no meeting" if lane_kind(source) is None else "no meeting behind a wait for its group"
            text = f"{requirement}: {lacks} between {source} and {sink} at {where}"
            related = ((str(source), source.line),)
            yield Finding("synchronisation.ends", Severity.ERROR, text, sink.line, related=related)


@frozen
class _Passed:
    """What exists when an atom is passed `step` steps after the source's: the atom's domain, and how much earlier than
    the source it runs in each loop."""

    domain: Set
    early: tuple[int, ...]
    step: int


def lane_kind(op: Op) -> GroupKind | None:
    """The kind of group in which an op completes."""
    return op.mechanism.completes.kind if isinstance(op.mechanism.completes, Group) else None


def _ways(part: _Part, requirement: Requirement, source: Op, sink: Op) -> Iterator[tuple[_Passed, ...]]:
    """What orders source before sink where all of it exists: a meeting; behind a wait for the group of the source,
    which counts the groups closed since."""
    kind = lane_kind(source)
    passed = [
        (atom, step, _seen(atom, step, source, requirement)) for atom, step in _passed(part, source, sink, requirement)
    ]
    for at, (atom, _, met) in enumerate(passed):
        if isinstance(atom.atom, Join) and kind is None:
            yield (met,)
        elif isinstance(atom.atom, Join):
            yield from (
                (met, waited, *counted)
                for waited, counted in _waits(passed[:at], kind, nested=len(source.time.loops) > len(part.path))
            )


def _waits(
    passed: list[tuple[Synchronisation, int, _Passed]], kind: GroupKind | None, *, nested: bool
) -> Iterator[tuple[_Passed, tuple[_Passed, ...]]]:
    """The waits on the way that see the source's group complete, each with the closings that it counts on: the source's
    own and as many later ones as it leaves open. A nested loop closes its own groups."""
    closed: list[_Passed] = []
    for atom, _, seen in passed:
        match atom.atom:
            case Commit(kind=own) if own is kind:
                closed.append(seen)
            case Retire(kind=own, pending=pending) if own is kind:
                first = () if nested else tuple(closed[:1])
                later = closed if nested else closed[1:]
                if (nested or first) and len(later) >= pending:
                    yield seen, (*first, *later[len(later) - pending :])
            case _:
                pass


def _passed(part: _Part, source: Op, sink: Op, requirement: Requirement) -> list[tuple[Synchronisation, int]]:
    """The atoms between source and sink in the order in which they are passed, with how many steps after the source's
    step that is."""
    depth = len(part.path)
    steps = _steps(source, sink, requirement)
    found: list[tuple[int, int, Synchronisation]] = []
    for atom in part.atoms:
        place = atom.time.place[depth]
        first = 0 if place > source.time.place[depth] else 1
        last = steps if place < sink.time.place[depth] else steps - 1
        found += [(step, place, atom) for step in range(first, last + 1)]
    return [(atom, step) for step, _, atom in sorted(found, key=lambda f: f[:2])]


def _seen(atom: Synchronisation, step: int, source: Op, requirement: Requirement) -> _Passed:
    early = source.time.ahead[: len(requirement.loops)]
    return _Passed(atom.domain, tuple(own - other for own, other in zip(atom.time.ahead, early, strict=True)), step)


@lru_cache(maxsize=1 << 10)
def _left(source: Set, sink: Set, loops: tuple[str, ...], distance: int, ways: tuple[tuple[_Passed, ...], ...]) -> Set:
    """The source's indices at which both instances exist and no way orders them."""
    left = (source if source.dims == loops else source.project_onto(*loops)) & _moved(
        sink if sink.dims == loops else sink.project_onto(*loops), (0,) * len(loops), distance
    )
    for way in ways:
        if left.is_empty():
            break
        moved = [_moved(passed.domain, passed.early, passed.step) for passed in way]
        left = left - reduce(and_, moved)
    return left


def _moved(domain: Set, by: tuple[int, ...], last: int) -> Set:
    """The points x at which x + by, and `last` more in the innermost loop, is in the domain."""
    if not domain.dims:
        return domain
    values = {loop: var(loop) + shift for loop, shift in zip(domain.dims, by, strict=True)}
    values[domain.dims[-1]] = values[domain.dims[-1]] + last
    return Set(domain.dims, tuple(piece.substitute(values) for piece in domain.pieces))
