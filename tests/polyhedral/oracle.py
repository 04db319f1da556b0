"""The outside judges: enumeration of conditions as they are written, and islpy."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

import islpy as isl

from polyhedral import Affine, Condition, Congruence, Constraint, Map, Set, System

EXISTENTIAL_REACH = range(-45, 46)


def holds(conditions: Sequence[Condition], values: dict[str, int], exists: Sequence[str] = ()) -> bool:
    """Whether all conditions hold for some values of `exists` between -45 and 45."""
    if not exists:
        return all(c.holds(values) for c in conditions)
    return any(
        all(c.holds(values | dict(zip(exists, own, strict=True))) for c in conditions)
        for own in itertools.product(EXISTENTIAL_REACH, repeat=len(exists))
    )


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
