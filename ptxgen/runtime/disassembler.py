"""Where nvdisasm is, which targets each one reads, and what it makes of a cubin."""

from __future__ import annotations

import functools
import re
import tempfile
from pathlib import Path

from attrs import field, frozen

from ptxgen.errors import AssemblerError
from ptxgen.runtime.programs import program_paths, release_of, run_program

WHEELS = ("nvidia-cuda-nvdisasm", "triton")
INSTALL = "pip install 'ptxgen[sass]'"
READ_TARGET = re.compile(r"'SM(\d+[af]?)'")
FIRST_OF_THE_WHEELS = 75
OLDER = (
    "the wheels of nvdisasm begin with sm_{first}: the nvdisasm of CUDA 12.9 or earlier reads {target}; "
    "install that toolkit and set CUDA_HOME (the wheel triton==3.4.0 has one inside, too)"
)


@frozen
class Disassembler:
    """An nvdisasm: its path, its release ("13.5.37"), the targets that it reads."""

    path: Path
    release: str
    targets: frozenset[str] = field(repr=False)

    def __str__(self) -> str:
        numbers = [int(name[3:].rstrip("af")) for name in self.targets]
        return f"{self.path} (release {self.release}, sm_{min(numbers)} to sm_{max(numbers)})"


@functools.cache
def describe_disassembler(path: Path) -> Disassembler:
    """Asks the nvdisasm at `path` what it is and what it reads (two short runs, remembered for the process).

    AssemblerError where it cannot be started or answers like something else.
    """
    release = release_of(path)
    targets = frozenset(f"sm_{name}" for name in READ_TARGET.findall(run_program([path, "--help"]).output))
    if release is None or not targets:
        raise AssemblerError(f"{path} does not answer like an nvdisasm; for one that works: {INSTALL}")
    return Disassembler(path, release, targets)


def find_disassembler(target: str) -> Disassembler:
    """The first nvdisasm that reads `target`: of the wheels, of CUDA_HOME, of the PATH.

    AssemblerError names those that do not read it, and says where one is to be had.
    """
    rejected = []
    for path in program_paths("nvdisasm", WHEELS):
        try:
            found = describe_disassembler(path)
        except AssemblerError as error:
            rejected.append(str(error))
            continue
        if target in found.targets:
            return found
        rejected.append(str(found))
    older = int(re.sub(r"\D", "", target) or 0) < FIRST_OF_THE_WHEELS
    advice = OLDER.format(first=FIRST_OF_THE_WHEELS, target=target) if older else INSTALL
    if not rejected:
        raise AssemblerError(f"reading the machine code of {target} needs nvdisasm, and there is none: {advice}")
    raise AssemblerError("\n  ".join([f"no nvdisasm here reads the machine code of {target}:", *rejected, advice]))


def disassemble(image: bytes, disassembler: Disassembler) -> str:
    """The code sections of a cubin as nvdisasm prints them, with markers of PTX lines.

    AssemblerError where it refuses the cubin.
    """
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernel.cubin"
        cubin.write_bytes(image)
        outcome = run_program([disassembler.path, "-c", "-gp", "-ndf", cubin.name], folder=folder)
    if outcome.status:
        said = outcome.output.strip() or outcome.ending()
        raise AssemblerError(f"nvdisasm {disassembler.release} refuses the cubin: {said}", log=outcome.output)
    return outcome.output
