"""PTX text in, running kernel out: ptxas, and the driver, which is imported when something is run and not before."""

from ptxgen.runtime.arrays import DeviceArray
from ptxgen.runtime.assembler import Cubin, Resources, assemble
from ptxgen.runtime.driver import compute_capability, device_count
from ptxgen.runtime.loading import Launch, LoadedKernel, LoadedModule, load
from ptxgen.runtime.ptxas import Assembler, find_assembler
from ptxgen.runtime.timing import elapsed_ms

__all__ = [
    "Assembler",
    "Cubin",
    "DeviceArray",
    "Launch",
    "LoadedKernel",
    "LoadedModule",
    "Resources",
    "assemble",
    "compute_capability",
    "device_count",
    "elapsed_ms",
    "find_assembler",
    "load",
]
