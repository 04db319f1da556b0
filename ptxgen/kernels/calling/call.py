"""The plain call: a product of two arrays, planned, made, and kept for the next arrays like them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from attrs import field, frozen

from ptxgen.compute import Element
from ptxgen.errors import LaunchError
from ptxgen.kernels.calling.asked import (
    SPOKEN,
    Wish,
    asked,
    check_target,
    check_wish,
    planned,
    result_shape,
    target_on_cpu,
)
from ptxgen.kernels.calling.borrowed import Borrowed, borrow
from ptxgen.kernels.calling.libraries import Key, Library, library_of
from ptxgen.kernels.choosing.choice import Tuned, tuned_on
from ptxgen.kernels.launching.apart import Placed, check_places, places_apart
from ptxgen.kernels.launching.prepared import places_of
from ptxgen.kernels.launching.views import View, view_of
from ptxgen.kernels.matmul import Machine, Matmul
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.runtime import Launch, compute_capability, device_count
from ptxgen.runtime.driver import stream_handle

KEPT = 1024
NEEDED = ("A", "B", "ends")
ALIGNMENT_MASK = 15


def matmul(
    a: Any,
    b: Any,
    bias: Any = None,
    activation: str | None = None,
    out: Any = None,
    *,
    residual: Any = None,
    pre_activation: Any = None,
    input: str | None = None,
    accumulate: str | None = None,
    promote: int | None = None,
    output: str | None = None,
    target: str | None = None,
    stream: object = None,
    tuned: Tuned | None = None,
) -> Any:
    """`activation(a @ b + bias) + residual`, on tensor cores, with a plan chosen for the shape without running any, or
    with the one that `tuned` (`ptxgen.tune.best()`) has measured for it.

    `a` is [M, K] and `b` [K, N], or both with one more dimension ahead for as many products; either dimension of each
    may be the one that lies together, so transposed views cost nothing. They are f16, bf16, f64, s8 or u8, e4m3 or e5m2
    (the last two pairs also mixed), or f32 multiplied as tf32 where `input="tf32"` asks for it; `input` also says what
    arrays of bits are. `bias` is [N] and `residual` like the result, each of any of these types, f32 or s32;
    `activation` is "relu", "gelu" (its tanh form) or "silu"; `pre_activation`, an array like the result, is filled with
    what goes into it. Sums are kept in `accumulate`: f32 (the default) or f16 of f16, e4m3 and e5m2, else f32, f64 or
    s32; with `promote`, in chains of so many terms, added up in f32. The result is `out`, or a new array of the library
    of `a` in `output`: by default the type of `a`, but f32 of tf32, f16 of e4m3 and e5m2, and s32 of s8 and u8, f32
    where something follows the sum.

    Tensors of torch, arrays of CuPy and JAX and anything else in device memory (`__cuda_array_interface__`, DLPack) run
    where they are, on the library's stream (the default one where none is known) or on `stream`; what an interface says
    is pending elsewhere is done before. The host does not wait, but with JAX: for the arrays, and for all work of the
    device behind the kernel. A new result on `stream` is that stream's: who reads it on another one waits for it there.
    A capture takes the call, also the first one; memory of the kernel's own stays with the graph. numpy arrays are
    copied to GPU 0 and back; without a GPU they run in the CPU simulator, with every check, for `target` (default: the
    oldest one that multiplies their type). The first call for arrays of a shape on a GPU makes the kernel, or takes it
    from the store on disk (`ptxgen cache`).
    LaunchError, before anything runs, for what does not fit; KernelError, on the CPU, for a fault.
    """
    arrays = {"A": a, "B": b, "bias": bias, "R": residual, "E": pre_activation, "D": out}
    return _called(arrays, (activation, input, accumulate, promote, output, target, tuned), stream)


def grouped_matmul(
    a: Any,
    b: Any,
    offsets: Any,
    *,
    bias: Any = None,
    activation: str | None = None,
    out: Any = None,
    residual: Any = None,
    pre_activation: Any = None,
    input: str | None = None,
    accumulate: str | None = None,
    promote: int | None = None,
    output: str | None = None,
    target: str | None = None,
    stream: object = None,
) -> Any:
    """Products of many sizes by one kernel, which finds the sizes in memory: `offsets`, s32 and one for each of G
    groups, tells where each ends; it begins where the one before ends, the first at 0.

    Of `b` [G, K, N] each matrix is for a group of rows of `a` [M, K], whose result are the same rows of [M, N]; rows
    behind the last offset are left as they are in `out`, and anything in a new array. Of `b` [K, N] a group of rows is
    for a group of columns of `a` [M, K], and the result [G, M, N] has the product of each, zeros where it is empty
    (plus what follows). An offset less than one before it, or beyond the last row, counts as that. `bias` is [G, N];
    all else is as for `matmul`. The call does not wait for the device to know the offsets.
    """
    arrays = {"A": a, "B": b, "ends": offsets, "bias": bias, "R": residual, "E": pre_activation, "D": out}
    return _called(arrays, (activation, input, accumulate, promote, output, target, None), stream)


def _called(given: Mapping[str, Any], wishes: tuple[Any, ...], stream: object) -> Any:
    """The product of arrays by the names of its compute, None those that are not there: by the launch prepared for
    arrays like them."""
    a, out = given["A"], given["D"]
    library = library_of("a", a)
    arrays = {name: array for name, array in given.items() if array is not None or name in NEEDED}
    if library.on_host:
        if stream is not None:
            raise LaunchError(f"stream is for arrays in device memory, a is in the host's, got {stream!r}")
        return _of_numpy(arrays, Wish(*wishes))
    on = library.stream(a) if stream is None else stream
    if library.borrows:
        arrays = {name: _borrowed(library, name, array, on) for name, array in arrays.items()}
        a = arrays["A"]
    parts: list[Any] = []
    addresses = []
    for name, array in arrays.items():
        if type(array) is not type(a) and library_of(SPOKEN[name], array) is not library:
            raise LaunchError(f"a and {SPOKEN[name]} must be arrays of one library on one device")
        library.check(SPOKEN[name], array)
        address = library.address(array)
        addresses.append(address)
        parts += (name, library.key(array), address & ALIGNMENT_MASK)
    key: Key = (*parts, on, wishes)
    try:
        call = _CALLS.get(key)
    except TypeError:
        check_wish(Wish(*wishes))
        raise
    if call is None:
        call = _kept(key, _made(library, arrays, Wish(*wishes), on))
    if call.apart:
        check_places(call.apart, addresses)
    if out is not None:
        call.run(addresses)
        return out
    out = library.empty(call.kind, call.shape, a, stream)
    call.run((*addresses, library.address(out)))
    return library.finished(out, call.element)


def _borrowed(library: Library, name: str, array: Any, stream: object) -> Borrowed:
    if library_of(SPOKEN[name], array) is not library:
        raise LaunchError(f"a and {SPOKEN[name]} must be arrays of one library on one device")
    return borrow(SPOKEN[name], array, stream_handle(stream))


def _kept(key: Key, made: Call) -> Call:
    """The call that is kept for a key from now on, whichever thread made it first; the oldest one goes."""
    with _KEEPING:
        kept = _CALLS.setdefault(key, made)
        if len(_CALLS) > KEPT:
            del _CALLS[next(iter(_CALLS))]
    return kept


@frozen(eq=False)
class Call:
    """A prepared launch, with the places of addresses in it, each with which array's it is, and the result that it
    leaves; which of the arrays that are given must lie `apart`."""

    launch: Launch | None
    places: tuple[tuple[int, int], ...]
    element: Element
    kind: Any
    shape: tuple[int, ...]
    apart: tuple[Placed, ...] = ()
    turn: Lock = field(factory=Lock)

    def run(self, addresses: Sequence[int]) -> None:
        """Launches it with the arrays at these addresses, in the order in which they were given, a new result last."""
        if self.launch is None:
            return
        words = self.launch.arguments.words
        with self.turn:
            for word, which in self.places:
                words[word] = addresses[which]
            self.launch()


_CALLS: dict[Key, Call] = {}
_KEEPING = Lock()


def _made(library: Library, arrays: Mapping[str, Any], wish: Wish, stream: object) -> Call:
    """The launch for these arrays and for all like them."""
    for name in ("D", "E"):
        if name in arrays and not library.in_place:
            whose = type(arrays[name]).__module__
            raise LaunchError(f"{SPOKEN[name]} is an array of {whose}, which never changes: leave it out")
    device = library.device(arrays["A"])
    for name, array in arrays.items():
        if library.device(array) != device:
            raise LaunchError(f"a and {SPOKEN[name]} must be arrays of one library on one device")
    views = {name: library.view(SPOKEN[name], array) for name, array in arrays.items()}
    spec, stored = asked(views, wish)
    product = _product(spec, wish.target or target_of(device), tuned_on(device, wish.tuned))
    apart = places_apart(product.stated, stored, list(arrays), SPOKEN)
    check_places(apart, [stored[name].address for name in arrays])
    shape, kind = result_shape(views), library.type_of(spec.output)
    if "D" not in views:
        stored["D"] = library.view("out", library.empty(kind, shape, arrays["A"]))
    whole = product.with_outputs(stored, spoken=SPOKEN)
    with planned():
        kernel = product.kernel_for(whole, on_disk=True)
    ready = kernel.prepare(whole, device=device)
    if ready.blocks == 0:
        return Call(None, (), spec.output, kind, shape)
    launch = ready.packed(kernel.on_device(device), stream)
    names = (*arrays, *({"D"} - set(arrays)))
    return Call(launch, places_of(kernel.entry, launch, names), spec.output, kind, shape, apart)


def _product(spec: MatmulSpec, target: str, tuned: Tuned | None) -> Matmul:
    check_target(spec, target)
    return Matmul(spec, target, tuned=tuned)


def target_of(device: int) -> str:
    """The target that has all of a device: sm_90a for compute capability 9.0, as sm_90 lacks products of warpgroups."""
    major, minor = compute_capability(device)
    return f"sm_{major}{minor}a" if (major, minor) == (9, 0) else f"sm_{major}{minor}"


def _of_numpy(arrays: Mapping[str, Any], wish: Wish) -> Any:
    for name, array in arrays.items():
        if not library_of(SPOKEN[name], array).on_host:
            raise LaunchError(f"a is in host memory, {SPOKEN[name]} is not: move one to the other's")
    found = on_host({name: view_of(SPOKEN[name], array) for name, array in arrays.items()}, wish)
    return arrays.get("D", found)


def on_host(views: Mapping[str, View], wish: Wish) -> Any:
    """The product of arrays in numpy's memory: on GPU 0 where there is one, else in the simulator. What it leaves is
    the array given for D, or a new one."""
    spec, stored = asked(views, wish)
    gpu = device_count() > 0
    product = _product(spec, wish.target or (target_of(0) if gpu else target_on_cpu(views, spec)), wish.tuned)
    whole = product.with_outputs(stored, spoken=SPOKEN)
    with planned():
        product.kernel_for(whole)
    return product(whole, on=Machine.GPU if gpu else Machine.CPU).arrays["D"]
