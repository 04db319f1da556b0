"""Prepared launches of generated kernels, against a driver without a device: which addresses each launch is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxgen import LaunchError
from ptxgen.kernels import GeneratedKernel, Matmul, MatmulSpec
from ptxgen.runtime import DeviceArray
from ptxgen.tile import ParameterKind
from tests.runtime.fake_driver import FakeDriver


def held(rows: int = 64) -> dict[str, Any]:
    return {
        name: DeviceArray.from_numpy(np.ones((rows if name != "B" else 64, 64), np.float16)) for name in ("A", "B", "D")
    }


def kernel_for(arrays: dict[str, Any]) -> GeneratedKernel:
    return Matmul(MatmulSpec(), "sm_90a").kernel_for(arrays)


def seen_by(driver: FakeDriver, kernel: GeneratedKernel) -> list[list[int]]:
    """The first word of each argument of the launches that follow: of an array's and a tensor map's, the address."""
    seen: list[list[int]] = []
    driver.parameter_count = len(kernel.entry.parameters) + len(kernel.entry.boxes)
    driver.on_launch = lambda launched: seen.append(
        [int.from_bytes(launched.read(place, 4 if place in sizes else 8), "little") for place in range(len(all_))]
    )
    all_ = (*kernel.entry.parameters, *kernel.entry.boxes)
    sizes = {place for place, each in enumerate(kernel.entry.parameters) if each.kind is ParameterKind.SIZE}
    return seen


def addresses(arrays: dict[str, Any]) -> tuple[int, ...]:
    return tuple(array.address for array in arrays.values())


def test_each_place_of_an_array_is_set(driver: FakeDriver) -> None:
    first, second = held(), held()
    kernel = kernel_for(first)
    launch = kernel.prepared(first)
    assert launch.names == ("A", "B", "D")
    seen = seen_by(driver, kernel)
    launch()
    launch.at(addresses(second))
    launch()
    launch.at(addresses(first))
    other = dict(zip(addresses(first), addresses(second), strict=True))
    moved = [other.get(word, word) for word in seen[0]]
    assert seen == [seen[0], moved, moved, seen[0]]
    assert set(other) <= set(seen[0])


def test_what_does_not_fit_is_refused_and_changes_nothing(driver: FakeDriver) -> None:
    first, second = held(), held()
    kernel = kernel_for(first)
    launch = kernel.prepared(first)
    seen = seen_by(driver, kernel)
    launch()
    a, b, d = addresses(second)
    with pytest.raises(LaunchError, match=r"the kernel was made for B aligned to 16 bytes, got 0x"):
        launch.at((a, b + 8, d))
    with pytest.raises(LaunchError, match=r"addresses are wanted of A, B, D, in this order, got 2"):
        launch.at((a, b))
    assert len(seen) == 1
    launch()
    assert seen[1] == seen[0]


def test_arrays_in_the_hosts_memory_are_refused(driver: FakeDriver) -> None:
    given = held()
    kernel = kernel_for(given)
    with pytest.raises(LaunchError, match=r"B is in the host's memory: a launch that is prepared copies nothing"):
        kernel.prepared({**given, "B": np.ones((64, 64), np.float16)})


def test_nothing_is_launched_where_there_is_nothing_to_do(driver: FakeDriver) -> None:
    given = held(0)
    launch = kernel_for(given).prepared(given)
    launch()
    launch.at(addresses(given))
    assert driver.launches == []
