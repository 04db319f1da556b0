"""What a program declares beside its trees: parameters, the grid, buffers, rings, tensor maps."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from polyhedral import const
from ptxgen.compute import ArrayKind
from ptxgen.derive.boxes import tensor_box
from ptxgen.derive.facts import Facts
from ptxgen.derive.hinting import comes_early
from ptxgen.derive.part import Part
from ptxgen.derive.segments import bounded_along, segments_of
from ptxgen.derive.space import IndexSpace
from ptxgen.derive.tickets import tickets_of
from ptxgen.derive.turning import copies, own_buffers, unit_count
from ptxgen.plan import Onto, Place, Plan
from ptxgen.tile import (
    Buffer,
    Carrier,
    Copy,
    Grid,
    GridDim,
    Parameter,
    ParameterKind,
    Quotient,
    Raster,
    Ring,
    Space,
    TensorBox,
    WorkList,
)


def buffers_of(space: IndexSpace, parts: list[Part]) -> tuple[Buffer, ...]:
    """The buffers of a program; of those that only units which take turns use, one for each unit."""
    found = dict.fromkeys(buffer for part in parts for buffer in part.buffers)
    if space.turns is None:
        return tuple(found)
    units = unit_count(space, space.turns.role)
    own = {buffer for part in parts for buffer in own_buffers(part.ops, space.turns.role)}
    return tuple(each for b in found for each in (copies(b, units) if b in own else (b,)))


def boxes_of(space: IndexSpace, part: Part) -> Iterator[TensorBox]:
    """The tensor maps that the copies of a part need."""
    for node in (op.node for op in part.ops):
        if isinstance(node, Copy) and node.carrier is Carrier.TENSOR:
            moved = (side.buffer for side in (node.source, node.destination))
            array = space.compute.array(next(b.array for b in moved if b.space is Space.GLOBAL))
            box = tensor_box(array, node, early=comes_early(space, node.op))
            yield evolve(box, bounded=bounded_along(space, array, node))


def rings_of(part: Part) -> Iterator[Ring]:
    """The rings of a part with their counts."""
    for use in part.synchronised.rings:
        yield Ring(use.name, use.depth, use.byte_count, use.empty_count, use.counts_by_rank)
    yield from (Ring(turns.name, turns.units, 0, turns.count) for turns in part.synchronised.turns)


def grid(space: IndexSpace, dims: tuple[str, ...]) -> Grid:
    """All tiles of the dims that are dealt to blocks, each for every part of a split sum."""
    parts = {space.part_variable: space.split.parts} if space.split else {}
    together = space.split is not None and space.split.together
    found = [GridDim(name, Quotient(const(count), 1), count if together else 1) for name, count in parts.items()]
    for dim in dims:
        tile = space.outer_tile(dim)
        assert tile is not None
        size = tile.sizes[dim]
        count = Quotient(space.length(dim) + (size - 1), size)
        found.append(GridDim(space.block_variable(dim), count, space.clustered.get(dim, 1)))
    orders = [s.raster for s in space.plan.steps if isinstance(s, Place) and s.onto is Onto.BLOCKS]
    raster = Raster(orders[0].group, orders[0].curve) if orders else Raster()
    passing = space.split.parts if space.split and not together else 1
    return Grid(tuple(found), raster, work_list(space), passing, segments_of(space, dims), tickets_of(space))


def work_list(space: IndexSpace) -> WorkList | None:
    """How blocks that stay share the tiles, or the slabs of a sum over all tiles."""
    step = space.persistent
    if step is None:
        return None
    workers = step.workers if isinstance(step.workers, int) else None
    return WorkList(workers, slabs_of(space, space.stream.dim) if space.stream else None)


def slabs_of(space: IndexSpace, dim: str) -> Quotient:
    """The slabs of a tile along a dim."""
    tile = space.outer_tile(dim)
    assert tile is not None
    return Quotient(space.extent(dim) + (tile.sizes[dim] - 1), tile.sizes[dim])


def parameters(plan: Plan, facts: Facts) -> tuple[Parameter, ...]:
    """The kernel's parameters: addresses in the order of the arrays, sizes, strides, numbers."""
    compute = plan.compute
    pointers = [
        Parameter(a.name, ParameterKind.POINTER, a.element, facts.alignment(a.name), a.kind is ArrayKind.OUTPUT)
        for a in compute.arrays
        if a.kind is not ArrayKind.LOCAL
    ]
    sizes = {name for a in compute.arrays for extent in a.extents for name in extent.names}
    sizes |= {name for s in compute.statements for dim in s.dims for name in dim.length.names}
    kinds = {name: ParameterKind.SIZE if name in sizes else ParameterKind.STRIDE for name in compute.parameters}
    ordered = sorted(compute.parameters, key=lambda name: kinds[name] is ParameterKind.STRIDE)
    numbers = [Parameter(name, kinds[name]) for name in ordered]
    scalars = [Parameter(scalar.name, ParameterKind.SCALAR) for scalar in compute.scalars]
    return (*pointers, *numbers, *scalars)
