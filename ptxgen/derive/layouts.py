"""Shared-memory layouts free of bank conflicts, solved over F2 for the accesses that a tile serves.

A request of 32 lanes is served in phases of 128 bytes. An access is free of conflicts when, within a phase, the
elements of one vector and the lanes together reach all of those 128 bytes: the map from their span to the low offset
bits is injective. So the layout is a quotient: its kernel is a common complement of the spans of all accesses (Zhou et
al., "Linear Layouts", 2025, section 5.4).
"""

from __future__ import annotations

from attrs import frozen

from ptxgen.derive.vectors import Echelon, extended, intersection
from ptxgen.tile import Coordinate, Distribution, SharedLayout, bit_count, coordinate_bits, granule

PHASE_BYTES = 128
WORD_BYTES = 4
UNIT_BYTES = 16


@frozen
class SharedAccess:
    """How one op reaches a shared tile: who holds what, and how many elements it moves at once."""

    distribution: Distribution
    vector: int


@frozen
class BitSpace:
    """Names the bits of a tile's coordinates: bit b of dimension d is bit `starts[d] + b` of a vector."""

    shape: tuple[int, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> BitSpace:
        """The space of a tile of `shape`."""
        starts, total = [], 0
        for extent in shape:
            starts.append(total)
            total += bit_count(extent)
        return cls(shape, tuple(starts))

    @property
    def dimension(self) -> int:
        return sum(map(bit_count, self.shape))

    def vector(self, coordinate: Coordinate) -> int:
        """The coordinate as a vector."""
        return sum(value << start for value, start in zip(coordinate, self.starts, strict=True))

    def units(self, contiguous: int) -> list[int]:
        """Every single bit, those of dimension `contiguous` first, then from the last dimension to the first."""
        order = [contiguous, *(d for d in reversed(range(len(self.shape))) if d != contiguous)]
        return [1 << self.starts[d] + b for d in order for b in range(bit_count(self.shape[d]))]


def common_vector(store: Distribution, load: Distribution, most: int) -> int:
    """The most elements that a store may move at once when loads take their own lowest value bits as neighbours."""
    count = 1
    for first, second in zip(store.values, load.values, strict=False):
        if first != second or count * 2 > most:
            break
        count *= 2
    return count


def fitting_vector(layout: SharedLayout, held: Distribution, most: int) -> int:
    """The most elements, at most `most`, that one access may move: a lane's first values are neighbours in the layout,
    and no lane or warp finds them in another order."""
    count = 1
    for bit, image in enumerate(held.values):
        others = [layout.offset(other) for other in (*held.lanes, *held.warps)]
        if layout.offset(image) != 1 << bit or count * 2 > most or any(o % (2 * count) for o in others):
            break
        count *= 2
    return count


def conflict_free(
    shape: tuple[int, ...], element_bytes: int, store: SharedAccess, load: SharedAccess, contiguous: int
) -> SharedLayout:
    """The layout of a tile that `store` fills and `load` reads, both without bank conflicts.

    The load's vector lies in the lowest offset bits in its own order. Where the spans are smaller than a phase, bits
    that no lane of the load moves are taken first: they become plain displacements.
    """
    space = BitSpace.of(shape)
    low_bits = min(bit_count(PHASE_BYTES // element_bytes), space.dimension)
    read = _phase(space, load, element_bytes)[:low_bits]
    written = _phase(space, store, element_bytes)[:low_bits]
    units = space.units(contiguous)
    lanes = {space.vector(image) for image in load.distribution.lanes}
    calm = [unit for unit in units if unit not in lanes]
    read = extended(read, [v for v in written if v not in lanes] + calm + units, low_bits)
    written = extended(written, read + units, low_bits)
    kernel = _common_complement(space.dimension, read, written, units)
    return _quotient(space, read, kernel)


def swizzled(
    shape: tuple[int, ...], contiguous: int, element_bytes: int, span: int, *, apart: bool = False
) -> SharedLayout:
    """The layout that tensor copies and products of warpgroups share (PTX ISA, swizzling modes): rows of `span` bytes
    along dimension `contiguous` lie one behind the other, then come the next `span` bytes of all rows; the 16-byte unit
    of a row is XORed with bits of its address: the number of the row, where the tile has eight or more of them. A row
    that is no whole number of spans is one that the copies cannot place. With `apart`, of a number of rows that is no
    power of two as many lie together as divide it.

    ValueError where the tile's rows are no multiples of `span` bytes, or an extent that is no power of two is not that
    of what lies outermost.
    """
    row_bits, row_bytes = bit_count(span // element_bytes), shape[contiguous] * element_bytes
    if row_bytes < span:
        raise ValueError(f"a row has {row_bytes} bytes, fewer than the {span} of the swizzle")
    if row_bytes % span:
        raise ValueError(f"a row has {row_bytes} bytes, no multiple of the {span} of the swizzle")
    rows = [
        (d, bit) for d in reversed(range(len(shape))) if d != contiguous for bit in range(coordinate_bits(shape[d]))
    ]
    last = [(d, bit) for d, bit in rows if apart and 1 << bit >= granule(shape[d])]
    beside = [(contiguous, bit) for bit in range(row_bits, coordinate_bits(shape[contiguous]))]
    images: list[list[int]] = [[] for _ in shape]
    images[contiguous] = [1 << bit for bit in range(row_bits)]
    for position, (dimension, _) in enumerate([r for r in rows if r not in last] + beside + last, row_bits):
        images[dimension].append(1 << position | _flipped(position, element_bytes, row_bits))
    return SharedLayout(shape, tuple(map(tuple, images)))


def _flipped(position: int, element_bytes: int, row_bits: int) -> int:
    """What an offset bit of a row's number flips in its units of 16 bytes, in elements."""
    unit_bits = bit_count(UNIT_BYTES // element_bytes)
    unit = position - bit_count(PHASE_BYTES // element_bytes)
    return 1 << unit_bits + unit if 0 <= unit < row_bits - unit_bits else 0


def _phase(space: BitSpace, access: SharedAccess, element_bytes: int) -> list[int]:
    """The independent vectors that one phase moves over: the elements of an access (of a word at least), then lanes."""
    vector_bytes = access.vector * element_bytes
    span = Echelon(space.vector(image) for image in access.distribution.values[: bit_count(access.vector)])
    if vector_bytes < WORD_BYTES:
        for image in access.distribution.values[bit_count(access.vector) :]:
            if len(span) < bit_count(WORD_BYTES // element_bytes):
                span.add(space.vector(image))
    phase_lanes = min(5, bit_count(PHASE_BYTES // vector_bytes))
    for image in access.distribution.lanes[:phase_lanes]:
        span.add(space.vector(image))
    return span.basis


def _common_complement(dimension: int, first: list[int], second: list[int], units: list[int]) -> list[int]:
    """A subspace that meets neither span and completes both (of equal dimension) to the whole space."""
    common = intersection(first, second)
    only_first = extended(common, first, len(first))[len(common) :]
    only_second = extended(common, second, len(second))[len(common) :]
    joined = [*common, *only_first, *only_second]
    rest = extended(joined, units, dimension)[len(joined) :]
    pairs = [one ^ other for one, other in zip(only_first, only_second, strict=True)]
    return [*rest, *pairs]


def _quotient(space: BitSpace, low: list[int], kernel: list[int]) -> SharedLayout:
    whole = Echelon([*low, *kernel])
    offsets: list[tuple[int, ...]] = []
    for start, extent in zip(space.starts, space.shape, strict=True):
        images = []
        for bit in range(bit_count(extent)):
            image = whole.combination(1 << start + bit)
            assert image is not None
            images.append(image)
        offsets.append(tuple(images))
    return SharedLayout(space.shape, tuple(offsets))
