"""`ptxgen.matmul(tuned=...)` on device arrays, against a driver without a device: whose plan runs, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

import ptxgen
import ptxgen.tune
from ptxgen.kernels import MatmulSpec, MatmulTiling
from ptxgen.kernels.matmul_menu import Sizes
from ptxgen.plan import sms
from ptxgen.runtime import Assembler, Cubin, DeviceArray
from ptxgen.tune import Best, Kept
from ptxgen.tune.calibration import facts_for
from ptxgen.tune.making import Wanted, make
from ptxgen.tune.questions import Shape, Tried
from ptxgen.tune.station import Station
from tests.runtime.conftest import driver  # noqa: F401
from tests.runtime.fake_driver import FakeDriver
from tests.tune.spoiled import device


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def halves(*shape: int) -> Any:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float16)


def test_a_call_takes_what_was_tuned_and_keeps_its_launch(driver: FakeDriver, home: Path) -> None:  # noqa: F811
    a, b = (DeviceArray.from_numpy(halves(64, 64)) for _ in range(2))
    driver.parameter_count = 12
    for _ in range(2):
        ptxgen.matmul(a, b, tuned=ptxgen.tune.best())
    assert (len(driver.images), len(driver.launches)) == (1, 2)


def test_what_is_measured_is_what_a_call_loads(driver: FakeDriver, home: Path) -> None:  # noqa: F811
    """Judged by the images that the driver is given: PTX both times, though an assembler made machine code too."""
    spec, sizes = MatmulSpec(), Sizes(64, 64, 64)
    tiling = MatmulTiling(64, 64, 64, warps=4, depth=3, isolate=False, workers=sms)
    facts = facts_for(spec, sizes, tiling, "sm_90a")
    made = make(Wanted(spec, "sm_90a", tiling, facts))
    assert made.kept is not None
    machine_code = Cubin(
        b"machine code", "sm_90a", Assembler(Path("ptxas"), "12.9", (8, 8), frozenset()), (), {},
        made.kernel.listing, "",
    )  # fmt: skip
    station = Station()
    for question in (
        Shape(spec, "sm_90a", sizes, device(), 64, 0),
        Tried(0, evolve(made, cubin=machine_code)),
    ):
        assert station.answer(question, lambda what: None) is None
    measured, launched = driver.images[-1], driver.launches[-1]
    kept = Kept("NVIDIA H200")
    kept.keep(spec, "sm_90a", Best(sizes, tiling, 1.0), facts)
    a, b = (DeviceArray.from_numpy(halves(64, 64)) for _ in range(2))
    ptxgen.matmul(a, b, tuned=kept)
    assert driver.images == [measured, measured]
    assert measured == made.kept.text.encode() + b"\0"
    assert (driver.launches[-1].grid, driver.launches[-1].cluster) == (launched.grid, launched.cluster)
