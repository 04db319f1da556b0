"""The index space of a plan: which dims are dealt to blocks and warps, which stay loops, how large a tile is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import prod

from attrs import define, evolve, field, frozen

from polyhedral import Affine, var
from ptxgen.compute import Compute, Statement
from ptxgen.derive.loops import Path, RolledLoop
from ptxgen.derive.placement import unit
from ptxgen.errors import PlanError
from ptxgen.plan import (
    Cluster,
    Isolate,
    Onto,
    Persist,
    Plan,
    Roles,
    Split,
    Stream,
    Tile,
    Turns,
    Unroll,
    piece_loop,
    placement,
    split_step,
    stream_step,
    tile_levels,
)
from ptxgen.tile import ITEM_FIRST, Coordinate, bit_count, coordinate_bits, is_power

GROUP_BITS = 2


@frozen
class Slice:
    """The part of a block's tile that it joins: number `variable` of `parts` slices along `dim`."""

    dim: str
    parts: int
    variable: str


@define(slots=False, frozen=True)
class IndexSpace:
    """Everything that follows from a plan's tile, place, unroll, split and isolate steps; with `slice` as statements
    see it that come behind the join of a split sum."""

    plan: Plan = field()
    slice: Slice | None = None

    def sliced(self, slice: Slice) -> IndexSpace:
        """The space of statements that run on a slice of the block's tile."""
        return evolve(self, slice=slice)

    @cached_property
    def split(self) -> Split | None:
        """The step that splits a sum, if there is one."""
        return split_step(self.plan.steps)

    @cached_property
    def stream(self) -> Stream | None:
        """The step that has blocks share the slabs of a sum over all tiles, if there is one."""
        return stream_step(self.plan.steps)

    @property
    def part_variable(self) -> str:
        """The variable that tells which part of a split sum a block has."""
        assert self.split is not None
        tile = self.outer_tile(self.split.dim)
        assert tile is not None
        return f"{tile.level}.{self.split.dim}.part"

    @cached_property
    def cluster_axes(self) -> dict[str, int]:
        """The blocks of a cluster along each of its axes, by the variable of the grid: the parts of a split sum, then
        the dims of the cluster step."""
        parts = {self.part_variable: self.split.parts} if self.split and self.split.together else {}
        return parts | {self.block_variable(dim): size for dim, size in self.clustered.items()}

    @cached_property
    def roles(self) -> Roles | None:
        """The roles step, if there is one."""
        return next((step for step in self.plan.steps if isinstance(step, Roles)), None)

    @cached_property
    def persistent(self) -> Persist | None:
        """The step that has blocks walk a work list, if there is one."""
        return next((step for step in self.plan.steps if isinstance(step, Persist)), None)

    @cached_property
    def turns(self) -> Turns | None:
        """The step that has units of a role take work items in turn, if there is one."""
        return next((step for step in self.plan.steps if isinstance(step, Turns) and step.split_items), None)

    @cached_property
    def rotation(self) -> Turns | None:
        """The step that has units of a role share every item and take phases of a loop in rotation, if there is one."""
        return next((step for step in self.plan.steps if isinstance(step, Turns) and not step.split_items), None)

    @property
    def compute(self) -> Compute:
        return self.plan.compute

    @cached_property
    def levels(self) -> tuple[Tile, ...]:
        """The tile steps, outermost first."""
        return tile_levels(self.plan.steps)

    @cached_property
    def block_dims(self) -> tuple[str, ...]:
        """The dims dealt to blocks, in the order of their tile step."""
        return self._placed(Onto.BLOCKS)

    @cached_property
    def block_level(self) -> str | None:
        """The level whose tiles blocks take."""
        return next((tile.level for tile in self.levels if self._onto(tile.level) is Onto.BLOCKS), None)

    @cached_property
    def clustered(self) -> dict[str, int]:
        """The blocks of a cluster along each dim that its step names, in the order of the grid."""
        sizes = next((step.sizes for step in self.plan.steps if isinstance(step, Cluster)), {})
        return {dim: sizes[dim] for dim in self.block_dims if dim in sizes}

    def block_variable(self, dim: str) -> str:
        """The tile index of the grid along a dim that is dealt to blocks."""
        tile = self.outer_tile(dim)
        assert tile is not None
        return f"{tile.level}.{dim}"

    @cached_property
    def warp_level(self) -> Tile | None:
        """The level whose tiles are dealt to warps or warpgroups."""
        return next((tile for tile in self.levels if self._is_inside(tile.level)), None)

    @cached_property
    def grouped(self) -> bool:
        """Whether tiles are dealt to warpgroups, whose four warps share one."""
        return self.warp_level is not None and self._onto(self.warp_level.level) is Onto.WARPGROUPS

    def warp_dims(self, statement: Statement) -> tuple[str, ...]:
        """The dims of a statement dealt to warps: those of the warp level that it has and does not reduce. The last
        one's index is in the low bits of the warp number."""
        own = {dim.name for dim in statement.dims} - set(statement.summed_away)
        return tuple(dim for dim in self._inside() if dim in own)

    def _inside(self) -> tuple[str, ...]:
        return self._placed(Onto.WARPGROUPS if self.grouped else Onto.WARPS)

    def _is_inside(self, level: str) -> bool:
        onto = self._onto(level)
        return onto is not None and onto.inside_block

    def _placed(self, onto: Onto) -> tuple[str, ...]:
        found: list[str] = []
        for tile in self.levels:
            place = placement(self.plan.steps, tile.level)
            if place and place.onto is onto:
                if found:
                    raise PlanError(f"two levels are placed onto {onto.value}", line=place.line)
                found = list(place.dims)
        return tuple(found)

    def outer_tile(self, dim: str) -> Tile | None:
        """The outermost level that tiles `dim`."""
        return next((tile for tile in self.levels if dim in tile.sizes), None)

    def extent(self, dim: str) -> Affine:
        """The array-wide extent of `dim`, the same in all statements."""
        found = {own.extent for s in self.compute.statements for own in s.dims if own.name == dim}
        if len(found) != 1:
            raise PlanError(f"dim {dim} has different extents: {', '.join(map(str, found))}")
        return found.pop()

    def length(self, dim: str) -> Affine:
        """How many indices a dim has: where it comes in segments, those of the block's group."""
        return self.extent(dim) - self._first(dim)

    def block_extent(self, dim: str) -> int:
        """Elements of `dim` in a block's tile, or its slice. PlanError where the dim is neither tiled nor of constant
        length."""
        parts = self.slice.parts if self.slice and self.slice.dim == dim else 1
        return self._tile_extent(dim) // parts

    def _tile_extent(self, dim: str) -> int:
        tile = self.outer_tile(dim)
        if tile:
            return tile.sizes[dim]
        extent = self.extent(dim)
        if not extent.is_constant or not is_power(extent.constant):
            line = next(s.line for s in self.compute.statements if any(own.name == dim for own in s.dims))
            reason = f"dim {dim} of extent {extent} is not tiled: give it a tile whose extent is a power of two"
            raise PlanError(reason, line=line)
        return extent.constant

    def is_single(self, dim: str) -> bool:
        """Whether a block has one index of `dim`, as of a batch or of groups."""
        tile = self.outer_tile(dim)
        return tile is not None and dim in self.block_dims and tile.sizes[dim] == 1

    def warp_extent(self, statement: Statement, dim: str) -> int:
        """Elements of `dim` in a warp's tile of a statement."""
        if self.warp_level is None or dim not in self.warp_dims(statement):
            return self.block_extent(dim)
        return self.warp_level.sizes[dim]

    def _onto(self, level: str) -> Onto | None:
        place = placement(self.plan.steps, level)
        return place.onto if place else None

    def _parts(self, statement: Statement) -> int:
        own = self.warp_dims(statement)
        return prod(self._tile_extent(dim) // self.warp_extent(statement, dim) for dim in own)

    @cached_property
    def warps(self) -> int:
        """The warps that share the statements' tiles."""
        return max(map(self._parts, self.compute.statements)) << (GROUP_BITS if self.grouped else 0)

    @property
    def warp_bits(self) -> int:
        """log2 of the warps, among which tiles are dealt by bits; CroppingError where they are no power of two."""
        return bit_count(self.warps)

    def warp_images(self, statement: Statement, dims: tuple[str | None, ...]) -> tuple[Coordinate, ...]:
        """What each bit of the warp number moves in a tile whose dimensions are these dims of a statement."""
        images = self._inside_group(statement, dims)
        for dim in reversed(self.warp_dims(statement)):
            size = self.warp_extent(statement, dim)
            for bit in range(coordinate_bits(self._tile_extent(dim) // size)):
                place = dims.index(dim) if dim in dims else None
                images.append(unit(len(dims), place, size << bit) if place is not None else (0,) * len(dims))
        return (*images, *((0,) * len(dims) for _ in range(coordinate_bits(self.warps) - len(images))))

    def _inside_group(self, statement: Statement, dims: tuple[str | None, ...]) -> list[Coordinate]:
        """What the number of a warp in its warpgroup moves: quarters of the group's tile along its first dim."""
        own = self.warp_dims(statement)
        if not self.grouped:
            return []
        if not own or own[0] not in dims:
            return [(0,) * len(dims)] * GROUP_BITS
        quarter = self.warp_extent(statement, own[0]) >> GROUP_BITS
        return [unit(len(dims), dims.index(own[0]), quarter << bit) for bit in range(GROUP_BITS)]

    def origin(self, dim: str, loop: str | None = None) -> Affine:
        """Where the block's tile starts along `dim`: block index or loop variable (named `loop`) times the extent,
        behind the least index. Of a split sum each part has every parts-th tile, of a streamed one an item has those
        from its first one on; a slice starts behind those of the parts before."""
        tile = self.outer_tile(dim)
        if tile is None:
            return Affine()
        size = tile.sizes[dim]
        return self._first(dim) + self._within(dim, var(loop or f"{tile.level}.{dim}"), size)

    def _first(self, dim: str) -> Affine:
        """The least index of a dim: where it comes in segments, that of the block's group."""
        found = (own.first for s in self.compute.statements for own in s.dims if own.name == dim)
        return next(found, Affine())

    def _within(self, dim: str, number: Affine, size: int) -> Affine:
        """Where tile `number` starts behind the least index."""
        if self.split and self.split.dim == dim:
            return number * (size * self.split.parts) + var(self.part_variable) * size
        if self.stream and self.stream.dim == dim:
            return (number + var(ITEM_FIRST)) * size
        if self.slice and self.slice.dim == dim:
            return number * size + var(self.slice.variable) * self.block_extent(dim)
        return number * size

    def rolled(self, statement: Statement) -> Path:
        """The loops around `statement`: of parametric length its dims' outermost tiles that no block takes, inside them
        the one over the pieces in which it is finished."""
        own = {dim.name for dim in statement.dims}
        cut = piece_loop(self.plan.steps, statement)
        pieces = (RolledLoop(cut.level, cut.dim, size=cut.size, count=cut.count),) if cut else ()
        tiles = tuple(
            RolledLoop(tile.level, dim)
            for tile in self.levels
            for dim in tile.sizes
            if dim in own and self.outer_tile(dim) is tile and dim not in self.block_dims
        )
        return (*tiles, *pieces)

    def unrolled(self, statement: Statement) -> tuple[tuple[str, str, int], ...]:
        """The loops of constant length: (name, dim, tile extent), outermost first. PlanError where one is not unrolled.

        Only reduced dims are stepped through: along the others one op covers the whole tile.
        """
        written_out = {step.loop for step in self.plan.steps if isinstance(step, Unroll)}
        found: list[tuple[str, str, int]] = []
        for tile in self.levels:
            for dim, size in tile.extents:
                inner = dim in statement.reduced and self.outer_tile(dim) is not tile
                if not inner or (self._is_inside(tile.level) and dim in self._inside()):
                    continue
                name = f"{tile.level}.{dim}"
                if name not in written_out:
                    raise PlanError(
                        f"{name} is a loop inside a tile: unroll it, register rings need constant subscripts",
                        line=tile.line,
                    )
                found.append((name, dim, size))
        return tuple(found)

    def inside(self, statement: Statement, dim: str, at: str) -> int:
        """Elements of `dim` in the box that a statement's loops inside `at` use: its tile at or outside `at`."""
        level = at.partition(".")[0]
        size = self.block_extent(dim)
        cut = piece_loop(self.plan.steps, statement)
        if cut and cut.name == at and cut.dim == dim:
            return cut.size
        for tile in self.levels:
            if dim in statement.reduced and dim in tile.sizes and not self._is_inside(tile.level):
                size = tile.sizes[dim]
            if tile.level == level:
                break
        return size

    @cached_property
    def isolated(self) -> bool:
        """Whether full tiles are kept apart."""
        return any(isinstance(step, Isolate) for step in self.plan.steps)

    def blocks_of(self, statements: Iterable[Statement]) -> tuple[str, ...]:
        """The block dims that some of these statements have."""
        own = {dim.name for statement in statements for dim in statement.dims}
        return tuple(dim for dim in self.block_dims if dim in own)
