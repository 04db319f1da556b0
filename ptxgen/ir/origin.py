"""Where in the user's source a statement was written."""

from __future__ import annotations

from attrs import frozen


@frozen
class Origin:
    """A line of the user's source: the file as the code object names it, the line counted from 1, the function."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"
