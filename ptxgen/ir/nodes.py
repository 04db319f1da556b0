"""Statements, functions and modules: what a PTX module is."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen

from ptxgen.ir.calls import BranchTargets, Call, CallTargets, Prototype
from ptxgen.ir.debug import DebugSection, DwarfLine, File, Loc
from ptxgen.ir.directives import Directive
from ptxgen.ir.operands import Guard, LabelName, Operand, operand_text
from ptxgen.ir.origin import Origin
from ptxgen.ir.variables import Attribute, Linkage, Parameter, Registers, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isa.forms import Form
    from isa.targets import PtxVersion, Target


class FunctionKind(Enum):
    """A kernel, or a function called by one; the value is PTX's word."""

    ENTRY = "entry"
    FUNC = "func"


class TargetOption(Enum):
    """What may stand behind the target in `.target`; the value is PTX's word."""

    DEBUG = "debug"
    TEXMODE_UNIFIED = "texmode_unified"
    TEXMODE_INDEPENDENT = "texmode_independent"
    MAP_F64_TO_F32 = "map_f64_to_f32"


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


def _stripped(text: str) -> str:
    return text.rstrip()


@frozen
class Comment:
    """A comment `// text`: a line of its own, or `trailing` behind the statement before it.

    Blanks at its end are none of its text. A trailing comment behind a comment, or first in a scope, has its own line.
    """

    text: str = field(converter=_stripped)
    trailing: bool = False


@frozen
class Pragma:
    """A `.pragma "text";` statement, with one text or several."""

    text: str
    more: tuple[str, ...] = ()
    origin: Origin | None = field(default=None, eq=False)


@frozen
class Scope:
    """A `{ ... }` of statements in order; a function's body is one."""

    statements: tuple[Statement, ...]

    def besides_instructions(self) -> list[Statement]:
        """Its own statements that are no instructions, few of them mostly, in order."""
        return [each for each in self.statements if each.__class__ is not Instruction]


Statement: TypeAlias = (
    Instruction
    | Call
    | Label
    | Registers
    | Variable
    | Scope
    | BranchTargets
    | CallTargets
    | Prototype
    | Loc
    | File
    | Pragma
    | Comment
    | DwarfLine
)


@frozen
class Function:
    """A kernel or a function; a body of None is a declaration."""

    kind: FunctionKind
    name: str
    linkage: Linkage
    returns: tuple[Parameter, ...]
    parameters: tuple[Parameter, ...]
    directives: tuple[Directive | Pragma, ...]
    body: Scope | None
    origin: Origin | None = field(default=None, eq=False)
    attributes: tuple[Attribute, ...] = ()

    def instructions(self) -> Iterator[Instruction]:
        """The instructions of the body in the order of the text, those of inner scopes included; calls are none."""
        if self.body is not None:
            yield from [node for node in walk(self.body) if node.__class__ is Instruction]


@frozen
class Alias:
    """`.alias name, of;`: another name of a function."""

    name: str
    of: str


Item: TypeAlias = Variable | Function | Alias | File | DebugSection | Pragma | Comment | DwarfLine


@frozen
class Module:
    """A translation unit: version, target, 32 or 64 bits of address, and its variables and functions in order.

    `options` stand behind the target, `heading` are the comments before the version.
    """

    version: PtxVersion
    target: Target
    address_size: int
    items: tuple[Item, ...]
    options: tuple[TargetOption, ...] = ()
    heading: tuple[Comment, ...] = ()

    def function(self, name: str | None = None) -> Function:
        """The function of that name, or the only kernel when no name is given; LookupError names what there is."""
        functions = [item for item in self.items if isinstance(item, Function)]
        if name is None:
            functions = [item for item in functions if item.kind is FunctionKind.ENTRY]
        else:
            functions = [item for item in functions if item.name == name]
            functions = [item for item in functions if item.body is not None] or functions
        if len(functions) != 1:
            known = ", ".join(item.name for item in self.items if isinstance(item, Function)) or "none"
            wanted = "exactly one kernel" if name is None else f"a function named {name}"
            raise LookupError(f"wanted {wanted}; the module has: {known}")
        return functions[0]


def walk(scope: Scope) -> tuple[Statement, ...]:
    """The statements of a scope in the order of the text; an inner scope comes before its own statements."""
    return tuple(_walked(scope)) if Scope in set(map(type, scope.statements)) else scope.statements


def _walked(scope: Scope) -> Iterator[Statement]:
    for statement in scope.statements:
        yield statement
        if isinstance(statement, Scope):
            yield from _walked(statement)


def besides_instructions(scope: Scope) -> list[Statement]:
    """As `walk`, without the instructions."""
    return [node for node in walk(scope) if node.__class__ is not Instruction]
