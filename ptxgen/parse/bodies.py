"""A function's body: statements one after another, most of them taken in one bite by a regular expression."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from isa.types import REGISTER_TYPES
from ptxgen.errors import Finding, PtxSyntaxError, Severity
from ptxgen.ir import (
    BranchTargets,
    CallTargets,
    Comment,
    Directive,
    Guard,
    Instruction,
    Label,
    LabelName,
    Linkage,
    Loc,
    Operand,
    Origin,
    Position,
    Prototype,
    Register,
    Registers,
    Scope,
)
from ptxgen.parse.debug import dwarf_line, file_directive, loc_directive
from ptxgen.parse.declarations import LINKAGES, SPACES, parameters, registers, variables
from ptxgen.parse.directives import directives, pragma
from ptxgen.parse.instructions import Instructions
from ptxgen.parse.names import UNPLACED, Open, close, labels_of
from ptxgen.parse.reader import Misuse, Reader

_SIMPLE = re.compile(r"\s*(?:@(!?)([\w$%]+)\s+)?([a-z]\w*(?:(?:\.|::)\w+|(?<=::\d):\d+)*)(?:\s+([^;:\"/()@\\]*))?;")
_SPLIT = re.compile(r"\s*,\s*(?![^{\[]*[}\]])")
REGISTERS_BY_NAME = {type_.name: type_ for type_ in REGISTER_TYPES}
_WORD = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+")
_BRANCHES = frozenset({"bra", "bra.uni"})
_LINE = re.compile(
    r"\.reg\s+\.(?P<type>\w+)\s+(?P<register>[\w$%]+)(?:<(?P<count>\d+)>)?\s*;"
    r"|(?P<label>[\w$%]+)\s*:(?=\s*[\w$%@{}])"
    r"|\.loc\s+(?P<file>\d+)\s+(?P<line>\d+)\s+(?P<column>\d+)(?=\s*\n)"
)
_WANTED = "an instruction, a label, a directive, '{' or '}'"


class Bodies:
    """Reads the bodies of one module's functions. With a list of `findings`, statements that mean nothing are left
    out and told there; without, they are errors."""

    def __init__(self, reader: Reader, instructions: Instructions, findings: list[Finding] | None) -> None:
        self._reader, self._instructions, self._findings = reader, instructions, findings
        self._function = ""
        self._scopes = 0

    def read(self, function: str, outer: Open) -> Scope:
        """The body in the braces that begin here, and a step past them; `outer` knows the parameters."""
        self._function, self._scopes = function, 0
        body = self._open(outer)
        self._scope(body)
        for statements, index, offset in outer.waiting:
            missing = next(each for each in labels_of(statements[index]) if each.scope == UNPLACED)
            self._missing(missing, offset, statements, index)
        outer.waiting.clear()
        return body.frozen()

    def _missing(self, label: LabelName, offset: int, statements: list[Any], index: int) -> None:
        statement = statements[index]
        jumps = not isinstance(statement, Instruction) or statement.form.opcode in ("bra", "brx.idx")
        code = "label.unknown" if jumps else "name.unknown"
        error = self._reader.error(Misuse, f"{label.name} is not declared here", "", offset, code)
        if self._findings is None:
            raise error
        self._findings.append(finding(error))
        statements[index] = Scope(())

    def _open(self, parent: Open) -> Open:
        made = Open(self._scopes, parent)
        self._scopes += 1
        return made

    def fragment(self, function: str, scope: Open, next_scope: int) -> int:
        """Reads statements into a scope up to the end of the text; inner scopes are numbered from `next_scope` on.

        The next free number comes back. Labels that the scope does not declare stay in its `waiting`.
        """
        self._function, self._scopes = function, next_scope
        self._statements(scope)
        if self._reader.kind:
            self._reader.fail(f"unexpected {self._reader.told()}", wanted="the end of the text")
        close(scope)
        return self._scopes

    def _scope(self, scope: Open) -> None:
        """Reads from an opening to its closing brace."""
        reader = self._reader
        opened = reader.start
        reader.expect("{")
        self._statements(scope)
        if not reader.kind:
            reader.fail("the scope that begins here does not end", wanted="'}'", at=opened)
        close(scope)
        reader.advance()

    def _statements(self, scope: Open) -> None:
        """Reads to a closing brace or the end, one statement or a run of simple instructions at a time."""
        reader = self._reader
        while True:
            self._comments(scope, reader.previous)
            if reader.text == "}" or not reader.kind:
                return
            start, before = reader.start, len(scope.statements)
            try:
                instruction = reader.kind == "word" or reader.text == "@"
                if not (instruction and self._simple(scope, start)) and not self._line(scope, start):
                    self._statement(scope, start)
                    self._hoist(scope, before)
            except Misuse as error:
                self._skip(error, start)

    def _skip(self, error: Misuse, start: int) -> None:
        end = self._reader.source.find(";", start)
        if self._findings is None or end < 0:
            raise error
        self._findings.append(finding(error))
        self._reader.go(end + 1)
        self._reader.take_comments()

    def _comments(self, scope: Open, end: int) -> None:
        """Puts the comments met behind the last statement, which ended at `end`, into the scope."""
        if self._reader.comments:
            met = self._reader.take_comments()
            behind = bool(scope.statements) and not isinstance(scope.statements[-1], Comment)
            if behind and "\n" not in self._reader.source[end : met[0][0]]:
                scope.statements.append(Comment(met.pop(0)[1].text, trailing=True))
            scope.statements += [comment for _, comment in met]

    def _hoist(self, scope: Open, before: int) -> None:
        """Puts the comments inside the statement just read in front of it; those behind it stay for later."""
        reader = self._reader
        if reader.comments:
            inside = [comment for at, comment in reader.comments if at < reader.previous]
            reader.comments = [each for each in reader.comments if each[0] >= reader.previous]
            scope.statements[before:before] = inside
            scope.waiting = [
                (each, index + len(inside) if each is scope.statements and index >= before else index, offset)
                for each, index, offset in scope.waiting
            ]

    def _simple(self, scope: Open, start: int) -> bool:
        """Takes the simple instructions that follow each other here; False where there is none."""
        reader, quick, plain = self._reader, self._instructions.quick, self._instructions.plain
        source, function, append, cache = reader.source, self._function, scope.statements.append, scope.cache
        file, line = reader.place(start)
        counted, end = start, 0
        while (found := _SIMPLE.match(source, end or start)) is not None:
            negated, predicate, name, text = found.groups()
            barred = False
            try:
                guard = None if predicate is None else Guard(_register(cache[predicate]), negated == "!")
                if text is None:
                    operands: tuple[Any, ...] = ()
                elif name in _BRANCHES:
                    operands = (_label(text),)
                elif "{" not in text and "|" not in text:
                    operands = tuple([cache[piece] for piece in text.split(", ")])
                else:
                    pieces, barred = _pieces(text)
                    operands = tuple([cache[piece] for piece in pieces])
            except KeyError:
                break
            forms = plain.get(name)
            form = forms.get(len(operands)) if forms is not None and not barred else quick(name, operands, barred)
            if form is None:
                break
            at = found.start(3)
            line += source.count("\n", counted, at)
            counted = at
            if name in _BRANCHES:
                scope.waiting.append((scope.statements, len(scope.statements), at))
            append(Instruction(form, operands, guard, Origin(file, line, function)))
            end = found.end()
        if end:
            reader.go(end)
        return end > 0

    def _line(self, scope: Open, start: int) -> bool:
        """Takes a plain label, declaration of registers or source line; False where there is none."""
        reader = self._reader
        found = _LINE.match(reader.source, start)
        if found is None:
            return False
        if found["label"] is not None:
            if not _WORD.fullmatch(found["label"]):
                return False
            label = LabelName(found["label"], scope.ordinal)
            scope.labels.add(label.name)
            scope.statements.append(Label(label, reader.origin(start, self._function)))
        elif found["register"] is not None:
            type_ = REGISTERS_BY_NAME.get(found["type"])
            if type_ is None or not _WORD.fullmatch(found["register"]):
                return False
            count = None if found["count"] is None else int(found["count"])
            scope.declare_registers(found["register"], type_, count)
            origin = reader.origin(start, self._function)
            scope.statements.append(Registers(type_, found["register"], count, origin=origin))
        else:
            position = Position(int(found["file"]), int(found["line"]), int(found["column"]))
            scope.statements.append(Loc(position))
        reader.go(found.end())
        return True

    def _statement(self, scope: Open, start: int) -> None:
        reader = self._reader
        if reader.text == "{" and reader.kind == "sign":
            inner = self._open(scope)
            scope.statements.append(inner)
            self._scope(inner)
        elif reader.kind == "directive":
            self._directive(scope)
        elif reader.text == "@@":
            scope.statements.append(dwarf_line(reader))
        elif reader.kind == "word" and self._labelled(scope):
            pass
        elif reader.kind == "word" or reader.text == "@":
            self._append(scope, self._instructions.read(scope, self._function), start)
        else:
            reader.fail(f"unexpected {reader.told()}", wanted=_WANTED)

    def _append(self, scope: Open, statement: Any, start: int) -> None:
        if labels_of(statement):
            scope.waiting.append((scope.statements, len(scope.statements), start))
        scope.statements.append(statement)

    def _labelled(self, scope: Open) -> bool:
        """Takes a label and what belongs to it; False where the word here is none."""
        reader = self._reader
        start, name = reader.start, reader.text
        reader.advance()
        if reader.kind != "sign" or not reader.accept(":"):
            reader.go(start)
            return False
        scope.labels.add(name)
        label = LabelName(name, scope.ordinal)
        match reader.text:
            case ".branchtargets":
                words = self._words("a label")
                self._append(scope, BranchTargets(label, tuple(LabelName(each, UNPLACED) for each in words)), start)
            case ".calltargets":
                scope.statements.append(CallTargets(label, tuple(self._words("a function"))))
            case ".callprototype":
                scope.statements.append(self._prototype(label))
            case _:
                scope.statements.append(Label(label, reader.origin(start, self._function)))
        return True

    def _words(self, wanted: str) -> list[str]:
        reader = self._reader
        reader.advance()
        found = [reader.take("word", wanted)]
        while reader.accept(","):
            found.append(reader.take("word", wanted))
        reader.expect(";", "',' or ';'")
        return found

    def _prototype(self, label: LabelName) -> Prototype:
        reader = self._reader
        reader.advance()
        returns = parameters(reader, self._function) if reader.text == "(" else ()
        reader.take("word", "'_'")
        taken = parameters(reader, self._function) if reader.text == "(" else ()
        asked = tuple(each for each in directives(reader, self._function) if isinstance(each, Directive))
        reader.expect(";", "a directive or ';'")
        return Prototype(label, returns, taken, asked)

    def _directive(self, scope: Open) -> None:
        reader = self._reader
        match reader.text:
            case ".reg":
                scope.statements += registers(reader, scope, self._function)
            case ".loc":
                scope.statements.append(loc_directive(reader))
            case ".file":
                scope.statements.append(file_directive(reader))
            case ".pragma":
                scope.statements.append(pragma(reader, self._function))
            case text if text in SPACES:
                origin = reader.origin(reader.start, self._function)
                scope.statements += variables(reader, scope, Linkage.PRIVATE, origin)
            case text if text in LINKAGES:
                origin = reader.origin(reader.start, self._function)
                reader.advance()
                if reader.text not in SPACES:
                    reader.fail(f"unexpected {reader.told()}", wanted="a state space")
                scope.statements += variables(reader, scope, LINKAGES[text], origin)
            case text:
                reader.fail(f"the directive {text} cannot stand in a function", wanted=_WANTED)


def _pieces(text: str) -> tuple[Sequence[str], bool]:
    """The operands of a text one by one, and whether the second stands behind a bar; KeyError for other bars."""
    if "|" in text:
        first, _, rest = text.partition("|")
        if "," in first or "|" in rest or "{" in rest:
            raise KeyError(text)
        return (first, *rest.split(", ")), True
    return _SPLIT.split(text), False


def _label(text: str) -> LabelName:
    """The label that a branch names; KeyError for anything else, which is read more slowly."""
    if _WORD.fullmatch(text) is None:
        raise KeyError(text)
    return LabelName(text, UNPLACED)


def _register(operand: Operand) -> Register:
    """The register of a guard; KeyError for anything else, which is read more slowly."""
    if operand.__class__ is not Register:
        raise KeyError(operand)
    return operand


def finding(error: PtxSyntaxError) -> Finding:
    """An error of reading as a finding, on its line."""
    return Finding(error.code, Severity.ERROR, error.reason, Origin(error.file, error.line, ""), error.line)
