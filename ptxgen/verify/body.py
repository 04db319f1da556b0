"""What the checks of a function share: its blocks, what each instruction reads and writes, what is declared where."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TypeAlias, TypeVar

from attrs import evolve, frozen

from isa.availability import ALWAYS
from isa.forms import Form, resolve
from isa.operands import OperandKind, OperandSlot, Role, Signature
from ptxgen.ir import (
    Call,
    DirectiveKind,
    Function,
    Instruction,
    Module,
    Parameter,
    Register,
    Scope,
    Statement,
    Variable,
    besides_instructions,
    walk,
)
from ptxgen.ir.flow import Flow, flow_of, reverse_post_order
from ptxgen.verify.steps import Numbers, Step, steps_of

CALL = "call"
Declared: TypeAlias = Mapping[str, Variable | Parameter]
Fact = TypeVar("Fact")


@frozen(eq=False)
class Body:
    """A function's flow; per instruction its step and the symbols that it sees.

    `statements` are those of the function as they were written, a scope before those inside it, `others` those that
    are no instructions. `forms` are those of the instructions, `by_opcode` has the indices of the instructions. Calls
    stand among them as instructions of the opcode `CALL` that read and write the call's registers; `calls` tells which
    call each is, by its index.
    """

    module: Module
    function: Function
    statements: tuple[Statement, ...]
    others: tuple[Statement, ...]
    flow: Flow
    numbers: Numbers
    steps: list[Step]
    declared: list[Declared]
    forms: frozenset[Form]
    by_opcode: dict[str, list[int]]
    calls: dict[int, Call]


def body_of(module: Module, function: Function, known: Declared, endless: frozenset[str]) -> Body:
    """The shared facts of a function that has a body.

    `known` are the variables of the module by name, `endless` the functions that never return: a call of one ends the
    path.
    """
    assert function.body is not None
    calling: dict[int, Call] = {}
    turned = _turned(function.body, calling, endless)
    flow = flow_of(function if turned is function.body else evolve(function, body=turned))
    own = {parameter.name: parameter for parameter in (*function.parameters, *function.returns)}
    declared: list[Declared] = []
    _see(turned, {**known, **own}, declared)
    forms = frozenset([instruction.form for instruction in flow.instructions])
    by_opcode: dict[str, list[int]] = {}
    for index, instruction in enumerate(flow.instructions):
        by_opcode.setdefault(instruction.form.opcode, []).append(index)
    calls = {index: calling[id(flow.instructions[index])] for index in by_opcode.get(CALL, ()) if calling}
    numbers = Numbers()
    statements, others = walk(function.body), tuple(besides_instructions(function.body))
    steps = steps_of(flow, numbers)
    return Body(module, function, statements, others, flow, numbers, steps, declared, forms, by_opcode, calls)


def endless_functions(module: Module) -> frozenset[str]:
    """The functions that are declared never to return."""
    return frozenset(
        item.name
        for item in module.items
        if isinstance(item, Function)
        and any(getattr(each, "kind", None) is DirectiveKind.NORETURN for each in item.directives)
    )


def _turned(scope: Scope, calling: dict[int, Call], endless: frozenset[str]) -> Scope:
    """The scope with its calls as instructions; the same scope where it has none."""
    if {Call, Scope}.isdisjoint(map(type, scope.statements)):
        return scope
    made: list[Statement] = []
    for statement in scope.statements:
        if isinstance(statement, Scope):
            made.append(_turned(statement, calling, endless))
        elif isinstance(statement, Call):
            instruction = _as_instruction(statement)
            calling[id(instruction)] = statement
            made.append(instruction)
            if statement.guard is None and getattr(statement.target, "name", None) in endless:
                made.append(Instruction(resolve("trap")[0], (), origin=statement.origin))
        else:
            made.append(statement)
    return Scope(tuple(made))


def _as_instruction(call: Call) -> Instruction:
    guard = () if call.guard is None else (call.guard.register,)
    reads = [each for each in call.registers_read() if each not in guard]
    writes = list(call.registers_written())
    slots = [_slot(each, Role.WRITE) for each in writes] + [_slot(each, Role.READ) for each in reads]
    form = Form(f"{CALL} {call.target.name}", CALL, {}, (Signature(tuple(slots)),), ALWAYS, 0, resolve("ret")[0].line)
    return Instruction(form, (*writes, *reads), call.guard, call.origin)


def _slot(register: Register, role: Role) -> OperandSlot:
    return OperandSlot("r", role, OperandKind.REGISTER, register.type, 1, frozenset({register.type}))


def _see(scope: Scope, outer: Declared, declared: list[Declared]) -> None:
    own = {each.name: each for each in scope.besides_instructions() if isinstance(each, Variable)}
    known = {**outer, **own} if own else outer
    for sort, alike in groupby(scope.statements, type):
        run = tuple(alike)
        if sort is Instruction:
            declared += [known] * len(run)
        for inner in run if sort is Scope else ():
            if isinstance(inner, Scope):
                _see(inner, known, declared)


def states(
    flow: Flow,
    start: frozenset[Fact],
    after: Callable[[frozenset[Fact], int], frozenset[Fact]],
    acting: Iterable[int],
    asked: Iterable[int],
) -> Iterator[tuple[int, frozenset[Fact]]]:
    """The index of each instruction `asked` for, where it is reachable, with the facts that some path from the entry
    brings to it.

    `after` gives the facts behind the instruction of an index, one of those `acting`: the others change none. Facts of
    several paths are united.
    """
    order = reverse_post_order(flow)
    acting, asked = set(acting), set(asked)
    inside, together = _by_block(flow, acting), _by_block(flow, acting | asked)
    entering: dict[int, frozenset[Fact]] = {}
    leaving: dict[int, frozenset[Fact]] = {}
    changed = True
    while changed:
        changed = False
        for block in order:
            known = [leaving[each] for each in flow.blocks[block].predecessors if each in leaving]
            facts = frozenset().union(start if block == 0 else (), *known)
            if entering.get(block) != facts:
                entering[block], changed = facts, True
                for index in inside[block]:
                    facts = after(facts, index)
                leaving[block] = facts
    for block in order:
        facts = entering[block]
        for index in together[block]:
            if index in asked:
                yield index, facts
            if index in acting:
                facts = after(facts, index)


def _by_block(flow: Flow, indices: set[int]) -> list[list[int]]:
    """Indices of instructions in ascending order, by the block that they are in."""
    ordered = sorted(indices)
    places = ((bisect_left(ordered, block.start), bisect_left(ordered, block.stop)) for block in flow.blocks)
    return [ordered[first:last] for first, last in places]
