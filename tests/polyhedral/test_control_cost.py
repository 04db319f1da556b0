"""What the control of our loops costs when they run, beside isl's loops of the same inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyhedral import Control, Statement, System, Weights, control, leaves, scan, var
from polyhedral import Set as Points
from tests.polyhedral.cloog_reader import NotTaken, read
from tests.polyhedral.codegen_inputs import Both, both, both_of_scanning, parameter_values
from tests.polyhedral.isl_loops import TooMany, run
from tests.polyhedral.isl_loops import leaves as isl_leaves
from tests.polyhedral.test_cloog import NOT_BOUNDED
from tests.polyhedral.test_cloog import inputs as cloog_inputs
from tests.polyhedral.test_isl_codegen import NOT_TAKEN, inputs

MOST_INSTANCES = 2500
COSTLY = {
    "equality": "isl joins three guards that exclude each other into one chain of else; our tree has no else",
    "cloog/sor1d.st": "isl finds the one value of a level behind a quotient, ours tests it at the leaf",
    "polly.st": "cases of quotients of parameters are tested one by one, each with its divisions",
    "unroll11.in": "cases of a quotient are each unrolled with divisions of their own",
}
Figures = tuple[int, int, int, int]


def figures(case: Both) -> Figures:
    """The cost of ours and of isl's over the parameter values, and the leaves in both texts."""
    own = other = 0
    for values in parameter_values(case):
        try:
            theirs = run(case.theirs, values, MOST_INSTANCES)
        except TooMany:
            continue
        found = control(case.ours, values)
        assert found.instances == len(theirs.instances)
        own, other = own + found.cost(), other + theirs.control.cost()
    return own, other, leaves(case.ours), isl_leaves(case.theirs)


def total(found: dict[str, Figures]) -> tuple[float, float]:
    """Ours as a share of isl's: cost and leaves."""
    sums = [sum(f[k] for f in found.values()) for k in range(4)]
    return sums[0] / sums[1], sums[2] / sums[3]


def costly(found: dict[str, Figures]) -> set[str]:
    """The inputs that cost more than twice isl's."""
    return {n for n, f in found.items() if f[0] > 2 * f[1] and f[0] > 8}


def test_what_is_counted() -> None:
    i, n = var("i"), var("N")
    line = Points.of(("i",), i >= 0, 3 * i <= n, i <= 7)
    tree = scan([Statement("S", line, (i,))], System.of(n >= 0))
    assert control(tree, {"N": 12}) == Control(steps=5, comparisons=0, extrema=1, divisions=1, instances=5)
    assert control(tree, {"N": 12}).cost() == 5 + 1 + 4
    assert control(tree, {"N": 12}).cost(Weights(division=10)) == 16
    assert leaves(tree) == 1


@pytest.mark.slow
def test_cost_of_the_cloog_suite(shared_folder: Path) -> None:
    found = {}
    for name, path in cloog_inputs(shared_folder).items():
        if name in NOT_BOUNDED:
            continue
        try:
            found[name] = figures(both_of_scanning(read(path)))
        except NotTaken:
            continue
    cost, text = total(found)
    print(f"\n{len(found)} inputs of CLooG: cost {cost:.3f}, leaves {text:.3f} of isl's")
    assert len(found) >= 143
    assert cost <= 1.0, cost
    assert text <= 1.2, text
    assert costly(found) <= set(COSTLY)


@pytest.mark.slow
def test_cost_of_the_isl_suite(shared_folder: Path) -> None:
    found = {n: figures(both(p)) for n, p in inputs(shared_folder).items() if n not in NOT_TAKEN}
    cost, text = total(found)
    print(f"\n{len(found)} inputs of isl: cost {cost:.3f}, leaves {text:.3f} of isl's")
    assert costly(found) <= set(COSTLY)
    assert cost <= 1.0, cost
    assert text <= 1.2, text
