"""What the checks of a function share: its blocks, what each instruction reads and writes, what is declared where."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias, TypeVar

from attrs import frozen

from ptxgen.ir import Call, Function, Instruction, Module, Parameter, Scope, Variable
from ptxgen.ir.flow import Flow, flow_of, reverse_post_order
from ptxgen.verify.steps import Numbers, Step, steps_of

Declared: TypeAlias = Mapping[str, Variable | Parameter]
Fact = TypeVar("Fact")
_OPAQUE = frozenset({"brx.idx", "call"})


@frozen(eq=False)
class Body:
    """A function's flow; per instruction its step and the symbols that it sees.

    `by_opcode` has the indices of the instructions. `opaque`: calls or indirect branches hide what happens.
    """

    function: Function
    flow: Flow
    numbers: Numbers
    steps: list[Step]
    declared: list[Declared]
    by_opcode: dict[str, list[int]]
    calls: tuple[tuple[Call, Declared], ...]

    @property
    def opaque(self) -> bool:
        return bool(self.calls) or not _OPAQUE.isdisjoint(self.by_opcode)


def body_of(module: Module, function: Function) -> Body:
    """The shared facts of a function that has a body."""
    flow = flow_of(function)
    known: dict[str, Variable | Parameter] = {item.name: item for item in module.items if isinstance(item, Variable)}
    known.update({parameter.name: parameter for parameter in (*function.parameters, *function.returns)})
    declared: list[Declared] = []
    calls: list[tuple[Call, Declared]] = []
    if function.body is not None:
        _see(function.body, known, declared, calls)
    by_opcode: dict[str, list[int]] = {}
    for index, instruction in enumerate(flow.instructions):
        by_opcode.setdefault(instruction.form.opcode, []).append(index)
    numbers = Numbers()
    return Body(function, flow, numbers, steps_of(flow, numbers), declared, by_opcode, tuple(calls))


def _see(scope: Scope, outer: Declared, declared: list[Declared], calls: list[tuple[Call, Declared]]) -> None:
    own = {each.name: each for each in scope.statements if isinstance(each, Variable)}
    known = {**outer, **own} if own else outer
    for statement in scope.statements:
        if isinstance(statement, Instruction):
            declared.append(known)
        elif isinstance(statement, Scope):
            _see(statement, known, declared, calls)
        elif isinstance(statement, Call):
            calls.append((statement, known))


def states(
    flow: Flow, start: frozenset[Fact], after: Callable[[frozenset[Fact], int], frozenset[Fact]]
) -> Iterator[tuple[int, frozenset[Fact]]]:
    """Each reachable instruction's index with the facts that some path from the entry brings to it.

    `after` gives the facts behind the instruction of an index; facts of several paths are united.
    """
    order = reverse_post_order(flow)
    leaving: dict[int, frozenset[Fact]] = {}

    def entering(block: int) -> frozenset[Fact]:
        known = [leaving[each] for each in flow.blocks[block].predecessors if each in leaving]
        return frozenset().union(start if block == 0 else (), *known)

    changed = True
    while changed:
        changed = False
        for block in order:
            facts = entering(block)
            for index in range(flow.blocks[block].start, flow.blocks[block].stop):
                facts = after(facts, index)
            if leaving.get(block) != facts:
                leaving[block], changed = facts, True
    for block in order:
        facts = entering(block)
        for index in range(flow.blocks[block].start, flow.blocks[block].stop):
            yield index, facts
            facts = after(facts, index)
