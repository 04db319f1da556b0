"""What each leaf of a tile program does, for one warp."""

from __future__ import annotations

from typing import assert_never

import numpy as np

from isa.mechanisms import AtIssue, GroupKind
from ptxgen.compute import BinaryOp, Element, Operand, ReductionOp
from ptxgen.tile.buffers import Region, Space
from ptxgen.tile.leaves import Carrier, Copy, Fill, HandWritten, Iteration, Map, Multiply, Outside, Reduce
from ptxgen.tile.machine import stores
from ptxgen.tile.machine.access import (
    begin,
    begin_write,
    check_shared_vectors,
    end_write,
    every_point,
    global_coordinates,
    outside,
    read,
    write,
)
from ptxgen.tile.machine.arithmetic import accumulated, binary, evaluate_expression
from ptxgen.tile.machine.folding import fold
from ptxgen.tile.machine.fragments import matrix, register_tile
from ptxgen.tile.machine.geometry import (
    Index,
    Mask,
    StrayError,
    gives,
    matrix_extent,
    matrix_index,
    offsets,
    points,
    projected,
    value_images,
)
from ptxgen.tile.machine.numbers import NUMPY_TYPES, Floats, Numbers, narrowed, poison, widened
from ptxgen.tile.machine.products import issue
from ptxgen.tile.machine.segments import reach_of
from ptxgen.tile.machine.state import Step, View, Warp
from ptxgen.tile.synchronisation import Side


def perform(step: Step) -> None:
    """Performs one leaf for one warp."""
    match step.node:
        case Copy() as node:
            copy(step, node)
        case Fill() as node:
            fill(step, node)
        case Multiply() as node:
            multiply(step, node)
        case Map() as node:
            map_points(step, node)
        case Reduce() as node:
            reduce_points(step, node)
        case HandWritten() as node:
            by_hand(step, node)
        case _:
            assert_never(step.node)


def by_hand(step: Step, node: HandWritten) -> None:
    """Does what the model of hand-written code does to the elements that the code declares: inside the arrays alone."""
    if node.code.model is None or not isinstance(node.mechanism.completes, AtIssue):
        text = (
            f"{node.code.name} is written by hand; nobody has told what it does on numpy, or it runs in the background"
        )
        raise step.fault("tile.model", text)
    views = [[View(r, whole(r), node.distribution, 1) for r in regions] for regions in (node.reads, node.writes)]
    inside = [inside_array(step, view, whole(view.region)) for view in (*views[0], *views[1])]
    wanted = np.logical_and.reduce(inside)
    found = node.code.model(*(read(step, view, wanted) for view in views[0]))
    written = found if isinstance(found, tuple) else (found,)
    shapes = [np.shape(values) for values in written]
    if shapes != [wanted.shape] * len(views[1]):
        names = ", ".join(view.region.buffer.name for view in views[1])
        text = (
            f"the model of {node.code.name} gives arrays of {shapes}; wanted one of {wanted.shape} for each of {names}"
        )
        raise step.fault("tile.model", text)
    for view, values in zip(views[1], written, strict=True):
        own = wanted if view.region.buffer.space is Space.GLOBAL else every_point(view)
        write(step, view, np.asarray(values, NUMPY_TYPES[view.region.buffer.element]), own)


def whole(region: Region) -> tuple[int, ...]:
    """Every dimension of a region, in order."""
    return tuple(range(len(region.origin)))


def copy(step: Step, node: Copy) -> None:
    """Moves a box between registers and memory, elements unchanged."""
    source, destination = node.source, node.destination
    if node.carrier is Carrier.LANE_COPY:
        lane_copy(step, node)
        return
    if node.carrier is Carrier.TENSOR:
        (stores.issue if source.buffer.space is Space.SHARED else tensor_copy)(step, node)
        return
    if (source.buffer.space is Space.REGISTERS) == (destination.buffer.space is Space.REGISTERS):
        raise step.fault("tile.shape", "a copy moves between registers and memory, and this one does not")
    if source.buffer.element is not destination.buffer.element:
        raise step.fault("tile.shape", f"copies {source.buffer.element} to {destination.buffer.element} unchanged")
    if source.buffer.space is Space.REGISTERS:
        store(step, node)
    else:
        load(step, node)


def store(step: Step, node: Copy) -> None:
    """Registers to memory; elements outside the array are never touched."""
    held = View(node.source, whole(node.source), node.distribution, 1)
    vector = node.vector if node.carrier is Carrier.ACCESS else matrix_elements(step, node, node.destination)
    memory = View(node.destination, whole(node.destination), node.distribution, vector)
    wanted = inside_array(step, memory, node.guarded)
    if node.outside is not Outside.NEVER and not wanted.all():
        raise step.fault("tile.bounds", f"stores outside {node.destination.buffer.name} where NEVER is not said")
    write(step, memory, read(step, held, wanted), wanted)


def load(step: Step, node: Copy) -> None:
    """Memory to registers; elements outside the array are as `outside` says, ANY being a value that shows."""
    vector = node.vector if node.carrier is Carrier.ACCESS else matrix_elements(step, node, node.source)
    memory = View(node.source, whole(node.source), node.distribution, vector, holder(step, node))
    held = View(node.destination, whole(node.destination), node.distribution, 1)
    wanted = inside_array(step, memory, node.guarded)
    values = read(step, memory, wanted)
    if node.outside is Outside.ANY:
        values[~wanted] = poison(node.source.buffer.element)
    write(step, held, values, wanted if node.outside is Outside.NEVER else every_point(held))


def holder(step: Step, node: Copy) -> int | None:
    """The rank of the block whose tile is read, None for the own one."""
    if not node.masks:
        return None
    found = targets(node.masks, step.warp.block.rank)
    if len(found) != 1 or node.source.buffer.space is not Space.SHARED:
        raise step.fault("tile.shape", f"reads the shared tile of one block, not of {len(found)}")
    return found[0]


def matrix_elements(step: Step, node: Copy, memory: Region) -> int:
    """One element a lane and access, after the checks that `ldmatrix` and `stmatrix` need: rows lie together, and each
    lane gets or gives what the copy says."""
    if node.rows is None or memory.buffer.space is not Space.SHARED:
        raise step.fault("tile.shape", "a copy by matrices moves rows of shared memory, and this one does not")
    check_shared_vectors(
        step,
        View(memory, whole(memory), node.rows.reach, node.vector),
        tuple(step.value(corner) for corner in memory.origin),
    )
    if not gives(node.rows, node.distribution, node.vector):
        raise step.fault("tile.holder", "matrices have other elements for each lane than the registers are to hold")
    return 1


def lane_copy(step: Step, node: Copy) -> None:
    """Global to shared memory in the background: the elements are nobody's until the group is complete."""
    source, destination = node.source, node.destination
    if (source.buffer.space, destination.buffer.space) != (Space.GLOBAL, Space.SHARED):
        raise step.fault("tile.shape", "a lane's copy moves from global to shared memory, and this one does not")
    if source.buffer.element is not destination.buffer.element:
        raise step.fault("tile.shape", f"copies {source.buffer.element} to {destination.buffer.element} unchanged")
    memory = View(source, whole(source), node.distribution, node.vector)
    shared = View(destination, whole(destination), node.distribution, node.vector)
    wanted = inside_array(step, memory, node.guarded)
    if node.outside is not Outside.ZERO and not wanted.all():
        raise step.fault("tile.bounds", f"a lane's copy fills {destination.buffer.name} with zeros, ZERO is not said")
    flight = begin_write(step, shared, read(step, memory, wanted))
    if flight is not None:
        step.warp.open_group.setdefault(GroupKind.CP_ASYNC, []).append(flight)


def tensor_copy(step: Step, node: Copy) -> None:
    """A box from global to shared memory by one thread; its bytes arrive at the full barrier of the ring, and zeros
    where it leaves the array. With masks it goes to the tiles and barriers of several blocks of the cluster."""
    source, destination, block = node.source, node.destination, step.warp.block
    if node.ring not in block.rings:
        raise step.fault("tile.barrier", f"{node.ring!r} is no ring of the program")
    memory = step.warp.block.launch.memory.get(source.buffer.array)
    if memory is None:
        raise step.fault("tile.bounds", f"uses array {source.buffer.array}, which the launch did not give")
    box = value_images(node.distribution)
    at = box + np.array([step.value(corner) for corner in source.origin], np.int64)
    placed = source.buffer.in_memory
    extents = np.array([step.value(extent) for extent in reach_of(step, node.op, placed)], np.int64)
    inside = ((at >= 0) & (at < extents)).all(axis=1)
    index = at @ np.array([step.value(stride) for stride in placed.strides], np.int64)
    values = np.zeros(len(box), memory.values.dtype)
    values[inside] = memory.values[index[inside]]
    rank, buffer = step.value(destination.rank), destination.buffer
    inside_tile = box + np.array([step.value(corner) for corner in destination.origin], np.int64)
    for target in targets(node.masks, block.rank):
        other = block.cluster.reach(step.warp, target)
        storage = other.shared[buffer.name]
        slot = rank % buffer.depth * (len(storage.values) // buffer.depth)
        flight = begin(step, destination, storage, offsets(buffer.layout, inside_tile) + slot, values)
        other.rings[node.ring].barrier(Side.FULL, rank).flights.append(flight)


def targets(masks: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """The ranks of the blocks that the block of that rank reaches: those in its mask, itself where there are none."""
    return tuple(each for each in range(len(masks)) if masks[rank] >> each & 1) if masks else (rank,)


def commit(warp: Warp, kind: GroupKind) -> None:
    """Closes the group of what the warp has issued since it last did."""
    warp.groups.setdefault(kind, []).append(warp.open_group.pop(kind, []))


def retire(warp: Warp, kind: GroupKind, pending: int) -> None:
    """Completes all but the last `pending` groups, and not one more: what nobody waits for arrives late."""
    groups = warp.groups.setdefault(kind, [])
    done = max(0, len(groups) - pending)
    complete, warp.groups[kind] = groups[:done], groups[done:]
    for flight in (flight for group in complete for flight in group):
        end_write(flight)


def inside_array(step: Step, view: View, guarded: tuple[int, ...]) -> Mask:
    """Which points are inside the array along the guarded dimensions; all of them in a shared tile."""
    wanted = every_point(view)
    if guarded and view.region.buffer.space is Space.GLOBAL:
        wanted &= ~outside(step, view, global_coordinates(step, view))[:, list(guarded)].any(axis=1)
    return wanted


def fill(step: Step, node: Fill) -> None:
    """Sets every value of a register tile."""
    region = node.destination
    view = View(region, whole(region), region.buffer.distribution, 1)
    everything = every_point(view)
    values = np.full(len(everything), node.value, np.float64)
    write(step, view, narrowed(values, region.buffer.element), everything)


def multiply(step: Step, node: Multiply) -> None:
    """Adds the product of fragments."""
    if node.row.warpgroup:
        issue(step, node)
        return
    try:
        c, a, b = operands(step, node)
    except StrayError as stray:
        raise step.fault(stray.code, str(stray)) from None
    left, right = (matrix(step, factor, index) for factor, index in ((node.a, a), (node.b, b)))
    storage, shift = register_tile(step, node.c.region)
    sums = np.zeros(c.shape, storage.values.dtype) if node.fresh else matrix(step, node.c, c)
    storage.values[c + shift] = accumulated(sums, left, right, node.row)
    if node.fresh and storage.ranks is not None:
        storage.ranks[c + shift] = step.value(node.c.region.rank)


def operands(step: Step, node: Multiply) -> tuple[Index, Index, Index]:
    """Where the warp's elements of c, a and b lie in their register tiles."""
    warp = step.warp.number
    places = [(factor.row_dimension, factor.column_dimension) for factor in (node.c, node.a, node.b)]
    rows, columns = matrix_extent(node.c.region.buffer.distribution, warp, *places[0])
    depths = tuple(range(node.row.k * node.repeats[2]))
    spans = ((rows, columns), (rows, depths), (depths, columns))
    c, a, b = (
        matrix_index(
            factor.region.buffer.distribution,
            factor.region.buffer.shape,
            warp,
            place,
            tuple(step.value(corner) for corner in factor.region.origin),
            *span,
        )
        for factor, place, span in zip((node.c, node.a, node.b), places, spans, strict=True)
    )
    return c, a, b


def inside_extent(step: Step, iteration: Iteration) -> Mask:
    """Which points of an iteration are below its extents; a fault where an unguarded dim leaves them."""
    coordinates = points(iteration.distribution, step.warp.number)
    inside = np.ones(len(coordinates), np.bool_)
    for place, (origin, extent) in enumerate(zip(iteration.origin, iteration.extents, strict=True)):
        within = coordinates[:, place] + step.value(origin) < step.value(extent)
        if place in iteration.guarded:
            inside &= within
        elif not within.all():
            raise step.fault("tile.bounds", f"dim {iteration.dims[place]} leaves its extent and is not guarded")
    return inside


def expression_values(step: Step, node: Map | Reduce, inside: Mask) -> Floats:
    """The node's expression at every point of its iteration."""

    kind = arithmetic_of(node)

    def operand(index: int) -> Floats:
        given = node.operands[index]
        view = View(given.region, given.dims, node.iteration.distribution, given.vector)
        return widened(read(step, view, inside), given.region.buffer.element).astype(kind)

    value = evaluate_expression(node.expression, operand, step.warp.block.launch.scalars, kind)
    return np.broadcast_to(value, inside.shape)


def arithmetic_of(node: Map | Reduce) -> type[np.floating]:
    """The type in which a node calculates: f64 where it reads or fills one, else f32."""
    elements = [node.target.buffer.element, *(operand.region.buffer.element for operand in node.operands)]
    return np.float64 if Element.F64 in elements else np.float32


def copied_integers(step: Step, node: Map, inside: Mask) -> Numbers:
    """The elements of the one s32 operand that a map to s32 passes on."""
    match node.expression:
        case Operand(index) if node.operands[index].region.buffer.element is Element.S32:
            given = node.operands[index]
            return read(step, View(given.region, given.dims, node.iteration.distribution, given.vector), inside)
        case _:
            raise step.fault("tile.shape", f"maps to {node.target.buffer.name}, which is s32: only an s32 may go there")


def map_points(step: Step, node: Map) -> None:
    """Assigns the expression; points outside get zero, or where any value may stand one that shows where it is used."""
    element = node.target.buffer.element
    inside = inside_extent(step, node.iteration)
    view = View(node.target, node.target_dims, node.iteration.distribution, 1)
    with np.errstate(over="ignore"):
        if element is Element.S32:
            values = copied_integers(step, node, inside)
        else:
            values = narrowed(expression_values(step, node, inside), element)
        beyond = narrowed(np.zeros(()), element) if node.outside is Outside.ZERO else poison(element)
        write(step, view, np.where(inside, values, beyond), every_point(view))


JOINS = {ReductionOp.ADD: BinaryOp.ADD, ReductionOp.MAXIMUM: BinaryOp.MAXIMUM}


def reduce_points(step: Step, node: Reduce) -> None:
    """Joins the expression over the dims that the target lacks, then with the target."""
    inside = inside_extent(step, node.iteration)
    values = expression_values(step, node, inside)
    guarded = np.where(inside, values, values.dtype.type(node.join.identity))
    moved, kept = node.iteration.distribution, node.target_dims
    join = JOINS[node.join]
    try:
        total = fold(guarded, moved, kept, join)
        distribution = projected(moved, kept)
    except StrayError as stray:
        raise step.fault(stray.code, str(stray)) from None
    view = View(node.target, tuple(range(len(kept))), distribution, 1)
    everything = every_point(view)
    with np.errstate(all="ignore"):
        element = node.target.buffer.element
        joined = binary(join, widened(read(step, view, everything), element), total)
        write(step, view, narrowed(joined, element), everything)
