"""Which ptxas there are, and what each one knows."""

from __future__ import annotations

import functools
import re
import tempfile
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from ptxgen.errors import AssemblerError
from ptxgen.runtime.programs import program_paths, release_of, run_program

if TYPE_CHECKING:
    from collections.abc import Sequence

WHEELS = ("nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvcc", "triton")
INSTALL = "pip install 'ptxgen[ptxas]'"
REAL_TARGET = re.compile(r"'(sm_\d+[af]?)'")
NEWEST_VERSION = re.compile(r"current version is '(\d+)\.(\d+)'")
TOO_NEW = ".version 99.9\n.target sm_90\n.address_size 64\n"


class AssemblerKind(Enum):
    """What an assembler is: a program, or a library that works inside this process."""

    PTXAS = "ptxas"
    NVJITLINK = "nvJitLink"


@frozen
class Assembler:
    """A ptxas, as a program or inside nvJitLink: the path of the program or library, its release ("12.9.86"), the
    newest PTX it reads as (major, minor), the targets it knows.
    """

    path: Path
    release: str
    newest_version: tuple[int, int]
    targets: frozenset[str] = field(repr=False)
    kind: AssemblerKind = AssemblerKind.PTXAS

    @property
    def name(self) -> str:
        """ "ptxas 12.9.86" or "nvJitLink 12.9"."""
        return f"{self.kind.value} {self.release}"

    def knows(self, target: str, version: tuple[int, int]) -> bool:
        """True when it assembles PTX of `version` for `target`."""
        return target in self.targets and version <= self.newest_version

    def __str__(self) -> str:
        newest = ".".join(map(str, self.newest_version))
        return f"{self.path} (release {self.release}, PTX up to {newest}, {self.target_range()})"

    def target_range(self) -> str:
        """The least and the greatest target: "sm_50 to sm_121"."""
        numbers = [int(name[3:].rstrip("af")) for name in self.targets]
        return f"sm_{min(numbers)} to sm_{max(numbers)}" if numbers else "no targets"


def assembler_paths() -> tuple[Path, ...]:
    """Every ptxas in the order of preference: the wheels, the toolkit of CUDA_HOME, the PATH; each path once."""
    return program_paths("ptxas", WHEELS)


@functools.cache
def describe_assembler(path: Path) -> Assembler:
    """Asks the ptxas at `path` what it is and what it knows (three short runs, remembered for the process).

    AssemblerError where it cannot be started or answers like something else.
    """
    release = release_of(path)
    targets = REAL_TARGET.findall(run_program([path, "--help"]).output)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "version.ptx"
        source.write_text(TOO_NEW)
        asked = run_program([path, "-arch", "sm_90", "-o", source.with_suffix(".cubin"), source])
        newest = NEWEST_VERSION.search(asked.output)
    if release is None or newest is None or not targets:
        raise AssemblerError(f"{path} does not answer like a ptxas; for one that works: {INSTALL}")
    return Assembler(path, release, (int(newest[1]), int(newest[2])), frozenset(targets))


def run_ptxas(assembler: Assembler, text: str, target: str, options: Sequence[str]) -> tuple[bytes | None, str]:
    """The cubin and the log; None for the cubin where ptxas refuses. The file name in the log is always `kernel.ptx`.

    A ptxas that ends without a word says in the log how it ended.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernel.ptx").write_text(text)
        words: tuple[str, ...] = ("-v", "-arch", target, *options, "-o", "kernel.cubin", "kernel.ptx")
        outcome = run_program([assembler.path, *words], folder=folder)
        cubin = Path(folder) / "kernel.cubin"
        if outcome.status == 0 and cubin.exists():
            return cubin.read_bytes(), outcome.output
        return None, outcome.output.strip() or f"{assembler.path} said nothing: {outcome.ending()}"
