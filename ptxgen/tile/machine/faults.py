"""What the tile machine finds wrong in a program."""

from __future__ import annotations

from ptxgen.compute import SourceLine
from ptxgen.errors import Finding, KernelError, Severity


class MachineFault(KernelError):
    """The program did something that no order of its warps makes right. `code` is stable: `tile.race`,
    `tile.uninitialised`, `tile.stale`, `tile.bounds`, `tile.vector`, `tile.holder`, `tile.replica`, `tile.deadlock`,
    `tile.barrier`, `tile.fence`, `tile.inflight`, `tile.early`, `tile.ahead`, `tile.left`, `tile.unbound` or
    `tile.shape`; the one finding names op, buffer, element and warps."""

    def __init__(
        self, code: str, message: str, line: SourceLine | None, related: tuple[tuple[str, SourceLine | None], ...] = ()
    ) -> None:
        self.code = code
        super().__init__([Finding(code, Severity.ERROR, message, line, None, related)])
