"""Arrays of ours lent through DLPack: what is given back, when, and to whom an exception belongs meanwhile."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxgen.runtime import DeviceArray, dlpack
from tests.runtime.fake_driver import FakeDriver

ROOT = Path(__file__).resolve().parents[2]


def lent(shape: tuple[int, ...] = (4, 4)) -> tuple[Any, weakref.ref[DeviceArray]]:
    array = DeviceArray.empty(shape, np.float16)
    return array.__dlpack__(), weakref.ref(array)


def taken(capsule: Any) -> Any:
    """The record of a capsule, taken as libraries take it."""
    rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    record = dlpack.ManagedTensor.from_address(pointer(capsule, b"dltensor"))
    assert rename(capsule, b"used_dltensor") == 0
    return record


def test_a_capsule_that_goes_on_the_way_of_an_exception_leaves_it_alone(driver: FakeDriver) -> None:
    """The stack of an expression is cleared while the exception is already there."""
    with pytest.raises(ZeroDivisionError):
        _ = [lent()[0], 1 // 0]


def test_what_nobody_took_goes_back_with_the_next_capsule(driver: FakeDriver) -> None:
    capsule, array = lent()
    other, _ = lent()
    assert array() is not None
    del capsule
    del other
    lent()
    gc.collect()
    assert array() is None


def test_what_was_taken_stays_until_it_is_given_back(driver: FakeDriver) -> None:
    capsule, array = lent()
    record = taken(capsule)
    del capsule
    lent()
    gc.collect()
    assert array() is not None
    record.deleter(ctypes.byref(record))
    gc.collect()
    assert array() is None


AT_THE_END = """
import atexit, builtins, ctypes
from ptxgen.runtime import dlpack
from tests.runtime.test_lent import taken

class Late:
    def __init__(self):
        self.record = taken(dlpack.capsule_of(dlpack.Found(4096, 0, (2, 2), (2, 1), 2, 16, object())))
        self.address, self.byref, self.bool = ctypes.addressof(self.record), ctypes.byref, bool
    def __del__(self):
        if self.bool(self.record.deleter):
            self.record.deleter(self.byref(self.record))
        print("given back", self.record.tensor.ndim)

builtins.late = Late()
builtins.never_taken = dlpack.capsule_of(dlpack.Found(4096, 0, (2, 2), (2, 1), 2, 16, object()))
"""


def test_whoever_gives_back_when_the_interpreter_ends_finds_the_record() -> None:
    found = subprocess.run([sys.executable, "-c", AT_THE_END], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (found.returncode, found.stdout, found.stderr) == (0, "given back 2\n", "")


@pytest.mark.parametrize(
    "name, code, bits",
    (("f2", 2, 16), ("i4", 0, 32), ("u1", 1, 8), ("?", 6, 8), ("c8", 5, 64), ("bfloat16", 4, 16),
     ("float8_e4m3fn", 10, 8), ("float8_e5m2", 12, 8)),
)  # fmt: skip
def test_types_as_dlpack_codes_them(driver: FakeDriver, name: str, code: int, bits: int) -> None:
    pytest.importorskip("ml_dtypes")
    kind = taken(DeviceArray.empty((2, 2), name).__dlpack__()).tensor.dtype
    assert (kind.code, kind.bits, kind.lanes) == (code, bits, 1)


def test_wishes_that_are_not_fulfilled_are_refused(driver: FakeDriver) -> None:
    array = DeviceArray.empty((2, 2), "f2")
    array.__dlpack__(max_version=(1, 0), dl_device=(2, 0), copy=False)
    with pytest.raises(BufferError, match="lent, not copied"):
        array.__dlpack__(copy=True)
    with pytest.raises(BufferError, match=r"on \(2, 0\) is not moved to \(1, 0\)"):
        array.__dlpack__(dl_device=(1, 0))
    with pytest.raises(BufferError, match="no type for elements of datetime64"):
        DeviceArray.empty((2, 2), "M8[s]").__dlpack__()
