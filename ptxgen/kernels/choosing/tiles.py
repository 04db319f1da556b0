"""The tiles that products of any sizes may be cut into on a target, with rings and pieces of results that fit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import product

from attrs import evolve, frozen

from isa.limits import limits
from isa.targets import target as target_named
from ptxgen.kernels.choosing.legal import bytes_of_slabs, is_legal, pieces_lie_over, shared_bytes, sums_of
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.defaults import default_tiling
from ptxgen.kernels.products.drain import BARRIERS_BYTES
from ptxgen.kernels.products.epilogue import Bias, Keep, Residual
from ptxgen.kernels.products.generations import copies_tensors, generation_of, has_overlapping_launches
from ptxgen.kernels.products.groups import groups_multiply
from ptxgen.kernels.products.split import IN_CLUSTERS
from ptxgen.kernels.products.tiling import GROUP_ROWS, MOST_COLUMNS, MatmulTiling
from ptxgen.plan import grouped, sms

RASTERS = (grouped(16), grouped(8), grouped(4))
MIDDLE = RASTERS[1]
TWO_ROWS, TURNS = 2 * GROUP_ROWS, 2
WIDE = GROUP_ROWS * MOST_COLUMNS
PRODUCTS_KEPT = 256


@frozen
class Block:
    """A tile of warpgroups, each with `group_rows` of it (columns, where it is swapped)."""

    i: int
    j: int
    group_rows: int = GROUP_ROWS
    swap: bool = False
    turns: bool = False

    @property
    def warps(self) -> int:
        """Those that multiply."""
        along = self.j if self.swap else self.i
        return along // self.group_rows * (TURNS if self.turns else 1) * 4


GROUP_BLOCKS = (
    *(Block(i, j) for i, j in (
        (128, 256), (192, 192), (192, 160), (128, 192), (192, 128), (128, 160), (128, 128), (192, 96), (128, 96),
        (128, 64), (128, 32), (64, 256), (64, 128), (64, 64), (64, 32), (64, 16),
    )),
    *(Block(i, j, TWO_ROWS) for i, j in ((256, 160), (256, 128), (128, 128))),
    *(Block(i, j, swap=True) for i, j in ((8, 128), (8, 64), (16, 128), (16, 64), (32, 128), (32, 64), (64, 128))),
    *(Block(i, 256, TWO_ROWS, swap=True) for i in (160, 128)),
    *(Block(64, j, turns=True) for j in (256, 192, 128)),
)  # fmt: skip
GROUP_SLABS, GROUP_DRAINS = (128, 256), (64, 32, 0)
LEAST_LONG = 5
WARP_BLOCKS = (
    (128, 256, 8), (128, 128, 8), (128, 128, 4), (128, 64, 4), (64, 128, 4), (64, 64, 4), (64, 32, 2), (32, 64, 2),
    (64, 256, 8), (256, 64, 8), (32, 256, 8), (32, 128, 4), (32, 32, 1),
)  # fmt: skip
BOXED_BLOCKS = ((128, 256, 8), (128, 128, 8), (128, 64, 4), (64, 128, 4), (64, 64, 4), (64, 256, 8), (32, 128, 4))
WARP_SLABS, BOXED_SLABS, WARP_DRAINS = (32, 64, 128), (64, 128), (0, 32)
MOST_DEPTH, DEPTH_OF_ONE = 8, 2
FINISHED_PIECE, AHEAD = 32, 2
PARTS = (*IN_CLUSTERS, 16, 32)


@frozen(eq=False)
class Tile:
    """A tiling whose blocks have a tile each, and the same with sums in parts and with streamed slabs, where those can
    be had."""

    whole: MatmulTiling
    parts: tuple[MatmulTiling, ...] = ()
    streamed: tuple[MatmulTiling, ...] = ()


@lru_cache(maxsize=PRODUCTS_KEPT)
def tiles_for(spec: MatmulSpec, target: str) -> tuple[Tile, ...]:
    """Legal tilings in a fixed order, alike in how their blocks walk the tiles. Those are left out of which a thread
    would hold more sums than of the default one, which leaves room for the operands of the epilogue; a quarter more are
    let in where that holds all of an instruction's columns, which is where epilogues are small. Sums are in parts where
    rings are as deep as they can be."""
    groups = groups_multiply(spec, target)
    most = sums_of(default_tiling(spec, target), groups)
    most += most // 4 if groups and most == WIDE else 0
    offered = _by_warpgroups(spec, target) if groups else _by_warps(spec, target)
    found = [each for each in offered if sums_of(each, groups) <= most and is_legal(spec, target, each)]
    if not groups or spec.grouped or spec.promote:
        return tuple(map(Tile, found))
    deepest: dict[MatmulTiling, int] = {}
    for each in found:
        kind = evolve(each, depth=1)
        deepest[kind] = max(deepest.get(kind, 0), each.depth)
    return tuple(
        _shared_out(spec, target, each) if each.depth == deepest[evolve(each, depth=1)] else Tile(each)
        for each in found
    )


def _shared_out(spec: MatmulSpec, target: str, whole: MatmulTiling) -> Tile:
    """A tile with the ways to have its sum in parts: slices leave from registers, streamed tiles as whole ones do."""
    if whole.turns or whole.piecewise:
        return Tile(whole)
    parts = () if whole.drain else (evolve(whole, split=count) for count in PARTS)
    streamed = (evolve(whole, workers=sms, stream=True),) if whole.drain else ()
    legal = partial(is_legal, spec, target)
    return Tile(whole, tuple(filter(legal, parts)), tuple(filter(legal, streamed)))


def _by_warpgroups(spec: MatmulSpec, target: str) -> Iterator[MatmulTiling]:
    width, overlap = spec.input.byte_count, has_overlapping_launches(target)
    for block, slab, drain in product(GROUP_BLOCKS, GROUP_SLABS, GROUP_DRAINS):
        tiled = MatmulTiling(
            block.i, block.j, slab // width, warps=block.warps, isolate=False, drain=drain, swap=block.swap,
            overlap=overlap, turns=block.turns, raster=MIDDLE, group_rows=block.group_rows,
            workers=sms if block.turns else None,
        )  # fmt: skip
        least = LEAST_LONG if slab > GROUP_SLABS[0] else 0
        for finished in (*_in_pieces(spec, tiled), *_in_one_slot(spec, tiled), tiled):
            depths = _depths(spec, target, finished)
            yield from (evolve(finished, depth=depth) for depth in depths if depth >= least)


def _in_pieces(spec: MatmulSpec, tiling: MatmulTiling) -> Iterator[MatmulTiling]:
    """The same finished piece by piece, with residuals brought ahead, where the epilogue reads such operands or gives a
    second result."""
    if tiling.drain != FINISHED_PIECE or tiling.swap or tiling.turns:
        return
    kinds = [type(piece) for piece in spec.epilogue]
    if Residual in kinds:
        yield evolve(tiling, piecewise=True, residual_depth=AHEAD)
    elif Keep in kinds or kinds.count(Bias) > 1:
        yield evolve(tiling, piecewise=True)


def _in_one_slot(spec: MatmulSpec, tiling: MatmulTiling) -> Iterator[MatmulTiling]:
    """The same with a slot for the pieces of each result, which leaves room for another slab where tiles are taken in
    turn, each warpgroup with pieces of its own, and have several results."""
    if tiling.turns and tiling.drain == FINISHED_PIECE and len(spec.results) > 1:
        yield evolve(tiling, drain_depth=1)


def _by_warps(spec: MatmulSpec, target: str) -> Iterator[MatmulTiling]:
    width = spec.input.byte_count
    step = generation_of(target, spec.input, spec.accumulate, spec.b_input).step
    for (i, j, count), slab, drain in product(WARP_BLOCKS, WARP_SLABS, WARP_DRAINS):
        tiled = partial(
            MatmulTiling, i, j, max(step, slab // width), warps=count, isolate=False, drain=drain, raster=MIDDLE
        )
        yield from (tiled(depth=depth) for depth in _depths(spec, target, tiled()))
    if copies_tensors(target):
        yield from _boxed(spec, target)


def _boxed(spec: MatmulSpec, target: str) -> Iterator[MatmulTiling]:
    """Tilings whose slabs are brought to warps as boxes."""
    overlap = has_overlapping_launches(target)
    for (i, j, count), slab, drain in product(BOXED_BLOCKS, BOXED_SLABS, WARP_DRAINS):
        tiled = partial(
            MatmulTiling, i, j, slab // spec.input.byte_count, warps=count, isolate=False, drain=drain, raster=MIDDLE,
            overlap=overlap, boxed=True,
        )  # fmt: skip
        yield from (tiled(depth=depth) for depth in _depths(spec, target, tiled()))


def _depths(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> list[int]:
    """The slabs that a block alone on its multiprocessor has room for, those that leave room for a second block, and of
    warpgroups of many rows, whose pieces are large, those that leave the pieces none; none where not even two fit."""
    by_groups = groups_multiply(spec, target) and tiling.fits_warpgroups
    if not by_groups and not generation_of(target, spec.input, spec.accumulate, spec.b_input).past_registers:
        return [DEPTH_OF_ONE]
    room = limits(target_named(target))
    most = (room.shared_bytes_per_cta, room.shared_bytes_per_sm // 2 - 2 * BARRIERS_BYTES)
    if by_groups:
        slab, rest = sum(bytes_of_slabs(spec, tiling)), shared_bytes(spec, tiling, 0, by_groups=True)
        found = {min(MOST_DEPTH, (each - rest) // slab) for each in most}
        longest = min(MOST_DEPTH, (most[0] - BARRIERS_BYTES) // slab)
        if tiling.group_rows == TWO_ROWS and pieces_lie_over(spec, evolve(tiling, depth=longest), most[0]):
            found.add(longest)
    else:
        found = {_deepest(spec, tiling, each) for each in most}
    return sorted((depth for depth in found if depth > 1), reverse=True)


def _deepest(spec: MatmulSpec, tiling: MatmulTiling, most: int) -> int:
    """The longest rings of a block of warps in so many bytes of shared memory."""
    held = range(MOST_DEPTH, 0, -1)
    return next((depth for depth in held if shared_bytes(spec, tiling, depth, by_groups=False) <= most), 0)
