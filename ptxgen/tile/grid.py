"""The tiles of a launch: their order, who takes which, and groups that memory tells of."""

from __future__ import annotations

from math import prod

from attrs import field, frozen

from polyhedral import Affine
from ptxgen.compute import SourceLine
from ptxgen.tile.quotient import Quotient


@frozen
class GridDim:
    """A tile index of the grid: `variable` runs over 0 <= variable < floor(count), and on to a multiple of `cluster`:
    so many neighbours along it are in one cluster, and `rank_name(variable)` is a block's number among them."""

    variable: str
    count: Quotient
    cluster: int = 1


def rank_name(variable: str) -> str:
    """The variable that tells which of the neighbours of its cluster a block is along a tile index of the grid."""
    return f"{variable}.rank"


@frozen
class Raster:
    """The order of blocks. `group` 1: the last grid dim fastest. `group` g > 1: bands of g tiles along the first of
    the last two dims are walked column by column, so that neighbours in time share operands in the L2 cache. With
    `curve` a band is cut into squares of g by g tiles, each walked along Hilbert's curve from its first column to its
    last one in its first row (where it is whole, else column by column), and every second band is walked backwards."""

    group: int = 1
    curve: bool = False

    def over(self, height: int) -> Raster:
        """The same order of tiles of which each is `height` rows high; squares stay powers of two."""
        group = max(1, self.group // height)
        return Raster(1 << group.bit_length() - 1 if self.curve else group, self.curve)


@frozen
class WorkList:
    """How blocks that stay share the tiles: of W blocks number w takes tiles w, w + W, w + 2W, ... in the order of the
    raster. W is at most `workers`, None for as many blocks as the device runs at once, and never more than the tiles.
    Clusters take clusters of tiles: there are as many whole ones as that leaves, one at least.

    With `slabs` the list is streamed: each tile has so many slabs (counted as one where there are none), and W may be
    up to twice the tiles, but no more than all their slabs. Of T tiles the first R = min(T, W + T mod W), none where W
    divides T, have their slabs dealt in order: block w has R * slabs div W of them, one more where w is less than the
    rest, behind those of block w - 1. It takes its tiles from the last to the first one, then as a whole R + w, R + w +
    W, ... Its first LEAVING items, one or none, go on in block w + 1; its item number JOINING, if that is not -1, has
    begun in block w - 1. So whoever waits for a part waits for the first item of the block before."""

    workers: int | None = None
    slabs: Quotient | None = None
    line: SourceLine | None = field(default=None, eq=False, kw_only=True, repr=False)


@frozen
class Segmented:
    """Groups of indices that the s32 array `ends` in memory tells: group number g, the value of the tile index `group`,
    is `first` <= index < `end`, where it begins where the group before ends and ends at `ends[g]`, but not before it
    begins and not beyond `rows`. The counts of the tile indices behind `group` are those of the group."""

    ends: str
    group: str
    first: str
    end: str
    rows: Affine


@frozen
class Grid:
    """All tiles, one block each; the launch is one-dimensional with the product of the counts as blocks. With a work
    list fewer blocks take several tiles each. Blocks of a cluster follow each other, along its last dim first; the
    raster orders clusters. With `parts` the first dim numbers so many parts of a sum, which each tile of the others
    has: all blocks of a part come before those of the next one, in the same order, and TILE_NUMBER is a block's place
    there. With `segments` the first dim numbers groups: the tiles of a group come before those of the next one, in the
    order of the raster, and blocks beyond the last tile have nothing to do. With `tickets`, the name of a workspace, no
    block has a number until it begins: each takes the next one then, from a counter there.
    """

    dims: tuple[GridDim, ...]
    raster: Raster
    work_list: WorkList | None = None
    parts: int = 1
    segments: Segmented | None = None
    tickets: str = ""

    @property
    def cluster(self) -> int:
        """The blocks of a cluster."""
        return prod(dim.cluster for dim in self.dims)
