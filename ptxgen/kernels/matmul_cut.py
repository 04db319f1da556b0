"""What no walk of a tiling is expected to beat, told in a fraction of the time that all of them take to be told."""

from __future__ import annotations

from ptxgen.kernels.matmul_pace import ROWS_OF_ZEROS, Pace, met

ROUNDING = 1 - 1e-9


def least(pace: Pace) -> float:
    """Microseconds that the model tells at least of a standing tiling (`matmul_menu.standing`) and of each way to walk
    its tiles (`walks`): neither clusters nor the order of tiles make fewer rounds or lose less, and what goes on
    together takes no less summed up round by round than as a whole."""
    row, slab, slabs = pace.product.processor, pace.slab, pace.slabs
    each, filling = max(slab.tensor, slab.shared), _filling(pace)
    ended = brought = lost = 0.0
    most = pace.rounds[0][1]
    for count, beside, _ in pace.rounds:
        losing = slabs * pace.lost(beside)
        multiplied = slabs * beside * each + losing
        waited = slabs * max(beside * filling, pace.latency(beside, beside * max(each, filling))) + losing
        ended += count * max(multiplied, beside * pace.leaving, multiplied / beside + pace.end)
        brought += count * waited
        lost += count * losing
    powered = pace.tiles * slabs * slab.power + lost
    ends = pace.end * sum(count for count, _, _ in pace.rounds)
    ended = max(ended, powered, powered / most + ends)
    brought = max(brought, pace.tiles * slabs * slab.l2 * _share_in_cluster(pace) + lost) + pace.tiles * pace.taken
    beginning = row.launch + row.fetch + most * filling
    return ROUNDING * (beginning + met(met(ended, brought) + pace.tail, pace.product.least_memory))


def _filling(pace: Pace) -> float:
    """What it takes a multiprocessor to be filled without zeros."""
    tiling, sizes = pace.tiling, pace.product.sizes
    down, across = min(tiling.i, sizes.m), min(tiling.j, sizes.n)
    beyond = tiling.i - down + tiling.j - across
    return pace.slab.filling * (down + across) / (down + across + ROWS_OF_ZEROS * beyond)


def _share_in_cluster(pace: Pace) -> float:
    """The least share of its slabs that a block brings itself in a cluster of up to four."""
    if not pace.by_groups:
        return 1.0
    tiling, sizes, (lines_a, lines_b) = pace.tiling, pace.product.sizes, pace.product.lines
    of_a, of_b = min(tiling.i, sizes.m) * lines_a, min(tiling.j, sizes.n) * lines_b
    return min(of_a + of_b / 4, of_a / 4 + of_b, (of_a + of_b) / 2) / (of_a + of_b)
