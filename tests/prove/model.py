"""A model of the machine that runs an atom program thread by thread under a random scheduler. It counts arrivals and
bytes, flips phases, waits on parities and moves numbered tiles, and knows nothing of graphs and distances."""

import random
from collections.abc import Iterator, Mapping

from attrs import define, field, frozen

from isa.mechanisms import AtIssue, Group, GroupKind, IssuedBy, Transaction
from ptxgen.order.atoms import (
    Acquire,
    Arrive,
    AtomProgram,
    ClusterArrive,
    ClusterWait,
    Commit,
    Expect,
    Fence,
    Issue,
    Join,
    Placed,
    Release,
    Retire,
    RoleBody,
    Side,
    Wait,
    performed_by,
)

ELECTED = IssuedBy.ELECTED


class Fault(Exception):
    """What the machine shows: a deadlock, a tile overwritten or read too early, too many arrivals."""


@frozen
class Uses:
    """What an op does with a ring: the tile number is the op's index. `kept`: it is in memory that outlives blocks."""

    ring: str
    writes: bool
    kept: bool = False


@define
class Barrier:
    count: int
    phase: int = 0
    pending: int = 0
    missing_bytes: int = 0

    def __attrs_post_init__(self) -> None:
        self.pending = self.count

    def arrive(self, byte_count: int = 0) -> None:
        if self.pending == 0:
            raise Fault("more arrivals than the count")
        self.pending -= 1
        self.missing_bytes += byte_count
        self.flip()

    def land(self, byte_count: int) -> None:
        self.missing_bytes -= byte_count
        self.flip()

    def flip(self) -> None:
        if self.pending == 0 and self.missing_bytes == 0:
            self.phase += 1
            self.pending = self.count

    def passes(self, parity: int) -> bool:
        return self.phase % 2 != parity % 2


@define
class Slot:
    """The tile number of each part of a slot, by the op and the block that bring it."""

    parts: dict[tuple[str, int], int | None] = field(factory=dict)
    writing: int = 0
    reading: int = 0

    def holds(self, tile: int) -> bool:
        return bool(self.parts) and all(found == tile for found in self.parts.values())


@define(eq=False)
class Flight:
    """An asynchronous op of a thread, which touches tiles of block `place`: `begun` when it may touch memory, `read`
    when its sources may change, `done` at its end."""

    op: Issue
    index: int
    thread: "Thread"
    place: int
    owner: tuple[object, ...]
    issued: int = 0
    members: int = 1
    begun: bool = False
    read: bool = False
    done: bool = False


@define(eq=False)
class Thread:
    role: RoleBody
    unit: int
    elected: bool
    cta: int
    steps: list[tuple[Placed, int]]
    at: int = 0
    arrived: int = 0
    waited: int = 0
    open: dict[GroupKind, list[Flight]] = field(factory=dict)
    groups: dict[GroupKind, list[list[Flight]]] = field(factory=dict)
    joins: int = 0


@define(eq=False)
class Machine:
    program: AtomProgram
    uses: Mapping[str, tuple[Uses, ...]]
    tiles: int
    depths: dict[str, int]
    rng: random.Random
    late: float
    items: tuple[int, ...] = ()
    barriers: dict[tuple[int, str, Side, int], Barrier] = field(factory=dict)
    slots: dict[tuple[int, str, int], Slot] = field(factory=dict)
    flights: list[Flight] = field(factory=list)
    collectives: dict[tuple[object, ...], Flight] = field(factory=dict)
    threads: list[Thread] = field(factory=list)
    flags: dict[str, int] = field(factory=dict)

    def run(self) -> None:
        """Runs all threads to their end; raises Fault."""
        self.threads = list(self.start())
        favourite = self.rng.choice(self.threads)
        blocks = [[t for t in self.threads if t.cta == cta] for cta in range(self.program.cluster)]
        asleep = self.rng.choice([[], [], *([t] for t in self.threads), *(blocks if len(blocks) > 1 else [])])
        while any(t.at < len(t.steps) for t in self.threads) or self.flights:
            ready = [t for t in self.threads if t.at < len(t.steps) and self.can_step(t)]
            flying = [f for f in self.flights if self.can_fly(f)]
            if not ready and not flying:
                raise Fault("deadlock")
            if flying and (not ready or self.rng.random() > self.late):
                self.fly(self.rng.choice(flying))
            else:
                ready = [t for t in ready if t not in asleep] or ready
                self.step(favourite if favourite in ready and self.rng.random() < 0.6 else self.rng.choice(ready))

    def start(self) -> Iterator[Thread]:
        entering = [(Placed(atom), 0) for atom in self.program.enter]
        for cta in range(self.program.cluster):
            for name, depth in self.depths.items():
                for slot in range(depth):
                    self.slots[cta, name, slot] = Slot(dict.fromkeys(self.parts(name, cta)))
            for role in self.program.roles:
                for unit in range(role.units):
                    for elected in (True,) if role.threads == 1 else (True, False):
                        own = (unit, role.units) if role.alternates else (0, 1)
                        run = in_items(role, self.items, *own) if role.resumes else instances(role, self.tiles)
                        steps = [*entering, *run]
                        mine = [(p, n) for p, n in steps if elected or performed_by(role, p.atom) is not ELECTED]
                        yield Thread(role, unit, elected, cta, mine)

    def parts(self, name: str, cta: int) -> Iterator[tuple[str, int]]:
        """Who brings parts of a slot of a block, as the requirements say."""
        for asked in self.program.obligations:
            if asked.label.startswith("flow") and any(u.ring == name and u.writes for u in self.uses[asked.source]):
                yield from ((asked.source, c) for c, place, _ in asked.ctas or ((cta, cta, cta),) if place == cta)

    def reached(self, masks: tuple[int, ...], cta: int) -> list[int]:
        return [c for c in range(self.program.cluster) if masks[cta] >> c & 1] if masks else [cta]

    def begin_block(self, cta: int) -> None:
        """A block's barriers are initialised when its first thread runs."""
        for ring in self.program.rings:
            empty = ring.counts_by_rank[cta] if ring.counts_by_rank else ring.empty_count
            for slot in range(ring.depth):
                self.barriers.setdefault((cta, ring.name, Side.FULL, slot), Barrier(ring.full_count))
                self.barriers.setdefault((cta, ring.name, Side.EMPTY, slot), Barrier(empty))

    def barrier(self, cta: int, ring: str, side: Side, index: int) -> Barrier:
        found = self.barriers.get((cta, ring, side, index % self.program.ring(ring).depth))
        if found is None:
            raise Fault("a barrier that is not there yet")
        if all(t.at >= len(t.steps) for t in self.threads if t.cta == cta):
            raise Fault("a barrier of a block that has left")
        return found

    def check_there(self, cta: int) -> None:
        if all(t.at >= len(t.steps) for t in self.threads if t.cta == cta):
            raise Fault("memory of a block that has left")

    def has_turn(self, thread: Thread, placed: Placed, index: int) -> bool:
        """Whether what a turn orders before this step is done: by whoever has the tile before this one."""
        for turn in self.program.turns:
            if thread.role.name == turn.role and placed is thread.role.body[turn.after]:
                others = (t for t in self.threads if t.role is thread.role and t.cta == thread.cta and t is not thread)
                before = (thread.role.body[turn.before], index - 1)
                if any(step == before for other in others for step in other.steps[other.at :]):
                    return False
        return True

    def can_step(self, thread: Thread) -> bool:
        placed, index = thread.steps[thread.at]
        if not self.has_turn(thread, placed, index):
            return False
        match placed.atom:
            case Acquire(workspace=workspace, once=True):
                return bool(self.flags.get(f"{workspace} of {thread.cta}")) or not self.has_before(thread)
            case Acquire(workspace=workspace):
                return self.flags.get(workspace, 0) == thread.cta
            case ClusterWait():
                return all(t.arrived > thread.waited or t.at >= len(t.steps) for t in self.threads)
            case Wait(ring=ring, side=side):
                depth = self.program.ring(ring).depth
                parity = index // depth + (1 if side is Side.EMPTY else 0)
                barrier = self.barriers.get((thread.cta, ring, side, index % depth))
                return barrier.passes(parity) if barrier else bool(parity % 2)
            case Retire(kind=kind, pending=pending, reads_only=reads_only):
                groups = thread.groups.get(kind, [])
                old = groups[: len(groups) - pending] if pending else groups
                return all(f.done or (reads_only and f.read) for group in old for f in group)
            case Join():
                together = [t for t in self.threads if t.role is thread.role and t.cta == thread.cta]
                peers = [t for t in together if t.unit == thread.unit or not t.role.alternates]
                return all(t.joins > thread.joins or self.waits_to_join(t, thread.joins) for t in peers)
            case _:
                return True

    def has_before(self, thread: Thread) -> bool:
        """Whether some block passes a tile on to this one, as the programs of these tests do from each to a later
        one."""
        steps = [p.atom.on for p in thread.role.body if isinstance(p.atom, Release) and not p.atom.last]
        return all(thread.cta >= on for on in steps)

    def waits_to_join(self, thread: Thread, joins: int) -> bool:
        at_join = thread.at < len(thread.steps) and isinstance(thread.steps[thread.at][0].atom, Join)
        return at_join and thread.joins == joins

    def step(self, thread: Thread) -> None:
        self.begin_block(thread.cta)
        placed, index = thread.steps[thread.at]
        match placed.atom:
            case Issue():
                self.issue(thread, placed.atom, index)
            case Commit(kind=kind):
                thread.groups.setdefault(kind, []).append(thread.open.pop(kind, []))
            case Arrive(ring=ring, side=side, to=to):
                for cta in self.reached(to, thread.cta):
                    self.barrier(cta, ring, side, index).arrive()
            case Expect(ring=ring, byte_count=count):
                self.barrier(thread.cta, ring, Side.FULL, index).arrive(count)
            case Join():
                thread.joins += 1
            case Release(workspace=workspace, last=last, once=True, on=on):
                self.flags[f"{workspace} of {thread.cta + (0 if last else on)}"] = 0 if last else 1
            case Release(workspace=workspace, last=last):
                self.flags[workspace] = 0 if last else thread.cta + 1
            case ClusterArrive():
                if thread.arrived > thread.waited:
                    raise Fault("arrived twice at the cluster's barrier")
                thread.arrived += 1
            case ClusterWait():
                if thread.arrived == thread.waited:
                    raise Fault("waits for the cluster's barrier, not arrived there")
                thread.waited += 1
            case Retire() | Wait() | Fence() | Acquire():
                pass
        thread.at += 1

    def issue(self, thread: Thread, op: Issue, index: int) -> None:
        match op.mechanism.completes:
            case AtIssue():
                for cta in self.reached(op.to, thread.cta):
                    if not any(use.kept for use in self.uses.get(op.op, ())):
                        self.check_there(cta)
                    flight = Flight(op, index, thread, cta, ())
                    self.begin(flight)
                    self.finish_reads(flight)
                    self.finish_writes(flight)
            case Transaction():
                for cta in self.reached(op.to, thread.cta):
                    flight = Flight(op, index, thread, cta, ())
                    self.flights.append(flight)
                    self.start_writing(flight)
            case Group(kind=kind, owner=owner):
                shared = owner is IssuedBy.WARPGROUP
                unit = (thread.cta, thread.role.name, thread.unit)
                key = (op.op, index, unit, None if shared else thread.elected)
                found = self.collectives.get(key)
                if found is None:
                    members = sum(unit == (t.cta, t.role.name, t.unit) for t in self.threads) if shared else 1
                    found = Flight(op, index, thread, thread.cta, (kind, *unit, key[-1]), 0, members)
                    self.collectives[key] = found
                    self.flights.append(found)
                    self.start_writing(found)
                found.issued += 1
                thread.open.setdefault(kind, []).append(found)

    def can_fly(self, flight: Flight) -> bool:
        if isinstance(flight.op.mechanism.completes, Transaction):
            return True
        if flight.issued < flight.members:
            return False
        return next(f for f in self.flights if f.owner == flight.owner) is flight

    def fly(self, flight: Flight) -> None:
        if not flight.begun:
            flight.begun = True
            self.begin(flight, started=True)
            return
        if not flight.read:
            flight.read = True
            self.finish_reads(flight)
            return
        flight.done = True
        self.flights.remove(flight)
        self.finish_writes(flight)
        if flight.op.ring:
            self.barrier(flight.place, flight.op.ring, Side.FULL, flight.index).land(flight.op.byte_count)

    def slot(self, flight: Flight, use: Uses) -> Slot:
        return self.slots[flight.place, use.ring, flight.index % self.depths[use.ring]]

    def start_writing(self, flight: Flight) -> None:
        for use in self.uses.get(flight.op.op, ()):
            if use.writes:
                slot = self.slot(flight, use)
                if slot.reading:
                    raise Fault(f"{use.ring} overwritten while read")
                slot.writing += 1
                slot.parts[flight.op.op, flight.thread.cta] = None

    def begin(self, flight: Flight, *, started: bool = False) -> None:
        if not started:
            self.start_writing(flight)
        for use in self.uses.get(flight.op.op, ()):
            if not use.writes:
                slot = self.slot(flight, use)
                if slot.writing or not slot.holds(flight.index):
                    raise Fault(f"{use.ring}: tiles {slot.parts} read, {flight.index} wanted")
                slot.reading += 1

    def finish_reads(self, flight: Flight) -> None:
        for use in self.uses.get(flight.op.op, ()):
            if not use.writes:
                slot = self.slot(flight, use)
                slot.reading -= 1
                if slot.writing or not slot.holds(flight.index):
                    raise Fault(f"{use.ring} overwritten while read")

    def finish_writes(self, flight: Flight) -> None:
        for use in self.uses.get(flight.op.op, ()):
            if use.writes:
                slot = self.slot(flight, use)
                slot.writing -= 1
                slot.parts[flight.op.op, flight.thread.cta] = flight.index


def instances(role: RoleBody, tiles: int) -> Iterator[tuple[Placed, int]]:
    """The atoms that one thread performs for tiles 0 .. tiles-1, in order, with their index."""
    most, tiles = max((p.ahead for p in role.body), default=0), tiles if role.periodic else 1
    for step in range(-most, tiles):
        for placed in role.body:
            index = step + placed.ahead
            always = isinstance(placed.atom, Commit | Retire | Join | Fence)
            if always or 0 <= index < tiles:
                yield placed, index
    for placed in role.tail:
        index = tiles + placed.ahead
        if index >= 0 and (index < tiles or isinstance(placed.atom, Wait | Retire | Join | Fence)):
            yield placed, index


def in_items(role: RoleBody, items: tuple[int, ...], unit: int = 0, units: int = 1) -> Iterator[tuple[Placed, int]]:
    """The atoms that one thread performs for work items of so many tiles each, with their index through all of them.
    What lags behind stays in its item: the tail does it for the last steps. Behind all items the thread leaves. Of
    several units each has every n-th item."""
    most = max((p.ahead for p in role.body), default=0)
    first = 0
    for number, count in enumerate(items):
        if number % units != unit:
            first += count
            continue
        for step in range(first - most, first + count):
            for placed in role.body:
                index = step + placed.ahead
                if isinstance(placed.atom, Commit | Join | Fence) or first <= index < first + count:
                    yield placed, index
        first += count
        for placed in role.tail:
            index = first + placed.ahead
            if isinstance(placed.atom, Wait | Retire | Join | Fence) or first - count <= index < first:
                yield placed, index
    yield from ((placed, first + placed.ahead) for placed in role.leave)


def faults(
    program: AtomProgram,
    uses: Mapping[str, tuple[Uses, ...]],
    depths: dict[str, int],
    runs: int = 60,
    enough: str | None = None,
) -> set[str]:
    """The faults seen in runs of several lengths, under schedulers that are random, late or early, and favour or starve
    some thread; no more runs once a fault is seen whose text has `enough`."""
    seen: set[str] = set()
    for run in range(runs):
        rng = random.Random(run)
        items = tuple(rng.choice((0, 1, 1, 2, 3, 5)) for _ in range(rng.randrange(1, 5)))
        machine = Machine(program, uses, rng.randrange(0, 10), depths, rng, rng.choice((0.05, 0.5, 0.95)), items)
        try:
            machine.run()
        except Fault as fault:
            seen.add(str(fault).partition(":")[0])
            if enough is not None and enough in str(fault):
                break
    return seen
