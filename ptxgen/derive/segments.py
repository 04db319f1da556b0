"""Segments dealt to blocks: a block has one group, whose bounds it reads before all else and which are parameters of
everything behind; where its accesses end."""

from __future__ import annotations

from collections.abc import Iterator

from polyhedral import Affine
from ptxgen.compute import Array, Dim, Segments, SourceLine, Statement, segmented_place
from ptxgen.derive.space import IndexSpace
from ptxgen.errors import PlanError
from ptxgen.tile import Copy, Segmented, Space


def segmented_dim(space: IndexSpace) -> Dim | None:
    """The dim whose indices come in segments; PlanError for two of them."""
    found = dict.fromkeys(d for s in space.compute.statements for d in s.dims if d.segments)
    if len(found) > 1:
        raise PlanError(f"segments along {', '.join(map(str, found))}: a kernel has those of one dim")
    return next(iter(found), None)


def read_by_blocks(space: IndexSpace) -> tuple[str, ...]:
    """The arrays that blocks read to learn what they have to do."""
    dim = segmented_dim(space)
    return (dim.segments.ends,) if dim and dim.segments else ()


def segments_of(space: IndexSpace, blocks: tuple[str, ...]) -> Segmented | None:
    """The groups of a grid over the dims `blocks`. PlanError where a block's tile has not just one group, or where
    groups are not numbered by the first of the dims."""
    dim = segmented_dim(space)
    if dim is None or dim.segments is None:
        return None
    group, line = dim.segments.group, space.compute.statements[0].line
    tile = space.outer_tile(group)
    if tile is None or group not in blocks or tile.sizes[group] != 1 or blocks[0] != group:
        text = f"tile its level with {group}=1 in front and place it onto blocks"
        raise PlanError(f"the bounds of {dim} are those of one group, which a block has: {text}", line=line)
    if space.clustered or space.split:
        text = "blocks that share a tile or operands of one would have different groups"
        raise PlanError(f"segments along {dim}: {text}", line=line)
    if space.turns is not None and dim.name not in blocks:
        text = (
            f"{space.turns}: units that take items in turn go past those of others, of which they do not know how long"
        )
        raise PlanError(f"{text} {dim} is there", line=space.turns.line)
    return _named(space, dim, dim.segments)


def _named(space: IndexSpace, dim: Dim, segments: Segments) -> Segmented:
    (first,), (end,) = dim.first.names, dim.extent.names
    return Segmented(segments.ends, space.block_variable(segments.group), first, end, segments.rows)


def bounded_along(space: IndexSpace, array: Array, copy: Copy) -> int | None:
    """The dimension of an array along which a tensor copy must not leave the block's segment, if there is one: where it
    stores, and where sums run over what it brings, so that zeros must come from beyond."""
    place, dim = segmented_place(space.compute, array.name), segmented_dim(space)
    if place is None or dim is None:
        return None
    stores = copy.destination.buffer.space is Space.GLOBAL
    return place if stores or any(dim.name in s.reduced for s in space.compute.statements) else None


def check_boxed(space: IndexSpace, array: Array, op: str, line: SourceLine) -> None:
    """PlanError where tiles of segments begin anywhere along the dimension that lies together, as no box can."""
    place = segmented_place(space.compute, array.name)
    if place is not None and place == array.contiguous_dimension:
        text = f"{array.name} lies together along segments, which begin anywhere, boxes at multiples of 16 bytes"
        raise PlanError(f"{op}: {text}", line=line)


def ends_in(space: IndexSpace, array: Array) -> tuple[Affine, ...]:
    """Below what indices a block's accesses of an array stay, where those along a dimension are of its segment.
    PlanError where other accesses of the same array go beyond."""
    dim = segmented_dim(space)
    if dim is None:
        return ()
    found = dict.fromkeys(_ends(statement, array, dim) for statement in space.compute.statements)
    found.pop(None, None)
    if len(found) > 1:
        raise PlanError(f"{array.name} is reached both by segments along {dim} and past them")
    ends = next(iter(found), None)
    return () if ends is None or ends == array.extents else ends


def _ends(statement: Statement, array: Array, dim: Dim) -> tuple[Affine, ...] | None:
    for access in _accesses(statement, array):
        ends = zip(access, array.extents, strict=True)
        return tuple(dim.extent if index == dim.affine else extent for index, extent in ends)
    return None


def _accesses(statement: Statement, array: Array) -> Iterator[tuple[object, ...]]:
    for access in (statement.target, *statement.reads):
        if access.array == array.name:
            yield access.indices
