"""Units of the machine: every instance runs on just one, barriers run equally often on all; by running the loops."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyhedral import (
    Guard,
    Loop,
    Node,
    Set,
    Statement,
    System,
    Unit,
    congruent,
    divergence,
    execute,
    known_of_units,
    placed,
    scan,
    uniform,
    var,
)

i, j, n, step = var("i"), var("j"), var("N"), var("step")
LANES = Unit("lane", 4)
SIZES = (0, 1, 3, 4, 5, 9, 16, 18)


def copied() -> tuple[Statement, Statement]:
    """A line of N elements, four of each step on the four lanes, and what comes after each step."""
    line = Set.of(("i", "step"), i >= 0, i < n, 4 * step <= i, i < 4 * step + 4)
    return Statement("copy", line, (step, 0)), Statement("barrier", line.project_out("i"), (step, 1))


def traces(tree: Node, size: int, payload: str) -> list[list[dict[str, int]]]:
    return [[at for p, at in execute(tree, {"N": size, "lane": lane}) if p == payload] for lane in range(4)]


def test_each_instance_runs_on_one_lane_and_the_barrier_on_all() -> None:
    copy, barrier = copied()
    tree = scan([placed(copy, {"lane": i - 4 * step}), uniform(barrier, [LANES])], known_of_units([LANES]))
    assert divergence(tree, [LANES], {"barrier"}) is None
    for size in SIZES:
        seen = sorted(at["i"] for lane in traces(tree, size, "copy") for at in lane)
        assert seen == list(range(size))
        barriers = traces(tree, size, "barrier")
        assert barriers == [[{"step": k} for k in range(-(-size // 4))]] * 4


def test_a_barrier_that_only_the_lanes_with_work_reach_is_found() -> None:
    copy, _ = copied()
    mine = placed(copy, {"lane": i % 4})
    after = Statement("barrier", mine.domain, (step, 1))
    tree = scan([mine, after], known_of_units([LANES]))
    found = divergence(tree, [LANES], {"barrier"})
    assert isinstance(found, (Loop, Guard))
    assert "lane" in str(found)
    assert divergence(tree, [LANES], {"nothing"}) is None
    assert any(len({len(t) for t in traces(tree, size, "barrier")}) > 1 for size in SIZES)
    everywhere = scan([mine, uniform(after, [LANES])], known_of_units([LANES]))
    assert divergence(everywhere, ["lane"], {"barrier"}) is None
    for size in SIZES:
        assert len({str([at["step"] for at in t]) for t in traces(everywhere, size, "barrier")}) == 1


def test_blocks_warps_and_lanes_share_a_plane() -> None:
    plane = Statement("s", Set.of(("i", "j"), i >= 0, i < n, j >= 0, j < n), (i, j))
    units = [Unit("block", 3), Unit("warp", 2), LANES]
    mine = placed(plane, {"block": i % 3, "warp": j // 4, "lane": j % 4})
    tree = scan([mine], known_of_units(units))
    for size in (0, 1, 5, 8):
        seen = [
            (at["i"], at["j"])
            for b, w, lane in itertools.product(range(3), range(2), range(4))
            for _, at in execute(tree, {"N": size, "block": b, "warp": w, "lane": lane})
        ]
        assert sorted(seen) == list(itertools.product(range(size), repeat=2))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 5), st.integers(0, 3), st.sampled_from([1, 2, 3]), st.integers(-2, 2), st.booleans())
def test_what_is_called_uniform_runs_alike(a: int, b: int, modulus: int, shift: int, made_uniform: bool) -> None:
    points = Set.of(
        ("i",), i >= shift * var("lane"), a * i <= n + b * var("lane"), congruent(i + b * var("lane"), modulus)
    )
    barrier = Statement("barrier", points, (i,))
    tree = scan([uniform(barrier, [LANES]) if made_uniform else barrier], known_of_units([LANES]) & System.of(n >= 0))
    alike = all(len({str(t) for t in traces(tree, size, "barrier")}) == 1 for size in SIZES)
    if divergence(tree, [LANES], {"barrier"}) is None:
        assert alike
    if made_uniform:
        assert divergence(tree, [LANES], {"barrier"}) is None


def test_mistakes_are_named() -> None:
    copy, _ = copied()
    with pytest.raises(ValueError, match="the unit step is a dimension of the statement"):
        placed(copy, {"step": i})
