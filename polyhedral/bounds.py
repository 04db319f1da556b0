"""How one region of a loop level becomes a loop: bounds, strides, levels with one value, unrolling."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from attrs import evolve, field, frozen

from polyhedral.affine import Affine, Congruence, FloorDiv, var
from polyhedral.extent import at_least, at_most
from polyhedral.quotients import definition
from polyhedral.spelling import is_existential
from polyhedral.system import System
from polyhedral.tree import Bound, Term


@frozen
class Stride:
    """The values that are `residue` modulo `step`; where `step` is 0 only `residue` itself."""

    step: int = 1
    residue: Affine = field(factory=Affine)

    def joined(self, other: Stride) -> Stride:
        """The coarsest stride that has the values of both."""
        apart = self.residue - other.residue
        if not apart.is_constant:
            return Stride()
        step = gcd(self.step, other.step, apart.constant)
        return Stride(step, self.residue) if step > 1 else Stride()

    def condition(self, level: str) -> Congruence:
        """The stride as a condition on `level`."""
        return Congruence(var(level) - self.residue, self.step)


def stride_of(system: System, level: str) -> Stride:
    """The coarsest stride of `level` that the congruences of `system` show, 1 where none does."""
    best = Stride()
    if not system.names or not is_existential(system.names[0]):
        return best
    for condition in system.conditions:
        if not isinstance(condition, Congruence) or not condition.affine.coefficient(level):
            continue
        found = _solved(condition, level)
        if found.step > best.step:
            best = found
    return best


def _solved(condition: Congruence, level: str) -> Stride:
    coefficient, modulus = condition.affine.coefficient(level), condition.modulus
    rest = condition.affine.substitute({level: 0})
    common = gcd(coefficient, modulus)
    if any(c % common for _, c in rest.terms) or rest.constant % common:
        return Stride()
    step = modulus // common
    if step == 1:
        return Stride()
    inverse = pow(coefficient // common, -1, step)
    terms = {n: _centred(-c // common * inverse, step) for n, c in rest.terms}
    return Stride(step, Affine.of(terms, (-rest.constant // common * inverse) % step))


def _centred(value: int, modulus: int) -> int:
    value %= modulus
    return value - modulus if value > modulus // 2 else value


@frozen
class One:
    """The level has the one value `value` (at most one where its rows do not hold there)."""

    value: Affine | FloorDiv


@frozen
class Range:
    """The level runs from `lower` to `upper` by `step`."""

    lower: Bound
    upper: Bound
    step: int

    @property
    def divides(self) -> bool:
        """Whether finding the first and last value takes a division, a minimum or a maximum."""
        return len(self.lower) + len(self.upper) > 2 or any(t.divisor != 1 for t in (*self.lower, *self.upper))


def shape_of(rows: System, level: str, stride: Stride, where: str) -> One | Range:
    """What the rows make of the level; raises ValueError naming `where` when one side has no bound."""
    one = _only_value(rows, level)
    if one is not None:
        return One(one)
    lower, upper = rows.bounds(level)
    if not lower or not upper:
        side = "lower" if not lower else "upper"
        raise ValueError(
            f"loop {level} of {where} has no {side} bound: a scan needs domains bounded in every direction"
        )
    bounds = [_aligned(a, d, stride) for a, d in lower]
    return Range(tuple(sorted(bounds, key=str)), tuple(Term(a, d) for a, d in sorted(upper, key=str)), stride.step)


def _aligned(affine: Affine, divisor: int, stride: Stride) -> Term:
    if stride.step == 1:
        return Term(affine, divisor)
    apart = affine - stride.residue * divisor
    if divisor == 1 and all(c % stride.step == 0 for _, c in apart.terms):
        first = -(-apart.constant // stride.step) * stride.step
        return Term(affine + (first - apart.constant))
    return Term(apart, divisor * stride.step, stride.step, stride.residue)


def _only_value(rows: System, level: str) -> Affine | FloorDiv | None:
    column = rows.names.index(level)
    equal = [r for r in rows.equalities if r[column] and not _holds_existential(rows, r)]
    for row in sorted(equal, key=lambda r: abs(r[column])):
        rest = rows.affine(row).substitute({level: 0})
        value = rest * (-1 if row[column] > 0 else 1)
        return value if abs(row[column]) == 1 else FloorDiv(value, abs(row[column]))
    upper = {r[:-1]: r[-1] for r in rows.inequalities if r[column] < 0}
    for row in rows.inequalities:
        constant = upper.get(tuple(-c for c in row[:-1]))
        if row[column] > 1 and constant is not None and row[-1] + constant < row[column]:
            lower = rows.affine(row).substitute({level: 0})
            return FloorDiv(lower * -1 + (row[-1] + constant), row[column])
    return None


def _holds_existential(rows: System, row: Sequence[int]) -> bool:
    return any(c and n.startswith("$") for n, c in zip(rows.names, row, strict=False))


@frozen
class Unrolled:
    """The values of a level written out: `count` from `first` by `step`; `first` may use the quotient `named`."""

    first: Affine
    count: int
    step: int
    named: tuple[str, FloorDiv] | None = None

    @property
    def values(self) -> list[Affine]:
        """The values in ascending order, as expressions of what is outside."""
        return [self.first + k * self.step for k in range(self.count)]


MOST_COPIES = 1 << 12


def unrolled(rows: System, level: str, stride: Stride, known: System) -> Unrolled:
    """The values of a level that has constantly many where `known` and `rows` hold.

    Raises ValueError where no lower bound is a constant distance from the last value, or there are too many.
    """
    around = known & rows
    best: Unrolled | None = None
    for affine, divisor in sorted(rows.bounds(level)[0], key=str):
        start = _start(_aligned(affine, divisor, stride), level, known)
        inside = around if start.named is None else around & definition(*start.named)
        distance = at_most(inside, var(level) - start.first)
        if distance is not None:
            found = evolve(start, count=max(distance // stride.step + 1, 0), step=stride.step)
            if best is None or (found.count, found.named is not None) < (best.count, best.named is not None):
                best = found
    if best is None or best.count > MOST_COPIES:
        raise ValueError(
            f"loop {level} cannot be unrolled: the number of its iterations is not a small constant ({rows})"
        )
    return best


def _start(term: Term, level: str, known: System) -> Unrolled:
    if term.divisor == 1:
        return Unrolled(term.affine * term.scale + term.offset, 0, 1)
    low, high = at_least(known, term.affine), at_most(known, term.affine)
    if low is not None and high is not None and -(-low // term.divisor) == -(-high // term.divisor):
        return Unrolled(term.offset + -(-low // term.divisor) * term.scale, 0, 1)
    name = f"{level}_first"
    quotient = FloorDiv(term.affine + (term.divisor - 1), term.divisor)
    return Unrolled(var(name) * term.scale + term.offset, 0, 1, (name, quotient))
