"""Spelling a module: one statement a line, nothing decided here."""

from __future__ import annotations

from typing import assert_never

from attrs import field, frozen

from ptxgen.emit.listing import Listing
from ptxgen.emit.spelling import instruction_text, parameter_text, variable_text
from ptxgen.ir import (
    Comment,
    Directive,
    Function,
    Instruction,
    Label,
    Linkage,
    Module,
    Origin,
    Pragma,
    Registers,
    Scope,
    Statement,
    Variable,
)

_INDENT = "    "


@frozen
class _Page:
    lines: list[str] = field(factory=list)
    origins: list[Origin | None] = field(factory=list)

    def add(self, text: str, origin: Origin | None = None) -> None:
        self.lines.append(text)
        self.origins.append(origin)


def emit(module: Module) -> Listing:
    """The PTX text of a module and the user's line behind each line; the same module gives the same bytes.

    Nothing is checked: a module that `verify` refuses is spelled as it stands.
    """
    page = _Page()
    page.add(f".version {module.version}")
    page.add(f".target {module.target}")
    page.add(f".address_size {module.address_size}")
    for item in module.items:
        page.add("")
        if isinstance(item, Variable):
            page.add(variable_text(item), item.origin)
        else:
            _function(item, page)
    return Listing("\n".join(page.lines) + "\n", tuple(page.origins))


def _function(function: Function, page: _Page) -> None:
    linkage = "" if function.linkage is Linkage.PRIVATE else f".{function.linkage.value} "
    returns = f"({', '.join(map(parameter_text, function.returns))}) " if function.returns else ""
    head = f"{linkage}.{function.kind.value} {returns}{function.name}"
    if not function.parameters:
        page.add(f"{head}()", function.origin)
    else:
        page.add(f"{head}(", function.origin)
        last = len(function.parameters) - 1
        for index, parameter in enumerate(function.parameters):
            page.add(_INDENT + parameter_text(parameter) + ("" if index == last else ","), function.origin)
        page.add(")", function.origin)
    for directive in function.directives:
        page.add(_directive_text(directive), function.origin)
    if function.body is None:
        page.lines[-1] += ";"
        return
    page.add("{", function.origin)
    _statements(function.body, _INDENT, page)
    page.add("}")


def _directive_text(directive: Directive) -> str:
    return f".{directive.kind.value} {', '.join(map(str, directive.values))}"


def _statements(scope: Scope, indent: str, page: _Page) -> None:
    for statement in scope.statements:
        if isinstance(statement, Instruction):
            page.add(indent + instruction_text(statement), statement.origin)
        else:
            _statement(statement, indent, page)


def _statement(statement: Statement, indent: str, page: _Page) -> None:
    match statement:
        case Instruction():
            page.add(indent + instruction_text(statement), statement.origin)
        case Label(name=name, origin=origin):
            page.add(f"{indent[len(_INDENT) :]}{name.name}:", origin)
        case Registers(type=type_, name=name, count=count):
            page.add(f"{indent}.reg .{type_} {name}{'' if count is None else f'<{count}>'};")
        case Variable(origin=origin):
            page.add(indent + variable_text(statement), origin)
        case Scope():
            page.add(indent + "{")
            _statements(statement, indent + _INDENT, page)
            page.add(indent + "}")
        case Comment(text=text):
            page.add(f"{indent}// {text}".rstrip())
        case Pragma(text=text):
            page.add(f'{indent}.pragma "{text}";')
        case _:
            assert_never(statement)
