"""A module as a Python program that builds an equal one."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence

from attrs import define, field

from isa.types import TYPES
from ptxgen.build.chained import chained
from ptxgen.build.names import is_name
from ptxgen.emit import item_text, statement_text
from ptxgen.errors import Severity, UnsupportedError
from ptxgen.ir import (
    Address,
    Comment,
    Directive,
    DirectiveKind,
    Function,
    FunctionKind,
    Guard,
    Instruction,
    Item,
    Label,
    LabelName,
    Linkage,
    Module,
    Parameter,
    Register,
    Registers,
    Scope,
    Statement,
    SymbolAddress,
    walk,
)
from ptxgen.verify import verify

_INDENT = "    "
_TYPE_NAMES = frozenset(type_.name for type_ in TYPES)
_TAKEN = {"k", "m", "module", "sink", "pointer", "array", "Module", "Parameter"}


def python(module: Module) -> str:
    """The Python program whose `module` equals the given one.

    Instructions are chains where a chain can mean nothing else and text (`k.ptx`) elsewhere; declarations of registers,
    labels, scopes, comments and directives are the builder's own; other statements and items are text. It checks what
    it builds, unless the given module has errors itself. UnsupportedError for 32-bit addresses.
    """
    if module.address_size != 64:
        wide = f"{module.address_size}-bit addresses"
        raise UnsupportedError(f"a program with {wide}: no assembler takes them any more, and the builder has none")
    program = _Program(module)
    lines = list(program.lines())
    checked = "" if _is_right(module) else "checked=False"
    names = sorted({"Module", *program.used})
    imports = [f"from ptxgen import {', '.join(names)}", *sorted(program.imports)]
    return "\n".join([*imports, "", *lines, f"module = m.build({checked})", ""])


def _is_right(module: Module) -> bool:
    return not any(finding.severity is Severity.ERROR for finding in verify(module))


@define
class _Program:
    """The lines of a program, and the names of `ptxgen` that they use."""

    module: Module
    used: set[str] = field(factory=set)
    imports: set[str] = field(factory=set)

    def lines(self) -> Iterator[str]:
        """The module's lines, from its making to its last item."""
        module = self.module
        options = f", options={tuple(each.value for each in module.options)!r}" if module.options else ""
        yield f'm = Module("{module.target}", version="{module.version}"{options})'
        for comment in module.heading:
            yield f"m.comment({comment.text!r}, heading=True)"
        for item in module.items:
            yield from self._item(item)

    def _item(self, item: Item) -> Iterator[str]:
        if isinstance(item, Comment):
            yield f"m.comment({item.text!r}{', trailing=True' if item.trailing else ''})"
        elif isinstance(item, Function) and _is_plain(item):
            yield ""
            yield from self._function(item)
            yield ""
        else:
            yield f"m.ptx({_quoted(item_text(item))})"

    def _function(self, function: Function) -> Iterator[str]:
        kernel = function.kind is FunctionKind.ENTRY
        given = [repr(function.name)]
        if function.returns:
            given.append(f"returns={{{', '.join(f'{each.name!r}: {self._type(each)}' for each in function.returns)}}}")
        plain = all(each.name.isidentifier() and not keyword.iskeyword(each.name) for each in function.parameters)
        if plain and not any(each.name == "returns" for each in function.parameters):
            given += [f"{each.name}={self._type(each)}" for each in function.parameters]
        else:
            given.append(f"**{{{', '.join(f'{each.name!r}: {self._type(each)}' for each in function.parameters)}}}")
        yield f"with m.{'kernel' if kernel else 'function'}({', '.join(given)}) as k:"
        body = _Body(self, function)
        for directive in function.directives:
            if isinstance(directive, Directive):
                yield f"{_INDENT}k.directive({', '.join([repr(directive.kind.value), *map(str, directive.values)])})"
        yield f"{_INDENT}k.as_written()"
        if function.body is not None:
            yield from body.scope(function.body, 0, _INDENT)

    def _type(self, parameter: Parameter) -> str:
        type_ = parameter.type.name
        align = f", align={parameter.align}" if parameter.align is not None else ""
        if not parameter.type.register or type_ == "pred":
            return self._node(parameter)
        if parameter == Parameter(parameter.name, parameter.type):
            return self.name(type_)
        if parameter == Parameter(parameter.name, parameter.type, parameter.shape, parameter.align):
            if len(parameter.shape) == 1 and parameter.shape[0] is not None:
                return f"{self.name('array')}({self.name(type_)}, {parameter.shape[0]}{align})"
        elif parameter.pointer is not None and type_ == "u64" and not parameter.shape and parameter.align is None:
            space, pointed = parameter.pointer.space, parameter.pointer.align
            word = "generic" if space is None else space.value
            said = "" if word == "global" else f", space={word!r}"
            aligned = "" if pointed is None else f", align={pointed}"
            return f"{self.name('pointer')}({self.name('b8')}{said}{aligned})"
        return self._node(parameter)

    def _node(self, parameter: Parameter) -> str:
        self.imports.add("from ptxgen.ir import Parameter, PointerFacts, Space")
        facts = parameter.pointer
        space = "None" if facts is None or facts.space is None else f"Space.{facts.space.name}"
        pointer = "None" if facts is None else f"PointerFacts({space}, {facts.align})"
        type_ = f"type_named({parameter.type.name!r})"
        self.imports.add("from isa.types import type_named")
        return (
            f"Parameter({parameter.name!r}, {type_}, {parameter.shape!r}, {parameter.align}, {pointer}, "
            f"{parameter.register})"
        )

    def name(self, name: str) -> str:
        """A name of `ptxgen`, now imported."""
        self.used.add(name)
        return name


def _is_plain(function: Function) -> bool:
    """True for a function that the builder's with-block can write."""
    linkage = Linkage.VISIBLE if function.kind is FunctionKind.ENTRY else Linkage.PRIVATE
    if function.body is None or function.linkage is not linkage or function.attributes:
        return False
    order = list(DirectiveKind)
    kinds = [each.kind for each in function.directives if isinstance(each, Directive)]
    ordered = sorted(set(kinds), key=order.index) == kinds and len(kinds) == len(function.directives)
    names = [node.name.name for node in walk(function.body) if isinstance(node, Label)]
    names += [each.name for each in (*function.parameters, *function.returns)]
    registers = any(each.register for each in (*function.parameters, *function.returns))
    return ordered and not registers and len(set(names)) == len(names) and all(map(is_name, names))


@define
class _Body:
    """The lines of one function, and the Python names of its registers, labels and symbols."""

    program: _Program
    function: Function
    handles: dict[Register | LabelName | str, str] = field(factory=dict)
    names: set[str] = field(factory=lambda: set(_TAKEN))
    scopes: int = 0

    def scope(self, scope: Scope, ordinal: int, indent: str) -> Iterator[str]:
        """The lines of a scope's statements."""
        self.scopes = ordinal + 1
        yield from self._labels(scope, indent)
        statements = scope.statements
        index = 0
        while index < len(statements):
            statement = statements[index]
            if isinstance(statement, Instruction):
                count, lines = self._instructions(statements[index:], indent)
                yield from lines
                index += count
                continue
            if isinstance(statement, Scope):
                yield f"{indent}with k.scope():"
                inner = list(self.scope(statement, self.scopes, indent + _INDENT))
                yield from inner or [f"{indent}{_INDENT}pass"]
            else:
                yield from self._statement(statement, ordinal, indent)
            index += 1

    def _labels(self, scope: Scope, indent: str) -> Iterator[str]:
        for statement in scope.statements:
            if isinstance(statement, Label):
                name = self._fresh(statement.name.name)
                self.handles[statement.name] = name
                yield f"{indent}{name} = k.label({statement.name.name!r})"

    def _statement(self, statement: Statement, ordinal: int, indent: str) -> Iterator[str]:
        match statement:
            case Label(name=name):
                yield f"{indent}{self.handles[name]}.place()"
            case Registers(type=type_, name=name, count=count, vector=1):
                handle = self._fresh(name)
                self._declare(statement, ordinal, handle)
                number = "" if count is None else f", {count}"
                yield f"{indent}{handle} = k.registers({self.program.name(type_.name)}, {name!r}{number})"
            case Comment(text=text, trailing=trailing):
                yield f"{indent}k.comment({text!r}{', trailing=True' if trailing else ''})"
            case _:
                yield f"{indent}k.ptx({_quoted(statement_text(statement))})"

    def _declare(self, registers: Registers, ordinal: int, handle: str) -> None:
        if registers.count is None:
            self.handles[Register(registers.name, registers.type, ordinal)] = handle
        for number in range(registers.count or 0):
            self.handles[Register(f"{registers.name}{number}", registers.type, ordinal)] = f"{handle}[{number}]"

    def _instructions(self, statements: Sequence[Statement], indent: str) -> tuple[int, list[str]]:
        """The lines of the first instruction, and of those behind it that have the same guard; how many they are."""
        first = statements[0]
        if not isinstance(first, Instruction):
            return 0, []
        guard, lines = first.guard, []
        for statement in statements:
            same = isinstance(statement, Instruction) and statement.guard == guard
            if not same or not isinstance(statement, Instruction):
                break
            text = self._chain(statement)
            if text is None or (guard is not None and guard.register not in self.handles):
                break
            lines.append(text)
        if not lines:
            return 1, [f"{indent}k.ptx({_quoted(statement_text(first))})"]
        if guard is None:
            return len(lines), [indent + line for line in lines]
        return len(lines), [
            f"{indent}with k.guard({self._guard(guard)}):",
            *(indent + _INDENT + each for each in lines),
        ]

    def _chain(self, instruction: Instruction) -> str | None:
        for operand in instruction.operands:
            if isinstance(operand, Address) and isinstance(operand.base, SymbolAddress):
                self.handles.setdefault(operand.base.name, f"k.symbol({operand.base.name!r})")
        text = chained(instruction, self.handles)
        if text is not None and "sink" in text:
            self.program.name("sink")
        return text

    def _guard(self, guard: Guard) -> str:
        return f"{'~' if guard.negated else ''}{self.handles[guard.register]}"

    def _fresh(self, name: str) -> str:
        """A Python name like a PTX one, that nothing in the program has."""
        stem = re.sub(r"\W+", "_", name).strip("_") or "r"
        stem = f"r{stem}" if stem[0].isdigit() else stem
        made, number = stem, 1
        while made in self.names or keyword.iskeyword(made) or made in _TYPE_NAMES:
            number += 1
            made = f"{stem}_{number}"
        self.names.add(made)
        return made


def _quoted(text: str) -> str:
    return f'"""{text}"""' if "\n" in text and '"""' not in text and "\\" not in text else repr(text)
