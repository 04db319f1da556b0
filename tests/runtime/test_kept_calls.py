"""Launches kept for arrays alike: what is refused at the first call is refused at each, from however many threads."""

from __future__ import annotations

import sys
from threading import Thread
from typing import Any

import numpy as np
import pytest

import ptxgen
from ptxgen import LaunchError
from ptxgen.compute import f16
from ptxgen.kernels.calling import call as calls
from ptxgen.runtime import DeviceArray
from tests.runtime.fake_driver import FakeDriver

SIZE = 64


def held(rows: int = SIZE) -> DeviceArray:
    return DeviceArray.from_numpy(np.ones((rows, SIZE), np.float16))


class Lent:
    """Rows of a device array, as another library shows them."""

    def __init__(self, owner: DeviceArray, first: int = 0, *, read_only: bool = False) -> None:
        self.owner, address = owner, owner.address + 2 * SIZE * first
        self.__cuda_array_interface__ = {
            "shape": (SIZE, SIZE), "typestr": "<f2", "data": (address, read_only), "version": 3, "strides": None,
        }  # fmt: skip


def test_a_result_on_an_operand_is_refused_also_when_a_launch_is_kept(driver: FakeDriver) -> None:
    a, b, c = held(), held(), held()
    for _ in range(2):
        with pytest.raises(LaunchError, match=r"out is written, but its memory is that of a$"):
            ptxgen.matmul(a, b, out=a)
        assert ptxgen.matmul(a, b, out=c) is c
    assert len(driver.launches) == 2


def test_a_read_only_result_is_refused_also_when_a_launch_is_kept(driver: FakeDriver) -> None:
    a, b = Lent(held()), Lent(held())
    ptxgen.matmul(a, b, out=Lent(held()))
    with pytest.raises(LaunchError, match="read-only"):
        ptxgen.matmul(a, b, out=Lent(held(), read_only=True))
    ptxgen.matmul(a, b, out=Lent(held()))
    assert len(driver.launches) == 2


@pytest.mark.parametrize("name", ("residual", "pre_activation"))
def test_memory_that_meets_in_part_is_refused_also_when_a_launch_is_kept(driver: FakeDriver, name: str) -> None:
    a, b = Lent(held()), Lent(held())
    both = held(2 * SIZE)
    beside: dict[str, Any] = {name: Lent(both, SIZE)}
    ptxgen.matmul(a, b, activation="relu", out=Lent(both), **beside)
    for rows in (8, SIZE - 8):
        beside[name] = Lent(both, rows)
        with pytest.raises(LaunchError, match=f"(out|{name}) is written, but its memory is that of (out|{name})"):
            ptxgen.matmul(a, b, activation="relu", out=Lent(both), **beside)
    if name == "residual":
        ptxgen.matmul(a, b, activation="relu", out=Lent(both), residual=Lent(both))
    assert len(driver.launches) == 1 + (name == "residual")


def test_what_is_kept_before_the_activation_may_not_lie_on_an_operand(driver: FakeDriver) -> None:
    a, b = held(), held()
    ptxgen.matmul(a, b, activation="relu", pre_activation=held())
    with pytest.raises(LaunchError, match="pre_activation is written, but its memory is that of b"):
        ptxgen.matmul(a, b, activation="relu", pre_activation=b)


def test_many_threads_make_and_forget_calls(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys come and go faster than launches are made, so the launch is a stand-in."""
    monkeypatch.setattr(calls, "KEPT", 2)
    monkeypatch.setattr(calls, "_made", lambda *given: calls.Call(None, (), f16, np.float16, (1, 1)))
    wrong: list[BaseException] = []

    def work(seed: int) -> None:
        arrays = [DeviceArray.empty((1, count), np.float16) for count in range(1, 9)]
        try:
            for turn in range(3000):
                ptxgen.matmul(arrays[(turn * seed) % 8], arrays[turn % 7])
        except BaseException as error:
            wrong.append(error)

    threads = [Thread(target=work, args=(seed,)) for seed in (1, 3, 5, 7)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    sys.setswitchinterval(before)
    assert wrong == []
    assert len(calls._CALLS) <= 2


def test_a_library_is_known_once_for_all_its_types() -> None:
    from ptxgen.kernels.calling import libraries

    class Walking(dict[Any, Any]):
        """Iterated by one thread while others insert: any walk is one too many."""

        def values(self) -> Any:
            raise AssertionError("walked")

    known = libraries._KNOWN
    libraries._KNOWN = Walking(known)
    try:
        kinds = [type(name, (np.ndarray,), {"__module__": "numpy"}) for name in ("One", "Other")]
        found = [libraries.library_of("a", np.ones(1).view(kind)) for kind in kinds]
    finally:
        libraries._KNOWN = known
    assert found[0] is found[1]


@pytest.mark.parametrize("size", (64, 128))
def test_no_address_of_an_earlier_call_is_left_in_a_launch(driver: FakeDriver, size: int) -> None:
    """Neither in a parameter nor in a tensor map."""
    driver.parameter_count = 3
    sets = [[DeviceArray.from_numpy(np.ones((size, size), np.float16)) for _ in range(3)] for _ in range(2)]
    found: list[bytes] = []
    for a, b, out in sets:
        ptxgen.matmul(a, b, out=out)
        (call,) = calls._CALLS.values()
        assert call.launch is not None
        found.append(bytes(call.launch.arguments.data))
    for arguments, given, others in zip(found, sets, reversed(sets), strict=True):
        assert all(array.address.to_bytes(8, "little") in arguments for array in given)
        assert not any(array.address.to_bytes(8, "little") in arguments for array in others)
