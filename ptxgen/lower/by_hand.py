"""Hand-written code inside a derived kernel: what it is given of the tiles that it declares."""

from __future__ import annotations

from typing import TypeVar

from attrs import field, frozen

from polyhedral import Affine
from ptxgen.build import Kernel, Value
from ptxgen.compute import Element
from ptxgen.errors import UnsupportedError
from ptxgen.lower.bases import coordinate, pointer, pool_start
from ptxgen.lower.boxes import slot_address
from ptxgen.lower.context import Context
from ptxgen.lower.registers import constant_origin, constant_slot, held_values, identity, value_coordinates
from ptxgen.lower.rings import slot_of
from ptxgen.lower.threads import ThreadMap, along
from ptxgen.tile import Coordinate, Distribution, HandWritten, Region, SharedLayout, Space


@frozen(eq=False)
class RegisterTile:
    """The registers of a tile in order of the value index, of 16 bits two values in each and of 8 bits four, the first
    one lowest. `values[v]` is the value index that holds element v of the op's distribution."""

    element: Element
    registers: tuple[Value, ...]
    values: tuple[int, ...]


@frozen(eq=False)
class SharedTile:
    """A tile in shared memory: the address of its first byte, u32, and where a coordinate lies in it."""

    element: Element
    start: Value
    layout: SharedLayout
    _context: Context = field(repr=False)
    _distribution: Distribution = field(repr=False)
    _origin: Coordinate = field(repr=False)
    _node: HandWritten = field(repr=False)

    def at(self, value: int) -> Value:
        """The address of element `value` of this thread, as the op's distribution gives it to the thread; u32."""
        width, context = self.element.byte_count, self._context
        with context.attributed(self._node.line):
            images = (*self._distribution.lanes, *self._distribution.warps)
            threads = ThreadMap(tuple(self.layout.offset(image) * width for image in images))
            corner = tuple(
                a ^ b for a, b in zip(value_coordinates(self._distribution)[value], self._origin, strict=True)
            )
            own, added = threads.flipped(self.layout.offset(corner) * width)
            moved = context.narrow.add(self.start, context.thread_value(own))
            return context.narrow.value(context.narrow.add(moved, added))


@frozen(eq=False)
class GlobalTile:
    """A box of an array in global memory."""

    element: Element
    pointer: Value
    _context: Context = field(repr=False)
    _distribution: Distribution = field(repr=False)
    _region: Region = field(repr=False)
    _node: HandWritten = field(repr=False)

    def coordinates(self, value: int) -> tuple[Value, ...]:
        """Where element `value` of this thread is in the array, s32 each."""
        context = self._context
        with context.attributed(self._node.line):
            return tuple(context.narrow.value(number) for number in self._numbers(value))

    def _numbers(self, value: int) -> list[Value | int]:
        found: list[Value | int] = []
        for dimension, own in enumerate(value_coordinates(self._distribution)[value]):
            threads, added = along(self._distribution, dimension).flipped(own)
            origin: Affine = self._context.resolved(self._region.origin[dimension])
            found.append(self._context.narrow.add(coordinate(self._context, origin, threads), added))
        return found

    def at(self, value: int) -> Value:
        """The address of element `value` of this thread, s64; it may lie outside the array."""
        context, placed = self._context, self._region.buffer.in_memory
        with context.attributed(self._node.line):
            total: Value | int = self.pointer
            for number, stride in zip(self._numbers(value), placed.strides, strict=True):
                wide = number if isinstance(number, int) else context.widened(number)
                step = context.wide_integer(stride * self.element.byte_count)
                total = context.wide.add(total, context.wide.multiply(wide, step))
            return context.wide.value(total)

    def inside(self, value: int) -> Value:
        """Whether element `value` of this thread is in the array, a predicate."""
        context, placed, k = self._context, self._region.buffer.in_memory, self._context.k
        where = self.coordinates(value)
        with context.attributed(self._node.line):
            found: Value | None = None
            for number, extent in zip(where, placed.reach, strict=True):
                limit = context.integer(context.resolved(extent))
                own = k.setp.lt.s32(number, limit)
                found = own if found is None else k.and_.pred(found, own)
            assert found is not None
            return found


Tile = RegisterTile | SharedTile | GlobalTile
AnyTile = TypeVar("AnyTile", RegisterTile, SharedTile, GlobalTile)


@frozen(eq=False)
class Hand:
    """What hand-written code is given: the kernel's builder, the thread's number in its role, how many elements it has
    of the op's box and which (`coordinate`), and the tiles that it declares by the names of their buffers."""

    k: Kernel
    thread: Value
    distribution: Distribution
    tiles: dict[str, Tile]
    op: str

    @property
    def count(self) -> int:
        """How many elements each thread has."""
        return self.distribution.value_count

    def coordinate(self, value: int) -> Coordinate:
        """The part of an element's coordinate in the box that its value index decides."""
        return value_coordinates(self.distribution)[value]

    def registers(self, name: str) -> RegisterTile:
        """A declared tile in registers."""
        return self._in(name, RegisterTile, "registers")

    def shared(self, name: str) -> SharedTile:
        """A declared tile in shared memory."""
        return self._in(name, SharedTile, "shared memory")

    def memory(self, name: str) -> GlobalTile:
        """A declared box of an array in global memory."""
        return self._in(name, GlobalTile, "global memory")

    def _in(self, name: str, kind: type[AnyTile], where: str) -> AnyTile:
        found = self[name]
        if not isinstance(found, kind):
            raise UnsupportedError(
                f"{self.op}: {name} is a {type(found).__name__}, and the code asks for it in {where}"
            )
        return found

    def __getitem__(self, name: str) -> Tile:
        if name not in self.tiles:
            raise UnsupportedError(f"{self.op}: the code declares {', '.join(self.tiles)}, and asks for {name}")
        return self.tiles[name]


def write_by_hand(context: Context, node: HandWritten) -> None:
    """Has the code write its instructions; they keep the lines on which it does so."""
    with context.attributed(node.line):
        tiles = {region.buffer.name: _tile(context, node, region) for region in (*node.reads, *node.writes)}
        hand = Hand(context.k, context.thread_number(), node.distribution, tiles, node.op)
    with context.k.attributed(None):
        node.code.write(hand)


def _tile(context: Context, node: HandWritten, region: Region) -> Tile:
    buffer = region.buffer
    match buffer.space:
        case Space.REGISTERS:
            registers = context.tiles.slot(buffer, constant_slot(region, context.bindings))
            values = held_values(region, node.distribution, identity(node.distribution.rank))
            return RegisterTile(buffer.element, registers, values)
        case Space.SHARED:
            slot = slot_of(context, buffer.depth, context.resolved(region.rank))
            pool_start(context)
            start = slot_address(context, buffer, slot)
            origin = constant_origin(region)
            return SharedTile(buffer.element, start, buffer.layout, context, node.distribution, origin, node)
        case Space.GLOBAL:
            start = pointer(context, buffer.array)
            return GlobalTile(buffer.element, start, context, node.distribution, region, node)
