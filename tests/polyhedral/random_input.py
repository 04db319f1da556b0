"""Random conditions for the tests that compare with enumeration and islpy."""

from __future__ import annotations

from functools import lru_cache

from hypothesis import strategies as st

from polyhedral import Affine, Condition, congruent, var

DIMS = ("i", "j", "k")
COEFFICIENTS = st.sampled_from([0, 0, 1, -1, 1, -1, 2, -2, 3, -3])
LOW, HIGH = -2, 4


@lru_cache
def affines(names: tuple[str, ...], reach: int = 6) -> st.SearchStrategy[Affine]:
    """Expressions with small coefficients."""
    return st.builds(
        lambda coefficients, constant: Affine.of(dict(zip(names, coefficients, strict=True)), constant),
        st.tuples(*[COEFFICIENTS] * len(names)),
        st.integers(-reach, reach),
    )


@lru_cache
def conditions(names: tuple[str, ...]) -> st.SearchStrategy[Condition]:
    """Mostly inequalities, some equalities and congruences."""
    affine = affines(names)
    return st.one_of(
        affine.map(lambda a: a >= 0),
        affine.map(lambda a: a >= 0),
        affine.map(lambda a: a >= 0),
        affine.map(lambda a: a.equals(0)),
        st.builds(congruent, affine, st.sampled_from([2, 3, 4])),
    )


LOWEST, HIGHEST, FACTORS = st.integers(LOW, 1), st.integers(1, HIGH), st.sampled_from([1, 2, 3])


@lru_cache
def _parts(names: tuple[str, ...], most: int, convex: bool) -> st.SearchStrategy[list[Condition]]:
    return st.lists(affines(names).map(lambda a: a >= 0) if convex else conditions(names), max_size=most)


@st.composite
def boxed(
    draw: st.DrawFn,
    dims: tuple[str, ...],
    params: tuple[str, ...],
    exists: bool = True,
    most: int = 3,
    convex: bool = False,
) -> tuple[list[Condition], tuple[str, ...]]:
    """Conditions that keep every dimension within [LOW, HIGH], and the names that are existential in them."""
    own = ("e",) if exists and draw(st.booleans()) else ()
    found: list[Condition] = []
    for dim in dims:
        found += [var(dim) >= draw(LOWEST), var(dim) <= draw(HIGHEST)]
    found += draw(_parts((*dims, *params, *own), most, convex))
    if own:
        found.append(var("e") * draw(FACTORS) >= draw(affines(dims)))
    return found, own
