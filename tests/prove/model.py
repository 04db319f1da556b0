"""A model of the machine that runs an atom program thread by thread under a random scheduler. It counts arrivals and
bytes, flips phases, waits on parities and moves numbered tiles, and knows nothing of graphs and distances."""

import random
from collections.abc import Iterator, Mapping

from attrs import define, field, frozen

from isa.mechanisms import AtIssue, Group, GroupKind, IssuedBy, Transaction
from ptxgen.order.atoms import (
    Arrive,
    AtomProgram,
    Commit,
    Expect,
    Fence,
    Issue,
    Join,
    Placed,
    Retire,
    RoleBody,
    Side,
    Wait,
    performed_by,
)


class Fault(Exception):
    """What the machine shows: a deadlock, a tile overwritten or read too early, too many arrivals."""


@frozen
class Uses:
    """What an op does with a ring: the tile number is the op's index."""

    ring: str
    writes: bool


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
    tile: int | None = None
    writing: int = 0
    reading: int = 0


@define(eq=False)
class Flight:
    """An asynchronous op: `begun` when it may touch memory, `read` when its sources may change, `done` at its end."""

    op: Issue
    index: int
    unit: tuple[str, int]
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
    steps: list[tuple[Placed, int]]
    at: int = 0
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
    barriers: dict[tuple[str, Side, int], Barrier] = field(factory=dict)
    slots: dict[tuple[str, int], Slot] = field(factory=dict)
    flights: list[Flight] = field(factory=list)
    collectives: dict[tuple[object, ...], Flight] = field(factory=dict)
    threads: list[Thread] = field(factory=list)

    def run(self) -> None:
        """Runs all threads to their end; raises Fault."""
        for ring in self.program.rings:
            for slot in range(ring.depth):
                self.barriers[ring.name, Side.FULL, slot] = Barrier(ring.full_count)
                self.barriers[ring.name, Side.EMPTY, slot] = Barrier(ring.empty_count)
        self.slots = {(name, s): Slot() for name, depth in self.depths.items() for s in range(depth)}
        self.threads = list(self.start())
        favourite = self.rng.choice(self.threads)
        sleeper = self.rng.choice((None, None, *self.threads))
        while any(t.at < len(t.steps) for t in self.threads) or self.flights:
            ready = [t for t in self.threads if t.at < len(t.steps) and self.can_step(t)]
            flying = [f for f in self.flights if self.can_fly(f)]
            if not ready and not flying:
                raise Fault("deadlock")
            if flying and (not ready or self.rng.random() > self.late):
                self.fly(self.rng.choice(flying))
            else:
                ready = [t for t in ready if t is not sleeper] or ready
                self.step(favourite if favourite in ready and self.rng.random() < 0.6 else self.rng.choice(ready))

    def start(self) -> Iterator[Thread]:
        for role in self.program.roles:
            for unit in range(role.units):
                for elected in (True,) if role.threads == 1 else (True, False):
                    steps = list(in_items(role, self.items) if role.resumes else instances(role, self.tiles))
                    mine = [(p, n) for p, n in steps if elected or performed_by(role, p.atom) is not IssuedBy.ELECTED]
                    yield Thread(role, unit, elected, mine)

    def can_step(self, thread: Thread) -> bool:
        placed, index = thread.steps[thread.at]
        match placed.atom:
            case Wait(ring=ring, side=side):
                depth = self.program.ring(ring).depth
                parity = index // depth + (1 if side is Side.EMPTY else 0)
                return self.barriers[ring, side, index % depth].passes(parity)
            case Retire(kind=kind, pending=pending, reads_only=reads_only):
                groups = thread.groups.get(kind, [])
                old = groups[: len(groups) - pending] if pending else groups
                return all(f.done or (reads_only and f.read) for group in old for f in group)
            case Join():
                peers = [t for t in self.threads if t.role is thread.role]
                return all(t.joins > thread.joins or self.waits_to_join(t, thread.joins) for t in peers)
            case _:
                return True

    def waits_to_join(self, thread: Thread, joins: int) -> bool:
        at_join = thread.at < len(thread.steps) and isinstance(thread.steps[thread.at][0].atom, Join)
        return at_join and thread.joins == joins

    def step(self, thread: Thread) -> None:
        placed, index = thread.steps[thread.at]
        thread.at += 1
        match placed.atom:
            case Issue():
                self.issue(thread, placed.atom, index)
            case Commit(kind=kind):
                thread.groups.setdefault(kind, []).append(thread.open.pop(kind, []))
            case Arrive(ring=ring, side=side, ctas=ctas):
                for _ in range(ctas):
                    self.barriers[ring, side, index % self.program.ring(ring).depth].arrive()
            case Expect(ring=ring, byte_count=count):
                self.barriers[ring, Side.FULL, index % self.program.ring(ring).depth].arrive(count)
            case Join():
                thread.joins += 1
            case Retire() | Wait() | Fence():
                pass

    def issue(self, thread: Thread, op: Issue, index: int) -> None:
        unit = (thread.role.name, thread.unit)
        match op.mechanism.completes:
            case AtIssue():
                self.begin(op, index)
                self.finish_reads(op, index)
                self.finish_writes(op, index)
            case Transaction():
                self.flights.append(Flight(op, index, unit, (op.op, *unit)))
                self.start_writing(op, index)
            case Group(kind=kind, owner=owner):
                shared = owner is IssuedBy.WARPGROUP
                key = (op.op, index, unit, None if shared else thread.elected)
                flight = self.collectives.get(key)
                if flight is None:
                    peers = [t for t in self.threads if t.role is thread.role and t.unit == thread.unit]
                    members = len(peers) if shared else 1
                    flight = self.collectives[key] = Flight(op, index, unit, (kind, *unit, key[-1]), 0, members)
                    self.flights.append(flight)
                    self.start_writing(op, index)
                flight.issued += 1
                thread.open.setdefault(kind, []).append(flight)

    def can_fly(self, flight: Flight) -> bool:
        if flight.issued < flight.members and not isinstance(flight.op.mechanism.completes, Transaction):
            return False
        if isinstance(flight.op.mechanism.completes, Transaction):
            return True
        return next(f for f in self.flights if f.owner == flight.owner) is flight

    def fly(self, flight: Flight) -> None:
        if not flight.begun:
            flight.begun = True
            self.begin(flight.op, flight.index, started=True)
            return
        if not flight.read:
            flight.read = True
            self.finish_reads(flight.op, flight.index)
            return
        flight.done = True
        self.flights.remove(flight)
        self.finish_writes(flight.op, flight.index)
        if flight.op.ring:
            depth = self.program.ring(flight.op.ring).depth
            self.barriers[flight.op.ring, Side.FULL, flight.index % depth].land(flight.op.byte_count)

    def slot(self, use: Uses, index: int) -> Slot:
        return self.slots[use.ring, index % self.depths[use.ring]]

    def start_writing(self, op: Issue, index: int) -> None:
        for use in self.uses.get(op.op, ()):
            if use.writes:
                slot = self.slot(use, index)
                if slot.reading:
                    raise Fault(f"{use.ring} overwritten while read")
                slot.writing += 1
                slot.tile = None

    def begin(self, op: Issue, index: int, *, started: bool = False) -> None:
        if not started:
            self.start_writing(op, index)
        for use in self.uses.get(op.op, ()):
            if not use.writes:
                slot = self.slot(use, index)
                if slot.writing or slot.tile != index:
                    raise Fault(f"{use.ring}: tile {slot.tile} read, {index} wanted")
                slot.reading += 1

    def finish_reads(self, op: Issue, index: int) -> None:
        for use in self.uses.get(op.op, ()):
            if not use.writes:
                slot = self.slot(use, index)
                slot.reading -= 1
                if slot.writing or slot.tile != index:
                    raise Fault(f"{use.ring} overwritten while read")

    def finish_writes(self, op: Issue, index: int) -> None:
        for use in self.uses.get(op.op, ()):
            if use.writes:
                slot = self.slot(use, index)
                slot.writing -= 1
                slot.tile = index


def instances(role: RoleBody, tiles: int) -> Iterator[tuple[Placed, int]]:
    """The atoms that one thread performs for tiles 0 .. tiles-1, in order, with their index."""
    most = max((p.ahead for p in role.body), default=0)
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


def in_items(role: RoleBody, items: tuple[int, ...]) -> Iterator[tuple[Placed, int]]:
    """The atoms that one thread performs for work items of so many tiles each, with their index through all of them.
    What lags behind stays in its item: the tail does it for the last steps."""
    most = max((p.ahead for p in role.body), default=0)
    first = 0
    for count in items:
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


def faults(
    program: AtomProgram, uses: Mapping[str, tuple[Uses, ...]], depths: dict[str, int], runs: int = 60
) -> set[str]:
    """The faults seen in runs of several lengths, under schedulers that are random, late or early, and favour or starve
    some thread."""
    seen: set[str] = set()
    for run in range(runs):
        rng = random.Random(run)
        items = tuple(rng.choice((0, 1, 1, 2, 3, 5)) for _ in range(rng.randrange(1, 5)))
        machine = Machine(program, uses, rng.randrange(0, 10), depths, rng, rng.choice((0.05, 0.5, 0.95)), items)
        try:
            machine.run()
        except Fault as fault:
            seen.add(str(fault).partition(":")[0])
    return seen
