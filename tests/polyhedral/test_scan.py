"""Loop trees, run, against the instances sorted by their times."""

import itertools
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyhedral import (
    Affine,
    Block,
    Condition,
    Guard,
    Leaf,
    Let,
    Loop,
    Node,
    Set,
    Statement,
    System,
    congruent,
    const,
    execute,
    isolated,
    payloads_of,
    pseudo_c,
    scan,
    tile,
    to_python,
    var,
)
from tests.polyhedral.oracle import holds, isl_points, isl_written
from tests.polyhedral.random_input import DIMS, HIGH, LOW, affines, boxed

i, j, k, t, m, n, depth = (var(x) for x in ("i", "j", "k", "t", "M", "N", "K"))
Written = tuple[tuple[str, ...], list[tuple[list[Condition], tuple[str, ...]]], tuple[Affine, ...]]
Instance = tuple[tuple[int, ...], int, tuple[int, ...]]


@st.composite
def schedules(draw: st.DrawFn, dims: tuple[str, ...], params: tuple[str, ...]) -> tuple[Affine, ...]:
    if draw(st.booleans()):
        return tuple(draw(st.lists(affines((*dims, *params), 2), min_size=1, max_size=2)))
    order = [var(d) + draw(st.sampled_from([0, 0, 1, -1])) for d in draw(st.permutations(dims))]
    if draw(st.booleans()):
        order.insert(draw(st.integers(0, len(order))), const(draw(st.integers(0, 2))))
    return tuple(order)


@st.composite
def programs(draw: st.DrawFn) -> tuple[bool, list[Written]]:
    params = ("N",) if draw(st.booleans()) else ()
    found: list[Written] = []
    for _ in range(draw(st.integers(1, 3))):
        dims = DIMS[: draw(st.integers(1, 2))]
        pieces = draw(st.lists(boxed(dims, params, most=2), min_size=1, max_size=2))
        found.append((dims, pieces, draw(schedules(dims, params))))
    return bool(params), found


def time_of(written: Written, values: dict[str, int], width: int) -> tuple[int, ...]:
    times = tuple(a.evaluate(values) for a in written[2])
    return times + (0,) * (width - len(times))


def wanted(program: list[Written], value: int) -> list[Instance]:
    width = max(len(w[2]) for w in program)
    found = []
    for number, written in enumerate(program):
        dims, pieces, _ = written
        for point in itertools.product(range(LOW, HIGH + 1), repeat=len(dims)):
            values = dict(zip(dims, point, strict=True)) | {"N": value}
            if any(holds(c, values, e) for c, e in pieces):
                found.append((time_of(written, values, width), number, point))
    return sorted(found)


def visited(tree: Node, program: list[Written], value: int) -> list[Instance]:
    width = max(len(w[2]) for w in program)
    found = []
    for number, values in execute(tree, {"N": value}):
        assert isinstance(number, int)
        written = program[number]
        point = tuple(values[d] for d in written[0])
        found.append((time_of(written, values | {"N": value}, width), number, point))
    return found


@settings(max_examples=70, deadline=None)
@given(programs(), st.booleans())
def test_every_instance_runs_once_and_in_order(case: tuple[bool, list[Written]], separate: bool) -> None:
    parametric, program = case
    statements = []
    for number, (dims, pieces, times) in enumerate(program):
        domain = Set.empty(dims)
        for parts, exists in pieces:
            domain = domain | Set.of(dims, *parts, exists=exists)
        statements.append(Statement(number, domain, times))
    tree = scan(statements, separate=separate)
    for value in (-2, 0, 1, 3) if parametric else (0,):
        found = visited(tree, program, value)
        assert sorted(found) == wanted(program, value)
        assert [f[:2] for f in found] == sorted(f[:2] for f in found)


Kind = TypeVar("Kind")


def nodes(tree: Node, kind: type[Kind]) -> list[Kind]:
    inner: list[Node] = []
    match tree:
        case Loop() | Let() | Guard():
            inner = [tree.body]
        case Block(children):
            inner = list(children)
        case _:
            pass
    own = [tree] if isinstance(tree, kind) else []
    return own + [x for n in inner for x in nodes(n, kind)]


def test_a_tiled_product_runs_in_the_order_that_isl_lists() -> None:
    box = Set.of(("i", "j", "k"), i >= 0, i < m, j >= 0, j < n, k >= 0, k < depth)
    domain = tile(box, {"i": 4, "j": 4, "k": 3}, {"i": "ci", "j": "cj", "k": "ck"})
    order = ("ci", "cj", "ck", "k", "i", "j")
    tree = scan([Statement("S", domain, tuple(map(var, order)))], System.of(m >= 0, n >= 0, depth >= 0))
    assert not nodes(tree, Guard)
    tiles = [c for d, o, s in (("i", "ci", 4), ("j", "cj", 4), ("k", "ck", 3)) for c in tile_conditions(d, o, s)]
    for sizes in ((1, 1, 1), (4, 8, 3), (5, 7, 4), (9, 3, 0), (0, 4, 4)):
        values = dict(zip("MNK", sizes, strict=True))
        limits = [i >= 0, i < sizes[0], j >= 0, j < sizes[1], k >= 0, k < sizes[2]]
        theirs = list(isl_points(isl_written(order, (), [*limits, *tiles]), 6))
        assert [tuple(v[d] for d in order) for _, v in execute(tree, values)] == sorted(theirs)


def tile_conditions(dim: str, outer: str, size: int) -> list[Condition]:
    return [size * var(outer) <= var(dim), var(dim) < size * var(outer) + size]


def pipeline() -> list[Statement]:
    def over(*parts: Condition) -> Set:
        return Set.of(("k",), *parts)

    whole, part, every = over(k >= 0, 32 * k + 32 <= depth), over(32 * k < depth, depth < 32 * k + 32), over(k >= 0)
    every = every.intersect(32 * k < depth)
    return [
        Statement("load_full", whole, (k - 1, const(0))),
        Statement("load_part", part.intersect(k >= 0), (k - 1, const(1))),
        Statement("store", every, (k - 1, const(2))),
        Statement("meet", every, (k - 1, const(3))),
        Statement("compute", every, (k, const(4))),
    ]


def test_a_pipeline_has_one_loop_and_clean_ends() -> None:
    tree = scan(pipeline(), System.of(depth >= 0))
    (loop,) = nodes(tree, Loop)
    assert not nodes(loop.body, Guard)
    assert [leaf.payload for leaf in nodes(loop.body, Leaf)] == ["load_full", "store", "meet", "compute"]
    assert len(nodes(tree, Let)) == 2
    assert len(nodes(tree, Leaf)) == 4 + 4 + 1 + 3 + 3


@pytest.mark.parametrize("value", [0, 1, 31, 32, 33, 63, 64, 65, 96, 200])
def test_a_pipeline_runs_in_order(value: int) -> None:
    tree = scan(pipeline(), System.of(depth >= 0))
    slabs = -(-value // 32)
    expected = []
    for step in range(-1, slabs):
        ahead = step + 1
        if ahead < slabs:
            load = "load_full" if 32 * ahead + 32 <= value else "load_part"
            expected += [(load, ahead), ("store", ahead), ("meet", ahead)]
        if step >= 0:
            expected.append(("compute", step))
    assert [(p, v["k"]) for p, v in execute(tree, {"K": value})] == expected


def test_a_triangle_in_full_and_partial_tiles() -> None:
    triangle = Set.of(("i", "j"), i >= 0, j >= 0, i + j <= 100)
    full, partial = isolated(triangle, {"i": 10, "j": 10})
    order = ("i_tile", "j_tile", "i", "j")
    tree = scan([Statement("full", full, tuple(map(var, order))), Statement("part", partial, tuple(map(var, order)))])
    run = list(execute(tree, {}))
    points = [(a // 10, b // 10, a, b) for a in range(101) for b in range(101 - a)]
    assert [tuple(v[d] for d in order) for _, v in run] == sorted(points)
    for name, v in run:
        corner = (v["i_tile"] * 10 + 9) + (v["j_tile"] * 10 + 9)
        assert (name == "full") == (corner <= 100)
    inner = [loop for loop in nodes(tree, Loop) if loop.name == "j" and nodes(loop, Leaf)[0].payload == "full"]
    assert inner
    assert all(len(loop.lower) == len(loop.upper) == 1 for loop in inner)


def test_an_existential_with_room_is_tested_once_for_each_instance() -> None:
    multiple = var("e")
    parts: list[Condition] = [i >= 0, i <= 1, n + 4 >= multiple, congruent(multiple, 3), multiple >= i]
    other: list[Condition] = [i >= 0, i <= 1, n + 2 >= 0, 2 * i - n - 2 >= multiple, multiple >= 1]
    domain = Set.of(("i",), *other, exists=("e",)) | Set.of(("i",), *parts, exists=("e",))
    tree = scan([Statement("S", domain, (i,))], separate=False)
    for value in range(-6, 8):
        expected = [
            v
            for v in (0, 1)
            if holds(parts, {"i": v, "N": value}, ("e",)) or holds(other, {"i": v, "N": value}, ("e",))
        ]
        assert [instance["i"] for _, instance in execute(tree, {"N": value})] == expected


def test_strides_become_steps() -> None:
    tree = scan([Statement("S", Set.of(("i",), i >= 0, i < n, congruent(i, 3, 1)), (i,))])
    assert pseudo_c(tree) == "for (i = 1; i <= N - 1; i += 3)\n  S(i=i)"
    tree = scan([Statement("S", Set.of(("i", "j"), i >= 0, i < n, j >= i, j < n, congruent(i + j, 3)), (i, j))])
    assert not nodes(tree, Guard)
    expected = [(a, b) for a in range(11) for b in range(a, 11) if (a + b) % 3 == 0]
    assert [(v["i"], v["j"]) for _, v in execute(tree, {"N": 11})] == expected


def test_constant_times_order_statements() -> None:
    domain = Set.of(("i",), i >= 0, i < n)
    tree = scan([Statement("B", domain, (1, i, 1)), Statement("A", domain, (0, i)), Statement("C", domain, (1, i, 0))])
    assert pseudo_c(tree) == (
        "for (i = 0; i <= N - 1; i++)\n  A(i=i)\nfor (i = 0; i <= N - 1; i++)\n  C(i=i)\n  B(i=i)"
    )


def test_equal_times_keep_the_order_of_the_statements() -> None:
    domain = Set.of(("i",), i >= 0, i < 3)
    tree = scan([Statement("B", domain, (i,)), Statement("A", domain, (i,))])
    assert [(p, v["i"]) for p, v in execute(tree, {})] == [(p, v) for v in range(3) for p in "BA"]


def test_unrolled_levels_have_no_loop() -> None:
    domain = Set.of(("i", "j"), i >= 0, i < n, j >= 2 * i, j < 2 * i + 3)
    tree = scan([Statement("S", domain, (i, j))], unroll=["j"])
    assert [loop.name for loop in nodes(tree, Loop)] == ["i"]
    assert [tuple(v.values()) for _, v in execute(tree, {"N": 3})] == [
        (a, 2 * a + b) for a in range(3) for b in range(3)
    ]
    with pytest.raises(ValueError, match="loop i cannot be unrolled"):
        scan([Statement("S", domain, (i, j))], unroll=[0])


def test_a_condition_on_parameters_stands_outside_the_loop() -> None:
    tree = scan([Statement("S", Set.of(("i",), i >= 0, i < 10, n >= 5), (i,))])
    assert pseudo_c(tree) == "if (N >= 5)\n  for (i = 0; i <= 9; i++)\n    S(i=i)"
    known = scan([Statement("S", Set.of(("i",), i >= 0, i < 10, n >= 5), (i,))], System.of(n >= 7))
    assert not nodes(known, Guard)


@pytest.mark.parametrize("value", [0, 1, 33, 100])
def test_python_source_runs_the_same_instances(value: int) -> None:
    strided = Set.of(("i", "j"), i >= 0, 3 * i <= depth, congruent(i + 2 * j, 3), 2 * j >= i, j < depth)
    statements = [*pipeline(), Statement("strided", strided, (i + 7, 2 * j))]
    tree = scan(statements, System.of(depth >= 0))
    names, calls = payloads_of(tree), []
    space: dict[str, object] = {}
    exec(to_python(tree, ["K"]), space)
    run = space["run"]
    assert callable(run)
    run(value, lambda number, *values: calls.append((names[number], values)))
    assert calls == [(payload, tuple(values.values())) for payload, values in execute(tree, {"K": value})]
    assert str(tree) == pseudo_c(tree)


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="loop i of S has no upper bound"):
        scan([Statement("S", Set.of(("i",), i >= 0), (i,))])
    with pytest.raises(ValueError, match="1 different loop names"):
        scan([Statement("S", Set.of(("i",), i >= 0, i < n), (i,))], names=("N",))


def test_an_item_alone_is_still_tested_for_what_is_open_of_it() -> None:
    i, j = var("i"), var("j")
    square = Set.of(("i", "j"), i >= 0, i <= 1, j >= 0, j <= 1)
    line = Set.of(("i",), i >= 0, i <= 2)
    tree = scan([Statement("A", square, (0, j)), Statement("B", line, (0, i))], separate=False)
    assert [n for n, _ in execute(tree, {})] == ["A", "A", "B", "A", "A", "B", "B"]
    tree = scan([Statement("A", line, (i,)), Statement("B", line, (0,))], separate=False)
    assert [n for n, _ in execute(tree, {})] == ["A", "B", "B", "B", "A", "A"]
