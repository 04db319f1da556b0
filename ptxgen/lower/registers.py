"""Tiles in registers: which register of a lane holds which value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from operator import xor

from attrs import frozen

from isa.types import Type, b32, f32, f64, s32
from polyhedral import Affine
from ptxgen.build import Kernel, Value
from ptxgen.compute import Element
from ptxgen.errors import UnsupportedError
from ptxgen.tile import Buffer, Coordinate, Distribution, Region, zero

REGISTER_BITS = 32
_TYPES: dict[Element, Type] = {Element.F32: f32, Element.F64: f64, Element.S32: s32}


def register_type(element: Element) -> Type:
    """The type of the registers that hold elements: untyped where several share one, and for tf32."""
    return _TYPES.get(element, b32)


def values_per_register(element: Element) -> int:
    """Elements of one register; consecutive values of 16 or 8 bits share one of 32 bits, the first in the low end."""
    return max(1, REGISTER_BITS // element.bits)


class RegisterFile:
    """The registers of every register buffer, made when a slot is first asked for."""

    def __init__(self, kernel: Kernel) -> None:
        self._k = kernel
        self._slots: dict[tuple[str, int, int], tuple[Value, ...]] = {}

    def slot(self, buffer: Buffer, slot: int) -> tuple[Value, ...]:
        """The registers of one slot of a buffer, in order of the value index."""
        count = -(-buffer.distribution.value_count // values_per_register(buffer.element))
        key = (buffer.name, slot, count)
        if key not in self._slots:
            self._slots[key] = tuple(self._k.register(register_type(buffer.element)) for _ in range(count))
        return self._slots[key]


def constant_slot(region: Region, bindings: Mapping[str, Affine]) -> int:
    """The slot of a register region. UnsupportedError unless the rank modulo the depth is known now: registers cannot
    be chosen while the kernel runs, so a loop over which it changes must be unrolled by the depth."""
    rank, depth = region.rank.substitute(bindings), region.buffer.depth
    if any(coefficient % depth for _, coefficient in rank.terms):
        raise UnsupportedError(
            f"{region.buffer.name}: tile number {region.rank} modulo its depth {depth} is not known before the kernel "
            "runs, as a buffer in registers needs; unroll the loop by the depth"
        )
    return rank.constant % depth


def constant_origin(region: Region) -> Coordinate:
    """The origin of a box inside a shared or register tile; UnsupportedError unless it is constant."""
    if not all(origin.is_constant for origin in region.origin):
        raise UnsupportedError(
            f"{region.buffer.name}: the box starts at ({', '.join(map(str, region.origin))}) inside its tile; "
            "only constant starts are lowered"
        )
    return tuple(origin.constant for origin in region.origin)


def fixed_origin(region: Region) -> Coordinate:
    """The part of an origin inside a shared tile that is constant; what ranks in a cluster add comes on top."""
    return tuple(origin.constant for origin in region.origin)


@frozen
class Projection:
    """How a tile of fewer or other dimensions is indexed: its dimension d by dimension `dims[d]` of the iteration.

    A dimension without one (None) stays at the region's origin."""

    dims: tuple[int | None, ...]

    def of(self, coordinate: Coordinate) -> Coordinate:
        """The coordinate in the tile of a coordinate of the iteration."""
        return tuple([0 if place is None else coordinate[place] for place in self.dims])


def identity(rank: int) -> Projection:
    """Every dimension indexed by itself."""
    return Projection(tuple(range(rank)))


@cache
def value_coordinates(distribution: Distribution) -> tuple[Coordinate, ...]:
    """The part of the coordinate that each value index decides, in order."""
    found: list[Coordinate] = [zero(distribution.rank)]
    for image in distribution.values:
        found += [tuple(map(xor, each, image)) for each in found]
    return tuple(found[: distribution.value_count])


def held_values(region: Region, distribution: Distribution, projection: Projection) -> tuple[int, ...]:
    """For each value of `distribution`, the value index in the register buffer that holds the same element.

    UnsupportedError where another lane or warp holds it: lowering moves nothing between lanes by itself.
    """
    held, origin = region.buffer.distribution, constant_origin(region)
    moved = tuple(map(projection.of, distribution.lanes)), tuple(map(projection.of, distribution.warps))
    if (held.lanes, held.warps) != moved:
        raise UnsupportedError(
            f"{region.buffer.name}: its elements are held by other lanes than those that use them "
            f"({held} against lanes {moved[0]}, warps {moved[1]}); pass them through shared memory"
        )
    places: dict[Coordinate, int] = {}
    for value, coordinate in enumerate(value_coordinates(held)):
        places.setdefault(coordinate, value)
    found = []
    for coordinate in value_coordinates(distribution):
        wanted = tuple(map(xor, projection.of(coordinate), origin))
        if wanted not in places:
            raise UnsupportedError(f"{region.buffer.name}: no value of its lanes is at {wanted} ({held})")
        found.append(places[wanted])
    return tuple(found)
