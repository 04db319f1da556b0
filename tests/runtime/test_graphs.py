"""Launches recorded as a graph: made at a replay and not before, on the graph's stream, timed, and given back."""

from __future__ import annotations

import gc
from functools import partial

import pytest

from ptxgen.build import Module, pointer
from ptxgen.runtime import DeviceArray, device_name, laps_ms, load, record
from tests.runtime.fake_driver import FakeDriver


def kernel_text() -> str:
    import ptxgen

    module = Module("sm_70")
    with module.kernel("clear", a=pointer(ptxgen.b32)):
        pass
    return str(ptxgen.emit(module.build()))


def test_a_graph_makes_its_launches_at_each_replay(driver: FakeDriver) -> None:
    driver.parameter_count = 1
    kernel = load(kernel_text())["clear"]
    memory = DeviceArray.empty(4)
    launches = [kernel.prepare(memory, grid=count, block=32) for count in (1, 2, 3)]
    graph = record(launches)
    assert not driver.launches
    graph()
    graph()
    assert [launched.grid[0] for launched in driver.launches] == [1, 2, 3, 1, 2, 3]
    assert {launched.stream for launched in driver.launches} == {graph.stream}
    assert graph.milliseconds() == pytest.approx(3 * driver.launch_ms)
    del graph, launches
    gc.collect()
    assert sorted(driver.destroyed) == ["graph", "stream"]


def test_laps_are_those_of_works_one_behind_the_other(driver: FakeDriver) -> None:
    driver.parameter_count = 1
    kernel = load(kernel_text())["clear"]
    memory = DeviceArray.empty(4)
    graphs = [record([kernel.prepare(memory, grid=1, block=32) for _ in range(count)]) for count in (2, 1, 3)]
    stream = graphs[1].stream
    found = laps_ms([partial(graph, stream) for graph in graphs], stream=stream)
    assert found == pytest.approx([count * driver.launch_ms for count in (2, 1, 3)])
    assert len(driver.launches) == 2 + 2 + 1 + 3, "the first is done once more ahead"
    assert {launched.stream for launched in driver.launches} == {stream}
    assert laps_ms([]) == ()


def test_a_device_has_a_name(driver: FakeDriver) -> None:
    assert device_name() == "NVIDIA H200"
