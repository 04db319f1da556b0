"""Constants that an assembler takes and that mean nothing good: masks, lanes, shifts, divisors, selectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from isa.forms import Form
from isa.operands import OperandSlot
from isa.types import Kind
from ptxgen.errors import Finding, Severity
from ptxgen.ir import Instruction, Int, Operand, signature_of, stands
from ptxgen.verify.values import Values

_LANES = 32
_LANE_BITS = 0x1F1F
_BYTE, _SELECTOR = 0xFF, 0xFFFF
_LONGEST_SLEEP = 1_000_000
Judge = Callable[[Form, int], "tuple[str, str] | None"]


def _mask(form: Form, value: int) -> tuple[str, str] | None:
    return ("mask.empty", "is empty, so that no lane may take part") if not value & 0xFFFFFFFF else None


def _lane(form: Form, value: int) -> tuple[str, str] | None:
    return None if 0 <= value < _LANES else ("lane.range", f"is {value}; a warp has lanes 0 to 31")


def _clamp(form: Form, value: int) -> tuple[str, str] | None:
    return ("lane.range", f"is {value}; bits 0-4 and 8-12 count") if value & ~_LANE_BITS else None


def _shift(form: Form, value: int) -> tuple[str, str] | None:
    bits = form.type_of().bits
    return None if 0 <= value <= bits else ("shift.count", f"is {value}; the value has {bits} bits")


def _byte(form: Form, value: int) -> tuple[str, str] | None:
    return None if 0 <= value <= _BYTE else ("immediate.domain", f"is {value}; wanted 0 to 255")


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
    "shf": {"c": _shift},
    "bfe": {"b": _byte, "c": _byte},
    "bfi": {"c": _byte, "length": _byte},
    "prmt": {"c": _selector},
    "div": {"b": _divisor},
    "rem": {"b": _divisor},
    "mbarrier.try_wait": {"parity": _parity},
    "mbarrier.test_wait": {"parity": _parity},
    "nanosleep": {"t": _sleep},
}
_WARNED = frozenset({"shift.count", "sleep.range", "immediate.unused"})


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
    yield from _copied(values)


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
    for index, step in enumerate(values.body.steps):
        written = step.writes
        if len(written) > 1 and len(set(written)) < len(written):
            instruction = values.body.flow.instructions[index]
            signature = signature_of(instruction.form, instruction.operands)
            twice = values.body.numbers.registers[next(each for each in written if written.count(each) > 1)]
            if signature is not None and all(map(stands, signature.slots, instruction.operands)):
                message = f"{instruction.form.name} writes {twice.name} twice"
                yield Finding("register.repeated", Severity.ERROR, message, instruction.origin)
