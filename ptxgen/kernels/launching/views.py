"""Arrays as a launcher sees them: where they begin, what their elements are, how far apart they lie."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ptxgen.compute import Element
from ptxgen.errors import LaunchError

_PLAIN: dict[Element, np.dtype[Any]] = {
    Element.F16: np.dtype(np.float16),
    Element.TF32: np.dtype(np.float32),
    Element.F32: np.dtype(np.float32),
    Element.F64: np.dtype(np.float64),
    Element.S8: np.dtype(np.int8),
    Element.U8: np.dtype(np.uint8),
    Element.S32: np.dtype(np.int32),
}
_BITS: dict[Element, np.dtype[Any]] = {
    Element.BF16: np.dtype(np.uint16),
    Element.E4M3: np.dtype(np.uint8),
    Element.E5M2: np.dtype(np.uint8),
}
_ML_DTYPES = {Element.BF16: "bfloat16", Element.E4M3: "float8_e4m3fn", Element.E5M2: "float8_e5m2"}


def _dtypes() -> dict[Element, np.dtype[Any]]:
    """What arrays of each element are made of: types of `ml_dtypes` where numpy has none, or their bits without it."""
    try:
        import ml_dtypes
    except ImportError:
        return {**_PLAIN, **_BITS}
    added: dict[Element, np.dtype[Any]] = {e: np.dtype(getattr(ml_dtypes, name)) for e, name in _ML_DTYPES.items()}
    return {**_PLAIN, **added}


DTYPES: dict[Element, np.dtype[Any]] = _dtypes()


# What numpy has no name of its own for: arrays of these are passed on as their bits.
_EXTENSIONS = tuple(DTYPES[element] for element in _ML_DTYPES if DTYPES[element] != _BITS[element])
# What a dtype alone tells; two nameless bytes are how an array interface writes bf16.
_TOLD = {dtype: e for e, dtype in DTYPES.items() if e is not Element.TF32 and (e in _PLAIN or dtype != _BITS[e])}
_TOLD[np.dtype((np.void, 2))] = Element.BF16


def holds(dtype: np.dtype[Any], element: Element) -> bool:
    """Whether an array of a dtype may be one of an element: formats that numpy lacks may come as their bits, and as the
    nameless bytes that they are in an array interface."""
    if dtype == DTYPES[element]:
        return True
    return element in _BITS and (dtype == _BITS[element] or dtype == np.dtype((np.void, element.byte_count)))


ALIGNED_BYTES = 64


@frozen(eq=False)
class View:
    """A strided array: address, element type, extents, and strides in elements. `owner` is the object given; `element`
    is what its library says that the elements are, where the dtype may be but their bits."""

    address: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    owner: Any = field(repr=False)
    writeable: bool = True
    element: Element | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it has no element."""
        return 0 in self.shape

    @property
    def span(self) -> int:
        """Elements from the first one to the last one, gaps counted."""
        if self.is_empty:
            return 0
        return 1 + sum((extent - 1) * stride for extent, stride in zip(self.shape, self.strides, strict=True))

    @property
    def is_outline(self) -> bool:
        """Whether there is no memory behind it (see `outline`)."""
        return self.owner is None

    @property
    def byte_count(self) -> int:
        """Bytes from the first element to the last one, gaps counted."""
        return self.span * self.dtype.itemsize

    def memory(self) -> NDArray[Any]:
        """The numpy memory from the first element to the last one, as one row that shares it; gaps are part of it."""
        owner = self.owner
        row = as_strided(owner, (self.span,), (owner.itemsize,), writeable=owner.flags.writeable)
        return np.asarray(row)


def element_of(view: View) -> Element | None:
    """What the elements of an array are, f32 where it may be tf32; None where neither its library nor its dtype tells,
    as of bits."""
    return view.element or _TOLD.get(view.dtype)


def _is_masked(given: Any) -> bool:
    """Whether an array is one of `numpy.ma`, which takes longer to import than a kernel from the store does, and which
    whoever has such an array has imported."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(given, masked.MaskedArray)


def view_of(name: str, given: Any) -> View:
    """The view of a numpy array, or of anything with `__cuda_array_interface__`; a view is its own.

    LaunchError names the array where it is neither, or its strides are negative or no whole elements.
    """
    if isinstance(given, View):
        return given
    if _is_masked(given):
        raise LaunchError(f"{name} is a masked array, whose mask no kernel sees: fill it first")
    if isinstance(given, np.ndarray):
        owner = given.view(f"u{given.itemsize}") if given.dtype in _EXTENSIONS else given
        return _view(
            name, given.ctypes.data, given.dtype, given.shape, given.strides, owner, writeable=given.flags.writeable
        )
    interface = getattr(given, "__cuda_array_interface__", None)
    if interface is None:
        raise LaunchError(f"{name} must be an array, got {type(given).__name__}")
    dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
    steps = tuple(interface.get("strides") or packed_strides(shape, dtype.itemsize))
    address, read_only = interface["data"]
    return _view(name, int(address or 0), dtype, shape, steps, given, writeable=not read_only)


def _view(
    name: str,
    address: int,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    steps: tuple[int, ...],
    owner: Any,
    *,
    writeable: bool,
) -> View:
    if any(step % dtype.itemsize or step < 0 for step in steps):
        raise LaunchError(f"{name}: byte strides {tuple(steps)} are not whole elements forwards: copy it first")
    strides = tuple(step // dtype.itemsize for step in steps)
    return View(address, dtype, shape, strides, owner, writeable)


def outline(dtype: np.dtype[Any], shape: tuple[int, ...]) -> View:
    """An array that is not there: without gaps, at an address that is a multiple of everything. It has no memory."""
    return View(0, dtype, shape, packed_strides(shape), None)


def aligned_zeros(dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """An array of zeros without gaps whose first element lies at a multiple of ALIGNED_BYTES."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.zeros(size + ALIGNED_BYTES, np.uint8)
    start = -raw.ctypes.data % ALIGNED_BYTES
    return raw[start : start + size].view(dtype).reshape(shape)


def packed_strides(shape: tuple[int, ...], unit: int = 1) -> tuple[int, ...]:
    """The strides of an array without gaps, the last dimension's being `unit`."""
    strides = [unit] * len(shape)
    for place in reversed(range(len(shape) - 1)):
        strides[place] = strides[place + 1] * max(1, shape[place + 1])
    return tuple(strides)


def is_on_device(view: View) -> bool:
    """Whether the array is not in numpy's memory."""
    return not isinstance(view.owner, np.ndarray)
