"""What is timed on a device is what is looked at: the driver is a fake one, whose kernels are written here."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

import ptxgen
from ptxgen.build import Module, pointer
from ptxgen.kernels.matmul_menu import Sizes
from ptxgen.runtime import Graph, load, record
from ptxgen.tune.gate import Gate, Refusal, Stage
from ptxgen.tune.measuring import Bench, bench, turns
from ptxgen.tune.on_device import REPLAYS, samples, timed, truths
from tests.runtime.conftest import driver  # noqa: F401
from tests.runtime.fake_driver import FakeDriver, Launched
from tests.tune.spoiled import DIRECT, SPEC, TARGET, device, good

SIZES = Sizes(64, 16, 16)


def kernel_text() -> str:
    module = Module("sm_70")
    with module.kernel("product", d=pointer(ptxgen.b32)):
        pass
    return str(ptxgen.emit(module.build()))


class Products:
    """A kernel that multiplies the set whose result it is given, each time or only the first."""

    def __init__(self, here: Bench, *, once: bool = False) -> None:
        self.sets = {arrays["D"].address: arrays for arrays in here.sets}
        self.once, self.done = once, set[int]()

    def __call__(self, launched: Launched) -> None:
        address = int.from_bytes(launched.read(0, 8), "little")
        if self.once and address in self.done:
            return
        self.done.add(address)
        arrays = self.sets[address]
        a, b, bias = (arrays[name].to_numpy().astype(np.float64) for name in ("A", "B", "bias"))
        arrays["D"].write(np.maximum(a @ b.T + bias, 0).astype(np.float16))


def graph_of(driver: FakeDriver, here: Bench, *, once: bool = False) -> Graph:  # noqa: F811
    driver.parameter_count = 1
    driver.on_launch = Products(here, once=once)
    kernel = load(kernel_text())["product"]
    return record([kernel.prepare(arrays["D"], grid=1, block=32) for arrays in here.sets])


@pytest.mark.parametrize("once", (False, True))
def test_samples_are_of_the_launches_that_were_timed(driver: FakeDriver, once: bool) -> None:  # noqa: F811
    driver.launch_ms = 1e-6
    here = bench(SPEC, SIZES)
    graph = graph_of(driver, here, once=once)
    (micro,) = turns([graph], 3, len(here.sets))
    before = len(driver.launches)
    timing = timed(here, graph, micro, device())
    found = tuple(samples(here, truths(here, TARGET, good(DIRECT).orders)))
    assert len(driver.launches) == before + timing.launches == before + REPLAYS * len(here.sets)
    assert timing.spanned_microseconds == pytest.approx(1e3 * driver.launch_ms * timing.launches)
    assert timing.microseconds == pytest.approx(1e3 * driver.launch_ms)
    assert len(found) == 2
    for each in found:
        assert (each.unwritten > 0) == once
        assert (each.excess <= 1.0) != once


def test_a_device_whose_clock_runs_ahead_of_the_host_is_refused(driver: FakeDriver) -> None:  # noqa: F811
    driver.launch_ms = 50.0
    here = bench(SPEC, SIZES)
    graph = graph_of(driver, here)
    timing = timed(here, graph, 1e3 * driver.launch_ms, device())
    gate = Gate(SPEC, (), device())
    found = gate.judge_time(timing)
    assert isinstance(found, Refusal)
    assert found.stage is Stage.WORK
    assert gate.judge_time(evolve(timing, wall_microseconds=1.01 * timing.spanned_microseconds)) is None
