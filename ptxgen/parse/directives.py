"""Directives of functions and modules from text to nodes."""

from __future__ import annotations

from ptxgen.ir import Directive, DirectiveKind, Pragma
from ptxgen.parse.constants import begins_constant, offset
from ptxgen.parse.reader import Reader

_KINDS = {f".{kind.value}": kind for kind in DirectiveKind}
_COUNTS: dict[DirectiveKind, tuple[int, int]] = {
    DirectiveKind.MAXNTID: (1, 3),
    DirectiveKind.REQNTID: (1, 3),
    DirectiveKind.REQNCTAPERCLUSTER: (1, 3),
    DirectiveKind.NORETURN: (0, 0),
    DirectiveKind.EXPLICITCLUSTER: (0, 0),
    DirectiveKind.BLOCKSARECLUSTERS: (0, 0),
}


def directives(reader: Reader, function: str) -> tuple[Directive | Pragma, ...]:
    """The directives of a function that stand here, and a step past them."""
    found: list[Directive | Pragma] = []
    while True:
        if reader.text == ".pragma":
            found.append(pragma(reader, function))
        elif reader.text in _KINDS:
            found.append(_directive(reader))
        else:
            return tuple(found)


def _directive(reader: Reader) -> Directive:
    at = reader.start
    kind = _KINDS[reader.advance()]
    values: list[int] = []
    if begins_constant(reader):
        values.append(offset(reader))
        while reader.accept(","):
            values.append(offset(reader))
    low, high = _COUNTS.get(kind, (1, 1))
    if not low <= len(values) <= high:
        wanted = f"{low} to {high} numbers" if low < high else f"{high} numbers" if high != 1 else "1 number"
        reader.fail(f".{kind.value} with {len(values)} numbers", wanted=wanted, at=at)
    return Directive(kind, tuple(values))


def pragma(reader: Reader, function: str) -> Pragma:
    """The `.pragma` that begins here, in a function of that name or none (""), and a step past it."""
    origin = reader.origin(reader.start, function)
    reader.expect(".pragma")
    texts = [reader.string("a text in quotation marks")]
    while reader.accept(","):
        texts.append(reader.string("a text in quotation marks"))
    reader.expect(";", "',' or ';'")
    return Pragma(texts[0], tuple(texts[1:]), origin)
