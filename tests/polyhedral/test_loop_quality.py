"""How few leaves, tests and loops the trees have, and that they run what they should all the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from polyhedral import (
    Condition,
    Guard,
    Let,
    Loop,
    Node,
    Set,
    Statement,
    System,
    congruent,
    const,
    control,
    execute,
    leaves,
    pseudo_c,
    scan,
    tile,
    var,
)
from polyhedral.components import components
from polyhedral.surroundings import Surroundings
from tests.polyhedral.oracle import isl_set
from tests.polyhedral.random_input import conditions
from tests.polyhedral.test_scan import nodes

i, j, k, m, n = (var(x) for x in ("i", "j", "k", "M", "N"))


def instances(tree: Node, **params: int) -> list[tuple[object, ...]]:
    return [(payload, *values.values()) for payload, values in execute(tree, params)]


def over(*parts: Condition) -> Set:
    return Set.of(("i", "j"), *parts)


def test_a_statement_before_all_of_another_is_no_part_of_its_loop() -> None:
    first = Statement("A", Set.of(("i",), i >= 0, i < n), (i, const(-7), const(0)))
    rest = Statement("B", over(i >= 0, i < n, j >= -7, j <= i - 7), (i, j, const(1)))
    last = Statement("C", Set.of(("i",), i >= 0, i < n), (i, i - 7, const(2)))
    tree = scan([last, rest, first])
    assert leaves(tree) == 3
    assert not nodes(tree, Guard)
    expected = [c for a in range(4) for c in [("A", a), *(("B", a, b) for b in range(-7, a - 6)), ("C", a)]]
    assert instances(tree, N=4) == expected


def triangle_and_row() -> list[Statement]:
    """At each i a row of S for all but the last, and of R for all but the first."""
    before = Statement("R", over(i >= 1, i < n, j >= 0, j < i), (i, const(0), j))
    after = Statement("S", over(i >= 0, i < n - 1, j > i, j < n), (i, const(1), j))
    return [before, after]


def test_regions_are_joined_where_inner_loops_are_empty_and_cut_where_it_is_asked_for() -> None:
    chosen, cut = scan(triangle_and_row()), scan(triangle_and_row(), separate=True)
    assert leaves(chosen) == 2
    assert not nodes(chosen, Guard)
    expected = [x for a in range(5) for x in [("R", a, b) for b in range(a)] + [("S", a, b) for b in range(a + 1, 5)]]
    assert instances(chosen, N=5) == instances(cut, N=5) == expected


def test_a_rare_statement_beside_a_long_loop_is_tested_and_beside_a_short_body_peeled() -> None:
    rare = Statement("A", Set.of(("i",), i.equals(0)), (i, const(2)))
    row = Statement("B", over(i >= 0, i < n, j >= 0, j < n), (i, const(1), j))
    known = System.of(n >= 1)
    tree = scan([rare, row], known)
    assert leaves(tree) == 2
    assert leaves(scan([rare, row], known, separate=True)) == 3
    single = Statement("B", Set.of(("i",), i >= 0, i < n), (i, const(1)))
    short = scan([rare, single], known)
    assert leaves(short) == 3
    assert not nodes(short, Guard)


def test_a_test_never_enters_a_loop_that_two_statements_share() -> None:
    whole = Statement("A", over(i >= 0, i < n, j >= 0, j < n), (i, j, const(0)))
    part = Statement("B", over(i >= 2, i < m, j >= 0, j < n), (i, j, const(1)))
    tree = scan([whole, part], System.of(n >= 4, m >= 4, n >= m))
    for loop in nodes(tree, Loop):
        assert loop.name != "j" or not nodes(loop.body, Guard)


def test_ties_may_be_broken_either_way() -> None:
    row = Statement("A", Set.of(("i",), i >= 0, i < n), (i, n))
    square = Statement("B", over(i >= 0, i < n, j >= 0, j <= n), (i, j))
    free = scan([row, square], ties=False)
    assert leaves(free) == 2
    strict = scan([square, row])
    assert [x[0] for x in instances(strict, N=2)] == ["B", "B", "B", "A"] * 2
    assert sorted(instances(free, N=3), key=str) == sorted(instances(strict, N=3), key=str)


def test_a_stride_whose_residue_is_half_a_parameter_is_a_step() -> None:
    line = Set.of(("i",), i >= 0, i <= 100, congruent(2 * i - n, 4))
    tree = scan([Statement("S", line, (i,))])
    (loop,) = nodes(tree, Loop)
    assert loop.step == 2
    assert not nodes(loop.body, Guard)
    for value in range(-3, 6):
        assert [v[1] for v in instances(tree, N=value)] == [a for a in range(101) if (2 * a - value) % 4 == 0]


def test_a_level_wide_as_its_step_is_no_loop() -> None:
    point = Set.of(("i", "j"), i >= 0, i < n, j >= i, j < i + 8, congruent(j, 8))
    tree = scan([Statement("S", point, (i, j))])
    assert [loop.name for loop in nodes(tree, Loop)] == ["i"]
    assert len(nodes(tree, Let)) == 1
    assert instances(tree, N=20) == [("S", a, -(-a // 8) * 8) for a in range(20)]


def test_strides_of_outer_loops_make_inner_bounds_plain() -> None:
    stripes = Set.of(("i", "j"), i >= 0, i < n, congruent(i, 32), j >= i - 30, j < m, congruent(j, 32))
    tree = scan([Statement("S", stripes, (i, j))])
    assert pseudo_c(tree) == (
        "for (i = 0; i <= min(M + 29, N - 1); i += 32)\n  for (j = i; j <= M - 1; j += 32)\n    S(i=i, j=j)"
    )


def test_guards_of_unrolled_copies_are_nested_and_hoisted() -> None:
    strip = Set.of(("i", "j"), i >= 0, i < n, j >= 0, j < m, j < 3)
    tree = scan([Statement("S", strip, (i, j))], unroll=["j"])
    assert pseudo_c(tree) == (
        "if (M >= 1)\n  for (i = 0; i <= N - 1; i++)\n    S(i=i, j=0)\n    if (M >= 2)\n      S(i=i, j=1)\n"
        "      if (M >= 3)\n        S(i=i, j=2)"
    )
    for value in range(5):
        assert instances(tree, N=2, M=value) == [("S", a, b) for a in range(2) for b in range(min(value, 3))]


def test_copies_that_run_without_those_before_are_not_inside_of_their_guards() -> None:
    window = Set.of(("j",), j >= 0, j <= 2, j >= n - 2, j <= m)
    tree = scan([Statement("S", window, (j,))], unroll=["j"])
    for first in range(-1, 6):
        for last in range(-1, 4):
            assert instances(tree, N=first, M=last) == [("S", b) for b in range(3) if first - 2 <= b <= last]


def test_a_quotient_that_nothing_uses_is_not_computed() -> None:
    tiled = tile(Set.of(("i",), i.equals(n - 1), n >= 1), {"i": 32})
    tree = scan([Statement("S", tiled, (var("i_tile"), i), hidden=("i_tile",))])
    assert pseudo_c(tree) == "if (N >= 1)\n  S(i=N - 1)"
    assert control(tree, {"N": 77}).cost() == 1


def test_pieces_of_a_domain_that_make_one_system_are_one_loop() -> None:
    halves = Set.of(("i",), i >= 0, i < n, i < m) | Set.of(("i",), i >= 0, i < n, i >= m)
    assert pseudo_c(scan([Statement("S", halves, (i,))])) == "for (i = 0; i <= N - 1; i++)\n  S(i=i)"


@settings(max_examples=60, deadline=None)
@given(st.lists(conditions(("M", "N", "i", "j")), min_size=1, max_size=4), st.data())
def test_what_is_left_to_test_says_the_same_where_it_is_known(parts: list[Condition], data: st.DataObject) -> None:
    known = System.of(*data.draw(st.lists(conditions(("M", "N", "i", "j")), min_size=1, max_size=4)))
    if known.is_empty():
        return
    system = System.of(*parts)
    left = Surroundings.of(known).gist_of(system)
    both, again = (isl_set(Set(("i", "j"), (known & s,)), ("M", "N")) for s in (system, left))
    assert both.is_equal(again)


def test_parts_share_no_variable() -> None:
    system = System.of(i >= 0, i < n, j >= 2, congruent(j, 3), m >= 5)
    parts = components(system)
    assert parts is not None
    assert sorted(n for p in parts for n in p.names) == ["$0", "M", "N", "i", "j"]
    assert [len(p.equalities) + len(p.inequalities) for p in parts] == [2, 1, 2] or len(parts) == 3
