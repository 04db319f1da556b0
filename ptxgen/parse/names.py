"""Names and scopes while a function is read: registers, symbols, labels."""

from __future__ import annotations

from typing import Any

from attrs import define, evolve, field

from isa.types import Type
from ptxgen.ir import BranchTargets, Call, Instruction, LabelName, Register, Scope, SymbolAddress
from ptxgen.parse.pieces import Meanings, declared


@define(eq=False)
class Open:
    """A scope whose end is not yet read.

    `statements` holds nodes and inner scopes; `cache` operands by their text, as they are meant here, shared with the
    scope around until a declaration here gives a text another meaning; `waiting` the places (list, index, offset) of
    statements with labels that no scope has declared yet.
    """

    ordinal: int
    parent: Open | None
    symbols: set[str] = field(factory=set)
    singles: dict[str, Register] = field(factory=dict)
    families: dict[str, tuple[Type, int, int]] = field(factory=dict)
    labels: set[str] = field(factory=set)
    statements: list[Any] = field(factory=list)
    cache: Meanings = field(init=False)
    waiting: list[tuple[list[Any], int, int]] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.cache = Meanings(self) if self.parent is None else self.parent.cache

    def find(self, name: str) -> Register | SymbolAddress | None:
        """What a name means here, the innermost declaration first; None for one that is not declared, or a label."""
        scope: Open | None = self
        while scope is not None:
            found = scope.singles.get(name) or (scope.member(name) if scope.families else None)
            if found is not None:
                return found
            if name in scope.symbols:
                return SymbolAddress(name)
            scope = scope.parent
        return None

    def member(self, name: str) -> Register | None:
        """The register of a numbered family of this scope: `%r7` of `%r<100>`."""
        stem = name.rstrip("0123456789")
        for start in range(len(stem), len(name)):
            family = self.families.get(stem)
            if family is not None:
                number = name[start:]
                if (number[0] != "0" or number == "0") and int(number) < family[1]:
                    made = self.singles[name] = declared(name, family[0], self.ordinal, family[2])
                    return made
            stem += name[start]
        return None

    def declares(self, name: str) -> bool:
        """True if the scope itself declares the name as a register or symbol."""
        return name in self.singles or name in self.symbols or (bool(self.families) and self.member(name) is not None)

    def declare_registers(self, name: str, type_: Type, count: int | None, vector: int = 1) -> None:
        """Makes a register of `vector` elements known, or with a count a numbered family of them."""
        if count is None:
            self.singles[name] = declared(name, type_, self.ordinal, vector)
        else:
            self.families[name] = (type_, count, vector)
        self._forget()

    def declare_symbol(self, name: str) -> None:
        """Makes a variable or function known."""
        if self.find(name) is not None:
            self.singles.pop(name, None)
            self.symbols.add(name)
            self._forget()
        self.symbols.add(name)

    def _forget(self) -> None:
        """Begins a new cache: a declaration may have given texts another meaning."""
        if self.cache or (self.parent is not None and self.cache is self.parent.cache):
            self.cache = Meanings(self)

    def frozen(self) -> Scope:
        """The scope as a node."""
        return Scope(tuple([each.frozen() if each.__class__ is Open else each for each in self.statements]))


UNPLACED = -1


def close(scope: Open) -> None:
    """Gives the labels of the waiting statements the scope that declares them, or hands them to the scope around."""
    left = []
    for statements, index, offset in scope.waiting:
        statement = statements[index]
        placed = _placed(statement, scope)
        statements[index] = placed
        if _unplaced(placed):
            left.append((statements, index, offset))
    scope.waiting.clear()
    (scope if scope.parent is None else scope.parent).waiting += left


def _placed(statement: Any, scope: Open) -> Any:
    match statement:
        case Instruction(operands=operands):
            settled = tuple([_settled(each, scope) for each in operands])
            return Instruction(statement.form, settled, statement.guard, statement.origin)
        case Call(declared=LabelName() as declared):
            return evolve(statement, declared=_settled(declared, scope))
        case BranchTargets(labels=labels):
            return evolve(statement, labels=tuple(_settled(each, scope) for each in labels))
    return statement


def _settled(operand: Any, scope: Open) -> Any:
    if isinstance(operand, LabelName) and operand.scope == UNPLACED and operand.name in scope.labels:
        return LabelName(operand.name, scope.ordinal)
    return operand


def labels_of(statement: Any) -> list[LabelName]:
    """The labels that a statement names as places to go to."""
    match statement:
        case Instruction(operands=operands):
            return [each for each in operands if isinstance(each, LabelName)]
        case Call(declared=LabelName() as declared):
            return [declared]
        case BranchTargets(labels=labels):
            return list(labels)
    return []


def _unplaced(statement: Any) -> bool:
    return any(label.scope == UNPLACED for label in labels_of(statement))
