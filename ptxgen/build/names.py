"""Names that PTX can spell."""

from __future__ import annotations

import re

from ptxgen.build.blame import fail

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_$]*|[_$%][A-Za-z0-9_$]+")


def is_name(name: str) -> bool:
    """True for an identifier that PTX can spell."""
    return _IDENTIFIER.fullmatch(name) is not None


def checked_name(name: str, taken: set[str]) -> str:
    """The name, now taken; KernelError where PTX cannot spell it or something in the same room already has it."""
    if not is_name(name):
        fail("name.invalid", f"{name!r} is no PTX identifier: a letter, _, $ or %, then letters, digits, _ and $")
    if name in taken:
        fail("name.duplicate", f"the name {name!r} is already taken")
    taken.add(name)
    return name
