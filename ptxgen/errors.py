"""The errors of ptxgen. The type says whose fault it is: the kernel's author, the machine, or ptxgen itself."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Protocol


class Severity(Enum):
    """How bad a finding is: an error stops the build, a warning is only shown."""

    ERROR = "error"
    WARNING = "warning"


class Place(Protocol):
    """A line of the user's source."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def function(self) -> str: ...


class FindingLike(Protocol):
    """What an error needs of a finding: a stable code, a message, and where it is."""

    @property
    def code(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def origin(self) -> Place | None: ...
    @property
    def ptx_line(self) -> int | None: ...


class PtxgenError(Exception):
    """Anything that ptxgen raises on purpose."""


class KernelError(PtxgenError):
    """The kernel is wrong. `findings` holds every finding; the message lists them all, each with the user's line."""

    def __init__(self, findings: Iterable[FindingLike], heading: str = "") -> None:
        self.findings = tuple(findings)
        lines = [describe(finding) for finding in self.findings]
        super().__init__("\n".join([heading, *lines] if heading else lines))


class PtxSyntaxError(PtxgenError):
    """PTX text that cannot be read: line and column counted from 1, and what was wanted there."""

    def __init__(self, message: str, *, line: int, column: int, wanted: str = "") -> None:
        self.line, self.column, self.wanted = line, column, wanted
        super().__init__(f"line {line}, column {column}: {message}" + (f"; wanted {wanted}" if wanted else ""))


class PlanError(PtxgenError):
    """A schedule step that is not legal or cannot be carried out."""


class UnsupportedError(PtxgenError):
    """Something that ptxgen does not accept, refused by name."""


class AssemblerError(PtxgenError):
    """ptxas is absent, or refused the text; `log` is what it said."""

    def __init__(self, message: str, *, log: str = "") -> None:
        self.log = log
        super().__init__(message)


class DriverError(PtxgenError):
    """The CUDA driver is absent, or refused; `log` is what its compiler said."""

    def __init__(self, message: str, *, log: str = "") -> None:
        self.log = log
        super().__init__(message)


class InternalError(PtxgenError):
    """ptxgen contradicts itself: a mistake of ours, not of the kernel's author."""


def describe(finding: FindingLike) -> str:
    """One finding as text: `file:line: message [code]`, with the PTX line where it is known."""
    origin = finding.origin
    place = f"{origin.file}:{origin.line}: " if origin is not None else ""
    ptx = f" (PTX line {finding.ptx_line})" if finding.ptx_line is not None else ""
    return f"{place}{finding.message} [{finding.code}]{ptx}"
