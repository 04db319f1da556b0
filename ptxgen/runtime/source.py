"""Anything that can be assembled or loaded, as a listing."""

from __future__ import annotations

from typing import TypeAlias

from ptxgen.emit import Listing, emit
from ptxgen.errors import describe
from ptxgen.ir import Module

Source: TypeAlias = Module | Listing | str


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
    """A compiler's log on the user's lines where it names lines of the text, and as it stands where it names none."""
    findings = listing.blame(log)
    return "\n".join(map(describe, findings)) if findings else log.strip()
