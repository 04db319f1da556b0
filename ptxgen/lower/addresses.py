"""Addresses as a thread's base, what loops add to it, and an immediate: the forms that strength reduction compares.

Two accesses whose forms are equal use one register and differ in the immediate only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from attrs import evolve, frozen

from polyhedral import Affine, const
from ptxgen.lower.threads import ThreadMap
from ptxgen.tile import Buffer, Coordinate, Region

MOST_IMMEDIATE = 1 << 22


@frozen(cache_hash=True)
class GlobalForm:
    """The address of array `array` plus the sum of `strides[d] * (origin[d] + threads[d])` plus `displacement`.

    Strides and displacement are in bytes, over parameters; the origins, over symbols, have no constant.
    """

    array: str
    strides: tuple[Affine, ...]
    origin: tuple[Affine, ...]
    threads: tuple[ThreadMap, ...]
    displacement: Affine

    def at(self, values: Mapping[str, Affine]) -> tuple[GlobalForm, int]:
        """The form where symbols have these values, and the bytes that go into the immediate."""
        return _global(self.array, self.strides, [o.substitute(values) for o in self.origin], self.threads,
                       self.displacement)  # fmt: skip

    def advance(self, symbol: str, step: int) -> Affine:
        """The bytes by which the address grows when `symbol` grows by `step`."""
        return Affine.sum(s * (o.coefficient(symbol) * step) for s, o in zip(self.strides, self.origin, strict=True))

    def names(self) -> frozenset[str]:
        """The symbols that it depends on."""
        return frozenset(name for origin in self.origin for name in origin.names)


def global_form(
    region: Region, threads: tuple[ThreadMap, ...], inside: Coordinate, bindings: Mapping[str, Affine]
) -> tuple[GlobalForm, int]:
    """The form of the element `inside` the box of `region` that a thread at `threads` accesses, and the immediate."""
    buffer = region.buffer
    strides = tuple(stride * buffer.element.byte_count for stride in buffer.in_memory.strides)
    origin, flipped = [], []
    for start, map_, coordinate in zip(region.origin, threads, inside, strict=True):
        moved, rest = map_.flipped(coordinate)
        origin.append(start.substitute(bindings) + rest)
        flipped.append(moved)
    return _global(buffer.array, strides, origin, tuple(flipped), const(0))


def _global(
    array: str, strides: tuple[Affine, ...], origin: list[Affine], threads: tuple[ThreadMap, ...], displacement: Affine
) -> tuple[GlobalForm, int]:
    total = Affine.sum([displacement, *(s * o.constant for s, o in zip(strides, origin, strict=True))])
    immediate = total.constant if abs(total.constant) < MOST_IMMEDIATE else 0
    starts = tuple(Affine(o.terms) for o in origin)
    return GlobalForm(array, strides, starts, threads, total - immediate), immediate


@frozen(cache_hash=True)
class SharedForm:
    """The first byte of a slot of a ring that starts at the pool's start, plus a thread's bytes.

    `rank`, over symbols, has no constant and its coefficients are reduced modulo the depth; the immediate holds the
    ring's own offset, and without terms in `rank` also that of the slot.
    """

    depth: int
    slot_bytes: int
    threads: ThreadMap
    rank: Affine

    def at(self, values: Mapping[str, Affine]) -> tuple[SharedForm, int]:
        """The form where symbols have these values, and how many slots further the tile is."""
        rank, slot = _reduced(self.rank.substitute(values), self.depth)
        return evolve(self, rank=rank), slot

    def advance(self, symbol: str, step: int) -> int:
        """The slots by which the tile moves on when `symbol` grows by `step`."""
        return self.rank.coefficient(symbol) * step % self.depth

    def names(self) -> frozenset[str]:
        """The symbols that it depends on."""
        return frozenset(self.rank.names)


def shared_form(
    buffer: Buffer, threads: ThreadMap, byte_offset: int, rank: Affine, bindings: Mapping[str, Affine]
) -> tuple[SharedForm, int, int]:
    """The form of tile number `rank` at `byte_offset` joined by XOR with a thread's bytes; its slot and immediate."""
    moved, immediate = threads.flipped(byte_offset)
    terms, slot = _reduced(rank.substitute(bindings), buffer.depth)
    return SharedForm(buffer.depth, buffer.slot_bytes, moved, terms), slot, immediate


def _reduced(rank: Affine, depth: int) -> tuple[Affine, int]:
    return Affine.of({name: coefficient % depth for name, coefficient in rank.terms}), rank.constant % depth


@frozen(cache_hash=True)
class RemainingForm:
    """How many elements from a thread's coordinate to the end of the array: `extent - thread`, where `extent`, over
    symbols, is the array's extent less the box's origin."""

    extent: Affine
    threads: ThreadMap

    def at(self, values: Mapping[str, Affine]) -> RemainingForm:
        """The form where symbols have these values."""
        return evolve(self, extent=self.extent.substitute(values))

    def names(self) -> frozenset[str]:
        """The symbols that it depends on."""
        return frozenset(self.extent.names)


Form: TypeAlias = GlobalForm | SharedForm | RemainingForm
