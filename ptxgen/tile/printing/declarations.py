"""Parameters, facts, the grid, buffers, rings and tensor maps as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Items
from typing import assert_never

from ptxgen.tile.buffers import Buffer, GlobalPlacement
from ptxgen.tile.distribution import Distribution, SharedLayout
from ptxgen.tile.grid import Grid
from ptxgen.tile.printing.regions import INDENT, box_text, listed
from ptxgen.tile.program import Parameter, Ring, TensorBox, Workspace


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
    if grid.tickets:
        yield f"numbered as they begin, by tickets of {grid.tickets}"


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


def workspace_line(found: Workspace) -> str:
    """What a workspace holds."""
    each = "launch" if found.single else "tile"
    return f"{found.name}: {found.elements} of {found.element} a {each}" + (
        ", zero before and after" if found.zeroed else ""
    )


def ring_line(ring: Ring) -> str:
    """What completes the phases of a ring."""
    counts = " or ".join(map(str, ring.counts_by_rank)) or str(ring.empty_count)
    return f"{ring.name} x {ring.depth}: full by 1 arrival and {ring.byte_count} bytes, empty by {counts}"
