"""The checker: whether the atoms of a kernel keep every requirement, without deadlock, confused phase or needless wait.

It judges what was derived (or written by hand) from the atoms alone and shares no code with what places them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

from attrs import evolve, frozen

from ptxgen.errors import Finding
from ptxgen.order.atoms import (
    Acquire,
    Arrive,
    Atom,
    AtomProgram,
    Commit,
    Expect,
    Issue,
    Join,
    Obligation,
    Release,
    Ring,
    RoleBody,
    Side,
    Wait,
    is_synchronisation,
)
from ptxgen.prove.clusters import cluster_faults, representatives
from ptxgen.prove.constants import constant_faults, finding
from ptxgen.prove.events import event_graph, handover_graph, tail_graphs, without
from ptxgen.prove.graph import FAR, Cycle, Graph, Member


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
    barrier, budget, enter, needless. Each finding names the requirement and both ops, or the barrier and its roles.
    """
    findings = tuple(_faults(program))
    if not findings and needless:
        findings = tuple(_needless(program))
    return Verdict(findings)


def _faults(program: AtomProgram) -> Iterator[Finding]:
    yield from constant_faults(program)
    yield from cluster_faults(program)
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
    return finding("deadlock", "a cycle of distance 0 or less waits for itself: " + " -> ".join(names))


def _obligations(program: AtomProgram, graph: Graph, where: str) -> Iterator[Finding]:
    lines = {p.atom.op: p.line for r in program.roles for p in (*r.body, *r.tail) if isinstance(p.atom, Issue)}
    chosen = representatives(program)
    for obligation in program.obligations:
        places = obligation.ctas or tuple((cta, cta, cta) for cta in range(program.cluster))
        for first, place, second in (found for found in places if found[0] in chosen):
            done = graph.completions.get((obligation.source, obligation.event, place), ())
            sources = tuple(found for found in done if found[0].cta == first)
            sinks = tuple(found for found in graph.issues.get(obligation.sink, ()) if found[0].cta == second)
            if not sources or not sinks:
                missing = obligation.source if not sources else obligation.sink
                yield finding("covered", f"{obligation.label}: no role issues {missing}")
                break
            issuers = tuple(found for found in graph.issues.get(obligation.source, ()) if found[0].cta == first)
            ends = _ends(obligation, sources, sinks, issuers)
            best = max((_path(graph, obligation, a, b) for a, b in ends), default=0)
            if best > obligation.distance:
                blocks = f" from block {first} to block {second}" if first != second else ""
                text = _uncovered(obligation, best, blocks + where)
                yield finding("covered", text, lines.get(obligation.sink))
                break


def _uncovered(obligation: Obligation, best: int, where: str) -> str:
    fence = f" past a {obligation.fence.value} fence" if obligation.fence else ""
    found = "no path orders them" if best >= FAR else f"they are ordered only {best} steps apart"
    return (
        f"{obligation.label}: {obligation.source} ({obligation.event.value}) is not before {obligation.sink} "
        f"{obligation.distance} steps later{fence}{where}; {found}"
    )


Ends = tuple[tuple[Member, int], ...]


def _ends(
    obligation: Obligation, sources: Ends, sinks: Ends, issuers: Ends
) -> Iterator[tuple[tuple[Member, int], tuple[Member, int]]]:
    for source in sources:
        for sink in sinks:
            if not obligation.own or _same_owner(source[0], sink[0], sources, issuers):
                yield source, sink


def _same_owner(source: Member, sink: Member, sources: Ends, issuers: Ends) -> bool:
    """Whether a thread keeps what passes from source to sink for itself: one thread, or its unit where several issue
    what completes once."""
    own = [sum(1 for member, _ in ends if member.unit == source.unit) for ends in (sources, issuers)]
    return source == sink or (own[0] < own[1] and source.unit == sink.unit)


def _path(graph: Graph, obligation: Obligation, source: tuple[Member, int], sink: tuple[Member, int]) -> int:
    limit = obligation.distance
    if obligation.fence is None:
        return graph.best(source[1], sink[1], limit)
    thread = sink[0] if obligation.remote else source[0]
    reached = (
        (fence, graph.best(source[1], fence, limit)) for fence in graph.fences.get((thread, obligation.fence), ())
    )
    return min((graph.best(fence, sink[1], limit, way) for fence, way in reached if way < FAR), default=FAR)


def _phases(program: AtomProgram, graph: Graph) -> Iterator[Finding]:
    chosen = representatives(program)
    for ring in (ring for ring in program.rings if _is_refilled(program, ring)):
        for side, cta in product(Side, chosen):
            phase = graph.phases[ring.name, side, cta]
            lag = ring.depth if side is Side.EMPTY else 0
            for member, wait in graph.waits.get((ring.name, side, cta), ()):
                if graph.best(phase, wait, ring.depth + lag) > ring.depth + lag:
                    yield finding("seen", _phase(ring, side, member, "may still see the phase before the last one"))
                if graph.best(wait, phase, ring.depth - lag) > ring.depth - lag:
                    yield finding(
                        "kept", _phase(ring, side, member, "may miss its phase: the next but one can complete")
                    )
            for arrival in graph.arrivals.get((ring.name, side, cta), ()):
                if graph.best(phase, arrival, ring.depth) > ring.depth:
                    text = f"{graph.labels[arrival]}: may arrive before the phase of the slot's last use is complete"
                    yield finding("arrivals", f"ring {ring.name}, {side.value}: {text}")


def _is_refilled(program: AtomProgram, ring: Ring) -> bool:
    """Whether a slot of a ring may have a second phase: where some role uses the ring in a body that repeats."""
    return any(
        role.periodic and isinstance(placed.atom, Wait | Arrive | Expect) and placed.atom.ring == ring.name
        for role in program.roles
        for placed in (*role.body, *role.tail)
    )


def _phase(ring: Ring, side: Side, member: Member, text: str) -> str:
    return f"ring {ring.name}: the wait for {side.value} in {member.role} {text} (depth {ring.depth})"


def _handovers(program: AtomProgram) -> Iterator[Finding]:
    for role in program.roles:
        if not role.alternates or role.units < 2:
            continue
        graph = handover_graph(program, role)
        cycle = graph.cycle()
        if cycle is not None:
            yield _deadlock(graph, cycle)
            continue
        for (name, side, cta), waits in graph.waits.items():
            lag = program.ring(name).depth if side is Side.EMPTY else 0
            phase = graph.phases[name, side, cta]
            own = [wait for member, wait in waits if member.role == role.name and member.unit]
            if any(graph.best(phase, wait, 1 + lag) > 1 + lag for wait in own):
                text = "the unit that takes the next item may wait before the last item's phases are complete"
                yield finding(
                    "seen", f"ring {name}, {side.value}, alternating role {role.name}: {text}; turns are wanted"
                )


def _needless(program: AtomProgram) -> Iterator[Finding]:
    for place, entering in enumerate(program.enter):
        rest = program.enter[:place] + program.enter[place + 1 :]
        if next(_faults(evolve(program, enter=rest)), None) is None:
            yield finding("needless", f"{entering} serves no requirement")
    for role in program.roles:
        seen: Counter[str] = Counter()
        for place, placed in enumerate(role.atoms):
            if is_synchronisation(placed.atom) and not _for_outside(placed.atom):
                seen[str(placed.atom)] += 1
                fewer = without(_nearest_first(program, role, place), role, place)
                if next(_faults(fewer if _passes_on(placed.atom) else _in_every_step(fewer)), None) is None:
                    text = f"{placed.atom} of {role.name} (number {seen[str(placed.atom)]}) serves no requirement"
                    yield finding("needless", text, placed.line)


def _passes_on(atom: Atom) -> bool:
    return isinstance(atom, Acquire | Release) or (isinstance(atom, Join) and atom.for_passing)


def _in_every_step(program: AtomProgram) -> AtomProgram:
    """The program without what is done only where a tile is passed on: nothing else may count on that."""
    if not any(obligation.passed for obligation in program.obligations):
        return program
    roles = tuple(evolve(r, body=tuple(p for p in r.body if not _passes_on(p.atom))) for r in program.roles)
    return evolve(program, roles=roles, obligations=tuple(o for o in program.obligations if not o.passed))


def _nearest_first(program: AtomProgram, role: RoleBody, place: int) -> AtomProgram:
    """The program with the obligations of the ops around an atom first: what is lost without it shows soonest there."""
    size = len(role.atoms)
    issued = {p.atom.op: n for n, p in enumerate(role.atoms) if isinstance(p.atom, Issue)}

    def away(obligation: Obligation) -> int:
        behind = (issued[obligation.sink] - place) % size if obligation.sink in issued else size
        before = (place - issued[obligation.source]) % size if obligation.source in issued else size
        return behind + before

    return evolve(program, obligations=tuple(sorted(program.obligations, key=away)))


def _for_outside(atom: Atom) -> bool:
    """Whether what an atom is for lies behind the loop."""
    return (isinstance(atom, Commit) and atom.for_outside) or (isinstance(atom, Release) and atom.last)
