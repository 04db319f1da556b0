"""The tilings that a product of given sizes may be planned with on a target, all of them legal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import ceil, prod

from attrs import evolve, frozen

from isa.targets import target as target_named
from ptxgen.kernels.choosing.legal import is_legal
from ptxgen.kernels.choosing.processors import processor_for
from ptxgen.kernels.choosing.tiles import RASTERS, Tile, tiles_for
from ptxgen.kernels.products.compute import Grouping, MatmulSpec
from ptxgen.kernels.products.defaults import default_tiling
from ptxgen.kernels.products.groups import groups_multiply
from ptxgen.kernels.products.split import IN_CLUSTERS, MOST_BLOCKS, joins_in_cluster
from ptxgen.kernels.products.tiling import GROUP_ROWS, MatmulTiling
from ptxgen.plan import sms

FEW_ROWS, LEAST_SWAPPED, WARP_ROWS, LEAST_COLUMNS = 128, 16, 32, 32
CLUSTERS = ((2, 1), (1, 2), (4, 1), (1, 4), (2, 2))
STAYING_CLUSTERS, STREAMED_CLUSTERS = ((2, 1), (1, 2), (2, 2)), ((2, 1), (1, 2))
LEAST_SLABS, MOST_PASSED_ON, MOST_OF_LAST_ROUND = 2, 64, 0.9
WALKS_KEPT = 4096


@frozen
class Sizes:
    """The rows, columns and length of the sums of a product, and how many of them there are."""

    m: int
    n: int
    k: int
    batches: int = 1

    @classmethod
    def of(cls, spec: MatmulSpec, known: Mapping[str, int]) -> Sizes:
        """Those of a launch; of groups as if all were of one length, which memory alone knows."""
        m, n, k, batches = (known.get(name, 1) for name in ("M", "N", "K", "batches"))
        groups = known.get("groups", 1)
        match spec.grouped:
            case None:
                return cls(m, n, k, batches)
            case Grouping.ROWS:
                return cls(-(-m // max(1, groups)), n, k, groups)
            case Grouping.TERMS:
                return cls(m, n, -(-k // max(1, groups)), groups)


def menu_for(spec: MatmulSpec, target: str, sizes: Sizes) -> tuple[MatmulTiling, ...]:
    """Legal tilings for a product of these sizes, the default one first, in a fixed order and each once. Tiles that are
    mostly beyond the arrays are left out where smaller ones are there, and sums in parts where whole ones keep all
    multiprocessors at work."""
    first = (each for each in (default_tiling(spec, target),) if is_legal(spec, target, each))
    found = standing(spec, target, sizes)
    return tuple(dict.fromkeys((*first, *(walked for each in found for walked in walks(spec, target, each)))))


def standing(spec: MatmulSpec, target: str, sizes: Sizes) -> Iterator[MatmulTiling]:
    """The tilings of the menu in its order, but for how their blocks walk the tiles and gather."""
    row, groups = processor_for(target_named(target).number), groups_multiply(spec, target)
    for tile in tiles_for(spec, target):
        if not _fits(sizes, tile.whole, groups=groups):
            continue
        yield tile.whole
        if row is not None and (tile.parts or tile.streamed):
            yield from _shared_out(tile, sizes, row.sms)


def _shared_out(tile: Tile, sizes: Sizes, most: int) -> Iterator[MatmulTiling]:
    """The same with the sums of few tiles in parts, for as many blocks as there are multiprocessors at most, passed on
    through memory only by those of very few; and with its slabs shared evenly where whole tiles leave many
    multiprocessors idle in the last round."""
    tiles = sizes.batches * ceil(sizes.m / tile.whole.i) * ceil(sizes.n / tile.whole.j)
    slabs = ceil(sizes.k / tile.whole.k)
    for each in tile.parts:
        few = tiles * each.split <= (most if each.split in IN_CLUSTERS else MOST_PASSED_ON)
        if few and slabs >= LEAST_SLABS * each.split:
            yield each
    if tiles > most // 2 and slabs >= LEAST_SLABS and 0 < tiles % most <= MOST_OF_LAST_ROUND * most:
        yield from tile.streamed


@lru_cache(maxsize=WALKS_KEPT)
def walks(spec: MatmulSpec, target: str, base: MatmulTiling) -> tuple[MatmulTiling, ...]:
    """The ways to walk the tiles of one of `standing`, all legal: by blocks that come and go or, where they can, stay,
    alone or, where no groups have tiles of their own, in clusters. Streamed ones stay, parts come and go."""
    return tuple(_walks(spec, target, base))


def _walks(spec: MatmulSpec, target: str, base: MatmulTiling) -> Iterator[MatmulTiling]:
    if not groups_multiply(spec, target):
        yield from (evolve(base, raster=raster) for raster in RASTERS)
        return
    if base.stream:
        yield from (evolve(base, raster=raster) for raster in RASTERS)
        yield from (evolve(base, cluster=cluster) for cluster in STREAMED_CLUSTERS)
        return
    if not base.turns:
        yield base
    if base.split > 1:
        yield from _clusters_of_parts(spec, target, base)
        return
    if not spec.promote and is_legal(spec, target, evolve(base, workers=sms)):
        yield from (evolve(base, raster=raster, workers=sms) for raster in RASTERS)
        yield from (evolve(base, workers=sms, cluster=cluster) for cluster in STAYING_CLUSTERS if not spec.grouped)
    if not base.turns and not spec.grouped:
        yield from (evolve(base, cluster=cluster) for cluster in CLUSTERS)


def _clusters_of_parts(spec: MatmulSpec, target: str, base: MatmulTiling) -> Iterator[MatmulTiling]:
    """The same in clusters that have several tiles, where a cluster has all parts of each."""
    if joins_in_cluster(spec, base, target):
        fitting = (each for each in CLUSTERS if base.split * prod(each) <= MOST_BLOCKS)
        yield from (evolve(base, cluster=each) for each in fitting)


def _fits(sizes: Sizes, tiling: MatmulTiling, *, groups: bool) -> bool:
    """Whether a tile is no more than twice as long as the product, or as short as tiles get; of swapped factors those
    of few rows are for few rows."""
    if tiling.swap and tiling.i < FEW_ROWS < sizes.m:
        return False
    least = WARP_ROWS if not groups else LEAST_SWAPPED if tiling.swap else GROUP_ROWS
    return tiling.i <= max(least, 2 * sizes.m - 1) and tiling.j <= max(LEAST_COLUMNS, 2 * sizes.n - 1)
