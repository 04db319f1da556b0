"""The user's line: captured cheaply at each call, resolved when somebody asks."""

from __future__ import annotations

import sys
from bisect import bisect_right
from types import CodeType, FrameType
from typing import NoReturn

from ptxgen.errors import Finding, KernelError, Severity
from ptxgen.ir import Origin

_ROOM = __name__.rpartition(".")[0]


class Resolver:
    """Turns a code object and instruction offset into an interned Origin; keeps the line tables it has read."""

    def __init__(self) -> None:
        self._tables: dict[int, tuple[CodeType, list[int], list[int]]] = {}
        self._known: dict[tuple[int, int], Origin] = {}

    def origin(self, code: CodeType, offset: int) -> Origin:
        """The line of a code object at an instruction offset."""
        key = (id(code), offset)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Origin(code.co_filename, self._line(code, offset), code.co_qualname)
        return found

    def _line(self, code: CodeType, offset: int) -> int:
        if id(code) not in self._tables:
            entries = [(start, line) for start, _, line in code.co_lines() if line is not None]
            self._tables[id(code)] = (code, [start for start, _ in entries], [line for _, line in entries])
        _, starts, lines = self._tables[id(code)]
        return lines[max(bisect_right(starts, offset) - 1, 0)]


def origin_of_frame(frame: FrameType) -> Origin:
    """The line that a frame executes now."""
    return Origin(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname)


def users_frame() -> FrameType:
    """The nearest frame that does not belong to this package: the user's, or that of a room that builds kernels."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_ROOM):
        if frame.f_back is None:
            return frame
        frame = frame.f_back
    return frame if frame is not None else sys._getframe(1)


def failure(code: str, message: str) -> KernelError:
    """The KernelError with one finding, on the user's line."""
    return KernelError([Finding(code, Severity.ERROR, message, origin_of_frame(users_frame()))])


def fail(code: str, message: str) -> NoReturn:
    """Raises `failure(code, message)`."""
    raise failure(code, message)
