"""mbarriers: made before use, waited for with a phase that changes, told of the bytes that arrive."""

from __future__ import annotations

from collections.abc import Iterator

from isa.forms import Form
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Address, FunctionKind, Instruction, Operand, Register
from ptxgen.ir.flow import Flow, NaturalLoop, immediate_dominators, natural_loops
from ptxgen.verify.body import CALL, states
from ptxgen.verify.values import Pointer, Values

_INIT, _INVAL = "mbarrier.init", "mbarrier.inval"
_WAITS = ("mbarrier.try_wait", "mbarrier.test_wait")
_COUNTED = "mbarrier::complete_tx::bytes"


def barrier_findings(values: Values) -> Iterator[Finding]:
    """`mbarrier.init`, `copy.expected`, `result.unused` and `parity.constant`."""
    body = values.body
    if body.function.kind is FunctionKind.ENTRY:
        yield from _initialised(values)
        yield from _expected(values)
    yield from _heeded(values)
    yield from _phases(values)


def _at(instruction: Instruction, code: str, message: str) -> Finding:
    return Finding(code, Severity.ERROR, f"{instruction.form.name}: {message}", instruction.origin)


def _initialised(values: Values) -> Iterator[Finding]:
    """Uses of mbarriers that nothing has initialised, or that an invalidation has reached.

    Another warp may have initialised it, so an initialisation counts that stands before on a path or on another path;
    one that every path reaches behind the use does not.
    """
    body = values.body
    instructions = body.flow.instructions
    uses = {
        index: operand
        for opcode, indices in body.by_opcode.items()
        if opcode.startswith("mbarrier.") and opcode != _INIT
        for index in indices
        if (operand := _barrier(instructions[index])) is not None
    }
    if not uses:
        return
    made = frozenset(body.by_opcode.get(_INIT, ())) | frozenset(
        index for index in body.calls if _may_initialise(values, index)
    )
    places = {
        index: _place(values, instructions[index].operands[0], index) for index in made if index not in body.calls
    }

    ends = {index: _place(values, instructions[index].operands[0], index) for index in body.by_opcode.get(_INVAL, ())}

    def after(facts: frozenset[int], index: int) -> frozenset[int]:
        gone = ends.get(index)
        if gone is not None and instructions[index].guard is None:
            return frozenset(each for each in facts if places.get(each) != gone) | {index}
        if index in made and facts.intersection(ends):
            facts = frozenset(each for each in facts if each not in ends or ends[each] != places.get(index))
        return facts | {index} if index in made else facts

    nearest = immediate_dominators(body.flow)
    for index, facts in states(body.flow, frozenset(), after, made | ends.keys(), uses):
        place = _place(values, uses[index], index)
        known = [each for each in facts if each in made]
        if not any(place is not None and ends.get(each) == place for each in facts):
            known += [each for each in made if not _comes_first(body.flow, nearest, index, each)]
        if not any(_may_be(place, places.get(each)) for each in known):
            yield _at(instructions[index], "mbarrier.init", f"no mbarrier.init precedes it for {uses[index].text}")


def _comes_first(flow: Flow, nearest: tuple[int | None, ...], one: int, other: int) -> bool:
    """True if every path to the instruction `other` passes `one` before."""
    above, below = flow.block_of(one), flow.block_of(other)
    if above == below:
        return one < other
    reached: int | None = below
    while reached is not None and reached != above:
        reached = nearest[reached]
    return reached == above


def _may_initialise(values: Values, index: int) -> bool:
    effects = values.effects_at(index)
    return not effects.known or any(form.opcode == _INIT for form in effects.forms)


def _barrier(instruction: Instruction) -> Address | None:
    """The mbarrier in this CTA's shared memory that an instruction uses."""
    if instruction.form.words.get("space") not in ("shared", "shared::cta"):
        return None
    return next((each for each in instruction.operands if isinstance(each, Address)), None)


def _place(values: Values, operand: Operand, index: int) -> Pointer | None:
    if not isinstance(operand, Address):
        return None
    found = values.pointer(operand.base, index)
    return None if found is None else Pointer(found.variable, found.offset + operand.offset)


def _may_be(first: Pointer | None, second: Pointer | None) -> bool:
    if first is None or second is None:
        return True
    return first.variable is second.variable and first.offset == second.offset


def _expected(values: Values) -> Iterator[Finding]:
    """Copies that tell an mbarrier of bytes, where a kernel makes its barriers and nothing in it expects any."""
    if _INIT not in values.body.by_opcode:
        return
    counting = [
        index
        for opcode, indices in values.body.by_opcode.items()
        if opcode.startswith("cp.")
        for index in indices
        if _COUNTED in values.body.flow.instructions[index].form.name
    ]
    if counting and values.effects.known and not any(map(_expects, values.effects.forms)):
        first = values.body.flow.instructions[min(counting)]
        yield _at(first, "copy.expected", "no mbarrier is told to expect its bytes (expect_tx)")


def _expects(form: Form) -> bool:
    return "expect_tx" in form.name


def _heeded(values: Values) -> Iterator[Finding]:
    """Waits whose answer nothing reads."""
    waits = [index for opcode in _WAITS for index in values.body.by_opcode.get(opcode, ())]
    if not waits:
        return
    read = {number for step in values.body.steps for number in step.reads}
    for index in waits:
        if not read.intersection(values.body.steps[index].writes):
            instruction = values.body.flow.instructions[index]
            yield _at(instruction, "result.unused", "nothing looks at its answer, so that nothing is waited for")


def _phases(values: Values) -> Iterator[Finding]:
    """Waits for one phase of one mbarrier in every round of a loop."""
    body = values.body
    waits = [
        index
        for opcode in _WAITS
        for index in body.by_opcode.get(opcode, ())
        if body.flow.instructions[index].form.has("parity")
        and values.constant(body.flow.instructions[index].operands[2], index) in (0, 1)
    ]
    loops = natural_loops(body.flow) if waits else ()
    for index in waits:
        for loop in loops:
            if _same_phase(values, index, loop):
                parity = values.constant(body.flow.instructions[index].operands[2], index)
                message = f"every round of a loop waits for phase {parity}; phases alternate"
                yield _at(body.flow.instructions[index], "parity.constant", message)
                break


def _same_phase(values: Values, index: int, loop: NaturalLoop) -> bool:
    """True if a loop around the spinning on a wait waits for no other phase of a barrier that stays the same in it."""
    body = values.body
    block = body.flow.block_of(index)
    if block not in loop.blocks or _spins(values, index, loop):
        return False
    inside = [
        each for number in loop.blocks for each in range(body.flow.blocks[number].start, body.flow.blocks[number].stop)
    ]
    instructions = body.flow.instructions
    address = _barrier(instructions[index])
    if address is None or any(instructions[each].form.opcode in (_INIT, _INVAL, CALL) for each in inside):
        return False
    if isinstance(address.base, Register):
        number = body.numbers.number(address.base)
        if any(number in body.steps[each].writes for each in inside):
            return False
    waits = [each for each in inside if instructions[each].form.opcode in _WAITS and each != index]
    return not any(_another(values, each, index) for each in waits)


def _another(values: Values, other: int, index: int) -> bool:
    """True if another wait may be for the other phase of the same barrier."""
    instructions = values.body.flow.instructions
    one, two = instructions[index], instructions[other]
    first, second = _place(values, one.operands[1], index), _place(values, two.operands[1], other)
    if not _may_be(first, second):
        return False
    return not two.form.has("parity") or values.constant(two.operands[2], other) != values.constant(
        one.operands[2], index
    )


def _spins(values: Values, index: int, loop: NaturalLoop) -> bool:
    """True if the answer of the wait decides whether the loop is left."""
    flow = values.body.flow
    for number in loop.blocks:
        block = flow.blocks[number]
        if all(each in loop.blocks for each in block.successors):
            continue
        last = flow.instructions[block.stop - 1]
        if last.guard is not None and index in values.makers(last.guard.register, block.stop - 1):
            return True
    return False
