"""Calls, and what a function declares about where an indirect branch or call may go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from ptxgen.ir.directives import Directive
from ptxgen.ir.operands import Guard, LabelName, Operand, Register, SymbolAddress, operand_text, registers_of
from ptxgen.ir.origin import Origin
from ptxgen.ir.variables import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator


@frozen
class Call:
    """`call.uni (returns), target, (arguments), declared;`: a call of a function by name or through a register.

    `declared` is the label of the prototype or the list of functions that an indirect call needs.
    """

    target: SymbolAddress | Register
    returns: tuple[Operand, ...] = ()
    arguments: tuple[Operand, ...] = ()
    uniform: bool = False
    declared: LabelName | None = None
    guard: Guard | None = None
    origin: Origin | None = field(default=None, eq=False)

    def registers_read(self, *, guarding: bool = True) -> Iterator[Register]:
        """The registers that the call reads: the target, the arguments, and with `guarding` the guard."""
        for each in (self.target, *self.arguments):
            yield from registers_of(each)
        if guarding and self.guard is not None:
            yield self.guard.register

    def registers_written(self) -> Iterator[Register]:
        """The registers that take what the function returns."""
        for each in self.returns:
            yield from registers_of(each)

    def __str__(self) -> str:
        guard = "" if self.guard is None else f"{self.guard.text} "
        parts = [] if not self.returns else [_listed(self.returns)]
        parts.append(self.target.text)
        if self.arguments or self.declared is not None:
            parts.append(_listed(self.arguments))
        if self.declared is not None:
            parts.append(self.declared.text)
        return f"{guard}call{'.uni' if self.uniform else ''} {', '.join(parts)};"


def _listed(operands: tuple[Operand, ...]) -> str:
    return f"({', '.join(map(operand_text, operands))})"


@frozen
class Prototype:
    """`name: .callprototype (returns) _ (parameters);` of an indirect call."""

    name: LabelName
    returns: tuple[Parameter, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    directives: tuple[Directive, ...] = ()


@frozen
class CallTargets:
    """`name: .calltargets f, g;`: the functions that an indirect call may reach."""

    name: LabelName
    functions: tuple[str, ...]


@frozen
class BranchTargets:
    """`name: .branchtargets A, B;`: the labels that an indirect branch may reach, by index."""

    name: LabelName
    labels: tuple[LabelName, ...]
