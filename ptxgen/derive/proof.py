"""The proof that ops and what synchronises them keep their requirements: the atoms of each body, and the ends of each
loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from operator import and_

from attrs import field, frozen

from isa.mechanisms import AtIssue, Group, GroupKind, IssuedBy, Proxy, Transaction
from polyhedral import Set, var
from ptxgen.derive.atoms import (
    Arrive,
    AtomProgram,
    Commit,
    Expect,
    FenceKind,
    Issue,
    Join,
    Obligation,
    Placed,
    Retire,
    Ring,
    RoleBody,
    Side,
    Wait,
)
from ptxgen.derive.checker import Verdict, check
from ptxgen.derive.ops import Op, TouchKind
from ptxgen.derive.requirements import Event, Requirement
from ptxgen.derive.synchronisation import Synchronisation, Synchronised
from ptxgen.errors import Finding, InternalError, Severity

_Loops = tuple[tuple[int, str], ...]
_Key = tuple[str, _Loops]


@frozen
class Threads:
    """Who runs a role: `units` warps or warpgroups with `threads` threads in all."""

    units: int
    threads: int


SEVERAL = Threads(1, 2)


@frozen(eq=False)
class _Part:
    """Bodies whose ops are bound by requirements: one, or one of each role that a ring connects. `atoms` are what
    synchronises each of them, `tails` what follows its loop for the loop's last steps."""

    keys: tuple[_Key, ...]
    requirements: tuple[Requirement, ...]
    atoms: Mapping[_Key, tuple[Synchronisation, ...]]
    tails: Mapping[_Key, tuple[Synchronisation, ...]]
    threads: Mapping[str, Threads] = field(factory=dict)

    def own(self, op: Op, depth: int) -> tuple[Synchronisation, ...]:
        """What synchronises the body in which an op stands at that depth."""
        return self.atoms.get((op.role, _path(op, depth)), ())


def check_meetings(
    synchronised: Synchronised,
    requirements: Iterable[Requirement],
    *,
    needless: bool = True,
    threads: Mapping[str, Threads] | None = None,
) -> Verdict:
    """Whether meetings, waits for groups and barriers of rings keep every requirement of the ops.

    The event graph proves the steady state of each body, or of the bodies of several roles together. First and last
    steps are decided on the domains: no pair of instances may lie between meetings that do not exist, nor count on
    groups that are not closed, nor may the uses of a ring differ from the arrivals at it (code `synchronisation.ends`).
    With `needless`, each atom must also be wanted. `requirements` are those of the same ops in the same order;
    `threads` tells who runs each role. Findings name the requirement and both ops, on the sink's line.
    """
    findings: list[Finding] = []
    for part in _parts(synchronised, tuple(requirements), threads or {}):
        verdict = check(_program(synchronised, part), needless=needless)
        findings += verdict.findings
        if "synchronisation.covered" not in verdict.codes:
            findings += _unserved(synchronised, part)
        findings += _uneven(synchronised, part)
    return Verdict(tuple(findings))


def _parts(
    synchronised: Synchronised, requirements: tuple[Requirement, ...], threads: Mapping[str, Threads]
) -> Iterator[_Part]:
    joined: dict[_Key, _Key] = {}

    def root(key: _Key) -> _Key:
        while joined.setdefault(key, key) != key:
            key = joined[key]
        return key

    bodies: dict[_Key, list[Requirement]] = {}
    for requirement in requirements:
        source, sink = _op(synchronised, requirement.source), _op(synchronised, requirement.sink)
        depth = len(requirement.loops)
        first, second = (source.role, _path(source, depth)), (sink.role, _path(sink, depth))
        if source.role == sink.role and first != second:
            raise InternalError(f"{requirement}: its ops are not in one body of one role")
        joined[root(second)] = root(first)
        bodies.setdefault(first, []).append(requirement)
    atoms, tails = _atoms(synchronised)
    found: dict[_Key, list[_Key]] = {}
    for key in dict.fromkeys((*joined, *atoms)):
        found.setdefault(root(key), []).append(key)
    for keys in found.values():
        own = tuple(requirement for key in keys for requirement in bodies.get(key, ()))
        yield _Part(tuple(keys), own, {k: atoms.get(k, ()) for k in keys}, {k: tails.get(k, ()) for k in keys}, threads)


_Atoms = dict[_Key, tuple[Synchronisation, ...]]


def _atoms(synchronised: Synchronised) -> tuple[_Atoms, _Atoms]:
    """The atoms of each body; and what follows a loop for its last steps, by the body of that loop."""
    atoms: dict[_Key, list[Synchronisation]] = {}
    tails: dict[_Key, list[Synchronisation]] = {}
    loops = {(op.role, _path(op, depth)) for op in synchronised.ops for depth in range(len(op.time.loops) + 1)}
    for atom in sorted(synchronised.atoms, key=lambda atom: atom.time.place):
        key = (atom.role, tuple(zip(atom.time.place, atom.time.loops, strict=False)))
        if not atom.tail:
            atoms.setdefault(key, []).append(atom)
            continue
        names = [name for _, name in key[1]]
        before = [k for k in loops if k[0] == atom.role and [n for _, n in k[1]] == names and k[1] < key[1]]
        if not before:
            raise InternalError(f"{atom} of {atom.role} follows no loop over {', '.join(names)}")
        loop = max(before, key=lambda k: k[1])
        outer = (atom.role, key[1][:-1])
        waits = [a for a in atoms.get(outer, ()) if isinstance(a.atom, Retire) and a.time.place[-1] > loop[1][-1][0]]
        tails.setdefault(loop, []).extend((*waits, atom))
    return ({k: tuple(v) for k, v in atoms.items()}, {k: tuple(dict.fromkeys(v)) for k, v in tails.items()})


def _op(synchronised: Synchronised, event: Event) -> Op:
    op = synchronised.ops[event.number]
    if (op.name, op.instance) != (event.op.name, event.op.instance):
        raise InternalError(f"the requirement of {event.op} names op number {event.number}, which is {op}")
    return op


def _path(op: Op, depth: int) -> _Loops:
    return tuple(zip(op.time.place, op.time.loops, strict=False))[:depth]


def _program(synchronised: Synchronised, part: _Part) -> AtomProgram:
    """The bodies as atoms in time steps, with the rings between them."""
    uses = _rings(synchronised, part)
    roles = tuple(_role(synchronised, part, key, uses) for key in part.keys)
    rings = tuple(_ring(part, name, buffers) for name, buffers in uses.items())
    obligations = (_obligation(synchronised, r, counted=bool(uses)) for r in part.requirements)
    return AtomProgram(roles, rings, tuple(obligations))


def _rings(synchronised: Synchronised, part: _Part) -> dict[str, tuple[str, ...]]:
    """The buffers whose fillings each ring of the part counts: those that its waits cover."""
    found: dict[str, dict[str, None]] = {}
    for atom in (atom for own in part.atoms.values() for atom in own):
        if isinstance(atom.atom, Wait | Arrive | Expect):
            found.setdefault(atom.atom.ring, {}).update(dict.fromkeys(covered.buffer for covered in atom.covers))
    return {name: tuple(buffers) for name, buffers in found.items()}


def _ring(part: _Part, name: str, buffers: tuple[str, ...]) -> Ring:
    """A ring with the counts that its barriers are given: one announcement, and the arrivals of the readers."""
    depth = next(r.buffer.depth for r in part.requirements if r.buffer.name in buffers)
    empty = 0
    for (role, _), own in part.atoms.items():
        threads = part.threads.get(role, SEVERAL)
        for atom in own:
            match atom.atom:
                case Arrive(ring=ring, side=Side.EMPTY, by=by) if ring == name:
                    empty += arrivals(by, threads)
                case _:
                    pass
    return Ring(name, depth, 1, empty)


def arrivals(by: IssuedBy, threads: Threads) -> int:
    """Arrivals of a role at one phase: one of each unit, warp or thread."""
    match by:
        case IssuedBy.ELECTED | IssuedBy.WARPGROUP:
            return threads.units
        case IssuedBy.WARP:
            return max(1, threads.threads // 32)
        case IssuedBy.LANE:
            return threads.threads


def _role(synchronised: Synchronised, part: _Part, key: _Key, uses: Mapping[str, tuple[str, ...]]) -> RoleBody:
    """A body: what the requirements name, a nested loop being one atom, and what stands between. A nested loop whose
    ops complete in groups closes them itself. Where rings count, atoms act for indices, else for steps in time."""
    role, path = key
    depth = len(path)
    placed: dict[tuple[int, int], Placed] = {}
    for requirement in part.requirements:
        for event in (requirement.source, requirement.sink):
            op = _op(synchronised, event)
            if (op.role, _path(op, depth)) != key:
                continue
            place = op.time.place[depth]
            known = placed.get((place, 0))
            if known is None or not isinstance(op.mechanism.completes, AtIssue):
                placed[place, 0] = Placed(_issue(op, depth, uses), op.time.ahead[0] if uses else 0, op.line)
                if isinstance(op.mechanism.completes, Group) and len(op.time.loops) > depth:
                    placed[place, 1] = Placed(Commit(op.mechanism.completes.kind))
    for atom in part.atoms[key]:
        place = atom.time.place[depth]
        if (place, 0) in placed:
            raise InternalError(f"{atom} stands at the place of {placed[place, 0]}")
        placed[place, 0] = Placed(atom.atom, atom.time.ahead[depth - 1] if depth else 0)
    body = tuple(placed[place] for place in sorted(placed))
    threads = part.threads.get(role, SEVERAL)
    tail = tuple(_tail(part.tails[key], body))
    return RoleBody(role, threads.units, threads.threads, body, tail, periodic=depth > 0)


def _issue(op: Op, depth: int, uses: Mapping[str, tuple[str, ...]]) -> Issue:
    if isinstance(op.mechanism.completes, Transaction):
        for touch in op.touches:
            for ring, buffers in uses.items():
                if touch.kind is TouchKind.WRITE and touch.buffer.name in buffers:
                    return Issue(_name(op, depth), op.mechanism, ring, touch.buffer.slot_bytes)
    return Issue(_name(op, depth), op.mechanism)


def _tail(tail: tuple[Synchronisation, ...], body: tuple[Placed, ...]) -> Iterator[Placed]:
    """What follows a loop, once for each step that its own arrivals lag behind."""
    for atom in tail:
        if not isinstance(atom.atom, Arrive):
            yield Placed(atom.atom, -1)
            continue
        lag = max((-placed.ahead for placed in body if placed.atom == atom.atom), default=0)
        yield from (Placed(atom.atom, step) for step in range(-lag, 0))


def _name(op: Op, depth: int) -> str:
    place = op.time.place[depth]
    return f"loop {op.time.loops[depth]} at {place}" if depth < len(op.time.loops) else f"{op} at {place}"


def _obligation(synchronised: Synchronised, requirement: Requirement, *, counted: bool) -> Obligation:
    source, sink = _op(synchronised, requirement.source), _op(synchronised, requirement.sink)
    depth = len(requirement.loops)
    return Obligation(
        _name(source, depth),
        requirement.source.kind,
        _name(sink, depth),
        requirement.distance if counted else _steps(source, sink, requirement),
        str(requirement),
        _fence(requirement),
        requirement.own,
    )


def _fence(requirement: Requirement) -> FenceKind | None:
    """The fence that must stand between: generic accesses before asynchronous ones, register writes before a product of
    a warpgroup."""
    if requirement.own:
        before = isinstance(requirement.source.op.mechanism.completes, AtIssue)
        return FenceKind.REGISTER if before else None
    return FenceKind.PROXY if requirement.proxies == (Proxy.GENERIC, Proxy.ASYNC) else None


def _steps(source: Op, sink: Op, requirement: Requirement) -> int:
    """Steps in time from source to sink in the innermost of the requirement's loops."""
    depth = len(requirement.loops)
    return requirement.distance + source.time.ahead[depth - 1] - sink.time.ahead[depth - 1] if depth else 0


def _uneven(synchronised: Synchronised, part: _Part) -> Iterator[Finding]:
    """Rings that are not used as often as they are filled: at every index that is copied there is one announcement,
    one wait of each role, and one arrival, in the loop or behind it."""
    for name, buffers in _rings(synchronised, part).items():
        filled = [
            op.domain
            for op in synchronised.ops
            if isinstance(op.mechanism.completes, Transaction)
            and any(t.kind is TouchKind.WRITE and t.buffer.name in buffers for t in op.touches)
        ]
        uses: dict[str, list[Set]] = {}
        for own in (*part.atoms.values(), *part.tails.values()):
            for atom in own:
                if isinstance(atom.atom, Wait | Arrive | Expect) and atom.atom.ring == name:
                    uses.setdefault(f"{atom.atom} by {atom.role}", []).append(atom.domain)
        for what, domains in uses.items():
            if not _same_once(domains, filled[0]) or any(not other.equals(filled[0]) for other in filled[1:]):
                text = f"ring {name}: {what} is not done once for every filling"
                yield Finding("synchronisation.ends", Severity.ERROR, text)


def _same_once(parts: list[Set], whole: Set) -> bool:
    """Whether the parts are disjoint and together the whole."""
    union = Set(whole.dims, tuple(piece for part in parts for piece in part.pieces))
    apart = all((first & second).is_empty() for place, first in enumerate(parts) for second in parts[place + 1 :])
    return apart and union.equals(whole)


def _unserved(synchronised: Synchronised, part: _Part) -> Iterator[Finding]:
    for requirement in part.requirements:
        source, sink = _op(synchronised, requirement.source), _op(synchronised, requirement.sink)
        if source.role != sink.role or isinstance(source.mechanism.completes, Transaction):
            continue
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
            if requirement.own:
                lacks = "nothing that orders registers"
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
    which counts the groups closed since; for registers the wait or the fence alone."""
    kind = lane_kind(source)
    depth = len(requirement.loops)
    passed = [
        (atom, step, _seen(atom, step, source, requirement))
        for atom, step in _passed(part.own(source, depth), depth, source, sink, requirement)
    ]
    nested = len(source.time.loops) > depth
    if requirement.own:
        fences = [seen for atom, _, seen in passed if _is_register_fence(atom)]
        waits = _waits(passed, kind, nested=nested) if kind else ()
        yield from ((seen,) for seen in fences if kind is None)
        yield from ((waited, *counted) for waited, counted in waits)
        return
    for at, (atom, _, met) in enumerate(passed):
        if isinstance(atom.atom, Join) and kind is None:
            yield (met,)
        elif isinstance(atom.atom, Join):
            yield from ((met, waited, *counted) for waited, counted in _waits(passed[:at], kind, nested=nested))


def _is_register_fence(atom: Synchronisation) -> bool:
    return getattr(atom.atom, "kind", None) is FenceKind.REGISTER


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


def _passed(
    atoms: tuple[Synchronisation, ...], depth: int, source: Op, sink: Op, requirement: Requirement
) -> list[tuple[Synchronisation, int]]:
    """The atoms between source and sink in the order in which they are passed, with how many steps after the source's
    step that is."""
    steps = _steps(source, sink, requirement)
    found: list[tuple[int, int, Synchronisation]] = []
    for atom in atoms:
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
