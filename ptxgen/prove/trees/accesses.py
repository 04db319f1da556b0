"""What a leaf of a tile program touches, and how: facts of its instruction, read off the node."""

from __future__ import annotations

from typing import assert_never

from attrs import frozen

from isa.mechanisms import (
    BULK_LOAD,
    BULK_STORE,
    LANE_COPY,
    LOAD,
    REGISTERS,
    STORE,
    WARP_LOAD,
    WARP_REGISTERS,
    WARP_STORE,
    WARPGROUP_MULTIPLY,
    Mechanism,
)
from ptxgen.order.requirement import EventKind
from ptxgen.tile import Carrier, Copy, Fill, HandWritten, Leaf, Map, Multiply, Reduce, Region, Space

READ_DONE, DONE = EventKind.READ_DONE, EventKind.DONE


@frozen(eq=False)
class Access:
    """A leaf's use of one region: whether it reads and writes it."""

    region: Region
    reads: bool
    writes: bool


def accesses(leaf: Leaf) -> tuple[Access, ...]:
    """Every region that a leaf touches."""
    match leaf:
        case Copy():
            return Access(leaf.source, True, False), Access(leaf.destination, False, True)
        case Fill():
            return (Access(leaf.destination, False, True),)
        case Multiply():
            sums = Access(leaf.c.region, not leaf.fresh, True)
            return Access(leaf.a.region, True, False), Access(leaf.b.region, True, False), sums
        case Map():
            read = tuple(Access(operand.region, True, False) for operand in leaf.operands)
            return (*read, Access(leaf.target, False, True))
        case Reduce():
            read = tuple(Access(operand.region, True, False) for operand in leaf.operands)
            return (*read, Access(leaf.target, True, True))
        case HandWritten():
            read = tuple(Access(region, True, False) for region in leaf.reads)
            return (*read, *(Access(region, False, True) for region in leaf.writes))
        case _:
            assert_never(leaf)


def mechanism_of(leaf: Leaf) -> Mechanism:
    """How the accesses of a leaf happen."""
    match leaf:
        case Copy():
            return _of_copy(leaf)
        case Multiply(row=row):
            return WARPGROUP_MULTIPLY if row.warpgroup else WARP_REGISTERS
        case Map() | Reduce():
            memory = any(operand.region.buffer.space is not Space.REGISTERS for operand in leaf.operands)
            return LOAD if memory else REGISTERS
        case Fill():
            return REGISTERS
        case HandWritten():
            return leaf.mechanism
        case _:
            assert_never(leaf)


def _of_copy(copy: Copy) -> Mechanism:
    to_registers = copy.destination.buffer.space is Space.REGISTERS
    match copy.carrier:
        case Carrier.ACCESS:
            return LOAD if to_registers else STORE
        case Carrier.MATRIX:
            return WARP_LOAD if to_registers else WARP_STORE
        case Carrier.LANE_COPY:
            return LANE_COPY
        case Carrier.TENSOR:
            return BULK_STORE if copy.destination.buffer.space is Space.GLOBAL else BULK_LOAD
        case _:
            assert_never(copy.carrier)
