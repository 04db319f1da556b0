"""Constants that an assembler takes and that mean nothing good: masks, lanes, shifts, divisors, selectors."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeAlias

from isa.forms import Form
from isa.operands import OperandKind, OperandSlot
from isa.types import Kind
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Float, Instruction, Int, Operand, Register, signature_of, signatures_of_length, stands
from ptxgen.verify.values import Values

_LANES = 32
_LANE_BITS = 0x1F1F
_BYTE, _SELECTOR = 0xFF, 0xFFFF
_LONGEST_SLEEP = 1_000_000
_COMPARED = 3
_EXPONENTS = {32: 0x7F800000, 64: 0x7FF0000000000000}
Judge: TypeAlias = Callable[[Form, int], tuple[str, str] | None]


def _mask(form: Form, value: int) -> tuple[str, str] | None:
    return ("mask.empty", "is empty, so that no lane may take part") if not value & 0xFFFFFFFF else None


def _lane(form: Form, value: int) -> tuple[str, str] | None:
    return None if 0 <= value < _LANES else ("lane.range", f"is {value}; a warp has lanes 0 to 31")


def _clamp(form: Form, value: int) -> tuple[str, str] | None:
    return ("lane.range", f"is {value}; bits 0-4 and 8-12 count") if value & ~_LANE_BITS else None


def _shift(form: Form, value: int) -> tuple[str, str] | None:
    bits = form.type_of().bits
    return None if 0 <= value <= bits else ("shift.count", f"is {value}; the value has {bits} bits")


def _funnel(form: Form, value: int) -> tuple[str, str] | None:
    """`.wrap` takes the count modulo 32."""
    return _shift(form, value) if form.words["mode"] == "clamp" else None


def _byte(form: Form, value: int) -> tuple[str, str] | None:
    return None if 0 <= value <= _BYTE else ("immediate.domain", f"is {value}; wanted 0 to 255")


def _field(form: Form, value: int) -> tuple[str, str] | None:
    if not 0 <= value <= _BYTE:
        return _byte(form, value)
    bits = form.type_of().bits
    return None if value < bits else ("field.range", f"is {value}; the value has bits 0 to {bits - 1}")


def _length(form: Form, value: int) -> tuple[str, str] | None:
    if not 0 <= value <= _BYTE:
        return _byte(form, value)
    return None if value else ("field.range", "is 0, so that the field has no bits")


def _selector(form: Form, value: int) -> tuple[str, str] | None:
    return None if 0 <= value <= _SELECTOR else ("immediate.unused", f"is {value}; only 16 bits of it count")


def _divisor(form: Form, value: int) -> tuple[str, str] | None:
    return ("divisor.zero", "is 0") if value == 0 and form.type_of().kind is not Kind.FLOAT else None


def _parity(form: Form, value: int) -> tuple[str, str] | None:
    wrong = form.has("parity") and value not in (0, 1)
    return ("parity.range", f"is {value}; a phase is 0 or 1") if wrong else None


def _sleep(form: Form, value: int) -> tuple[str, str] | None:
    longer = value > _LONGEST_SLEEP
    return ("sleep.range", f"is {value} ns; nobody sleeps longer than {_LONGEST_SLEEP} ns") if longer else None


_JUDGES: dict[str, dict[str, Judge]] = {
    "shfl": {"b": _lane, "c": _clamp, "membermask": _mask},
    "vote": {"membermask": _mask},
    "match": {"membermask": _mask},
    "redux.sync": {"membermask": _mask},
    "elect.sync": {"membermask": _mask},
    "bar.warp.sync": {"membermask": _mask},
    "shl": {"b": _shift},
    "shr": {"b": _shift},
    "shf": {"c": _funnel},
    "bfe": {"b": _field, "c": _length},
    "bfi": {"c": _field, "length": _length},
    "prmt": {"c": _selector},
    "div": {"b": _divisor},
    "rem": {"b": _divisor},
    "mbarrier.try_wait": {"parity": _parity},
    "mbarrier.test_wait": {"parity": _parity},
    "nanosleep": {"t": _sleep},
}
_WARNED = frozenset({"shift.count", "sleep.range", "immediate.unused", "field.range"})


def constant_findings(values: Values) -> Iterator[Finding]:
    """The findings on constants, written in place or moved into a register that nothing else writes."""
    body = values.body
    for opcode, judges in _JUDGES.items():
        for index in body.by_opcode.get(opcode, ()):
            instruction = body.flow.instructions[index]
            for slot, operand in _slots(instruction):
                judge = judges.get(slot.name)
                value = None if judge is None else values.constant(operand, index)
                wrong = None if judge is None or value is None else judge(instruction.form, value)
                if wrong is not None:
                    severity = Severity.WARNING if wrong[0] in _WARNED else Severity.ERROR
                    message = f"{instruction.form.name}: {slot.name} {wrong[1]}"
                    yield Finding(wrong[0], severity, message, instruction.origin)
    yield from _fractions(values)
    yield from _copied(values)
    yield from _compared(values)
    yield from _moved(values)


def _fractions(values: Values) -> Iterator[Finding]:
    """Shares of a cache policy that are none: more than all, or nothing."""
    for index in values.body.by_opcode.get("createpolicy", ()):
        instruction = values.body.flow.instructions[index]
        last = instruction.operands[-1]
        if instruction.form.has("fractional") and isinstance(last, Float):
            code, width = ("<f", 4) if last.type.bits == 32 else ("<d", 8)
            (share,) = struct.unpack(code, last.bits.to_bytes(width, "little"))
            if not 0 < share <= 1:
                message = f"{instruction.form.name}: the fraction is {share:g}; wanted more than 0, at most 1"
                yield Finding("immediate.domain", Severity.ERROR, message, instruction.origin)


def _compared(values: Values) -> Iterator[Finding]:
    """Comparisons of unsigned values and 0, and of anything and a NaN, whose outcome is known."""
    body = values.body
    for index in body.by_opcode.get("setp", ()):
        instruction = body.flow.instructions[index]
        last = instruction.operands[-1]
        form = instruction.form
        if len(instruction.operands) != _COMPARED or not isinstance(last, Int | Float):
            continue
        always = None
        if isinstance(last, Float):
            exponent = _EXPONENTS[last.type.bits]
            if last.bits & exponent == exponent and last.bits & ((exponent & -exponent) - 1):
                always = form.words["cmp"].endswith("u") or form.words["cmp"] == "nan"
        elif not last.value and form.type_of().kind is Kind.UNSIGNED:
            always = {"lt": False, "lo": False, "ge": True, "hs": True}.get(form.words["cmp"])
        if always is not None:
            message = f"{form.name} with {last.text} is always {'true' if always else 'false'}"
            yield Finding("comparison.constant", Severity.WARNING, message, instruction.origin)


def _moved(values: Values) -> Iterator[Finding]:
    """Constants in registers that the operand would not take as they stand."""
    body = values.body
    asked = frozenset(filter(_is_bounded, body.forms))
    every = enumerate(body.flow.instructions) if asked else ()
    for index, instruction in [each for each in every if each[1].form in asked]:
        for slot, place in _bounded(instruction.form, len(instruction.operands)):
            operand = instruction.operands[place]
            value = values.constant(operand, index) if isinstance(operand, Register) else None
            if value is not None and slot.domain is not None and not slot.domain.holds(value):
                message = f"{instruction.form.name}: {slot.name} is {value}; wanted {slot.domain}"
                yield Finding("immediate.domain", Severity.ERROR, message, instruction.origin)


def _is_bounded(form: Form) -> bool:
    return any(_bounded(form, len(signature.slots)) for signature in form.signatures)


@cache
def _bounded(form: Form, count: int) -> tuple[tuple[OperandSlot, int], ...]:
    """The operands that may be registers and have a domain, with their places."""
    signatures = signatures_of_length(form, count)
    if len(signatures) != 1:
        return ()
    slots = enumerate(signatures[0].slots)
    return tuple((slot, place) for place, slot in slots if slot.domain is not None and slot.kind is OperandKind.VALUE)


def _copied(values: Values) -> Iterator[Finding]:
    body = values.body
    for index in body.by_opcode.get("cp.async", ()):
        instruction = body.flow.instructions[index]
        found = {slot.name: operand for slot, operand in _slots(instruction)}
        whole, part = found.get("bytes"), found.get("source_bytes")
        if isinstance(whole, Int) and isinstance(part, Int) and part.value > whole.value:
            message = f"{instruction.form.name} reads {part.value} bytes for {whole.value}"
            yield Finding("copy.bytes", Severity.ERROR, message, instruction.origin)


def _slots(instruction: Instruction) -> Iterator[tuple[OperandSlot, Operand]]:
    signature = signature_of(instruction.form, instruction.operands)
    if signature is not None:
        yield from zip(signature.slots, instruction.operands, strict=False)


def repeated_findings(values: Values) -> Iterator[Finding]:
    """The findings on registers that one instruction writes twice, so that nobody knows which value stays."""
    repeated = {written for written in {step.writes for step in values.body.steps} if len(set(written)) < len(written)}
    for index, step in enumerate(values.body.steps if repeated else ()):
        written = step.writes
        if written in repeated:
            instruction = values.body.flow.instructions[index]
            signature = signature_of(instruction.form, instruction.operands)
            twice = values.body.numbers.registers[next(each for each in written if written.count(each) > 1)]
            if signature is not None and all(map(stands, signature.slots, instruction.operands)):
                message = f"{instruction.form.name} writes {twice.name} twice"
                yield Finding("register.repeated", Severity.ERROR, message, instruction.origin)
