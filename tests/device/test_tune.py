"""The gate and the search on a GPU: good plans pass, cheats are refused, and the best is the quickest."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import pytest
from attrs import evolve

from ptxgen.kernels.call import target_of
from ptxgen.kernels.matmul_menu import Sizes
from ptxgen.kernels.processors import processor_here
from ptxgen.plan import sms
from ptxgen.tune import Refusal, Stage, Timing, Tuner
from ptxgen.tune.gate import Gate
from ptxgen.tune.making import Made, Wanted, make
from ptxgen.tune.on_device import OnGpu, case_of
from ptxgen.tune.subjects import OnDevice
from tests.tune.spoiled import CHEATS, DIRECT, FACTS, SPEC, STAYING, Cheat

SIZES = (Sizes(72, 24, 56), Sizes(512, 256, 448))


@pytest.fixture(autouse=True)
def hopper() -> None:
    if target_of(0) != "sm_90a" or processor_here(90) is None:
        pytest.skip("the rows and kinds are Hopper's")


def gate() -> Gate:
    row = processor_here(90)
    assert row is not None
    made = make(Wanted(SPEC, "sm_90a", DIRECT, FACTS))
    return Gate(SPEC, tuple(case_of(SPEC, "sm_90", sizes, made.orders, FACTS) for sizes in SIZES), row, repeats=4)


@pytest.mark.parametrize("tiling", (DIRECT, STAYING, evolve(DIRECT, i=128, j=128, k=64, warps=8, workers=sms)), ids=str)
def test_good_plans_pass(tiling) -> None:
    made = make(Wanted(SPEC, "sm_90a", tiling, FACTS))
    assert gate().judge(OnDevice(made, made.kernel)) is None


class Cheating(Cheat):
    """A cheat around a kernel on the device."""

    def honest(self, arrays: Mapping[str, Any], scalars: Mapping[str, float]) -> None:
        OnDevice(self.made, self.made.kernel).launch(arrays, scalars)


@pytest.mark.parametrize("name, stage, how", CHEATS, ids=[each[0] for each in CHEATS])
def test_cheats_are_refused(name: str, stage: Stage, how: Any) -> None:
    found = gate().judge(Cheating(make(Wanted(SPEC, "sm_90a", DIRECT, FACTS)), how=how))
    assert isinstance(found, Refusal), name
    assert found.stage is stage


def test_the_best_of_a_shape(pool: Executor) -> None:
    row = processor_here(90)
    assert row is not None
    with ThreadPoolExecutor(1) as here:
        tuner = Tuner(row, OnGpu(row), pool, here, None, 12)
        for found in tuner.tune(SPEC, "sm_90a", (Sizes(1024, 1024, 1024), Sizes(4096, 4096, 4096))):
            refused = [str(trial.verdict) for trial in found.trials if isinstance(trial.verdict, Refusal)]
            assert not refused, refused
            assert found.best is not None
            assert isinstance(found.best.verdict, Timing)
            assert found.best.verdict.samples
            assert found.best.microseconds == min(trial.microseconds or 0.0 for trial in found.trials)


def test_a_kernel_that_was_made_elsewhere(pool: Executor) -> None:
    made = pool.submit(make, Wanted(SPEC, "sm_90a", STAYING, FACTS)).result()
    assert isinstance(made, Made)
    kernel = made.kernel
    if made.cubin is not None:
        kernel.take(made.cubin)
    assert gate().judge(OnDevice(made, kernel)) is None
