"""From what a kernel has collected to frozen IR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import field, frozen

from isa.forms import Form, resolve
from ptxgen.build.blame import Resolver
from ptxgen.ir import Call, Instruction, Origin, Registers, Scope, Statement, Variable

STRIDE = 5


@frozen(eq=False)
class Braced:
    """A scope while it is written: its ordinal, the arrays it declares, and its statements so far.

    `statements` is flat, STRIDE entries a statement, so that the garbage collector meets few objects: an instruction's
    form, operands, guard, and its Origin and 0 or else code object and instruction offset; or a node and fillers.
    """

    ordinal: int
    variables: list[Variable] = field(factory=list)
    statements: list[Any] = field(factory=list)


def frozen_body(
    body: Braced, declared: Sequence[Registers], entry: list[Any], resolver: Resolver, *, closed: bool
) -> Scope:
    """A function's body: registers, arrays, the entry block, the statements.

    With `closed`, `ret` follows where the end can be reached.
    """
    statements: list[Statement] = [*declared, *body.variables]
    statements += _statements(entry, resolver)
    statements += _statements(body.statements, resolver)
    last = statements[-1] if statements else None
    leaves = isinstance(last, Instruction) and last.guard is None and last.form.opcode in ("ret", "exit", "bra", "trap")
    if closed and not leaves:
        statements.append(Instruction(resolve("ret")[0], ()))
    return Scope(tuple(statements))


def _statements(flat: list[Any], resolver: Resolver) -> Iterator[Statement]:
    entries = iter(flat)
    for first, operands, guard, where, offset in zip(entries, entries, entries, entries, entries, strict=True):
        if first.__class__ is Form:
            origin = where if where.__class__ is Origin else resolver.origin(where, offset)
            if first.opcode == "call":
                yield Call(operands[0], uniform=first.has("uni"), guard=guard, origin=origin)
            else:
                yield Instruction(first, operands, guard, origin)
        elif isinstance(first, Braced):
            yield Scope((*first.variables, *_statements(first.statements, resolver)))
        else:
            yield first
