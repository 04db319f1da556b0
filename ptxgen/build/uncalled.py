"""Instructions that a line names and does not call: `k.bar.sync` without its parentheses writes nothing."""

from __future__ import annotations

import dis
import re
from collections.abc import Iterable, Iterator
from types import CodeType

from isa.forms import continuations
from ptxgen.build.chain import word_of
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Origin

_ATTRIBUTE, _DROP, _CACHE = (bytes([dis.opmap[name]]) for name in ("LOAD_ATTR", "POP_TOP", "CACHE"))
_DROPPED_ATTRIBUTE = re.compile(re.escape(_ATTRIBUTE) + b"." + b"(?:" + _CACHE + b".)*" + re.escape(_DROP), re.DOTALL)


def uncalled(codes: Iterable[CodeType]) -> list[Finding]:
    """The complete names of instructions that stand as statements of their own in these code objects, in their order.

    Read from the bytecode, where such a line loads an attribute and drops it; so it costs nothing while a kernel is
    written, and sees a line whether it ran or not.
    """
    found = {(code.co_filename, line, name, code.co_qualname) for code in codes for line, name in _dropped(code)}
    return [
        Finding("instruction.uncalled", Severity.ERROR, _message(name), Origin(file, line, function))
        for file, line, name, function in sorted(found)
    ]


def _message(name: str) -> str:
    return f"{name} is named and not called, so it writes nothing; its operands follow in parentheses, () without any"


def _dropped(code: CodeType) -> Iterator[tuple[int, str]]:
    if _DROPPED_ATTRIBUTE.search(code.co_code) is None:
        return
    words: list[str] = []
    for each in dis.get_instructions(code):
        if each.opname == "LOAD_ATTR":
            words.append(word_of(str(each.argval)))
        elif each.opname != "EXTENDED_ARG":
            name = _complete(words) if each.opname == "POP_TOP" else None
            if name is not None and each.positions is not None and each.positions.lineno is not None:
                yield each.positions.lineno, name
            words = []


def _complete(words: list[str]) -> str | None:
    """The instruction that the last of the words name together: `bar.sync` of `self.k.bar.sync`."""
    opcodes = continuations(())
    for start, word in enumerate(words):
        if word in opcodes and "" in continuations(tuple(words[start:])):
            return ".".join(words[start:])
    return None
