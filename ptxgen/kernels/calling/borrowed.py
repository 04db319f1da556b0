"""Arrays of libraries that nobody here knows, seen through `__cuda_array_interface__` or DLPack for one call."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import field, frozen

from ptxgen.compute import Element
from ptxgen.errors import DriverError, LaunchError
from ptxgen.kernels.launching.views import DTYPES, View, view_of
from ptxgen.runtime import dlpack
from ptxgen.runtime.arrays import LEGACY_DEFAULT_STREAM, device_of, follow

_KINDS = {dlpack.SIGNED: "i", dlpack.UNSIGNED: "u", dlpack.FLOAT: "f"}
_NARROW = {
    (dlpack.BFLOAT, 16): Element.BF16,
    (dlpack.FLOAT_E4M3, 8): Element.E4M3,
    (dlpack.FLOAT_E5M2, 8): Element.E5M2,
}


@frozen(eq=False)
class Borrowed:
    """An array as it is seen, its device, and what keeps it alive."""

    view: View
    device: int
    owner: Any = field(repr=False)


def is_lent(array: Any) -> bool:
    """Whether an object shows itself in one of these ways."""
    return hasattr(array, "__cuda_array_interface__") or hasattr(array, "__dlpack__")


def borrow(name: str, array: Any, stream: int) -> Borrowed:
    """The array that an object shows; what its library has still to do on it comes before what `stream` is given from
    now on. LaunchError names what lies elsewhere than in the memory of a CUDA device."""
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return _by_dlpack(name, array, stream)
    view = view_of(name, array)
    device = _device(name, view)
    if interface.get("mask") is not None:
        raise LaunchError(f"{name} is a masked array, which no kernel is told of")
    if interface.get("stream") is not None:
        follow(int(interface["stream"]), stream, device)
    return Borrowed(view, device, array)


def _device(name: str, view: View) -> int:
    """The device of the memory, as the driver knows it; the first one where there is none."""
    if view.is_empty:
        return 0
    try:
        return device_of(view.address)
    except DriverError as error:
        raise LaunchError(f"{name} begins at {view.address:#x}, which is no memory of a device ({error})") from None


def _by_dlpack(name: str, array: Any, stream: int) -> Borrowed:
    try:
        found = dlpack.look_into(array, stream or LEGACY_DEFAULT_STREAM)
    except LaunchError as error:
        raise LaunchError(f"{name}: {error}") from None
    element = _NARROW.get((found.code, found.bits))
    if element is None and (found.code not in _KINDS or found.bits not in (8, 16, 32, 64)):
        raise LaunchError(f"{name} is of DLPack's type {found.code} of {found.bits} bits, which no product has")
    dtype = np.dtype(f"{_KINDS[found.code]}{found.bits // 8}") if element is None else DTYPES[element]
    view = View(found.address, dtype, found.shape, found.strides, found.owner, element=element)
    if any(step < 0 for step in found.strides):
        raise LaunchError(f"{name}: strides {found.strides} are not forwards")
    return Borrowed(view, found.device, found.owner)
