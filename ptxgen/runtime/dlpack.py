"""DLPack, the exchange of arrays between libraries: looking into a capsule, and making one."""

from __future__ import annotations

import ctypes
from typing import Any

from attrs import field, frozen

from ptxgen.errors import LaunchError

HOST, CUDA, CUDA_MANAGED = 1, 2, 13
SIGNED, UNSIGNED, FLOAT, BFLOAT, FLOAT_E4M3, FLOAT_E5M2 = 0, 1, 2, 4, 10, 12
NAME = b"dltensor"


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
DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
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
    tensor = Tensor.from_address(_pointer(capsule))
    shape = tuple(tensor.shape[place] for place in range(tensor.ndim))
    strides = tuple(tensor.strides[place] for place in range(tensor.ndim)) if tensor.strides else packed(shape)
    address = (tensor.data or 0) + tensor.byte_offset
    return Found(address, int(device), shape, strides, tensor.dtype.code, tensor.dtype.bits, (value, capsule))


def _pointer(capsule: Any) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return int(get(capsule, NAME))


def packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array without gaps, in elements."""
    strides = [1] * len(shape)
    for place in reversed(range(len(shape) - 1)):
        strides[place] = strides[place + 1] * shape[place + 1]
    return tuple(strides)


_LENT: dict[int, tuple[Any, ...]] = {}


def _take_back(managed: Any) -> None:
    _LENT.pop(ctypes.addressof(managed.contents), None)


def _forget(capsule: int) -> None:
    """A capsule that nobody consumed gives back what it lent; a consumed one has another name."""
    valid = ctypes.pythonapi.PyCapsule_IsValid
    valid.restype, valid.argtypes = ctypes.c_int, (ctypes.c_void_p, ctypes.c_char_p)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    if valid(capsule, NAME):
        get.restype, get.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
        _LENT.pop(get(capsule, NAME), None)


_TAKE_BACK, _FORGET = DELETER(_take_back), DESTRUCTOR(_forget)


def capsule_of(found: Found) -> Any:
    """A capsule that lends an array; what `found` owns lives until whoever takes it is done with it."""
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
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, DESTRUCTOR)
    return new(address, NAME, _FORGET)
