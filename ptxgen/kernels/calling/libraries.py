"""Arrays of other libraries, as far as a plain call needs them: what tells them apart, where they lie, and new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxgen.compute import Element
from ptxgen.errors import LaunchError
from ptxgen.kernels.calling.borrowed import is_lent
from ptxgen.kernels.launching.views import DTYPES, View, packed_strides, view_of
from ptxgen.runtime import DeviceArray
from ptxgen.runtime.driver import stream_handle

Key = tuple[Any, ...]


class Library:
    """Arrays in device memory with `__cuda_array_interface__` or DLPack's methods, of whatever library; those below
    know theirs better.

    `on_host`: their memory is the host's. `in_place`: an array that the user holds may be written. `borrows`: arrays
    are looked at once in a call, and what is asked here is asked of what was seen then (`Borrowed`).
    """

    on_host = False
    in_place = True
    borrows = False

    def key(self, array: Any) -> Key:
        """Equal for arrays of equal extents, strides, type and device, that may be written or may not."""
        raise NotImplementedError

    def address(self, array: Any) -> int:
        """Where the first element lies."""
        return self.view("an array", array).address

    def view(self, name: str, array: Any) -> View:
        """All of it; LaunchError names what is no array."""
        return view_of(name, array)

    def device(self, array: Any) -> int:
        """The number of its device."""
        return int(array.device)

    def stream(self, array: Any) -> int:
        """The handle of the stream on which the library works on that device now."""
        return 0

    def type_of(self, element: Element) -> Any:
        """What `empty` is to be told for an element type."""
        return DTYPES[element]

    def empty(self, kind: Any, shape: tuple[int, ...], beside: Any, stream: object = None) -> Any:
        """A new array of a `type_of` on the device of another one, to be filled by a kernel on the library's stream, or
        on `stream`: what the memory was before is done with there, and the library knows that it is used there."""
        return DeviceArray.empty(shape, kind, device=self.device(beside))

    def finished(self, array: Any, element: Element) -> Any:
        """What `empty` made, as the library's own, behind the kernel that fills it."""
        return array

    def check(self, name: str, array: Any) -> None:
        """LaunchError for an array that this way of calling would treat wrongly."""


class Unknown(Library):
    """Arrays of libraries that have no class of their own here; results are `DeviceArray`."""

    borrows = True

    def key(self, array: Any) -> Key:
        view = array.view
        return view.shape, view.strides, view.dtype, view.element, view.writeable, array.device

    def view(self, name: str, array: Any) -> View:
        view: View = view_of(name, array) if isinstance(array, DeviceArray) else array.view
        return view


class Numpy(Library):
    """Arrays of the host."""

    on_host = True


class Own(Library):
    """A `DeviceArray`."""

    def key(self, array: Any) -> Key:
        return array.shape, array.dtype, array.device

    def address(self, array: Any) -> int:
        return int(array.address)

    def view(self, name: str, array: Any) -> View:
        return View(array.address, array.dtype, array.shape, packed_strides(array.shape), array)


class Torch(Library):
    """Tensors of torch on a CUDA device."""

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.types = torch_types()
        self.elements = {kind: element for element, kind in self.types.items()}
        self.current = getattr(torch._C, "_cuda_getCurrentRawStream", self._current)

    def _current(self, device: int) -> int:
        return int(self.torch.cuda.current_stream(device).cuda_stream)

    def key(self, array: Any) -> Key:
        return array.shape, array.stride(), array.dtype, array.get_device()

    def address(self, array: Any) -> int:
        return int(array.data_ptr())

    def view(self, name: str, array: Any) -> View:
        element = self.elements.get(array.dtype)
        if element is None:
            known = ", ".join(str(kind).removeprefix("torch.") for kind in self.elements)
            raise LaunchError(f"{name} must be of a type among {known}, got {array.dtype}")
        shape, strides = tuple(array.shape), tuple(array.stride())
        owner = array if array.is_cuda else self._bits(array)
        return View(array.data_ptr(), DTYPES[element], shape, strides, owner, element=element)

    def _bits(self, array: Any) -> Any:
        """The memory of a tensor on the CPU, for numpy."""
        sizes = {1: self.torch.int8, 2: self.torch.int16, 4: self.torch.int32, 8: self.torch.int64}
        return array.detach().view(sizes[array.element_size()]).numpy()

    def device(self, array: Any) -> int:
        return int(array.get_device())

    def stream(self, array: Any) -> int:
        return int(self.current(array.get_device()))

    def type_of(self, element: Element) -> Any:
        return self.types[element]

    def empty(self, kind: Any, shape: tuple[int, ...], beside: Any, stream: object = None) -> Any:
        if stream is not None and (handle := stream_handle(stream)) != self.stream(beside):
            return self._empty_on(handle, kind, shape, beside)
        return beside.new_empty(shape) if kind is beside.dtype else beside.new_empty(shape, dtype=kind)

    def _empty_on(self, handle: int, kind: Any, shape: tuple[int, ...], beside: Any) -> Any:
        """Memory of another stream than the current one, which may read it before it goes back to that stream."""
        cuda = self.torch.cuda
        current = cuda.current_stream(beside.device)
        with cuda.stream(cuda.ExternalStream(handle, beside.device)):
            made = beside.new_empty(shape, dtype=kind)
        made.record_stream(current)
        return made

    def check(self, name: str, array: Any) -> None:
        if not array.is_cuda:
            raise LaunchError(f"{name} is a tensor on {array.device}: move it to a CUDA device, or pass a numpy array")
        if array.requires_grad and self.torch.is_grad_enabled():
            raise LaunchError(
                f"{name} wants a gradient, which this call does not record: detach it, or call it under torch.no_grad()"
            )


def torch_types() -> dict[Element, Any]:
    """The type of torch for each element type that its tensors can be of."""
    import torch

    return {
        Element.F16: torch.float16,
        Element.BF16: torch.bfloat16,
        Element.F32: torch.float32,
        Element.F64: torch.float64,
        Element.E4M3: torch.float8_e4m3fn,
        Element.E5M2: torch.float8_e5m2,
        Element.S8: torch.int8,
        Element.U8: torch.uint8,
        Element.S32: torch.int32,
    }


class Cupy(Library):
    """Arrays of CuPy."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy

    def key(self, array: Any) -> Key:
        return array.shape, array.strides, array.dtype, array.device.id

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    def device(self, array: Any) -> int:
        return int(array.device.id)

    def stream(self, array: Any) -> int:
        return int(self.cupy.cuda.get_current_stream().ptr)

    def empty(self, kind: Any, shape: tuple[int, ...], beside: Any, stream: object = None) -> Any:
        cuda = self.cupy.cuda
        with cuda.Device(self.device(beside)):
            if stream is None:
                return self.cupy.empty(shape, kind)
            with cuda.ExternalStream(stream_handle(stream)):
                return self.cupy.empty(shape, kind)


class Jax(Library):
    """Arrays of JAX on one CUDA device. They never change, so results are new ones; JAX waits for them."""

    in_place = False

    def key(self, array: Any) -> Key:
        return array.shape, array.dtype.name, self.device(array)

    def address(self, array: Any) -> int:
        if isinstance(array, DeviceArray):
            return array.address
        array.block_until_ready()
        return int(array.unsafe_buffer_pointer())

    def view(self, name: str, array: Any) -> View:
        if not isinstance(array, DeviceArray) and len(array.devices()) != 1:
            raise LaunchError(f"{name} is spread over {len(array.devices())} devices: gather it on one")
        if isinstance(array, DeviceArray) or array.dtype not in _UNTOLD:
            return view_of(name, array)
        return View(self.address(array), array.dtype, array.shape, packed_strides(array.shape), array)

    def device(self, array: Any) -> int:
        return int(next(iter(array.devices())).local_hardware_id or 0)

    def type_of(self, element: Element) -> Any:
        return np.dtype(np.uint8) if element in _BYTE_FLOATS else DTYPES[element]

    def finished(self, array: Any, element: Element) -> Any:
        from jax import dlpack, lax

        found = dlpack.from_dlpack(array)
        return lax.bitcast_convert_type(found, DTYPES[element]) if element in _BYTE_FLOATS else found


_BYTE_FLOATS = (Element.E4M3, Element.E5M2)
# What JAX tells no array interface of; its arrays of these have no gaps.
_UNTOLD = [DTYPES[element] for element in (Element.BF16, *_BYTE_FLOATS)]


def library_of(name: str, array: Any) -> Library:
    """The library of an array, by the package of its type; LaunchError names what is no array."""
    found = _KNOWN.get(type(array))
    if found is None:
        root = type(array).__module__.partition(".")[0]
        if root not in _BY_PACKAGE and not is_lent(array):
            raise LaunchError(f"{name} must be an array, got {type(array).__name__}")
        found = _KNOWN[type(array)] = _one(_BY_PACKAGE.get(root, Unknown))
    return found


def _one(kind: type[Library]) -> Library:
    """One for all types of a package: a tensor and a parameter of torch are of the same library."""
    return _ONES.get(kind) or _ONES.setdefault(kind, kind())


_ONES: dict[type[Library], Library] = {}
_KNOWN: dict[type, Library] = {DeviceArray: Own()}
_BY_PACKAGE: dict[str, type[Library]] = {
    "numpy": Numpy,
    "torch": Torch,
    "cupy": Cupy,
    "jax": Jax,
    "jaxlib": Jax,
}
