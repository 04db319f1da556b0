"""Arrays in device memory: ours, and those of others as far as a kernel needs them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from ptxgen.errors import LaunchError
from ptxgen.runtime import dlpack
from ptxgen.runtime.driver import binding, call, on_device, outside_captures, release_with

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

LEGACY_DEFAULT_STREAM = 1


@frozen(eq=False)
class DeviceArray:
    """An array in the memory of a device, in C order: address in bytes, shape, element type, number of the device.

    It owns its memory, which goes back to the driver with the object. Others read it through
    `__cuda_array_interface__`. Its contents after `empty` are whatever was there; `fill` makes them known.
    """

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int = 0

    @classmethod
    def empty(cls, shape: int | tuple[int, ...], dtype: DTypeLike = np.float32, *, device: int = 0) -> DeviceArray:
        """Memory for an array of that shape and element type; DriverError where the device has too little."""
        extents = (shape,) if isinstance(shape, int) else tuple(shape)
        element = np.dtype(dtype)
        with on_device(device) as api, outside_captures():
            address = int(call(api.cuMemAlloc, max(1, math.prod(extents) * element.itemsize)))
            made = cls(address, extents, element, device)
            release_with(made, device, api.cuMemFree, address)
        return made

    @classmethod
    def from_numpy(cls, array: NDArray[Any], *, device: int = 0) -> DeviceArray:
        """A copy of a numpy array in device memory, in C order."""
        made = cls.empty(array.shape, array.dtype, device=device)
        made.write(np.ascontiguousarray(array))
        return made

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def to_numpy(self) -> NDArray[Any]:
        """A copy in host memory, made after all work of the device is done."""
        array: NDArray[Any] = np.empty(self.shape, self.dtype)
        self.read(array)
        return array

    def fill(self, byte: int) -> None:
        """Sets every byte to `byte` (0 to 255): 0 for zeros, 0xFF to poison a result with NaN."""
        with on_device(self.device) as api:
            if self.nbytes:
                call(api.cuMemsetD8, self.address, byte, self.nbytes)
            call(api.cuCtxSynchronize)

    def write(self, array: NDArray[Any]) -> None:
        """Copies the bytes of a host array here as they lie; it has as many bytes and is contiguous in some order."""
        self.check_size(array)
        with on_device(self.device) as api:
            if array.nbytes:
                call(api.cuMemcpyHtoD, self.address, array.ctypes.data, array.nbytes)
            call(api.cuCtxSynchronize)

    def read(self, array: NDArray[Any]) -> None:
        """Copies the bytes here into a host array after all work of the device is done; the opposite of `write`."""
        self.check_size(array)
        with on_device(self.device) as api:
            call(api.cuCtxSynchronize)
            if array.nbytes:
                call(api.cuMemcpyDtoH, array.ctypes.data, self.address, array.nbytes)

    def check_size(self, array: NDArray[Any]) -> None:
        """LaunchError unless a host array can be copied byte by byte to or from here."""
        if array.nbytes != self.nbytes:
            raise LaunchError(f"the host array has {array.nbytes} bytes, the device array {self.nbytes}")
        if not array.flags.forc:
            raise LaunchError(f"the host array of shape {array.shape} has gaps between its elements")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None,
            "stream": None,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule for another library, of DLPack before 1.0, made after all work of the device is done. BufferError
        where a copy is wanted, or memory of another device, or elements that DLPack has no type for."""
        if copy:
            raise BufferError("a DeviceArray is lent, not copied: copy what the other library makes of it")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"a DeviceArray on {self.__dlpack_device__()} is not moved to {tuple(dl_device)}")
        code, bits = dlpack.code_of(self.dtype), 8 * self.dtype.itemsize
        with on_device(self.device) as api:
            call(api.cuCtxSynchronize)
        return dlpack.capsule_of(
            dlpack.Found(self.address, self.device, self.shape, dlpack.packed(self.shape), code, bits, self)
        )


@frozen
class Resident:
    """Device memory of somebody: its address, the device where it is known, and what keeps it alive meanwhile."""

    address: int
    device: int | None
    owner: Any = field(repr=False, eq=False)


def resident(value: Any, stream: int) -> Resident | None:
    """The device memory behind an object that has `__cuda_array_interface__` or DLPack's methods; None for another.

    Work that the owner has pending on the memory is ordered before `stream`. LaunchError for memory of the host and for
    masked arrays. Strides are not looked at: a kernel is told its leading dimensions.
    """
    if isinstance(value, DeviceArray):
        return Resident(value.address, value.device, value)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return from_interface(value, interface, stream)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return from_dlpack(value, stream)
    return None


def from_interface(value: Any, interface: dict[str, Any], stream: int) -> Resident:
    """The memory that a `__cuda_array_interface__` tells of; its stream, where it names another, is waited for."""
    if interface.get("mask") is not None:
        raise LaunchError("a masked device array cannot be passed")
    address, pending = int(interface["data"][0] or 0), interface.get("stream")
    if pending is not None and address:
        follow(int(pending), stream, device_of(address))
    return Resident(address, None, value)


def device_of(address: int) -> int:
    """The device in whose memory an address lies; DriverError where it lies in none."""
    api = binding()
    return int(call(api.cuPointerGetAttribute, api.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address))


def follow(pending: int, stream: int, device: int) -> None:
    """What `stream` is given from now on comes behind what `pending`, a stream of a device, has to do now; the host
    waits for nothing."""
    if (pending or LEGACY_DEFAULT_STREAM) == (stream or LEGACY_DEFAULT_STREAM):
        return
    with on_device(device) as api:
        event = call(api.cuEventCreate, int(api.CUevent_flags.CU_EVENT_DISABLE_TIMING))
        call(api.cuEventRecord, event, pending)
        call(api.cuStreamWaitEvent, stream, event, 0)
        call(api.cuEventDestroy, event)


def from_dlpack(value: Any, stream: int) -> Resident:
    """The memory behind an object with DLPack's methods; its work is ordered before `stream`."""
    found = dlpack.look_into(value, stream or LEGACY_DEFAULT_STREAM)
    return Resident(found.address, found.device, found.owner)
