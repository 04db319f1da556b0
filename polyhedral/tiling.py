"""Strip-mining: sets with tile dimensions, and the tiles that lie wholly inside a set."""

from __future__ import annotations

from collections.abc import Mapping

from polyhedral.affine import Affine, var
from polyhedral.sets import Set
from polyhedral.system import System


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
    left = tuple(d for d in domain.dims if d not in sizes)
    dims = (*outer, *left, *sizes)
    touched = Set(dims, tuple(p & box for p in domain.pieces)).normalised().project_out(*sizes)
    whole = Set(dims, tuple(p & box for p in touched.pieces))
    missing = (whole - Set(dims, domain.pieces)).project_out(*sizes)
    full = (touched - missing).simplified()
    return full, (touched - full).simplified()


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
    full, partial = full_tiles(domain, sizes, names, offsets)
    dims = (*outer, *domain.dims)
    inside = Set(dims, tuple(p & box for p in full.pieces)).normalised()
    edge = Set(dims, tuple(p & q & box for p in partial.pieces for q in domain.pieces)).normalised()
    return inside, edge


def _boxes(
    domain: Set,
    sizes: Mapping[str, int],
    names: Mapping[str, str] | None,
    offsets: Mapping[str, Affine | int] | None,
) -> tuple[tuple[str, ...], System]:
    outer, rows = [], []
    for dim, size in sizes.items():
        if dim not in domain.dims:
            raise ValueError(f"cannot tile {dim!r}: the set has the dimensions {domain.dims}")
        if size < 1:
            raise ValueError(f"the tile size of {dim} is a positive integer, not {size!r}")
        name = (names or {}).get(dim, f"{dim}_tile")
        if name in domain.dims or name in domain.params or name in outer:
            raise ValueError(f"the tile dimension of {dim} cannot be called {name!r}: the name is taken")
        outer.append(name)
        start = var(name) * size + (offsets or {}).get(dim, 0)
        rows += [var(dim) >= start, var(dim) < start + size]
    return tuple(outer), System.of(*rows)
