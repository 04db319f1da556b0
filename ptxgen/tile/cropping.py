"""Tiles whose extents are no powers of two: the map over F2 of the next powers of two, cropped to what lies inside.

A coordinate below 192 has the eight bits of one below 256; what is missing are those whose two highest bits are both
set. Where an index holds these two bits last, the indices that stay are the first three quarters.
"""

from __future__ import annotations

from collections.abc import Sequence

Coordinate = tuple[int, ...]


class CroppingError(ValueError):
    """A map that cannot be cropped to an extent: what it would leave out are not the last of its indices."""


def is_power(extent: int) -> bool:
    """Whether an extent is a power of two."""
    return extent > 0 and extent & (extent - 1) == 0


def bit_count(extent: int) -> int:
    """log2 of a power of two; CroppingError for anything else."""
    if not is_power(extent):
        raise CroppingError(f"a tile extent must be a power of two here, got {extent}")
    return extent.bit_length() - 1


def coordinate_bits(extent: int) -> int:
    """The bits of the coordinates below `extent`: log2 of a power of two, else that of the next one."""
    return (extent - 1).bit_length()


def granule(extent: int) -> int:
    """The largest power of two that divides `extent`. Coordinates whose bits from there on are small enough are inside,
    whatever the lower ones are."""
    return extent & -extent


def power_below(extent: int) -> int:
    """The largest power of two that is not above `extent`."""
    return 1 << extent.bit_length() - 1


def cropped_counts(groups: Sequence[tuple[Coordinate, ...]], shape: tuple[int, ...]) -> list[int]:
    """How many indices of each group of bits, from 0 on, have coordinates inside `shape`, whatever the other groups
    add. A group gives the image of each of its bits.

    CroppingError unless, for each dimension that needs it, one group alone moves the granules of the extent, by its
    last bits and in ascending order.
    """
    counts = [1 << len(group) for group in groups]
    for dimension, extent in enumerate(shape):
        if is_power(extent):
            continue
        steps = [[image[dimension] & -granule(extent) for image in group] for group in groups]
        if sum(map(sum, steps)) < extent:
            continue
        movers = [number for number, group in enumerate(steps) if any(group)]
        if len(movers) > 1:
            raise CroppingError(f"dimension {dimension} of extent {extent}: its last bits belong to different indices")
        (mover,) = movers
        images = [image[dimension] for image in groups[mover]]
        counts[mover] = min(counts[mover], _prefix(images, dimension, extent))
    return counts


def _prefix(images: list[int], dimension: int, extent: int) -> int:
    """The indices, from 0 on, whose coordinate along a dimension is below `extent`."""
    free = sum(1 for image in images if image < granule(extent))
    high = images[free:]
    if sorted(high) != high or not all(map(is_power, high)) or min(high, default=0) < granule(extent):
        raise CroppingError(
            f"dimension {dimension} of extent {extent}: its multiples of {granule(extent)} are not moved by the last "
            f"bits of an index, each by one, but by {', '.join(map(str, images))}"
        )
    number = sum(1 for index in range(1 << len(high)) if _sum(high, index) < extent)
    return number << free


def _sum(steps: list[int], index: int) -> int:
    return sum(step for bit, step in enumerate(steps) if index >> bit & 1)


def cropped_size(offsets: Sequence[tuple[int, ...]], shape: tuple[int, ...]) -> int:
    """How many offsets, from 0 on, the coordinates inside `shape` have; `offsets[d][b]` is what bit b of coordinate d
    contributes, 0 for bits that number the pieces of a larger tile.

    CroppingError unless the granules of an extent lie one behind the other, and behind everything else.
    """
    size = 1 << sum(1 for images in offsets for image in images if image)
    for dimension, (images, extent) in enumerate(zip(offsets, shape, strict=True)):
        high = images[coordinate_bits(granule(extent)) :]
        if not any(high):
            continue
        first = size >> len(high)
        if list(high) != [first << bit for bit in range(len(high))]:
            raise CroppingError(
                f"dimension {dimension} of extent {extent}: its multiples of {granule(extent)} do not lie behind "
                f"everything else in shared memory, but at {', '.join(map(str, high))}"
            )
        size = first * (extent // granule(extent))
    return size
