"""Memory that launches take for themselves: no two that may run at once have the same, whatever streams, threads and
graphs they are on, and none that a graph may use is given back."""

from __future__ import annotations

import gc
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
from cuda.bindings import driver as real

import ptxgen
from ptxgen import LaunchError
from ptxgen.build import Module, pointer
from ptxgen.runtime import DeviceArray, Launch, Scratch, load, record
from tests.runtime.fake_driver import PER_THREAD, FakeDriver, Launched

FLAGS, TILES = Scratch(16, zeroed=True), Scratch(1000)
GLOBAL = real.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL


@pytest.fixture
def kernel(driver: FakeDriver) -> Any:
    module = Module("sm_70")
    with module.kernel("join", flags=pointer(ptxgen.b32), tiles=pointer(ptxgen.b32)):
        pass
    driver.parameter_count = 2
    return load(str(ptxgen.emit(module.build())))["join"]


@pytest.fixture
def seen(driver: FakeDriver) -> list[tuple[int, int]]:
    """What launches found as addresses, each time they were made or captured."""
    found: list[tuple[int, int]] = []
    driver.on_given = lambda launched: found.append(addresses(launched))
    return found


def addresses(launched: Launched) -> tuple[int, int]:
    first, second = (int.from_bytes(launched.read(place, 8), "little") for place in (0, 1))
    return first, second


def prepared(kernel: Any, stream: object = None, *, flags: Scratch = FLAGS, tiles: Scratch = TILES) -> Launch:
    made: Launch = kernel.prepare(flags, tiles, grid=1, block=32, stream=stream)
    return made


def in_thread(work: Callable[[], Any]) -> None:
    thread = Thread(target=work)
    thread.start()
    thread.join()


def test_launches_of_a_stream_share_what_it_has(driver: FakeDriver, kernel: Any, seen: list[Any]) -> None:
    for launch in (prepared(kernel, 5), prepared(kernel, 5), prepared(kernel, 5, tiles=Scratch(7))):
        launch()
        launch()
    assert len(set(seen)) == 1
    flags, tiles = seen[0]
    assert bytes(driver.memory[flags]) == bytes(256)
    assert len(driver.memory[tiles]) == 1024


def test_another_stream_is_another_memory_also_for_the_same_launch(
    driver: FakeDriver, kernel: Any, seen: list[Any]
) -> None:
    launch = prepared(kernel, 5)
    for stream in (5, 6, 5):
        launch.on_stream(stream)
        launch()
    assert seen[0] == seen[2] != seen[1]
    assert not set(seen[0]) & set(seen[1])


def test_the_default_stream_of_each_thread_is_another_one(driver: FakeDriver, kernel: Any, seen: list[Any]) -> None:
    launch = prepared(kernel, PER_THREAD)
    launch()
    in_thread(launch)
    launch()
    assert seen[0] == seen[2] != seen[1]


def test_a_capture_takes_its_own_and_the_kernel_may_go(driver: FakeDriver, kernel: Any, seen: list[Any]) -> None:
    """As torch captures: no allocation is allowed meanwhile, and nobody here knows of the graph."""
    launch = prepared(kernel, 5)
    launch()
    for _ in range(2):
        driver.cuStreamBeginCapture(5, GLOBAL)
        launch()
        prepared(kernel, 5)()
        driver.cuStreamEndCapture(5)
    launch()
    assert seen[0] == seen[5]
    assert seen[1] == seen[2]
    assert seen[3] == seen[4]
    assert len({seen[0], seen[1], seen[3]}) == 3
    del launch
    gc.collect()
    assert all(address in driver.memory for both in seen for address in both)
    assert bytes(driver.memory[seen[1][0]]) == bytes(256)


def test_a_first_launch_may_be_captured(driver: FakeDriver, seen: list[Any]) -> None:
    module = Module("sm_70")
    with module.kernel("first", flags=pointer(ptxgen.b32), tiles=pointer(ptxgen.b32)):
        pass
    driver.parameter_count = 2
    driver.cuStreamBeginCapture(9, GLOBAL)
    kernel = load(str(ptxgen.emit(module.build())))["first"]
    prepared(kernel, 9)()
    DeviceArray.empty(4)
    gc.collect()
    driver.cuStreamEndCapture(9)
    assert driver.exchanged == GLOBAL
    assert len(seen) == 1


def test_a_recorded_graph_holds_what_its_launches_take(driver: FakeDriver, kernel: Any, seen: list[Any]) -> None:
    launches = [prepared(kernel), prepared(kernel)]
    graphs = [record(launches) for _ in range(2)]
    first, second, *others = seen
    assert first == second
    assert others[0] == others[1] != first
    gc.collect()
    held = [set(first), set(others[0])]
    assert all(address in driver.memory for own in held for address in own)
    del graphs[0]
    gc.collect()
    assert not held[0] & set(driver.memory)
    assert held[1] <= set(driver.memory)


def test_a_launch_that_wants_more_gets_more_and_what_was_there_stays(
    driver: FakeDriver, kernel: Any, seen: list[Any]
) -> None:
    prepared(kernel, 5)()
    prepared(kernel, 5, tiles=Scratch(1 << 20))()
    prepared(kernel, 5)()
    assert seen[0][0] == seen[1][0]
    assert seen[1] == seen[2]
    assert seen[0][1] != seen[1][1]
    assert seen[0][1] in driver.memory


def test_memory_that_is_not_there_is_told_with_what_to_do(driver: FakeDriver, kernel: Any) -> None:
    launch = prepared(kernel, 5)
    driver.memory_left = 100
    driver.cuStreamBeginCapture(5, GLOBAL)
    with pytest.raises(LaunchError, match="join: no memory for the 1280 bytes that it takes on the graph"):
        launch()
    with pytest.raises(LaunchError, match=r"on its stream .*: free some before it is prepared or captured"):
        prepared(kernel, 6)
