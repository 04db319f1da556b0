"""Clusters of CTAs: their barrier, and accesses to each other's shared memory while it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ptxgen.simulate.batch import Batch
    from ptxgen.simulate.group import Group

Array: TypeAlias = NDArray[Any]


@define(eq=False)
class ClusterBarriers:
    """The barrier of each cluster of a batch: `arrivals` [warps, 32] counts each thread's, `waited` those that it has
    waited for, `complete` [clusters] the phases; `gathered` and `released` [clusters, row] are what arrivals have
    released in this phase and the last.
    """

    arrivals: Array
    waited: Array
    complete: Array
    gathered: Array
    released: Array


@frozen(eq=False)
class ClusterWait:
    """The phase of a cluster's barrier that a thread has arrived at."""

    barriers: ClusterBarriers
    cluster: int
    phase: int
    deniable: bool = False

    def over(self) -> bool:
        return bool(self.barriers.complete[self.cluster] > self.phase)

    def told(self) -> str:
        return "waits for all threads of its cluster to arrive at barrier.cluster"


@define(eq=False)
class Neighbours:
    """How CTAs of a batch reach into each other: `touched` [ctas, width] holds, for each CTA, the last epoch of each
    participant of its cluster that accessed its shared memory from another CTA, `sites` the instruction; `left` [ctas,
    width] is what the warps of the CTA that have ended knew. `gone` are the CTAs that have ended, `met` those that have
    passed a barrier of their cluster.
    """

    touched: Array
    sites: Array
    left: Array
    gone: set[int] = field(factory=set)
    met: set[int] = field(factory=set)


def barriers_of(batch: Batch) -> ClusterBarriers:
    """The cluster barriers of a batch, made when first asked for."""
    engines, clocks = batch.engines, batch.clocks
    if engines.cluster_barriers is None:
        clusters = batch.ctas // batch.cluster
        engines.cluster_barriers = ClusterBarriers(
            np.zeros((batch.warps, 32), np.int64), np.zeros((batch.warps, 32), np.int64), np.zeros(clusters, np.int64),
            np.zeros((clusters, clocks.row), np.int64), np.zeros((clusters, clocks.row), np.int64),
        )  # fmt: skip
    return engines.cluster_barriers


def settle_clusters(batch: Batch) -> None:
    """Complete the phases at which every thread of a cluster that has not ended has arrived."""
    barriers = batch.engines.cluster_barriers
    if barriers is None:
        return
    pending = np.where(batch.present, barriers.arrivals, np.iinfo(np.int64).max)
    least = pending.reshape(len(barriers.complete), -1).min(axis=1)
    ready = (least > barriers.complete) & (least < np.iinfo(np.int64).max)
    if ready.any():
        barriers.complete[ready] += 1
        barriers.released[ready] = barriers.gathered[ready]
        barriers.gathered[ready] = 0
        batch.engines.version += 1


def neighbours_of(batch: Batch) -> Neighbours:
    """What CTAs of the batch do to each other, made when first asked for."""
    engines = batch.engines
    if engines.neighbours is None:
        shape = (batch.ctas, batch.clocks.width)
        engines.neighbours = Neighbours(np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    return engines.neighbours


def reach(batch: Batch, site: int, group: Group, rank: Array, far: Array) -> None:
    """Note that lanes `far` [warps, 32] of a group access shared memory of the CTA of that rank of their cluster."""
    rows, lanes = np.nonzero(far)
    warps = group.warps[rows]
    ctas = warps // batch.warps_per_cta // batch.cluster * batch.cluster + rank[rows, lanes]
    pairs, first = np.unique(np.stack([warps, ctas]), axis=1, return_index=True)
    for (warp, cta), at in zip(pairs.T.tolist(), first.tolist(), strict=True):
        thread = batch.thread(group, int(rows[at]), int(lanes[at]))
        column, epoch = int(batch.clocks.column[warp]), int(batch.clocks.own[warp])
        reached(batch, site, thread, cta, (column, epoch), batch.clocks.known[warp])


def reached(batch: Batch, site: int, thread: int, cta: int, access: tuple[int, int], known: Array) -> None:
    """Note an access to shared memory of another CTA, by the participant and epoch of `access`, which is ordered behind
    `known`; report it where that CTA may not have begun, or has ended.
    """
    neighbours = neighbours_of(batch)
    start = cta % batch.cluster * batch.warps_per_cta
    where = batch.journal.place((batch.first + cta) * batch.warps_per_cta * 32)[0]
    own = (thread // 32 - batch.first_thread // 32) // batch.warps_per_cta
    if not known[start : start + batch.warps_per_cta].any() and own not in neighbours.met:
        what = f"accesses shared memory of CTA {where} of its cluster, which may not have begun: nothing orders the two"
        batch.journal.fault("cluster.early", site, lambda: what, thread=thread)
    if cta in neighbours.gone:
        _report_gone(batch, site, thread, cta)
    column, epoch = access
    neighbours.touched[cta, column] = max(int(neighbours.touched[cta, column]), epoch)
    neighbours.sites[cta, column] = site


def _report_gone(batch: Batch, site: int, thread: int | None, cta: int) -> None:
    where = batch.journal.place((batch.first + cta) * batch.warps_per_cta * 32)[0]
    what = f"accesses shared memory of CTA {where} of its cluster, which may have ended: nothing orders the two"
    batch.journal.fault("cluster.left", site, lambda: what, thread=thread)


def leave(batch: Batch, warps: Array) -> None:
    """These warps have ended; of a CTA whose last they were, report accesses from others that nothing orders before."""
    if batch.cluster == 1:
        return
    neighbours, clocks = neighbours_of(batch), batch.clocks
    for cta in np.unique(warps // batch.warps_per_cta).tolist():
        own = warps[warps // batch.warps_per_cta == cta]
        neighbours.left[cta] = np.maximum(neighbours.left[cta], clocks.known[own].max(axis=0))
        span = slice(cta * batch.warps_per_cta, (cta + 1) * batch.warps_per_cta)
        if batch.present[span].any():
            continue
        neighbours.gone.add(cta)
        for column in np.flatnonzero(neighbours.touched[cta] > neighbours.left[cta]).tolist():
            _report_gone(batch, int(neighbours.sites[cta, column]), None, cta)
