"""Statements, functions and modules: what a PTX module is."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen

from ptxgen.ir.operands import Float, Guard, Int, LabelName, Operand, SymbolAddress, operand_text
from ptxgen.ir.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isa.forms import Form
    from isa.targets import PtxVersion, Target
    from isa.types import Type


class Space(Enum):
    """A state space of memory; the value is PTX's word."""

    PARAM = "param"
    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONST = "const"


class Linkage(Enum):
    """How a module-scope name is seen by others; the value is PTX's word, empty for a private name."""

    PRIVATE = ""
    VISIBLE = "visible"
    EXTERN = "extern"
    WEAK = "weak"
    COMMON = "common"


class FunctionKind(Enum):
    """A kernel, or a function called by one; the value is PTX's word."""

    ENTRY = "entry"
    FUNC = "func"


class DirectiveKind(Enum):
    """The performance directives of a function; the value is PTX's word."""

    MAXNTID = "maxntid"
    REQNTID = "reqntid"
    MINNCTAPERSM = "minnctapersm"
    MAXNREG = "maxnreg"


@frozen
class Directive:
    """A directive between a function's parameters and its body, with its numbers."""

    kind: DirectiveKind
    values: tuple[int, ...]


@frozen
class Instruction:
    """One instruction. The operands stand at the same index as the slots of the form's matching signature."""

    form: Form
    operands: tuple[Operand, ...]
    guard: Guard | None = None
    origin: Origin | None = field(default=None, eq=False)

    def __str__(self) -> str:
        guard = "" if self.guard is None else f"{self.guard.text} "
        operands = ", ".join(map(operand_text, self.operands))
        return f"{guard}{self.form.name} {operands};" if operands else f"{guard}{self.form.name};"


@frozen
class Label:
    """A place to branch to."""

    name: LabelName
    origin: Origin | None = field(default=None, eq=False)


@frozen
class Registers:
    """A declaration: `.reg .b32 %r<100>;` declares `%r0` to `%r99`; a count of None declares the one name."""

    type: Type
    name: str
    count: int | None = None


Initial: TypeAlias = "Int | Float | SymbolAddress | tuple[Initial, ...]"


@frozen
class Variable:
    """A variable in memory. `shape` is () for a scalar; a first extent of None is an array without a size (`[]`).

    `vector` is 1, 2 or 4 elements per entry; `align` is in bytes, None where the type's own alignment holds.
    """

    name: str
    type: Type
    space: Space
    shape: tuple[int | None, ...] = ()
    align: int | None = None
    vector: int = 1
    initial: Initial | None = None
    linkage: Linkage = Linkage.PRIVATE
    origin: Origin | None = field(default=None, eq=False)

    @property
    def size_bytes(self) -> int:
        """The bytes that the variable takes; 0 for an array without a size."""
        count = self.vector
        for extent in self.shape:
            count *= extent or 0
        return count * self.type.bits // 8


@frozen
class Comment:
    """A line `// text` of its own."""

    text: str


@frozen
class Pragma:
    """A `.pragma "text";` statement."""

    text: str


@frozen
class Scope:
    """A `{ ... }` of statements in order; a function's body is one."""

    statements: tuple[Statement, ...]


Statement: TypeAlias = Instruction | Label | Registers | Variable | Scope | Comment | Pragma


@frozen
class PointerFacts:
    """What a pointer parameter points to: `.ptr .global .align 16`, alignment in bytes."""

    space: Space
    align: int | None = None


@frozen
class Parameter:
    """A parameter. `shape` is () for a scalar or the extents of an array; `align` in bytes; `pointer` for `.ptr`."""

    name: str
    type: Type
    shape: tuple[int, ...] = ()
    align: int | None = None
    pointer: PointerFacts | None = None

    @property
    def size_bytes(self) -> int:
        """The bytes that the parameter takes in the parameter block."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count * self.type.bits // 8

    @property
    def align_bytes(self) -> int:
        """The alignment of the parameter in the parameter block."""
        return self.align or self.type.bits // 8


@frozen
class Function:
    """A kernel or a function; a body of None is a declaration."""

    kind: FunctionKind
    name: str
    linkage: Linkage
    returns: tuple[Parameter, ...]
    parameters: tuple[Parameter, ...]
    directives: tuple[Directive, ...]
    body: Scope | None
    origin: Origin | None = field(default=None, eq=False)

    def instructions(self) -> Iterator[Instruction]:
        """The instructions of the body in the order of the text, those of inner scopes included."""
        if self.body is not None:
            yield from (node for node in walk(self.body) if isinstance(node, Instruction))


@frozen
class Module:
    """A translation unit: version, target, 32 or 64 bits of address, and its variables and functions in order."""

    version: PtxVersion
    target: Target
    address_size: int
    items: tuple[Variable | Function, ...]

    def function(self, name: str | None = None) -> Function:
        """The function of that name, or the only kernel when no name is given; LookupError names what there is."""
        functions = [item for item in self.items if isinstance(item, Function)]
        if name is None:
            functions = [item for item in functions if item.kind is FunctionKind.ENTRY]
        else:
            functions = [item for item in functions if item.name == name]
        if len(functions) != 1:
            known = ", ".join(item.name for item in self.items if isinstance(item, Function)) or "none"
            wanted = "exactly one kernel" if name is None else f"a function named {name}"
            raise LookupError(f"wanted {wanted}; the module has: {known}")
        return functions[0]


def walk(scope: Scope) -> Iterator[Statement]:
    """The statements of a scope in the order of the text; an inner scope comes before its own statements."""
    for statement in scope.statements:
        yield statement
        if isinstance(statement, Scope):
            yield from walk(statement)
