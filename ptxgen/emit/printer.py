"""Spelling a module: one statement a line, nothing decided here."""

from __future__ import annotations

from itertools import groupby
from typing import assert_never

from attrs import field, frozen

from ptxgen.emit.listing import Listing
from ptxgen.emit.spelling import (
    attributes_text,
    call_text,
    debug_text,
    file_text,
    instruction_lines,
    loc_text,
    parameter_text,
    pragma_text,
    prototype_text,
    registers_text,
    targets_text,
    variable_text,
)
from ptxgen.ir import (
    Alias,
    BranchTargets,
    Call,
    CallTargets,
    Comment,
    DebugSection,
    DwarfLine,
    File,
    Function,
    Instruction,
    Item,
    Label,
    Linkage,
    Loc,
    Module,
    Origin,
    Pragma,
    Prototype,
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

    def instructions(self, run: tuple[Instruction, ...], indent: str) -> None:
        self.lines.extend(instruction_lines(run, indent))
        self.origins.extend([each.origin for each in run])


def emit(module: Module) -> Listing:
    """The PTX text of a module and the user's line behind each line; the same module gives the same bytes.

    Nothing is checked: a module that `verify` refuses is spelled as it stands.
    """
    page = _Page()
    for comment in module.heading:
        page.add(_comment_text(comment))
    page.add(f".version {module.version}")
    page.add(f".target {', '.join([str(module.target), *(option.value for option in module.options)])}")
    page.add(f".address_size {module.address_size}")
    before: Item | None = None
    for item in module.items:
        if isinstance(item, Comment) and item.trailing and not isinstance(before, Comment | None):
            page.lines[-1] += f"  {_comment_text(item)}"
        else:
            if not isinstance(before, Comment) and not (isinstance(item, File) and isinstance(before, File)):
                page.add("")
            _item(item, page)
        before = item
    return Listing("\n".join([*page.lines, ""]), tuple(page.origins))


def item_text(item: Item) -> str:
    """The text of one item of a module, as `emit` spells it."""
    page = _Page()
    _item(item, page)
    return "\n".join(page.lines)


def statement_text(statement: Statement) -> str:
    """The text of one statement of a body, as `emit` spells it at the margin."""
    page = _Page()
    _statement(statement, "", page)
    return "\n".join(page.lines)


def _item(item: Item, page: _Page) -> None:
    match item:
        case Variable():
            page.add(variable_text(item), item.origin)
        case Function():
            _function(item, page)
        case Comment():
            page.add(_comment_text(item))
        case Pragma():
            page.add(f"{pragma_text(item)};")
        case Alias(name=name, of=of):
            page.add(f".alias {name}, {of};")
        case File():
            page.add(file_text(item))
        case DwarfLine(text=text):
            page.add(f"@@DWARF {text}")
        case DebugSection(name=name, entries=entries):
            page.add(f".section {name}")
            page.add("{")
            for entry in entries:
                page.add(debug_text(entry))
            page.add("}")
        case _:
            assert_never(item)


def _function(function: Function, page: _Page) -> None:
    linkage = "" if function.linkage is Linkage.PRIVATE else f".{function.linkage.value} "
    returns = f"({', '.join(map(parameter_text, function.returns))}) " if function.returns else ""
    head = f"{linkage}.{function.kind.value} {attributes_text(function.attributes)}{returns}{function.name}"
    if not function.parameters:
        page.add(f"{head}()", function.origin)
    else:
        page.add(f"{head}(", function.origin)
        last = len(function.parameters) - 1
        for index, parameter in enumerate(function.parameters):
            page.add(_INDENT + parameter_text(parameter) + ("" if index == last else ","), function.origin)
        page.add(")", function.origin)
    for directive in function.directives:
        text = f"{pragma_text(directive)};" if isinstance(directive, Pragma) else directive.text
        page.add(text, function.origin)
    if function.body is None:
        page.lines[-1] += ";"
        return
    page.add("{", function.origin)
    _statements(function.body, _INDENT, page)
    page.add("}")


def _statements(scope: Scope, indent: str, page: _Page) -> None:
    before: Statement | None = None
    for kind, alike in groupby(scope.statements, type):
        run = tuple(alike)
        if kind is Instruction:
            page.instructions(run, indent)  # type: ignore[arg-type]
            before = run[-1]
            continue
        for statement in run:
            if isinstance(statement, Comment) and statement.trailing and not isinstance(before, Comment | None):
                page.lines[-1] += f"  {_comment_text(statement)}"
            else:
                _statement(statement, indent, page)
            before = statement


def _statement(statement: Statement, indent: str, page: _Page) -> None:
    match statement:
        case Instruction():
            page.instructions((statement,), indent)
        case Call():
            page.add(indent + call_text(statement), statement.origin)
        case Label(name=name, origin=origin):
            page.add(f"{indent[len(_INDENT) :]}{name.name}:", origin)
        case Registers():
            page.add(indent + registers_text(statement))
        case Variable(origin=origin):
            page.add(indent + variable_text(statement), origin)
        case Scope():
            page.add(indent + "{")
            _statements(statement, indent + _INDENT, page)
            page.add(indent + "}")
        case Comment():
            page.add(indent + _comment_text(statement))
        case Pragma():
            page.add(f"{indent}{pragma_text(statement)};")
        case BranchTargets() | CallTargets():
            page.add(f"{indent[len(_INDENT) :]}{targets_text(statement)}")
        case Prototype():
            page.add(f"{indent[len(_INDENT) :]}{prototype_text(statement)}")
        case Loc():
            page.add(indent + loc_text(statement))
        case File():
            page.add(indent + file_text(statement))
        case DwarfLine(text=text):
            page.add(f"{indent}@@DWARF {text}")
        case _:
            assert_never(statement)


def _comment_text(comment: Comment) -> str:
    return f"// {comment.text}".rstrip()
