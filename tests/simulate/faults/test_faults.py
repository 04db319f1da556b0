"""Faults put into kernels of every kind: each is told of, with the right kind and place, or is shown to be none.

A fault is **found** where a finding is of a kind that it may have (`judging.KINDS`) and at the fault: at the changed
instruction for what concerns one access; with its two parties on both sides of what ordered them, for a barrier; at an
instruction of a thread that runs the changed one, for the rest; and for deadlocks and places that nobody wrote where a
thread, perhaps of another role, waits or reads in vain. A **wrong result** counts alone for bounds, guards and missing
writes, which compute something else without touching anything out of turn, and, in a random order, for fences between
strong accesses, which never race. A run that **does not end** counts where threads may ask forever for what never
comes. What **survives** changes no result in any order tried, and is equivalent because a run shows it
(`equivalents.Shown`), or by a reason written down for the place (`reasons.REASONS`).

All operators at every statement, as it came out (what no arguments reach is a wait that pauses after many questions):

    kernel              faults  found  wrong result  does not end  equivalent  not reached
    reduction              141    108            17             0          16            0
    transpose               45     37             3             0           5            0
    bounded                 11      8             3             0           0            0
    pipeline                84     75             4             0           5            0
    warps                   65     54            10             0           1            0
    hand_over               78     56             3             9          10            0
    scan                   152    111            21             0          20            0
    histogram               47     28            10             0           9            0
    last_block              88     66            17             0           5            0
    phases                 110     78             5             0          11           16
    cluster_histogram       36     31             5             0           0            0
    triton_softmax          82     71             5             0           6            0
    triton_matmul          250    200            16             0          34            0
    volta                  393    253            61             1          78            0
    ampere                 387    291            61             1          34            0
    hopper_derived         245    177            30             1          37            0
    hopper_written         228    214             6             1           7            0
    ring                   108    103             1             1           3            0
    stores                  56     43             5             0           8            0
    exchange                93     85             5             1           2            0
    lanes                   99     93             1             1           4            0
    groups                  88     73            12             0           3            0
    all                   2886   2255           301            16         298           16
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from ptxgen.simulate import simulator
from tests.simulate.faults.cases import CASES
from tests.simulate.faults.edits import Mutant
from tests.simulate.faults.equivalents import shown
from tests.simulate.faults.judging import Judge, Verdict, equal, run
from tests.simulate.faults.operators import mutants
from tests.simulate.faults.reasons import REASONS

QUICK = ("reduction", "transpose", "bounded", "pipeline", "warps", "hand_over", "ring", "stores", "lanes")
SAMPLED = {"transpose": 1, "pipeline": 3, "warps": 3, "ring": 11, "stores": 3, "lanes": 13, "scan": 17}
TOLD = (Verdict.FOUND, Verdict.WRONG, Verdict.ENDLESS)


def slow_but(names: Iterable[str]) -> list[object]:
    """All cases, those of other names marked slow."""
    return [name if name in names else pytest.param(name, marks=pytest.mark.slow) for name in CASES]


@pytest.mark.parametrize("name", slow_but(QUICK))
def test_nothing_is_found_in_twenty_orders_where_nothing_is_wrong(name: str):
    case = CASES[name]()
    judge, decoded = Judge.of(case), simulator(case.module, case.kernel)
    for seed in range(20):
        for launch, wanted in list(zip(case.launches, judge.wanted, strict=True))[:3]:
            report, made = run(decoded, launch, seed)
            report.raise_findings()
            assert all(map(equal, made, wanted)), seed


def outcomes(judge: Judge, name: str, faults: Iterable[Mutant]) -> tuple[Counter[str], list[str]]:
    """How many faults of a case came to what, and those that neither a run tells of nor a reason explains."""
    table: Counter[str] = Counter()
    left: list[str] = []
    used: Counter[int] = Counter()
    for mutant in faults:
        if mutant.change.places[0] not in judge.ran:
            table["not reached"] += 1
            continue
        outcome = judge.judge(mutant)
        if outcome.verdict in TOLD:
            table[outcome.verdict.value] += 1
        elif outcome.verdict is Verdict.SURVIVES and _explained(judge, name, mutant, used):
            table["equivalent"] += 1
        else:
            left.append(f"{outcome.verdict.value}: {mutant.name} {[str(each) for each in outcome.findings]}")
    too_many = [each.why for place, each in enumerate(REASONS.get(name, ())) if used[place] > each.count]
    return table, left + [f"more than counted: {why}" for why in too_many]


def _explained(judge: Judge, name: str, mutant: Mutant, used: Counter[int]) -> bool:
    if shown(judge, mutant) is not None:
        return True
    place = next((at for at, each in enumerate(REASONS.get(name, ())) if each.holds(mutant)), None)
    if place is not None:
        used[place] += 1
    return place is not None


@pytest.mark.parametrize("name", SAMPLED)
def test_some_faults_are_told_of(name: str):
    judge = Judge.of(CASES[name]())
    faults = list(mutants(judge.kernel, judge.case.launches[0].block))[:: SAMPLED[name]]
    _, left = outcomes(judge, name, faults)
    assert not left, "\n".join(left)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_fault_is_told_of(name: str, capsys: pytest.CaptureFixture[str]):
    judge = Judge.of(CASES[name]())
    faults = list(mutants(judge.kernel, judge.case.launches[0].block))
    table, left = outcomes(judge, name, faults)
    with capsys.disabled():
        print(f"\n{name}: {len(faults)} faults, {dict(table)}")
    assert not left, "\n".join(left)
    assert table["found"] > 0
