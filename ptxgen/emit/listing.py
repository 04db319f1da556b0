"""The text of a module, with the user's line behind each of its lines."""

from __future__ import annotations

import re

from attrs import frozen

from ptxgen.errors import Finding, Severity
from ptxgen.ir import Origin

_LOG_LINE = re.compile(r"line\s+(?P<line>\d+)\s*;\s*(?P<kind>fatal|error|warning|info)\s*:?\s*(?P<message>.*)", re.I)


@frozen
class Listing:
    """PTX text. `origins[i]` is where line i + 1 of the text was written by the user; None for lines nobody wrote."""

    text: str
    origins: tuple[Origin | None, ...]

    def __str__(self) -> str:
        return self.text

    def line(self, number: int) -> str:
        """The text of the line of that number, counted from 1, without its indentation."""
        return self.text.split("\n")[number - 1].strip()

    def origin(self, number: int) -> Origin | None:
        """The user's line behind the PTX line of that number, counted from 1; None outside the text."""
        return self.origins[number - 1] if 0 < number <= len(self.origins) else None

    def blame(self, log: str) -> tuple[Finding, ...]:
        """What ptxas or the driver's compiler says in `log` about lines of this text, each with the user's line.

        A message becomes a finding `assembler.error` or `assembler.warning` that quotes the PTX line; lines of the log
        that name no line of the text are left out. The format is that of ptxas 12 and 13 and of the driver's JIT log:
        `ptxas FILE, line 12; error   : MESSAGE`.
        """
        found = []
        for entry in log.splitlines():
            matched = _LOG_LINE.search(entry)
            if matched is None:
                continue
            number, kind = int(matched["line"]), matched["kind"].lower()
            known = 0 < number <= len(self.origins)
            message = matched["message"].strip() + (f": {self.line(number)}" if known else "")
            severity = Severity.ERROR if kind in ("error", "fatal") else Severity.WARNING
            found.append(Finding(f"assembler.{severity.value}", severity, message, self.origin(number), number))
        return tuple(found)
