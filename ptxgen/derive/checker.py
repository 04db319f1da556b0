"""The checker: whether the atoms of a kernel keep every requirement, without deadlock, confused phase or needless wait.

It judges what was derived (or written by hand) from the atoms alone and shares no code with what places them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from attrs import frozen

from isa.mechanisms import Group, GroupKind, IssuedBy, Mechanism
from ptxgen.errors import Finding, Place, Severity

from .atoms import (
    Arrive,
    AtomProgram,
    Commit,
    Expect,
    Issue,
    Join,
    Obligation,
    Placed,
    Retire,
    Ring,
    RoleBody,
    Side,
    Wait,
    is_synchronisation,
)
from .graph import FAR, Copy, Cycle, Graph, event_graph, handover_graph, tail_graphs, without

NAMED_BARRIERS = 16
TRANSACTION_BYTES = 1 << 20


@frozen
class Verdict:
    """What is wrong; nothing where every property is proved."""

    findings: tuple[Finding, ...]

    @property
    def accepted(self) -> bool:
        """Whether every property is proved."""
        return not self.findings

    @property
    def codes(self) -> tuple[str, ...]:
        """The distinct codes of the findings, in order."""
        return tuple(dict.fromkeys(finding.code for finding in self.findings))

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or "proved"


def check(program: AtomProgram, *, needless: bool = True) -> Verdict:
    """Tests every property that the steady state shows, and with `needless` also that no atom could be left out.

    Codes of the findings, behind `synchronisation.`: covered, deadlock, seen, kept, arrivals, count, bytes, pending,
    barrier, budget, needless. Each finding names the requirement and both ops, or the barrier and its roles.
    """
    findings = tuple(_faults(program))
    if not findings and needless:
        findings = tuple(_needless(program))
    return Verdict(findings)


def _finding(code: str, message: str, line: Place | None = None) -> Finding:
    return Finding(f"synchronisation.{code}", Severity.ERROR, message, line)


def _faults(program: AtomProgram) -> Iterator[Finding]:
    yield from _constants(program)
    graph = event_graph(program)
    cycle = graph.cycle()
    if cycle is not None:
        yield _deadlock(graph, cycle)
        return
    yield from _obligations(program, graph, "")
    yield from _phases(program, graph)
    for role, placed, tail in tail_graphs(program):
        where = f" when the {placed.atom} of {role.name} behind the loop completes the phase"
        cycle = tail.cycle()
        if cycle is not None:
            yield _deadlock(tail, cycle)
        else:
            yield from _obligations(program, tail, where)
    yield from _handovers(program)


def _deadlock(graph: Graph, cycle: Cycle) -> Finding:
    names = [graph.labels[node] for node in (*cycle.nodes, cycle.nodes[0])]
    return _finding("deadlock", "a cycle of distance 0 or less waits for itself: " + " -> ".join(names))


def _obligations(program: AtomProgram, graph: Graph, where: str) -> Iterator[Finding]:
    lines = {p.atom.op: p.line for r in program.roles for p in (*r.body, *r.tail) if isinstance(p.atom, Issue)}
    for obligation in program.obligations:
        sources = graph.completions.get((obligation.source, obligation.event), ())
        sinks = graph.issues.get(obligation.sink, ())
        if not sources or not sinks:
            missing = obligation.source if not sources else obligation.sink
            yield _finding("covered", f"{obligation.label}: no role issues {missing}")
            continue
        best = max((_path(graph, obligation, a, b) for a, b in _ends(obligation, sources, sinks)), default=0)
        if best > obligation.distance:
            yield _finding("covered", _uncovered(obligation, best, where), lines.get(obligation.sink))


def _uncovered(obligation: Obligation, best: int, where: str) -> str:
    fence = f" past a {obligation.fence.value} fence" if obligation.fence else ""
    found = "no path orders them" if best >= FAR else f"they are ordered only {best} steps apart"
    return (
        f"{obligation.label}: {obligation.source} ({obligation.event.value}) is not before {obligation.sink} "
        f"{obligation.distance} steps later{fence}{where}; {found}"
    )


def _ends(
    obligation: Obligation, sources: tuple[tuple[Copy, int], ...], sinks: tuple[tuple[Copy, int], ...]
) -> Iterator[tuple[tuple[Copy, int], tuple[Copy, int]]]:
    for source in sources:
        for sink in sinks:
            if not obligation.own or _same_owner(source[0], sink[0], sources):
                yield source, sink


def _same_owner(source: Copy, sink: Copy, sources: tuple[tuple[Copy, int], ...]) -> bool:
    """Whether a register passes from source to sink: one thread, or its unit where the completion is collective."""
    collective = not any(copy.unit == source.unit and copy != source for copy, _ in sources)
    return source == sink or (collective and source.unit == sink.unit)


def _path(graph: Graph, obligation: Obligation, source: tuple[Copy, int], sink: tuple[Copy, int]) -> int:
    limit = obligation.distance
    if obligation.fence is None:
        return graph.best(source[1], sink[1], limit)
    thread = sink[0] if obligation.remote else source[0]
    reached = (
        (fence, graph.best(source[1], fence, limit)) for fence in graph.fences.get((thread, obligation.fence), ())
    )
    return min((graph.best(fence, sink[1], limit, way) for fence, way in reached if way < FAR), default=FAR)


def _phases(program: AtomProgram, graph: Graph) -> Iterator[Finding]:
    for ring in program.rings:
        for side in Side:
            phase = graph.phases[ring.name, side]
            lag = ring.depth if side is Side.EMPTY else 0
            for copy, wait in graph.waits.get((ring.name, side), ()):
                if graph.best(phase, wait, ring.depth + lag) > ring.depth + lag:
                    yield _finding("seen", _phase(ring, side, copy, "may still see the phase before the last one"))
                if graph.best(wait, phase, ring.depth - lag) > ring.depth - lag:
                    yield _finding(
                        "kept", _phase(ring, side, copy, "may miss its phase: the next but one can complete")
                    )
            for arrival in graph.arrivals.get((ring.name, side), ()):
                if graph.best(phase, arrival, ring.depth) > ring.depth:
                    text = f"{graph.labels[arrival]}: may arrive before the phase of the slot's last use is complete"
                    yield _finding("arrivals", f"ring {ring.name}, {side.value}: {text}")


def _phase(ring: Ring, side: Side, copy: Copy, text: str) -> str:
    return f"ring {ring.name}: the wait for {side.value} in {copy.role} {text} (depth {ring.depth})"


def _handovers(program: AtomProgram) -> Iterator[Finding]:
    for role in program.roles:
        if not role.alternates or role.units < 2:
            continue
        graph = handover_graph(program, role)
        cycle = graph.cycle()
        if cycle is not None:
            yield _deadlock(graph, cycle)
            continue
        for (name, side), waits in graph.waits.items():
            lag = program.ring(name).depth if side is Side.EMPTY else 0
            phase = graph.phases[name, side]
            own = [wait for copy, wait in waits if copy.role == role.name and copy.unit]
            if any(graph.best(phase, wait, 1 + lag) > 1 + lag for wait in own):
                text = "the unit that takes the next item may wait before the last item's phases are complete"
                yield _finding(
                    "seen", f"ring {name}, {side.value}, alternating role {role.name}: {text}; turns are wanted"
                )


def _constants(program: AtomProgram) -> Iterator[Finding]:
    yield from _pending(program)
    for ring in program.rings:
        yield from _bytes(program, ring)
        for side, count in ((Side.FULL, ring.full_count), (Side.EMPTY, ring.empty_count)):
            yield from _count(program, ring, side, count)
            yield from _ends_of(program, ring, side)
    yield from _named_barriers(program)
    yield from _budget(program)


def _arriving(role: RoleBody, by: IssuedBy) -> int:
    """Arrivals of a role at one phase: one for each unit, warp or thread, of one unit where units alternate."""
    units = 1 if role.alternates else role.units
    threads = role.threads * units // role.units
    match by:
        case IssuedBy.ELECTED | IssuedBy.WARPGROUP:
            return units
        case IssuedBy.WARP:
            return threads // 32
        case IssuedBy.LANE:
            return threads


def _count(program: AtomProgram, ring: Ring, side: Side, count: int) -> Iterator[Finding]:
    total = 0
    names: list[str] = []
    for role in program.roles:
        for placed in role.body:
            match placed.atom:
                case Arrive(ring=ring.name, side=at, by=by, ctas=ctas) if at is side:
                    total += _arriving(role, by) * ctas
                    names.append(role.name)
                case Expect(ring=ring.name) if side is Side.FULL:
                    total += _arriving(role, IssuedBy.ELECTED)
                    names.append(role.name)
                case _:
                    pass
    if total != count:
        who = ", ".join(dict.fromkeys(names)) or "nobody"
        yield _finding(
            "count", f"ring {ring.name}: the count of {side.value} is {count}, but {total} arrive each phase ({who})"
        )


def _ends_of(program: AtomProgram, ring: Ring, side: Side) -> Iterator[Finding]:
    """Arrivals as many as uses: what lags behind the loop follows it; remote arrivals are awaited before leaving."""
    for role in program.roles:
        lag = max((-p.ahead for p in role.body if _is_arrival(p, ring, side)), default=0)
        behind = sorted(p.ahead for p in role.tail if _is_arrival(p, ring, side))
        wanted = list(range(-lag, 0))
        if behind != wanted:
            text = (
                f"{side.value} arrivals of {role.name} lag {lag} steps, {len(behind)} follow the loop (wanted {wanted})"
            )
            yield _finding("arrivals", f"ring {ring.name}: arrivals differ from uses: {text}, got {behind}")
    if any(
        isinstance(p.atom, Arrive) and _is_arrival(p, ring, side) and p.atom.ctas > 1
        for r in program.roles
        for p in r.body
    ):
        awaited = {p.ahead for r in program.roles for p in r.tail if p.atom == Wait(ring.name, side)}
        if not awaited >= set(range(ring.depth)):
            text = f"the last {ring.depth} arrivals at {side.value} from other blocks are not awaited before leave"
            yield _finding("arrivals", f"ring {ring.name}: remote arrive not before leave: {text}")


def _is_arrival(placed: Placed, ring: Ring, side: Side) -> bool:
    match placed.atom:
        case Arrive(ring=ring.name, side=at):
            return at is side
        case Expect(ring=ring.name):
            return side is Side.FULL
        case _:
            return False


def _bytes(program: AtomProgram, ring: Ring) -> Iterator[Finding]:
    expected = landing = 0
    for role in program.roles:
        for placed in role.body:
            match placed.atom:
                case Expect(ring=ring.name, byte_count=count):
                    expected += count
                case Issue(ring=ring.name, byte_count=count):
                    landing += count
                case _:
                    pass
    if expected != landing:
        yield _finding("bytes", f"ring {ring.name}: {expected} bytes are expected, {landing} land")
    if expected >= TRANSACTION_BYTES:
        yield _finding("bytes", f"ring {ring.name}: {expected} bytes in one phase, fewer than {TRANSACTION_BYTES} fit")


def _pending(program: AtomProgram) -> Iterator[Finding]:
    for role in program.roles:
        commits = {p.atom.kind: p for p in role.body if isinstance(p.atom, Commit)}
        for placed in (*role.body, *role.tail):
            match placed.atom:
                case Retire(kind=kind, pending=pending):
                    yield from _retire_is_constant(role, placed, kind, pending, commits)
                case Issue(op=op, mechanism=mechanism) if placed in role.tail and _opens_group(mechanism):
                    yield _finding("pending", f"{op} in the tail of {role.name} opens a group that no step retires")
                case _:
                    pass


def _opens_group(mechanism: Mechanism) -> bool:
    return isinstance(mechanism.completes, Group)


def _retire_is_constant(
    role: RoleBody, placed: Placed, kind: GroupKind, pending: int, commits: dict[GroupKind, Placed]
) -> Iterator[Finding]:
    commit = commits.get(kind)
    if pending < 0:
        yield _finding("pending", f"{placed.atom} of {role.name}: a pending number is 0 or more", placed.line)
    if commit is not None and isinstance(commit.atom, Commit) and not commit.atom.every_step and pending:
        text = "the commits stop when the copies run out, so the number of open groups is not constant"
        yield _finding("pending", f"{placed.atom} of {role.name}: {text}", placed.line)


def _named_barriers(program: AtomProgram) -> Iterator[Finding]:
    owners: dict[int, str] = {}
    for role in program.roles:
        for placed in (*role.body, *role.tail):
            match placed.atom:
                case Join(barrier=barrier):
                    owner = owners.setdefault(barrier, role.name)
                    if owner != role.name:
                        yield _finding("barrier", f"named barrier {barrier} is used by {owner} and by {role.name}")
                    if not 0 <= barrier < NAMED_BARRIERS:
                        yield _finding("barrier", f"named barrier {barrier} of {role.name}: there are {NAMED_BARRIERS}")
                case _:
                    pass


def _budget(program: AtomProgram) -> Iterator[Finding]:
    budget = program.budget
    if budget.shared_bytes > budget.shared_limit:
        yield _finding("budget", f"{budget.shared_bytes} bytes of shared memory, {budget.shared_limit} are there")
    for role in program.roles:
        if role.registers > budget.registers_per_thread:
            text = f"{role.registers} registers a thread in {role.name}, {budget.registers_per_thread} are there"
            yield _finding("budget", text)
    total = sum(role.registers * role.threads for role in program.roles)
    if total > budget.registers_per_block:
        yield _finding("budget", f"{total} registers in a block, {budget.registers_per_block} are there")


def _needless(program: AtomProgram) -> Iterator[Finding]:
    for role in program.roles:
        seen: Counter[str] = Counter()
        for place, placed in enumerate((*role.body, *role.tail)):
            if is_synchronisation(placed.atom):
                seen[str(placed.atom)] += 1
                if next(_faults(without(program, role, place)), None) is None:
                    text = f"{placed.atom} of {role.name} (number {seen[str(placed.atom)]}) serves no requirement"
                    yield _finding("needless", text, placed.line)
