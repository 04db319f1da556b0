"""The CUDA driver: the only place that imports it, and only when something is run."""

from __future__ import annotations

import ctypes
import functools
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from attrs import frozen

from isa.drivers import cuda_version
from ptxgen.errors import DriverError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROC_VERSION = 12000
NO_PACKAGE = "running on a GPU needs the package cuda-python (cuda.bindings.driver)"
NO_LIBRARY = (
    "running on a GPU needs the NVIDIA driver library libcuda, which this machine does not have: "
    "install the NVIDIA driver, or run the kernel on the CPU with ptxgen.simulate"
)


def package() -> Any:
    """The module cuda.bindings.driver, the driver not started; DriverError where it is not installed."""
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise DriverError(f"{NO_PACKAGE}: {error}") from None
    return driver


@functools.cache
def binding() -> Any:
    """The module cuda.bindings.driver with the driver started; DriverError says what the machine lacks."""
    driver = package()
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError as error:
        raise DriverError(f"{NO_LIBRARY} ({error})") from None
    if status != driver.CUresult.CUDA_SUCCESS:
        raise DriverError(f"the NVIDIA driver does not start: {status.name}. Is there a GPU that this process may use?")
    return driver


def driver_version() -> tuple[int, int]:
    """The CUDA version of the installed driver, (12, 4), which needs no GPU; DriverError where there is no driver.

    `isa.drivers.newest_ptx` has the newest PTX that it takes, `least_version(module, driver=driver_version())` whether
    that is enough for a module.
    """
    driver = package()
    try:
        status, number = driver.cuDriverGetVersion()
    except RuntimeError as error:
        raise DriverError(f"{NO_LIBRARY} ({error})") from None
    if status != driver.CUresult.CUDA_SUCCESS:
        raise DriverError(f"the NVIDIA driver does not tell its version: {status.name}")
    return cuda_version(number)


def call(function: Callable[..., Any], /, *arguments: Any) -> Any:
    """Calls a function of the binding: nothing, the one result, or a tuple of results; DriverError names function and
    reason.
    """
    status, *results = function(*arguments)
    if status != binding().CUresult.CUDA_SUCCESS:
        raise DriverError(f"{function.__name__}: {reason(status)}")
    return results[0] if len(results) == 1 else tuple(results) or None


def direct(api: Any, name: str, count: int) -> Callable[..., int]:
    """A function of the driver that takes `count` addresses and gives a status, called without the binding's checks of
    its arguments: about a microsecond where a wrapped call takes several. DriverError where the driver lacks it.
    """
    flags = api.CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT
    address, _ = call(api.cuGetProcAddress, name.encode(), PROC_VERSION, flags)
    if not address:
        raise DriverError(f"the driver has no {name}: it is older than CUDA {PROC_VERSION // 1000}")
    return ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.c_void_p,) * count)(int(address))


def reason(status: Any) -> str:
    """The name of an error code and what the driver says of it."""
    known, text = binding().cuGetErrorString(status)
    said = text.decode() if known == binding().CUresult.CUDA_SUCCESS and text else "no explanation"
    return f"{status.name} ({said})"


def device_count() -> int:
    """How many GPUs the driver shows; 0 where there is no driver, so it may be asked anywhere."""
    try:
        return int(call(binding().cuDeviceGetCount))
    except DriverError:
        return 0


@functools.cache
def primary_context(device: int) -> Any:
    """The primary context of a device, the one that torch and CuPy use too; held until the process ends."""
    count = int(call(binding().cuDeviceGetCount))
    if not 0 <= device < count:
        raise DriverError(f"there is no device {device}: the driver shows {count}, counted from 0")
    return call(binding().cuDevicePrimaryCtxRetain, call(binding().cuDeviceGet, device))


@contextmanager
def on_device(device: int) -> Iterator[Any]:
    """The block runs with the device's primary context current and the binding at hand; afterwards the caller's is."""
    api = binding()
    call(api.cuCtxPushCurrent, primary_context(device))
    try:
        yield api
    finally:
        call(api.cuCtxPopCurrent)


@contextmanager
def outside_captures() -> Iterator[None]:
    """The block may allocate, load and free, which a thread is else refused while any stream is captured: nothing in
    it is recorded, for it names no stream that is captured."""
    api = binding()
    before = call(api.cuThreadExchangeStreamCaptureMode, api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
    try:
        yield
    finally:
        call(api.cuThreadExchangeStreamCaptureMode, before)


def release_with(owner: object, device: int, function: Callable[..., Any], handle: Any) -> None:
    """Gives `handle` back through a function of the binding when `owner` goes; the driver's answer is not looked at,
    for after a fault of a kernel it refuses everything. At the end of the process the driver cleans up by itself.
    """
    finalizer = weakref.finalize(owner, release, binding(), primary_context(device), function, handle)
    finalizer.atexit = False


def release(api: Any, context: Any, function: Callable[..., Any], handle: Any) -> None:
    """Calls a releasing function of the binding with `context` current, also while a stream is captured."""
    _, before = api.cuThreadExchangeStreamCaptureMode(api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
    api.cuCtxPushCurrent(context)
    function(handle)
    api.cuCtxPopCurrent()
    api.cuThreadExchangeStreamCaptureMode(before)


def compute_capability(device: int = 0) -> tuple[int, int]:
    """The compute capability of a device, (9, 0) for sm_90."""
    with on_device(device) as api:
        which = call(api.cuDeviceGet, device)
        kinds = api.CUdevice_attribute
        major = call(api.cuDeviceGetAttribute, kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, which)
        minor = call(api.cuDeviceGetAttribute, kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, which)
    return int(major), int(minor)


def device_name(device: int = 0) -> str:
    """What the driver calls a device: "NVIDIA H200"."""
    with on_device(device) as api:
        name: bytes = call(api.cuDeviceGetName, 128, call(api.cuDeviceGet, device))
    return name.partition(b"\0")[0].decode()


@frozen
class Described:
    """What the driver calls a device, its compute capability as a number (90), and the multiprocessors that this
    process has of it."""

    name: str
    number: int
    multiprocessors: int


def described(device: int = 0) -> Described:
    """What a device is, without making a context on it; DriverError where there is none."""
    api = binding()
    count = int(call(api.cuDeviceGetCount))
    if not 0 <= device < count:
        raise DriverError(f"there is no device {device}: the driver shows {count}, counted from 0")
    which, kinds = call(api.cuDeviceGet, device), api.CUdevice_attribute
    name: bytes = call(api.cuDeviceGetName, 128, which)
    wanted = (
        kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        kinds.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    )
    major, minor, count = (int(call(api.cuDeviceGetAttribute, each, which)) for each in wanted)
    return Described(name.partition(b"\0")[0].decode(), 10 * major + minor, count)


def stream_handle(stream: object) -> int:
    """The handle of a stream: None is the default stream; an integer, a CUstream, or the stream object of torch
    (`cuda_stream`), CuPy (`ptr`) or any library that has `__cuda_stream__`.
    """
    if stream is None:
        return 0
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    try:
        return int(stream)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError):
        raise DriverError(f"a stream is None, a handle or a stream object, not {type(stream).__name__}") from None
