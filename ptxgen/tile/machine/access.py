"""Reads and writes of boxes, each element checked: bounds, holder, tile number and order."""

from __future__ import annotations

import numpy as np

from ptxgen.tile.buffers import Region, Space
from ptxgen.tile.distribution import Distribution
from ptxgen.tile.leaves import Carrier, Copy
from ptxgen.tile.machine.geometry import (
    LANES,
    Index,
    Mask,
    StrayError,
    located,
    projected,
    register_index,
    shared_index,
    shared_vectors_fit,
    spelled,
)
from ptxgen.tile.machine.numbers import NUMPY_TYPES, Numbers
from ptxgen.tile.machine.overlays import clobber
from ptxgen.tile.machine.state import IN_FLIGHT, NEVER_WRITTEN, Flight, Step, Storage, View


def read(step: Step, view: View, wanted: Mask) -> Numbers:
    """The elements at all points, zero where not `wanted`. Faults: `tile.bounds`, `tile.race`, `tile.uninitialised`,
    `tile.stale`, and those of the vector and the holder."""
    check_idle(step, view)
    storage, index = find(step, view, wanted)
    if view.region.buffer.space is Space.REGISTERS:
        step.warp.unfenced.add(view.region.buffer.name)
    chosen = index[wanted]
    if storage.clocks is not None:
        conflict = storage.clocks.read(step.stamp, step.warp.seen, chosen)
        if conflict is not None:
            raise step.race(view.region, "reads", element(step, view, wanted, conflict.point), conflict)
    check_ranks(step, view, storage, chosen, wanted)
    values = np.zeros(len(index), NUMPY_TYPES[view.region.buffer.element])
    values[wanted] = storage.values[chosen]
    return values


def write(step: Step, view: View, values: Numbers, wanted: Mask) -> None:
    """Stores `values` at the wanted points. Of warps that are replicas of each other the first one stores, and the
    others must agree with it. Faults: `tile.bounds`, `tile.race`, `tile.replica`, and those of vector and holder."""
    check_idle(step, view)
    check_returned(step, view)
    storage, index = find(step, view, wanted)
    if view.region.buffer.space is Space.REGISTERS:
        step.warp.unfenced.add(view.region.buffer.name)
    elif not is_storing_replica(step, view, values[wanted]):
        return
    chosen = index[wanted]
    if storage.clocks is not None:
        conflict = storage.clocks.write(step.stamp, step.warp.seen, chosen)
        if conflict is not None:
            raise step.race(view.region, "writes", element(step, view, wanted, conflict.point), conflict)
    storage.values[chosen] = values[wanted]
    if storage.unfenced is not None:
        storage.unfenced[chosen] = step.warp.place + 1
        clobber(step, storage, chosen)
    if storage.ranks is not None:
        storage.ranks[chosen] = step.value(view.region.rank)


def begin_write(step: Step, view: View, values: Numbers) -> Flight | None:
    """Starts to store `values` at all points; until `end_write` nobody may use them. None for a warp that is a replica
    of one that stores. Faults as in `write`, and `tile.stale` where an earlier copy is still on its way there."""
    wanted = every_point(view)
    storage, index = find(step, view, wanted)
    if not is_storing_replica(step, view, values):
        return None
    return begin(step, view.region, storage, index, values)


def begin(step: Step, region: Region, storage: Storage, index: Index, values: Numbers) -> Flight:
    """Starts to store `values` at the elements `index` of a shared ring; until `end_write` nobody may use them."""
    assert storage.ranks is not None
    assert storage.clocks is not None
    conflict = storage.clocks.write(step.stamp, step.warp.seen, index)
    if conflict is not None:
        raise step.race(region, "writes", f"number {conflict.point}", conflict)
    if (storage.ranks[index] == IN_FLIGHT).any():
        raise step.fault("tile.stale", f"writes a slot of {region.buffer.name} that another copy is still filling")
    clobber(step, storage, index)
    storage.ranks[index] = IN_FLIGHT
    return Flight(step, region, storage, index, values, step.value(region.rank))


def end_write(flight: Flight) -> None:
    """The values arrive, and the warp knows it. Fault `tile.race` where something touched the elements meanwhile."""
    storage, step = flight.storage, flight.step
    assert storage.ranks is not None
    assert storage.clocks is not None
    conflict = storage.clocks.write(step.stamp, step.warp.seen, flight.index)
    if conflict is not None:
        raise step.race(flight.region, "writes", str(conflict.point), conflict)
    storage.values[flight.index] = flight.values
    storage.ranks[flight.index] = flight.rank
    if storage.unfenced is not None:
        generic = isinstance(step.node, Copy) and step.node.carrier is Carrier.LANE_COPY
        storage.unfenced[flight.index] = step.warp.place + 1 if generic else 0


def check_idle(step: Step, view: View) -> None:
    """A fault where a product under way adds to the registers."""
    name = view.region.buffer.name
    if view.region.buffer.space is Space.REGISTERS and step.warp.busy.get(name):
        raise step.fault("tile.stale", f"uses {name}, and a product that adds to it is not complete")


def check_returned(step: Step, view: View) -> None:
    """A fault where a product under way reads the registers that are written."""
    name = view.region.buffer.name
    if view.region.buffer.space is Space.REGISTERS and step.warp.lent.get(name):
        raise step.fault("tile.stale", f"writes {name}, and a product that reads it is not complete")


def is_storing_replica(step: Step, view: View, values: Numbers) -> bool:
    """Whether this warp is the one of its replicas that stores; a fault where they differ in what they store."""
    copies = sum(1 << bit for bit in view.distribution.replicated_warp_bits())
    number = step.warp.number
    if copies:
        key = (id(step.node), number & ~copies, tuple(step.variables.items()))
        first = step.warp.block.replicas.setdefault(key, values.tobytes())
        if first != values.tobytes():
            name = view.region.buffer.name
            raise step.fault("tile.replica", f"stores other values to {name} than a warp that is its replica")
    return not number & copies


def find(step: Step, view: View, wanted: Mask) -> tuple[Storage, Index]:
    """The storage of a view and the place of each point in it; points not wanted may lie anywhere."""
    buffer = view.region.buffer
    if buffer.space is Space.GLOBAL:
        return find_global(step, view, wanted)
    origin = tuple(step.value(corner) for corner in view.region.origin)
    slot = step.value(view.region.rank) % buffer.depth
    number, moved = step.warp.number, view.distribution
    try:
        if buffer.space is Space.REGISTERS:
            index = register_index(buffer.distribution, buffer.shape, moved, number, view.dims, origin)
            storage = step.warp.registers[buffer.name]
        else:
            index = shared_index(buffer.layout, moved, number, view.dims, origin)
            own = step.warp.block
            holder = own if view.block is None else own.cluster.reach(step.warp, view.block)
            storage = holder.shared[buffer.name]
            check_shared_vectors(step, view, origin)
    except StrayError as stray:
        raise step.fault(stray.code, f"{buffer.name}: {stray}") from None
    return storage, index + slot * (len(storage.values) // buffer.depth)


def find_global(step: Step, view: View, wanted: Mask) -> tuple[Storage, Index]:
    """The array of a view and the place of each point in its memory; a wanted point outside is a fault."""
    buffer = view.region.buffer
    storage = step.warp.block.launch.memory.get(buffer.array)
    if storage is None:
        raise step.fault("tile.bounds", f"uses array {buffer.array}, which the launch did not give")
    coordinates = global_coordinates(step, view)
    index = coordinates @ strides(step, view)
    stray = wanted & (outside(step, view, coordinates).any(axis=1) | (index < 0) | (index >= len(storage.values)))
    if stray.any():
        where = spelled(coordinates[stray.argmax()])
        raise step.fault("tile.bounds", f"element {where} is outside {buffer.name} {extents(step, view).tolist()}")
    check_global_vectors(step, view)
    return storage, index


def global_coordinates(step: Step, view: View) -> Index:
    """The coordinates of all points in the array of a global view."""
    origin = [step.value(corner) for corner in view.region.origin]
    relative = located(view.distribution, step.warp.number, view.dims, (0,) * len(view.dims))
    return relative + np.array(origin, np.int64)


def strides(step: Step, view: View) -> Index:
    """The strides in elements of a global view's array."""
    return np.array([step.value(stride) for stride in view.region.buffer.in_memory.strides], np.int64)


def extents(step: Step, view: View) -> Index:
    """The extents of a global view's array."""
    return np.array([step.value(extent) for extent in view.region.buffer.in_memory.reach], np.int64)


def outside(step: Step, view: View, coordinates: Index) -> Mask:
    """Along which dimensions each coordinate is outside the array."""
    return np.asarray((coordinates < 0) | (coordinates >= extents(step, view)))


def check_ranks(step: Step, view: View, storage: Storage, chosen: Index, wanted: Mask) -> None:
    """A fault where an element was never written, or belongs to another tile of the ring."""
    if storage.ranks is None:
        return
    rank = step.value(view.region.rank)
    other = storage.ranks[chosen] != rank
    if not other.any():
        return
    point = int(other.argmax())
    found, where = int(storage.ranks[chosen[point]]), element(step, view, wanted, point)
    name = view.region.buffer.name
    if found == NEVER_WRITTEN:
        raise step.fault("tile.uninitialised", f"reads element {where} of {name}, which was never written")
    if found == IN_FLIGHT:
        raise step.fault("tile.stale", f"reads element {where} of {name}, and the copy that fills it is not complete")
    raise step.fault("tile.stale", f"reads element {where} of tile {rank} of {name}, but tile {found} is in its slot")


def element(step: Step, view: View, wanted: Mask, point: int) -> str:
    """The coordinate, in array or tile, of the wanted point number `point`."""
    place = int(np.flatnonzero(wanted)[point])
    if view.region.buffer.space is Space.GLOBAL:
        return spelled(global_coordinates(step, view)[place])
    origin = tuple(step.value(corner) for corner in view.region.origin)
    return spelled(located(view.distribution, step.warp.number, view.dims, origin)[place])


def check_shared_vectors(step: Step, view: View, origin: tuple[int, ...]) -> None:
    """A fault where an access of several elements is not one aligned block of the shared tile."""
    if view.vector == 1:
        return
    moved, dims = accessed(view)
    check_vector_size(step, view, moved.value_count)
    layout = view.region.buffer.layout
    if not shared_vectors_fit(layout, moved, step.warp.number, dims, origin, view.vector):
        name = view.region.buffer.name
        raise step.fault("tile.vector", f"{view.vector} elements of one access are not adjacent in {name}")


def check_global_vectors(step: Step, view: View) -> None:
    """A fault where an access of several elements is not contiguous, not aligned, or lies partly outside the array."""
    if view.vector == 1:
        return
    moved, dims = accessed(view)
    check_vector_size(step, view, moved.value_count)
    access = View(view.region, dims, moved, view.vector)
    coordinates = global_coordinates(step, access)
    inside = ~outside(step, access, coordinates).any(axis=1).reshape(-1, view.vector)
    offsets = (coordinates @ strides(step, access)).reshape(-1, view.vector)
    touched = inside.any(axis=1)
    name = view.region.buffer.name
    if (touched & ~inside.all(axis=1)).any():
        raise step.fault("tile.vector", f"{view.vector} elements of one access lie only partly inside {name}")
    scattered = (offsets != offsets[:, :1] + np.arange(view.vector)).any(axis=1) | (offsets[:, 0] % view.vector != 0)
    if (touched & scattered).any():
        raise step.fault("tile.vector", f"{view.vector} elements of one access are not aligned neighbours in {name}")


def accessed(view: View) -> tuple[Distribution, tuple[int | None, ...]]:
    """The distribution of the accesses: without the value bits that the region does not move with, and its dims."""
    kept = tuple(dim for dim in view.dims if dim is not None)
    renumbered = {dim: place for place, dim in enumerate(kept)}
    return projected(view.distribution, kept), tuple(None if dim is None else renumbered[dim] for dim in view.dims)


def check_vector_size(step: Step, view: View, values: int) -> None:
    """A fault where a lane has fewer values than one access moves."""
    if view.vector > values:
        raise step.fault("tile.vector", f"one access moves {view.vector} elements, but a lane has {values}")


def every_point(view: View) -> Mask:
    """The mask that wants all points."""
    return np.ones(LANES * view.distribution.value_count, np.bool_)
