"""The event graph: nodes are atoms and completions, an edge of distance d says source(n) happens before sink(n + d)."""

from __future__ import annotations

from collections import deque
from enum import Enum
from itertools import pairwise

from attrs import field, frozen

from ptxgen.order.atoms import FenceKind, Side
from ptxgen.order.requirement import EventKind

FAR = 1 << 40
_Step = tuple[int, int, bool, bool, int]


class Why(Enum):
    """What an edge stands on: a thread's program order, extra order between units, an op's own course, a group that is
    retired, bytes that land, an arrival at a barrier, a wait for it; or that one item of a work list ends and the next
    begins, or that roles meet in a nested loop, which happens at some steps only, so that it can make a deadlock but
    prove nothing; nor do turns that units pass on in a loop, which are proved apart."""

    ORDER = "order"
    TURN = "turn"
    RUN = "run"
    GROUP = "group"
    BYTES = "bytes"
    ARRIVAL = "arrival"
    WAIT = "wait"
    ITEM = "item"
    NESTED = "nested"
    ROTATION = "rotation"

    __hash__ = object.__hash__


@frozen
class Member:
    """A representative thread: one of a role's `unit`, elected there or not, in the block of rank `cta`."""

    role: str
    unit: int
    elected: bool
    cta: int = 0


@frozen(eq=False)
class Edge:
    """source(n) happens before sink(n + distance), because of `why`; not so where one of the atoms `of` is left out."""

    source: int
    sink: int
    distance: int
    why: Why
    of: int = 0


@frozen(eq=False)
class Cycle:
    """Nodes in a ring of waits whose distances sum to 0 or less: none of them ever happens. It `rotates` where units
    that take turns in a loop wait for each other in it."""

    nodes: tuple[int, ...]
    rotates: bool = False


@frozen(eq=False)
class StandingFence:
    """A fence of a thread: its node, and whether it stands at every index of which an arrival tells."""

    node: int
    every_step: bool


@frozen(eq=False)
class _Chains:
    """What leads on from each node, and of the nodes inside a chain the next one and the one before, with the way."""

    after: list[list[_Step]]
    behind: dict[int, tuple[int, int]]
    before: dict[int, tuple[int, int]]


@frozen(eq=False)
class Graph:
    """Nodes by number and edges, and where things are: issues of ops and their completions in the tiles of a block,
    fences of threads, phases of the barriers of a block with their waits and arrivals; ops
    are known by the block that issues them, completions also by that in whose tiles they are. Graphs of a program have
    a `number`.

    `owners` has a bit for the atom that a node stands for, of whatever thread, and none for a completion. An atom that
    is left out leaves its threads' order as it is and takes along the edges that are there because `of` it."""

    labels: tuple[tuple[object, str], ...]
    owners: tuple[int, ...]
    edges: tuple[Edge, ...]
    issues: dict[tuple[str, int], tuple[tuple[Member, int], ...]]
    completions: dict[tuple[str, EventKind, int, int], tuple[tuple[Member, int], ...]]
    fences: dict[tuple[Member, FenceKind], tuple[StandingFence, ...]]
    phases: dict[tuple[str, Side, int], int]
    waits: dict[tuple[str, Side, int], tuple[tuple[Member, int], ...]]
    arrivals: dict[tuple[str, Side, int], tuple[int, ...]]
    number: int
    _chains: list[_Chains] = field(factory=list)
    _known: dict[tuple[int, int, int, int], tuple[list[int], list[int]]] = field(factory=dict)

    def label(self, node: int) -> str:
        """What a node stands for, in words."""
        what, where = self.labels[node]
        return f"{what}{where}"

    def best(self, source: int, sink: int, limit: int, start: int = 0, without: int = 0) -> int:
        """The least total distance of a path from `source` to `sink`, counted from `start`; FAR where there is none.

        Only what surely exists lends a path: with source(n) and sink(n + limit) given, arrivals, completions and waits
        are passed at indices n .. n + limit. A path may wait for a later instance, as atoms follow their own earlier
        ones. Nothing of the atoms `without` is passed. `cycle()` must have found none.
        """
        return self._between(source, sink, limit, start, without)[0]

    def used(self, source: int, sink: int, limit: int, start: int = 0, without: int = 0) -> int:
        """The atoms without which one path of that least distance would not be there."""
        return self._between(source, sink, limit, start, without)[1]

    def _between(self, source: int, sink: int, limit: int, start: int, without: int) -> tuple[int, int]:
        """Both. A path has no choice along a chain, whose nodes all lead to the next one alone: it is as long as from
        the chain's end, or to where the chain of the sink begins."""
        if not self._chains:
            self._chains.append(_chains_of(self))
        chains = self._chains[0]
        while source != sink and source in chains.behind:
            source, distance = chains.behind[source]
            start += distance
        more = 0
        while source != sink and sink in chains.before:
            sink, distance = chains.before[sink]
            more += distance
        if source == sink:
            return start + more, 0
        key = (source, limit, start, without)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _shortest(chains.after, source, limit, start, without)
        return known[0][sink] + more, known[1][sink]

    def cycle(self) -> Cycle | None:
        """A cycle of total distance 0 or less: a deadlock. None where every cycle is positive."""
        return _cycle(self)


def _cycle(graph: Graph) -> Cycle | None:
    """A distance d counts as d * (nodes + 1) - 1, so that a cycle of total 0 is negative and a positive one is not; a
    least distance that still falls after as many rounds as there are nodes lies behind a negative cycle."""
    scale = len(graph.labels) + 1
    height = [0] * len(graph.labels)
    parent = list(range(len(graph.labels)))
    changed = -1
    for _ in range(scale):
        changed = -1
        for edge in graph.edges:
            reached = height[edge.source] + edge.distance * scale - 1
            if reached < height[edge.sink]:
                height[edge.sink], parent[edge.sink], changed = reached, edge.source, edge.sink
        if changed < 0:
            return None
    nodes = _ring_of(parent, changed, scale)
    turns = {(edge.source, edge.sink) for edge in graph.edges if edge.why is Why.ROTATION}
    return Cycle(nodes, any(two in turns for two in pairwise((*nodes, nodes[0]))))


def _ring_of(parent: list[int], start: int, count: int) -> tuple[int, ...]:
    """The ring that following `parent` from `start` for `count` steps ends in."""
    node = start
    for _ in range(count):
        node = parent[node]
    found = [node]
    while parent[found[-1]] != node:
        found.append(parent[found[-1]])
    return tuple(reversed(found))


def _chains_of(graph: Graph) -> _Chains:
    """What leads on from each node: where to, how far, whether both ends must surely exist, and because of what; along
    a chain at once to its end."""
    after: list[list[_Step]] = [[] for _ in graph.labels]
    into: list[list[Edge]] = [[] for _ in graph.labels]
    for edge in graph.edges:
        if edge.why not in (Why.ITEM, Why.NESTED, Why.ROTATION):
            source_exists, sink_exists = edge.why is not Why.ORDER, edge.why not in (Why.ORDER, Why.GROUP)
            after[edge.source].append((edge.sink, edge.distance, source_exists, sink_exists, edge.of))
            into[edge.sink].append(edge)
    behind, before = _inside(after, into)
    for steps in after:
        for place, (sink, distance, source_exists, sink_exists, of) in enumerate(steps):
            while sink in behind:
                sink, more = behind[sink]
                distance += more
            steps[place] = (sink, distance, source_exists, sink_exists, of)
    return _Chains(after, behind, before)


def _inside(
    after: list[list[_Step]], into: list[list[Edge]]
) -> tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]]:
    """Of each node that only order leads to and on from, in one way each, the next one and the one before; a chain that
    ends in itself is cut."""
    behind: dict[int, tuple[int, int]] = {}
    before: dict[int, tuple[int, int]] = {}
    for node, (own, to) in enumerate(zip(into, after, strict=True)):
        if len(own) == len(to) == 1 and own[0].why is Why.ORDER and not own[0].of:
            sink, distance, source_exists, _, of = to[0]
            if not source_exists and not of:
                behind[node], before[node] = (sink, distance), (own[0].source, own[0].distance)
    for node in tuple(behind):
        last = node
        while last in behind and behind[last][0] != node:
            last = behind[last][0]
        if last in behind:
            del behind[node], before[node]
    return behind, before


def _shortest(
    after: list[list[_Step]], source: int, limit: int, start: int, without: int
) -> tuple[list[int], list[int]]:
    """The least distance of each node from `source`, and what a path of that length stands on."""
    reached, used, waiting = [FAR] * len(after), [0] * len(after), [False] * len(after)
    reached[source] = start
    queue = deque([source])
    while queue:
        node = queue.popleft()
        waiting[node] = False
        here, ground = reached[node], used[node]
        for sink, distance, source_exists, sink_exists, of in after[node]:
            if of & without:
                continue
            index = here
            if source_exists:
                if index < 0:
                    index = 0
                if index > limit:
                    continue
            index += distance
            if sink_exists:
                if index < 0:
                    index = 0
                if index > limit:
                    continue
            if index < reached[sink]:
                reached[sink], used[sink] = index, ground | of
                if not waiting[sink]:
                    waiting[sink] = True
                    queue.append(sink)
    return reached, used
