"""`ptxgen.matmul(tuned=...)` on device arrays, against a driver without a device: whose plan runs, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxgen
import ptxgen.tune
from ptxgen.runtime import DeviceArray
from tests.runtime.conftest import driver  # noqa: F401
from tests.runtime.fake_driver import FakeDriver


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
