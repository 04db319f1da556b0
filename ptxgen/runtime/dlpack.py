"""DLPack, the exchange of arrays between libraries: looking into a capsule, and making one."""

from __future__ import annotations

import atexit
import ctypes
import sys
from typing import Any

import numpy as np
from attrs import field, frozen

from ptxgen.errors import LaunchError

HOST, CUDA, CUDA_MANAGED = 1, 2, 13
SIGNED, UNSIGNED, FLOAT, BFLOAT, COMPLEX, BOOLEAN, FLOAT_E4M3, FLOAT_E5M2 = 0, 1, 2, 4, 5, 6, 10, 12
OF_KIND = {"i": SIGNED, "u": UNSIGNED, "f": FLOAT, "c": COMPLEX, "b": BOOLEAN}
OF_NAME = {"bfloat16": BFLOAT, "float8_e4m3fn": FLOAT_E4M3, "float8_e5m2": FLOAT_E5M2}
NAME = b"dltensor"
_POINTER = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_VALID = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_NEW = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class DType(ctypes.Structure):
    """DLDataType."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", DType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class ManagedTensor(ctypes.Structure):
    """DLManagedTensor; `deleter` takes its address."""


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(ManagedTensor))
ManagedTensor._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


@frozen
class Found:
    """An array that a capsule tells of: its first byte, its device, extents, strides in elements, and its type as
    DLPack codes it (SIGNED, UNSIGNED, FLOAT, ...; bits). `owner` keeps it alive."""

    address: int
    device: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    code: int
    bits: int
    owner: Any = field(repr=False, eq=False)


def look_into(value: Any, stream: int | None) -> Found:
    """What an object with DLPack's methods holds in the memory of a CUDA device, its pending work ordered before
    `stream`. The capsule is looked into, not consumed, and lives as long as the result. LaunchError for other memory.
    """
    kind, device = value.__dlpack_device__()
    if int(kind) not in (CUDA, CUDA_MANAGED):
        where = "host memory" if int(kind) == HOST else f"memory of DLPack device type {int(kind)}"
        raise LaunchError(f"the {type(value).__name__} is in {where}: pass a numpy array or move it to the GPU")
    capsule = value.__dlpack__(stream=stream)
    tensor = Tensor.from_address(_POINTER(capsule, NAME))
    shape = tuple(tensor.shape[place] for place in range(tensor.ndim))
    strides = tuple(tensor.strides[place] for place in range(tensor.ndim)) if tensor.strides else packed(shape)
    address = (tensor.data or 0) + tensor.byte_offset
    return Found(address, int(device), shape, strides, tensor.dtype.code, tensor.dtype.bits, (value, capsule))


def packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array without gaps, in elements."""
    strides = [1] * len(shape)
    for place in reversed(range(len(shape) - 1)):
        strides[place] = strides[place + 1] * shape[place + 1]
    return tuple(strides)


def code_of(dtype: np.dtype[Any]) -> int:
    """DLPack's code of an element type; BufferError for one that it has none for."""
    code = OF_NAME.get(dtype.name, OF_KIND.get(dtype.kind))
    if code is None:
        raise BufferError(f"DLPack has no type for elements of {dtype}")
    return code


_LENT: dict[int, tuple[Any, ...]] = {}
_CAPSULES: dict[int, Any] = {}
"""What is lent, and those capsules of it that nobody was seen to have taken, by the address of its record.

A capsule has no destructor that gives back: one written in Python would run while an exception is on its way, and lose
it. So it is looked at when the next one is made."""


def _take_back(managed: Any) -> None:
    _LENT.pop(ctypes.addressof(managed.contents), None)


_TAKE_BACK = DELETER(_take_back)


def sweep() -> None:
    """Gives back what capsules lent that are gone and were never taken; a taken one has another name, and whoever took
    it gives back."""
    for address, references in _references(_CAPSULES):
        taken = not _VALID(_CAPSULES.get(address), NAME)
        if taken or references <= _BY_NOBODY_ELSE:
            _CAPSULES.pop(address, None)
            if not taken:
                _LENT.pop(address, None)


def _references(held: dict[int, Any]) -> list[tuple[int, int]]:
    """How many references there are to each of what is held, those of this look among them."""
    return [(address, sys.getrefcount(each)) for address, each in held.copy().items()]


((_, _BY_NOBODY_ELSE),) = _references({0: object()})


@atexit.register
def _keep_for_ever() -> None:
    """Whoever has a loan when the interpreter ends may give it back when there is none left to take it: its record
    stays, without a deleter, as DLPack allows."""
    for managed, *_ in _LENT.values():
        managed.deleter = DELETER()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(managed))


def capsule_of(found: Found) -> Any:
    """A capsule that lends an array; what `found` owns lives until whoever takes it is done with it, or, of one that
    nobody took, until another one is made after it is gone."""
    sweep()
    count = len(found.shape)
    shape, strides = (ctypes.c_int64 * count)(*found.shape), (ctypes.c_int64 * count)(*found.strides)
    tensor = Tensor(
        found.address,
        CUDA,
        found.device,
        count,
        DType(found.code, found.bits, 1),
        ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)),
        ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64)),
        0,
    )
    managed = ManagedTensor(tensor, None, _TAKE_BACK)
    address = ctypes.addressof(managed)
    _LENT[address] = (managed, shape, strides, found)
    capsule = _CAPSULES[address] = _NEW(address, NAME, None)
    return capsule
