"""Memory of the kernel's own in which blocks leave tiles for each other: each block keeps to its tile, or to one at the
same distance from it in every block, and what one leaves there is complete before another one takes it or puts
something else there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod

from attrs import frozen

from isa.mechanisms import AT_ISSUE
from polyhedral import const, var
from ptxgen.errors import Finding, Place, Severity
from ptxgen.prove.trees.accesses import accesses, mechanism_of
from ptxgen.prove.trees.elements import COORDINATE_BITS, Elements, elements_of, meet
from ptxgen.prove.trees.execution import Execution
from ptxgen.prove.trees.memory import same_elements
from ptxgen.prove.trees.tiles import FLOW, REUSE, REWRITE, Use, required
from ptxgen.tile import (
    BLOCK_COUNT,
    BLOCK_NUMBER,
    TILE_COUNT,
    TILE_NUMBER,
    Acquire,
    Buffer,
    Copy,
    Grid,
    Leaf,
    Ordering,
    Program,
    Region,
    Release,
    Space,
    Workspace,
    rank_name,
)
from ptxgen.tile.trees import ends_of


def workspace_faults(program: Program) -> Iterator[Finding]:
    """Flags that are none, or of a tile that not each block has alike (code `synchronisation.passing`), and accesses to
    a workspace that are not known to keep to one tile, or come from several roles (code `synchronisation.memory`)."""
    flags = {each.name for each in program.workspaces if each.zeroed and each.elements == 1 and not each.single}
    users: dict[str, str] = {}
    for role in program.roles:
        for node in ends_of(role.body):
            if isinstance(node, Acquire | Release) and node.flags not in flags:
                yield _finding("passing", f"no workspace of flags is called {node.flags}", node.line)
            elif isinstance(node, Acquire | Release) and not (node.tile - var(_own(program.grid)[0])).is_constant:
                text = f"the flag of tile {node.tile}: wanted one at a distance from {_own(program.grid)[0]}"
                yield _finding("passing", text, node.line)
            if isinstance(node, Ordering):
                continue
            for workspace, region in _used(program, node):
                user = users.setdefault(workspace.name, role.name)
                if user != role.name:
                    yield _finding("memory", f"{workspace.name} is used by {user} and by {role.name}", node.line)
                if not isinstance(node, Copy) or workspace.zeroed or not _in_one_tile(region, workspace, program.grid):
                    text = f"{node.op} is not known to copy to or from one tile of {workspace.name} in each block"
                    yield _finding("memory", text, node.line)


def _used(program: Program, leaf: Leaf) -> Iterator[tuple[Workspace, Region]]:
    for access in accesses(leaf):
        for workspace in program.workspaces:
            if access.region.buffer.space is Space.GLOBAL and access.region.buffer.array == workspace.name:
                yield workspace, access.region


def _own(grid: Grid) -> tuple[str, str]:
    """What tells the number of a block's tile in a workspace, and how many tiles it has."""
    streamed = grid.work_list is not None and grid.work_list.slabs is not None
    return (BLOCK_NUMBER, BLOCK_COUNT) if streamed else (TILE_NUMBER, TILE_COUNT)


def _in_one_tile(region: Region, workspace: Workspace, grid: Grid) -> bool:
    """Whether a workspace has its tiles one behind the other, and a region begins in the one that its block has, or in
    one so many before or behind it, at a place that is the same in every tile; how far it goes is seen where it is
    used."""
    own, count = _own(grid)
    placed, shape = region.buffer.in_memory, _tile_shape(region.buffer, count)
    strides = tuple(const(prod(shape[place + 1 :])) for place in range(len(shape)))
    whole = placed.extents == (var(count) * shape[0], *map(const, shape[1:])) and placed.strides == strides
    others = {TILE_NUMBER, TILE_COUNT, BLOCK_NUMBER, BLOCK_COUNT, *(rank_name(dim.variable) for dim in grid.dims)}
    others |= {dim.variable for dim in (grid.dims[1:] if grid.parts > 1 else grid.dims)}
    within = (region.origin[0] - var(own) * shape[0], *region.origin[1:])
    same = not any(others.intersection(affine.names) for affine in within)
    return whole and prod(shape) == workspace.elements and same


def _tile_shape(buffer: Buffer, count: str) -> tuple[int, ...]:
    first, *rest = buffer.in_memory.extents
    return first.coefficient(count), *(extent.constant for extent in rest)


@frozen(eq=False)
class _Held:
    """A use of a tile of a workspace and the elements of it that are touched."""

    use: Use
    tile: int
    elements: Elements


def passing_faults(run: Execution) -> Iterator[Finding]:
    """What blocks take before it is there, or put where others are not done: in the order of the blocks each use comes
    behind those before it that touch the same elements."""
    for workspace in run.program.workspaces:
        tiles: dict[int, list[_Held]] = {}
        for held in _uses(run, workspace):
            live = tiles.setdefault(held.tile, [])
            yield from _faults(run, workspace, live, held)
            if held.use.access.writes:
                live[:] = [first for first in live if not first.elements <= held.elements]
            live.append(held)


def _uses(run: Execution, workspace: Workspace) -> Iterator[_Held]:
    """The uses of all tiles, block by block."""
    for (role, block), steps in sorted(run.steps.items(), key=lambda found: found[0][1]):
        for number, step in enumerate(steps):
            if not isinstance(step.node, Copy):
                continue
            for access in step.touched:
                buffer = access.region.buffer
                if buffer.space is Space.GLOBAL and buffer.array == workspace.name:
                    first, *rest = map(step.number, access.region.origin)
                    tile, row = divmod(first, _shape(run, buffer)[0])
                    use = Use(step.node, step, number, role, block, block, access, 0)
                    yield _Held(use, tile, elements_of(step.node.distribution, (row, *rest)))


def _shape(run: Execution, buffer: Buffer) -> tuple[int, ...]:
    return _tile_shape(buffer, _own(run.program.grid)[1])


def _faults(run: Execution, workspace: Workspace, live: list[_Held], held: _Held) -> Iterator[Finding]:
    use = held.use
    if held.tile not in run.tiles or not _within(held.elements, _tile(_shape(run, use.buffer))):
        yield _finding("memory", f"{use.leaf.op} leaves the tile of {workspace.name} that it begins in", use.leaf.line)
        return
    found = [first for first in live if meet(first.elements, held.elements)]
    if use.access.reads:
        stored = _together(tuple(first.elements for first in found if first.use.access.writes))
        if not _within(held.elements, stored):
            text = f"{use.leaf.op}{run.where(use.block)} reads what no block has left in {workspace.name}"
            yield _finding("rank", text, use.leaf.line)
    for first in (first.use for first in found):
        if use.access.writes and not _by_same_threads(first, use):
            yield from required(run, REWRITE if first.access.writes else REUSE, first, use)
        elif first.access.writes and not _by_same_threads(first, use):
            yield from required(run, FLOW, first, use)


def _by_same_threads(first: Use, second: Use) -> bool:
    """Whether each thread of a block uses what it used itself before, at once, so that program order is enough."""
    store, other = (first, second) if first.access.writes else (second, first)
    alike = first.block == second.block and isinstance(store.leaf, Copy) and same_elements(store.leaf, other.leaf)
    at_issue = all(mechanism_of(use.leaf).completes is AT_ISSUE for use in (first, second))
    return alike and at_issue


@lru_cache(maxsize=1 << 4)
def _tile(shape: tuple[int, ...]) -> Elements:
    found = [0]
    for place, extent in enumerate(shape):
        found = [own + (at << COORDINATE_BITS * place) for own in found for at in range(extent)]
    return frozenset(found)


@lru_cache(maxsize=1 << 8)
def _together(parts: tuple[Elements, ...]) -> Elements:
    return parts[0] if len(parts) == 1 else frozenset[int]().union(*parts)


@lru_cache(maxsize=1 << 12)
def _within(inner: Elements, outer: Elements) -> bool:
    return inner <= outer


def _finding(code: str, text: str, line: Place | None) -> Finding:
    return Finding(f"synchronisation.{code}", Severity.ERROR, text, line)
