"""Asynchronous work: fences before it, commits and waits behind it, barriers that were never made."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from ptxgen.errors import Finding, Severity
from ptxgen.ir import Address, FunctionKind, Instruction, Operand, Register, accesses, registers_of
from ptxgen.verify.body import states
from ptxgen.verify.values import Pointer, Values

_LAST_AGE = 8


def asynchronous_findings(values: Values) -> Iterator[Finding]:
    """`wgmma.fence`, `group.commit`, `group.wait`, `proxy.fence` and `mbarrier.init` along the paths of a function.

    Nothing is said of functions with calls or indirect branches.
    """
    if values.body.opaque:
        return
    if "wgmma" in values.body.by_opcode:
        yield from _multiplies(values)
    yield from _groups(values)
    yield from _proxies(values)
    if values.body.function.kind is FunctionKind.ENTRY:
        yield from _barriers(values)


@frozen
class _Unfenced:
    """No fence since the entry, or since a register of an earlier multiply was written (`register`).

    Compilers move what first fills an accumulator behind the fence, so that is let pass.
    """

    register: Register | None = None


@frozen
class _Flying:
    """Registers of a multiply; `age` counts the commits since: 0 is not committed, -1 is over."""

    registers: tuple[Register, ...]
    age: int = 0


_MultiplyFact = _Unfenced | _Flying


def _is_multiply(instruction: Instruction) -> bool:
    return instruction.form.opcode == "wgmma" and instruction.form.has("mma_async")


def _register_operands(instruction: Instruction) -> tuple[Register, ...]:
    return tuple(
        each for operand in instruction.operands if isinstance(operand, tuple) for each in registers_of(operand)
    )


def _multiplies(values: Values) -> Iterator[Finding]:
    body = values.body
    instructions = body.flow.instructions
    used = frozenset(each for index in body.by_opcode["wgmma"] for each in _register_operands(instructions[index]))

    def after(facts: frozenset[_MultiplyFact], index: int) -> frozenset[_MultiplyFact]:
        instruction = instructions[index]
        if instruction.form.opcode == "wgmma":
            return _behind(facts, instruction)
        touched = used.intersection(body.numbers.registers[each] for each in body.steps[index].writes)
        again = (
            touched & {each for fact in facts if isinstance(fact, _Flying) for each in fact.registers}
            if touched
            else touched
        )
        return facts.union(map(_Unfenced, again)) if again else facts

    said: set[int] = set()
    entry: frozenset[_MultiplyFact] = frozenset({_Unfenced()})
    for index, facts in states(body.flow, entry, after):
        found = _multiply(instructions[index], facts, accesses(instructions[index]), used)
        if found is not None and index not in said:
            said.add(index)
            yield Finding(found[0], Severity.ERROR, found[1], instructions[index].origin)


def _behind(facts: frozenset[_MultiplyFact], instruction: Instruction) -> frozenset[_MultiplyFact]:
    form = instruction.form
    if form.has("mma_async"):
        return facts | {_Flying(_register_operands(instruction))}
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


def _multiply(
    instruction: Instruction,
    facts: frozenset[_MultiplyFact],
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


def _groups(values: Values) -> Iterator[Finding]:
    """Copies that are never committed or never waited for anywhere in the function."""
    body = values.body
    copies = [index for index in body.by_opcode.get("cp.async", ()) if body.flow.instructions[index].form.has("cop")]
    words = {word for index in body.by_opcode.get("cp.async", ()) for word in body.flow.instructions[index].form.words}
    if copies and not words & {"wait_group", "wait_all"} and "cp.async.mbarrier.arrive" not in body.by_opcode:
        yield _at(body.flow.instructions[copies[0]], "group.wait", "nothing in the function waits for it")
    elif copies and "wait_group" in words and "commit_group" not in _names(values, "cp.async"):
        yield _at(body.flow.instructions[copies[0]], "group.commit", "no cp.async.commit_group commits it")
    stores = [
        body.flow.instructions[index]
        for opcode, indices in body.by_opcode.items()
        if opcode.startswith("cp.")
        for index in indices
        if "bulk_group" in body.flow.instructions[index].form.name.split(".")
    ]
    bulk = [opcode for opcode in body.by_opcode if opcode.startswith("cp.async.bulk")]
    names = {name for opcode in bulk for name in _names(values, opcode)}
    if stores and "commit_group" not in names:
        yield _at(stores[0], "group.commit", "no cp.async.bulk.commit_group commits it")
    elif stores and "wait_group" not in names:
        yield _at(stores[0], "group.wait", "nothing in the function waits for it")


def _names(values: Values, opcode: str) -> set[str]:
    body = values.body
    return {
        word for index in body.by_opcode.get(opcode, ()) for word in body.flow.instructions[index].form.name.split(".")
    }


def _at(instruction: Instruction, code: str, message: str) -> Finding:
    return Finding(code, Severity.ERROR, f"{instruction.form.name}: {message}", instruction.origin)


def _proxies(values: Values) -> Iterator[Finding]:
    """Shared memory written by ordinary stores and read by the asynchronous proxy, with no fence between."""
    body = values.body
    instructions = body.flow.instructions
    readers = frozenset(
        index
        for opcode, indices in body.by_opcode.items()
        if opcode in ("wgmma", "tcgen05.mma", "tcgen05.cp") or opcode.startswith("cp.")
        for index in indices
        if _reads_shared(instructions[index])
    )
    writers = frozenset(
        index
        for opcode in ("st", "stmatrix", "cp.async", "red", "atom")
        for index in body.by_opcode.get(opcode, ())
        if _writes_shared(instructions[index])
    )
    if not readers or not writers:
        return
    fences = frozenset(
        index
        for index in body.by_opcode.get("fence", ())
        if instructions[index].form.has("proxy") and "async" in instructions[index].form.name.split(".")
    )

    def after(facts: frozenset[int], index: int) -> frozenset[int]:
        if index in fences:
            return frozenset()
        return facts | {index} if index in writers else facts

    for index, facts in states(body.flow, frozenset(), after):
        if index in readers:
            wrote = next((each for each in sorted(facts) if _may_meet(values, each, index)), None)
            if wrote is not None:
                message = (
                    f"{instructions[index].form.name} reads shared memory through the asynchronous proxy; "
                    f"no fence.proxy.async stands behind the ordinary write: {instructions[wrote]}"
                )
                related = (("the write", instructions[wrote].origin),)
                yield Finding("proxy.fence", Severity.ERROR, message, instructions[index].origin, None, related)


def _reads_shared(instruction: Instruction) -> bool:
    form = instruction.form
    if form.opcode.startswith("cp."):
        return "bulk" in form.name.split(".") and form.words.get("source", "").startswith("shared")
    return form.opcode != "wgmma" or form.has("mma_async")


def _writes_shared(instruction: Instruction) -> bool:
    form = instruction.form
    if form.opcode == "cp.async":
        return form.has("cop")
    return form.words.get("space", "").startswith("shared") and form.words.get("space") != "shared::cluster"


def _may_meet(values: Values, wrote: int, read: int) -> bool:
    first, second = _pointer(values, wrote, None), _pointer(values, read, "source")
    return first is None or second is None or first.variable is second.variable


def _pointer(values: Values, index: int, name: str | None) -> Pointer | None:
    """What the first address of an instruction points to, or the second where its source is wanted."""
    found = [each for each in values.body.flow.instructions[index].operands if isinstance(each, Address)]
    if not found or (name is not None and values.body.flow.instructions[index].form.opcode == "wgmma"):
        return None
    chosen = found[-1] if name is not None and len(found) > 1 else found[0]
    return _place(values, chosen, index)


def _place(values: Values, operand: Operand, index: int) -> Pointer | None:
    if not isinstance(operand, Address):
        return None
    found = values.pointer(operand.base, index)
    return None if found is None else Pointer(found.variable, found.offset + operand.offset)


def _barriers(values: Values) -> Iterator[Finding]:
    """Uses of mbarriers that no initialisation can have reached."""
    body = values.body
    instructions = body.flow.instructions
    made = frozenset(body.by_opcode.get("mbarrier.init", ()))
    uses = {
        index: operand
        for opcode, indices in body.by_opcode.items()
        if opcode.startswith("mbarrier.") and opcode != "mbarrier.init"
        for index in indices
        if (operand := _barrier(instructions[index])) is not None
    }
    if not uses:
        return

    def after(facts: frozenset[int], index: int) -> frozenset[int]:
        return facts | {index} if index in made else facts

    places = {index: _place(values, instructions[index].operands[0], index) for index in made}
    for index, facts in states(body.flow, frozenset(), after):
        if index in uses:
            place = _place(values, uses[index], index)
            if not any(_may_be(place, places[each]) for each in facts):
                yield _at(instructions[index], "mbarrier.init", f"no mbarrier.init precedes it for {uses[index].text}")


def _barrier(instruction: Instruction) -> Address | None:
    """The mbarrier in this CTA's shared memory that an instruction uses."""
    if instruction.form.words.get("space") not in ("shared", "shared::cta"):
        return None
    return next((each for each in instruction.operands if isinstance(each, Address)), None)


def _may_be(first: Pointer | None, second: Pointer | None) -> bool:
    if first is None or second is None:
        return True
    return first.variable is second.variable and first.offset == second.offset
