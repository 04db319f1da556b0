"""Directives that contradict each other, and pragmas that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator

from isa.directives import PRAGMAS
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Directive, DirectiveKind, Function, Instruction, Module, Origin, Pragma, Statement
from ptxgen.verify.values import Values

_OUTSIDE = "nounroll"
_APART = (
    (DirectiveKind.MAXNTID, DirectiveKind.REQNTID),
    (DirectiveKind.REQNCTAPERCLUSTER, DirectiveKind.MAXCLUSTERRANK),
)
_TOGETHER = (
    (DirectiveKind.MINNCTAPERSM, (DirectiveKind.MAXNTID, DirectiveKind.REQNTID)),
    (DirectiveKind.BLOCKSARECLUSTERS, (DirectiveKind.REQNTID,)),
    (DirectiveKind.BLOCKSARECLUSTERS, (DirectiveKind.REQNCTAPERCLUSTER,)),
)


def directive_findings(function: Function) -> Iterator[Finding]:
    """`directive.conflict`, `directive.alone` and `directive.value` of a function's directives."""
    given = [each for each in function.directives if isinstance(each, Directive)]
    kinds = {each.kind for each in given}
    for one, other in _APART:
        if {one, other} <= kinds:
            message = f"{function.name}: .{one.value} and .{other.value} exclude each other"
            yield Finding("directive.conflict", Severity.ERROR, message, function.origin)
    for one, others in _TOGETHER:
        if one in kinds and not kinds.intersection(others):
            wanted = " or ".join(f".{each.value}" for each in others)
            message = f"{function.name}: .{one.value} wants {wanted} beside it"
            yield Finding("directive.alone", Severity.ERROR, message, function.origin)
    for each in given:
        if any(value < 1 for value in each.values) and each.kind in _COUNTS:
            message = f"{function.name}: {each.text} wants numbers from 1 on"
            yield Finding("directive.value", Severity.ERROR, message, function.origin)


_COUNTS = frozenset({DirectiveKind.MAXNTID, DirectiveKind.REQNTID, DirectiveKind.REQNCTAPERCLUSTER})


def outer_pragma_findings(module: Module) -> Iterator[Finding]:
    """`pragma.unknown` of pragmas outside functions, which assemblers refuse but for one."""
    for item in module.items:
        if isinstance(item, Pragma):
            for text in (item.text, *item.more):
                if text != _OUTSIDE:
                    message = f'.pragma "{text}" cannot stand outside functions; "{_OUTSIDE}" can'
                    yield Finding("pragma.unknown", Severity.ERROR, message)


def pragma_findings(values: Values) -> Iterator[Finding]:
    """`pragma.unknown` of a function, a warning: assemblers ignore a pragma that they do not know."""
    function, statements = values.body.function, values.body.statements
    for directive in function.directives:
        if isinstance(directive, Pragma):
            yield from _pragma(directive, function.origin)
    if Pragma in set(map(type, values.body.others)):
        for place, statement in enumerate(statements):
            if isinstance(statement, Pragma):
                yield from _pragma(statement, _near(statements, place) or function.origin)


def _near(statements: tuple[Statement, ...], place: int) -> Origin | None:
    """The line of the next instruction: a pragma has none of its own."""
    return next((each.origin for each in statements[place:] if isinstance(each, Instruction)), None)


def _pragma(pragma: Pragma, origin: Origin | None) -> Iterator[Finding]:
    for text in (pragma.text, *pragma.more):
        words = text.split()
        if not words or words[0] not in PRAGMAS:
            message = f'.pragma "{text}" is ignored; known are {", ".join(PRAGMAS)}'
            yield Finding("pragma.unknown", Severity.WARNING, message, origin)
