"""Copies, fills, products and code written by hand as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from isa.mechanisms import Group
from ptxgen.tile.buffers import Region, Space
from ptxgen.tile.leaves import Carrier, Copy, Factor, HandWritten, Multiply
from ptxgen.tile.printing.regions import INDENT, box_text, dims_text, region_text
from ptxgen.tile.usual import EFFECTS, usual_outside, usual_rows


def hand_lines(node: HandWritten) -> Iterator[str]:
    """Hand-written code, what it touches and how, and who holds what."""
    reads, writes = (", ".join(map(region_text, found)) or "nothing" for found in (node.reads, node.writes))
    own = node.mechanism
    completes = f"in groups of {own.completes.kind.value}" if isinstance(own.completes, Group) else "at issue"
    how = f"by each {own.issued_by.value}, complete {completes}"
    moved = box_text(node.distribution.shape)
    yield f"{node.op}: by hand {node.code.name}, {moved}, reads {reads}; writes {writes}; {how}"
    yield f"{INDENT}as {node.distribution}"


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
