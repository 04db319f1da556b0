"""Arrays among the arguments of a launch, replaced by addresses in device memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from isa.tensor_maps import TensorMap
from ptxgen.errors import LaunchError
from ptxgen.runtime.arguments import check_count, takes_address
from ptxgen.runtime.arrays import DeviceArray, Resident, resident
from ptxgen.runtime.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ptxgen.ir import Parameter


@frozen
class Staged:
    """The copy of a numpy array in device memory for one launch."""

    host: NDArray[Any] = field(repr=False, eq=False)
    device: DeviceArray


@frozen
class Placed:
    """Arguments with an address in the place of every array, the copies made, and what must outlive the launch."""

    arguments: tuple[Any, ...]
    staged: tuple[Staged, ...]
    owners: tuple[Any, ...] = field(repr=False)

    def read_back(self) -> None:
        """Copies every staged array that may be written back into the numpy array it came from."""
        for each in self.staged:
            if each.host.flags.writeable:
                each.device.read(each.host)


def place(
    kernel: str, parameters: Sequence[Parameter], arguments: Sequence[Any], *, device: int, stream: int
) -> Placed:
    """Puts arrays where the kernel can read them: numpy arrays are copied to the device, others are where they are.

    The same numpy array given twice is copied once. An array and the map of its tensor become the bytes of the map.
    LaunchError for arrays that overlap without being the same, for
    gaps between elements, another device, or less alignment than the parameter promises.
    """
    check_count(kernel, parameters, arguments)
    placed, staged, owners = list(arguments), list[Staged](), list[Any]()
    for index, (parameter, value) in enumerate(zip(parameters, arguments, strict=True)):
        name = f"kernel {kernel}: argument {index + 1} ({parameter.name})"
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], TensorMap):
            placed[index] = value[1].encode(_address(value[0], name, staged, owners, device, stream))
            continue
        if isinstance(value, Scratch) and takes_address(parameter):
            placed[index] = 0
            continue
        if not takes_address(parameter) or isinstance(value, np.generic):
            continue
        try:
            if isinstance(value, np.ndarray):
                placed[index] = stage(value, staged, device).address
            elif (memory := resident(value, stream)) is not None:
                check_place(memory, parameter, device)
                placed[index] = memory.address
                owners.append(memory)
        except LaunchError as error:
            raise LaunchError(f"{name}: {error}") from None
    return Placed(tuple(placed), tuple(staged), tuple(owners))


def _address(array: Any, name: str, staged: list[Staged], owners: list[Any], device: int, stream: int) -> int:
    """Where the tensor of a map lies."""
    try:
        if isinstance(array, np.ndarray):
            return stage(array, staged, device).address
        memory = resident(array, stream)
        if memory is None:
            raise LaunchError(f"wants an array beside its tensor map, got {type(array).__name__}")
        owners.append(memory)
        return memory.address
    except LaunchError as error:
        raise LaunchError(f"{name}: {error}") from None


def stage(array: NDArray[Any], staged: list[Staged], device: int) -> DeviceArray:
    """The device copy of a numpy array, made now unless it is among `staged`, to which a new one is added."""
    for other in staged:
        if other.host is array:
            return other.device
        if np.may_share_memory(other.host, array):
            raise LaunchError("the numpy array overlaps another argument without being the same array")
    if array.dtype.hasobject:
        raise LaunchError("a numpy array of Python objects has no bytes for a kernel")
    copy = DeviceArray.empty(array.shape, array.dtype, device=device)
    copy.write(array)
    staged.append(Staged(array, copy))
    return copy


def check_place(memory: Resident, parameter: Parameter, device: int) -> None:
    """LaunchError for memory of another device, or with less alignment than the parameter promises."""
    if memory.device is not None and memory.device != device:
        raise LaunchError(f"the array is on device {memory.device}, the kernel on device {device}")
    align = parameter.pointer.align if parameter.pointer is not None else None
    if align and memory.address % align:
        raise LaunchError(f"the array begins at {memory.address:#x}, the kernel wants a multiple of {align} bytes")
