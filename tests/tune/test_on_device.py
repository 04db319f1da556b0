"""What is timed on a device is what is looked at: the driver is a fake one, whose kernels are written here."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

import ptxgen
from ptxgen.build import Module, pointer
from ptxgen.emit import Listing
from ptxgen.errors import DriverError
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.runtime import Assembler, Cubin, Graph, load, record
from ptxgen.runtime.entries import read_headers
from ptxgen.tune.cases import Case
from ptxgen.tune.checking import Adding, Checker, rows_of
from ptxgen.tune.gate import Gate, Refusal, Stage, Timing
from ptxgen.tune.measuring import Bench, bench, turns
from ptxgen.tune.station import REPLAYS, Station, timed
from ptxgen.tune.subjects import OnDevice
from tests.runtime.conftest import driver  # noqa: F401
from tests.runtime.fake_driver import FakeDriver, Launched
from tests.tune.spoiled import DIRECT, FACTS, SPEC, TARGET, device, good

SIZES = Sizes(64, 16, 16)


def kernel_text() -> str:
    module = Module("sm_70")
    with module.kernel("product", d=pointer(ptxgen.b32)):
        pass
    return str(ptxgen.emit(module.build()))


class Products:
    """A kernel that multiplies the set whose result it is given, each time or only the first; in `wrong` (a set and a
    row) it puts zeros."""

    def __init__(self, here: Bench, *, once: bool = False, wrong: tuple[int, int] | None = None) -> None:
        self.sets = {arrays["D"].address: arrays for arrays in here.sets}
        self.once, self.done = once, set[int]()
        self.wrong = None if wrong is None else (here.sets[wrong[0]]["D"].address, wrong[1])

    def __call__(self, launched: Launched) -> None:
        address = int.from_bytes(launched.read(0, 8), "little")
        if self.once and address in self.done:
            return
        self.done.add(address)
        arrays = self.sets[address]
        a, b, bias = (arrays[name].to_numpy().astype(np.float64) for name in ("A", "B", "bias"))
        result = np.maximum(a @ b.T + bias, 0).astype(np.float16)
        if self.wrong is not None and address == self.wrong[0]:
            result[self.wrong[1]] = 0
        arrays["D"].write(result)


def graph_of(driver: FakeDriver, here: Bench, products: Products) -> Graph:  # noqa: F811
    driver.parameter_count = 1
    driver.on_launch = products
    kernel = load(kernel_text())["product"]
    return record([kernel.prepare(arrays["D"], grid=1, block=32) for arrays in here.sets])


ADDING = Adding.of(good(DIRECT).orders, 1)


@pytest.mark.parametrize("once", (False, True))
def test_samples_are_of_the_launches_that_were_timed(driver: FakeDriver, once: bool) -> None:  # noqa: F811
    driver.launch_ms = 1e-6
    here = bench(SPEC, SIZES)
    graph = graph_of(driver, here, Products(here, once=once))
    (micro,) = turns([graph], 3, len(here.sets))
    before = len(driver.launches)
    timing = timed(here, graph, micro, device())
    found, spoiled = Checker(here, TARGET, 16).check(0, ADDING)
    assert len(driver.launches) == before + timing.launches == before + REPLAYS * len(here.sets)
    assert timing.spanned_microseconds == pytest.approx(1e3 * driver.launch_ms * timing.launches)
    assert timing.microseconds == pytest.approx(1e3 * driver.launch_ms)
    assert (len(found), spoiled) == (len(here.sets), None)
    for each in found:
        assert (each.unwritten > 0) == once
        assert (each.excess <= 1.0) != once


SET = 5
SEEN = rows_of(SIZES, 16, 24)[SET][0]
UNSEEN = (SEEN + 1) % SIZES.m


def test_one_row_of_one_set_is_enough_to_be_refused(driver: FakeDriver) -> None:  # noqa: F811
    """Also a row that is not looked at, beside a kernel that adds in the same order; by whom it was seen first is one,
    and kernels that add otherwise are judged by themselves."""
    driver.launch_ms = 1e-6
    here, gate = bench(SPEC, SIZES), Gate(SPEC, (), device())
    other = Adding.of(good(DIRECT).orders[:0], 1)

    def verdict(checker: Checker, number: int, wrong: tuple[int, int] | None, adding: Adding = ADDING) -> Any:
        graph = graph_of(driver, here, Products(here, wrong=wrong))
        here.poison()
        graph()
        timing = Timing(here.sizes, 10.0, 10, 100.0, 100.0, cold=False)
        found, spoiled = checker.check(number, adding)
        return gate.judge_time(evolve(timing, samples=found)) is None, spoiled

    checker = Checker(here, TARGET, 16)
    assert verdict(checker, 0, (SET, SEEN)) == (False, None)
    assert verdict(checker, 1, None) == (True, None)
    assert verdict(checker, 2, None) == (True, None)
    assert verdict(checker, 3, (SET, UNSEEN)) == (False, None)
    assert verdict(checker, 4, (SET, UNSEEN), other) == (True, None), "nothing to compare it with"
    late = Checker(here, TARGET, 16)
    assert verdict(late, 0, (SET, UNSEEN)) == (True, None)
    assert verdict(late, 1, None) == (True, 0)
    assert verdict(late, 2, None) == (True, None)


@pytest.mark.parametrize("m, tile, sets", ((64, 16, 24), (8192, 64, 2), (8191, 128, 3), (5, 16, 2), (16384, 16, 2)))
def test_rows_are_of_every_tile_and_of_every_set(m: int, tile: int, sets: int) -> None:
    chosen = rows_of(Sizes(m, 8, 8), tile, sets)
    rows = [row for each in chosen for row in each]
    assert len(chosen) == sets
    assert all(chosen)
    assert set(rows) <= set(range(m))
    assert m - 1 in rows
    assert {row // max(tile, -(-m // 512)) for row in rows} == set(range(-(-m // max(tile, -(-m // 512)))))
    if m >= 64:
        assert len({row % tile for row in rows}) > 2


def test_a_device_whose_clock_runs_ahead_of_the_host_is_refused(driver: FakeDriver) -> None:  # noqa: F811
    driver.launch_ms = 50.0
    here = bench(SPEC, SIZES)
    graph = graph_of(driver, here, Products(here))
    timing = timed(here, graph, 1e3 * driver.launch_ms, device())
    gate = Gate(SPEC, (), device())
    found = gate.judge_time(timing)
    assert isinstance(found, Refusal)
    assert found.stage is Stage.WORK
    assert gate.judge_time(evolve(timing, wall_microseconds=1.01 * timing.spanned_microseconds)) is None


def test_memory_lies_on_a_device_as_badly_as_it_does_here(driver: FakeDriver) -> None:  # noqa: F811
    """What a kernel is told, and what it writes: in the place of the host's window, whatever it is aligned to."""
    made = evolve(good(DIRECT))
    assert made.kept is not None
    names = [parameter.name for parameter in made.kept.entry.parameters]
    placed = Case(SPEC, TARGET, Sizes(71, 8, 56), made.orders, FACTS).placed()
    for each in placed.values():
        each.poison(0xFF)
    seen = {}

    def launched(launch: Launched) -> None:
        for name in ("bias", "D"):
            seen[name] = int.from_bytes(launch.read(names.index(name), 8), "little")
        pitch = int.from_bytes(launch.read(names.index("ldd"), 4), "little")
        ctypes.memset(seen["D"] + 2 * pitch, 0x11, 2)

    driver.parameter_count, driver.on_launch = len(names), launched
    OnDevice(made, made.kernel).launch({name: each.window for name, each in placed.items()}, {})
    for name, address in seen.items():
        assert address % 256 == placed[name].window.ctypes.data % 256
        assert address % 32 == 16
    result = placed["D"]
    assert result.touched() == 0
    assert [tuple(map(int, place)) for place in np.argwhere(result.bits() != 0xFFFF)] == [(1, 0)]
    assert int(result.bits()[1, 0]) == 0x1111


def test_a_candidate_is_loaded_by_its_machine_code_and_else_as_a_call_loads_it(
    driver: FakeDriver,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = evolve(good(DIRECT), cubin=None)
    assert made.kept is not None
    known = Assembler(Path("ptxas"), "12.9", (8, 8), frozenset((TARGET,)))
    kernels = read_headers(made.kept.text).kernels
    elsewhere = evolve(made, cubin=Cubin(b"code", TARGET, known, (), kernels, Listing("", ()), ""))
    text = made.kept.text.encode() + b"\0"
    station = Station()
    for number, each in enumerate((elsewhere, made)):
        assert station.kernel(number, each) is station.kernel(number, each)
    assert driver.images == [b"code", text]

    def refused(kernel: GeneratedKernel, cubin: Cubin, device: int = 0) -> Any:
        raise DriverError("no code for this device in it")

    monkeypatch.setattr(GeneratedKernel, "take", refused)
    station.kernel(2, evolve(elsewhere))
    assert driver.images == [b"code", text, text]
