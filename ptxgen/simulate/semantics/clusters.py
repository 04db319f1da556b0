"""Clusters: their barrier, addresses in each other's shared memory; and fences, of memory and of proxies."""

from __future__ import annotations

import numpy as np

from ptxgen.simulate.asynchronous.clusters import ClusterWait, barriers_of, neighbours_of, settle_clusters
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.flags import crosses, reach_of
from ptxgen.simulate.group import Group
from ptxgen.simulate.memory import RANK_MASK, RANK_SHIFT, SHARED_WINDOW
from ptxgen.simulate.races import ProxySpace
from ptxgen.simulate.semantics.control import parted
from ptxgen.simulate.signals import Outcome, Signal, Step
from ptxgen.simulate.site import Array, Compute, Registers, Site


def barrier_cluster(site: Site) -> Step:
    """Arrive at the barrier of the cluster, or wait for the phase that the thread has arrived at."""
    if site.instruction.guard is not None:
        raise site.unsupported("a barrier under a guard")
    return _arrive(site) if site.has("arrive") else _wait(site)


def _arrive(site: Site) -> Step:
    relaxed = site.has("relaxed")

    def step(group: Group, batch: Batch) -> Outcome:
        if (apart := _together(site, group, batch)) is not None:
            return apart
        barriers = barriers_of(batch)
        clusters = group.warps // batch.clocks.warps_per_cluster
        lanes = group.lanes()
        twice = lanes & (barriers.arrivals[group.warps] > barriers.waited[group.warps])
        if twice.any():
            _report(site, group, batch, twice, "arrives a second time without having waited")
        barriers.arrivals[group.warps] += lanes & ~twice
        here = lanes.any(axis=1)
        rows = batch.clocks.release(group.warps[here], relaxed=relaxed)
        np.maximum.at(barriers.gathered, clusters[here], rows)
        settle_clusters(batch)
        return None

    return step


def _together(site: Site, group: Group, batch: Batch) -> Outcome:
    """None once all lanes of the warps that have not ended are here, which an aligned barrier wants; those that cannot
    come are reported.
    """
    lanes = group.lanes()
    apart = batch.present[group.warps] & ~lanes & lanes.any(axis=1, keepdims=True)
    if not site.has("aligned") or not apart.any():
        return None
    if not group.forced:
        return Signal.REPEAT
    group.forced = False
    some = lanes & apart.any(axis=1, keepdims=True)
    _report(site, group, batch, some, "is reached by a part of a warp", "barrier.divergent")
    return None


def _report(site: Site, group: Group, batch: Batch, lanes: Array, what: str, code: str = "cluster.barrier") -> None:
    row, lane = map(int, np.argwhere(lanes)[0])
    batch.journal.fault(code, site.index, lambda: what, thread=batch.thread(group, row, lane), count=int(lanes.sum()))


def _wait(site: Site) -> Step:
    def step(group: Group, batch: Batch) -> Outcome:
        if (apart := _together(site, group, batch)) is not None:
            return apart
        barriers = barriers_of(batch)
        clusters = group.warps // batch.clocks.warps_per_cluster
        lanes = group.lanes()
        arrivals, complete = barriers.arrivals[group.warps], barriers.complete[clusters][:, None]
        done = arrivals <= complete
        waiting = lanes & ~done
        if waiting.any():
            if (lanes & done).any():
                return parted(group, ((lanes & done, site.index), (waiting, site.index)), counted=False)
            rows = np.unique(np.nonzero(waiting)[0])
            group.waits = tuple(
                ClusterWait(barriers, each, int(barriers.complete[each])) for each in np.unique(clusters[rows]).tolist()
            )
            return Signal.PARK
        early = lanes & (arrivals == barriers.waited[group.warps])
        if early.any():
            _report(site, group, batch, early, "waits without having arrived")
        barriers.waited[group.warps] = np.where(lanes, arrivals, barriers.waited[group.warps])
        here = lanes.any(axis=1)
        batch.clocks.acquire(group.warps[here], barriers.released[clusters[here]])
        neighbours_of(batch).met.update((group.warps[here] // batch.warps_per_cta).tolist())
        return None

    return step


def mapa(site: Site) -> Compute:
    """The address that a variable of this CTA has in the CTA of a rank."""
    dtype = np.dtype(np.uint64 if site.has("u64") else np.uint32)
    address = site.read(1, dtype)
    rank = site.read(2, np.int64)
    generic = not site.has("shared::cluster")

    def compute(r: Registers) -> Array:
        base = address(r).astype(np.int64)
        window = SHARED_WINDOW if generic else 0
        mapped: Array = (((base - window) & RANK_MASK) | (rank(r) << RANK_SHIFT)) + window
        return mapped.astype(dtype)

    return compute


def getctarank(site: Site) -> Compute:
    """The rank of the CTA that an address of shared memory lies in."""
    dtype = np.dtype(np.uint64 if site.has("u64") else np.uint32)
    address = site.read(1, dtype)
    window = 0 if site.has("shared::cluster") else SHARED_WINDOW
    return lambda r: ((address(r).astype(np.int64) - window) >> RANK_SHIFT).astype(np.uint32)


def fence(site: Site) -> Step:
    """Fences: of memory, of the initialisation of mbarriers, and between proxies."""
    guard = site.guard()
    proxy, initialisation = site.has("proxy"), site.has("mbarrier_init")
    words = site.instruction.form.words
    reach, spaces = reach_of(words), _proxy_spaces(words.get("space", ""))

    def step(group: Group, batch: Batch) -> None:
        active = group.active(guard(group.registers) if guard is not None else None)
        warps = group.warps if active is None else group.warps[active.any(axis=1)]
        if not len(warps):
            return
        if not initialisation and not proxy:
            wide = crosses(reach, batch.cluster)
            batch.clocks.fence(warps, wide=wide)
            if wide and batch.lateness is not None:
                batch.lateness.show(warps)
        elif batch.engines.columns.count and initialisation:
            batch.clocks.fence_initialisations(warps)
        elif batch.engines.columns.count:
            batch.clocks.fence_proxies(warps, spaces)

    return step


def _proxy_spaces(space: str) -> tuple[ProxySpace, ...]:
    """The spaces that a proxy fence is for; all where none is named."""
    if not space:
        return tuple(ProxySpace)
    return (ProxySpace.GLOBAL,) if space == "global" else (ProxySpace.SHARED,)
