"""PTX text to a cubin, through ptxas."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from ptxgen.emit import Listing
from ptxgen.errors import AssemblerError
from ptxgen.runtime.entries import read_headers
from ptxgen.runtime.ptxas import Assembler, describe_assembler, find_assembler, run
from ptxgen.runtime.source import Source, complaint, listing_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxgen.ir import Parameter

ENTRY = re.compile(r"Compiling entry function '([^']+)'")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
BARRIERS = re.compile(r"used (\d+) barriers")
SHARED = re.compile(r"(\d+)(?:\+\d+)? bytes smem")


@frozen
class Resources:
    """What one kernel takes: 32-bit registers per thread, bytes of stack and of spills per thread, static shared bytes
    per CTA, named barriers. The figures are those that `ptxas -v` prints.
    """

    kernel: str
    registers: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_bytes: int
    barriers: int

    @property
    def spills(self) -> int:
        """Bytes of spill stores and loads together; 0 where nothing is spilled."""
        return self.spill_store_bytes + self.spill_load_bytes


@frozen
class Cubin:
    """An assembled module: `image` for the driver, the target it is for, what each kernel takes, and the log.

    `registers` and `shared_bytes` are those of the kernel that takes most, `spills` counts the bytes of all.
    """

    image: bytes = field(repr=False)
    target: str
    assembler: Assembler
    resources: tuple[Resources, ...]
    kernels: Mapping[str, tuple[Parameter, ...]] = field(repr=False)
    listing: Listing = field(repr=False)
    log: str = field(repr=False)

    @property
    def registers(self) -> int:
        return max((each.registers for each in self.resources), default=0)

    @property
    def spills(self) -> int:
        return sum(each.spills for each in self.resources)

    @property
    def shared_bytes(self) -> int:
        return max((each.shared_bytes for each in self.resources), default=0)


def assemble(
    source: Source, *, target: str | None = None, assembler: Path | str | None = None, options: Sequence[str] = ()
) -> Cubin:
    """Assembles a module or PTX text with ptxas.

    `target` ("sm_90") is that of the text where it is None. `assembler` is the path of a ptxas; None takes the first
    that knows target and version, from the wheels in site-packages, then CUDA_HOME, then the PATH. `options` are
    further words for ptxas. AssemblerError says which ptxas is missing, or holds its messages on PTX and user lines.
    """
    listing = listing_of(source)
    headers = read_headers(listing.text)
    wanted = target or headers.target
    chosen = (
        find_assembler(wanted, headers.version) if assembler is None else describe_assembler(Path(assembler).resolve())
    )
    image, log = run_ptxas(chosen, listing, wanted, options)
    return Cubin(image, wanted, chosen, read_resources(log), headers.kernels, listing, log)


def run_ptxas(assembler: Assembler, listing: Listing, target: str, options: Sequence[str]) -> tuple[bytes, str]:
    """The cubin and the log; AssemblerError where ptxas refuses. The file name in the log is `kernel.ptx`, always."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernel.ptx").write_text(listing.text)
        command: list[str | Path] = [
            assembler.path,
            "-v",
            "-arch",
            target,
            *options,
            "-o",
            "kernel.cubin",
            "kernel.ptx",
        ]
        log = run(command, folder=folder)
        cubin = Path(folder) / "kernel.cubin"
        if not cubin.exists():
            heading = f"ptxas {assembler.release} refuses the text for {target}:"
            raise AssemblerError(f"{heading}\n{complaint(listing, log)}", log=log, findings=listing.blame(log))
        return cubin.read_bytes(), log


def read_resources(log: str) -> tuple[Resources, ...]:
    """What each kernel takes, in the order of the log of `ptxas -v`."""
    places = list(ENTRY.finditer(log))
    ends = [place.start() for place in places[1:]] + [len(log)]
    return tuple(kernel_resources(place[1], log[place.end() : end]) for place, end in zip(places, ends, strict=True))


def kernel_resources(kernel: str, log: str) -> Resources:
    """The figures in one kernel's part of the log; what the log does not mention is 0."""
    stack = STACK.search(log)
    frame, stores, loads = map(int, stack.groups()) if stack else (0, 0, 0)
    return Resources(kernel, number(USED, log), frame, stores, loads, number(SHARED, log), number(BARRIERS, log))


def number(pattern: re.Pattern[str], log: str) -> int:
    """The first number that the pattern finds, 0 where it finds none."""
    found = pattern.search(log)
    return int(found[1]) if found else 0
