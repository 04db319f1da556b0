"""The proof that ops and meetings keep their requirements: the atoms of each body, and the ends of each loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from attrs import frozen

from isa.mechanisms import AtIssue, Proxy
from polyhedral import Set, var
from ptxgen.derive.atoms import AtomProgram, FenceKind, Issue, Join, Obligation, Placed, RoleBody
from ptxgen.derive.checker import Verdict, check
from ptxgen.derive.discharge import Meeting, Synchronised
from ptxgen.derive.ops import Op
from ptxgen.derive.requirements import Event, Requirement
from ptxgen.errors import Finding, InternalError, Severity

_Key = tuple[str, tuple[tuple[int, str], ...]]


@frozen(eq=False)
class _Part:
    """The requirements whose ends part in one body, with the meetings of that body."""

    role: str
    path: tuple[tuple[int, str], ...]
    requirements: tuple[Requirement, ...]
    meetings: tuple[Meeting, ...]


def check_meetings(
    synchronised: Synchronised, requirements: Iterable[Requirement], *, needless: bool = True
) -> Verdict:
    """Whether the meetings keep every requirement of the ops.

    The event graph proves the steady state of each body. First and last steps are decided on the domains: no pair of
    instances may lie between meetings that do not exist (code `synchronisation.ends`). With `needless`, each meeting
    must also be wanted. `requirements` are those of the same ops in the same order. Findings name the requirement and
    both ops, on the sink's line.
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
    meetings: dict[_Key, list[Meeting]] = {}
    for meeting in synchronised.meetings:
        key = (meeting.role, tuple(zip(meeting.time.place, meeting.time.loops, strict=False)))
        meetings.setdefault(key, []).append(meeting)
    for key in dict.fromkeys((*bodies, *meetings)):
        yield _Part(*key, tuple(bodies.get(key, ())), tuple(meetings.get(key, ())))


def _op(synchronised: Synchronised, event: Event) -> Op:
    op = synchronised.ops[event.number]
    if (op.name, op.instance) != (event.op.name, event.op.instance):
        raise InternalError(f"the requirement of {event.op} names op number {event.number}, which is {op}")
    return op


def _path(op: Op, depth: int) -> tuple[tuple[int, str], ...]:
    return tuple(zip(op.time.place, op.time.loops, strict=False))[:depth]


def _program(synchronised: Synchronised, part: _Part) -> AtomProgram:
    """The body as atoms in time steps: what the requirements name, a nested loop being one atom, and the meetings."""
    depth = len(part.path)
    placed: dict[int, Placed] = {}
    for requirement in part.requirements:
        for event in (requirement.source, requirement.sink):
            op = _op(synchronised, event)
            place = op.time.place[depth]
            known = placed.get(place)
            if known is None or not isinstance(op.mechanism.completes, AtIssue):
                placed[place] = Placed(Issue(_name(op, depth), op.mechanism), line=op.line)
    for meeting in part.meetings:
        if meeting.time.place[depth] in placed:
            raise InternalError(f"{meeting} stands at the place of {placed[meeting.time.place[depth]]}")
        placed[meeting.time.place[depth]] = Placed(Join(0))
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
        early = tuple(source.time.ahead[: len(requirement.loops)])
        passed = tuple(
            (meeting.domain, tuple(own - other for own, other in zip(meeting.time.ahead, early, strict=True)), step)
            for meeting, step in _passed(part, requirement, source, sink)
        )
        left = _left(source.domain, sink.domain, requirement.loops, requirement.distance, passed)
        witness = left.sample()
        if witness is not None:
            where = ", ".join(f"{name} = {value}" for name, value in witness.items())
            text = f"{requirement}: no meeting between {source} and {sink} at {where}"
            related = ((str(source), source.line),)
            yield Finding("synchronisation.ends", Severity.ERROR, text, sink.line, related=related)


def _passed(part: _Part, requirement: Requirement, source: Op, sink: Op) -> Iterator[tuple[Meeting, int]]:
    """The meetings between source and sink, with how many steps after the source's step they are."""
    depth = len(part.path)
    steps = _steps(source, sink, requirement)
    for meeting in part.meetings:
        place = meeting.time.place[depth]
        first = 0 if place > source.time.place[depth] else 1
        last = steps if place < sink.time.place[depth] else steps - 1
        for step in range(first, last + 1):
            yield meeting, step


@lru_cache(maxsize=1 << 10)
def _left(
    source: Set,
    sink: Set,
    loops: tuple[str, ...],
    distance: int,
    passed: tuple[tuple[Set, tuple[int, ...], int], ...],
) -> Set:
    """The source's indices at which both instances exist and none of the passed meetings does: their domains, how much
    earlier than the source they run in each loop, and the step after the source's at which they are passed."""
    left = (source if source.dims == loops else source.project_onto(*loops)) & _moved(
        sink if sink.dims == loops else sink.project_onto(*loops), (0,) * len(loops), distance
    )
    for domain, early, step in passed:
        if left.is_empty():
            break
        left = left - _moved(domain, early, step)
    return left


def _moved(domain: Set, by: tuple[int, ...], last: int) -> Set:
    """The points x at which x + by, and `last` more in the innermost loop, is in the domain."""
    if not domain.dims:
        return domain
    values = {loop: var(loop) + shift for loop, shift in zip(domain.dims, by, strict=True)}
    values[domain.dims[-1]] = values[domain.dims[-1]] + last
    return Set(domain.dims, tuple(piece.substitute(values) for piece in domain.pieces))
