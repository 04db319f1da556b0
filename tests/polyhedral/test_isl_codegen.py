"""The inputs of isl's code generation tests: the instances that isl's own loops run, in the order of their times."""

from pathlib import Path

import islpy as isl
import pytest

from polyhedral import Node, execute
from tests.polyhedral.cloog_reader import BOXES
from tests.polyhedral.codegen_inputs import Both, both, parameter_values, times_of, values_of_an_instance
from tests.polyhedral.isl_loops import Instance, TooMany, run

NOT_TAKEN = {
    "cloog/infinite2.st": "a loop without an upper bound",
    "redundant.st": "a union of many cases with free existentials takes minutes to make disjoint",
    "roman.in": "remainders by 2**32 of negative expressions take minutes to tell apart",
}
MOST_INSTANCES = 6000
LARGE = {
    "cloog/faber.st": 90_000,
    "cloog/mod3.st": 40_000,
    "cloog/reservoir-lim-lam1.st": 20_000,
    "cloog/vivien2.st": 40_000,
    "isolate2.st": 10_000,
    "stride.in": 11_000,
    "unroll2.in": 100_000,
    "unroll9.st": 40_000,
}
WITHOUT_INSTANCES = {"cloog/multi-stride.st"}
QUICK = (
    *("atomic.st", "atomic3.in", "component3.st", "component6.st", "correlation.st", "disjuncts2.st", "expansion.st"),
    *("filter.st", "gemm.st", "isolate3.st", "isolate6.st", "isolate7.st", "separation_class.in"),
    *("mod2.st", "shift_unroll.in", "stride5.in", "stride7.in", "unroll8.st", "cloog/union.st"),
)


def visited(tree: Node, values: dict[str, int], most: int) -> list[Instance]:
    found: list[Instance] = []
    for name, dims in execute(tree, values):
        found.append((str(name), tuple(dims.values())))
        assert len(found) <= most, "more instances than isl has"
    return found


def out_of_order(found: list[Instance], case: Both, values: dict[str, int], theirs: list[Instance]) -> bool:
    try:
        times = times_of(case.times, values)
    except isl.Error:
        return found != theirs
    seen = [times[instance].pop(0) for instance in found]
    return seen != sorted(seen)


def check(name: str, path: Path) -> list[int]:
    """Compares an input with isl at each value of its parameters that it can run: how many instances each has."""
    case = both(path, BOXES.get(path.stem) if name.startswith("cloog/") else None)
    compared = []
    small = list(parameter_values(case))
    for values in [*small, *(v for v in values_of_an_instance(case) if v not in small)]:
        try:
            theirs = list(run(case.theirs, values, LARGE.get(name, MOST_INSTANCES)).instances)
        except TooMany:
            continue
        found = visited(case.ours, values, len(theirs))
        assert sorted(found) == sorted(theirs), values
        assert not out_of_order(found, case, values, theirs), values
        compared.append(len(found))
    return compared


def inputs(folder: Path) -> dict[str, Path]:
    suite = folder / "suites" / "isl_codegen"
    found = [*suite.rglob("*.st"), *suite.rglob("*.in")]
    return {path.relative_to(suite).as_posix(): path for path in sorted(found)}


@pytest.mark.parametrize("name", QUICK)
def test_an_input_runs_as_isl_runs_it(name: str, shared_folder: Path) -> None:
    assert sum(check(name, inputs(shared_folder)[name])) > 0


@pytest.mark.slow
def test_every_input_runs_as_isl_runs_it(shared_folder: Path) -> None:
    wrong, compared = {}, {}
    taken = {n: p for n, p in inputs(shared_folder).items() if n not in NOT_TAKEN}
    for name, path in taken.items():
        try:
            compared[name] = check(name, path)
        except (AssertionError, KeyError) as error:
            wrong[name] = f"{error}"[:200]
    assert not wrong
    assert [n for n, counts in compared.items() if not counts] == []
    assert {n for n, counts in compared.items() if not any(counts)} == WITHOUT_INSTANCES
    assert len(taken) >= 207
    assert sum(map(len, compared.values())) > 750


def test_a_loop_without_a_bound_is_refused(shared_folder: Path) -> None:
    with pytest.raises(ValueError, match="has no upper bound: a scan needs domains bounded"):
        both(inputs(shared_folder)["cloog/infinite2.st"])
