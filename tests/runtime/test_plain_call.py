"""`ptxgen.matmul` on device arrays, against a driver without a device: what is launched, and with which addresses."""

from typing import Any

import numpy as np
import pytest

import ptxgen
from ptxgen import LaunchError
from ptxgen.runtime import DeviceArray
from tests.runtime.fake_driver import FakeDriver


def halves(*shape: int) -> Any:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float16)


def test_device_arrays_of_a_shape_share_a_launch(driver: FakeDriver) -> None:
    arrays = [DeviceArray.from_numpy(halves(64, 64)) for _ in range(4)]
    seen: list[tuple[int, ...]] = []
    driver.parameter_count = 12
    driver.on_launch = lambda launched: seen.append(
        tuple(int.from_bytes(launched.read(place, 8), "little") for place in (0, 1, 2, 9, 10))
    )
    first = ptxgen.matmul(arrays[0], arrays[1])
    second = ptxgen.matmul(arrays[2], arrays[3], out=arrays[0])
    third = ptxgen.matmul(arrays[2], arrays[3])
    assert second is arrays[0]
    assert len(driver.images) == 1
    wanted = [(arrays[0], arrays[1], first), (arrays[2], arrays[3], arrays[0]), (arrays[2], arrays[3], third)]
    for found, given in zip(seen, wanted, strict=True):
        addresses = tuple(array.address for array in given)
        assert found[:3] == addresses
        assert set(found[3:]) == set(addresses[:2])


def test_types_of_equal_width_are_told_apart(driver: FakeDriver) -> None:
    """The two formats of bytes are the same nameless byte in an array interface."""
    pytest.importorskip("ml_dtypes")
    driver.parameter_count = 12
    for kind, wanted in (("float8_e4m3fn", "e4m3.e4m3"), ("float8_e5m2", "e5m2.e5m2")):
        a, b = (DeviceArray.from_numpy(np.ones((64, 64), kind)) for _ in range(2))
        found = ptxgen.matmul(a, b, output="bf16")
        assert (found.dtype, found.shape) == (np.dtype("bfloat16"), (64, 64))
        assert wanted in driver.images[-1].decode()
    assert len(driver.images) == 2


def test_arrays_of_two_libraries_are_refused(driver: FakeDriver) -> None:
    held = DeviceArray.from_numpy(halves(64, 64))
    with pytest.raises(LaunchError, match="a and b must be arrays of one library on one device"):
        ptxgen.matmul(held, halves(64, 64))
    assert driver.launches == []


def test_every_array_is_looked_at_in_every_call(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a launch is kept for arrays alike: one may want a gradient now."""
    a, b = (DeviceArray.from_numpy(halves(64, 64)) for _ in range(2))
    seen: list[str] = []
    monkeypatch.setattr("ptxgen.kernels.calling.libraries.Library.check", lambda self, name, array: seen.append(name))
    for _ in range(2):
        ptxgen.matmul(a, b)
    assert seen == ["a", "b", "a", "b"]
