"""`wgmma`: its fences, commits and waits."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from ptxgen.errors import Finding, Severity
from ptxgen.ir import FunctionKind, Instruction, Register, accesses, registers_of
from ptxgen.verify.body import CALL, states
from ptxgen.verify.values import Values

_LAST_AGE = 8
_WARPGROUP = 128


@frozen
class _Unfenced:
    """No fence since the entry, or since a register of an earlier multiply was written (`register`).

    Compilers move what first fills an accumulator behind the fence, so that is let pass.
    """

    register: Register | None = None


@frozen
class _Flying:
    """Registers of a multiply; `age` counts the commits since: 0 is not committed, -1 is over."""

    registers: frozenset[Register]
    age: int = 0


_Fact = _Unfenced | _Flying


def multiply_findings(values: Values) -> Iterator[Finding]:
    """`wgmma.fence`, `group.commit` and `group.wait` of multiplies, and `warpgroup.size`.

    A function may be called behind a fence, and what it calls may fence and wait; a call that nobody knows ends what
    was known.
    """
    body = values.body
    if "wgmma" not in body.by_opcode:
        return
    instructions = body.flow.instructions
    yield from _size(values)
    registers = body.numbers.registers
    used = frozenset(each for index in body.by_opcode["wgmma"] for each in _register_operands(instructions[index]))
    numbers = frozenset(map(body.numbers.number, used))
    writing = {index for index, step in enumerate(body.steps) if not numbers.isdisjoint(step.writes)}
    touching = {index for index, step in enumerate(body.steps) if not numbers.isdisjoint(step.reads)} | writing

    def after(facts: frozenset[_Fact], index: int) -> frozenset[_Fact]:
        instruction = instructions[index]
        if instruction.form.opcode == "wgmma":
            return _behind(facts, instruction)
        if instruction.form.opcode == CALL:
            return _behind_call(values, facts, index)
        touched = used.intersection(map(registers.__getitem__, body.steps[index].writes))
        again = {each for fact in facts if isinstance(fact, _Flying) for each in touched & fact.registers}
        return facts.union(map(_Unfenced, again)) if again else facts

    said: set[int] = set()
    entry: frozenset[_Fact] = frozenset({_Unfenced()} if body.function.kind is FunctionKind.ENTRY else ())
    acting = {*body.by_opcode["wgmma"], *body.by_opcode.get(CALL, ()), *writing}
    for index, facts in states(body.flow, entry, after, acting, touching):
        found = _multiply(instructions[index], facts, accesses(instructions[index]), used)
        if found is not None and index not in said:
            said.add(index)
            yield Finding(found[0], Severity.ERROR, found[1], instructions[index].origin)


def _size(values: Values) -> Iterator[Finding]:
    """Warps that are no whole warpgroup may be kept out by branches, where there are enough of the others."""
    most, exact = values.launch.most_threads, values.launch.threads
    if most is None or (most >= _WARPGROUP and (exact is None or exact % _WARPGROUP == 0 or values.parts_threads)):
        return
    instruction = values.body.flow.instructions[values.body.by_opcode["wgmma"][0]]
    has = f"{exact}" if exact is not None else f"at most {most}"
    message = f"{instruction.form.name} is executed by 4 warps together; a block has {has} threads"
    yield Finding("warpgroup.size", Severity.ERROR, message, instruction.origin)


def _is_multiply(instruction: Instruction) -> bool:
    return instruction.form.opcode == "wgmma" and instruction.form.has("mma_async")


def _register_operands(instruction: Instruction) -> tuple[Register, ...]:
    return tuple(
        each for operand in instruction.operands if isinstance(operand, tuple) for each in registers_of(operand)
    )


def _behind(facts: frozenset[_Fact], instruction: Instruction) -> frozenset[_Fact]:
    form = instruction.form
    if form.has("mma_async"):
        return facts | {_Flying(frozenset(_register_operands(instruction)))}
    if form.words.get("what") == "fence":
        return frozenset(each for each in facts if not isinstance(each, _Unfenced))
    if form.words.get("what") == "commit_group":
        return frozenset(
            _Flying(each.registers, min(each.age + 1, _LAST_AGE))
            if isinstance(each, _Flying) and each.age >= 0
            else each
            for each in facts
        )
    left = getattr(instruction.operands[0], "value", 0) if instruction.operands else 0
    return frozenset(
        _Flying(each.registers, -1) if isinstance(each, _Flying) and each.age > left else each for each in facts
    )


def _behind_call(values: Values, facts: frozenset[_Fact], index: int) -> frozenset[_Fact]:
    effects = values.effects_at(index)
    done = {word for form in effects.forms if form.opcode == "wgmma" for word in form.words.values()}
    if not effects.known or {"fence", "wait_group"} <= done:
        return frozenset()
    if "fence" in done:
        facts = frozenset(each for each in facts if not isinstance(each, _Unfenced))
    return frozenset(each for each in facts if not isinstance(each, _Flying)) if "wait_group" in done else facts


def _multiply(
    instruction: Instruction,
    facts: frozenset[_Fact],
    accessed: tuple[list[Register], list[Register]],
    used: frozenset[Register],
) -> tuple[str, str] | None:
    if _is_multiply(instruction):
        own = set(_register_operands(instruction))
        for fact in facts:
            if isinstance(fact, _Unfenced) and (fact.register is None or fact.register in own):
                since = "since the entry" if fact.register is None else f"since {fact.register.name} was written"
                return "wgmma.fence", f"{instruction.form.name} without wgmma.fence {since} on some path"
        return None
    touched = used.intersection(accessed[0] + accessed[1])
    if not touched:
        return None
    for fact in facts:
        if isinstance(fact, _Flying) and fact.age >= 0 and (common := touched.intersection(fact.registers)):
            name = min(each.name for each in common)
            if fact.age:
                return "group.wait", f"{name} belongs to a wgmma that no wgmma.wait_group has waited for on some path"
            return "group.commit", f"{name} belongs to a wgmma that no wgmma.commit_group has committed on some path"
    return None
