"""Index arrays of boxes: which elements the lanes of a warp visit, and where they lie in a tile.

The points of a distribution are ordered by lane, then by value index. All arrays are shared and read-only.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ptxgen.tile.cropping import Coordinate
from ptxgen.tile.distribution import LANE_BITS, Distribution, MatrixRows, SharedLayout

Index = NDArray[np.int64]
Mask = NDArray[np.bool_]
LANES = 1 << LANE_BITS


class StrayError(Exception):
    """A box does not fit the tile: `code` and `message` say how."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


def sealed(array: Index) -> Index:
    """`array`, no longer writable."""
    array.flags.writeable = False
    return array


def images(basis: tuple[Coordinate, ...], rank: int) -> Index:
    """The image of every index under a map over F2: shape (2**bits, rank)."""
    table = np.zeros((1, rank), np.int64)
    for image in basis:
        table = np.concatenate([table, table ^ np.array(image, np.int64).reshape(1, rank)])
    return table


def value_images(distribution: Distribution) -> Index:
    """What the value index of a lane contributes: shape (values, rank)."""
    return images(distribution.values, distribution.rank)[: distribution.value_count]


@lru_cache(maxsize=4096)
def points(distribution: Distribution, warp: int) -> Index:
    """The coordinates that the lanes of `warp` hold: shape (lanes * values, rank)."""
    rank = distribution.rank
    own = images(distribution.warps, rank)[: distribution.warp_count]
    if warp >= len(own):
        raise StrayError("tile.shape", f"warp {warp} is not among the {len(own)} warps of the distribution")
    lanes = images(distribution.lanes, rank)
    table = lanes[:, None, :] ^ value_images(distribution)[None, :, :] ^ own[warp]
    return sealed(table.reshape(len(lanes) * distribution.value_count, rank))


@lru_cache(maxsize=4096)
def located(distribution: Distribution, warp: int, dims: tuple[int | None, ...], origin: Coordinate) -> Index:
    """The points as coordinates of a region: dimension d is origin[d] plus the point's coordinate dims[d], if any."""
    table = points(distribution, warp)
    result = np.empty((len(table), len(dims)), np.int64)
    for place, (dim, corner) in enumerate(zip(dims, origin, strict=True)):
        result[:, place] = corner if dim is None else corner + table[:, dim]
    return sealed(result)


def inside_tile(coordinates: Index, shape: Coordinate) -> None:
    """Refuses coordinates that leave a tile of `shape`."""
    stray = ((coordinates < 0) | (coordinates >= np.array(shape, np.int64))).any(axis=1)
    if stray.any():
        raise StrayError("tile.bounds", f"element {spelled(coordinates[stray.argmax()])} is outside the tile {shape}")


def flat(coordinates: Index, shape: Coordinate) -> Index:
    """The number of each coordinate in a tile of `shape`, the last dimension fastest."""
    index = np.zeros(len(coordinates), np.int64)
    for place, extent in enumerate(shape):
        index = index * extent + coordinates[:, place]
    return index


def spelled(coordinate: Index) -> str:
    """`(3, 4)`."""
    return f"({', '.join(str(int(value)) for value in coordinate)})"


@lru_cache(maxsize=4096)
def register_index(
    own: Distribution,
    shape: Coordinate,
    moved: Distribution,
    warp: int,
    dims: tuple[int | None, ...],
    origin: Coordinate,
) -> Index:
    """Where the points of `moved` lie in a register tile that `own` distributes. Every lane must hold its points."""
    coordinates = located(moved, warp, dims, origin)
    inside_tile(coordinates, shape)
    index = flat(coordinates, shape)
    size = int(np.prod(shape, dtype=np.int64))
    held = flat(points(own, warp), shape).reshape(LANES, -1) + np.arange(LANES)[:, None] * size
    used = index.reshape(LANES, -1) + np.arange(LANES)[:, None] * size
    missing = ~np.isin(used.ravel(), held.ravel())
    if missing.any():
        place = int(missing.argmax())
        lane = place // used.shape[1]
        raise StrayError("tile.holder", f"element {spelled(coordinates[place])} is not held by lane {lane}")
    return sealed(index)


@lru_cache(maxsize=4096)
def shared_index(
    layout: SharedLayout, moved: Distribution, warp: int, dims: tuple[int | None, ...], origin: Coordinate
) -> Index:
    """The offsets in elements of the points of `moved` in a shared tile."""
    coordinates = located(moved, warp, dims, origin)
    inside_tile(coordinates, layout.shape)
    return sealed(offsets(layout, coordinates))


@lru_cache(maxsize=4096)
def shared_vectors_fit(
    layout: SharedLayout, moved: Distribution, warp: int, dims: tuple[int | None, ...], origin: Coordinate, vector: int
) -> bool:
    """Whether each access of `vector` elements is one aligned block of the tile, in whatever order."""
    groups = shared_index(layout, moved, warp, dims, origin).reshape(-1, vector)
    one_block = np.ptp(groups // vector, axis=1) == 0
    complete = np.sort(groups % vector, axis=1) == np.arange(vector)
    return bool(one_block.all() and complete.all())


@lru_cache(maxsize=4096)
def matrix_extent(own: Distribution, warp: int, row: int, column: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The rows and columns of a matrix that `warp` holds; all pairs of them must be held, and nothing else."""
    table = np.unique(points(own, warp), axis=0)
    rows, columns = (tuple(np.unique(table[:, place]).tolist()) for place in (row, column))
    if len(table) != len(rows) * len(columns):
        raise StrayError(
            "tile.shape", f"warp {warp} holds {len(table)} elements, not {len(rows)} rows x {len(columns)}"
        )
    return rows, columns


@lru_cache(maxsize=4096)
def matrix_index(
    own: Distribution,
    shape: Coordinate,
    warp: int,
    places: tuple[int, int],
    origin: Coordinate,
    rows: tuple[int, ...],
    columns: tuple[int, ...],
) -> Index:
    """Where rows x columns of a matrix that starts at `origin` lie in a register tile; the warp must hold them all."""
    coordinates = np.tile(np.array(origin, np.int64), (len(rows), len(columns), 1))
    coordinates[:, :, places[0]] += np.array(rows, np.int64)[:, None]
    coordinates[:, :, places[1]] += np.array(columns, np.int64)[None, :]
    listed = coordinates.reshape(-1, len(origin))
    inside_tile(listed, shape)
    index = flat(listed, shape)
    missing = ~np.isin(index, flat(points(own, warp), shape))
    if missing.any():
        raise StrayError("tile.holder", f"element {spelled(listed[missing.argmax()])} is not held by the warp")
    return sealed(index.reshape(len(rows), len(columns)))


@lru_cache(maxsize=4096)
def shared_matrix_index(
    layout: SharedLayout,
    places: tuple[int, int],
    origin: Coordinate,
    rows: tuple[int, ...],
    columns: tuple[int, ...],
) -> Index:
    """Where rows x columns of a matrix that starts at `origin` lie in a shared tile."""
    coordinates = np.tile(np.array(origin, np.int64), (len(rows), len(columns), 1))
    coordinates[:, :, places[0]] += np.array(rows, np.int64)[:, None]
    coordinates[:, :, places[1]] += np.array(columns, np.int64)[None, :]
    inside_tile(coordinates.reshape(-1, len(origin)), layout.shape)
    return sealed(offsets(layout, coordinates))


def offsets(layout: SharedLayout, coordinates: Index) -> Index:
    """The offset in elements of each coordinate, the last axis being dimensions."""
    found = np.zeros(coordinates.shape[:-1], np.int64)
    for place, bits in enumerate(layout.offsets):
        for bit, image in enumerate(bits):
            found ^= (coordinates[..., place] >> bit & 1) * image
    return found


@lru_cache(maxsize=4096)
def projected(distribution: Distribution, kept: tuple[int, ...]) -> Distribution:
    """The distribution over the dimensions `kept` alone."""
    return distribution if kept == tuple(range(distribution.rank)) else distribution.project(kept)


@lru_cache(maxsize=1 << 8)
def gives(rows: MatrixRows, held: Distribution, row_elements: int) -> bool:
    """Whether `ldmatrix` with these row addresses gives each lane of a warp the elements of `held` (PTX ISA, ldmatrix):
    lane l has word l mod 4 of row l div 4; transposed, element l div 4 of row 2 (l mod 4) and of the next."""
    per_word = row_elements // 4
    for value in range(held.value_count):
        register, element = divmod(value, per_word)
        instruction, matrix = divmod(register, rows.matrices)
        for lane in range(LANES):
            outer, inner = divmod(lane, 4)
            row, place = (per_word * inner + element, outer) if rows.transposed else (outer, per_word * inner + element)
            pointed = rows.reach.coordinate(0, 8 * matrix + row, place + row_elements * instruction)
            if pointed != held.coordinate(0, lane, value):
                return False
    return rows.reach.warps == held.warps
