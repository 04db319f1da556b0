"""A tile program as text: declarations first, then one tree per role."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Items
from typing import assert_never

from attrs import evolve

from isa.mechanisms import Group
from polyhedral import Affine, var
from ptxgen.compute import Constant, Expression, Load, Operand, Scalar, decimal, rebuild
from ptxgen.compute import show as show_expression
from ptxgen.tile.buffers import Buffer, GlobalPlacement, Region, Space
from ptxgen.tile.distribution import Distribution, MatrixRows, SharedLayout, matrix_rows
from ptxgen.tile.grid import Grid
from ptxgen.tile.leaves import (
    Carrier,
    Copy,
    Factor,
    Fill,
    HandWritten,
    Iteration,
    Map,
    MapOperand,
    Multiply,
    Outside,
    Reduce,
)
from ptxgen.tile.nodes import Counter, ForEachItem, Let, Loop, Node, Sequence, When
from ptxgen.tile.program import Parameter, Program, Ring, Role, TensorBox, Workspace
from ptxgen.tile.quotient import Quotient
from ptxgen.tile.synchronisation import (
    OWN_TILE,
    Acquire,
    Advance,
    Arrive,
    ClusterArrive,
    ClusterWait,
    Commit,
    Covered,
    Expect,
    GridRelease,
    GridWait,
    Meet,
    ProxyFence,
    RegisterFence,
    Release,
    Retire,
    Wait,
)
from ptxgen.tile.trees import products

INDENT = "  "
EFFECTS = {Outside.NEVER: "nothing", Outside.ZERO: "zero", Outside.ANY: "any value"}


def show(item: Program | Node) -> str:
    """A program, or one node with all below it, as text: everything that decides its meaning, the same bytes for equal
    programs, so that `read` gives an equal one. Lines of the user's source are left out, and the name of an op that is
    named by the buffer it fills.

    `X{n}` is tile number n of buffer X, `X[...]` the corner of a box in it or, in a map, one element; there the name of
    a dim counts from the corner of the iteration.
    """
    return "\n".join(program_lines(item) if isinstance(item, Program) else node_lines(item))


def program_lines(program: Program) -> Iterator[str]:
    """The lines of a whole program."""
    overlapped = ", launches overlapped" if program.overlapped else ""
    size = f"{program.warps} warps, {program.shared_bytes} shared bytes{overlapped}"
    yield f"program {program.name} for {program.target}: {size}"
    yield from section("parameters", table(map(parameter_cells, program.parameters)))
    yield from section("requires", map(str, program.facts))
    yield from section("grid", grid_lines(program.grid))
    yield from section("buffers", buffer_lines(program.buffers))
    yield from section("rings", map(ring_line, program.rings))
    yield from section("tensor maps", map(tensor_line, program.boxes))
    yield from section("workspaces", map(workspace_line, program.workspaces))
    yield from section("all threads", (line for node in program.enter for line in node_lines(node)))
    for role in program.roles:
        yield from role_lines(role)


def section(heading: str, lines: Iterable[str]) -> Iterator[str]:
    """`heading` and the indented lines; nothing at all where there are none."""
    held = list(lines)
    if held:
        yield heading
        yield from (INDENT + line for line in held)


def table(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Rows of cells with equally long columns."""
    held = list(rows)
    widths = [max(map(len, column)) for column in zip(*held, strict=True)]
    for row in held:
        yield INDENT.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def parameter_cells(parameter: Parameter) -> tuple[str, ...]:
    """Name, kind and what is known of a parameter."""
    notes = [str(parameter.element)] if parameter.element else []
    if parameter.alignment > 1:
        notes.append(f"aligned {parameter.alignment} bytes")
    if parameter.written:
        notes.append("written")
    return parameter.name, parameter.kind.value, ", ".join(notes)


def grid_lines(grid: Grid) -> Iterator[str]:
    """One line for each tile index, then the order of the blocks."""
    for dim in grid.dims:
        yield f"{dim.variable} = 0 .. {dim.count} - 1" + (f", clusters of {dim.cluster}" if dim.cluster > 1 else "")
    if grid.segments is not None:
        told = grid.segments
        yield f"group {told.group} from {told.first} to {told.end} of {told.rows}, by {told.ends}"
    if grid.parts > 1:
        yield f"all tiles of a part before those of the next one, {grid.parts} parts"
    group = grid.raster.group
    if grid.raster.curve:
        yield f"squares of {group} by {group} tiles along a curve, every second band of them backwards"
    else:
        yield "last dim fastest" if group == 1 else f"bands of {group} tiles, walked column by column"
    if grid.work_list is not None:
        most = grid.work_list.workers
        workers = "as many blocks as run at once" if most is None else f"{most} blocks"
        what = "W number w takes" if grid.cluster == 1 else "W clusters number w takes clusters of"
        yield f"walked by {workers}: of {what} tiles w, w + W, ..."
        if grid.work_list.slabs is not None:
            yield f"streamed: tiles of {grid.work_list.slabs} slabs, those of T mod W and one whole round shared evenly"


def buffer_lines(buffers: Items[Buffer]) -> Iterator[str]:
    """A line for each buffer, below it the line of its layout or distribution."""
    for buffer, line in zip(buffers, table(map(buffer_cells, buffers)), strict=True):
        yield line
        match buffer.placement:
            case GlobalPlacement():
                pass
            case SharedLayout() as layout:
                yield INDENT + f"offsets {layout_text(layout)}"
            case Distribution() as distribution:
                yield INDENT + str(distribution)
            case _:
                assert_never(buffer.placement)


def buffer_cells(buffer: Buffer) -> tuple[str, ...]:
    """Name, space, element and extent of a buffer."""
    match buffer.placement:
        case GlobalPlacement(extents, strides, ends):
            below = f" below {listed(ends)}" if ends else ""
            extent = f"{listed(extents)} strides {listed(strides)}{below}"
        case SharedLayout():
            over = f", over {buffer.alias}" if buffer.alias else ""
            extent = f"{box_text(buffer.shape)} x {buffer.depth}, {buffer.slot_bytes * buffer.depth} bytes{over}"
        case Distribution() as distribution:
            values = distribution.value_count * buffer.depth
            extent = f"{box_text(buffer.shape)} x {buffer.depth}, {values} values a lane"
        case _:
            assert_never(buffer.placement)
    return buffer.name, f"{buffer.array} in {buffer.space.value}", str(buffer.element), extent


def layout_text(layout: SharedLayout) -> str:
    """The offsets that each bit of each coordinate contributes."""
    return "; ".join(f"d{place}: {' '.join(map(str, images)) or '-'}" for place, images in enumerate(layout.offsets))


def tensor_line(box: TensorBox) -> str:
    """What a tensor map describes."""
    order = ", ".join(f"d{place}" for place in box.order)
    promoted = f", {box.promotion} bytes at once to L2" if box.promotion else ""
    early = ", fetched early" if box.early else ""
    bounded = "" if box.bounded is None else f", to the end of the group along d{box.bounded}"
    boxes = f"{box.array} in boxes of {box_text(box.extents)} over {order}, swizzled over {box.span} bytes"
    return f"{box.name} for {box.op}: {boxes}{bounded}{promoted}{early}"


def of_tile(tile: Affine) -> str:
    """Which tile a flag is of, where it is not the block's own."""
    return "" if tile == OWN_TILE else f"{{{tile}}}"


def workspace_line(found: Workspace) -> str:
    """What a workspace holds."""
    return f"{found.name}: {found.elements} of {found.element} a tile" + (
        ", zero before and after" if found.zeroed else ""
    )


def ring_line(ring: Ring) -> str:
    """What completes the phases of a ring."""
    counts = " or ".join(map(str, ring.counts_by_rank)) or str(ring.empty_count)
    return f"{ring.name} x {ring.depth}: full by 1 arrival and {ring.byte_count} bytes, empty by {counts}"


def role_lines(role: Role) -> Iterator[str]:
    """The tree of a role."""
    words = [f"role {role.name}, {role.warps} warps"]
    words += ["one thread elected"] if role.elected else []
    words += [f"{role.registers} registers a thread"] if role.registers is not None else []
    yield ", ".join(words)
    yield from (INDENT + line for line in node_lines(role.body))


def node_lines(node: Node) -> Iterator[str]:
    """The lines of a node and of all below it."""
    match node:
        case Sequence(children):
            for child in children:
                yield from node_lines(child)
        case Loop(variable, lower, upper, step, body):
            stride = f" step {step}" if step != 1 else ""
            yield from block(f"for {variable} = {bound('max', lower)} .. {bound('min', upper)}{stride}", body)
        case Let(variable, value, body):
            yield from block(f"let {variable} = {value}", body)
        case When(conditions, then, otherwise):
            yield from block(f"when {' and '.join(map(str, conditions)) or 'always'}", then)
            if otherwise is not None:
                yield from block("otherwise", otherwise)
        case ForEachItem(variable, body, first, step):
            which = (
                "each item" if (first, step) == (0, 1) else f"items {first}, {first + step}, {first + 2 * step}, ..."
            )
            yield from block(f"for {which}, number {variable}", body)
        case Counter(variable, body):
            yield from block(f"count {variable} from 0", body)
        case Copy():
            yield from copy_lines(node)
        case Fill(op, destination, value):
            yield named(op, destination, f"fill {region_text(destination)} with {value!r}")
        case Multiply():
            yield multiply_text(node)
        case Map() | Reduce():
            yield from map_lines(node)
        case HandWritten():
            yield from hand_lines(node)
        case Meet(barrier, covers):
            yield f"meet {barrier}" + ("" if covers else ", covers nothing")
            yield from (INDENT + f"covers {line}" for line in covers_lines(covers))
        case Commit(kind):
            yield f"commit {kind.value}"
        case Retire(kind, pending, covers, reads_only):
            reads = " reads" if reads_only else ""
            yield f"retire {kind.value}{reads}, pending {pending}" + ("" if covers else ", covers nothing")
            yield from (INDENT + f"covers {line}" for line in covers_lines(covers))
        case Wait(ring, side, rank, covers):
            yield f"wait {ring}{{{rank}}} {side.value}"
            yield from (INDENT + f"covers {line}" for line in covers_lines(covers))
        case Arrive(ring, rank, by, covers, to):
            yield f"arrive {ring}{{{rank}}} empty, {by.value}{masks_text(to)}"
            yield from (INDENT + f"covers {line}" for line in covers_lines(covers))
        case Expect(ring, rank, byte_count, covers):
            yield f"expect {ring}{{{rank}}} full, {byte_count} bytes"
            yield from (INDENT + f"covers {line}" for line in covers_lines(covers))
        case Advance(variable, by):
            yield f"advance {variable} by {by}"
        case ClusterArrive(covers):
            yield "arrive at the cluster's barrier"
            yield from (INDENT + f"covers {line}" for line in covers_lines(covers))
        case ClusterWait(covers):
            yield "wait for the cluster's barrier"
            yield from (INDENT + f"covers {line}" for line in covers_lines(covers))
        case GridRelease():
            yield "let the grids behind begin"
        case GridWait():
            yield "wait for the grids ahead"
        case Acquire(flags, value, covers, tile):
            yield f"acquire {flags}{of_tile(tile)} at {value}"
            yield from (INDENT + f"covers {line}" for line in covers_lines(covers))
        case Release(flags, value, covers, tile):
            yield f"release {flags}{of_tile(tile)} as {value}"
            yield from (INDENT + f"covers {line}" for line in covers_lines(covers))
        case RegisterFence(covers):
            yield "register fence"
            yield from (INDENT + f"covers {line}" for line in covers_lines(covers))
        case ProxyFence(covers):
            yield "proxy fence"
            yield from (INDENT + f"covers {line}" for line in covers_lines(covers))
        case _:
            assert_never(node)


def hand_lines(node: HandWritten) -> Iterator[str]:
    """Hand-written code, what it touches and how, and who holds what."""
    reads, writes = (", ".join(map(region_text, found)) or "nothing" for found in (node.reads, node.writes))
    own = node.mechanism
    completes = f"in groups of {own.completes.kind.value}" if isinstance(own.completes, Group) else "at issue"
    how = f"by each {own.issued_by.value}, complete {completes}"
    moved = box_text(node.distribution.shape)
    yield f"{node.op}: by hand {node.code.name}, {moved}, reads {reads}; writes {writes}; {how}"
    yield f"{INDENT}as {node.distribution}"


def covers_lines(covers: Items[Covered]) -> Iterator[str]:
    """The requirements of a meeting, those that differ only in the instances of an unrolled op on one line."""
    for covered, sources, sinks in products(covers):
        source, sink = covered.source + instances_text(sources), covered.sink + instances_text(sinks)
        yield str(evolve(covered, source=source, sink=sink))


def instances_text(instances: Iterable[str]) -> str:
    """`[0..7]` for instances that follow each other, `[0; 2]` for others, nothing for the only one."""
    held = list(instances)
    if held == [""]:
        return ""
    numbers = [int(one) for one in held if one.isdecimal()]
    if len(numbers) == len(held) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"[{numbers[0]}..{numbers[-1]}]"
    return f"[{'; '.join(held)}]"


def block(heading: str, body: Node) -> Iterator[str]:
    """`heading:` and the indented lines of `body`."""
    yield heading + ":"
    yield from (INDENT + line for line in list(node_lines(body)) or ["nothing"])


def bound(join: str, quotients: tuple[Quotient, ...]) -> str:
    """One bound, or the largest or smallest of several."""
    return str(quotients[0]) if len(quotients) == 1 else f"{join}({', '.join(map(str, quotients))})"


def copy_lines(copy: Copy) -> Iterator[str]:
    """A copy, and who moves what where the register side's own distribution does not say it."""
    moved = f"{box_text(copy.distribution.shape)} by {copy.vector}{carrier_text(copy)}"
    if copy.guarded or copy.outside is not usual_outside(copy.source.buffer.space, copy.destination.buffer.space):
        moved += f", {EFFECTS[copy.outside]} outside {dims_text(copy.guarded) or 'none'}"
    moved += masks_text(copy.masks) + (f", {copy.eviction.value} in L2" if copy.eviction else "")
    line = f"copy {region_text(copy.destination)} <- {region_text(copy.source)}, {moved}"
    yield named(copy.op, copy.destination, line)
    held = [side.buffer.placement for side in (copy.source, copy.destination) if side.buffer.space is Space.REGISTERS]
    if copy.distribution not in held:
        yield INDENT + f"as {copy.distribution}"
    if copy.rows is not None and copy.rows not in usual_rows(copy):
        yield INDENT + f"reach {copy.rows.reach}"


def carrier_text(copy: Copy) -> str:
    """What carries a copy other than loads and stores."""
    match copy.carrier:
        case Carrier.ACCESS:
            return ""
        case Carrier.LANE_COPY:
            return " in cp.async"
        case Carrier.TENSOR:
            return " in boxes" + (f" on {copy.ring}" if copy.ring else "")
        case Carrier.MATRIX:
            assert copy.rows is not None
            return f" in {'transposed ' if copy.rows.transposed else ''}matrices of {copy.rows.matrices}"
        case _:
            assert_never(copy.carrier)


def usual_outside(source: Space, destination: Space) -> Outside:
    """What holds outside the array of a copy that is not guarded, unless it says otherwise."""
    if destination is Space.GLOBAL or source is Space.REGISTERS:
        return Outside.NEVER
    return Outside.ZERO if source is Space.GLOBAL else Outside.ANY


def usual_rows(copy: Copy) -> Iterator[MatrixRows]:
    """The rows by which matrices move what a copy distributes, along each dimension of the tile."""
    width = copy.source.buffer.element.byte_count
    for contiguous in range(copy.distribution.rank):
        for most in (4, 2, 1):
            found = matrix_rows(copy.distribution, width, contiguous, most)
            if found is not None:
                yield found


def masks_text(masks: tuple[int, ...]) -> str:
    """The blocks of a cluster that each of them reaches, by rank: `, in blocks 0: 0 1; 1: 0 1`."""
    if not masks:
        return ""
    reached = (" ".join(str(r) for r in range(len(masks)) if mask >> r & 1) or "none" for mask in masks)
    return f", in blocks {'; '.join(f'{rank}: {found}' for rank, found in enumerate(reached))}"


def named(op: str, target: Region, line: str) -> str:
    """`op: line`; the line alone where the op is named by the buffer that it fills."""
    return line if op == target.buffer.name else f"{op}: {line}"


def multiply_text(node: Multiply) -> str:
    """A multiplication with its instruction row."""
    row = node.row
    inputs = f"{row.input}" if row.input is row.b_input else f"{row.input} by {row.b_input}"
    shape = f"{row.shape}.{row.a_order.value}.{row.b_order.value} {inputs} to {row.accumulate}"
    shape = f"wgmma {shape}" if row.warpgroup else shape
    c, a, b = map(factor_text, (node.c, node.a, node.b))
    sign = "=" if node.fresh else "+="
    return named(node.op, node.c.region, f"multiply {c} {sign} {a} * {b}, {box_text(node.repeats)} of {shape}")


def factor_text(factor: Factor) -> str:
    """An operand; its rows and columns where they are not dimensions 0 and 1."""
    place = (factor.row_dimension, factor.column_dimension)
    return region_text(factor.region) + ("" if place == (0, 1) else f"(d{place[0]}, d{place[1]})")


def map_lines(node: Map | Reduce) -> Iterator[str]:
    """A map or reduction: its assignment, its iteration, and who holds what where the target does not say it."""
    iteration = node.iteration
    operands = tuple(element(operand.region, operand.dims, iteration) for operand in node.operands)

    def spell(leaf: Expression) -> Expression:
        match leaf:
            case Operand(index):
                return operands[index]
            case Constant(value):
                return Scalar(digits(value))
            case _:
                return leaf

    value = show_expression(rebuild(node.expression, spell))
    target = show_expression(element(node.target, node.target_dims, iteration))
    if isinstance(node, Reduce):
        yield named(node.op, node.target, f"reduce {target} = {node.join.label}({target}, {value})")
    else:
        yield named(node.op, node.target, f"map {target} = {value}")
    lines = iteration_lines(iteration, node.target.buffer, node.operands)
    if isinstance(node, Map) and (iteration.guarded or node.outside is not Outside.ANY):
        first = next(lines)
        yield f"{INDENT}{first}, {EFFECTS[node.outside]} outside"
    yield from (INDENT + line for line in lines)


def iteration_lines(iteration: Iteration, target: Buffer, operands: tuple[MapOperand, ...]) -> Iterator[str]:
    """Box, place, guards, access widths and distribution of an iteration."""
    line = f"over {', '.join(iteration.dims)} in {box_text(iteration.distribution.shape)}"
    line += f" from {listed(iteration.origin)} below {listed(iteration.extents)}"
    if iteration.guarded:
        line += f", guarded {', '.join(iteration.dims[place] for place in iteration.guarded)}"
    for operand in operands:
        if operand.region.buffer.space is not Space.REGISTERS or operand.vector != 1:
            line += f", {operand.region.buffer.name} by {operand.vector}"
    yield line
    if target.placement != iteration.distribution:
        yield f"as {iteration.distribution}"


def digits(value: float) -> str:
    """The fewest digits that read back as a constant, of those that tell it from every other f32 if that will do."""
    text = decimal(value)
    return text if float(text) == value else repr(value)


def element(region: Region, dims: Items[int | None], iteration: Iteration) -> Load:
    """One element of `region` at the iteration's point, as an expression that prints."""
    places = (
        corner if dim is None else corner + var(iteration.dims[dim])
        for corner, dim in zip(region.origin, dims, strict=True)
    )
    return Load(tile_text(region), tuple(places))


def region_text(region: Region) -> str:
    """The tile of a region, and its corner unless that is all zero in a tile."""
    everything = region.buffer.space is not Space.GLOBAL and not any(o.terms or o.constant for o in region.origin)
    return tile_text(region) + ("" if everything else listed(region.origin))


def tile_text(region: Region) -> str:
    """The buffer's name, with the number of the tile where it is not an array in global memory."""
    return region.buffer.name if region.buffer.space is Space.GLOBAL else f"{region.buffer.name}{{{region.rank}}}"


def listed(items: Iterable[Affine]) -> str:
    """`[a, b]`."""
    return f"[{', '.join(map(str, items))}]"


def box_text(shape: Iterable[int]) -> str:
    """`128x32`."""
    return "x".join(map(str, shape)) or "scalar"


def dims_text(places: Iterable[int]) -> str:
    """`d0, d1`."""
    return ", ".join(f"d{place}" for place in places)
