"""A row fitted to times: those of a device that is none, and lines of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from ptxgen.kernels.choosing.cost import estimate
from ptxgen.kernels.choosing.legal import is_legal
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.tune.calibration import Fit, Measurement, by_kind, fit, read_measurements, spread, written
from tests.kernels.choosing.measured import SPEC, TARGET, measured
from tests.tune.spoiled import device

SHAPES = tuple(measured())


def test_a_fit_finds_a_device_again_from_its_times() -> None:
    other = evolve(device(), ghz=1.3, launch=4.0, tile=0.8, out_bytes=30.0, l2_rate=9.0)
    times = tuple(
        Measurement(TARGET, sizes, tiling, estimate(SPEC, TARGET, sizes, tiling, other).microseconds)
        for sizes in SHAPES[::2] for tiling in tuple(measured()[sizes])[::3]
    )  # fmt: skip
    before = [abs(estimate(SPEC, TARGET, e.sizes, e.tiling, device()).microseconds / e.microseconds - 1) for e in times]
    found = fit(SPEC, times, device())
    assert max(before) > 0.3
    assert found.nine_in_ten < 1.03
    assert found.processor.ghz == pytest.approx(1.3, rel=0.05)
    assert found.processor.measured


def test_a_kind_that_the_model_takes_for_slower_shows() -> None:
    sizes = SHAPES[0]
    times = tuple(
        Measurement(TARGET, sizes, tiling, told * (0.8 if tiling.turns else 1.0))
        for tiling in measured()[sizes] for told in (estimate(SPEC, TARGET, sizes, tiling, device()).microseconds,)
    )  # fmt: skip
    factors = tuple(
        (each, estimate(SPEC, TARGET, sizes, each.tiling, device()).microseconds / each.microseconds) for each in times
    )
    found = {name: middle for name, _, middle in by_kind(Fit(device(), 1.0, 1.0, factors))}
    assert found["tiles in turn"] == pytest.approx(1.25)
    assert found["clusters"] == found["blocks that come and go"] == pytest.approx(1.0)


def test_measurements_are_lines(tmp_path: Path) -> None:
    sizes = SHAPES[0]
    times = tuple(Measurement(TARGET, sizes, tiling, micro) for tiling, micro in measured()[sizes].items())
    path = tmp_path / "times.txt"
    path.write_text("\n".join(["not made: something", *map(written, times), ""]))
    assert read_measurements(path) == times


def test_a_spread_has_every_block_and_is_legal() -> None:
    found = spread(SPEC, TARGET, (Sizes(4096, 4096, 4096),))
    assert len(set(found)) == len(found) > 60
    assert all(is_legal(SPEC, TARGET, tiling) for tiling in found)
    assert {(tiling.i, tiling.j) for tiling in found} >= {(i, j) for i in (64, 128) for j in (32, 64, 128, 256)}
    assert {tiling.cluster for tiling in found} >= {(1, 1), (2, 1), (1, 2), (4, 1)}
