"""Steps on schedule trees: the instances stay, their order is the one that the step says; texts go to isl and back."""

from collections.abc import Callable

import islpy as isl
import pytest

from polyhedral import Band, Domain, execute, parse_schedule, parse_set, scan_schedule, schedule_text
from polyhedral.schedule_steps import fissioned, fused, interchanged, skewed, split_index_set, tiled
from polyhedral.schedule_tree import ScheduleNode

TEXT = """
domain: "[N] -> { A[i,j] : 0 <= i < N and 0 <= j <= i; B[i,j] : 0 <= i < N and 0 <= j < 4 }"
child:
  schedule: "[N] -> [{ A[i,j] -> [i]; B[i,j] -> [i + 1] }, { A[i,j] -> [j]; B[i,j] -> [j] }]"
  permutable: 1
  coincident: [ 1, 0 ]
  options: "{ separate[0]; atomic[1] }"
  child:
    sequence:
    - filter: "[N] -> { A[i,j] }"
    - filter: "[N] -> { B[i,j] }"
"""
Instance = tuple[str, int, int]


def row(x: Instance) -> int:
    return x[1] + (x[0] == "B")


STEPS: dict[str, tuple[Callable[[Band], ScheduleNode], Callable[[Instance], tuple[object, ...]]]] = {
    "none": (lambda b: b, lambda x: (row(x), x[2], x[0])),
    "tiled": (lambda b: tiled(b, (3, 2)), lambda x: (row(x) // 3, x[2] // 2, row(x), x[2], x[0])),
    "interchanged": (lambda b: interchanged(b, (1, 0)), lambda x: (x[2], row(x), x[0])),
    "skewed": (lambda b: skewed(b, 1, 0, 2), lambda x: (row(x), x[2] + 2 * row(x), x[0])),
    "fissioned": (fissioned, lambda x: (x[0], row(x), x[2])),
    "fused again": (lambda b: fused(fissioned(b)), lambda x: (row(x), x[2], x[0])),
}


def run(tree: Domain, size: int) -> list[Instance]:
    return [(str(name), *dims.values()) for name, dims in execute(scan_schedule(tree), {"N": size})]  # type: ignore[misc]


@pytest.mark.parametrize("name", STEPS)
def test_a_step_changes_the_order_as_it_says(name: str) -> None:
    step, order = STEPS[name]
    tree = parse_schedule(TEXT)
    assert isinstance(tree.child, Band)
    changed = Domain(tree.domain, step(tree.child))
    for size in (0, 1, 5, 8):
        every = [("A", i, j) for i in range(size) for j in range(i + 1)]
        every += [("B", i, j) for i in range(size) for j in range(4)]
        assert run(changed, size) == sorted(every, key=order)


@pytest.mark.parametrize("name", STEPS)
def test_the_text_is_a_tree_of_isl_and_ours_again(name: str) -> None:
    tree = parse_schedule(TEXT)
    assert isinstance(tree.child, Band)
    text = schedule_text(Domain(tree.domain, STEPS[name][0](tree.child)))
    assert isl.Schedule(text).get_map().is_equal(isl.Schedule(schedule_text(parse_schedule(text))).get_map())


def test_an_index_set_is_split() -> None:
    tree = parse_schedule(TEXT)
    part = parse_set("[N] -> { A[i,j] : j < 2; B[i,j] : i < 3 }")
    split = Domain(tree.domain, split_index_set(tree.domain, part, tree.child))
    found = run(split, 6)
    inside = [x for x in found if (x[2] < 2 if x[0] == "A" else x[1] < 3)]
    assert found[: len(inside)] == inside
    assert sorted(found) == sorted(run(tree, 6))


def test_mistakes_are_named() -> None:
    band = parse_schedule(TEXT).child
    assert isinstance(band, Band)
    with pytest.raises(ValueError, match="as many positive sizes"):
        tiled(band, (3,))
    with pytest.raises(ValueError, match="no order of the 2 members"):
        interchanged(band, (0, 0))
    with pytest.raises(ValueError, match="by one before it"):
        skewed(band, 0, 1, 1)
    with pytest.raises(ValueError, match="are bands"):
        fused(split_index_set(parse_set("{ A[i,j] }"), parse_set("{ B[i,j] }")))
