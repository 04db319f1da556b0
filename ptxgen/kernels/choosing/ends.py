"""What the end of a tile takes: its results calculated, its parts joined, and all that on its way out."""

from __future__ import annotations

from math import ceil

from attrs import frozen

from ptxgen.kernels.choosing.rounds import Rounds
from ptxgen.kernels.choosing.work import BYTES_PER_US, Product
from ptxgen.kernels.products.drain import DEPTH
from ptxgen.kernels.products.split import joins_in_cluster
from ptxgen.kernels.products.tiling import MatmulTiling

WARPS_OF_GROUP = 4


@frozen
class Ends:
    """The results of a tile leave a multiprocessor in `leaving`, are there at the `end`, and keep the L2 cache for
    `taken`; blocks that pass sums on wait for each other `once`."""

    leaving: float
    end: float
    taken: float
    once: float = 0.0


def ends_of(product: Product, tiling: MatmulTiling, rounds: Rounds) -> Ends:
    """The ends of a tiling's tiles."""
    sliced = tiling.split > 1 and joins_in_cluster(product.spec, tiling, product.target)
    found = _whole(product, tiling, tiling.split if sliced else 1)
    if sliced:
        return _met(product, tiling, found)
    if tiling.split > 1:
        return _chained(product, tiling, rounds, found)
    return _streamed(product, tiling, rounds, found) if rounds.longer else found


def _whole(product: Product, tiling: MatmulTiling, slices: int) -> Ends:
    """The ends of tiles, or of slices of them, that nobody shares."""
    row, count = product.processor, tiling.i * tiling.j / slices
    written, read = count * product.result_bytes, count * product.joined_bytes
    rate = row.out_bytes if tiling.drain else row.direct_bytes
    leaving = written / rate / row.clocks
    groups = max(1, tiling.warps // tiling.units // WARPS_OF_GROUP)
    calculated = (count * product.curve_clocks / groups + read / row.in_bytes) / row.clocks
    pieces = ceil(tiling.j / tiling.drain) * DEPTH / tiling.drain_depth if tiling.drain else 0
    both = max(leaving, calculated) if tiling.piecewise else leaving + calculated
    return Ends(leaving, row.tile + pieces * row.piece + both, (written + read) / (row.l2_rate * BYTES_PER_US))


def _partial(product: Product, tiling: MatmulTiling) -> float:
    """What it takes to put a tile of sums where others read it, or to read it there."""
    row = product.processor
    return tiling.i * tiling.j * product.spec.summed.byte_count / row.partial_bytes / row.clocks


def _passed(product: Product, tiling: MatmulTiling) -> float:
    """What it takes until the block that waits for a part of a tile has added its own: each warpgroup writes its sums
    to memory and reads others from there."""
    row, groups = product.processor, max(1, tiling.warps // WARPS_OF_GROUP)
    sums = tiling.i * tiling.j * product.spec.summed.byte_count / groups
    return row.join + 2 * sums / row.passed_bytes / row.clocks


def _met(product: Product, tiling: MatmulTiling, slices: Ends) -> Ends:
    """With parts in a cluster: all put theirs into shared memory, meet, and read a slice from each."""
    joined = product.processor.meeting + 2 * _partial(product, tiling)
    return Ends(slices.leaving, slices.end + joined, slices.taken)


def _chained(product: Product, tiling: MatmulTiling, rounds: Rounds, whole: Ends) -> Ends:
    """With parts that add theirs to what the one before has left in memory, one after the other."""
    return Ends(whole.leaving, whole.end, whole.taken, (rounds.parts - 1) * _passed(product, tiling))


def _streamed(product: Product, tiling: MatmulTiling, rounds: Rounds, whole: Ends) -> Ends:
    """With a part left for the next block, and one that the block before has left."""
    passed = 2 * _passed(product, tiling)
    return Ends(whole.leaving, whole.end, whole.taken, passed + (rounds.longer - 1) * whole.end)
