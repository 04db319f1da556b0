"""How many points a set has: listed, and in closed form where each level is a plain range."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb

from attrs import frozen

from polyhedral.affine import Affine
from polyhedral.difference import difference
from polyhedral.sets import Set
from polyhedral.system import System


def count(points: Set, params: Mapping[str, int] | None = None) -> int:
    """The number of points at these parameters; raises ValueError where a dimension has no bound."""
    return sum(1 for _ in points.points(params))


@frozen
class Polynomial:
    """A sum of rational multiples of products of powers: `terms` from sorted (name, power) pairs to the multiple."""

    terms: tuple[tuple[tuple[tuple[str, int], ...], Fraction], ...] = ()

    @staticmethod
    def of(terms: Mapping[tuple[tuple[str, int], ...], Fraction]) -> Polynomial:
        """The polynomial of these terms; zeros are dropped."""
        return Polynomial(tuple(sorted((k, v) for k, v in terms.items() if v)))

    @staticmethod
    def of_affine(affine: Affine) -> Polynomial:
        """An expression as a polynomial."""
        found: dict[tuple[tuple[str, int], ...], Fraction] = {((n, 1),): Fraction(c) for n, c in affine.terms}
        return Polynomial.of({**found, (): Fraction(affine.constant)})

    def __add__(self, other: Polynomial) -> Polynomial:
        found = dict(self.terms)
        for key, value in other.terms:
            found[key] = found.get(key, Fraction(0)) + value
        return Polynomial.of(found)

    def scaled(self, factor: Fraction) -> Polynomial:
        """The polynomial times a number."""
        return Polynomial.of({k: v * factor for k, v in self.terms})

    def __mul__(self, other: Polynomial) -> Polynomial:
        found: dict[tuple[tuple[str, int], ...], Fraction] = {}
        for one, a in self.terms:
            for two, b in other.terms:
                powers = dict(one)
                for name, power in two:
                    powers[name] = powers.get(name, 0) + power
                key = tuple(sorted(powers.items()))
                found[key] = found.get(key, Fraction(0)) + a * b
        return Polynomial.of(found)

    def coefficients(self, name: str) -> list[Polynomial]:
        """The polynomials without `name` by which its powers 0, 1, ... are multiplied."""
        most = max((dict(k).get(name, 0) for k, _ in self.terms), default=0)
        parts: list[dict[tuple[tuple[str, int], ...], Fraction]] = [{} for _ in range(most + 1)]
        for key, value in self.terms:
            rest = tuple((n, p) for n, p in key if n != name)
            parts[dict(key).get(name, 0)][rest] = value
        return [Polynomial.of(p) for p in parts]

    def substitute(self, name: str, value: Polynomial) -> Polynomial:
        """The polynomial with `name` replaced."""
        result, power = Polynomial(), Polynomial.of({(): Fraction(1)})
        for part in self.coefficients(name):
            result = result + part * power
            power = power * value
        return result

    def evaluate(self, params: Mapping[str, int]) -> Fraction:
        """Its value."""
        total = Fraction(0)
        for key, value in self.terms:
            for name, power in key:
                value *= params[name] ** power
            total += value
        return total

    def __str__(self) -> str:
        parts = []
        for key, value in reversed(self.terms):
            powers = "*".join(n if p == 1 else f"{n}^{p}" for n, p in key)
            parts.append(f"{value}*{powers}" if powers and value != 1 else powers or str(value))
        return " + ".join(parts) or "0"


@frozen
class CountPiece:
    """Where `domain` holds, a system over the parameters, there are `number` points."""

    domain: System
    number: Polynomial


def counted(points: Set) -> tuple[CountPiece, ...]:
    """The number of points in closed form: pieces whose domains do not meet; where none holds there are no points.

    Each piece of the set must be a box or a simple polytope: every dimension, the last first, a range from one
    expression to another with coefficients 1, once it is cut where the expressions that bound it change places.
    ValueError names the dimension where a divisor or a congruence is in the way.
    """
    found: list[CountPiece] = []
    one = Polynomial.of({(): Fraction(1)})
    for piece in points.disjoint().pieces:
        found += _summed(piece.simplified(), points.dims, one)
    return _added(found)


def _summed(system: System, dims: tuple[str, ...], number: Polynomial) -> list[CountPiece]:
    if system.is_empty():
        return []
    if not dims:
        return [CountPiece(system, number)]
    name = dims[-1]
    value = system.solved_for(name)
    if value is not None:
        left = system.substitute({name: value})
        return _summed(left, dims[:-1], number.substitute(name, Polynomial.of_affine(value)))
    lower, upper = system.bounds(name)
    if system.exists or any(d != 1 for _, d in (*lower, *upper)):
        raise ValueError(f"the points over {name} have no plain closed form: its bounds divide ({system})")
    if not lower or not upper:
        raise ValueError(f"{name} is not bounded on both sides in {system}: its points are endless")
    found: list[CountPiece] = []
    for low, where_low in _extreme([a for a, _ in lower], greatest=True):
        for high, where_high in _extreme([a for a, _ in upper], greatest=False):
            around = System.of(low <= high) & where_low & where_high & system.split_on(name)[1]
            total = _sum_of_range(number, name, low, high)
            found += _summed(around.simplified(), dims[:-1], total)
    return found


def _extreme(terms: list[Affine], greatest: bool) -> list[tuple[Affine, System]]:
    found = []
    for number, term in enumerate(terms):
        parts = []
        for k, other in enumerate(terms):
            larger, smaller = (term, other) if greatest else (other, term)
            if k != number:
                parts.append(larger >= smaller if k > number else larger > smaller)
        found.append((term, System.of(*parts)))
    return found


def _sum_of_range(number: Polynomial, name: str, low: Affine, high: Affine) -> Polynomial:
    total = Polynomial()
    for power, part in enumerate(number.coefficients(name)):
        sums = _power_sum(power)
        upper = sums.substitute("n", Polynomial.of_affine(high))
        lower = sums.substitute("n", Polynomial.of_affine(low - 1))
        total = total + part * (upper + lower.scaled(Fraction(-1)))
    return total


def _power_sum(power: int) -> Polynomial:
    """The polynomial in n that is 1^power + ... + n^power, and its continuation to every integer n."""
    terms: dict[tuple[tuple[str, int], ...], Fraction] = {}
    for k in range(power + 1):
        value = Fraction(comb(power + 1, k)) * _bernoulli(k) / (power + 1)
        terms[(("n", power + 1 - k),)] = value
    return Polynomial.of(terms)


def _bernoulli(index: int) -> Fraction:
    found: list[Fraction] = []
    for m in range(index + 1):
        rest = sum((comb(m + 1, k) * found[k] for k in range(m)), Fraction(0))
        found.append(Fraction(1) - rest / (m + 1))
    return found[index]


def _added(found: list[CountPiece]) -> tuple[CountPiece, ...]:
    result: list[CountPiece] = []
    for piece in found:
        rest = [piece.domain]
        after: list[CountPiece] = []
        for old in result:
            both = [old.domain & r for r in rest if not (old.domain & r).is_empty()]
            after += [CountPiece(b.simplified(), old.number + piece.number) for b in both]
            left = [old.domain]
            for b in both:
                left = [s for x in left for s in difference(x, b)]
            after += [CountPiece(x.simplified(), old.number) for x in left]
            rest = [s for r in rest for s in difference(r, old.domain)]
        result = after + [CountPiece(r.simplified(), piece.number) for r in rest]
    return tuple(result)
