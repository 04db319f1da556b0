"""How many CTAs of a kernel a device runs at once."""

from __future__ import annotations

from ptxgen.runtime.driver import call, on_device, outside_captures
from ptxgen.runtime.loading import LoadedKernel, launch_config


def resident_ctas(kernel: LoadedKernel, *, threads: int, shared_bytes: int = 0, cluster: int = 1) -> int:
    """The CTAs of `threads` threads with so many dynamic shared bytes that all multiprocessors of the kernel's device
    hold together: what one of them holds by the driver's count (registers, shared memory, threads), times how many
    there are. In clusters as many as the driver finds room for, whose blocks lie together on the device. LaunchError
    beyond the device's shared memory."""
    with on_device(kernel.module.device) as api, outside_captures():
        kernel.allow_shared(shared_bytes)
        if cluster > 1:
            config = launch_config(api, ((cluster, 1, 1), (threads, 1, 1), (cluster, 1, 1)), shared_bytes, 0)
            return cluster * int(call(api.cuOccupancyMaxActiveClusters, kernel.function, config))
        which = call(api.cuDeviceGet, kernel.module.device)
        processors = call(
            api.cuDeviceGetAttribute, api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, which
        )
        each = call(api.cuOccupancyMaxActiveBlocksPerMultiprocessor, kernel.function, threads, shared_bytes)
    return int(processors) * int(each)
