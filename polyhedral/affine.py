"""Integer affine expressions over named variables, and the conditions that compare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen

if TYPE_CHECKING:
    from polyhedral.system import System


@frozen(order=False)
class Affine:
    """A sum of integer multiples of named variables and an integer constant.

    `terms` is sorted by name and holds no zero coefficient, so that `==` is equality of the
    expressions. `<=`, `<`, `>=`, `>` and `.equals` build a `Constraint`; `//` and `%` with a positive
    integer build a `FloorDiv` and a `Remainder`.
    """

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @staticmethod
    def of(coefficients: Mapping[str, int], constant: int = 0) -> Affine:
        """The expression with these coefficients by name (zeros are dropped) and this constant."""
        return Affine(tuple(sorted([(n, c) for n, c in coefficients.items() if c])), constant)

    @staticmethod
    def sum(parts: Iterable[Affine | int]) -> Affine:
        """The sum of expressions and integers; 0 when there are none."""
        total: dict[str, int] = {}
        constant = 0
        for part in parts:
            expression = as_affine(part)
            constant += expression.constant
            for name, coefficient in expression.terms:
                total[name] = total.get(name, 0) + coefficient
        return Affine.of(total, constant)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that occur, sorted."""
        return tuple([name for name, _ in self.terms])

    @property
    def is_constant(self) -> bool:
        """Whether no variable occurs."""
        return not self.terms

    def coefficient(self, name: str) -> int:
        """The coefficient of `name`, 0 where it does not occur."""
        return dict(self.terms).get(name, 0)

    def substitute(self, values: Mapping[str, Affine | int]) -> Affine:
        """The expression with each name of `values` replaced, all at once."""
        total: dict[str, int] = {}
        constant, same = self.constant, True
        for name, coefficient in self.terms:
            value = values.get(name)
            if value is None:
                total[name] = total.get(name, 0) + coefficient
                continue
            same = False
            if isinstance(value, int):
                constant += coefficient * value
                continue
            constant += coefficient * value.constant
            for other, factor in value.terms:
                total[other] = total.get(other, 0) + coefficient * factor
        return self if same else Affine.of(total, constant)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The integer value; raises KeyError naming a variable that `values` lacks."""
        return self.constant + sum(c * values[n] for n, c in self.terms)

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.terms, self.constant + other)
        if not isinstance(other, Affine):
            return NotImplemented
        return Affine.sum((self, other))

    __radd__ = __add__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.terms, self.constant - other)
        if not isinstance(other, Affine):
            return NotImplemented
        return self._less(other, 0)

    def _less(self, other: Affine, more: int) -> Affine:
        """The difference, and `more` taken off as well."""
        if not other.terms:
            return Affine(self.terms, self.constant - other.constant - more)
        total = dict(self.terms)
        for name, coefficient in other.terms:
            total[name] = total.get(name, 0) - coefficient
        return Affine.of(total, self.constant - other.constant - more)

    def __rsub__(self, other: int) -> Affine:
        return -self + other

    def __mul__(self, factor: int) -> Affine:
        if not isinstance(factor, int):
            raise TypeError(f"an affine expression is multiplied by an integer, not by {factor!r}")
        if factor == 0:
            return Affine()
        return Affine(tuple([(n, c * factor) for n, c in self.terms]), self.constant * factor)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> FloorDiv:
        return FloorDiv(self, divisor)

    def __mod__(self, modulus: int) -> Remainder:
        return Remainder(self, modulus)

    def __ge__(self, other: Affine | int) -> Constraint:
        return Constraint(self - other)

    def __le__(self, other: Affine | int) -> Constraint:
        return Constraint(as_affine(other) - self)

    def __gt__(self, other: Affine | int) -> Constraint:
        return Constraint(self._less(as_affine(other), 1))

    def __lt__(self, other: Affine | int) -> Constraint:
        return Constraint(as_affine(other)._less(self, 1))

    def equals(self, other: Affine | int) -> Constraint:
        """The condition that both expressions have the same value (`==` compares their spelling)."""
        return Constraint(self - other, equality=True)

    def __str__(self) -> str:
        text = ""
        for name, coefficient in self.terms:
            sign = "-" if coefficient < 0 else "+"
            size = name if abs(coefficient) == 1 else f"{abs(coefficient)}*{name}"
            text += f" {sign} {size}" if text else (f"-{size}" if coefficient < 0 else size)
        if not text:
            return str(self.constant)
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text


@frozen
class Constraint:
    """`affine >= 0`, or `affine == 0` where `equality` is set. It has no truth value."""

    affine: Affine
    equality: bool = False

    def negated(self) -> Constraint:
        """The inequality that holds exactly where this one does not; refuses an equality."""
        if self.equality:
            raise ValueError(f"the negation of the equality {self} is two inequalities, not one")
        return Constraint(-self.affine - 1)

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it holds at these values; raises KeyError naming a variable that they lack."""
        value = self.affine.evaluate(values)
        return value == 0 if self.equality else value >= 0

    def substitute(self, values: Mapping[str, Affine | int]) -> Constraint:
        """The condition with each name of `values` replaced, all at once."""
        return Constraint(self.affine.substitute(values), self.equality)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that occur, sorted."""
        return self.affine.names

    def __and__(self, other: Condition | System) -> System:
        from polyhedral.system import System

        return System.of(self, other)

    def __bool__(self) -> bool:
        raise TypeError(
            f"the condition {self} has no truth value: a chain such as 0 <= i < n is written (0 <= i) & (i < n), "
            "and expressions are compared for equality with .equals()"
        )

    def __str__(self) -> str:
        left = Affine(tuple(t for t in self.affine.terms if t[1] > 0), max(self.affine.constant, 0))
        right = left - self.affine
        return f"{left} {'==' if self.equality else '>='} {right}"


def _positive(instance: object, attribute: object, value: int) -> None:
    if not isinstance(value, int):
        raise TypeError(f"a divisor is a positive integer, not the {type(value).__name__} {value}")
    if value < 1:
        raise ValueError(f"a divisor is a positive integer, not {value!r}")


@frozen
class FloorDiv:
    """The integer quotient floor(affine / divisor)."""

    affine: Affine
    divisor: int = field(validator=_positive)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The integer value at these values."""
        return self.affine.evaluate(values) // self.divisor

    def substitute(self, values: Mapping[str, Affine | int]) -> FloorDiv:
        """The quotient with each name of `values` replaced in the dividend."""
        return FloorDiv(self.affine.substitute(values), self.divisor)

    def __str__(self) -> str:
        return f"floor(({self.affine})/{self.divisor})"


@frozen(eq=False)
class Remainder:
    """`affine` modulo `modulus`, in [0, modulus); compared with an integer it gives a `Congruence`."""

    affine: Affine
    modulus: int = field(validator=_positive)

    def equals(self, residue: Affine | int) -> Congruence:
        """The condition that the remainder of `affine` is that of `residue`."""
        return congruent(self.affine, self.modulus, residue)

    def __eq__(self, residue: object) -> Congruence:  # type: ignore[override]
        if not isinstance(residue, (Affine, int)):
            raise TypeError(f"a remainder is compared with an expression or an integer, not {residue!r}")
        return self.equals(residue)

    __hash__ = None  # type: ignore[assignment]


@frozen
class Congruence:
    """`affine` is a multiple of `modulus`. It has no truth value."""

    affine: Affine
    modulus: int = field(validator=_positive)

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it holds at these values; raises KeyError naming a variable that they lack."""
        return self.affine.evaluate(values) % self.modulus == 0

    def substitute(self, values: Mapping[str, Affine | int]) -> Congruence:
        """The condition with each name of `values` replaced, all at once."""
        return Congruence(self.affine.substitute(values), self.modulus)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that occur, sorted."""
        return self.affine.names

    def __and__(self, other: Condition | System) -> System:
        from polyhedral.system import System

        return System.of(self, other)

    def __bool__(self) -> bool:
        raise TypeError(f"the condition {self} has no truth value: conditions are joined with &")

    def __str__(self) -> str:
        return f"({self.affine}) mod {self.modulus} == 0"


Condition: TypeAlias = Constraint | Congruence


ZERO = Affine()


@lru_cache(maxsize=1 << 12)
def var(name: str) -> Affine:
    """The expression that is the variable `name`."""
    if not name or type(name) is not str:
        raise ValueError(f"a variable is called by a text that is not empty, not by {name!r}")
    return Affine(((name, 1),), 0)


def const(value: int) -> Affine:
    """The expression that is the integer `value`."""
    return Affine((), value)


def as_affine(value: Affine | int) -> Affine:
    """`value` itself, or the constant expression of an integer."""
    if isinstance(value, Affine):
        return value
    if isinstance(value, int):
        return Affine((), value)
    raise TypeError(f"wanted an affine expression or an integer, got {value!r}")


def congruent(affine: Affine | int, modulus: int, residue: Affine | int = 0) -> Congruence:
    """The condition that `affine` and `residue` differ by a multiple of `modulus`."""
    return Congruence(as_affine(affine) - residue, modulus)
