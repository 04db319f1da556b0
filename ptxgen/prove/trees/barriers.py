"""Barriers of rings: as many arrivals and bytes as they count, in the phases that they are meant for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ptxgen.errors import Finding, Place, Severity
from ptxgen.prove.trees.accesses import accesses
from ptxgen.prove.trees.execution import Execution, Member, performs, units_of
from ptxgen.prove.trees.tracing import Step
from ptxgen.tile import (
    Arrive,
    Arriving,
    Carrier,
    Copy,
    Covered,
    Expect,
    Meet,
    Ordering,
    Program,
    RequirementKind,
    Ring,
    Role,
    Side,
    Space,
    Wait,
)
from ptxgen.tile.trees import ends_of

NAMED_BARRIERS = 16
TRANSACTION_BYTES = 1 << 20


def finding(code: str, text: str, line: Place | None) -> Finding:
    """An error of the synchronisation."""
    return Finding(f"synchronisation.{code}", Severity.ERROR, text, line)


def declared(program: Program) -> Iterator[Finding]:
    """What is wrong before anything runs: names of rings, named barriers, who may do what."""
    rings = {ring.name for ring in program.rings}
    owners: dict[int, str] = {}
    for role in program.roles:
        for node in ends_of(role.body):
            if isinstance(node, Wait | Arrive | Expect) and node.ring not in rings:
                yield finding("barrier", f"no ring is called {node.ring}", node.line)
            if isinstance(node, Meet):
                owner = owners.setdefault(node.barrier, role.name)
                if owner != role.name:
                    yield finding("barrier", f"barrier {node.barrier} is used by {owner} too", node.line)
                if not 0 <= node.barrier < NAMED_BARRIERS or role.elected:
                    who = "one thread has nobody to meet" if role.elected else f"a block has {NAMED_BARRIERS} barriers"
                    yield finding("barrier", f"meet {node.barrier} of {role.name}: {who}", node.line)
            if isinstance(node, Expect) and not 0 < node.byte_count < TRANSACTION_BYTES:
                yield finding("bytes", f"{node.byte_count} bytes of {node.ring} are announced", node.line)
            yield from _by_one_thread(program, role, node)


def _by_one_thread(program: Program, role: Role, node: object) -> Iterator[Finding]:
    match node:
        case Copy(carrier=Carrier.TENSOR) if node.destination.buffer.space is Space.SHARED:
            if node.ring not in {ring.name for ring in program.rings}:
                yield finding("bytes", f"{node.op}: its bytes arrive at no ring ({node.ring or 'none'})", node.line)
        case Expect():
            pass
        case _:
            return
    if not role.elected:
        text = f"every thread of {role.name} would do what one thread does: elect one thread of the role"
        yield finding("count", text, node.line)


def count_faults(run: Execution) -> Iterator[Finding]:
    """Counts and bytes of every phase, and phases that never are."""
    turns = turn_rings(run.program)
    for ring in run.program.rings:
        for block in run.blocks:
            if ring.name in turns:
                yield from _passed(run, ring, block)
            else:
                yield from _counted(run, ring, block, _fillings(run, ring, block))
            yield from _awaited(run, ring, block)


def turn_rings(program: Program) -> frozenset[str]:
    """Rings that nothing ever fills, and nobody waits to see filled: units of a role pass turns on by them."""
    filled = set[str]()
    for node in (node for role in program.roles for node in ends_of(role.body)):
        match node:
            case Wait(ring=name, side=Side.FULL) | Expect(ring=name) | Copy(ring=name):
                filled.add(name)
            case _:
                pass
    return frozenset(ring.name for ring in program.rings if ring.name not in filled)


def _passed(run: Execution, ring: Ring, block: int) -> Iterator[Finding]:
    """Turns that are not passed on one after the other, each by as many as the ring counts."""
    expected = ring.counts_by_rank[run.rank(block)] if ring.counts_by_rank else ring.empty_count
    arrivals, line = _arrivals(run, ring, block)
    where = run.where(block)
    if sorted(arrivals) != list(range(len(arrivals))):
        text = f"ring {ring.name}: turns {sorted(arrivals)} are passed on{where}, not each one in turn"
        yield finding("arrivals", text, line)
        return
    for rank, count in sorted(arrivals.items()):
        if count != expected:
            text = f"ring {ring.name}: the count of empty is {expected}{where}, but {count} pass turn {rank} on"
            yield finding("count", text, ring.line or line)
            return


def phase_faults(run: Execution) -> Iterator[Finding]:
    """Phases that waits may confuse, and arrivals that may come too early."""
    for ring in run.program.rings:
        for block in run.blocks:
            yield from _in_phase(run, ring, block)


def served(program: Program, ring: Ring, side: Side) -> str:
    """The requirements that a side of a ring is there for, in words."""
    leaves = [node for role in program.roles for node in ends_of(role.body) if not isinstance(node, Ordering)]
    found: dict[Covered, None] = {}
    for writer in (leaf for leaf in leaves if isinstance(leaf, Copy) and leaf.ring == ring.name):
        name = writer.destination.buffer.name
        for reader in leaves:
            if any(access.reads and access.region.buffer.name == name for access in accesses(reader)):
                flow = Covered(RequirementKind.FLOW, writer.op, reader.op, 0, name)
                reuse = Covered(RequirementKind.REUSE, reader.op, writer.op, ring.depth, name)
                found[flow if side is Side.FULL else reuse] = None
    return f"; it is there for {', '.join(map(str, found))}" if found else ""


def _own(
    run: Execution, kind: type[Wait] | type[Arrive] | type[Expect], ring: Ring, blocks: Iterable[int]
) -> Iterator[tuple[Member, int, Step]]:
    """The steps of a kind at a ring of each member of some blocks."""
    for member in (member for block in blocks for member in run.members_in(block)):
        for number, step in enumerate(run.steps[member.role, member.block]):
            if isinstance(step.node, kind) and step.node.ring == ring.name and performs(member, step.node):
                yield member, number, step


def _fillings(run: Execution, ring: Ring, block: int) -> Counter[int]:
    """How often each tile of a block is announced."""
    return Counter(step.rank for _, _, step in _own(run, Expect, ring, (block,)))


def _counted(run: Execution, ring: Ring, block: int, filled: Counter[int]) -> Iterator[Finding]:
    where = run.where(block)
    wanted = range(len(filled))
    if sorted(filled) != list(wanted) or any(count != 1 for count in filled.values()):
        text = f"ring {ring.name}: tiles {sorted(filled.elements())} are announced{where}, not each one once in turn"
        yield finding("arrivals", text, ring.line)
        return
    yield from _bytes(run, ring, block, where)
    expected = ring.counts_by_rank[run.rank(block)] if ring.counts_by_rank else ring.empty_count
    arrivals, line = _arrivals(run, ring, block)
    if not arrivals and not _is_freed(run.program, ring):
        return
    reuse = served(run.program, ring, Side.EMPTY)
    for rank in sorted({*filled, *arrivals}):
        if rank not in filled:
            text = f"ring {ring.name}: the slot of tile {rank} is freed{where}, which is never filled{reuse}"
            yield finding("arrivals", text, line)
            return
        if arrivals[rank] == 0:
            text = f"ring {ring.name}: arrivals differ from uses: the slot of tile {rank} is never freed{where}{reuse}"
            yield finding("arrivals", text, line or ring.line)
            return
        if arrivals[rank] != expected:
            text = f"ring {ring.name}: the count of empty is {expected}{where}, but {arrivals[rank]} arrive{reuse}"
            yield finding("count", text, ring.line or line)
            return


def _is_freed(program: Program, ring: Ring) -> bool:
    """Whether anybody frees slots of a ring, or waits for that: one whose slots are filled once needs neither."""
    for node in (node for role in program.roles for node in ends_of(role.body)):
        match node:
            case Arrive(ring=ring.name) | Wait(ring=ring.name, side=Side.EMPTY):
                return True
            case _:
                pass
    return False


def _arrivals(run: Execution, ring: Ring, block: int) -> tuple[Counter[int], Place | None]:
    """How many arrivals free the slot of each tile of a block, and the line of one of them."""
    found: Counter[int] = Counter()
    line: Place | None = None
    for role in run.program.roles:
        for source in run.together(block):
            for step in run.steps[role.name, source]:
                node = step.node
                if isinstance(node, Arrive) and node.ring == ring.name and block in run.reached(node.to, source):
                    units = range(units_of(role) if step.by_unit else 1)
                    count = role.warps if node.by is Arriving.WARP else units_of(role)
                    for unit in units:
                        found[step.rank_of(unit)] += count // len(units)
                    line = node.line
    return found, line


def _bytes(run: Execution, ring: Ring, block: int, where: str) -> Iterator[Finding]:
    expected: Counter[int] = Counter()
    landing: Counter[int] = Counter()
    line: Place | None = ring.line
    near = run.together(block)
    for (_, source), steps in run.steps.items():
        for step in steps if source in near else ():
            match step.node:
                case Expect(name, _, byte_count) if name == ring.name and source == block:
                    expected[step.rank] += byte_count
                    line = step.node.line or line
                case Copy(ring=name, masks=masks) if name == ring.name and block in run.reached(masks, source):
                    shape = step.node.distribution.value_count
                    region = step.node.destination
                    landing[step.number(region.rank)] += shape * region.buffer.element.byte_count
                case _:
                    pass
    for rank in sorted({*expected, *landing}):
        if not expected[rank] == landing[rank] == ring.byte_count:
            text = (
                f"ring {ring.name}: tile {rank}{where} is announced with {expected[rank]} bytes, {landing[rank]} land"
            )
            yield finding("bytes", f"{text}, the ring has {ring.byte_count}", line)
            return


def _awaited(run: Execution, ring: Ring, block: int) -> Iterator[Finding]:
    """Waits for what never comes."""
    happens = run.happens
    for member, number, step in _own(run, Wait, ring, (block,)):
        assert isinstance(step.node, Wait)
        side, rank = step.node.side, step.rank_of(member.unit)
        free = rank - (ring.depth if side is Side.EMPTY else 0)
        if side is Side.EMPTY and free < 0:
            continue
        if not happens.before[run.phase(ring.name, side, block, free)]:
            never = f"tile {free} is never filled" if side is Side.FULL else f"the slot of tile {free} is never freed"
            yield finding(
                "deadlock",
                f"{happens.events[run.issued[member][number]].label}: {never}{served(run.program, ring, side)}",
                step.node.line,
            )
            return


def _in_phase(run: Execution, ring: Ring, block: int) -> Iterator[Finding]:
    """Phases that a wait may confuse with the one before or the next but one, and arrivals that may come too early. A
    wait must begin behind the phase before the last one, since it ends at once where that is open."""
    happens, depth = run.happens, ring.depth

    def before(side: Side, number: int, event: int) -> bool:
        key = (ring.name, side, block, number)
        return number < 0 or (key in run.phases and happens.ordered(run.phases[key], event))

    def late(side: Side, number: int, event: int) -> bool:
        key = (ring.name, side, block, number)
        return key in run.phases and not happens.ordered(event, run.phases[key])

    for member, number, step in _own(run, Wait, ring, (block,)):
        assert isinstance(step.node, Wait)
        side, event = step.node.side, run.issued[member][number]
        free = step.rank_of(member.unit) - (depth if side is Side.EMPTY else 0)
        name = f"ring {ring.name}: {happens.events[event].label} in {member.role}"
        if not before(side, free - depth, run.reached_at[member][number]):
            yield finding("seen", f"{name} may still see the phase before the last one (depth {depth})", step.node.line)
        if late(side, free + depth, event):
            yield finding("kept", f"{name} may miss its phase: the next but one can complete", step.node.line)
    for kind, side in ((Arrive, Side.EMPTY), (Expect, Side.FULL)):
        for member, number, step in _own(run, kind, ring, run.together(block)):
            to = step.node.to if isinstance(step.node, Arrive) else ()
            event = run.issued[member][number]
            if block in run.reached(to, member.block) and not before(side, step.rank_of(member.unit) - depth, event):
                text = f"ring {ring.name}: {happens.events[event].label} may come before the last phase is complete"
                yield finding("arrivals", text, step.node.line)
