"""The gate and the search on a GPU: good plans pass, cheats and faults are refused, and the best is the quickest."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from time import monotonic
from typing import Any

import pytest
from attrs import evolve

from ptxgen.compute import bf16, e4m3, s8
from ptxgen.kernels import Layout, MatmulSpec
from ptxgen.kernels.calling.call import target_of
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import Processor, processor_here
from ptxgen.kernels.launching.store import Kept
from ptxgen.kernels.products.epilogue import Activate, Activation, Bias
from ptxgen.plan import sms
from ptxgen.tune import Refusal, Stage, Timing, Tuner
from ptxgen.tune.gate import Gate
from ptxgen.tune.making import Made, Wanted, make
from ptxgen.tune.on_device import OnGpu
from ptxgen.tune.station import Station, case_of
from ptxgen.tune.subjects import OnDevice
from tests.tune.spoiled import CHEATS, DIRECT, FACTS, FAULTS, SPEC, STAYING, Cheat

SIZES = (Sizes(71, 24, 56), Sizes(512, 256, 448))


@pytest.fixture(autouse=True, scope="module")
def hopper() -> None:
    if target_of(0) != "sm_90a" or processor_here(90) is None:
        pytest.skip("the rows and kinds are Hopper's")


def gate() -> Gate:
    made = make(Wanted(SPEC, "sm_90a", DIRECT, FACTS))
    return Gate(SPEC, tuple(case_of(SPEC, "sm_90", sizes, made.orders, FACTS) for sizes in SIZES), row(), repeats=4)


@pytest.mark.parametrize("tiling", (DIRECT, STAYING, evolve(DIRECT, i=128, j=128, k=64, warps=8, workers=sms)), ids=str)
def test_good_plans_pass(tiling) -> None:
    made = make(Wanted(SPEC, "sm_90a", tiling, FACTS))
    assert gate().judge(OnDevice(made, made.kernel)) is None


def test_machine_code_from_elsewhere_and_what_the_driver_makes_pass_alike() -> None:
    """The one is how candidates are searched, the other what a call runs."""
    made = make(Wanted(SPEC, "sm_90a", STAYING, FACTS))
    if made.cubin is None:
        pytest.skip("no assembler here knows sm_90a")
    station = Station()
    for number, each in enumerate((made, evolve(made, cubin=None))):
        assert gate().judge(OnDevice(each, station.kernel(number, each))) is None


class Cheating(Cheat):
    """A cheat around a kernel on the device."""

    def honest(self, arrays: Mapping[str, Any], scalars: Mapping[str, float]) -> None:
        OnDevice(self.made, self.made.kernel).launch(arrays, scalars)


@pytest.mark.parametrize("name, stage, how", CHEATS, ids=[each[0] for each in CHEATS])
def test_cheats_are_refused(name: str, stage: Stage, how: Any) -> None:
    found = gate().judge(Cheating(make(Wanted(SPEC, "sm_90a", DIRECT, FACTS)), how=how))
    assert isinstance(found, Refusal), name
    assert found.stage is stage


def faulty(make_subject: Any) -> Made:
    """A candidate whose text is that of an edited kernel."""
    subject = make_subject()
    made: Made = subject.made
    assert made.kept is not None
    return evolve(made, kept=Kept(made.kept.entry, subject.text), cubin=None)


TIMED, DEADLINE = Sizes(2047, 1024, 1000), 10.0
NEVER_END = {
    "releases are left out",
    "more bytes expected than come",
    "a barrier counts one arrival too many",
}
SURE = NEVER_END | {"a row beyond the last one is written"}
"""The others race: what a device makes of them may be right, which is why they are proved not to be."""


@pytest.fixture(scope="module")
def usual() -> float:
    """Seconds that good candidates take, whatever else the machine and the device have to do."""
    good = make(Wanted(SPEC, "sm_90a", DIRECT, FACTS))
    begun = monotonic()
    found = OnGpu(row(), deadline=DEADLINE).measure(SPEC, "sm_90a", TIMED, (good, evolve(good)))
    assert all(isinstance(each, Timing) for each in found), found
    return monotonic() - begun


@pytest.mark.parametrize("name, make_subject", FAULTS, ids=[each[0] for each in FAULTS])
def test_faults_hold_up_nobody(name: str, make_subject: Any, usual: float) -> None:
    """A kernel with a lost barrier ends with its process, behind the deadline; good ones around it have their times.
    What comes behind is begun anew in another process, so that all takes a few times as long as usual."""
    good = make(Wanted(SPEC, "sm_90a", DIRECT, FACTS))
    asking = OnGpu(row(), deadline=DEADLINE)
    begun = monotonic()
    first, bad, last = asking.measure(SPEC, "sm_90a", TIMED, (good, faulty(make_subject), evolve(good)))
    print(f"\n{name}: {bad}")
    assert isinstance(first, Timing), first
    assert isinstance(last, Timing), last
    assert monotonic() - begun < 3 * DEADLINE + 4 * max(usual, DEADLINE)
    if name in SURE:
        assert isinstance(bad, Refusal)
    if name in NEVER_END:
        assert isinstance(bad, Refusal)
        assert bad.unended, bad


TYPES = (
    MatmulSpec.of(bf16, layout=Layout.NT),
    MatmulSpec.of(e4m3, layout=Layout.NT),
    MatmulSpec.of(e4m3, layout=Layout.NT, promote=128, output=bf16),
    MatmulSpec.of(s8, layout=Layout.NT),
    MatmulSpec(Layout.TN, epilogue=(Bias(), Activate(Activation.GELU))),
)


@pytest.mark.parametrize("spec", TYPES, ids=lambda spec: f"{spec.input}-{spec.layout.value}-{spec.promote}")
@pytest.mark.parametrize("sizes", (Sizes(1024, 1024, 1024), Sizes(1001, 1008, 976)), ids=("whole", "ragged"))
def test_types_and_layouts_are_tuned(pool: Executor, spec: MatmulSpec, sizes: Sizes) -> None:
    """What cannot be built well may be refused; whatever runs is right."""
    with ThreadPoolExecutor(1) as here:
        (found,) = Tuner(row(), OnGpu(row()), pool, here, None, 8).tune(spec, "sm_90a", (sizes,))
    refused = {trial.tiling: trial.verdict for trial in found.trials if isinstance(trial.verdict, Refusal)}
    print("\n".join(f"{verdict}: {tiling}" for tiling, verdict in refused.items()))
    assert {verdict.stage for verdict in refused.values()} <= {Stage.PROOF, Stage.BUILD}
    assert found.best is not None
    assert isinstance(found.best.verdict, Timing)
    assert len(found.best.verdict.samples) > 1


def row() -> Processor:
    found = processor_here(90)
    assert found is not None
    return found


def test_the_best_of_a_shape(pool: Executor) -> None:
    with ThreadPoolExecutor(1) as here:
        tuner = Tuner(row(), OnGpu(row()), pool, here, None, 12)
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
    assert gate().judge(OnDevice(made, made.kernel)) is None
