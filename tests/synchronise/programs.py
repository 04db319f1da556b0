"""Small op lists of the shapes that plans give, and a judge that enumerates instances and knows no distances."""

from itertools import pairwise

from attrs import evolve, frozen

from isa.mechanisms import (
    BULK_LOAD,
    LANE_COPY,
    LOAD,
    REGISTERS,
    STORE,
    WARP_REGISTERS,
    WARPGROUP_MULTIPLY,
    Group,
    Mechanism,
)
from polyhedral import Affine, Set, const, var
from ptxgen.compute import Element, SourceLine
from ptxgen.order.atoms import Commit, Join, Retire
from ptxgen.order.ops import Op, Time, Touch, TouchKind
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.tile import Buffer, Fill, Region, SharedLayout, Space

LAYOUT = SharedLayout.linear((2, 2), 1)


def buffer(name: str, space: Space, depth: int = 1) -> Buffer:
    return Buffer(name, name.partition(".")[0], Element.F16, space, (2, 2), depth, LAYOUT)


def reads(ring: Buffer, rank: Affine | int = 0) -> Touch:
    return Touch(ring, TouchKind.READ, const(rank) if isinstance(rank, int) else rank)


def writes(ring: Buffer, rank: Affine | int = 0) -> Touch:
    return Touch(ring, TouchKind.WRITE, const(rank) if isinstance(rank, int) else rank)


def op(
    name: str,
    place: tuple[int, ...],
    touches: tuple[Touch, ...],
    domain: Set,
    ahead: tuple[int, ...] | None = None,
    mechanism: Mechanism = STORE,
    instance: tuple[int, ...] = (),
    role: str = "all",
) -> Op:
    """An op over the dims of its domain; the line is made of its place."""
    line = SourceLine("plan.py", sum(p * 100**i for i, p in enumerate(reversed(place))), "plan")
    time = Time(domain.dims, ahead or (0,) * len(domain.dims), place)
    node = Fill(name, Region(touches[0].buffer, const(0), ()), 0.0, line)
    return Op(name, role, instance, domain, time, mechanism, touches, node, line)


def in_order(*ops: Op, prefix: tuple[int, ...]) -> tuple[Op, ...]:
    """The ops one after the other in the body at `prefix`."""
    return tuple(
        evolve(o, time=evolve(o.time, place=(*prefix, number)), line=SourceLine("plan.py", 100 + number, "plan"))
        for number, o in enumerate(ops)
    )


SLABS = Set.of(("k",), var("k") >= 0, 32 * var("k") < var("K"))
FULL = Set.of(("k",), var("k") >= 0, 32 * var("k") + 32 <= var("K"))
ONCE = Set.of(())


def volta(depth: int = 2, ahead: int = 1, fragments_ahead: int = 1) -> tuple[Op, ...]:
    """The main loop of a Volta product: register prefetch, a shared ring, eight unrolled steps of fragments."""
    k = var("k")
    ops: list[Op] = []
    rings = {name: buffer(f"{name}.shared", Space.SHARED, depth) for name in "AB"}
    staging = {name: buffer(f"{name}.registers", Space.REGISTERS) for name in "AB"}
    held = {name: buffer(f"{name}.fragments", Space.REGISTERS, 2) for name in "AB"}
    c = buffer("C", Space.REGISTERS)

    def fragment(step: int) -> None:
        early = (0,) if step >= fragments_ahead else (1,)
        for name in "AB":
            touches = (reads(rings[name], k), writes(held[name], 8 * k + step))
            ops.append(op(f"{name}.fragments", (0,), touches, SLABS, early, LOAD, (step,)))

    def multiply(step: int) -> None:
        parts = (reads(held["A"], 8 * k + step), reads(held["B"], 8 * k + step), reads(c), writes(c))
        ops.append(op("C", (0,), parts, SLABS, (0,), WARP_REGISTERS, (step,)))

    for name in "AB":
        for domain in (FULL, SLABS - FULL):
            ops.append(op(f"{name}.registers", (0,), (writes(staging[name]),), domain, (ahead,), LOAD))
    for step in range(8):
        if step == 7:
            for name in "AB":
                touches = (reads(staging[name]), writes(rings[name], k))
                ops.append(op(f"{name}.shared", (0,), touches, SLABS, (ahead,), STORE))
        fragment((step + fragments_ahead) % 8)
        multiply(step)
    fill = op("C.zero", (0,), (writes(c),), ONCE, (), REGISTERS)
    finish = op("D", (2,), (reads(c),), ONCE, (), REGISTERS)
    return (fill, *in_order(*ops, prefix=(1,)), finish)


def ampere(depth: int = 4, ahead: int = 3, fragments_ahead: int = 1, copies_first: bool = True) -> tuple[Op, ...]:
    """The main loop of an Ampere product: copies in groups of the lane into a shared ring, two steps of fragments."""
    k = var("k")
    rings = {name: buffer(f"{name}.shared", Space.SHARED, depth) for name in "AB"}
    held = {name: buffer(f"{name}.fragments", Space.REGISTERS, 2) for name in "AB"}
    c = buffer("C", Space.REGISTERS)
    copies = [op(f"{n}.shared", (0,), (writes(rings[n], k),), SLABS, (ahead,), LANE_COPY) for n in "AB"]
    ops: list[Op] = []
    for step in range(2):
        for name in "AB":
            number = (step + fragments_ahead) % 2
            touches = (reads(rings[name], k), writes(held[name], 2 * k + number))
            early = (0,) if number >= fragments_ahead else (1,)
            ops.append(op(f"{name}.fragments", (0,), touches, SLABS, early, LOAD, (number,)))
        parts = (reads(held["A"], 2 * k + step), reads(held["B"], 2 * k + step), reads(c), writes(c))
        ops.append(op("C", (0,), parts, SLABS, (0,), WARP_REGISTERS, (step,)))
    body = (*copies, *ops) if copies_first else (*ops, *copies)
    return (op("C.zero", (0,), (writes(c),), ONCE, (), REGISTERS), *in_order(*body, prefix=(1,)))


def hopper(depth: int = 3, window: int = 1) -> tuple[Op, ...]:
    """The main loop of a Hopper product: a role that copies by transactions and one whose products run in groups."""
    k = var("k")
    rings = {name: buffer(f"{name}.shared", Space.SHARED, depth) for name in "AB"}
    c = buffer("C", Space.REGISTERS)
    copies = (op(f"{n}.shared", (0,), (writes(rings[n], k),), SLABS, (0,), BULK_LOAD, role="load") for n in "AB")
    parts = (reads(rings["A"], k), reads(rings["B"], k), reads(c), writes(c))
    product = op("C", (1, 0), parts, SLABS, (0,), WARPGROUP_MULTIPLY, role="math")
    return (
        *in_order(*copies, prefix=(0,)),
        op("C.fill", (0,), (writes(c),), ONCE, (), REGISTERS, role="math"),
        evolve(product, in_flight=window),
        op("D", (2,), (reads(c),), ONCE, (), REGISTERS, role="math"),
    )


@frozen
class Instance:
    """One execution of an op: its indices, when it runs, and when a meeting may vouch for it (None: never)."""

    name: str
    values: tuple[tuple[str, int], ...]
    time: tuple[int, ...]
    done: tuple[int, ...] | None


def when(time: Time, values: dict[str, int], depth: int) -> tuple[int, ...]:
    """The moment of an instance: place, step, place, step, ..., filled up with zeros."""
    moment = [time.place[0]]
    for loop, ahead, place in zip(time.loops, time.ahead, time.place[1:], strict=True):
        moment += [values[loop] - ahead, place]
    return (*moment, *(0,) * (2 * depth + 1 - len(moment)))


def unordered(
    synchronised: Synchronised, params: dict[str, int], space: Space = Space.SHARED
) -> list[tuple[Instance, Instance]]:
    """Pairs of accesses to one slot in `space`, at least one of them writing, without a meeting between them, or in an
    order that is not that of the tiles. Order: outer loops that the rank does not count, then the rank, then inner
    loops that it does not count, then filling before updating before reading."""
    depth = max((len(o.time.loops) for o in synchronised.ops), default=0)
    moments = sorted(
        (
            (when(a.time, dict(zip(a.domain.dims, point, strict=True)), depth), a)
            for a in synchronised.atoms
            for point in a.domain.points(params)
        ),
        key=lambda found: found[0],
    )
    meetings = [moment for moment, atom in moments if isinstance(atom.atom, Join)]
    slots: dict[tuple[str, int], list[tuple[tuple[tuple[int, ...], int, tuple[int, ...], int], bool, Instance]]] = {}
    for o in synchronised.ops:
        for ring, rank, turn in uses(o, space):
            counted = [loop for loop in o.time.loops if rank.coefficient(loop)]
            last = o.time.loops.index(counted[-1]) if counted else 0
            for point in o.domain.points(params):
                values = dict(zip(o.domain.dims, point, strict=True))
                number = rank.evaluate(values | params)
                outer = tuple(v for loop, v in list(values.items())[:last] if loop not in counted)
                inner = tuple(v for loop, v in list(values.items())[last:] if loop not in counted)
                time = when(o.time, values, depth)
                instance = Instance(str(o), tuple(values.items()), time, done(o, time, moments))
                key = (outer, number, inner, turn)
                slots.setdefault((ring.name, number % ring.depth), []).append((key, turn < 2, instance))
    found = []
    for accesses in slots.values():
        accesses.sort(key=lambda a: a[0])
        for place, (key, writing, first) in enumerate(accesses):
            later = ((w, i) for other, w, i in accesses[place + 1 :] if other != key)
            for other_writing, second in later:
                conflict = writing or other_writing
                known = first.done
                if conflict and (known is None or not any(known < moment < second.time for moment in meetings)):
                    found.append((first, second))
    return found


def done(
    o: Op, time: tuple[int, ...], moments: list[tuple[tuple[int, ...], Synchronisation]]
) -> tuple[int, ...] | None:
    """When the lane that issued an op at `time` knows that it is complete: at once, or when a wait leaves open no more
    groups than were closed after its own."""
    if not isinstance(o.mechanism.completes, Group):
        return time
    closed = 0
    for moment, atom in moments:
        match atom.atom:
            case Commit() if moment > time:
                closed += 1
            case Retire(pending=pending) if closed > pending and moment > time:
                return moment
            case _:
                pass
    return None


def uses(o: Op, space: Space) -> list[tuple[Buffer, Affine, int]]:
    """The tiles in `space` that an op uses: 0 fills, 1 updates, 2 reads."""
    kinds: dict[tuple[str, Affine], tuple[Buffer, set[TouchKind]]] = {}
    for touch in o.touches:
        if touch.buffer.space is space:
            kinds.setdefault((touch.buffer.name, touch.rank), (touch.buffer, set()))[1].add(touch.kind)
    turns = {frozenset({TouchKind.WRITE}): 0, frozenset(TouchKind): 1, frozenset({TouchKind.READ}): 2}
    return [(ring, rank, turns[frozenset(kind)]) for (_, rank), (ring, kind) in kinds.items()]


def places_are_distinct(synchronised: Synchronised) -> bool:
    """Whether no two ops or atoms stand at one place, nor one inside another."""
    times = [o.time for o in synchronised.ops] + [a.time for a in synchronised.atoms]
    ordered = sorted(t.place for t in times)
    return all(a != b[: len(a)] for a, b in pairwise(ordered))
