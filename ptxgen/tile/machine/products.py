"""Products of warpgroups: issued by four warps together, done when their group is waited for.

They read shared memory and their sums when they are done and not before; until then nobody may touch either.
"""

from __future__ import annotations

import numpy as np

from isa.mechanisms import GroupKind
from ptxgen.tile.buffers import Space
from ptxgen.tile.leaves import Factor, Multiply
from ptxgen.tile.machine.arithmetic import accumulated
from ptxgen.tile.machine.fragments import matrix
from ptxgen.tile.machine.geometry import StrayError, matrix_extent, matrix_index, shared_matrix_index
from ptxgen.tile.machine.numbers import Numbers
from ptxgen.tile.machine.schedule import Blocked
from ptxgen.tile.machine.state import GroupProduct, Step, Warp

GROUP_WARPS = 4


def issue(step: Step, node: Multiply) -> None:
    """A warp's part in a product of its warpgroup. Faults: `tile.fence` where it has touched the sums, or an operand in
    registers, since its last register fence, `tile.shape` where the four warps issue different products."""
    warp, sums = step.warp, node.c.region.buffer.name
    if sums in warp.unfenced:
        raise step.fault("tile.fence", f"adds to {sums}, touched since the last register fence")
    for name in lent(node):
        if name in warp.unfenced:
            raise step.fault("tile.fence", f"reads {name}, touched since the last register fence")
        warp.lent[name] = warp.lent.get(name, 0) + 1
    issued = warp.block.products.setdefault((warp.role.name, warp.number // GROUP_WARPS), [])
    if warp.issued == len(issued):
        issued.append(GroupProduct(node, dict(step.variables)))
    product = issued[warp.issued]
    if product.node is not node or product.variables != step.variables:
        raise step.fault("tile.shape", f"is issued where other warps of its warpgroup issue {product.node.op}")
    product.members.append(step)
    warp.issued += 1
    warp.busy[sums] = warp.busy.get(sums, 0) + 1
    warp.open_products.append(product)


def lent(node: Multiply) -> tuple[str, ...]:
    """The registers that a product reads while it is under way."""
    return tuple(f.region.buffer.name for f in (node.a, node.b) if f.region.buffer.space is Space.REGISTERS)


def commit(warp: Warp) -> None:
    """Closes the group of what the warp has issued since it last did."""
    warp.product_groups.append(warp.open_products)
    warp.open_products = []


def retire(warp: Warp, pending: int) -> Blocked:
    """The wait until all but the last `pending` groups are done: when all four warps have issued their products."""
    count = max(0, len(warp.product_groups) - pending)
    products = [product for group in warp.product_groups[:count] for product in group]

    def ready() -> bool:
        return all(product.done or len(product.members) == GROUP_WARPS for product in products)

    def resume() -> None:
        del warp.product_groups[:count]
        for product in products:
            finish(product)
            for member, clock in product.clocks.items():
                warp.seen[member] = max(int(warp.seen[member]), clock)
            warp.busy[product.node.c.region.buffer.name] -= 1
            for name in lent(product.node):
                warp.lent[name] -= 1

    return Blocked(f"{GroupKind.WGMMA.value} groups of its warpgroup", ready, resume)


def finish(product: GroupProduct) -> None:
    """The product is done for all warps of its warpgroup, in the order of issue; each of them reads now."""
    if product.done:
        return
    product.done = True
    for step in product.members:
        warp = step.warp
        multiply(step, product.node)
        product.clocks[warp.place] = int(warp.seen[warp.place])
        warp.seen[warp.place] += 1


def multiply(step: Step, node: Multiply) -> None:
    """Adds the warp's rows of the product."""
    sums = node.c.region.buffer
    places = (node.c.row_dimension, node.c.column_dimension)
    try:
        rows, columns = matrix_extent(sums.distribution, step.warp.number, *places)
        origin = tuple(step.value(corner) for corner in node.c.region.origin)
        index = matrix_index(sums.distribution, sums.shape, step.warp.number, places, origin, rows, columns)
    except StrayError as stray:
        raise step.fault(stray.code, str(stray)) from None
    depths = tuple(range(node.row.k * node.repeats[2]))
    left, right = operand(step, node.a, rows, depths), operand(step, node.b, depths, columns)
    storage = step.warp.registers[sums.name]
    start = step.value(node.c.region.rank) % sums.depth * (len(storage.values) // sums.depth)
    held = storage.values[index + start]
    storage.values[index + start] = accumulated(np.zeros_like(held) if node.fresh else held, left, right, node.row)
    if node.fresh and storage.ranks is not None:
        storage.ranks[index + start] = step.value(node.c.region.rank)


def operand(step: Step, factor: Factor, rows: tuple[int, ...], columns: tuple[int, ...]) -> Numbers:
    """Rows and columns of an operand in shared memory or registers, which must be of the tile asked for and not be
    written."""
    region = factor.region
    buffer = region.buffer
    if buffer.space is Space.REGISTERS and factor is not step_a(step):
        raise step.fault("tile.shape", f"a warpgroup reads only its operand A from registers, not {buffer.name}")
    if buffer.space is Space.GLOBAL:
        raise step.fault("tile.shape", f"a warpgroup multiplies from shared memory or registers, not {buffer.name}")
    if buffer.space is Space.REGISTERS:
        return in_registers(step, factor, rows, columns)
    storage = step.warp.block.shared[buffer.name]
    assert storage.clocks is not None
    assert storage.ranks is not None
    origin = tuple(step.value(corner) for corner in region.origin)
    places = (factor.row_dimension, factor.column_dimension)
    rank = step.value(region.rank)
    index = shared_matrix_index(buffer.layout, places, origin, rows, columns)
    index = index + rank % buffer.depth * (len(storage.values) // buffer.depth)
    conflict = storage.clocks.read(step.stamp, step.warp.seen, index.ravel())
    if conflict is not None:
        raise step.race(region, "reads", f"number {conflict.point}", conflict)
    if storage.unfenced is not None and storage.unfenced[index].any():
        raise step.fault("tile.proxy", f"reads {buffer.name}, written since without a proxy fence of the writer")
    if (storage.ranks[index] != rank).any():
        raise step.fault("tile.stale", f"reads {buffer.name} where tile {rank} is not, or no longer")
    return np.asarray(storage.values[index])


def step_a(step: Step) -> Factor | None:
    """Operand A of the product that is performed."""
    return step.node.a if isinstance(step.node, Multiply) else None


def in_registers(step: Step, factor: Factor, rows: tuple[int, ...], columns: tuple[int, ...]) -> Numbers:
    """Rows and columns of an operand that the warp holds."""
    held, places = factor.region.buffer, (factor.row_dimension, factor.column_dimension)
    origin = tuple(step.value(corner) for corner in factor.region.origin)
    try:
        index = matrix_index(held.distribution, held.shape, step.warp.number, places, origin, rows, columns)
    except StrayError as stray:
        raise step.fault(stray.code, str(stray)) from None
    return matrix(step, factor, index)
