"""Kernels whose blocks wait for each other: launched so that all run at once, never overlapped, refused by name where
the device holds fewer."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen import LaunchError
from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling, generate, matmul_compute, matmul_plan
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.plan import sms
from ptxgen.runtime import DeviceArray, Scratch
from tests.runtime.fake_driver import FakeDriver

SPEC = MatmulSpec(Layout.NT)
PASSED = MatmulTiling(i=64, j=64, k=32, warps=4, depth=2, isolate=False, split=3)
STREAMED = evolve(PASSED, split=1, workers=sms, stream=True)
PLAIN = evolve(PASSED, split=1)


def kernel_of(tiling: MatmulTiling, target: str = "sm_80") -> GeneratedKernel:
    """A new object for each driver."""
    made = _made(tiling, target)
    return GeneratedKernel(lambda: made)


@lru_cache
def _made(tiling: MatmulTiling, target: str) -> Any:
    return generate(matmul_plan(matmul_compute(SPEC), SPEC, (), tiling, target)).made


def arrays(rows: int) -> dict[str, Any]:
    shapes = {"A": (rows, 96), "B": (64, 96), "D": (rows, 64)}
    return {name: DeviceArray.from_numpy(np.ones(shape, np.float16)) for name, shape in shapes.items()}


@pytest.mark.parametrize("tiling", (PASSED, STREAMED), ids=("split", "streamed"))
def test_blocks_that_wait_for_each_other_run_at_once(driver: FakeDriver, tiling: MatmulTiling) -> None:
    kernel = kernel_of(tiling)
    kernel.run(arrays(256))
    (launched,) = driver.launches
    assert launched.cooperative
    assert launched.grid[0] <= kernel.resident()


def test_others_are_launched_as_they_were(driver: FakeDriver) -> None:
    kernel_of(PLAIN).run(arrays(256))
    assert [launched.cooperative for launched in driver.launches] == [False]


def test_more_blocks_than_run_at_once_are_refused_by_name(driver: FakeDriver) -> None:
    kernel = kernel_of(PASSED)
    most = kernel.resident()
    kernel.run(arrays(64 * (most // 3)))
    with pytest.raises(
        LaunchError, match=rf"matmul: {3 * (most // 3 + 1)} blocks wait .* runs {most} at once: split k"
    ):
        kernel.run(arrays(64 * (most // 3 + 1)))
    with pytest.raises(LaunchError, match=rf"{most + 7} blocks wait for each other's sums, and the device runs {most}"):
        kernel_of(evolve(STREAMED, workers=most + 7)).prepare(arrays(64 * 2 * most))
    assert len(driver.launches) == 1


def test_what_waits_does_not_overlap(driver: FakeDriver) -> None:
    """No document says that a cooperative launch may."""
    for tiling, waits in ((evolve(PASSED, overlap=True), True), (evolve(PLAIN, overlap=True), False)):
        kernel_of(tiling, "sm_90").run(arrays(256))
        assert (driver.launches[-1].cooperative, driver.launches[-1].overlapped) == (waits, not waits)


def test_blocks_that_come_by_ticket_are_any_number_launched_as_others(driver: FakeDriver) -> None:
    """Their counter is four bytes of the launch's memory, zero before it; such launches may overlap."""
    for tiling in (evolve(PASSED, tickets=True), evolve(STREAMED, workers=1000, tickets=True)):
        kernel = kernel_of(evolve(tiling, overlap=True), "sm_90")
        tiles = 2 * kernel.resident()
        launch = kernel.prepare(arrays(64 * tiles))
        assert launch.blocks > kernel.resident()
        assert [each.byte_count for each in launch.arguments if isinstance(each, Scratch)][-1] == 4
        kernel.run(arrays(64 * tiles))
        assert (driver.launches[-1].cooperative, driver.launches[-1].overlapped) == (False, True)
