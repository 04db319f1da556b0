"""From atoms to the event graph: one node for each atom of each representative thread, and for each completion."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from attrs import evolve, frozen

from isa.mechanisms import Group, GroupKind, IssuedBy, Mechanism, Transaction
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
    Wait,
    performed_by,
)
from ptxgen.order.atoms import (
    Edge as LoopEdge,
)
from ptxgen.order.clusters import Masks, ranks_in, reached
from ptxgen.order.requirements import EventKind
from ptxgen.prove.graph import Edge, Graph, Member, Why


@frozen(eq=False)
class _Variant:
    """Which arrivals and waits the barrier edges of a graph use."""

    tail_arrival: tuple[str, int] | None = None
    handover: str = ""


class _Builder:
    def __init__(self, program: AtomProgram, variant: _Variant) -> None:
        self.program, self.variant = program, variant
        self.labels: list[str] = []
        self.edges: list[Edge] = []
        self.issues: dict[str, list[tuple[Member, int]]] = {}
        self.completions: dict[tuple[str, EventKind, int], list[tuple[Member, int]]] = {}
        self.fences: dict[tuple[Member, FenceKind], list[int]] = {}
        self.waits: dict[tuple[str, Side, int], list[tuple[Member, int]]] = {}
        self.arrivals: dict[tuple[str, Side, int], list[int]] = {}
        self.joins: dict[tuple[str, int, int], int] = {}
        self.gatherings: dict[int, int] = {}
        self.passed: dict[tuple[str, int], int] = {}
        self.shared: dict[tuple[str, int, int, str], int] = {}
        self.passages: dict[Passage, list[tuple[Member, int]]] = {}
        self.phases = {
            (ring.name, side, cta): self.node(f"{side.value} of {ring.name}" + self.where(cta))
            for ring in program.rings
            for side in Side
            for cta in range(program.cluster)
        }

    def where(self, cta: int) -> str:
        return f" in block {cta}" if self.program.cluster > 1 else ""

    def node(self, label: str) -> int:
        self.labels.append(label)
        return len(self.labels) - 1

    def edge(self, source: int, sink: int, distance: int, why: Why) -> None:
        self.edges.append(Edge(source, sink, distance, why))

    def graph(self) -> Graph:
        for role in self.program.roles:
            everybody = tuple(m for cta in range(self.program.cluster) for m in members(role, cta))
            bodies = [self.thread(role, member) for member in everybody]
            if role.name == self.variant.handover:
                self.hand_over(role, list(zip(everybody, bodies, strict=True)))
        self.nest()
        return Graph(
            tuple(self.labels),
            tuple(self.edges),
            {k: tuple(v) for k, v in self.issues.items()},
            {k: tuple(v) for k, v in self.completions.items()},
            {k: tuple(v) for k, v in self.fences.items()},
            self.phases,
            {k: tuple(v) for k, v in self.waits.items()},
            {k: tuple(v) for k, v in self.arrivals.items()},
        )

    def thread(self, role: RoleBody, member: Member) -> list[int | None]:
        """The nodes of one thread's body and tail, None for atoms that it does not perform."""
        body = [self.atom(role, member, place, placed, tail=False) for place, placed in enumerate(role.body)]
        tail = [self.atom(role, member, place, placed, tail=True) for place, placed in enumerate(role.tail)]
        steps = [(n, p) for n, p in zip(body, role.body, strict=True) if n is not None]
        ends = [(n, p) for n, p in zip(tail, role.tail, strict=True) if n is not None]
        last = [self.atom(role, member, place, placed, tail=True) for place, placed in enumerate(role.leave)]
        leave = [(n, p) for n, p in zip(last, role.leave, strict=True) if n is not None]
        for nodes in (steps, ends, leave):
            self.chain(nodes)
        if steps and role.periodic:
            self.link(steps[-1], steps[0], 1)
        if steps and ends:
            self.link(steps[-1], ends[0], 1)
        if leave and (ends or steps):
            self.link((ends or steps)[-1], leave[0], 0 if ends else 1)
        if steps and ends and role.resumes:
            self.edge(ends[-1][0], steps[0][0], steps[0][1].ahead - ends[-1][1].ahead, Why.ITEM)
        self.retire(role, member, [*body, *tail])
        return body

    def chain(self, nodes: list[tuple[int, Placed]]) -> None:
        for first, second in pairwise(nodes):
            self.link(first, second, 0)

    def link(self, first: tuple[int, Placed], second: tuple[int, Placed], steps: int) -> None:
        self.edge(first[0], second[0], second[1].ahead - first[1].ahead + steps, Why.ORDER)

    def atom(self, role: RoleBody, member: Member, place: int, placed: Placed, *, tail: bool) -> int | None:
        atom = placed.atom
        if performed_by(role, atom) is IssuedBy.ELECTED and not member.elected:
            return None
        match atom:
            case Join():
                key = (role.name, member.cta, -1 - place if tail else place)
                if key not in self.joins:
                    self.joins[key] = self.node(f"{placed}{self.where(member.cta)}")
                return self.joins[key]
            case _:
                node = self.node(f"{placed}{self.where(member.cta)}")
        match atom:
            case Issue():
                self.issue(member, atom, node)
            case Passage():
                self.passages.setdefault(atom, []).append((member, node))
            case Fence(kind=kind):
                self.fences.setdefault((member, kind), []).append(node)
            case Wait(ring=ring, side=side):
                self.wait(role, member, ring, side, node, tail=tail)
            case Arrive(ring=ring, side=side):
                for cta in self.targets(atom.to, member.cta):
                    self.arrive(role, (ring, side, cta), node, place if tail else None)
            case Expect(ring=ring):
                self.arrive(role, (ring, Side.FULL, member.cta), node, place if tail else None)
            case ClusterArrive():
                self.edge(node, self.gathering(role, place, atom, tail=tail), 0, Why.ARRIVAL)
            case ClusterWait():
                self.edge(self.gathering(role, place, atom, tail=tail), node, 0, Why.WAIT)
            case Acquire(workspace=workspace):
                self.edge(self.passing(workspace, member.cta), node, 0, Why.WAIT)
            case Release(workspace=workspace, last=False, on=on):
                self.edge(node, self.passing(workspace, member.cta + on), 0, Why.ARRIVAL)
            case Commit() | Retire() | Join() | Advance() | TakeTurn() | PassTurn() | Release():
                pass
        return node

    def passing(self, workspace: str, cta: int) -> int:
        """The moment at which the block of a part has the tile of a workspace, passed on by that of the part before."""
        if (workspace, cta) not in self.passed:
            self.passed[workspace, cta] = self.node(f"{workspace} passed on to block {cta}")
        return self.passed[workspace, cta]

    def gathering(self, role: RoleBody, place: int, atom: ClusterArrive | ClusterWait, *, tail: bool) -> int:
        """The phase of the cluster's barrier that an atom arrives at or waits for: those of all blocks are one."""
        before = [*role.body, *role.tail][: place + (len(role.body) if tail else 0)]
        number = sum(1 for placed in before if isinstance(placed.atom, type(atom)))
        if number not in self.gatherings:
            self.gatherings[number] = self.node(f"the cluster's barrier, phase {number}")
        return self.gatherings[number]

    def targets(self, masks: Masks, cta: int) -> tuple[int, ...]:
        """The blocks that an atom of a block reaches."""
        return ranks_in(reached(masks, self.program.cluster)[cta])

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
        self.issues.setdefault(atom.op, []).append((member, node))
        match atom.mechanism.completes:
            case Group(owner=owner):
                scope = atom.op if owner is IssuedBy.WARPGROUP else f"{atom.op} of {member}"
                self.complete(member, atom.op, member.cta, node, *self.completion(member, atom.op, scope, node))
            case Transaction():
                for cta in self.targets(atom.to, member.cta):
                    scope = f"{atom.op} of {member}{self.where(cta)}"
                    read, done = self.completion(member, atom.op, scope, node)
                    self.complete(member, atom.op, cta, node, read, done)
                    if atom.ring:
                        self.edge(done, self.phases[atom.ring, Side.FULL, cta], 0, Why.BYTES)
            case _:
                for cta in self.targets(atom.to, member.cta):
                    self.complete(member, atom.op, cta, node, node, node)

    def complete(self, member: Member, op: str, cta: int, node: int, read: int, done: int) -> None:
        """Notes where an op's events are, as far as they concern the tiles of a block."""
        for kind, found in ((EventKind.READ_DONE, read), (EventKind.DONE, done), (EventKind.ISSUE, node)):
            known = self.completions.setdefault((op, kind, cta), [])
            if found not in (n for _, n in known):
                known.append((member, found))

    def completion(self, member: Member, op: str, scope: str, node: int) -> tuple[int, int]:
        key = (member.role, member.cta, member.unit, scope)
        if key not in self.shared:
            self.shared[key] = self.node(f"{op} read")
            self.edge(self.shared[key], self.node(f"{op} done"), 0, Why.RUN)
        read = self.shared[key]
        self.edge(node, read, 0, Why.RUN)
        return read, read + 1

    def retire(self, role: RoleBody, member: Member, nodes: list[int | None]) -> None:
        """Edges from the completions of groups to the retiring atoms of the same thread."""
        placed = [*role.body, *role.tail]
        for place, (entry, node) in enumerate(zip(placed, nodes, strict=True)):
            if isinstance(entry.atom, Retire) and node is not None and entry.atom.pending >= 0:
                for op, ahead, steps in retired(role, place):
                    owner = op.mechanism.completes
                    collective = isinstance(owner, Group) and owner.owner is IssuedBy.WARPGROUP
                    scope = op.op if collective else f"{op.op} of {member}"
                    key = (member.role, member.cta, member.unit, scope)
                    if key in self.shared:
                        source = self.shared[key] + (0 if entry.atom.reads_only else 1)
                        self.edge(source, node, steps + entry.ahead - ahead, Why.GROUP)

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
    """The representative threads of a role: an elected and another thread of one unit, and of a second unit."""
    units = range(min(role.units, 2))
    elections = (True,) if role.threads == 1 else (True, False)
    return tuple(Member(role.name, unit, elected, cta) for unit in units for elected in elections)


def retired(role: RoleBody, place: int) -> Iterator[tuple[Issue, int, int]]:
    """The ops whose groups the Retire at `place` (body, then tail) has seen complete: the op, its `ahead`, and how many
    steps after the op's step the retiring step is. Groups are counted back from the latest commit before the Retire."""
    tail = place - len(role.body)
    atom = role.tail[tail].atom if tail >= 0 else role.body[place].atom
    assert isinstance(atom, Retire)
    commits = [p for p, e in enumerate(role.body) if isinstance(e.atom, Commit) and e.atom.kind is atom.kind]
    if not commits:
        return
    here = len(role.body) if tail >= 0 else place
    before = [p for p in commits if p < here] if tail < 0 else []
    latest = list(reversed(before)) + [p for _ in range(atom.pending + 1) for p in reversed(commits)]
    seen: set[int] = set()
    for back, commit in enumerate(latest):
        if back >= atom.pending and commit not in seen:
            seen.add(commit)
            whole = 0 if back < len(before) else 1 + (back - len(before)) // len(commits)
            yield from _committed(role, commit, commits, atom.kind, whole)


def _committed(
    role: RoleBody, commit: int, commits: list[int], kind: GroupKind, steps: int
) -> Iterator[tuple[Issue, int, int]]:
    earlier = [c for c in commits if c < commit]
    start = earlier[-1] if earlier else -1
    for place, entry in enumerate(role.body):
        wrapped = not earlier and place > commits[-1]
        if start < place < commit or wrapped:
            match entry.atom:
                case Issue(mechanism=Mechanism(completes=Group(kind=own))) as op if own is kind:
                    yield op, entry.ahead, steps + int(wrapped)
                case _:
                    pass


def event_graph(program: AtomProgram) -> Graph:
    """The graph of the steady state: every arrival by the atom of the body."""
    return _Builder(program, _Variant()).graph()


def tail_graphs(program: AtomProgram) -> Iterator[tuple[RoleBody, Placed, Graph]]:
    """For each arrival behind a loop: the graph in which it, and not the body's atom, completes the phase."""
    for role in program.roles:
        for place, placed in enumerate(role.tail):
            if isinstance(placed.atom, Arrive):
                yield role, placed, _Builder(program, _Variant(tail_arrival=(role.name, place))).graph()


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
    return program.replaced(role, evolve(role, body=role.body[:place] + role.body[place + 1 :]))
