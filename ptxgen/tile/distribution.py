"""Who holds what: linear maps over F2 from the bits of (warp, lane, value) to tile coordinates, and from tile
coordinates to shared-memory offsets.

A map is stored as its images of single bits; the image of any index is the XOR of the images of its set bits (Zhou et
al., "Linear Layouts", 2025). Extents that are no powers of two crop it (see cropping.py).
"""

from __future__ import annotations

from functools import reduce
from operator import xor

from attrs import frozen

from ptxgen.tile.cropping import Coordinate, CroppingError, bit_count, coordinate_bits, cropped_counts, cropped_size

LANE_BITS = 5


def zero(rank: int) -> Coordinate:
    """The coordinate of `rank` dimensions that contributes nothing: a bit that maps to it is a replica."""
    return (0,) * rank


def combine(basis: tuple[Coordinate, ...], index: int, rank: int) -> Coordinate:
    """The XOR of the images of the set bits of `index`."""
    chosen = [image for bit, image in enumerate(basis) if index >> bit & 1]
    return tuple(reduce(xor, (image[place] for image in chosen), 0) for place in range(rank))


@frozen(cache_hash=True)
class Distribution:
    """Which lane and value index of a warp holds which coordinate of a register tile of `shape`.

    `values[b]`, `lanes[b]`, `warps[b]` are the coordinates that bit b of the value index, lane number and warp number
    contributes. A zero contribution means that the bit only makes copies. CroppingError where the extents of `shape`
    leave out others than the last values of each lane, or the last warps, or leave nothing.
    """

    shape: tuple[int, ...]
    values: tuple[Coordinate, ...]
    lanes: tuple[Coordinate, ...]
    warps: tuple[Coordinate, ...]

    def __attrs_post_init__(self) -> None:
        if min(self.shape, default=1) < 1:
            raise CroppingError(f"a tile of {'x'.join(map(str, self.shape))} has no elements")
        spans = [1 << coordinate_bits(extent) for extent in self.shape]
        for image in (*self.values, *self.lanes, *self.warps):
            if any(part >= span for part, span in zip(image, spans, strict=True)):
                raise CroppingError(f"{image} lies outside of a tile of {'x'.join(map(str, self.shape))}")
        _, lanes, _ = self._counts
        if lanes < 1 << len(self.lanes):
            raise CroppingError(
                f"a tile of {'x'.join(map(str, self.shape))} would leave lanes of a warp without a part"
            )

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def _counts(self) -> tuple[int, int, int]:
        values, lanes, warps = cropped_counts((self.values, self.lanes, self.warps), self.shape)
        return values, lanes, warps

    @property
    def value_count(self) -> int:
        """Elements held by each lane."""
        return self._counts[0]

    @property
    def warp_count(self) -> int:
        """Warps that hold elements, from number 0 on."""
        return self._counts[2]

    def value_coordinate(self, value: int) -> Coordinate:
        """The part of the coordinate that the value index decides."""
        return combine(self.values, value, self.rank)

    def coordinate(self, warp: int, lane: int, value: int) -> Coordinate:
        """The tile coordinate held by `value` of `lane` in `warp`."""
        parts = (
            combine(self.warps, warp, self.rank),
            combine(self.lanes, lane, self.rank),
            self.value_coordinate(value),
        )
        return tuple(a ^ b ^ c for a, b, c in zip(*parts, strict=True))

    def replicated_warp_bits(self) -> tuple[int, ...]:
        """The bits of the warp number that only make copies."""
        return tuple(bit for bit, image in enumerate(self.warps) if not any(image))

    @property
    def is_replicated(self) -> bool:
        """Whether some lanes or warps only hold copies of what others hold."""
        return not all(map(any, (*self.lanes, *self.warps)))

    def project(self, kept: tuple[int, ...], divisors: tuple[int, ...] | None = None) -> Distribution:
        """The distribution of a tile over the dimensions `kept` alone, in that order, each divided (its coordinates
        rounding down) by its power of two in `divisors`.

        Value bits that no longer move anything disappear; lane and warp bits that do not become replicas.
        """
        shared = divisors or (1,) * len(kept)

        def keep(image: Coordinate) -> Coordinate:
            return tuple(image[place] // divisor for place, divisor in zip(kept, shared, strict=True))

        return Distribution(
            tuple(-(-self.shape[place] // divisor) for place, divisor in zip(kept, shared, strict=True)),
            tuple(keep(image) for image in self.values if any(keep(image))),
            tuple(map(keep, self.lanes)),
            tuple(map(keep, self.warps)),
        )

    def __str__(self) -> str:
        def spell(basis: tuple[Coordinate, ...]) -> str:
            return " ".join("(" + ",".join(map(str, image)) + ")" for image in basis) or "-"

        return f"values {spell(self.values)}; lanes {spell(self.lanes)}; warps {spell(self.warps)}"


ROW_BYTES = 16
WORD_BYTES = 4
ROW_LANES, MATRIX_BITS = 3, 2


@frozen
class MatrixRows:
    """The rows that `ldmatrix` reads for a distribution. `reach` is who points at what: a lane's first values are the
    16 bytes of the row whose address it gives, rows first in its number, then matrices (PTX ISA, ldmatrix). `matrices`
    come in one instruction; `transposed`: a lane gets elements of a column."""

    reach: Distribution
    transposed: bool
    matrices: int


def matrix_rows(held: Distribution, element_bytes: int, contiguous: int, most: int) -> MatrixRows | None:
    """How `ldmatrix` fills a distribution from a tile whose dimension `contiguous` lies together, at most `most`
    matrices at a time; None where lanes hold other elements than it gives them.

    A matrix has 8 rows of 16 bytes. Lane l gets the word l mod 4 of row l div 4, or transposed (16-bit elements only)
    the elements l div 4 of rows 2 (l mod 4) and the next one.
    """
    word_bits = bit_count(WORD_BYTES // element_bytes) if element_bytes <= WORD_BYTES else -1
    if word_bits < 0 or len(held.values) < word_bits or len(held.lanes) != LANE_BITS:
        return None
    inside, across = (*held.values[:word_bits], *held.lanes[:2]), held.lanes[2:]
    if _is_run(inside, contiguous):
        row, index, transposed = inside, across, False
    elif word_bits == 1 and _is_run(across, contiguous):
        row, index, transposed = across, inside, True
    else:
        return None
    rest = held.values[word_bits:]
    count = min(bit_count(most), len(rest), MATRIX_BITS)
    lanes = (*index, *rest[:count], *(zero(held.rank) for _ in range(MATRIX_BITS - count)))
    return MatrixRows(Distribution(held.shape, (*row, *rest[count:]), lanes, held.warps), transposed, 1 << count)


def _is_run(images: tuple[Coordinate, ...], dimension: int) -> bool:
    """Whether the images are 1, 2, 4, ... along one dimension."""
    return all(
        image == tuple(1 << bit if place == dimension else 0 for place in range(len(image)))
        for bit, image in enumerate(images)
    )


@frozen(cache_hash=True)
class SharedLayout:
    """Where a coordinate of a shared tile lies: `offsets[d][b]` is the offset in elements that bit b of coordinate d
    contributes. The map is a bijection from the coordinates onto 0..size-1, so a swizzle is a layout like any other.
    But bits that contribute nothing number the pieces of a larger tile, of which one lies here at a time. CroppingError
    where the extents of `shape` leave out others than the last offsets.
    """

    shape: tuple[int, ...]
    offsets: tuple[tuple[int, ...], ...]

    def __attrs_post_init__(self) -> None:
        assert self.size

    @property
    def size(self) -> int:
        """Elements of one tile."""
        return cropped_size(self.offsets, self.shape)

    def offset(self, coordinate: Coordinate) -> int:
        """The offset in elements of `coordinate`."""
        result = 0
        for images, value in zip(self.offsets, coordinate, strict=True):
            for bit, image in enumerate(images):
                if value >> bit & 1:
                    result ^= image
        return result

    def row_elements(self, dimension: int) -> int:
        """How many elements along `dimension`, from the first, lie at the offset that is their coordinate."""
        count = 1
        for bit, image in enumerate(self.offsets[dimension]):
            if image != 1 << bit:
                break
            count *= 2
        return min(count, self.shape[dimension])

    @classmethod
    def linear(cls, shape: tuple[int, ...], contiguous: int) -> SharedLayout:
        """Dimension `contiguous` fastest, then the others from the last to the first, without a swizzle."""
        order = [contiguous, *(place for place in reversed(range(len(shape))) if place != contiguous)]
        offsets: list[tuple[int, ...]] = [()] * len(shape)
        position = 0
        for place in order:
            bits = coordinate_bits(shape[place])
            offsets[place] = tuple(1 << (position + bit) for bit in range(bits))
            position += bits
        return cls(shape, tuple(offsets))
