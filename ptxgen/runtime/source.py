"""Anything that can be assembled or loaded, as a listing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from ptxgen.emit import Listing, emit
from ptxgen.errors import Finding, Severity, describe
from ptxgen.ir import Module

Source: TypeAlias = Module | Listing | str
NO_LINE = re.compile(r"^\s*(?:ptxas\s+)?(?P<kind>fatal|error|warning)\s*:\s*(?P<message>.*\S)", re.I)
NAMED = re.compile(r"'([\w$%.]+)'")
SUMMARY = "Ptx assembly aborted due to errors"


def listing_of(source: Source) -> Listing:
    """The text that the assembler and the driver are given; plain PTX text has no user lines behind it."""
    match source:
        case Module():
            return emit(source)
        case Listing():
            return source
        case str():
            return Listing(source, (None,) * (source.count("\n") + 1))
    raise TypeError(f"wants a module, a listing or PTX text, got {type(source).__name__}")


def complaint(listing: Listing, log: str) -> str:
    """A compiler's log on the user's lines where it speaks of the text, and as it stands where it does not."""
    findings = judged(listing, log)
    return "\n".join(map(describe, findings)) if findings else log.strip()


def judged(listing: Listing, log: str) -> tuple[Finding, ...]:
    """What a compiler says of the text: each message once, on the PTX line and the user's line.

    A message without a line that names a function (too much shared data, a function that nobody defines) stands on the
    line that declares it, with `ptx_line` None where no line does.
    """
    return tuple(dict.fromkeys((*listing.blame(log), *without_line(listing, log))))


def without_line(listing: Listing, log: str) -> Iterator[Finding]:
    """The messages of a log that name no line of the text."""
    for entry in log.splitlines():
        found = NO_LINE.match(entry)
        if found is None or found["message"] == SUMMARY:
            continue
        severity = Severity.WARNING if found["kind"].lower() == "warning" else Severity.ERROR
        line = next(filter(None, (declaring_line(listing, name) for name in NAMED.findall(found["message"]))), None)
        origin = listing.origin(line) if line is not None else None
        yield Finding(f"assembler.{severity.value}", severity, found["message"], origin, line)


def declaring_line(listing: Listing, name: str) -> int | None:
    """The line of the text, counted from 1, that declares the function or variable of that name."""
    word = re.compile(rf"(?<![\w$%.]){re.escape(name)}(?![\w$%])")
    for number, line in enumerate(listing.text.split("\n"), 1):
        if re.search(r"\.(entry|func|shared|global|const|local)\b", line) and word.search(line):
            return number
    return None
