"""The values of a level that go in steps, as its congruences say."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from attrs import frozen

from polyhedral.affine import ZERO, Affine, Congruence, FloorDiv, var
from polyhedral.quotients import definition
from polyhedral.spelling import is_existential
from polyhedral.system import System


@frozen
class Part:
    """`name` is `dividend` / `divisor`, which holds no values of the level where it is no integer."""

    name: str
    dividend: Affine
    divisor: int

    @property
    def condition(self) -> System:
        """That there is no remainder."""
        return System.of(Congruence(self.dividend, self.divisor))

    @property
    def quotient(self) -> FloorDiv:
        """What the name stands for."""
        return FloorDiv(self.dividend, self.divisor)

    @property
    def known(self) -> System:
        """What holds of the name."""
        return self.condition & definition(self.name, self.quotient)


@frozen
class Stride:
    """The values that are `residue` modulo `step`; where `step` is 0 only `residue` itself.

    The residue may use the name of `part`.
    """

    step: int = 1
    residue: Affine = ZERO
    part: Part | None = None

    def joined(self, other: Stride, known: System) -> Stride:
        """The coarsest stride found that has the values of both where `known` holds."""
        if self == other:
            return self
        step = gcd(self.step, other.step)
        if self.part is not None or other.part is not None or step == 1:
            return Stride()
        apart = residue_of(self.residue - other.residue, step, known)
        step = 1 if apart is None else gcd(step, apart)
        return Stride(step, min((self.residue, other.residue), key=lambda r: len(r.terms))) if step > 1 else Stride()

    def condition(self, level: str) -> Congruence:
        """The stride as a condition on `level`."""
        return Congruence(var(level) - self.residue, self.step)


EVERY_VALUE = Stride()


def residue_of(affine: Affine, modulus: int, known: System) -> int | None:
    """The constant remainder of `affine` by `modulus` (itself where that is 0) that `known` shows, None where none."""
    if affine.is_constant or modulus == 0:
        return affine.constant if affine.is_constant else None
    total = affine.constant
    for name, coefficient in affine.terms:
        own = modulus // gcd(coefficient, modulus)
        if own > 1:
            stride = stride_of(known, name)
            if stride.step % own or not stride.residue.is_constant:
                return None
            total += coefficient * stride.residue.constant
    return total % modulus


def stride_of(system: System, level: str) -> Stride:
    """The coarsest stride of `level` that the congruences of `system` show, 1 where none does."""
    best = Stride()
    for congruence in _congruences(system, level):
        found = _solved(congruence, level)
        if (found.step, found.part is None) > (best.step, best.part is None):
            best = found
    return best


def _congruences(system: System, level: str) -> Iterator[Congruence]:
    if not system.names or not is_existential(system.names[0]) or level not in system.names:
        return
    own, column = len(system.exists), system.names.index(level)
    for row in system.equalities:
        held = [k for k in range(own) if row[k]]
        if len(held) == 1 and row[column] and not any(r[held[0]] for r in _others(system, row)):
            rest = {n: c for n, c in zip(system.names[own:], row[own:-1], strict=True) if c}
            yield Congruence(Affine.of(rest, row[-1]), abs(row[held[0]]))


def _others(system: System, row: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return (r for r in system.equalities + system.inequalities if r is not row)


def _solved(condition: Congruence, level: str) -> Stride:
    coefficient, modulus = condition.affine.coefficient(level), condition.modulus
    rest = condition.affine.substitute({level: 0})
    common = gcd(coefficient, modulus)
    step = modulus // common
    if step == 1:
        return Stride()
    part = None
    if any(c % common for _, c in rest.terms) or rest.constant % common:
        part = Part(f"{level}_part", rest, common)
        rest, common_of_rest = var(part.name), 1
    else:
        common_of_rest = common
    inverse = pow(coefficient // common, -1, step)
    terms = {n: _centred(-c // common_of_rest * inverse, step) for n, c in rest.terms}
    return Stride(step, Affine.of(terms, (-rest.constant // common_of_rest * inverse) % step), part)


def _centred(value: int, modulus: int) -> int:
    value %= modulus
    return value - modulus if value > modulus // 2 else value
