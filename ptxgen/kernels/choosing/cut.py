"""What no walk of a tiling is expected to beat, told in a fraction of the time that all of them take to be told."""

from __future__ import annotations

from ptxgen.kernels.choosing.menu import CLUSTERS
from ptxgen.kernels.choosing.pace import ALONE, MEETING_IN_ROUNDS, ROWS_OF_ZEROS, Pace, met

ROUNDING = 1 - 1e-9


def least(pace: Pace) -> float:
    """Microseconds that the model tells at least of a standing tiling (`menu.standing`) and of each way to walk
    its tiles (`walks`): neither clusters nor the order of tiles make fewer rounds or lose less, and what goes on
    together takes no less summed up round by round than as a whole; but whole clusters may leave nothing to stream."""
    row, slab, ends = pace.product.processor, pace.slab, pace.ends
    each, filling = max(slab.tensor, slab.shared), _filling(pace)
    ended = filled = waited = lost = 0.0
    slabs, direct = 0, not pace.tiling.drain
    most = pace.rounds.each[0].beside
    for one in pace.rounds.each:
        losing = one.slabs * pace.lost(one.beside)
        multiplied = one.slabs * one.beside * each + losing
        waited += one.count * (one.slabs * pace.latency(one.beside, one.beside * max(each, filling)) + losing)
        filled += one.count * (one.slabs * one.beside * filling + losing)
        left = one.beside * ends.leaving + (multiplied if direct and pace.takes_turns(one.beside) else 0.0)
        ended += one.count * max(multiplied, left, multiplied / one.beside + ends.end)
        lost += one.count * losing
        slabs += one.count * one.active * one.slabs
    taken = sum(one.count * one.active for one in pace.rounds.each) * ends.taken
    brought = max(filled, slabs * slab.l2 * _share_in_cluster(pace) + taken + lost)
    together = max(ended, brought) if pace.tiling.turns else met(ended, brought, MEETING_IN_ROUNDS)
    inside = max(together, waited)
    tail = pace.tail - (ends.once if pace.tiling.stream else 0.0)
    beginning = row.launch + row.fetch + most * filling
    return ROUNDING * (beginning + met(pace.powered(inside + tail), pace.product.least_memory))


def _filling(pace: Pace) -> float:
    """What it takes a multiprocessor to be filled without zeros."""
    tiling, sizes = pace.tiling, pace.product.sizes
    down, across = min(tiling.i, sizes.m), min(tiling.j, sizes.n)
    beyond = tiling.i - down + tiling.j - across
    return pace.slab.filling * (down + across) / (down + across + ROWS_OF_ZEROS * beyond)


def _share_in_cluster(pace: Pace) -> float:
    """The least share of its slabs that a block brings itself in a cluster of the menu."""
    if not pace.by_groups:
        return 1.0
    product, down, across = (
        pace.product,
        min(pace.tiling.i, pace.product.sizes.m),
        min(pace.tiling.j, pace.product.sizes.n),
    )
    row, (of_a, of_b) = product.processor, product.lines
    read = [down * of_a.shared(columns, row) + across * of_b.shared(rows, row) for rows, columns in (ALONE, *CLUSTERS)]
    return min(read) / read[0]
