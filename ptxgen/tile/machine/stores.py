"""Boxes that the first thread of a role has copied from shared to global memory, in the background.

They read when somebody waits for it and not before, so that a slot filled again meanwhile is seen; they write when
somebody waits for that.
"""

from __future__ import annotations

import numpy as np

from ptxgen.tile.buffers import Space
from ptxgen.tile.leaves import Copy
from ptxgen.tile.machine.geometry import offsets, value_images
from ptxgen.tile.machine.segments import reach_of
from ptxgen.tile.machine.state import BulkStore, Step, Warp


def issue(step: Step, node: Copy) -> None:
    """Starts a store; only the role's first warp does. Faults: `tile.proxy` where what it reads was written and not
    fenced, `tile.race`, `tile.stale`, `tile.uninitialised` where it is not there yet."""
    if step.warp.number:
        return
    source, destination = node.source, node.destination
    if (source.buffer.space, destination.buffer.space) != (Space.SHARED, Space.GLOBAL):
        raise step.fault("tile.shape", "a store by tensor copies moves from shared to global memory, this one does not")
    storage = step.warp.block.shared[source.buffer.name]
    memory = step.warp.block.launch.memory.get(destination.buffer.array)
    if memory is None:
        raise step.fault("tile.bounds", f"uses array {destination.buffer.array}, which the launch did not give")
    box = value_images(node.distribution)
    start = np.array([step.value(corner) for corner in source.origin], np.int64)
    slot = step.value(source.rank) % source.buffer.depth * (len(storage.values) // source.buffer.depth)
    index = offsets(source.buffer.layout, box + start) + slot
    at = box + np.array([step.value(corner) for corner in destination.origin], np.int64)
    placed = destination.buffer.in_memory
    inside = ((at >= 0) & (at < np.array([step.value(e) for e in reach_of(step, node.op, placed)], np.int64))).all(
        axis=1
    )
    target = at @ np.array([step.value(stride) for stride in placed.strides], np.int64)
    store = BulkStore(step, source, storage, index, memory, target[inside], np.asarray(inside))
    check(store)
    if storage.unfenced is not None and storage.unfenced[index].any():
        raise step.fault("tile.proxy", f"reads {source.buffer.name}, written since without a proxy fence of the writer")
    step.warp.open_stores.append(store)


def check(store: BulkStore) -> None:
    """A fault where the source is not the tile wanted, or was written by somebody whom nothing orders before now."""
    step, storage = store.step, store.storage
    assert storage.ranks is not None
    assert storage.clocks is not None
    if (storage.ranks[store.index] != step.value(store.region.rank)).any():
        raise step.fault("tile.stale", f"reads {store.region.buffer.name} where its tile is not, or no longer")
    conflict = storage.clocks.read(step.stamp, step.warp.seen, store.index)
    if conflict is not None:
        raise step.race(store.region, "reads", f"number {conflict.point}", conflict)


def commit(warp: Warp) -> None:
    """Closes the group of what the role's first thread has issued since it last did."""
    if not warp.number:
        warp.store_groups.append(warp.open_stores)
        warp.open_stores = []


def retire(warp: Warp, pending: int, *, reads_only: bool) -> None:
    """All but the last `pending` groups have read their sources, and unless `reads_only` written as well."""
    done = max(0, len(warp.store_groups) - pending)
    for store in (store for group in warp.store_groups[:done] for store in group):
        read(store)
        if not reads_only:
            write(store)
    if not reads_only:
        del warp.store_groups[:done]


def read(store: BulkStore) -> None:
    """Reads the source now, once."""
    if store.values is None:
        check(store)
        store.values = store.storage.values[store.index]


def write(store: BulkStore) -> None:
    """Writes what was read, where it is inside the array."""
    step, memory = store.step, store.memory
    assert store.values is not None
    if memory.clocks is not None:
        conflict = memory.clocks.write(step.stamp, step.warp.seen, store.target)
        if conflict is not None:
            raise step.race(store.region, "writes", f"number {conflict.point}", conflict)
    memory.values[store.target] = store.values[store.inside]


def fence(warp: Warp) -> None:
    """What the warp has written to shared memory is seen by what runs in the background behind the fence."""
    for storage in warp.block.shared.values():
        if storage.unfenced is not None:
            storage.unfenced[storage.unfenced == warp.place + 1] = 0
