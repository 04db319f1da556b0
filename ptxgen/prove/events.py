"""From atoms to the event graph: one node for each atom of each representative thread, and for each completion."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise

from attrs import evolve, frozen

from isa.mechanisms import Group, IssuedBy, Transaction
from ptxgen.order.atoms import (
    Acquire,
    Advance,
    Arrive,
    AtomProgram,
    ClusterArrive,
    ClusterWait,
    Commit,
    Expect,
    Fence,
    FenceKind,
    Issue,
    Join,
    Passage,
    PassTurn,
    Placed,
    Release,
    Retire,
    RoleBody,
    Side,
    TakeTurn,
    Turn,
    Wait,
    performed_by,
)
from ptxgen.order.atoms import Edge as LoopEdge
from ptxgen.order.clusters import Masks, ranks_in, reached
from ptxgen.order.requirement import EventKind
from ptxgen.prove.graph import Edge, Graph, Member, StandingFence, Why
from ptxgen.prove.retiring import Seen, groups_seen

_Node = tuple[int, Placed]
_Scope = tuple[str, str, int, bool | None, int, int]


@frozen(eq=False)
class _Variant:
    """Which arrivals and waits the barrier edges of a graph use."""

    tail_arrival: tuple[str, int] | None = None
    handover: str = ""
    number: int = 0


def _scope(atom: Issue, member: Member) -> _Scope:
    """Who completes what completes in groups: a unit together, or each thread."""
    owner = atom.mechanism.completes
    collective = isinstance(owner, Group) and owner.owner is IssuedBy.WARPGROUP
    return atom.op, member.role, member.unit, None if collective else member.elected, member.cta, member.cta


class _Builder:
    def __init__(self, program: AtomProgram, variant: _Variant) -> None:
        self.program, self.variant = program, variant
        self.labels: list[tuple[object, str]] = []
        self.owners: list[int] = []
        self.places = [f" in block {cta}" if program.cluster > 1 else "" for cta in range(program.cluster)]
        self.first = 1
        self.edges: list[Edge] = []
        self.issues: dict[tuple[str, int], list[tuple[Member, int]]] = {}
        self.completions: dict[tuple[str, EventKind, int, int], list[tuple[Member, int]]] = {}
        self.fences: dict[tuple[Member, FenceKind], list[StandingFence]] = {}
        self.waits: dict[tuple[str, Side, int], list[tuple[Member, int]]] = {}
        self.arrivals: dict[tuple[str, Side, int], list[int]] = {}
        self.joins: dict[tuple[int, int, int], int] = {}
        self.gatherings: dict[int, int] = {}
        self.passed: dict[tuple[str, int], int] = {}
        self.noted: set[tuple[str, EventKind, int, int]] = set()
        self.shared: dict[_Scope, int] = {}
        self.reach: dict[Masks, tuple[tuple[int, ...], ...]] = {}
        self.passages: dict[Passage, list[tuple[Member, int]]] = {}
        self.turns: dict[tuple[str, int, int], int] = {}
        self.phases = {
            (ring.name, side, cta): self.node(f"{side.value} of {ring.name}", self.places[cta])
            for ring in program.rings
            for side in Side
            for cta in range(program.cluster)
        }

    def node(self, what: object, where: str = "", owner: int = 0) -> int:
        self.labels.append((what, where))
        self.owners.append(owner)
        return len(self.labels) - 1

    def edge(self, source: int, sink: int, distance: int, why: Why) -> None:
        """An edge, which is there because of the atoms at its ends unless it is order alone."""
        plain = why is Why.ORDER or why is Why.TURN
        self.edges.append(Edge(source, sink, distance, why, 0 if plain else self.owners[source] | self.owners[sink]))

    def graph(self) -> Graph:
        starts = accumulate((len(role.atoms) for role in self.program.roles), initial=0)
        for role, start in zip(self.program.roles, starts, strict=False):
            self.first = 1 << start
            everybody = tuple(m for cta in range(self.program.cluster) for m in members(role, cta))
            performed = [performed_by(role, placed.atom) for placed in role.atoms]
            seen = groups_seen(role)
            bodies = [self.thread(role, member, performed, seen) for member in everybody]
            if role.name == self.variant.handover:
                self.hand_over(role, list(zip(everybody, bodies, strict=True)))
        self.nest()
        return Graph(
            tuple(self.labels),
            tuple(self.owners),
            tuple(self.edges),
            {k: tuple(v) for k, v in self.issues.items()},
            {k: tuple(v) for k, v in self.completions.items()},
            {k: tuple(v) for k, v in self.fences.items()},
            self.phases,
            {k: tuple(v) for k, v in self.waits.items()},
            {k: tuple(v) for k, v in self.arrivals.items()},
            self.variant.number,
        )

    def thread(
        self, role: RoleBody, member: Member, performed: list[IssuedBy], seen: dict[int, Seen]
    ) -> list[int | None]:
        """The nodes of one thread's body and tail, None for atoms that it does not perform."""
        nodes: list[int | None] = []
        for place, (placed, by) in enumerate(zip(role.atoms, performed, strict=True)):
            missing = by is IssuedBy.ELECTED and not member.elected
            nodes.append(None if missing else self.atom(role, member, place, placed))
        found = [None if n is None else (n, p) for n, p in zip(nodes, role.atoms, strict=True)]
        body, tail = len(role.body), len(role.body) + len(role.tail)
        steps, ends, leave = ([p for p in own if p] for own in (found[:body], found[body:tail], found[tail:]))
        links = [(*two, 0) for own in (steps, ends, leave) for two in pairwise(own)]
        if steps and role.periodic:
            links.append((steps[-1], steps[0], 1))
        if steps and ends:
            links.append((steps[-1], ends[0], 1))
        if leave and (ends or steps):
            links.append(((ends or steps)[-1], leave[0], 0 if ends else 1))
        self.chain(links)
        if steps and ends and role.resumes:
            self.edge(ends[-1][0], steps[0][0], steps[0][1].ahead - ends[-1][1].ahead, Why.ITEM)
        self.retire(member, nodes[:tail], seen)
        return nodes[:body]

    def chain(self, links: list[tuple[_Node, _Node, int]]) -> None:
        """The order of a thread's own atoms, which goes on past a meeting even if nobody else met there."""
        for first, middle, steps in links:
            if isinstance(middle[1].atom, Join):
                for again, last, more in links:
                    if again is middle and first is not middle and last is not middle:
                        self.link(first, last, steps + more, 0)
        for first, last, steps in links:
            self.link(first, last, steps, self.owners[first[0]] if isinstance(first[1].atom, Join) else 0)

    def link(self, first: _Node, last: _Node, steps: int, of: int) -> None:
        self.edges.append(Edge(first[0], last[0], last[1].ahead - first[1].ahead + steps, Why.ORDER, of))

    def atom(self, role: RoleBody, member: Member, place: int, placed: Placed) -> int:
        atom, owner = placed.atom, self.first << place
        tail = place >= len(role.body)
        match atom:
            case Join():
                key = (owner, member.cta, member.unit if role.alternates else 0)
                if key not in self.joins:
                    self.joins[key] = self.node(placed, self.places[member.cta], owner)
                return self.joins[key]
            case _:
                unit = f" by unit {member.unit}" if rotates(role) else ""
                node = self.node(placed, unit + self.places[member.cta], owner)
        match atom:
            case Issue():
                self.issue(member, atom, node)
            case Passage():
                self.passages.setdefault(atom, []).append((member, node))
            case Fence(kind=kind, every_step=every_step):
                self.fences.setdefault((member, kind), []).append(StandingFence(node, every_step))
            case Wait(ring=ring, side=side):
                self.wait(role, member, ring, side, node, tail=tail)
            case Arrive(ring=ring, side=side):
                for cta in self.targets(atom.to, member.cta):
                    self.arrive(role, (ring, side, cta), node, place - len(role.body) if tail else None)
            case Expect(ring=ring):
                self.arrive(role, (ring, Side.FULL, member.cta), node, place - len(role.body) if tail else None)
            case ClusterArrive():
                self.edge(node, self.gathering(role, place, atom), 0, Why.ARRIVAL)
            case ClusterWait():
                self.edge(self.gathering(role, place, atom), node, 0, Why.WAIT)
            case Acquire(workspace=workspace):
                self.edge(self.passing(workspace, member.cta), node, 0, Why.WAIT)
            case Release(workspace=workspace, last=False, on=on):
                self.edge(node, self.passing(workspace, member.cta + on), 0, Why.ARRIVAL)
            case TakeTurn(turns=turns):
                self.edge(self.turn(turns, member.unit, member.cta), node, 0, Why.ROTATION)
            case PassTurn(turns=turns):
                following = (member.unit + 1) % role.units
                later = int(following == 0)
                self.edge(node, self.turn(turns, following, member.cta), later, Why.ROTATION)
            case Commit() | Retire() | Join() | Advance() | Release():
                pass
        return node

    def turn(self, turns: str, unit: int, cta: int) -> int:
        """The moment at which a unit of a block has the turn of a phase, passed on by the one before: in a step the
        first one by the last one's in the step before."""
        if (turns, unit, cta) not in self.turns:
            self.turns[turns, unit, cta] = self.node(f"{turns} passed on to unit {unit}", self.places[cta])
        return self.turns[turns, unit, cta]

    def passing(self, workspace: str, cta: int) -> int:
        """The moment at which the block of a part has the tile of a workspace, passed on by that of the part before."""
        if (workspace, cta) not in self.passed:
            self.passed[workspace, cta] = self.node(f"{workspace} passed on to block {cta}")
        return self.passed[workspace, cta]

    def gathering(self, role: RoleBody, place: int, atom: ClusterArrive | ClusterWait) -> int:
        """The phase of the cluster's barrier that an atom arrives at or waits for: those of all blocks are one."""
        number = sum(1 for placed in role.atoms[:place] if isinstance(placed.atom, type(atom)))
        if number not in self.gatherings:
            self.gatherings[number] = self.node(f"the cluster's barrier, phase {number}")
        return self.gatherings[number]

    def targets(self, masks: Masks, cta: int) -> tuple[int, ...]:
        """The blocks that an atom of a block reaches."""
        if masks not in self.reach:
            self.reach[masks] = tuple(map(ranks_in, reached(masks, self.program.cluster)))
        return self.reach[masks][cta]

    def wait(self, role: RoleBody, member: Member, ring: str, side: Side, node: int, *, tail: bool) -> None:
        if not tail:
            self.waits.setdefault((ring, side, member.cta), []).append((member, node))
        if role.name == self.variant.handover and member.unit > 0:
            return
        depth = self.program.ring(ring).depth if side is Side.EMPTY else 0
        self.edge(self.phases[ring, side, member.cta], node, depth, Why.WAIT)

    def arrive(self, role: RoleBody, barrier: tuple[str, Side, int], node: int, tail_place: int | None) -> None:
        chosen = self.variant.tail_arrival
        if tail_place is None:
            if chosen is not None and chosen[0] == role.name and _same_barrier(role, chosen[1], *barrier[:2]):
                return
        elif chosen != (role.name, tail_place):
            return
        self.arrivals.setdefault(barrier, []).append(node)
        self.edge(node, self.phases[barrier], 0, Why.ARRIVAL)

    def issue(self, member: Member, atom: Issue, node: int) -> None:
        self.issues.setdefault((atom.op, member.cta), []).append((member, node))
        match atom.mechanism.completes:
            case Group():
                self.complete(member, atom.op, member.cta, node, *self.completion(_scope(atom, member), node))
            case Transaction():
                for cta in self.targets(atom.to, member.cta):
                    read, done = self.completion((*_scope(atom, member)[:-1], cta), node)
                    self.complete(member, atom.op, cta, node, read, done)
                    if atom.ring:
                        self.edge(done, self.phases[atom.ring, Side.FULL, cta], 0, Why.BYTES)
            case _:
                for cta in self.targets(atom.to, member.cta):
                    self.complete(member, atom.op, cta, node, node, node)

    def complete(self, member: Member, op: str, cta: int, node: int, read: int, done: int) -> None:
        """Notes where an op's events are, as far as they concern the tiles of a block."""
        for kind, found in ((EventKind.READ_DONE, read), (EventKind.DONE, done), (EventKind.ISSUE, node)):
            if (op, kind, cta, found) not in self.noted:
                self.noted.add((op, kind, cta, found))
                self.completions.setdefault((op, kind, member.cta, cta), []).append((member, found))

    def completion(self, scope: _Scope, node: int) -> tuple[int, int]:
        if scope not in self.shared:
            self.shared[scope] = self.node(f"{scope[0]} read")
            self.edge(self.shared[scope], self.node(f"{scope[0]} done"), 0, Why.RUN)
        read = self.shared[scope]
        self.edge(node, read, 0, Why.RUN)
        return read, read + 1

    def retire(self, member: Member, nodes: list[int | None], seen: dict[int, Seen]) -> None:
        """Edges from the completions of groups to the retiring atoms of the same thread, which would not be there
        without the only closing of a kind."""
        for place, own in seen.items():
            node = nodes[place]
            if node is not None:
                of = self.owners[node] | (0 if own.closing is None else self.first << own.closing)
                for op, ahead, steps in own.ops:
                    scope = _scope(op, member)
                    if scope in self.shared:
                        source = self.shared[scope] + (0 if own.reads_only else 1)
                        self.edges.append(Edge(source, node, steps + own.ahead - ahead, Why.GROUP, of))

    def nest(self) -> None:
        """Of a nested loop with more steps than its ring has slots, nobody who uses the ring comes to the end before
        the one who fills it, and that one not before the others have begun. As with phases, the unit that has the next
        item is not told by those of this one."""
        for atom, nodes in self.passages.items():
            if atom.fills or atom.edge is LoopEdge.BEGIN:
                continue
            filled = self.passages.get(evolve(atom, fills=True), [])
            begun = self.passages.get(evolve(atom, edge=LoopEdge.BEGIN), [])
            for member, end in filled:
                for other, node in nodes:
                    if self.share_item(member, other):
                        self.edge(end, node, 0, Why.NESTED)
                for other, node in begun:
                    if self.share_item(member, other):
                        self.edge(node, end, 0, Why.NESTED)

    def share_item(self, filler: Member, user: Member) -> bool:
        """Whether two members of a block come to a nested loop in the same item."""
        return filler.cta == user.cta and not (user.role == self.variant.handover and user.unit > 0)

    def hand_over(self, role: RoleBody, own: list[tuple[Member, list[int | None]]]) -> None:
        for turn in self.program.turns:
            if turn.role == role.name:
                distance = role.body[turn.after].ahead - role.body[turn.before].ahead + 1
                for member, body in own:
                    for other, later in own:
                        first, second = body[turn.before], later[turn.after]
                        if (
                            member.cta == other.cta
                            and member.unit < other.unit
                            and first is not None
                            and second is not None
                        ):
                            self.edge(first, second, distance, Why.TURN)


def _same_barrier(role: RoleBody, tail_place: int, ring: str, side: Side) -> bool:
    match role.tail[tail_place].atom:
        case Arrive(ring=own, side=at):
            return (own, at) == (ring, side)
        case _:
            return False


def members(role: RoleBody, cta: int = 0) -> tuple[Member, ...]:
    """The representative threads of a role: an elected and another thread of one unit, and of a second unit; of all
    units where those take turns in the body."""
    units = range(role.units if rotates(role) else min(role.units, 2))
    elections = (True,) if role.threads == 1 else (True, False)
    return tuple(Member(role.name, unit, elected, cta) for unit in units for elected in elections)


def rotates(role: RoleBody) -> bool:
    """Whether the units of a role take turns in its body."""
    return any(isinstance(placed.atom, TakeTurn | PassTurn) for placed in role.body)


def event_graph(program: AtomProgram) -> Graph:
    """The graph of the steady state: every arrival by the atom of the body."""
    return _Builder(program, _Variant()).graph()


def tail_graphs(program: AtomProgram) -> Iterator[tuple[RoleBody, Placed, Graph]]:
    """For each arrival behind a loop: the graph in which it, and not the body's atom, completes the phase."""
    number = 0
    for role in program.roles:
        for place, placed in enumerate(role.tail):
            if isinstance(placed.atom, Arrive):
                number += 1
                yield role, placed, _Builder(program, _Variant((role.name, place), number=number)).graph()


def handover_graph(program: AtomProgram, role: RoleBody) -> Graph:
    """The graph in which the first unit of an alternating role has an item and the second unit the next one: barrier
    phases of the item reach the first unit only, and turns lead from it to the second."""
    return _Builder(program, _Variant(handover=role.name)).graph()


def without(program: AtomProgram, role: RoleBody, place: int) -> AtomProgram:
    """The program without the atom at `place` of a role's body, of its tail when it is beyond the body, or of what is
    done before leaving."""
    tail = place - len(role.body)
    leave = tail - len(role.tail)
    if leave >= 0:
        return program.replaced(role, evolve(role, leave=role.leave[:leave] + role.leave[leave + 1 :]))
    if tail >= 0:
        return program.replaced(role, evolve(role, tail=role.tail[:tail] + role.tail[tail + 1 :]))
    body = role.body[:place] + role.body[place + 1 :]
    moved = (_turn_without(turn, place) if turn.role == role.name else turn for turn in program.turns)
    turns = tuple(t for t in moved if t.role != role.name or (t.before >= 0 and t.after < len(body)))
    return evolve(program.replaced(role, evolve(role, body=body)), turns=turns)


def _turn_without(turn: Turn, place: int) -> Turn:
    """A turn between the atoms that it was between; for one that is left out stands what was before `before`, or what
    was behind `after`."""
    return evolve(turn, before=turn.before - int(place <= turn.before), after=turn.after - int(place < turn.after))
