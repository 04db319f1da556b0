"""`ptxgen.matmul(tuned=...)` on device arrays, against a driver without a device: whose plan runs, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from attrs import define, evolve

import ptxgen
import ptxgen.tune
from ptxgen.kernels import MatmulSpec, MatmulTiling
from ptxgen.kernels.calling.asked import Wish
from ptxgen.kernels.calling.call import _made
from ptxgen.kernels.calling.libraries import library_of
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.plan import sms
from ptxgen.runtime import Assembler, Cubin, DeviceArray
from ptxgen.runtime.entries import read_headers
from ptxgen.tune import Best, Kept, Timing
from ptxgen.tune.apart import Apart
from ptxgen.tune.calibration import facts_for
from ptxgen.tune.making import Made, Wanted, make
from ptxgen.tune.on_device import OnGpu, Session
from ptxgen.tune.questions import Checked, Shape
from ptxgen.tune.station import Station
from ptxgen.tune.versions import driver_here
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


def test_a_call_takes_what_was_tuned_for_the_device_of_its_arrays(driver: FakeDriver, home: Path) -> None:  # noqa: F811
    """GPU 0 is another one; with a name, it is what was found there, wherever the arrays lie."""
    ptxgen.tune._on.cache_clear()
    driver.names = {0: "NVIDIA H100 80GB HBM3"}
    tiling = MatmulTiling(64, 64, 64, warps=4, depth=3, isolate=False, workers=5)
    spec, sizes = MatmulSpec(), Sizes(64, 64, 64)
    facts = facts_for(spec, sizes, tiling, "sm_90a")
    Kept("NVIDIA H200", driver_here()).keep(spec, "sm_90a", Best(sizes, tiling, 1.0), facts)
    taken = []
    for number, tuned in ((0, None), (1, None), (0, "NVIDIA H200"), (1, "NVIDIA H100 80GB HBM3")):
        a, b = (DeviceArray.from_numpy(halves(64, 64), device=number) for _ in range(2))
        found = _made(library_of("a", a), {"A": a, "B": b}, Wish(tuned=ptxgen.tune.best(tuned)), 0)
        assert found.launch is not None
        taken.append(f"depth={tiling.depth}" if made_by(tiling, spec, facts) == driver.images[-1] else "chosen")
    assert taken == ["chosen", "depth=3", "depth=3", "chosen"]
    ptxgen.tune._on.cache_clear()


def made_by(tiling: MatmulTiling, spec: MatmulSpec, facts: Any) -> bytes:
    found = make(Wanted(spec, "sm_90a", tiling, facts))
    assert found.kept is not None
    return found.kept.text.encode() + b"\0"


class Trusting(Station):
    """Launches candidates, and takes whatever they leave for right: a driver without a device calculates nothing."""

    def gated(self, number: int, made: Made, begin: Any) -> None:
        self.loaded.pop(number, None)
        self.kernel(number, made)

    def looked(self, number: int, timing: Timing) -> Checked:
        return Checked(timing)


@define
class Here:
    """A station in this process, asked as one in a process apart."""

    station: Station
    starts: int = 1
    process: str = "this one"

    def ask(self, question: Any, seconds: float) -> Any:
        return self.station.answer(question, lambda what, seconds=None: None)


def test_the_best_was_measured_as_a_call_loads_it(driver: FakeDriver, home: Path) -> None:  # noqa: F811
    """Judged by the images that the driver is given: machine code of every candidate, then the text of the best."""
    spec, sizes = MatmulSpec(), Sizes(64, 64, 64)
    tilings = [MatmulTiling(64, 64, 64, warps=4, depth=depth, isolate=False, workers=sms) for depth in (2, 3)]
    facts = facts_for(spec, sizes, tilings[0], "sm_90a")
    known = Assembler(Path("ptxas"), "12.9", (8, 8), frozenset())
    made = []
    for tiling in tilings:
        found = make(Wanted(spec, "sm_90a", tiling, facts))
        assert found.kept is not None
        image, kernels = f"depth {tiling.depth}".encode(), read_headers(found.kept.text).kernels
        made.append(evolve(found, cubin=Cubin(image, "sm_90a", known, (), kernels, found.kernel.listing, "")))
    texts = [each.kept.text.encode() + b"\0" for each in made if each.kept is not None]
    driver.launch_ms = 1e-3
    shape = Shape(spec, "sm_90a", sizes, device(), 64, 0)
    session = Session(OnGpu(device()), cast(Apart, Here(Trusting())), shape, list(made))
    verdicts = session.verdicts()
    assert all(isinstance(each, Timing) for each in verdicts)
    best = session.best()
    assert best is not None
    assert driver.images[:2] == [b"depth 2", b"depth 3"]
    assert texts[best] in driver.images[2:]
    assert set(driver.images[2:]) <= set(texts)
    launched = driver.launches[-1]
    driver.images.clear()
    kept = Kept("NVIDIA H200")
    kept.keep(spec, "sm_90a", Best(sizes, tilings[best], 1.0), facts)
    a, b = (DeviceArray.from_numpy(halves(64, 64)) for _ in range(2))
    ptxgen.matmul(a, b, tuned=kept)
    assert driver.images == [texts[best]]
    assert (driver.launches[-1].grid, driver.launches[-1].cluster) == (launched.grid, launched.cluster)
