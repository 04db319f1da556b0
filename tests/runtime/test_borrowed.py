"""`ptxgen.matmul` on arrays of libraries that nobody here knows: their device, their streams, and DLPack alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import ptxgen
from ptxgen import LaunchError
from ptxgen.kernels.calling import libraries
from ptxgen.runtime import DeviceArray
from tests.runtime.fake_driver import FakeDriver

SIZE = 64


def held(kind: Any = np.float16) -> DeviceArray:
    return DeviceArray.from_numpy(np.ones((SIZE, SIZE), kind))


class Lent:
    """What another library tells of a device array. Its `device` is a word, as some have it."""

    device = "cuda:1"

    def __init__(self, owner: DeviceArray, **told: Any) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = {**owner.__cuda_array_interface__, **told}


class Other(Lent):
    """Of another type."""


class Capsule:
    """DLPack alone; `asked` are the streams that it was asked for."""

    def __init__(self, owner: DeviceArray, kind: int = 2) -> None:
        self.owner, self.kind, self.asked = owner, kind, list[Any]()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, self.owner.device

    def __dlpack__(self, *, stream: int | None = None, **wishes: Any) -> Any:
        self.asked.append(stream)
        return self.owner.__dlpack__(stream=stream)


def test_the_stream_of_an_interface_is_followed_at_each_call(driver: FakeDriver) -> None:
    a, b = Lent(held(), stream=33), Lent(held(), stream=5)
    for _ in range(2):
        ptxgen.matmul(a, b, stream=5)
    assert driver.followed == [(5, 33), (5, 33)]
    ptxgen.matmul(Lent(held(), stream=1), Lent(held()), out=Lent(held(), stream=7))
    assert driver.followed[2:] == [(0, 7)]
    assert driver.synchronised == []


def test_the_device_is_that_of_the_memory(driver: FakeDriver) -> None:
    arrays = [Lent(held()) for _ in range(2)]
    assert ptxgen.matmul(arrays[0], arrays[1]).device == 0
    driver.devices = {array.owner.address: 1 for array in arrays}
    assert ptxgen.matmul(arrays[0], arrays[1]).device == 1
    assert len(driver.images) == 2
    with pytest.raises(LaunchError, match="a and b must be arrays of one library on one device"):
        ptxgen.matmul(arrays[0], Other(held()))
    with pytest.raises(LaunchError, match="a begins at 0x10000000000, which is no memory of a device"):
        ptxgen.matmul(Lent(held(), data=(1 << 40, False)), arrays[1])


def test_types_that_nobody_knows_go_together(driver: FakeDriver) -> None:
    ptxgen.matmul(Lent(held()), Other(held()))
    ptxgen.matmul(Capsule(held()), Other(held()))
    assert len(driver.launches) == 2


def test_arrays_of_dlpack_alone(driver: FakeDriver) -> None:
    a, b, out = (Capsule(held()) for _ in range(3))
    driver.parameter_count = 3
    seen: list[tuple[int, ...]] = []
    driver.on_launch = lambda launched: seen.append(
        tuple(int.from_bytes(launched.read(place, 8), "little") for place in range(3))
    )
    assert ptxgen.matmul(a, b, out=out, stream=9) is out
    assert seen == [(a.owner.address, b.owner.address, out.owner.address)]
    assert (a.asked, b.asked, out.asked) == ([9], [9], [9])
    found = ptxgen.matmul(a, b)
    assert (found.dtype, found.shape) == (np.float16, (SIZE, SIZE))
    assert a.asked == [9, 1]


def test_types_of_dlpack(driver: FakeDriver) -> None:
    pytest.importorskip("ml_dtypes")
    found = ptxgen.matmul(Capsule(held("bfloat16")), Capsule(held("bfloat16")))
    assert found.dtype == np.dtype("bfloat16")
    assert "bf16.bf16" in driver.images[-1].decode()


def test_what_does_not_lie_in_device_memory_is_refused(driver: FakeDriver) -> None:
    with pytest.raises(LaunchError, match="a: the Capsule is in host memory"):
        ptxgen.matmul(Capsule(held(), kind=1), Capsule(held()))
    with pytest.raises(LaunchError, match="a is a masked array"):
        ptxgen.matmul(Lent(held(), mask=held()), Lent(held()))
    with pytest.raises(LaunchError, match="a must be an array, got object"):
        ptxgen.matmul(object(), held())


class Torch:
    """What a new result asks of torch, in order."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.cuda, self.device, self.dtype = self, "cuda:0", "half"

    def current_stream(self, device: Any) -> str:
        return "current"

    def ExternalStream(self, handle: int, device: Any) -> int:
        return handle

    @contextmanager
    def stream(self, handle: int) -> Iterator[None]:
        self.asked.append(("on", handle))
        yield
        self.asked.append("back")

    def new_empty(self, shape: tuple[int, ...], dtype: Any = None) -> Any:
        self.asked.append("new")
        return self

    def record_stream(self, stream: Any) -> None:
        self.asked.append(("read on", stream))


def test_a_new_tensor_is_that_of_the_stream_it_is_filled_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that the current stream had may still be in use there."""
    monkeypatch.setattr(libraries.Torch, "__init__", lambda self: None)
    monkeypatch.setattr(libraries.Torch, "stream", lambda self, array: 4)
    library, beside = libraries.Torch(), Torch()
    library.torch = beside
    library.empty("half", (2, 2), beside)
    library.empty("half", (2, 2), beside, 4)
    assert beside.asked == ["new", "new"]
    library.empty("half", (2, 2), beside, 6)
    assert beside.asked[2:] == [("on", 6), "new", "back", ("read on", "current")]
