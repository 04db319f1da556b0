"""Where ptxas is, and what each one knows."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from ptxgen.errors import AssemblerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WHEELS = ("nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvcc")
TOOLKIT_VARIABLES = ("CUDA_HOME", "CUDA_PATH")
PROGRAM = "ptxas.exe" if os.name == "nt" else "ptxas"
RELEASE = re.compile(r"\bV(\d+(?:\.\d+)+)")
REAL_TARGET = re.compile(r"'(sm_\d+[af]?)'")
NEWEST_VERSION = re.compile(r"current version is '(\d+)\.(\d+)'")
TOO_NEW = ".version 99.9\n.target sm_90\n.address_size 64\n"


@frozen
class Assembler:
    """A ptxas: its path, its release ("12.9.86"), the newest PTX it reads as (major, minor), the targets it knows."""

    path: Path
    release: str
    newest_version: tuple[int, int]
    targets: frozenset[str] = field(repr=False)

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
    return tuple(dict.fromkeys(path.resolve() for path in candidates() if path.is_file()))


def candidates() -> Iterator[Path]:
    """Where a ptxas may lie, whether or not it does."""
    for wheel in WHEELS:
        yield from inside_wheel(wheel)
    for variable in TOOLKIT_VARIABLES:
        if folder := os.environ.get(variable):
            yield Path(folder) / "bin" / PROGRAM
    if found := shutil.which(PROGRAM):
        yield Path(found)


def inside_wheel(wheel: str) -> tuple[Path, ...]:
    """The ptxas files that an installed wheel brought; none where it is not installed."""
    try:
        files = metadata.files(wheel) or []
    except metadata.PackageNotFoundError:
        return ()
    return tuple(Path(str(file.locate())) for file in files if file.name == PROGRAM and file.parent.name == "bin")


@functools.cache
def describe_assembler(path: Path) -> Assembler:
    """Asks the ptxas at `path` what it is and what it knows (three short runs, remembered for the process)."""
    release = RELEASE.search(run([path, "--version"]))
    targets = REAL_TARGET.findall(run([path, "--help"]))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "version.ptx"
        source.write_text(TOO_NEW)
        newest = NEWEST_VERSION.search(run([path, "-arch", "sm_90", "-o", source.with_suffix(".cubin"), source]))
    if release is None or newest is None or not targets:
        raise AssemblerError(f"{path} does not answer like a ptxas")
    return Assembler(path, release[1], (int(newest[1]), int(newest[2])), frozenset(targets))


def run(command: Sequence[str | Path], *, folder: str | None = None) -> str:
    """What a command prints, both streams together, run in `folder`; AssemblerError where it cannot be started."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise AssemblerError(f"{command[0]} cannot be started: {error.strerror}") from None
    return done.stdout + done.stderr


def find_assembler(target: str, version: tuple[int, int]) -> Assembler:
    """The first ptxas that knows `target` and PTX `version` (major, minor); AssemblerError lists those that do not."""
    rejected = []
    for path in assembler_paths():
        try:
            found = describe_assembler(path)
        except AssemblerError as error:
            rejected.append(str(error))
            continue
        if found.knows(target, version):
            return found
        rejected.append(str(found))
    wanted = f"{target} with PTX {version[0]}.{version[1]}"
    if not rejected:
        raise AssemblerError(f"assembling for {wanted} needs ptxas, and there is none: pip install 'ptxgen[ptxas]'")
    raise AssemblerError("\n  ".join([f"no ptxas here knows {wanted}:", *rejected]))
