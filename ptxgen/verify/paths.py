"""Paths: instructions that nothing reaches, loops that nothing leaves, returns of functions that never return."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Severity
from ptxgen.ir import Directive, DirectiveKind, Instruction
from ptxgen.ir.flow import Flow, NaturalLoop, natural_loops, reverse_post_order
from ptxgen.verify.values import Values

_LEAVING = frozenset({"ret", "exit", "trap", "bra", "brkpt"})


def path_findings(values: Values) -> Iterator[Finding]:
    """`flow.unreachable` and `loop.endless` as warnings, `loop.condition` and `function.returns`.

    Nothing is said of jumps and ends that nothing reaches, which compilers leave behind calls that do not return, nor
    of what stands behind a `trap`.
    """
    flow = values.body.flow
    reached = frozenset(reverse_post_order(flow))
    yield from _unreachable(flow, reached)
    for loop in natural_loops(flow) if any(_turns_back(flow, block) for block in reached) else ():
        yield from _loop(values, loop)
    directives = values.body.function.directives
    if any(isinstance(each, Directive) and each.kind is DirectiveKind.NORETURN for each in directives):
        for block in sorted(reached):
            last = flow.instructions[flow.blocks[block].stop - 1]
            if last.form.opcode == "ret":
                message = f"{values.body.function.name} is .noreturn and returns here"
                yield Finding("function.returns", Severity.ERROR, message, last.origin)


def _turns_back(flow: Flow, block: int) -> bool:
    return any(each <= block for each in flow.blocks[block].successors)


def _unreachable(flow: Flow, reached: frozenset[int]) -> Iterator[Finding]:
    """The first instruction of each stretch of blocks that no path from the entry reaches."""
    said = False
    for number, block in enumerate(flow.blocks):
        if number in reached:
            said = False
            continue
        here = [each for each in flow.instructions[block.start : block.stop] if each.form.opcode not in _LEAVING]
        said = said or (number > 0 and flow.instructions[block.start - 1].form.opcode == "trap")
        if here and not said:
            said = True
            yield Finding("flow.unreachable", Severity.WARNING, f"no path reaches {here[0]}", here[0].origin)


def _loop(values: Values, loop: NaturalLoop) -> Iterator[Finding]:
    flow = values.body.flow
    blocks = [flow.blocks[each] for each in sorted(loop.blocks)]
    inside = [index for block in blocks for index in range(block.start, block.stop)]
    leaving = [block.stop - 1 for block in blocks if any(each not in loop.blocks for each in block.successors)]
    ending = [index for index in inside if flow.instructions[index].form.opcode in ("ret", "exit", "trap")]
    first = flow.instructions[flow.blocks[loop.header].start]
    if not leaving and not ending:
        message = f"no path leaves the loop that begins with {first}"
        yield Finding("loop.endless", Severity.WARNING, message, first.origin)
        return
    ways = [*leaving, *ending]
    written = {number for index in inside for number in values.body.steps[index].writes}
    guards = [flow.instructions[index].guard for index in ways]
    numbers = [None if each is None else values.body.numbers.number(each.register) for each in guards]
    if None not in numbers and not written.intersection(each for each in numbers if each is not None):
        last: Instruction = flow.instructions[ways[-1]]
        assert last.guard is not None
        message = f"{last.guard.register.name} decides whether the loop is left, and nothing in the loop changes it"
        yield Finding("loop.condition", Severity.ERROR, message, last.origin)
