"""Tiles against enumeration, and maps against islpy."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyhedral import Condition, Map, Set, System, full_tiles, isolated, tile, var
from tests.polyhedral.oracle import holds, isl_map, isl_set
from tests.polyhedral.random_input import HIGH, LOW, boxed, conditions

i, j, m, n = (var(x) for x in ("i", "j", "M", "N"))


@settings(max_examples=60, deadline=None)
@given(boxed(("i", "j"), ("N",), exists=False, convex=True), st.integers(1, 4), st.integers(1, 3), st.integers(-2, 2))
def test_full_tiles_are_those_with_all_their_points(
    written: tuple[list[Condition], tuple[str, ...]], height: int, width: int, offset: int
) -> None:
    parts, _ = written
    domain = Set.of(("i", "j"), *parts)
    sizes, offsets = {"i": height, "j": width}, {"i": offset}
    full, partial = full_tiles(domain, sizes, offsets=offsets)
    inside, edge = isolated(domain, sizes, offsets=offsets)
    for value in (-1, 0, 2):
        points = {
            p
            for p in itertools.product(range(LOW, HIGH + 1), repeat=2)
            if holds(parts, {"i": p[0], "j": p[1], "N": value})
        }
        tiles: dict[tuple[int, int], int] = {}
        for a, b in points:
            key = ((a - offset) // height, b // width)
            tiles[key] = tiles.get(key, 0) + 1
        assert set(full.points({"N": value})) == {t for t, count in tiles.items() if count == height * width}
        assert set(partial.points({"N": value})) == {t for t, count in tiles.items() if count < height * width}
        both = [p[2:] for part in (inside, edge) for p in part.points({"N": value})]
        assert sorted(both) == sorted(points)
        assert {p[2:] for p in tile(domain, sizes, offsets=offsets).points({"N": value})} == points


def test_full_tiles_of_a_parametric_box_are_one_system() -> None:
    full, partial = full_tiles(Set.of(("i", "j"), i >= 0, i < m, j >= 0, j < n), {"i": 128, "j": 64})
    a, b = var("i_tile"), var("j_tile")
    assert full.equals(Set.of(("i_tile", "j_tile"), a >= 0, b >= 0, 128 * a + 128 <= m, 64 * b + 64 <= n))
    assert len(full.pieces) == 1
    assert len(partial.pieces) == 2


def test_mistakes_are_named() -> None:
    box = Set.of(("i",), i >= 0, i < n)
    with pytest.raises(ValueError, match="cannot tile 'j'"):
        tile(box, {"j": 4})
    with pytest.raises(ValueError, match="positive integer"):
        tile(box, {"i": 0})
    with pytest.raises(ValueError, match="the name is taken"):
        tile(box, {"i": 4}, {"i": "N"})
    with pytest.raises(ValueError, match="names a dimension twice"):
        Map.of(("i",), ("i",))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(conditions(("i", "a", "N")), min_size=1, max_size=3),
    st.lists(conditions(("b", "c", "N")), min_size=1, max_size=3),
    st.lists(conditions(("x", "N")), max_size=3),
)
def test_maps_agree_with_isl(one: list[Condition], other: list[Condition], points: list[Condition]) -> None:
    f, g = Map.of(("i",), ("a",), *one), Map.of(("b",), ("c",), *other)
    s = Set.of(("x",), *points)
    first, second, third = isl_map(f, ("N",)), isl_map(g, ("N",)), isl_set(s, ("N",))
    assert isl_map(f.then(g), ("N",)).is_equal(first.apply_range(second))
    assert isl_map(g.compose(f), ("N",)).is_equal(first.apply_range(second))
    assert isl_map(f.inverse(), ("N",)).is_equal(first.reverse())
    assert isl_set(f.domain(), ("N",)).is_equal(first.domain())
    assert isl_set(f.range(), ("N",)).is_equal(first.range())
    assert isl_set(f.apply(s), ("N",)).is_equal(third.apply(first))
    assert isl_map(f - g, ("N",)).is_equal(first.subtract(second))
    assert f.is_subset(g) == first.is_subset(second)
    assert f.is_injective() == first.is_injective()


def test_an_affine_map_is_a_function() -> None:
    f = Map.affine(("i", "j"), {"x": 2 * i + j, "y": i - 1}, Set.of(("i", "j"), i >= 0, i < 3, j >= 0, j < 2))
    assert list(f.pairs()) == [((a, b), (2 * a + b, a - 1)) for a in range(3) for b in range(2)]
    assert f.is_injective()
    assert not Map.affine(("i", "j"), {"x": i + j}).is_injective()
    assert (
        f.intersect(System.of(var("x") >= 5)).range().equals(Set.of(("x", "y"), var("x").equals(5), var("y").equals(1)))
    )
