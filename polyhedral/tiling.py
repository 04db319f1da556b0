"""Strip-mining: sets with tile dimensions, and the tiles that lie wholly inside a set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import neg

from polyhedral.affine import Affine, var
from polyhedral.sets import Set
from polyhedral.spelling import is_existential
from polyhedral.system import System, disjoint


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
    return _full_tiles(domain, sizes, *_boxes(domain, sizes, names, offsets))


def _full_tiles(domain: Set, sizes: Mapping[str, int], outer: tuple[str, ...], box: System) -> tuple[Set, Set]:
    dims = (*outer, *(d for d in domain.dims if d not in sizes))
    if len(domain.pieces) == 1:
        whole = _whole_rows(domain.pieces[0], box, sizes)
        if whole is not None:
            full, partial = _cut_by_rows((domain.pieces[0] & box).project_out(*sizes), whole)
            return Set(dims, full), Set(dims, partial)
    touched = Set((*dims, *sizes), tuple(p & box for p in domain.pieces)).normalised().project_out(*sizes)
    filled = Set((*dims, *sizes), tuple(p & box for p in touched.pieces))
    missing = (filled - Set((*dims, *sizes), domain.pieces)).project_out(*sizes)
    full_ones = (touched - missing).simplified()
    return full_ones, (touched - full_ones).simplified()


def _whole_rows(piece: System, box: System, sizes: Mapping[str, int]) -> list[Affine] | None:
    """What is not negative for those tiles all of whose points satisfy the piece; None where a stride is in the way.

    A row is least in the corner of the tile at which each dimension that it has is least or greatest.
    """
    found = []
    for row in (*piece.inequalities, *piece.equalities, *(tuple(map(neg, r)) for r in piece.equalities)):
        affine = piece.affine(row)
        tiled = [n for n in affine.names if n in sizes]
        if not tiled:
            continue
        if any(is_existential(n) for n in affine.names):
            return None
        corner = {n: box.bounds(n)[0 if affine.coefficient(n) > 0 else 1][0][0] for n in tiled}
        found.append(affine.substitute(corner))
    return found


def _cut_by_rows(touched: System, rows: Iterable[Affine]) -> tuple[tuple[System, ...], tuple[System, ...]]:
    """The part of a system where all rows are not negative, and the rest in pieces of which no two meet."""
    full, rest = touched, []
    for row in rows:
        outside = System.of(row < 0)
        if not disjoint(full, outside):
            rest.append((full & outside).simplified())
            full = full & System.of(row >= 0)
    return () if full.is_empty() else (full.simplified(),), tuple(rest)


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
    full, partial = _full_tiles(domain, sizes, outer, box)
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
