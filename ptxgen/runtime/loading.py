"""PTX or a cubin into the driver, and its kernels launched."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import field, frozen

from isa.drivers import first_driver, newest_ptx
from isa.targets import PtxVersion
from isa.tensor_maps import MAP_BYTES
from ptxgen.emit import Listing
from ptxgen.errors import DriverError, LaunchError
from ptxgen.runtime.arguments import WORD_BYTES, ArgumentBlock, pack, takes_address
from ptxgen.runtime.assembler import Cubin
from ptxgen.runtime.driver import (
    binding,
    call,
    direct,
    driver_version,
    on_device,
    outside_captures,
    primary_context,
    reason,
    release_with,
    stream_handle,
)
from ptxgen.runtime.entries import read_headers
from ptxgen.runtime.scratch import OwnMemory
from ptxgen.runtime.shape import Extent, check_shape, three
from ptxgen.runtime.source import Source, complaint, judged, listing_of
from ptxgen.runtime.transfers import Placed, place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ptxgen.ir import Parameter

Loadable: TypeAlias = Source | Cubin
LOG_BYTES = 1 << 16


def load(module: Loadable, *, device: int = 0, stays: bool = False) -> LoadedModule:
    """Loads a module, a listing, PTX text or a cubin on a device. With `stays` it is not unloaded when the object goes:
    for kernels that graphs may hold, which somebody captured and of which nobody here knows.

    Text is compiled by the driver for that device; what its compiler refuses is a DriverError with the messages on the
    PTX and user lines. DriverError also where there is no driver, no such device, or no code for it in the cubin.
    """
    if isinstance(module, Cubin):
        listing, kernels, image = module.listing, module.kernels, module.image
    else:
        listing = listing_of(module)
        kernels, image = read_headers(listing.text).kernels, listing.text.encode() + b"\0"
    handle, log = load_image(image, listing, device)
    loaded = LoadedModule(handle, kernels, device, log)
    if not stays:
        release_with(loaded, device, binding().cuModuleUnload, handle)
    return loaded


def load_image(image: bytes, listing: Listing, device: int) -> tuple[Any, str]:
    """The driver's handle of a module and what its compiler had to say; DriverError where it refuses."""
    with on_device(device) as api, outside_captures():
        options, said = api.CUjit_option, (bytearray(LOG_BYTES), bytearray(LOG_BYTES))
        chosen = {
            options.CU_JIT_INFO_LOG_BUFFER: said[0],
            options.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: LOG_BYTES,
            options.CU_JIT_ERROR_LOG_BUFFER: said[1],
            options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: LOG_BYTES,
            options.CU_JIT_LOG_VERBOSE: 1,
        }
        status, handle = api.cuModuleLoadDataEx(image, len(chosen), list(chosen), list(chosen.values()))
        info, errors = (buffer.partition(b"\0")[0].decode(errors="replace") for buffer in said)
        if status != api.CUresult.CUDA_SUCCESS:
            heading = f"the driver refuses the module on device {device}: {reason(status)}"
            lines = [heading, complaint(listing, errors)]
            if status == api.CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
                lines.append(too_new(read_headers(listing.text).version, driver_version()))
            raise DriverError("\n".join(filter(None, lines)), log=errors, findings=judged(listing, errors))
    return handle, info


def too_new(ptx: tuple[int, int], cuda: tuple[int, int]) -> str:
    """What to do about text of a PTX version that a driver of a CUDA version does not take."""
    needed = first_driver(PtxVersion(*ptx))
    later = "a later driver" if needed is None else f"a driver of CUDA {needed[0]}.{needed[1]} or later"
    return (
        f"the text is PTX {PtxVersion(*ptx)}, and the driver of CUDA {cuda[0]}.{cuda[1]} takes PTX up to "
        f"{newest_ptx(cuda)}: install {later}, write for an older version (ptxgen.least_version tells which the module "
        f"needs), or load what a ptxas of CUDA {cuda[0]} makes of it: load(assemble(...))"
    )


@frozen(eq=False)
class LoadedModule:
    """A module in the driver: `module["name"]` is a kernel of it. `log` is what the driver's compiler said.

    It is unloaded with the object unless it stays; its kernels keep it, graphs that captured them do not.
    """

    handle: Any = field(repr=False)
    parameters: Mapping[str, tuple[Parameter, ...]]
    device: int
    log: str = field(repr=False)

    def __getitem__(self, name: str) -> LoadedKernel:
        """The kernel of that name; LookupError names those that there are."""
        if name not in self.parameters:
            known = ", ".join(self.parameters) or "none"
            raise LookupError(f"the module has no kernel {name!r}; it has: {known}")
        with on_device(self.device) as api, outside_captures():
            function = call(api.cuModuleGetFunction, self.handle, name.encode())
        return LoadedKernel(self, name, function)


@frozen(eq=False)
class LoadedKernel:
    """A kernel ready to be launched: call it with its arguments and a grid and block."""

    module: LoadedModule
    name: str
    function: Any = field(repr=False)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that the kernel declares, in order."""
        return self.module.parameters[self.name]

    def attribute(self, attribute: Any) -> int:
        """An attribute of the function, a member of the binding's CUfunction_attribute."""
        return int(call(binding().cuFuncGetAttribute, attribute, self.function))

    @property
    def registers(self) -> int:
        """32-bit registers per thread."""
        return self.attribute(binding().CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS)

    @property
    def shared_bytes(self) -> int:
        """Static shared bytes per CTA."""
        return self.attribute(binding().CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)

    @property
    def local_bytes(self) -> int:
        """Bytes of local memory per thread, spills among them."""
        return self.attribute(binding().CUfunction_attribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)

    @property
    def threads_per_cta(self) -> int:
        """The most threads that a CTA of this kernel can have."""
        return self.attribute(binding().CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)

    def __call__(
        self,
        *arguments: Any,
        grid: Extent,
        block: Extent,
        cluster: Extent = 1,
        shared_bytes: int = 0,
        stream: object = None,
        overlapped: bool = False,
        cooperative: bool = False,
    ) -> None:
        """Launches the kernel on `grid` CTAs of `block` threads, each an extent or up to three.

        Arrays go where the kernel has a parameter of 64 bits: a DeviceArray, an object with `__cuda_array_interface__`
        or DLPack's methods in device memory, an address, or a numpy array, which is copied to the device and, unless it
        is read-only, back after the kernel is done; `Scratch` for memory of the launch's own. Without numpy arrays the
        launch does not wait.
        `shared_bytes` is dynamic shared memory per CTA. `overlapped` lets the kernel begin before the one ahead of it
        on the stream has ended (programmatic dependent launch): what that one writes may be read behind
        `griddepcontrol.wait` only. `cooperative`: no block begins unless all run at once, whatever else runs, so that
        they may wait for each other; a grid that the device does not hold is refused with a DriverError. Such a launch
        does not overlap, since no document says that it may. LaunchError for anything that does not fit, before the
        launch.
        """
        prepared = self.prepare(
            *arguments,
            grid=grid,
            block=block,
            cluster=cluster,
            shared_bytes=shared_bytes,
            stream=stream,
            overlapped=overlapped,
            cooperative=cooperative,
        )
        prepared()
        prepared.placed.read_back()

    def prepare(
        self,
        *arguments: Any,
        grid: Extent,
        block: Extent,
        cluster: Extent = 1,
        shared_bytes: int = 0,
        stream: object = None,
        overlapped: bool = False,
        cooperative: bool = False,
    ) -> Launch:
        """The same launch checked and packed, to be made as often as one calls it; numpy arrays are not copied back."""
        shape = (three("grid", grid), three("block", block), three("cluster", cluster))
        device, handle = self.module.device, stream_handle(stream)
        with on_device(device) as api:
            check_shape(self.name, *shape, threads_per_cta=self.threads_per_cta)
            placed = place(self.name, self.parameters, arguments, device=device, stream=handle)
            block_of_arguments = pack(self.name, self.parameters, placed.arguments)
            self.allow_shared(shared_bytes)
            config = launch_config(
                api, shape, shared_bytes, handle, overlapped=overlapped and not cooperative, cooperative=cooperative
            )
            own = OwnMemory.of(api, self.name, arguments, block_of_arguments, device=device, stream=handle)
            if own is not None:
                own.fill()
            ready = DirectLaunch.of(api, self, config, block_of_arguments, own)
        return Launch(self, config, block_of_arguments, placed, ready)

    def allow_shared(self, shared_bytes: int) -> None:
        """Raises the function's limit of dynamic shared bytes where it is lower; LaunchError beyond the device's."""
        api = binding()
        kind = api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        if shared_bytes < 0:
            raise LaunchError(f"kernel {self.name}: shared_bytes is {shared_bytes}, wants 0 or more")
        if shared_bytes > self.attribute(kind):
            try:
                call(api.cuFuncSetAttribute, self.function, kind, shared_bytes)
            except DriverError as error:
                total = f"{shared_bytes} dynamic and {self.shared_bytes} static shared bytes"
                raise LaunchError(f"kernel {self.name}: {total} are more than the device has: {error}") from None


def launch_config(
    api: Any,
    shape: tuple[tuple[int, int, int], ...],
    shared_bytes: int,
    stream: int,
    *,
    overlapped: bool = False,
    cooperative: bool = False,
) -> Any:
    """The driver's record of a launch; attributes are in it only where they say something."""
    grid, block, cluster = shape
    config = api.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes, config.hStream = shared_bytes, stream
    attributes = []
    if cluster != (1, 1, 1):
        attribute = api.CUlaunchAttribute()
        attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        extent = attribute.value.clusterDim
        extent.x, extent.y, extent.z = cluster
        attributes.append(attribute)
    if overlapped:
        attribute = api.CUlaunchAttribute()
        attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attribute.value.programmaticStreamSerializationAllowed = 1
        attributes.append(attribute)
    if cooperative:
        attribute = api.CUlaunchAttribute()
        attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        attribute.value.cooperative = 1
        attributes.append(attribute)
    if attributes:
        config.attrs, config.numAttrs = attributes, len(attributes)
    return config


@frozen(eq=False)
class DirectLaunch:
    """The driver's functions and the addresses that they take, as ready for a call as they can be; `own` tells where
    the launch has memory of its own."""

    launch: Callable[..., int]
    addresses: tuple[ctypes.c_void_p, ...]
    current: Callable[..., int]
    found: ctypes.c_void_p
    into: Any
    context: int
    device: int
    own: OwnMemory | None = None

    @classmethod
    def of(
        cls, api: Any, kernel: LoadedKernel, config: Any, arguments: ArgumentBlock, own: OwnMemory | None = None
    ) -> DirectLaunch:
        """The launch of a kernel with a configuration and arguments, which must outlive it."""
        device, found = kernel.module.device, ctypes.c_void_p()
        addresses = (int(config.getPtr()), int(kernel.function), arguments.pointer, 0)
        return cls(
            direct(api, "cuLaunchKernelEx", 4),
            tuple(map(ctypes.c_void_p, addresses)),
            direct(api, "cuCtxGetCurrent", 1),
            found,
            ctypes.byref(found),
            int(primary_context(device)),
            device,
            own,
        )

    def perform(self) -> int:
        """Launches in the primary context of the device; the driver's status, 0 where all is well. A method, since
        calling an object takes longer."""
        self.current(self.into)
        if self.found.value != self.context:
            with on_device(self.device):
                return self._launch()
        return self.launch(*self.addresses) if self.own is None else self._launch()

    def _launch(self) -> int:
        if self.own is not None:
            self.own.fill()
        return self.launch(*self.addresses)


@frozen(eq=False)
class Launch:
    """A launch with its arguments packed: each call makes it once more, on its stream, without waiting.

    It copies nothing, so a stream that records a graph may take it. Where the kernel wants memory for itself
    (`Scratch`), that is the stream's, made when the launch is prepared or first made on another stream; in a capture it
    is the graph's, and stays with it. Replays of a graph follow each other: the driver sees to it for one executable
    graph, and whoever makes several of one recording must not run them side by side, as they write the same arrays.
    `slot`, `word` and `on_stream` change it for the calls that follow; one thread at a time may use it.
    """

    kernel: LoadedKernel
    config: Any = field(repr=False)
    arguments: ArgumentBlock = field(repr=False)
    placed: Placed
    direct: DirectLaunch = field(repr=False)

    def __call__(self) -> None:
        status = self.direct.perform()
        if status:
            raise self.refused(status)

    def refused(self, status: int) -> DriverError:
        """What to raise where the driver's status is not 0."""
        return DriverError(f"kernel {self.kernel.name}: {reason(binding().CUresult(status))}")

    def slot(self, number: int) -> ctypes.c_uint64:
        """The place in the argument block where the address of argument `number`, counted from 0, is kept: its `value`
        may be set. A tensor map begins with its tensor's address, so it has such a place, too. LaunchError for an
        argument that holds none."""
        return ctypes.c_uint64.from_address(self.arguments.addresses[self._holding(number)])

    def word(self, number: int) -> int:
        """The same place as an index of `arguments.words`."""
        within = self.arguments.addresses[self._holding(number)] - ctypes.addressof(self.arguments.data)
        return int(within) // WORD_BYTES

    def _holding(self, number: int) -> int:
        """The number of an argument that holds an address."""
        if not 0 <= number < len(self.kernel.parameters):
            known = f"takes {len(self.kernel.parameters)} arguments, counted from 0"
            raise LaunchError(f"kernel {self.kernel.name} {known}, there is no argument {number}")
        parameter = self.kernel.parameters[number]
        if not takes_address(parameter) and parameter.size_bytes != MAP_BYTES:
            raise LaunchError(f"kernel {self.kernel.name}: argument {number + 1} ({parameter.name}) holds no address")
        return number

    def on_stream(self, stream: object) -> None:
        """Further calls go to that stream."""
        handle = stream_handle(stream)
        self.config.hStream = handle
        if self.direct.own is not None:
            self.direct.own.stream.value = handle
