"""The plain call: a product of two arrays, planned, made, and kept for the next arrays like them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from ptxgen.compute import Element
from ptxgen.errors import LaunchError
from ptxgen.kernels.epilogue import Activate, Activation, Bias, Piece, Residual
from ptxgen.kernels.generated import GeneratedKernel
from ptxgen.kernels.libraries import Key, Library, library_of
from ptxgen.kernels.matmul import Machine, Matmul
from ptxgen.kernels.matmul_compute import Layout, MatmulSpec
from ptxgen.kernels.views import DTYPES, View, view_of
from ptxgen.runtime import Launch, compute_capability, device_count
from ptxgen.tile import ParameterKind

KEPT = 1024
ALIGNMENT_MASK = 15
TARGET_ON_CPU = "sm_70"


def matmul(
    a: Any,
    b: Any,
    bias: Any = None,
    activation: str | None = None,
    out: Any = None,
    *,
    residual: Any = None,
    accumulate: str = "f32",
    output: str = "f16",
    target: str | None = None,
    stream: object = None,
) -> Any:
    """`activation(a @ b + bias) + residual`, on tensor cores, with the default plan of the device.

    `a` is [M, K] and `b` [K, N] in f16, or both with one more dimension ahead for as many products; either dimension of
    each may be the one that lies together, so transposed views cost nothing. `bias` is [N] and `residual` like the
    result, each in f16 or f32; `activation` is "relu", "gelu" (its tanh form) or "silu"; sums are kept in `accumulate`
    ("f32" or "f16"). The result is `out`, or a new array of the library of `a` in `output`.

    Tensors of torch, arrays of CuPy and JAX and anything else in device memory run where they are, on the library's
    stream or on `stream`, and the call does not wait. numpy arrays are copied to GPU 0 and back; without a GPU they run
    in the CPU simulator, with every check, for `target` (default: sm_70). The first call for arrays of a shape on a GPU
    makes the kernel, or takes it from the store on disk (`ptxgen cache`). LaunchError, before anything runs, for what
    does not fit; KernelError, on the CPU, for a fault.
    """
    library = library_of("a", a)
    arrays = {"A": a, "B": b}
    for name, array in (("bias", bias), ("R", residual), ("D", out)):
        if array is not None:
            arrays[name] = array
    if library.on_host:
        return _on_host(arrays, Wish(activation, accumulate, output, target))
    for name, array in arrays.items():
        if type(array) is not type(a) and library_of(_SPOKEN[name], array) is not library:
            raise LaunchError(f"a and {_SPOKEN[name]} must be arrays of one library on one device")
        library.check(_SPOKEN[name], array)
    on = library.stream(a) if stream is None else stream
    key: Key = (activation, accumulate, output, target, on)
    addresses = []
    for name, array in arrays.items():
        address = library.address(array)
        addresses.append(address)
        key += (name, library.key(array), address & ALIGNMENT_MASK)
    call = _CALLS.get(key)
    if call is None:
        call = _CALLS[key] = _made(library, arrays, Wish(activation, accumulate, output, target), on)
        if len(_CALLS) > KEPT:
            del _CALLS[next(iter(_CALLS))]
    if out is not None:
        call.run(addresses)
        return out
    out = library.empty(call.dtype, call.shape, a)
    call.run((*addresses, library.address(out)))
    return library.finished(out)


@frozen
class Wish:
    """What is asked of a product beside its arrays."""

    activation: str | None
    accumulate: str
    output: str
    target: str | None


@frozen(eq=False)
class Call:
    """A prepared launch, with the places of each array's address in it, and the result that it leaves."""

    launch: Launch | None
    places: tuple[tuple[ctypes.c_uint64, ...], ...]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    turn: Lock = field(factory=Lock)

    def run(self, addresses: Sequence[int]) -> None:
        """Launches it with the arrays at these addresses, in the order of `places`."""
        if self.launch is None:
            return
        with self.turn:
            for places, address in zip(self.places, addresses, strict=True):
                for place in places:
                    place.value = address
            self.launch()


_CALLS: dict[Key, Call] = {}


def _made(library: Library, arrays: Mapping[str, Any], wish: Wish, stream: object) -> Call:
    """The launch for these arrays and for all like them."""
    if "D" in arrays and not library.in_place:
        raise LaunchError(f"out is an array of {type(arrays['D']).__module__}, which never changes: leave it out")
    device = library.device(arrays["A"])
    for name, array in arrays.items():
        if library.device(array) != device:
            raise LaunchError(f"a and {_SPOKEN[name]} must be arrays of one library on one device")
    views = {name: library.view(_SPOKEN[name], array) for name, array in arrays.items()}
    spec, stored = _spec(views, wish)
    product = Matmul(spec, wish.target or target_of(device))
    shape, dtype = (*views["A"].shape[:-1], views["B"].shape[-1]), DTYPES[spec.output]
    if "D" not in views:
        stored["D"] = library.view("out", library.empty(dtype, shape, arrays["A"]))
    whole = product.with_outputs(stored)
    kernel = product.kernel_for(whole, on_disk=True)
    ready = kernel.prepare(whole, device=device)
    if ready.blocks == 0:
        return Call(None, (), dtype, shape)
    launch = kernel.on_device(device).prepare(
        *ready.arguments,
        grid=ready.blocks,
        block=ready.threads,
        cluster=ready.cluster,
        shared_bytes=ready.shared_bytes,
        stream=stream,
        overlapped=ready.overlapped,
    )
    names = [*arrays, *({"D"} - set(arrays))]
    return Call(launch, tuple(_places(kernel, launch, name) for name in names), dtype, shape)


_SPOKEN = {"A": "a", "B": "b", "bias": "bias", "R": "residual", "D": "out"}


def target_of(device: int) -> str:
    """The target that has all of a device: sm_90a for compute capability 9.0, as sm_90 lacks products of warpgroups."""
    major, minor = compute_capability(device)
    return f"sm_{major}{minor}a" if (major, minor) == (9, 0) else f"sm_{major}{minor}"


def _places(kernel: GeneratedKernel, launch: Launch, name: str) -> tuple[ctypes.c_uint64, ...]:
    """Where the address of an array stands in a launch: its parameter, and the tensor maps of it."""
    parameters, boxes = kernel.entry.parameters, kernel.entry.boxes
    numbers = [n for n, p in enumerate(parameters) if p.kind is ParameterKind.POINTER and p.name == name]
    numbers += [len(parameters) + n for n, box in enumerate(boxes) if box.array == name]
    return tuple(launch.slot(number) for number in numbers)


def _spec(views: Mapping[str, View], wish: Wish) -> tuple[MatmulSpec, dict[str, View]]:
    """The product that these arrays ask for, and the arrays as they are stored for it."""
    a, b = views["A"], views["B"]
    if len(a.shape) != len(b.shape) or len(a.shape) not in (2, 3):
        raise LaunchError(f"a and b must both have two dimensions, or three, got shapes {a.shape} and {b.shape}")
    _check_shapes(views)
    turned = {name: _is_turned(_SPOKEN[name], views[name]) for name in ("A", "B")}
    layout = Layout("".join("t" if turned[name] else "n" for name in ("A", "B")))
    pieces: list[Piece] = []
    if "bias" in views:
        pieces.append(Bias(element=_element("bias", views["bias"])))
    if wish.activation is not None:
        if wish.activation not in _ACTIVATIONS:
            known = ", ".join(_ACTIVATIONS)
            raise LaunchError(f"activation must be one of {known} or None, got {wish.activation!r}")
        pieces.append(Activate(_ACTIVATIONS[wish.activation]))
    if "R" in views:
        pieces.append(Residual(_element("residual", views["R"])))
    output = _element("out", views["D"]) if "D" in views else _named("output", wish.output)
    spec = MatmulSpec(layout, _named("accumulate", wish.accumulate), output, tuple(pieces), len(a.shape) == 3)
    return spec, {name: _turned(view) if turned.get(name) else view for name, view in views.items()}


_ACTIVATIONS = {each.value: each for each in Activation}


def _is_turned(name: str, view: View) -> bool:
    """Whether the last dimension but one is the one that lies together."""
    *_, rows, columns = view.shape
    *_, down, across = view.strides
    if across == 1 or columns <= 1:
        return False
    if down == 1 or rows <= 1:
        return True
    raise LaunchError(
        f"{name}: neither of the last two dimensions lies together (strides {view.strides}): copy it first"
    )


def _turned(view: View) -> View:
    """The same elements with the last two dimensions exchanged."""
    shape, strides = (*view.shape[:-2], *view.shape[:-3:-1]), (*view.strides[:-2], *view.strides[:-3:-1])
    return evolve(view, shape=shape, strides=strides)


def _check_shapes(views: Mapping[str, View]) -> None:
    a, b = views["A"].shape, views["B"].shape
    wanted = {"B": (*a[:-2], a[-1], b[-1]), "bias": b[-1:], "R": (*a[:-1], b[-1]), "D": (*a[:-1], b[-1])}
    for name, view in views.items():
        if name in wanted and view.shape != wanted[name]:
            raise LaunchError(
                f"{_SPOKEN[name]} must have the shape {wanted[name]} beside a of {a} and b of {b}, got {view.shape}"
            )
    for name in ("A", "B"):
        if views[name].dtype != DTYPES[Element.F16]:
            raise LaunchError(f"{_SPOKEN[name]} must be float16, got {views[name].dtype}")


def _named(what: str, wish: str) -> Element:
    known = {element.label: element for element in (Element.F16, Element.F32)}
    found = known.get(wish)
    if found is None:
        raise LaunchError(f"{what} must be one of {', '.join(known)}, got {wish!r}")
    return found


def _element(name: str, view: View) -> Element:
    for element in (Element.F16, Element.F32):
        if DTYPES[element] == view.dtype:
            return element
    raise LaunchError(f"{name} must be f16 or f32, got {view.dtype}")


def _on_host(arrays: Mapping[str, Any], wish: Wish) -> Any:
    """numpy arrays: on GPU 0 where there is one, else in the simulator."""
    for name, array in arrays.items():
        if not library_of(_SPOKEN[name], array).on_host:
            raise LaunchError(f"a is in host memory, {_SPOKEN[name]} is not: move one to the other's")
    views = {name: view_of(_SPOKEN[name], array) for name, array in arrays.items()}
    spec, stored = _spec(views, wish)
    gpu = device_count() > 0
    product = Matmul(spec, wish.target or (target_of(0) if gpu else TARGET_ON_CPU))
    done = product(stored, on=Machine.GPU if gpu else Machine.CPU).arrays["D"]
    return arrays.get("D", done)
