"""Blocks of a cluster: when their barriers may be reached, until when, and which of them stand for all."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding
from ptxgen.order.atoms import Arrive, AtomProgram, ClusterArrive, ClusterWait, Expect, Issue, Ring, Side, Wait
from ptxgen.order.clusters import Masks, is_remote
from ptxgen.prove.constants import finding

Triple = tuple[int, int, int]


def reaches_others(program: AtomProgram) -> bool:
    """Whether some block reaches another one's barriers."""
    return any(is_remote(masks) for masks in _relations(program))


def _relations(program: AtomProgram) -> Iterator[Masks]:
    for role in program.roles:
        for placed in role.atoms:
            if isinstance(placed.atom, Issue | Arrive):
                yield placed.atom.to


def representatives(program: AtomProgram) -> tuple[int, ...]:
    """The blocks whose barriers and sources are looked at: one, where renaming the blocks by any XOR of their ranks
    changes nothing in who reaches whom; else all of them."""
    size = program.cluster
    if size & (size - 1) or any(ring.counts_by_rank for ring in program.rings):
        return tuple(range(size))
    asked: list[frozenset[Triple]] = [frozenset(o.ctas) for o in program.obligations]
    alike = all(_renamed(masks, by) == masks for masks in set(_relations(program)) for by in range(1, size))
    closed = all(
        frozenset((a ^ by, b ^ by, c ^ by) for a, b, c in triples) == triples
        for triples in set(asked)
        for by in range(1, size)
    )
    return (0,) if alike and closed else tuple(range(size))


def _renamed(masks: Masks, by: int) -> Masks:
    """A relation with every rank replaced by its XOR with `by`."""
    return tuple(
        sum(1 << (place ^ by) for place in range(len(masks)) if masks[rank ^ by] >> place & 1)
        for rank in range(len(masks))
    )


def cluster_faults(program: AtomProgram) -> Iterator[Finding]:
    """Blocks reach each other only behind a barrier of the cluster that follows the initialisation of their barriers,
    and while the block that is reached is still there."""
    yield from _entering(program)
    for ring in program.rings:
        yield from _leaving(program, ring)
        yield from _beyond(program, ring)


def _entering(program: AtomProgram) -> Iterator[Finding]:
    kinds = [type(atom) for atom in program.enter]
    if ClusterWait in kinds and ClusterArrive not in kinds[: kinds.index(ClusterWait)]:
        yield finding("deadlock", "the block waits for the cluster's barrier before it has arrived there")
    elif reaches_others(program) and ClusterWait not in kinds:
        text = "barriers of other blocks are reached, and no cluster barrier follows their initialisation"
        yield finding("enter", text)
    if kinds.count(ClusterArrive) != kinds.count(ClusterWait):
        yield finding("enter", "each arrival at the cluster's barrier has one wait")
    elif kinds and not reaches_others(program):
        yield finding("needless", "no block reaches another one, and the cluster's barrier serves no requirement")


def _leaving(program: AtomProgram, ring: Ring) -> Iterator[Finding]:
    """The last release of a slot is awaited behind a loop or all items; every earlier arrival of the same threads comes
    before it; of units that alternate others may have released the slots before. What other blocks have landing here is
    awaited in a loop at each step."""
    released = landing = alternating = False
    for role, placed in ((each, p) for each in program.roles for p in each.atoms):
        match placed.atom:
            case Arrive(ring=ring.name, side=Side.EMPTY, to=to):
                released |= is_remote(to)
                alternating |= role.alternates and role.units > 1
            case Issue(ring=ring.name, to=to):
                landing |= is_remote(to)
            case _:
                pass
    last = [p for r in program.roles for p in (*r.tail, *r.leave) if p.atom == Wait(ring.name, Side.EMPTY)]
    wanted = range(0 if alternating else ring.depth - 1, ring.depth)
    if released and not {placed.ahead for placed in last}.issuperset(wanted):
        text = f"the last arrival at {Side.EMPTY.value} from other blocks is not awaited before leave"
        yield finding("arrivals", f"ring {ring.name}: remote arrive not before leave: {text}")
    if landing and not any(p.atom == Wait(ring.name, Side.FULL) for r in program.roles for p in r.body):
        yield finding("arrivals", f"ring {ring.name}: what other blocks copy here is not awaited before leave")


def _beyond(program: AtomProgram, ring: Ring) -> Iterator[Finding]:
    """Waits behind a loop for what never comes: a filling or release of a step that the loop does not have. Behind all
    items nothing else is done for a ring."""
    for role in program.roles:
        for placed in (p for p in role.leave if isinstance(p.atom, Arrive | Expect) and p.atom.ring == ring.name):
            yield finding("arrivals", f"ring {ring.name}: {placed.atom} of {role.name} belongs to no item's steps")
        for placed in (*role.tail, *role.leave):
            match placed.atom:
                case Wait(ring=ring.name, side=side):
                    if placed.ahead >= (ring.depth if side is Side.EMPTY else 0):
                        text = f"the {placed.atom} of {role.name} behind the loop waits for a step that never comes"
                        yield finding("deadlock", text)
                case _:
                    pass
