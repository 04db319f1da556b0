"""The outside judges: enumeration of conditions as they are written, and islpy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from polyhedral import Affine, Condition, Congruence, Constraint, Map, Set, System

Grid: TypeAlias = NDArray[np.bool_]
EXISTENTIAL_REACH = range(-45, 46)


def holds(conditions: Sequence[Condition], values: dict[str, int], exists: Sequence[str] = ()) -> bool:
    """Whether all conditions hold for some values of `exists` between -45 and 45."""
    return bool(held(conditions, {n: (v,) for n, v in values.items()}, exists).any())


def held(conditions: Sequence[Condition], axes: Mapping[str, Sequence[int]], exists: Sequence[str] = ()) -> Grid:
    """Where on the grid of `axes`, one axis each, all conditions hold for some `exists` between -45 and 45."""
    ranges = [np.asarray(values, dtype=np.int64) for values in axes.values()]
    ranges += [np.asarray(EXISTENTIAL_REACH, dtype=np.int64)] * len(exists)
    values = dict(zip((*axes, *exists), np.meshgrid(*ranges, indexing="ij", sparse=True), strict=True))
    found: Grid = np.ones([len(r) for r in ranges], dtype=np.bool_)
    for condition in conditions:
        terms = condition.affine.terms
        total = sum((c * values[n] for n, c in terms), np.int64(condition.affine.constant))
        match condition:
            case Constraint(_, equality):
                found &= total == 0 if equality else total >= 0
            case Congruence(_, modulus):
                found &= total % modulus == 0
    own = tuple(range(len(axes), found.ndim))
    return np.asarray(found.any(axis=own)) if own else found


def _name(name: str) -> str:
    return re.sub(r"\W", lambda m: f"_{ord(m.group()):x}_", name)


def _affine(affine: Affine) -> str:
    return " + ".join([f"{c}*{_name(n)}" for n, c in affine.terms] + [str(affine.constant)])


def _condition(condition: Condition) -> str:
    match condition:
        case Constraint(affine, equality):
            return f"{_affine(affine)} {'=' if equality else '>='} 0"
        case Congruence(affine, modulus):
            return f"({_affine(affine)}) mod {modulus} = 0"


def _system(system: System) -> str:
    rows = [f"{_affine(system.affine(r))} = 0" for r in system.equalities]
    rows += [f"{_affine(system.affine(r))} >= 0" for r in system.inequalities]
    if not rows:
        return "true"
    body = " and ".join(rows)
    return f"exists ({', '.join(map(_name, system.exists))} : {body})" if system.exists else body


def _union(space: str, params: Sequence[str], bodies: Sequence[str]) -> str:
    pieces = "; ".join(f"{space} : {b}" for b in bodies)
    return f"[{', '.join(map(_name, params))}] -> {{ {pieces} }}"


def isl_set(points: Set, params: Sequence[str] = ()) -> isl.Set:
    """Our set, read by isl from its rows."""
    space = f"[{', '.join(map(_name, points.dims))}]"
    given = sorted({*params, *points.params})
    if not points.pieces:
        return isl.Set(_union(space, given, ["1 = 0"]))
    return isl.Set(_union(space, given, [_system(p) for p in points.pieces]))


def isl_map(pairs: Map, params: Sequence[str] = ()) -> isl.Map:
    """Our map, read by isl from its rows."""
    space = f"[{', '.join(map(_name, pairs.in_dims))}] -> [{', '.join(map(_name, pairs.out_dims))}]"
    given = sorted({*params, *pairs.params})
    bodies = [_system(p) for p in pairs.pieces] or ["1 = 0"]
    return isl.Map(_union(space, given, bodies))


def isl_written(
    dims: Sequence[str], params: Sequence[str], conditions: Iterable[Condition], exists: Sequence[str] = ()
) -> isl.Set:
    """The set of these conditions, read by isl as they are written and not through our rows."""
    body = " and ".join(map(_condition, conditions)) or "true"
    if exists:
        body = f"exists ({', '.join(exists)} : {body})"
    return isl.Set(_union(f"[{', '.join(dims)}]", params, [body]))


def isl_points(points: isl.Set, width: int) -> Iterator[tuple[int, ...]]:
    """The points of a bounded set without parameters, in isl's order."""
    found: list[isl.Point] = []
    points.foreach_point(found.append)
    for point in found:
        yield tuple(point.get_coordinate_val(isl.dim_type.set, i).to_python() for i in range(width))
