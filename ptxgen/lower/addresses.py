"""Addresses as a thread's base, what loops add to it, and an immediate: the forms that strength reduction compares.

Two accesses whose forms are equal use one register and differ in the immediate only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from attrs import evolve, frozen

from polyhedral import Affine, var
from ptxgen.errors import UnsupportedError
from ptxgen.lower.threads import ThreadMap
from ptxgen.tile import Coordinate, Region, SharedLayout, bit_count

MOST_IMMEDIATE = 1 << 22
NOTHING = Affine()


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


class GlobalBox:
    """The addresses of the elements of a box of an array, accessed by threads at `threads`."""

    def __init__(self, region: Region, threads: tuple[ThreadMap, ...], bindings: Mapping[str, Affine]) -> None:
        buffer = region.buffer
        origin = [start.substitute(bindings) for start in region.origin]
        self._array = buffer.array
        self._strides = tuple(stride * buffer.element.byte_count for stride in buffer.in_memory.strides)
        self._terms = tuple(Affine(start.terms) for start in origin)
        self._starts = tuple(start.constant for start in origin)
        self._threads = threads
        self._sides: dict[tuple[int, int], tuple[int, int]] = {}
        self._kinds: dict[tuple[ThreadMap, Affine], int] = {}
        self._forms: dict[tuple[int, ...], GlobalForm] = {}

    def at(self, inside: Coordinate) -> tuple[GlobalForm, int]:
        """The form of the element `inside` the box, and the immediate in bytes."""
        kinds: tuple[int, ...] = ()
        immediate = 0
        for place in enumerate(inside):
            kind, moved = self._sides.get(place) or self._side(place)
            kinds += (kind,)
            immediate += moved
        form = self._forms.get(kinds)
        if form is None:
            form = self._forms[kinds] = self._form(kinds)
        if abs(immediate) >= MOST_IMMEDIATE:
            return evolve(form, displacement=form.displacement + immediate), 0
        return form, immediate

    def _side(self, place: tuple[int, int]) -> tuple[int, int]:
        """What a coordinate along one dimension adds: to the threads' map and to the displacement, as the number of
        these two, and to the immediate."""
        dimension, coordinate = place
        threads, rest = self._threads[dimension].flipped(coordinate)
        moved = self._strides[dimension] * (self._starts[dimension] + rest)
        kind = self._kinds.setdefault((threads, Affine(moved.terms)), len(self._kinds))
        found = self._sides[place] = kind, moved.constant
        return found

    def _form(self, kinds: tuple[int, ...]) -> GlobalForm:
        known = list(self._kinds)
        threads = tuple(known[kind][0] for kind in kinds)
        return GlobalForm(
            self._array, self._strides, self._terms, threads, Affine.sum(known[kind][1] for kind in kinds)
        )


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
    ring's own offset, and without terms in `rank` also that of the slot. `part` are the bytes, over symbols, at which
    the slice of a tile starts that a block's rank in its cluster tells. With `blocks` the block of rank c reaches the
    memory of block `blocks[c]`.
    """

    depth: int
    slot_bytes: int
    threads: ThreadMap
    rank: Affine
    part: Affine = NOTHING
    blocks: tuple[int, ...] = ()

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


class SharedBox:
    """The addresses of the elements of a region's box of `shape` in a shared tile, joined by XOR with a thread's bytes;
    with `blocks` those of another block of the cluster. All lie in the slot `slot`."""

    def __init__(
        self,
        memory: Region,
        shape: Coordinate,
        threads: ThreadMap,
        bindings: Mapping[str, Affine],
        blocks: tuple[int, ...] = (),
    ) -> None:
        buffer = memory.buffer
        rank, self.slot = _reduced(memory.rank.substitute(bindings), buffer.depth)
        part = slice_offset(memory, shape).substitute(bindings)
        self._form = SharedForm(buffer.depth, buffer.slot_bytes, threads, rank, part, blocks)
        self._moved = threads.mask
        self._forms = {0: self._form}

    def at(self, byte_offset: int) -> tuple[SharedForm, int]:
        """The form of what lies at an offset in the tile, and the immediate."""
        flip = byte_offset & self._moved
        if flip not in self._forms:
            self._forms[flip] = evolve(self._form, threads=self._form.threads.flipped(flip)[0])
        return self._forms[flip], byte_offset ^ flip


def slice_offset(region: Region, shape: Coordinate) -> Affine:
    """The bytes that ranks in the origin of a box of `shape` in a shared tile add; UnsupportedError unless they number
    whole boxes that lie one behind the other."""
    width = region.buffer.element.byte_count
    found = Affine()
    for place, origin in enumerate(region.origin):
        for name, coefficient in origin.terms:
            step = _distance(region.buffer.layout, place, coefficient) if coefficient == shape[place] else None
            if step is None:
                raise UnsupportedError(
                    f"{region.buffer.name}: the box starts at ({', '.join(map(str, region.origin))}) inside its tile; "
                    f"only constant starts are lowered, and those that number whole boxes one behind the other"
                )
            found = found + var(name) * (step * width)
    return found


def _distance(layout: SharedLayout, place: int, extent: int) -> int | None:
    """How far apart the slices of `extent` along dimension `place` lie; None where they do not lie one behind the
    other."""
    first = bit_count(extent)
    images, inside = layout.offsets[place][first:], layout.offsets[place][:first]
    others = [*inside, *(image for d, own in enumerate(layout.offsets) if d != place for image in own)]
    steps = images and all(image == images[0] << bit for bit, image in enumerate(images))
    return images[0] if steps and not any(image & other for image in images for other in others) else None


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
