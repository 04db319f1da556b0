"""Which elements of a tile one memory instruction moves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cache, reduce
from operator import getitem, xor

from attrs import frozen

from ptxgen.errors import UnsupportedError
from ptxgen.tile import Buffer, Coordinate, Distribution, Region, SharedLayout

MOST_BITS = 128


@frozen
class Access:
    """Elements that are neighbours in memory, by their coordinates within the box, the lowest address first."""

    elements: tuple[Coordinate, ...]

    @property
    def start(self) -> Coordinate:
        """The coordinate of the first element."""
        return self.elements[0]


def global_accesses(
    coordinates: Iterable[Coordinate], vector: int, buffer: Buffer, lane_mask: int, contiguous: int | None
) -> tuple[Access, ...]:
    """The accesses to global memory that move these elements, `vector` at a time along dimension `contiguous`.

    `lane_mask` are the bits of the coordinate along it that depend on the thread. UnsupportedError where the elements
    of a lane are not whole, aligned vectors.
    """
    _check_width(buffer, vector)
    if vector == 1:
        return tuple(Access((coordinate,)) for coordinate in dict.fromkeys(coordinates))
    if contiguous is None:
        raise UnsupportedError(f"{buffer.name}: {vector} elements in one access need a dimension of stride 1")
    along: int = contiguous

    def group(coordinate: Coordinate) -> Hashable:
        return (*coordinate[:along], coordinate[along] // vector, *coordinate[along + 1 :])

    _check_lanes(buffer, vector, lane_mask)
    return _grouped(coordinates, vector, buffer, group, lambda coordinate: coordinate[along])


def shared_accesses(
    coordinates: Iterable[Coordinate], vector: int, buffer: Buffer, lane_mask: int, origin: Coordinate
) -> tuple[Access, ...]:
    """The accesses to shared memory that move these elements of the box at `origin`, `vector` at a time.

    `lane_mask` are the bits of the offset in elements that depend on the thread. UnsupportedError as above.
    """
    _check_width(buffer, vector)
    _check_lanes(buffer, vector, lane_mask)
    layout = buffer.layout

    def position(coordinate: Coordinate) -> int:
        return box_offset(layout, origin, coordinate)

    return _grouped(coordinates, vector, buffer, lambda coordinate: position(coordinate) // vector, position)


def box_offset(layout: SharedLayout, origin: Coordinate, inside: Coordinate) -> int:
    """The offset in elements of the element `inside` a box at `origin` of a shared tile."""
    return reduce(xor, map(getitem, _tables(layout), map(xor, origin, inside)), 0)


@cache
def _tables(layout: SharedLayout) -> tuple[tuple[int, ...], ...]:
    """For each dimension the offset that each of its coordinates contributes."""
    tables = []
    for images in layout.offsets:
        table = [0]
        for image in images:
            table += [image ^ each for each in table]
        tables.append(tuple(table))
    return tuple(tables)


def shared_images(layout: SharedLayout, distribution: Distribution) -> tuple[int, ...]:
    """The offset in elements that each bit of the thread's number contributes."""
    return tuple(map(layout.offset, distribution.lanes + distribution.warps))


def _grouped(
    coordinates: Iterable[Coordinate],
    vector: int,
    buffer: Buffer,
    group: Callable[[Coordinate], Hashable],
    position: Callable[[Coordinate], int],
) -> tuple[Access, ...]:
    groups: dict[Hashable, list[Coordinate]] = {}
    for coordinate in dict.fromkeys(coordinates):
        groups.setdefault(group(coordinate), []).append(coordinate)
    for members in groups.values():
        if len(members) != vector:
            raise UnsupportedError(
                f"{buffer.name}: {vector} elements in one access were asked for, but a lane has only {len(members)} "
                f"neighbours, at {', '.join(map(str, sorted(members)))}"
            )
    return tuple(Access(tuple(sorted(members, key=position))) for members in groups.values())


def _check_width(buffer: Buffer, vector: int) -> None:
    bits = vector * buffer.element.bits
    if vector < 1 or vector & (vector - 1) or bits > MOST_BITS:
        raise UnsupportedError(
            f"{buffer.name}: an access moves 1, 2, 4 ... elements of {buffer.element} in at most {MOST_BITS} bits, "
            f"not {vector}"
        )


def _check_lanes(buffer: Buffer, vector: int, lane_mask: int) -> None:
    if lane_mask & (vector - 1):
        raise UnsupportedError(f"{buffer.name}: the {vector} elements of one access belong to different lanes")


def row_of(region: Region) -> int | None:
    """The dimension of a global region along which elements are neighbours in memory: the last of stride 1."""
    units = [place for place, stride in enumerate(region.buffer.in_memory.strides) if stride.is_constant]
    ones = [place for place in units if region.buffer.in_memory.strides[place].constant == 1]
    return ones[-1] if ones else None
