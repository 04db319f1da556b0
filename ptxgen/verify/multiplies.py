"""`wgmma`: its fences, commits and waits."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from ptxgen.errors import Finding, Severity
from ptxgen.ir import FunctionKind, Instruction, registers_of
from ptxgen.verify.body import CALL, Body, states
from ptxgen.verify.values import Values

_LAST_AGE = 8
_WARPGROUP = 128


@frozen
class _Unfenced:
    """No fence since the entry, or since each of `registers`, those of an earlier multiply, was written.

    Compilers move what first fills an accumulator behind the fence, so that is let pass.
    """

    registers: frozenset[int] = frozenset()


@frozen
class _Flying:
    """The numbers of a multiply's registers; `age` counts the commits since: 0 is not committed, -1 is over."""

    registers: frozenset[int]
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
    own = {index: _numbers(body, instructions[index]) for index in body.by_opcode["wgmma"]}
    used = frozenset().union(*own.values())
    touching = [n for n, step in enumerate(body.steps) if not used.isdisjoint((*step.reads, *step.writes))]
    written = _written(body, used, touching)

    def after(facts: frozenset[_Fact], index: int) -> frozenset[_Fact]:
        instruction = instructions[index]
        if instruction.form.opcode == "wgmma":
            return _behind(facts, instruction, own[index])
        if instruction.form.opcode == CALL:
            return _behind_call(values, facts, index)
        again = frozenset().union(*(written[index] & each.registers for each in facts if isinstance(each, _Flying)))
        if not again:
            return facts
        known = {fact for fact in facts if isinstance(fact, _Unfenced) and fact.registers}
        return facts - known | {_Unfenced(again.union(*(fact.registers for fact in known)))}

    said: set[int] = set()
    entry: frozenset[_Fact] = frozenset({_Unfenced()} if body.function.kind is FunctionKind.ENTRY else ())
    acting = {*body.by_opcode["wgmma"], *body.by_opcode.get(CALL, ()), *written}
    for index, facts in states(body.flow, entry, after, acting, touching):
        found = _multiply(body, index, facts, own.get(index, frozenset()))
        if found is not None and index not in said:
            said.add(index)
            yield Finding(found[0], Severity.ERROR, found[1], instructions[index].origin)


def _written(body: Body, used: frozenset[int], touching: list[int]) -> dict[int, frozenset[int]]:
    """The registers of multiplies that a run of instructions writes, by the first of them. A run has no multiply, fence
    or wait among it, nor a call, and is of one block: who asks what is in flight hears the same all along."""
    acting = {*body.by_opcode["wgmma"], *body.by_opcode.get(CALL, ())}
    starts = {block.start for block in body.flow.blocks}
    runs: dict[int, set[int]] = {}
    first = -1
    for index in sorted({*touching, *acting, *starts}):
        if index in acting or index in starts:
            first = -1
        if index not in acting and not used.isdisjoint(body.steps[index].writes):
            first = index if first < 0 else first
            runs.setdefault(first, set()).update(used.intersection(body.steps[index].writes))
    return {index: frozenset(numbers) for index, numbers in runs.items()}


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


def _numbers(body: Body, instruction: Instruction) -> frozenset[int]:
    """The numbers of the registers of a multiply's operands."""
    fragments = (operand for operand in instruction.operands if isinstance(operand, tuple))
    return frozenset(number for each in fragments for number in body.numbers.of(list(registers_of(each))))


def _behind(facts: frozenset[_Fact], instruction: Instruction, own: frozenset[int]) -> frozenset[_Fact]:
    form = instruction.form
    if form.has("mma_async"):
        return facts | {_Flying(own)}
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


def _multiply(body: Body, index: int, facts: frozenset[_Fact], own: frozenset[int]) -> tuple[str, str] | None:
    instruction, step = body.flow.instructions[index], body.steps[index]
    if _is_multiply(instruction):
        for unfenced in (each for each in facts if isinstance(each, _Unfenced)):
            met = unfenced.registers & own
            if met or not unfenced.registers:
                since = f"since {_name(body, met)} was written" if met else "since the entry"
                return "wgmma.fence", f"{instruction.form.name} without wgmma.fence {since} on some path"
        return None
    for fact in facts:
        if isinstance(fact, _Flying) and fact.age >= 0 and not fact.registers.isdisjoint((*step.reads, *step.writes)):
            name = _name(body, fact.registers.intersection((*step.reads, *step.writes)))
            if fact.age:
                return "group.wait", f"{name} belongs to a wgmma that no wgmma.wait_group has waited for on some path"
            return "group.commit", f"{name} belongs to a wgmma that no wgmma.commit_group has committed on some path"
    return None


def _name(body: Body, numbers: frozenset[int]) -> str:
    return min(body.numbers.registers[number].name for number in numbers)
