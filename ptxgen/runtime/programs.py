"""Where NVIDIA's command-line programs lie, and how one is run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from ptxgen.errors import AssemblerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TOOLKIT_VARIABLES = ("CUDA_HOME", "CUDA_PATH")
SUFFIX = ".exe" if os.name == "nt" else ""
RELEASE = re.compile(r"\bV(\d+(?:\.\d+)+)")


@frozen
class Outcome:
    """What a program printed, both streams together, and its exit status; a negative one is a signal that ended it."""

    output: str
    status: int

    def ending(self) -> str:
        """How it ended, in words."""
        return f"ended by signal {-self.status}" if self.status < 0 else f"exit status {self.status}"


def program_paths(program: str, wheels: Sequence[str]) -> tuple[Path, ...]:
    """Every file of a program in the order of preference: the wheels, the toolkit of CUDA_HOME, the PATH; each once.

    `program` is its name without the system's suffix, `wheels` are names of distributions.
    """
    return tuple(dict.fromkeys(path.resolve() for path in candidates(program + SUFFIX, wheels) if path.is_file()))


def candidates(file_name: str, wheels: Sequence[str]) -> Iterator[Path]:
    """Where a program may lie, whether or not it does."""
    for wheel in wheels:
        yield from (path for path in files_of_wheel(wheel) if path.name == file_name and path.parent.name == "bin")
    for folder in toolkit_folders():
        yield folder / "bin" / file_name
    if found := shutil.which(file_name):
        yield Path(found)


def toolkit_folders() -> tuple[Path, ...]:
    """The CUDA toolkits that the environment names."""
    return tuple(Path(folder) for variable in TOOLKIT_VARIABLES if (folder := os.environ.get(variable)))


def files_of_wheel(wheel: str) -> tuple[Path, ...]:
    """The files that an installed wheel brought; none where it is not installed."""
    try:
        files = metadata.files(wheel) or []
    except metadata.PackageNotFoundError:
        return ()
    return tuple(Path(str(file.locate())) for file in files)


def run_program(command: Sequence[str | Path], *, folder: str | None = None) -> Outcome:
    """Runs a command in `folder` to its end; AssemblerError where it cannot be started."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise AssemblerError(f"{command[0]} cannot be started: {error.strerror}") from None
    return Outcome(done.stdout + done.stderr, done.returncode)


def release_of(path: Path) -> str | None:
    """The release that the program at `path` says it is of ("12.9.86"); None where it does not answer like one."""
    found = RELEASE.search(run_program([path, "--version"]).output)
    return found[1] if found else None
