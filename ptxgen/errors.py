"""The errors of ptxgen. The type says whose fault it is: the kernel's author, the machine, or ptxgen itself."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Protocol

from attrs import frozen


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


@frozen
class Finding:
    """One thing that is wrong: a stable code (`uninitialised.register`), how bad, what, and where.

    `origin` is the user's line, `ptx_line` the line of the emitted text counted from 1 (None where there is no text),
    `related` further places with what happened there.
    """

    code: str
    severity: Severity
    message: str
    origin: Place | None = None
    ptx_line: int | None = None
    related: tuple[tuple[str, Place | None], ...] = ()

    def __str__(self) -> str:
        return describe(self)


class PtxgenError(Exception):
    """Anything that ptxgen raises on purpose."""


class KernelError(PtxgenError):
    """The kernel is wrong. `findings` holds every finding; the message lists them all, each with the user's line."""

    def __init__(self, findings: Iterable[Finding], heading: str = "") -> None:
        self.findings = tuple(findings)
        lines = [describe(finding) for finding in self.findings]
        super().__init__("\n".join([heading, *lines] if heading else lines))


class PtxSyntaxError(PtxgenError):
    """PTX text that cannot be read: line and column counted from 1, what was wanted there, and the line as it stands.

    `code` is a stable word for what is wrong, `reason` the message without its place.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int,
        column: int,
        wanted: str = "",
        file: str = "",
        text: str = "",
        code: str = "syntax",
    ) -> None:
        self.line, self.column, self.wanted, self.file, self.text, self.code = line, column, wanted, file, text, code
        self.reason = message + (f"; wanted {wanted}" if wanted else "")
        place = f"{file}:{line}:{column}" if file else f"line {line}, column {column}"
        shown = f"\n    {text}\n    {marker(text, column)}" if text else ""
        super().__init__(f"{place}: {self.reason}{shown}")


def marker(text: str, column: int) -> str:
    """A caret under a column of a line, counted from 1, with the tabs of the line before it."""
    return "".join("\t" if each == "\t" else " " for each in text[: column - 1]) + "^"


class PlanError(PtxgenError):
    """A schedule step that is not legal or cannot be carried out, on the user's line.

    `instances` are the two statement instances that contradict each other, where a dependence is the reason.
    """

    def __init__(self, message: str, *, line: Place | None = None, instances: tuple[str, ...] = ()) -> None:
        self.reason, self.line, self.instances = message, line, instances
        super().__init__(place_text(line) + message)


class UnsupportedError(PtxgenError):
    """Something that ptxgen does not accept, refused by name."""


class AssemblerError(PtxgenError):
    """ptxas is absent, or refused the text; `log` is what it said, `findings` the same on the user's lines."""

    def __init__(self, message: str, *, log: str = "", findings: Iterable[Finding] = ()) -> None:
        self.log, self.findings = log, tuple(findings)
        super().__init__(message)


class DriverError(PtxgenError):
    """The CUDA driver is absent, or refused; `log` is what its compiler said, `findings` that on the user's lines."""

    def __init__(self, message: str, *, log: str = "", findings: Iterable[Finding] = ()) -> None:
        self.log, self.findings = log, tuple(findings)
        super().__init__(message)


class LaunchError(PtxgenError):
    """A launch that does not fit its kernel: the arguments, the grid, the block or the shared bytes."""


class InternalError(PtxgenError):
    """ptxgen contradicts itself: a mistake of ours, not of the kernel's author."""


def describe(finding: Finding) -> str:
    """A finding as text: `file:line: message [code]`, its PTX line where known, related places below it."""
    ptx = f" (PTX line {finding.ptx_line})" if finding.ptx_line is not None else ""
    lines = [f"{place_text(finding.origin)}{finding.message} [{finding.code}]{ptx}"]
    lines += [f"    {place_text(place)}{message}" for message, place in finding.related]
    return "\n".join(lines)


def place_text(place: Place | None) -> str:
    """`file:line: `, or nothing where the place is not known."""
    return "" if place is None else f"{place.file}:{place.line}: "
