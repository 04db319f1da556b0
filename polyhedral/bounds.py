"""How one region of a loop level becomes a loop: bounds, levels with one value, unrolling."""

from __future__ import annotations

from functools import lru_cache
from operator import neg

from attrs import evolve, frozen

from polyhedral.affine import Affine, FloorDiv, var
from polyhedral.extent import at_least, at_most
from polyhedral.part import Part
from polyhedral.quotients import definition
from polyhedral.rows import Row
from polyhedral.strides import Stride, residue_of
from polyhedral.system import UNIVERSE, System, disjoint
from polyhedral.tree import Bound, Term


@frozen
class Copies:
    """The values of a level written out: `count` from `first` by `step`; `first` may use the quotient `named`."""

    first: Affine
    count: int
    step: int
    named: tuple[str, FloorDiv] | None = None

    @property
    def definition(self) -> System:
        """What `named` stands for."""
        return UNIVERSE if self.named is None else definition(*self.named)

    @property
    def values(self) -> list[Affine]:
        """The values in ascending order, as expressions of what is outside."""
        return [self.first + k * self.step for k in range(self.count)]


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


class Unbounded(ValueError):
    """A level has no bound on one side, `lower` or `upper`."""


@lru_cache(maxsize=1 << 12)
def shape_of(rows: System, level: str, stride: Stride, known: System) -> Range | Copies:
    """What the rows make of the level where `known` holds; a level with one value behind a step is one copy.

    Raises Unbounded with the name of the side that has no bound.
    """
    one = _only_value(rows, level)
    if one is not None:
        return _one(level, one)
    lower, upper = rows.bounds(level)
    if not lower or not upper:
        raise Unbounded("lower" if not lower else "upper")
    shape = Range(
        _in_order([_aligned(a, d, stride, known) for a, d in lower]),
        _in_order([Term(a, d) for a, d in upper]),
        stride.step,
    )
    return _only_step(shape, rows, level, stride, known) or shape


def _in_order(terms: list[Term]) -> Bound:
    return tuple(terms) if len(terms) == 1 else tuple(sorted(terms, key=str))


def _only_step(shape: Range, rows: System, level: str, stride: Stride, known: System) -> Copies | None:
    """The one value of a level that no row says, where it is a bound rounded or the first step of a wider range."""
    from_upper = stride.step == 1 and all(t.divisor != 1 for t in shape.upper)
    from_lower = stride.step > 1 or all(t.divisor != 1 for t in shape.lower)
    around = known & rows if from_upper or from_lower else known
    if from_upper:
        for term in shape.upper:
            if not _grows_without_end(term.affine, around) and disjoint(
                around, System.of(var(level) * term.divisor <= term.affine - term.divisor)
            ):
                return _one(level, FloorDiv(term.affine, term.divisor))
    if from_lower:
        for term in shape.lower:
            if term.scale == 1 and term.divisor > 1:
                beyond = (var(level) - term.offset - stride.step) * term.divisor >= term.affine
                if disjoint(around, System.of(beyond)):
                    return evolve(_start(term, level, known), count=1, step=stride.step)
                continue
            start = _start(term, level, known)
            inside = around if start.named is None else around & definition(*start.named)
            if disjoint(inside, System.of(var(level) >= start.first + stride.step)):
                return evolve(start, count=1, step=stride.step)
    return None


def _grows_without_end(affine: Affine, known: System) -> bool:
    """Whether one variable takes the expression as far up as wanted, and nothing that is known keeps it from that."""
    for name, coefficient in affine.terms:
        one = next((p for p in known.parts if name in p.visible), None)
        if one is None:
            return True
        column = one.names.index(name)
        is_kept = any(r[column] * coefficient < 0 for r in one.inequalities) or any(r[column] for r in one.equalities)
        if not is_kept:
            return True
    return False


def _one(level: str, value: Affine | FloorDiv) -> Copies:
    """One copy; of a quotient the terms that the divisor divides stand outside."""
    if isinstance(value, Affine):
        return Copies(value, 1, 1)
    whole = {n: c // value.divisor for n, c in value.affine.terms if c % value.divisor == 0}
    if not whole:
        return Copies(var(level), 1, 1, (level, value))
    rest = Affine.of({n: c for n, c in value.affine.terms if n not in whole}, value.affine.constant)
    name = f"{level}_first"
    return Copies(Affine.of({**whole, name: 1}), 1, 1, (name, FloorDiv(rest, value.divisor)))


def _aligned(affine: Affine, divisor: int, stride: Stride, known: System) -> Term:
    if stride.step == 1:
        return Term(affine, divisor)
    apart = affine - stride.residue * divisor
    if divisor == 1:
        behind = residue_of(apart, stride.step, known)
        if behind is not None:
            return Term(affine + -behind % stride.step)
    return Term(apart, divisor * stride.step, stride.step, stride.residue)


def _only_value(rows: System, level: str) -> Affine | FloorDiv | None:
    one = next(p for p in rows.parts if level in p.visible)
    column = one.names.index(level)
    equal = [r for r in one.equalities if r[column] and not any(r[: one.own])]
    for row in sorted(equal, key=lambda r: abs(r[column])):
        value = _rest(one, row, level) * (-1 if row[column] > 0 else 1)
        return value if abs(row[column]) == 1 else FloorDiv(value, abs(row[column]))
    steep = [r for r in one.inequalities if r[column] > 1]
    upper = {r[:-1]: r[-1] for r in one.inequalities if r[column] < 0} if steep else {}
    for row in steep:
        constant = upper.get(tuple(map(neg, row[:-1])))
        if constant is not None and row[-1] + constant < row[column]:
            return FloorDiv(_rest(one, row, level) * -1 + (row[-1] + constant), row[column])
    return None


def _rest(one: Part, row: Row, level: str) -> Affine:
    """A row of a part without the level."""
    return System((one,)).affine(row).substitute({level: 0})


MOST_COPIES = 1 << 12


def unrolled(rows: System, level: str, stride: Stride, known: System) -> Copies:
    """The values of a level that has constantly many where `known` and `rows` hold.

    Raises ValueError where no lower bound is a constant distance from the last value, or there are too many.
    """
    around = known & rows
    best: Copies | None = None
    for affine, divisor in sorted(rows.bounds(level)[0], key=str):
        start = _start(_aligned(affine, divisor, stride, known), level, known)
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


def _start(term: Term, level: str, known: System) -> Copies:
    if term.divisor == 1:
        return Copies(term.affine * term.scale + term.offset, 0, 1)
    low, high = at_least(known, term.affine), at_most(known, term.affine)
    if low is not None and high is not None and -(-low // term.divisor) == -(-high // term.divisor):
        return Copies(term.offset + -(-low // term.divisor) * term.scale, 0, 1)
    name = f"{level}_first"
    quotient = FloorDiv(term.affine + (term.divisor - 1), term.divisor)
    return Copies(var(name) * term.scale + term.offset, 0, 1, (name, quotient))
