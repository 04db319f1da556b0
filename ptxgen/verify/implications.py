"""Predicates that follow from others: comparisons of one value, such as a loop's count and what is left of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeAlias

from attrs import frozen

from isa.types import Kind
from ptxgen.ir import Guard, Instruction, Int, Operand, Register
from ptxgen.verify.values import Values

_MOST, _FAR = 64, 12
_OPPOSITE = {
    "lt": "ge",
    "lo": "hs",
    "le": "gt",
    "ls": "hi",
    "ge": "lt",
    "hs": "lo",
    "gt": "le",
    "hi": "ls",
    "eq": "ne",
    "ne": "eq",
}
_SAME_SIGN: Mapping[str, Callable[[int, int], bool]] = {
    "lt": lambda a, b: a < b, "lo": lambda a, b: a < b, "le": lambda a, b: a <= b, "ls": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "hi": lambda a, b: a > b, "ge": lambda a, b: a >= b, "hs": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
}  # fmt: skip
Terms: TypeAlias = tuple[tuple[tuple[int, tuple[int, ...]], int], ...]


@frozen
class _Sum:
    """`terms`, registers with the instructions that their values come from, each so many times, and a constant."""

    terms: Terms
    constant: int


@frozen
class _Comparison:
    """`setp.cmp.type p, a, b` with a constant b, at an index."""

    cmp: str
    bits: int
    signed: bool
    a: Operand
    b: int
    index: int


class Implications:
    """What else holds where a guard holds, as far as comparisons of one value with constants tell."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._known: dict[Guard, tuple[Guard, ...]] = {}
        self._comparisons: dict[Register, _Comparison] = {}
        for index in values.body.by_opcode.get("setp", ()):
            made = values.body.flow.instructions[index]
            found = self._comparison(made, index)
            if found is not None:
                self._comparisons[made.operands[0]] = found  # type: ignore[index]

    def _comparison(self, made: Instruction, index: int) -> _Comparison | None:
        """The comparison that alone gives a predicate its value."""
        predicate, form = made.operands[0], made.form
        if len(made.operands) != 3 or not isinstance(predicate, Register) or form.type_of().kind is Kind.FLOAT:
            return None
        constant = self._values.constant(made.operands[2], index)
        alone = len(self._values.writers[self._values.body.numbers.number(predicate)]) == 1
        if constant is None or not alone or form.words["cmp"] not in _OPPOSITE:
            return None
        of = form.type_of()
        return _Comparison(form.words["cmp"], of.bits, of.kind is Kind.SIGNED, made.operands[1], constant, index)

    def of(self, guard: Guard) -> tuple[Guard, ...]:
        """The guards on other predicates that hold where `guard` does."""
        if guard not in self._known:
            self._known[guard] = tuple(self._follow(guard))
        return self._known[guard]

    def _follow(self, guard: Guard) -> list[Guard]:
        made = self._comparisons.get(guard.register)
        values = None if made is None else _few(made, guard.negated)
        if made is None or values is None:
            return []
        base = self._sum(made.a, made.index)
        found = []
        for predicate, other in self._comparisons.items():
            if predicate != guard.register and other.bits == made.bits:
                truths = {self._holds(other, base, value) for value in values}
                if truths in ({True}, {False}):
                    found.append(Guard(predicate, truths == {False}))
        return found

    def _holds(self, comparison: _Comparison, base: _Sum, value: int) -> bool | None:
        """Whether a comparison holds where the sum `base` has a value; None where that does not tell."""
        a = self._value(comparison.a, comparison.index, base, value, comparison.bits, _FAR)
        if a is None:
            return None
        b = comparison.b
        if comparison.signed:
            a, b = _signed(a, comparison.bits), _signed(b, comparison.bits)
        else:
            b %= 1 << comparison.bits
        return _SAME_SIGN[comparison.cmp](a, b)

    def _value(self, operand: Operand, index: int, base: _Sum, value: int, bits: int, depth: int) -> int | None:
        """The value of an operand before `index` where `base` has a value: the same sum, or constants applied to it."""
        here = self._sum(operand, index)
        if here.terms == base.terms:
            return (value + here.constant - base.constant) % (1 << bits)
        at = self._values.definition(operand, index) if isinstance(operand, Register) and depth else None
        if at is None:
            return None
        made = self._values.body.flow.instructions[at]
        constant = self._values.constant(made.operands[2], at) if len(made.operands) == 3 else None
        if constant is None or made.form.opcode not in ("and", "shr", "shl", "add", "sub"):
            return None
        inner = self._value(made.operands[1], at, base, value, bits, depth - 1)
        return None if inner is None else _applied(made, inner, constant, bits)

    def _sum(self, operand: Operand, index: int, depth: int = _FAR) -> _Sum:
        """An operand as a sum of registers and a constant, through additions and subtractions."""
        if isinstance(operand, Int):
            return _Sum((), operand.value)
        if not isinstance(operand, Register):
            return _Sum((((-1, (index,)), 1),), 0)
        at = self._values.definition(operand, index)
        made = None if at is None else self._values.body.flow.instructions[at]
        if made is not None and at is not None and depth and made.guard is None:
            if made.form.opcode == "mov":
                return self._sum(made.operands[1], at, depth - 1)
            if made.form.opcode in ("add", "sub") and made.form.type_of().kind is not Kind.FLOAT:
                sign = 1 if made.form.opcode == "add" else -1
                one, two = (self._sum(each, at, depth - 1) for each in made.operands[1:3])
                return _joined(one, two, sign)
        key = self._values.body.numbers.number(operand), self._values.reaching(operand, index)
        return _Sum(((key, 1),), 0)


def _joined(one: _Sum, two: _Sum, sign: int) -> _Sum:
    terms = Counter(dict(one.terms))
    for key, times in two.terms:
        terms[key] += sign * times
    kept = tuple(sorted((key, times) for key, times in terms.items() if times))
    return _Sum(kept, one.constant + sign * two.constant)


def _few(made: _Comparison, negated: bool) -> list[int] | None:
    """The values of the compared operand where the predicate is true, or false; None where they are many."""
    cmp = _OPPOSITE[made.cmp] if negated else made.cmp
    if cmp == "eq":
        return [made.b]
    below = cmp in ("lt", "lo", "le", "ls") and not made.signed
    count = made.b + (cmp in ("le", "ls"))
    return list(range(count)) if below and 0 < count <= _MOST else None


def _applied(made: Instruction, value: int, constant: int, bits: int) -> int:
    match made.form.opcode:
        case "and":
            found = value & constant
        case "shl":
            found = value << constant if 0 <= constant < bits else 0
        case "shr":
            signed = made.form.type_of().kind is Kind.SIGNED
            found = (_signed(value, bits) if signed else value) >> min(max(constant, 0), bits)
        case "add":
            found = value + constant
        case _:
            found = value - constant
    return found % (1 << bits)


def _signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> (bits - 1) else value
