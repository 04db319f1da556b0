"""A CUDA driver without a device: device memory is host memory, and a launch calls a Python function.

Types and enumerations are those of the real binding, which needs no driver library for them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from threading import get_ident
from typing import Any

from attrs import define, evolve, field
from cuda.bindings import driver as real

FIRST_CONTEXT = 1 << 20
PER_THREAD, FIRST_STREAM = 2, 77
UNWRITTEN = 0xFF
OK = (real.CUresult.CUDA_SUCCESS,)
BAD_VALUE = (real.CUresult.CUDA_ERROR_INVALID_VALUE,)


ATTRIBUTE_BYTES, ALLOCATED_BYTES = 72, 256


class ConfigTail(ctypes.Structure):
    """The end of CUlaunchConfig."""

    _fields_ = (("attrs", ctypes.c_void_p), ("count", ctypes.c_uint))


@define
class Launched:
    """What one launch gave the driver."""

    function: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] | None
    shared_bytes: int
    stream: int
    parameters: tuple[int, ...]
    overlapped: bool = False
    cooperative: bool = False

    def read(self, index: int, size: int) -> bytes:
        """The bytes at the address of a parameter; read them during the launch, while they live."""
        return ctypes.string_at(self.parameters[index], size)


@define
class FakeDriver:
    """Stands in for the module cuda.bindings.driver. `on_launch` is called in the place of the kernel, `on_given` when
    a launch is made or captured."""

    on_launch: Callable[[Launched], None] = lambda launched: None
    on_given: Callable[[Launched], None] = lambda launched: None
    parameter_count: int = 0
    refusal: str | None = None
    refusal_status: Any = real.CUresult.CUDA_ERROR_INVALID_PTX
    version: int = 12040
    name: str = "NVIDIA H200"
    names: dict[int, str] = field(factory=dict)
    multiprocessors: int = 7
    capability: tuple[int, int] = (9, 0)
    memory: dict[int, Any] = field(factory=dict)
    launches: list[Launched] = field(factory=list)
    images: list[bytes] = field(factory=list)
    contexts: list[Any] = field(factory=list)
    synchronised: list[int] = field(factory=list)
    followed: list[tuple[int, int]] = field(factory=list)
    devices: dict[int, int] = field(factory=dict)
    functions: list[str] = field(factory=list)
    entries: list[Any] = field(factory=list)
    unloaded: list[Any] = field(factory=list)
    max_dynamic_shared: int = 49152
    recording: dict[int, list[Any]] = field(factory=dict)
    graphs: list[list[Any]] = field(factory=list)
    clock_ms: float = 0.0
    launch_ms: float = 0.25
    destroyed: list[str] = field(factory=list)
    numbers: dict[int, int] = field(factory=dict)
    exchanged: Any = real.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    captures: int = 0
    streams: int = 0
    memory_left: int = 1 << 40

    def __getattr__(self, name: str) -> Any:
        return getattr(real, name)

    def cuInit(self, flags: int) -> Any:
        return OK

    def cuDriverGetVersion(self) -> Any:
        return *OK, self.version

    def cuGetErrorString(self, status: Any) -> Any:
        return *OK, b"as the fake driver says"

    def cuDeviceGetCount(self) -> Any:
        return *OK, 2

    def cuDeviceGet(self, ordinal: int) -> Any:
        return *OK, ordinal

    def cuDeviceGetAttribute(self, attribute: Any, device: int) -> Any:
        kinds = real.CUdevice_attribute
        known = {
            kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: self.capability[0],
            kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: self.capability[1],
            kinds.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: self.multiprocessors,
        }
        return *OK, known.get(attribute, 0)

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, function: str, threads: int, shared_bytes: int) -> Any:
        return *OK, min(2048 // threads, 233472 // (shared_bytes + 1024))

    def cuOccupancyMaxActiveClusters(self, function: str, config: Any) -> Any:
        """One multiprocessor in seven lies apart from the others."""
        (extent,) = [attribute.value.clusterDim for attribute in config.attrs]
        each = min(2048 // config.blockDimX, 233472 // (config.sharedMemBytes + 1024))
        return *OK, 6 * each // (extent.x * extent.y * extent.z)

    def cuDevicePrimaryCtxRetain(self, device: int) -> Any:
        return *OK, FIRST_CONTEXT + device

    def cuCtxPushCurrent(self, context: Any) -> Any:
        self.contexts.append(context)
        return OK

    def cuCtxPopCurrent(self) -> Any:
        return *OK, self.contexts.pop()

    def cuCtxSynchronize(self) -> Any:
        return OK

    def cuStreamSynchronize(self, stream: int) -> Any:
        self.synchronised.append(stream)
        return OK

    def cuStreamCreate(self, flags: int) -> Any:
        assert flags == int(real.CUstream_flags.CU_STREAM_NON_BLOCKING)
        self.streams += 1
        return *OK, FIRST_STREAM + self.streams

    def cuStreamDestroy(self, stream: int) -> Any:
        self.destroyed.append("stream")
        return OK

    def cuStreamBeginCapture(self, stream: int, mode: Any) -> Any:
        self.recording[stream] = []
        self.captures += 1
        self.numbers[stream] = self.captures
        return OK

    def cuStreamEndCapture(self, stream: int) -> Any:
        return *OK, self.recording.pop(stream)

    def cuThreadExchangeStreamCaptureMode(self, mode: Any) -> Any:
        before, self.exchanged = self.exchanged, mode
        return *OK, before

    @property
    def is_safe(self) -> bool:
        """Whether the driver takes a call that may not come while a stream is captured: else it ends the capture."""
        return not self.recording or self.exchanged == real.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED

    def cuGraphInstantiate(self, graph: list[Any], flags: int) -> Any:
        self.graphs.append(graph)
        return *OK, len(self.graphs) - 1

    def cuGraphDestroy(self, graph: list[Any]) -> Any:
        return OK

    def cuGraphExecDestroy(self, handle: int) -> Any:
        self.destroyed.append("graph")
        return OK

    def cuGraphLaunch(self, handle: int, stream: int) -> Any:
        for launched in self.graphs[handle]:
            self._perform(evolve(launched, stream=stream))
        return OK

    def cuEventCreate(self, flags: int) -> Any:
        return *OK, [0.0, 0]

    def cuEventRecord(self, event: list[Any], stream: int) -> Any:
        event[:] = self.clock_ms, stream
        return OK

    def cuStreamWaitEvent(self, stream: int, event: list[Any], flags: int) -> Any:
        """What comes on a stream follows what another one had when the event was recorded."""
        self.followed.append((stream, event[1]))
        return OK

    def cuPointerGetAttribute(self, attribute: Any, address: int) -> Any:
        assert attribute == real.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        held = [begin for begin, buffer in self.memory.items() if begin <= address < begin + len(buffer)]
        return (*OK, self.devices.get(held[0], 0)) if held else (*BAD_VALUE, None)

    def cuEventElapsedTime(self, begin: list[Any], end: list[Any]) -> Any:
        return *OK, end[0] - begin[0]

    def cuEventDestroy(self, event: list[Any]) -> Any:
        return OK

    def cuDeviceGetName(self, size: int, device: int) -> Any:
        return *OK, self.names.get(device, self.name).encode().ljust(size, b"\0")

    def cuMemAlloc(self, size: int) -> Any:
        if size <= 0:
            return *BAD_VALUE, None
        if not self.is_safe:
            return real.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, None
        if size > self.memory_left:
            return real.CUresult.CUDA_ERROR_OUT_OF_MEMORY, None
        around = (ctypes.c_char * (size + ALLOCATED_BYTES))()
        ahead = -ctypes.addressof(around) % ALLOCATED_BYTES
        buffer = (ctypes.c_char * size).from_buffer(around, ahead)
        address = ctypes.addressof(buffer)
        ctypes.memset(address, UNWRITTEN, size)
        self.memory[address] = buffer
        return *OK, address

    def cuMemFree(self, address: int) -> Any:
        assert self.is_safe
        del self.memory[address]
        return OK

    def cuMemsetD8(self, address: int, byte: int, size: int) -> Any:
        ctypes.memset(address, byte, size)
        return OK

    def cuMemsetD8Async(self, address: int, byte: int, size: int, stream: int) -> Any:
        assert stream not in self.recording
        return self.cuMemsetD8(address, byte, size)

    def cuMemcpyHtoD(self, to: int, source: int, size: int) -> Any:
        ctypes.memmove(to, source, size)
        return OK

    cuMemcpyDtoH = cuMemcpyHtoD

    def cuModuleLoadDataEx(self, image: bytes, count: int, options: list[Any], values: list[Any]) -> Any:
        assert len(options) == len(values) == count
        assert self.is_safe
        self.images.append(image)
        if self.refusal is None:
            return *OK, "a module"
        said = self.refusal.encode()
        values[options.index(real.CUjit_option.CU_JIT_ERROR_LOG_BUFFER)][: len(said)] = said
        return self.refusal_status, None

    def cuModuleUnload(self, module: Any) -> Any:
        self.unloaded.append(module)
        return OK

    def cuModuleGetFunction(self, module: Any, name: bytes) -> Any:
        self.functions.append(name.decode())
        return *OK, len(self.functions)

    def cuFuncGetAttribute(self, attribute: Any, function: int) -> Any:
        kinds = real.CUfunction_attribute
        known = {
            kinds.CU_FUNC_ATTRIBUTE_NUM_REGS: 40,
            kinds.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: 1024,
            kinds.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: self.max_dynamic_shared,
        }
        return *OK, known.get(attribute, 0)

    def cuFuncSetAttribute(self, function: int, attribute: Any, value: int) -> Any:
        if value > 232448:
            return BAD_VALUE
        self.max_dynamic_shared = value
        return OK

    def cuGetProcAddress(self, name: bytes, version: int, flags: Any) -> Any:
        """Entry points that other libraries call without the binding."""
        if name == b"cuCtxGetCurrent":
            entry: Any = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))(self._current)
        elif name == b"cuStreamGetCaptureInfo":
            status, number = ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_ulonglong)
            others = (ctypes.c_void_p,) * 3
            entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, status, number, *others)(self._capture_info)
        elif name == b"cuStreamGetId":
            number = ctypes.POINTER(ctypes.c_ulonglong)
            entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, number)(self._stream_id)
        else:
            entry = ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.c_void_p,) * 4)(self._launch)
        self.entries.append(entry)
        return *OK, ctypes.cast(entry, ctypes.c_void_p).value, 0

    def _current(self, into: Any) -> int:
        into[0] = self.contexts[-1] if self.contexts else 0
        return 0

    def _capture_info(self, stream: int | None, status: Any, number: Any, *others: Any) -> int:
        status[0] = int((stream or 0) in self.recording)
        number[0] = self.numbers.get(stream or 0, 0)
        return 0

    def _stream_id(self, stream: int | None, number: Any) -> int:
        """The stream that is each thread's own is another one for each."""
        number[0] = get_ident() if stream == PER_THREAD else stream or 0
        return 0

    def _launch(self, config: int, function: int, parameters: int, extra: int) -> int:
        attributes = ConfigTail.from_address(config + 40)
        found = [
            real.CUlaunchAttribute(attributes.attrs + place * ATTRIBUTE_BYTES) for place in range(attributes.count)
        ]
        (status,) = self._launched(real.CUlaunchConfig(config), found, function, parameters)
        return int(status)

    def _launched(self, config: Any, attributes: list[Any], function: int, parameters: int) -> Any:
        addresses = (ctypes.c_void_p * self.parameter_count).from_address(parameters) if self.parameter_count else ()
        ids = real.CUlaunchAttributeID
        by_id = {attribute.id: attribute.value for attribute in attributes}
        cluster = by_id.get(ids.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        overlap = by_id.get(ids.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        launched = Launched(
            self.functions[function - 1],
            (config.gridDimX, config.gridDimY, config.gridDimZ),
            (config.blockDimX, config.blockDimY, config.blockDimZ),
            (cluster.clusterDim.x, cluster.clusterDim.y, cluster.clusterDim.z) if cluster is not None else None,
            config.sharedMemBytes,
            int(config.hStream),
            tuple(addresses),
            overlap is not None and overlap.programmaticStreamSerializationAllowed == 1,
            (together := by_id.get(ids.CU_LAUNCH_ATTRIBUTE_COOPERATIVE)) is not None and together.cooperative == 1,
        )
        self.on_given(launched)
        if launched.stream in self.recording:
            self.recording[launched.stream].append(launched)
            return OK
        return self._perform(launched)

    def _perform(self, launched: Launched) -> Any:
        self.clock_ms += self.launch_ms
        self.launches.append(launched)
        self.on_launch(launched)
        return OK
