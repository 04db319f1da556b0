"""PTX text in, running kernel out: ptxas, and the driver, which is imported when something is run and not before."""

from ptxgen.runtime.arrays import DeviceArray
from ptxgen.runtime.assembler import Cubin, assemble, find_assembler
from ptxgen.runtime.disassembler import Disassembler, find_disassembler
from ptxgen.runtime.disassembly import Sass, sass
from ptxgen.runtime.driver import (
    Described,
    compute_capability,
    described,
    device_count,
    device_name,
    driver_version,
)
from ptxgen.runtime.graphs import Graph, record
from ptxgen.runtime.loading import Launch, LoadedKernel, LoadedModule, load
from ptxgen.runtime.machine_code import SassFunction, SassGuard, SassInstruction, SassLoop
from ptxgen.runtime.nvjitlink import in_process_assembler
from ptxgen.runtime.ptxas import Assembler, AssemblerKind
from ptxgen.runtime.residency import resident_ctas
from ptxgen.runtime.resources import Resources
from ptxgen.runtime.scratch import Scratch
from ptxgen.runtime.timing import elapsed_ms, laps_ms

__all__ = [
    "Assembler",
    "AssemblerKind",
    "Cubin",
    "Described",
    "DeviceArray",
    "Disassembler",
    "Graph",
    "Launch",
    "LoadedKernel",
    "LoadedModule",
    "Resources",
    "Sass",
    "SassFunction",
    "SassGuard",
    "SassInstruction",
    "SassLoop",
    "Scratch",
    "assemble",
    "compute_capability",
    "described",
    "device_count",
    "device_name",
    "driver_version",
    "elapsed_ms",
    "find_assembler",
    "find_disassembler",
    "in_process_assembler",
    "laps_ms",
    "load",
    "record",
    "resident_ctas",
    "sass",
]
