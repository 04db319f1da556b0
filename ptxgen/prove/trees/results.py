"""Arrays in which blocks leave results: no element is stored by two blocks of which nothing tells who comes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from attrs import frozen

from polyhedral import const
from ptxgen.errors import Finding, Severity
from ptxgen.prove.trees.blocks import laid_out
from ptxgen.prove.trees.elements import Elements, elements_of, meet
from ptxgen.prove.trees.execution import Execution
from ptxgen.prove.trees.shares import numbered
from ptxgen.prove.trees.sizes import Case
from ptxgen.prove.trees.tiles import REWRITE, Use, required
from ptxgen.prove.trees.tracing import Step, Tracer
from ptxgen.tile import Copy, ForEachItem, Grid, Program, Quotient, Space
from ptxgen.tile.rewriting import spots

Traces = Mapping[tuple[str, int], tuple[Step, ...]]


@frozen(eq=False)
class _Stored:
    """A store to an array of a launch, and the number of the work item that it is of."""

    use: Use
    item: int
    elements: Elements

    def meets(self, other: _Stored) -> bool:
        """Whether both store to an element of an array, tiles of work items apart."""
        return self.use.buffer.array == other.use.buffer.array and meet(self.elements, other.elements)


def result_faults(run: Execution, case: Case) -> Iterator[Finding]:
    """What blocks that are laid out together store to the same elements of a tile that they share, in no order."""
    stored = [_stores(run.program, run.steps, block) for block in run.blocks]
    tiles = numbered(case.shares)
    for first, second in combinations(run.blocks, 2):
        for a, b in product(stored[first], stored[second]):
            if _tile(run, tiles, a) == _tile(run, tiles, b) and a.meets(b):
                yield from required(run, REWRITE, a.use, b.use)


def _tile(run: Execution, tiles: Sequence[Sequence[int]], stored: _Stored) -> int:
    """The number of the tile that a store is of: of those that blocks share slab by slab, else of its block's."""
    return tiles[stored.use.block // run.size][stored.item] if tiles else stored.item


def neighbour_faults(run: Execution, case: Case, tracer: Tracer) -> Iterator[Finding]:
    """What a block stores to elements that the block of the next tile, in another cluster, stores to as well (code
    `synchronisation.memory`). Groups that memory tells are apart."""
    program = run.program
    if program.grid.segments is not None:
        return
    own = _stores(program, run.steps, 0)
    for variable, step in _beside(program.grid) if own else ():
        values, items = next(laid_out(program.grid, case))
        moved = {variable: step}
        others = {
            (role.name, 0): tracer.steps_of(role.body, _moved(values, moved), [_moved(item, moved) for item in items])
            for role in program.roles
        }
        for a, b in product(own, _stores(program, others, 0)):
            if a.item == b.item and a.meets(b):
                name = a.use.buffer.array
                text = f"{a.use.leaf.op} stores to elements of {name} that the next block along {variable} stores to"
                yield Finding("synchronisation.memory", Severity.ERROR, text, a.use.leaf.line)
                return


def _moved(values: Mapping[str, int], by: Mapping[str, int]) -> dict[str, int]:
    return {name: value + by.get(name, 0) for name, value in values.items()}


def _beside(grid: Grid) -> Iterator[tuple[str, int]]:
    """The tile indices of which other clusters have other values, and how far the next one's is."""
    for dim in grid.dims[1:] if grid.parts > 1 else grid.dims:
        if dim.count != Quotient(const(dim.cluster), 1):
            yield dim.variable, dim.cluster


def _stores(program: Program, traces: Traces, block: int) -> list[_Stored]:
    """What a block stores to arrays of the launch."""
    own = {each.name for each in program.workspaces}
    found: list[_Stored] = []
    for role in program.roles:
        names = [n.variable for spot, n in spots(program) if isinstance(n, ForEachItem) and spot.role == role.name]
        for number, step in enumerate(traces[role.name, block]):
            if isinstance(step.node, Copy):
                access = step.touched[-1]
                buffer = access.region.buffer
                if access.writes and buffer.space is Space.GLOBAL and buffer.array not in own:
                    use = Use(step.node, step, number, role.name, block, block, access, 0)
                    item = next((step.values[name] for name in names if name in step.values), 0)
                    corner = tuple(map(step.number, access.region.origin))
                    found.append(_Stored(use, item, elements_of(step.node.distribution, corner)))
    return found
