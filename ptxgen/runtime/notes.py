"""What assemblers say of asynchronous work that they take back: notes beside a module that they do make."""

from __future__ import annotations

import re

from ptxgen.emit import Listing
from ptxgen.errors import Finding, Severity

SLOWING = frozenset({7508, *range(7510, 7520)})
NOTE = re.compile(r"\(C(?P<code>\d+)\)\s*(?P<message>.*\S)")
AROUND = re.compile(r"\b(?:around )?line (?P<line>\d+)")


def slowing_notes(listing: Listing, log: str) -> tuple[Finding, ...]:
    """The notes of ptxas or of the driver's compiler that work meant to overlap does not: `setmaxnreg` ignored (C7508),
    products of warpgroups serialised or waits and fences injected between them (C7510 to C7519, as ptxas 12.9 and 13
    number them), each once, as a finding `assembler.C7514` on the PTX line that it names and the user's line."""
    found: list[Finding] = []
    for entry in log.splitlines():
        note = NOTE.search(entry)
        if note is None or int(note["code"]) not in SLOWING:
            continue
        place = AROUND.search(note["message"])
        line = int(place["line"]) if place else None
        origin = listing.origin(line) if line is not None else None
        found.append(Finding(f"assembler.C{note['code']}", Severity.WARNING, note["message"], origin, line))
    return tuple(dict.fromkeys(found))
