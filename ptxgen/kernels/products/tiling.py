"""The choices of a product's plan, as data."""

from __future__ import annotations

from attrs import evolve, field, frozen

from ptxgen.errors import PlanError
from ptxgen.kernels.products.bounds import (
    an_order,
    from_one,
    from_zero,
    three_evictions,
    two_from_one,
    who_stays,
    yes_or_no,
)
from ptxgen.kernels.products.drain import DEPTH
from ptxgen.plan import BlockOrder, Eviction, Workers, grouped
from ptxgen.tile import granule, is_power, power_below

GROUP_ROWS = 64
MOST_COLUMNS, COLUMN_STEP = 256, 8
WARP_GRIDS: dict[int, tuple[int, int]] = {1: (1, 1), 2: (1, 2), 4: (2, 2), 8: (2, 4)}
WARP_COUNTS = (*WARP_GRIDS, 12)


@frozen
class MatmulTiling:
    """The choices of a plan: the block's tile (i, j, k), warps, slabs and fragments held at once, how far they run
    ahead, whether full tiles are apart, and the order of blocks. With `workers` so many blocks stay and walk the tiles
    in that order, and full tiles are not apart. `cluster` are the neighbours along i and j that bring each other what
    they have in common, where tensor copies bring it. `drain` is the extent of the pieces in which results leave
    through shared memory, columns of a warpgroup's tile (fewer where it does not divide those) or rows of a warp's; 0:
    they leave from registers, as they do where the facts allow no other way. With `swap` the factors change places: the
    rows of a warpgroup's product are columns of the result, of which a tile may then have few rows. With `overlap` a
    launch may begin before those ahead of it have ended. With `turns` each of several warpgroups takes every n-th tile
    that its block walks, and one multiplies while another finishes. `evict` tells the L2 cache which lines of A, B and
    the results it gives up first or last, `maps_early` has tensor maps fetched as the kernel begins; both of
    warpgroups. Of `split` parts of k, summed apart by blocks of their own, neighbours of a cluster join a slice of the
    tile each and store it from registers; others pass the sum on through memory. With `boxed` warps multiply, also
    where warpgroups could, and one warp beside them has the slabs copied as boxes, where the target and the facts allow
    it: no thread spends instructions on copies, and no block meets at its slabs. With `stream` the blocks that stay
    share the slabs of k of all tiles evenly, so that none of them ends long before the others. Only tiles of warpgroups
    may have extents along i and j that are no powers of two, and 12 warps. Of results that warpgroups drain by tensor
    copies, `drain_depth` pieces are on their way at once, of fewer columns where else not all results find room. With
    `piecewise` each of them is finished just before it leaves, and what registers hold beside the sums of a bias or
    residual is loaded as the tile begins; with a `residual_depth` tensor copies bring so many pieces of a residual
    ahead instead. An epilogue with sums over rows is finished in whole tiles. `group_rows` are the rows of the tile
    that a warpgroup has (columns, with `swap`), 64 for each of its products. With `tickets` blocks that pass a sum on
    through memory take their parts in the order in which they begin, so that any number of them is launched, not only
    as many as run at once. `default_tiling` gives one for an epilogue
    and a target."""

    i: int = field(default=128, validator=from_one)
    j: int = field(default=128, validator=from_one)
    k: int = field(default=32, validator=from_one)
    warps: int = field(default=4, validator=from_one)
    depth: int = field(default=2, validator=from_one)
    prefetch: bool = field(default=True, validator=yes_or_no)
    fragment_depth: int = field(default=2, validator=from_one)
    isolate: bool = field(default=True, validator=yes_or_no)
    raster: BlockOrder = field(factory=lambda: grouped(8), validator=an_order)
    workers: int | Workers | None = field(default=None, validator=who_stays)
    cluster: tuple[int, int] = field(default=(1, 1), validator=two_from_one)
    drain: int = field(default=0, validator=from_zero)
    swap: bool = field(default=False, validator=yes_or_no)
    overlap: bool = field(default=False, validator=yes_or_no)
    turns: bool = field(default=False, validator=yes_or_no)
    evict: tuple[Eviction | None, Eviction | None, Eviction | None] = field(
        default=(None, None, None), validator=three_evictions
    )
    maps_early: bool = field(default=False, validator=yes_or_no)
    split: int = field(default=1, validator=from_one)
    boxed: bool = field(default=False, validator=yes_or_no)
    stream: bool = field(default=False, validator=yes_or_no)
    drain_depth: int = field(default=DEPTH, validator=from_one)
    piecewise: bool = field(default=False, validator=yes_or_no)
    residual_depth: int = field(default=0, validator=from_zero)
    group_rows: int = field(default=GROUP_ROWS, validator=from_one)
    tickets: bool = field(default=False, validator=yes_or_no)

    @property
    def walking(self) -> str:
        """Who walks the tiles, in words; nothing where each has a block of its own."""
        match self.workers:
            case None:
                return ""
            case Workers.SMS:
                return "as many blocks as run at once"
            case count:
                return f"{count} blocks"

    @property
    def isolates(self) -> bool:
        """Whether full tiles are kept apart."""
        return self.isolate and self.workers is None

    @property
    def fits_warpgroups(self) -> bool:
        """Whether each warpgroup of four warps can take `group_rows` of the tile, and one product all that lies across
        64 of them, and nobody asks for warps."""
        along, across = (self.j, self.i) if self.swap else (self.i, self.j)
        fits = across in range(COLUMN_STEP, MOST_COLUMNS + 1, COLUMN_STEP)
        together = self.warps // self.units
        shared_out = along == self.group_rows * (together // 4) and self.group_rows % GROUP_ROWS == 0
        return shared_out and together % 4 == 0 and fits and not self.boxed

    @property
    def units(self) -> int:
        """How many warpgroups have a tile each; 1 where all warps share one."""
        return max(1, self.warps // 4) if self.turns else 1

    @property
    def for_warps(self) -> MatmulTiling:
        """The same with extents and warps that are powers of two, the next below: what warps deal out."""
        return evolve(self, i=power_below(self.i), j=power_below(self.j), warps=self._dealing_warps)

    @property
    def _dealing_warps(self) -> int:
        return max(count for count in WARP_GRIDS if count <= self.warps)

    @property
    def warp_tile(self) -> tuple[int, int]:
        """Rows and columns of a warp's tile, of the tile for warps where this one is for warpgroups alone, and at most
        what divides this one. PlanError for a count of warps that has no grid."""
        if self.warps not in WARP_COUNTS:
            raise PlanError(f"a product runs on {', '.join(map(str, WARP_COUNTS))} warps, got {self.warps}")
        rows, columns = WARP_GRIDS[self._dealing_warps]
        down, across = power_below(self.i) // rows, power_below(self.j) // columns
        return min(down, granule(self.i)), min(across, granule(self.j))

    def piece_columns(self, wished: int) -> int:
        """The columns of a piece in which warpgroups' results leave: those `wished`, or as many as divide the tile.
        0 where with `swap` all warpgroups are beside each other in a piece, and both its extents are no powers of
        two."""
        both = self.swap and not is_power(self.i) and not is_power(self.j)
        return 0 if both else min(wished, granule(self.j))

    def __str__(self) -> str:
        return (
            f"{self.i}x{self.j}x{self.k}, {self.warps} warps, depth {self.depth}, prefetch {int(self.prefetch)}, "
            f"fragments {self.fragment_depth}, {'isolated' if self.isolates else 'guarded'}, {self.raster}"
            + (f", walked by {self.walking}" if self.workers else "")
            + (f", clusters of {self.cluster[0]}x{self.cluster[1]}" if self.cluster != (1, 1) else "")
            + (f", drained by {self.drain}" if self.drain else "")
            + (", factors swapped" if self.swap else "")
            + (", launches overlapped" if self.overlap else "")
            + (", in turns" if self.turns else "")
            + (f", L2 {' '.join(wish.value if wish else '-' for wish in self.evict)}" if any(self.evict) else "")
            + (", maps early" if self.maps_early else "")
            + (f", k split in {self.split}" if self.split > 1 else "")
            + (", boxed" if self.boxed else "")
            + (", k streamed" if self.stream else "")
            + (f", pieces on their way {self.drain_depth}" if self.drain and self.drain_depth != DEPTH else "")
            + (", finished in pieces" if self.piecewise else "")
            + (f", {self.residual_depth} pieces of residuals ahead" if self.residual_depth else "")
            + (f", {self.group_rows} rows a warpgroup" if self.group_rows != GROUP_ROWS else "")
            + (", by ticket" if self.tickets else "")
        )
