"""Strip-mining: sets with tile dimensions, and the tiles that lie wholly inside a set."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate
from operator import neg

from attrs import frozen

from polyhedral.affine import Affine, Constraint, as_affine, var
from polyhedral.sets import Set
from polyhedral.spelling import is_existential
from polyhedral.system import UNIVERSE, System, conjoin, disjoint


def tile(
    domain: Set,
    sizes: Mapping[str, int],
    names: Mapping[str, str] | None = None,
    offsets: Mapping[str, Affine | int] | None = None,
) -> Set:
    """The set with a tile dimension before its own for each dimension of `sizes`, in that order.

    Tile o of dimension d holds the points with size*o + offset <= d < size*(o+1) + offset. Tile
    dimensions are called `<dim>_tile` unless `names` says otherwise; offsets may hold parameters.
    """
    outer, box = _boxes(domain, sizes, names, offsets)
    return Set((*outer, *domain.dims), tuple(p & box for p in domain.pieces)).normalised()


def full_tiles(
    domain: Set,
    sizes: Mapping[str, int],
    names: Mapping[str, str] | None = None,
    offsets: Mapping[str, Affine | int] | None = None,
) -> tuple[Set, Set]:
    """The tiles all of whose points are in `domain`, and the other tiles that have a point in it. Exact.

    Both are sets over the tile dimensions and then those dimensions of `domain` that are not tiled.
    """
    outer, box = _boxes(domain, sizes, names, offsets)
    dims = (*outer, *(d for d in domain.dims if d not in sizes))
    tiles = _by_corners(domain, sizes, box)
    if tiles is not None:
        full, partial = tiles.full, [tile_ for tile_, _ in tiles.partial]
        return Set(dims, tuple([p.simplified() for p in full])), Set(dims, tuple([p.simplified() for p in partial]))
    return _by_difference(domain, sizes, dims, box)


def _by_difference(domain: Set, sizes: Mapping[str, int], dims: tuple[str, ...], box: System) -> tuple[Set, Set]:
    touched = Set((*dims, *sizes), tuple(p & box for p in domain.pieces)).normalised().project_out(*sizes)
    filled = Set((*dims, *sizes), tuple(p & box for p in touched.pieces))
    missing = (filled - Set((*dims, *sizes), domain.pieces)).project_out(*sizes)
    full_ones = (touched - missing).simplified()
    return full_ones, (touched - full_ones).simplified()


@frozen
class _Tiles:
    """Full tiles, and partial ones in pieces of which no two meet, each with what its points must satisfy as well."""

    full: tuple[System, ...]
    partial: tuple[tuple[System, System], ...]


@frozen
class _Row:
    """A condition on tiled dimensions, `least` where a tile has it least; it `fails` where that is negative."""

    condition: Constraint
    least: Affine
    fails: System


def _by_corners(domain: Set, sizes: Mapping[str, int], box: System) -> _Tiles | None:
    """The tiles of a set of one piece, by the corners of its rows; None where a stride is in the way."""
    if len(domain.pieces) != 1:
        return None
    (piece,) = domain.pieces
    rows = _rows_on(piece, box, sizes)
    if rows is None:
        return None
    touched = (piece & box).project_out(*sizes)
    rows = [row for row in rows if not disjoint(touched, row.fails)]
    said = list(accumulate([System.of(r.condition) for r in reversed(rows)], conjoin))
    full = touched
    partial: list[tuple[System, System]] = []
    for number, row in enumerate(rows):
        if not number or not disjoint(full, row.fails):
            partial.append((full & row.fails, said[-1 - number]))
            full = full & System.of(row.least >= 0)
    return _Tiles(() if full.is_empty() else (full,), tuple(partial))


def _rows_on(piece: System, box: System, sizes: Mapping[str, int]) -> list[_Row] | None:
    """The conditions of a piece on tiled dimensions; None where one is a congruence.

    A row is least in the corner of the tile at which each dimension that it has is least or greatest.
    """
    corners = {n: [box.bounds(n)[side][0][0] for side in (0, 1)] for n in sizes}
    found = []
    for row in (*piece.inequalities, *piece.equalities, *(tuple(map(neg, r)) for r in piece.equalities)):
        affine = piece.affine(row)
        corner = {n: corners[n][0 if c > 0 else 1] for n, c in affine.terms if n in corners}
        if not corner:
            continue
        if any(is_existential(n) for n in affine.names):
            return None
        least = affine.substitute(corner)
        found.append(_Row(affine >= 0, least, System.of(least < 0)))
    return found


def isolated(
    domain: Set,
    sizes: Mapping[str, int],
    names: Mapping[str, str] | None = None,
    offsets: Mapping[str, Affine | int] | None = None,
) -> tuple[Set, Set]:
    """The set tiled as by `tile`, as two: its points in full tiles and its points in partial ones.

    In the first no condition of `domain` on the tiled dimensions is left, only those of the tile. A
    scan of both keeps the loops of full tiles free of bounds that depend on the edge.
    """
    outer, box = _boxes(domain, sizes, names, offsets)
    dims = (*outer, *domain.dims)
    tiles = _by_corners(domain, sizes, box)
    if tiles is not None:
        inside, edge = tiles.full, tuple([tile_ & said for tile_, said in tiles.partial])
    else:
        whole, partial = _by_difference(domain, sizes, tuple([d for d in dims if d not in sizes]), box)
        inside, edge = whole.pieces, tuple([p & q for p in partial.pieces for q in domain.pieces])
    return Set(dims, tuple(p & box for p in inside)).normalised(), Set(dims, tuple(p & box for p in edge)).normalised()


def _boxes(
    domain: Set,
    sizes: Mapping[str, int],
    names: Mapping[str, str] | None,
    offsets: Mapping[str, Affine | int] | None,
) -> tuple[tuple[str, ...], System]:
    outer: list[str] = []
    box = UNIVERSE
    for dim, size in sizes.items():
        if dim not in domain.dims:
            raise ValueError(f"cannot tile {dim!r}: the set has the dimensions {domain.dims}")
        if size < 1:
            raise ValueError(f"the tile size of {dim} is a positive integer, not {size!r}")
        name = (names or {}).get(dim, f"{dim}_tile")
        if name in domain.dims or name in domain.params or name in outer:
            raise ValueError(f"the tile dimension of {dim} cannot be called {name!r}: the name is taken")
        outer.append(name)
        box = box & _strip(dim, name, size, as_affine((offsets or {}).get(dim, 0)))
    return tuple(outer), box


@lru_cache(maxsize=1 << 10)
def _strip(dim: str, name: str, size: int, offset: Affine) -> System:
    """The values of a dimension in the tile that is called by name."""
    start = var(name) * size + offset
    return System.of(var(dim) >= start, var(dim) < start + size)
