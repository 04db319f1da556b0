"""From what a kernel has collected to frozen IR."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import TypeAlias

from attrs import field, frozen
from isa.forms import Form, resolve

from ptxgen.build.blame import Resolver
from ptxgen.ir import Comment, Guard, Instruction, Label, Operand, Origin, Registers, Scope, Statement, Variable

Written: TypeAlias = "tuple[Form, tuple[Operand, ...], Guard | None, Origin | tuple[CodeType, int]]"


@frozen(eq=False)
class Braced:
    """A scope while it is written: its ordinal, the arrays it declares, and its statements so far."""

    ordinal: int
    variables: list[Variable] = field(factory=list)
    statements: list[Written | Label | Comment | Braced] = field(factory=list)


def frozen_body(body: Braced, declared: Sequence[Registers], entry: Sequence[Written], resolver: Resolver) -> Scope:
    """A function's body: register declarations, arrays, the entry block, the statements, and `ret` where it falls off."""
    statements: list[Statement] = [*declared, *body.variables]
    statements += [_instruction(each, resolver) for each in entry]
    statements += _statements(body, resolver)
    last = statements[-1] if statements else None
    leaves = isinstance(last, Instruction) and last.guard is None and last.form.opcode in ("ret", "exit", "bra", "trap")
    if not leaves:
        statements.append(Instruction(resolve("ret")[0], ()))
    return Scope(tuple(statements))


def _statements(scope: Braced, resolver: Resolver) -> list[Statement]:
    made: list[Statement] = []
    for each in scope.statements:
        if type(each) is tuple:
            made.append(_instruction(each, resolver))
        elif isinstance(each, Braced):
            made.append(Scope((*each.variables, *_statements(each, resolver))))
        elif isinstance(each, Label | Comment):
            made.append(each)
    return made


def _instruction(written: Written, resolver: Resolver) -> Instruction:
    form, operands, guard, where = written
    return Instruction(form, operands, guard, resolver.origin(where))
