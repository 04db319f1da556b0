"""What the event graphs of a program are asked: whether obligations are kept, no phase is confused, nobody waits for
ever. Each question can also be asked as if an atom were left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product

from attrs import field, frozen

from ptxgen.errors import Finding, Place
from ptxgen.order.atoms import Arrive, AtomProgram, Expect, Issue, Obligation, Ring, Side, Wait
from ptxgen.prove.clusters import representatives
from ptxgen.prove.constants import finding
from ptxgen.prove.events import event_graph, handover_graph, tail_graphs
from ptxgen.prove.graph import FAR, Cycle, Graph, Member

Ends = tuple[tuple[Member, int], ...]


@frozen(eq=False)
class Way:
    """From a node to another one, past one of `fences` where there must be one; with `own_index` past that of the
    source's own index, since those of later ones may stand behind the loop's end, where they come too late."""

    source: int
    sink: int
    fences: tuple[int, ...] | None = None
    own_index: bool = False


@frozen(eq=False)
class Question:
    """Whether each of `ways` of a graph orders its ends at most `limit` steps apart, past none of the atoms `aside`;
    `told` says what is wrong where they are so many steps apart. Of those with the same `subject` one is told."""

    graph: Graph
    ways: tuple[Way, ...]
    limit: int
    told: Callable[[int], Finding] = field(repr=False)
    subject: tuple[int, int] | None = None
    aside: int = 0

    @property
    def apart(self) -> int:
        """How many steps apart the ends of the worst way are."""
        return max(map(self.length, self.ways), default=FAR)

    def length(self, way: Way, without: int = 0) -> int:
        """How many steps apart the ends of a way are; as if the atoms `without` were left out, where nothing is asked
        of a way that begins or ends there."""
        graph, limit, owners = self.graph, self.limit, self.graph.owners
        if (owners[way.source] | owners[way.sink]) & without:
            return limit
        without |= self.aside
        if way.fences is None:
            return graph.best(way.source, way.sink, limit, 0, without)
        fences = (fence for fence in way.fences if not owners[fence] & without)
        reached = ((fence, self._to_fence(way, fence, without)) for fence in fences)
        return min(
            (graph.best(fence, way.sink, limit, steps, without) for fence, steps in reached if steps < FAR),
            default=FAR,
        )

    def _to_fence(self, way: Way, fence: int, without: int) -> int:
        """How many steps behind the source a fence of the way stands; FAR where it does not, or at other indices."""
        steps = self.graph.best(way.source, fence, self.limit, 0, without)
        if way.own_index:
            return 0 if steps <= 0 else FAR
        return steps

    def used(self, way: Way) -> int:
        """The atoms on which the length of a way stands, which is within the limit; without any other it still is."""
        graph, limit, aside = self.graph, self.limit, self.aside
        if way.fences is None:
            return graph.used(way.source, way.sink, limit, 0, aside)
        for fence in way.fences:
            steps = self._to_fence(way, fence, aside)
            if steps < FAR and graph.best(fence, way.sink, limit, steps, aside) <= limit:
                before = graph.used(way.source, fence, limit, 0, aside)
                return graph.owners[fence] | before | graph.used(fence, way.sink, limit, steps, aside)
        return 0


def failing(questions: Iterable[Question]) -> Iterator[Finding]:
    """What is wrong."""
    told: set[tuple[int, int] | None] = set()
    for question in questions:
        if question.subject is not None and question.subject in told:
            continue
        apart = question.apart
        if apart > question.limit:
            told.add(question.subject)
            yield question.told(apart)


def questions_of(program: AtomProgram) -> Iterator[Question]:
    """Everything that the steady state is asked, the deadlocks that there are among it."""
    chosen = representatives(program)
    graph = event_graph(program)
    cycle = graph.cycle()
    if cycle is not None:
        yield _deadlock(graph, cycle)
        return
    yield from _obligations(program, graph, chosen, "")
    yield from _phases(program, graph, chosen)
    for role, placed, tail in tail_graphs(program):
        where = f" when the {placed.atom} of {role.name} behind the loop completes the phase"
        cycle = tail.cycle()
        if cycle is not None:
            yield _deadlock(tail, cycle)
        else:
            yield from _obligations(program, tail, chosen, where)
    yield from _handovers(program)


def _deadlock(graph: Graph, cycle: Cycle) -> Question:
    names = [graph.label(node) for node in (*cycle.nodes, cycle.nodes[0])]
    text = "a cycle of distance 0 or less waits for itself: " + " -> ".join(names)
    return Question(graph, (), 0, partial(_found, "rotation" if cycle.rotates else "deadlock", text))


def _found(code: str, text: str, _: int) -> Finding:
    """What is wrong however many steps the ends are apart."""
    return finding(code, text)


def _obligations(program: AtomProgram, graph: Graph, chosen: tuple[int, ...], where: str) -> Iterator[Question]:
    lines = {p.atom.op: p.line for r in program.roles for p in (*r.body, *r.tail) if isinstance(p.atom, Issue)}
    alternating = frozenset(role.name for role in program.roles if role.alternates)
    for number, obligation in enumerate(program.obligations):
        places = obligation.ctas or tuple((cta, cta, cta) for cta in range(program.cluster))
        for first, place, second in (found for found in places if found[0] in chosen):
            blocks = f" from block {first} to block {second}" if first != second else ""
            sources = graph.completions.get((obligation.source, obligation.event, first, place), ())
            sinks = graph.issues.get((obligation.sink, second), ())
            told = partial(_uncovered, obligation, blocks + where, lines.get(obligation.sink))
            if not sources or not sinks:
                missing = obligation.source if not sources else obligation.sink
                told = partial(_found, "covered", f"{obligation.label}: no role issues {missing}")
            issuers = graph.issues.get((obligation.source, first), ())
            ways = tuple(_ways(graph, obligation, sources, sinks, issuers, alternating))
            if ways or not sources or not sinks or obligation.distance < 0:
                aside = _atoms_of(program, obligation.aside)
                yield Question(graph, ways, obligation.distance, told, (graph.number, number), aside)


def _atoms_of(program: AtomProgram, rings: tuple[str, ...]) -> int:
    """The atoms of some rings, by their bits."""
    if not rings:
        return 0
    atoms = enumerate(placed.atom for role in program.roles for placed in role.atoms)
    return sum(1 << n for n, atom in atoms if isinstance(atom, Wait | Arrive | Expect) and atom.ring in rings)


def _uncovered(obligation: Obligation, where: str, line: Place | None, apart: int) -> Finding:
    fence = f" past a {obligation.fence.value} fence" if obligation.fence else ""
    found = "no path orders them" if apart >= FAR else f"they are ordered only {apart} steps apart"
    text = (
        f"{obligation.label}: {obligation.source} ({obligation.event.value}) is not before {obligation.sink} "
        f"{obligation.distance} steps later{fence}{where}; {found}"
    )
    return finding("covered", text, line)


def _ways(
    graph: Graph, obligation: Obligation, sources: Ends, sinks: Ends, issuers: Ends, alternating: frozenset[str]
) -> Iterator[Way]:
    """The ways that an obligation asks about: of a role whose units take items in turn those within a unit, which has a
    copy of its own of what the role alone uses."""
    for source in sources:
        for sink in sinks:
            apart = source[0].role == sink[0].role and source[0].unit != sink[0].unit
            if apart and source[0].role in alternating:
                continue
            if not obligation.own or _same_owner(source[0], sink[0], sources, issuers):
                yield _way(graph, obligation, source, sink)


def _way(graph: Graph, obligation: Obligation, source: tuple[Member, int], sink: tuple[Member, int]) -> Way:
    """The way between two ends. Where a role tells another one by an arrival that it is done, the fence must be there
    whenever the arrival is; of one role the ends of loops are looked at apart (`ends.py`)."""
    if obligation.fence is None:
        return Way(source[1], sink[1])
    fences = graph.fences.get((sink[0] if obligation.remote else source[0], obligation.fence), ())
    between = source[0].role != sink[0].role and not obligation.remote
    own = tuple(fence.node for fence in fences if fence.every_step or not between)
    return Way(source[1], sink[1], own, own_index=between)


def _same_owner(source: Member, sink: Member, sources: Ends, issuers: Ends) -> bool:
    """Whether a thread keeps what passes from source to sink for itself: one thread, or its unit where several issue
    what completes once."""
    own = [sum(1 for member, _ in ends if member.unit == source.unit) for ends in (sources, issuers)]
    return source == sink or (own[0] < own[1] and source.unit == sink.unit)


def _phases(program: AtomProgram, graph: Graph, chosen: tuple[int, ...]) -> Iterator[Question]:
    for ring in (ring for ring in program.rings if is_refilled(program, ring.name)):
        for side, cta in product(Side, chosen):
            phase = graph.phases[ring.name, side, cta]
            lag, aside = ring.depth if side is Side.EMPTY else 0, _atoms_of(program, ring.aside)
            for member, wait in graph.waits.get((ring.name, side, cta), ()):
                seen = _phase(ring, side, member, "may still see the phase before the last one")
                yield Question(graph, (Way(phase, wait),), ring.depth + lag, partial(_found, "seen", seen), aside=aside)
                kept = _phase(ring, side, member, "may miss its phase: the next but one can complete")
                yield Question(graph, (Way(wait, phase),), ring.depth - lag, partial(_found, "kept", kept), aside=aside)
            for arrival in graph.arrivals.get((ring.name, side, cta), ()):
                text = f"{graph.label(arrival)}: may arrive before the phase of the slot's last use is complete"
                told = partial(_found, "arrivals", f"ring {ring.name}, {side.value}: {text}")
                yield Question(graph, (Way(phase, arrival),), ring.depth, told, aside=aside)


def is_refilled(program: AtomProgram, ring: str) -> bool:
    """Whether a slot of a ring may have a second phase: where some role uses the ring in a body that repeats."""
    return any(
        role.periodic and isinstance(placed.atom, Wait | Arrive | Expect) and placed.atom.ring == ring
        for role in program.roles
        for placed in (*role.body, *role.tail)
    )


def _phase(ring: Ring, side: Side, member: Member, text: str) -> str:
    return f"ring {ring.name}: the wait for {side.value} in {member.role} {text} (depth {ring.depth})"


def _handovers(program: AtomProgram) -> Iterator[Question]:
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
            own = tuple(Way(phase, wait) for member, wait in waits if member.role == role.name and member.unit)
            if own:
                text = "the unit that takes the next item may wait before the last item's phases are complete"
                text = f"ring {name}, {side.value}, alternating role {role.name}: {text}; turns are wanted"
                aside = _atoms_of(program, program.ring(name).aside)
                yield Question(graph, own, 1 + lag, partial(_found, "seen", text), aside=aside)
