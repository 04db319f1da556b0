"""What a run requires of each slot: a tile is filled before it is read, and read before the next one is filled."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from attrs import define, field, frozen

from isa.mechanisms import Proxy
from ptxgen.errors import Finding, Severity
from ptxgen.order.requirement import EventKind
from ptxgen.prove.trees.accesses import Access, mechanism_of
from ptxgen.prove.trees.execution import Execution, Member, is_product
from ptxgen.prove.trees.tracing import Step
from ptxgen.tile import Buffer, Copy, Covered, Leaf, Ordering, ProxyFence, RegisterFence, RequirementKind, Space

FLOW, REUSE, REWRITE = RequirementKind.FLOW, RequirementKind.REUSE, RequirementKind.REWRITE


@frozen(eq=False)
class Use:
    """A leaf's use of one tile: by the role of a block at a step, of tile `rank` of a buffer of block `place`."""

    leaf: Leaf
    step: Step
    number: int
    role: str
    block: int
    place: int
    access: Access
    rank: int

    @property
    def buffer(self) -> Buffer:
        return self.access.region.buffer

    @property
    def slot(self) -> int:
        return self.rank % self.buffer.depth

    @property
    def box(self) -> tuple[tuple[int, int], ...]:
        """From where to where along each dimension, as far as a copy says."""
        shape = self.leaf.distribution.shape if isinstance(self.leaf, Copy) else self.buffer.shape
        starts = (self.step.number(origin) for origin in self.access.region.origin)
        return tuple((start, start + extent) for start, extent in zip(starts, shape, strict=True))

    def meets(self, other: Use) -> bool:
        """Whether two uses of one tile may touch the same element."""
        return all(a < d and c < b for (a, b), (c, d) in zip(self.box, other.box, strict=True))


def tile_faults(run: Execution) -> Iterator[Finding]:
    """Requirements that nothing keeps, and tiles that are not there."""
    for place in run.blocks:
        slots: dict[tuple[str, int], list[Use]] = {}
        beds: dict[str, list[Use]] = {}
        for use in _uses(run, place):
            if use.buffer.space is Space.SHARED:
                slots.setdefault((use.buffer.name, use.slot), []).append(use)
                beds.setdefault(use.buffer.alias or use.buffer.name, []).append(use)
        for uses in slots.values():
            if len({(use.role, use.block) for use in uses}) == 1:
                yield from _by_one_role(run, uses)
            else:
                yield from _between_roles(run, uses)
        for uses in beds.values():
            if len({use.buffer.name for use in uses}) > 1:
                yield from _one_after_the_other(run, uses)
        yield from _register_faults(run, place)


def _uses(run: Execution, place: int) -> Iterator[Use]:
    """The uses of tiles of a block, by whichever block."""
    near = run.together(place)
    for (role, block), steps in run.steps.items():
        for number, step in enumerate(steps if block in near else ()):
            if isinstance(step.node, Ordering):
                continue
            for access, rank in zip(step.touched, step.tiles, strict=True):
                space = access.region.buffer.space
                masks = step.node.masks if isinstance(step.node, Copy) and space is Space.SHARED else ()
                if space is not Space.GLOBAL and place in run.reached(masks, block):
                    yield Use(step.node, step, number, role, block, place, access, rank)


@define(eq=False)
class _Slot:
    """What is in a slot: the number of its tile, who filled it, who read it."""

    rank: int | None = None
    writers: list[Use] = field(factory=list)
    readers: list[Use] = field(factory=list)


def _by_one_role(run: Execution, uses: list[Use]) -> Iterator[Finding]:
    """In the order of the role's program."""
    held = _Slot()
    for use in uses:
        if use.access.reads:
            if held.rank != use.rank:
                yield _not_there(use, held.rank)
            yield from (f for w in held.writers if w.meets(use) for f in required(run, FLOW, w, use))
        if not use.access.writes:
            held.readers.append(use)
            continue
        yield from (f for r in held.readers if _conflict(r, use) for f in required(run, REUSE, r, use))
        yield from (f for w in held.writers if _conflict(w, use) for f in required(run, REWRITE, w, use))
        if held.rank == use.rank and not held.readers and not any(w.meets(use) for w in held.writers):
            held.writers.append(use)
        elif not (use.access.reads and held.rank == use.rank):
            held = _Slot(use.rank, [use])
        else:
            held.writers.append(use)


def _conflict(first: Use, second: Use) -> bool:
    return first.rank != second.rank or first.meets(second)


def _not_there(use: Use, rank: int | None) -> Finding:
    holds = "nothing" if rank is None else f"tile {rank}"
    text = f"{use.leaf.op} reads tile {use.rank} of {use.buffer.name}, whose slot {use.slot} holds {holds} then"
    return Finding("synchronisation.rank", Severity.ERROR, text, use.leaf.line)


def _between_roles(run: Execution, uses: list[Use]) -> Iterator[Finding]:
    """In the order of the tiles' numbers, which all roles count alike."""
    tiles: dict[int, _Slot] = {}
    for use in uses:
        tile = tiles.setdefault(use.rank, _Slot(use.rank))
        (tile.writers if use.access.writes else tile.readers).append(use)
    for rank in sorted(tiles):
        tile = tiles[rank]
        for place, writer in enumerate(tile.writers):
            if any(writer.meets(other) for other in tile.writers[:place]):
                text = f"{writer.leaf.op} fills tile {rank} of {writer.buffer.name} again; roles tell tiles by numbers"
                yield Finding("synchronisation.rank", Severity.ERROR, text, writer.leaf.line)
        for reader in tile.readers:
            if not tile.writers:
                yield _not_there(reader, None)
            yield from (f for w in tile.writers for f in required(run, FLOW, w, reader))
    for before, after in pairwise(sorted(tiles)):
        for writer in tiles[after].writers:
            yield from (f for r in tiles[before].readers for f in required(run, REUSE, r, writer))
            yield from (f for w in tiles[before].writers for f in required(run, REWRITE, w, writer))


def _one_after_the_other(run: Execution, uses: list[Use]) -> Iterator[Finding]:
    """Buffers that lie over each other, in the order of a role that uses all of them."""
    names = {use.buffer.name for use in uses}
    by_role: dict[str, set[str]] = {}
    for use in (use for use in uses if use.block == use.place):
        by_role.setdefault(use.role, set()).add(use.buffer.name)
    home = next((role for role, own in by_role.items() if own == names), None)
    if home is None:
        text = f"{', '.join(sorted(names))} lie over each other, and no role uses all of them"
        yield Finding("synchronisation.alias", Severity.ERROR, text, uses[0].leaf.line)
        return
    placed = [(_turn(use, uses, home), use) for use in uses]
    placed = sorted((p for p in placed if p[0] is not None), key=lambda p: p[0] or (0, 0))
    for position, (_, second) in enumerate(placed):
        if not second.access.writes:
            continue
        for _, first in placed[:position]:
            if first.buffer.name != second.buffer.name and _same_bytes(first, second):
                kind = REWRITE if first.access.writes else REUSE
                yield from required(run, kind, first, second)


def _turn(use: Use, uses: list[Use], home: str) -> tuple[int, int] | None:
    """When a use comes in the order of the block's role; what others fill comes when that role uses it first, what they
    read just behind."""
    if _at_home(use, home):
        return (use.number, 1)
    tile = (use.buffer.name, use.rank)
    own = [u.number for u in uses if _at_home(u, home) and (u.buffer.name, u.rank) == tile]
    return (min(own), 0 if use.access.writes else 2) if own else None


def _at_home(use: Use, home: str) -> bool:
    return use.role == home and use.block == use.place


def _same_bytes(first: Use, second: Use) -> bool:
    (a, b), (c, d) = (
        (use.slot * use.buffer.slot_bytes, (use.slot + 1) * use.buffer.slot_bytes) for use in (first, second)
    )
    return a < d and c < b


def required(run: Execution, kind: RequirementKind, first: Use, second: Use) -> Iterator[Finding]:
    """A finding where some thread may issue the second use before some thread's first one is done."""
    event = EventKind.READ_DONE if kind is REUSE else EventKind.DONE
    a, b = mechanism_of(first.leaf), mechanism_of(second.leaf)
    before = a.reads if kind is REUSE else a.writes
    after = b.reads if kind is FLOW else b.writes
    fenced = (before, after) == (Proxy.GENERIC, Proxy.ASYNC)
    for member, source in _completions(run, first, event):
        for sink in _issues(run, second):
            if not _ordered(run, member, source, sink, fenced=fenced):
                yield _uncovered(kind, first, second, fenced=fenced)
                return


def _completions(run: Execution, use: Use, event: EventKind) -> Iterator[tuple[Member, int]]:
    for member in run.crew(use.role, use.block):
        done = run.completed.get((use.place, member, use.number))
        if done is not None:
            yield member, done.read if event is EventKind.READ_DONE else done.done


def _issues(run: Execution, use: Use) -> Iterator[int]:
    for member in run.crew(use.role, use.block):
        event = run.issued.get(member, {}).get(use.number)
        if event is not None:
            yield event


def _ordered(run: Execution, member: Member, source: int, sink: int, *, fenced: bool) -> bool:
    happens = run.happens
    if not fenced:
        return happens.ordered(source, sink)
    fences = (fence for _, fence in run.fences.get((member, ProxyFence), ()))
    return any(happens.ordered(source, fence) and happens.ordered(fence, sink) for fence in fences)


def _uncovered(kind: RequirementKind, first: Use, second: Use, *, fenced: bool) -> Finding:
    covered = Covered(kind, first.leaf.op, second.leaf.op, second.rank - first.rank, second.buffer.name)
    done = "has read" if kind is REUSE else "is complete"
    fence = ", past a proxy fence" if fenced else ""
    text = f"{covered}: nothing makes sure that {first.leaf.op} {done} before {second.leaf.op} begins{fence}"
    related = ((str(first.leaf.op), first.leaf.line),)
    return Finding("synchronisation.covered", Severity.ERROR, text, second.leaf.line, related=related)


@define(eq=False)
class _Registers:
    """What registers hold: the number of their tile, who touched them last in program order, and the last product that
    did."""

    rank: int | None = None
    touched: Use | None = None
    product: Use | None = None


def _register_faults(run: Execution, place: int) -> Iterator[Finding]:
    """Registers are each thread's own: program order is enough, but for products of warpgroups."""
    held: dict[tuple[str, str, int], _Registers] = {}
    for use in _uses(run, place):
        if use.buffer.space is not Space.REGISTERS:
            continue
        slot = held.setdefault((use.role, use.buffer.name, use.slot), _Registers())
        if use.access.reads and slot.rank != use.rank:
            yield _not_there(use, slot.rank)
        if is_product(use.leaf):
            if slot.touched is not None and not _fenced(run, slot.touched, use):
                kind = FLOW if slot.touched.access.writes else REUSE
                yield _unseen(kind, slot.touched, use)
            slot.product, slot.touched = use, None
        else:
            if slot.product is not None and not _retired(run, slot.product, use):
                yield _uncovered(FLOW if use.access.reads else REWRITE, slot.product, use, fenced=False)
            slot.touched = use
        if use.access.writes:
            slot.rank = use.rank


def _fenced(run: Execution, first: Use, second: Use) -> bool:
    """Whether each thread fences its registers between two steps."""
    own = run.crew(second.role, second.block)
    return all(any(first.number < n < second.number for n, _ in run.fences.get((m, RegisterFence), ())) for m in own)


def _unseen(kind: RequirementKind, first: Use, second: Use) -> Finding:
    covered = Covered(kind, first.leaf.op, second.leaf.op, second.rank - first.rank, second.buffer.name)
    text = f"{covered}: no register fence stands between {first.leaf.op} and {second.leaf.op}"
    return Finding("synchronisation.covered", Severity.ERROR, text, second.leaf.line)


def _retired(run: Execution, product: Use, use: Use) -> bool:
    """Whether each thread has waited for its own warpgroup's product."""
    for member in run.crew(use.role, use.block):
        done, event = run.completed.get((product.place, member, product.number)), run.issued[member].get(use.number)
        if done is not None and event is not None and not run.happens.ordered(done.done, event):
            return False
    return True
