"""Formulas and expressions of isl's notation, read into unions of systems."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from attrs import frozen

from polyhedral.affine import Affine, Constraint, as_affine, const, var
from polyhedral.difference import difference
from polyhedral.isl_lexer import Words
from polyhedral.system import UNIVERSE, System

Union = tuple[System, ...]
_LEXICOGRAPHIC = {"<<": ("<", False), "<<=": ("<", True), ">>": (">", False), ">>=": (">", True)}
_RELATIONS = ("<=", "<", ">=", ">", "=", "!=", *_LEXICOGRAPHIC)
_JOINTS = ("exists", "and", "or", "not", "true", "false", "implies")


@frozen
class Case:
    """One value of an expression, where the conditions hold; `own` are quotients that the conditions define."""

    value: Affine
    conditions: tuple[Constraint, ...] = ()
    own: tuple[str, ...] = ()

    def joined(self, other: Case, value: Affine) -> Case:
        """The case of both with another value."""
        return Case(value, self.conditions + other.conditions, self.own + other.own)


Cases = tuple[Case, ...]


def conjunction(first: Union, second: Union) -> Union:
    """The pieces in which both hold."""
    return tuple(s for a in first for b in second if not (s := a & b).is_empty())


class Formulas:
    """Reads formulas over the variables in `known`, which the caller and `exists` extend."""

    def __init__(self, words: Words, known: set[str]) -> None:
        self.words = words
        self.known = known
        self.count = 0

    def formula(self) -> Union:
        """A disjunction, or one that implies another."""
        found = self._disjunction()
        return self._negated(found) + self._disjunction() if self.words.take("implies") else found

    def _disjunction(self) -> Union:
        found = self._conjunction()
        while self.words.take("or"):
            found += self._conjunction()
        return found

    def _conjunction(self) -> Union:
        found = self._literal()
        while self.words.take("and"):
            found = conjunction(found, self._literal())
        return found

    def _literal(self) -> Union:
        if self.words.take("not"):
            return self._negated(self._literal())
        if self.words.take("true"):
            return (UNIVERSE,)
        if self.words.take("false"):
            return ()
        if self.words.take("exists"):
            return self._exists()
        if self.words.next.text == "(" and self._holds_relation():
            self.words.expect("(")
            found = self.formula()
            self.words.expect(")")
            return found
        return self._chain()

    @staticmethod
    def _negated(pieces: Union) -> Union:
        rest: Union = (UNIVERSE,)
        for piece in pieces:
            rest = tuple(s for r in rest for s in difference(r, piece))
        return rest

    def _holds_relation(self) -> bool:
        depth, count = 0, 0
        while True:
            word = self.words.ahead(count)
            depth += {"(": 1, ")": -1}.get(word.text, 0)
            if depth == 0 or word.kind == "end":
                return False
            if word.text in _RELATIONS or word.text in _JOINTS:
                return True
            count += 1

    def _exists(self) -> Union:
        closed = self.words.take("(")
        own: list[str] = []
        parts: list[Union] = []
        while True:
            name = self._fresh_name()
            own.append(name)
            if self.words.take("="):
                parts.append(self.compare((Case(var(name)),), "=", self.expression()))
            if not self.words.take(","):
                break
        self.words.expect(":")
        found: Union = (UNIVERSE,)
        if self.words.next.text != ")":
            found = self.formula()
        if closed:
            self.words.expect(")")
        for part in parts:
            found = conjunction(found, part)
        self.known.difference_update(own)
        return tuple(p.quantified(own) for p in found)

    def _fresh_name(self) -> str:
        word = self.words.read()
        if word.kind != "name" or word.text in self.known:
            raise self.words.mistake(f"{word.text!r} is no new name for an existential")
        self.known.add(word.text)
        return word.text

    def _chain(self) -> Union:
        found: Union = (UNIVERSE,)
        left = self._list()
        if self.words.next.text not in _RELATIONS:
            raise self.words.mistake("a comparison is due")
        while (relation := self.words.take(*_RELATIONS)) is not None:
            right = self._list()
            if relation in _LEXICOGRAPHIC:
                found = conjunction(found, self._lexicographic(left, relation, right))
            else:
                for a, b in product(left, right):
                    found = conjunction(found, self.compare(a, relation, b))
            left = right
        return found

    def _lexicographic(self, left: list[Cases], relation: str, right: list[Cases]) -> Union:
        if len(left) != len(right):
            raise self.words.mistake(f"{len(left)} expressions are not in the order of {len(right)}: as many are due")
        strict, tie = _LEXICOGRAPHIC[relation]
        found: Union = ()
        equal: Union = (UNIVERSE,)
        for a, b in zip(left, right, strict=True):
            found += conjunction(equal, self.compare(a, strict, b))
            equal = conjunction(equal, self.compare(a, "=", b))
        return found + equal if tie else found

    def _list(self) -> list[Cases]:
        found = [self.expression()]
        while self.words.take(","):
            found.append(self.expression())
        return found

    def compare(self, left: Cases, relation: str, right: Cases) -> Union:
        """The union in which the comparison holds."""
        found = []
        for a, b in product(left, right):
            for condition in _comparison(a.value, relation, b.value):
                system = System.of(condition, *a.conditions, *b.conditions, exists=(*a.own, *b.own))
                found += [system] if not system.is_empty() else []
        return tuple(found)

    def expression(self) -> Cases:
        """A sum of terms."""
        negative = self.words.take("-", "+") == "-"
        total = _scaled(self._term(), -1 if negative else 1)
        while (sign := self.words.take("+", "-")) is not None:
            total = _sum(total, _scaled(self._term(), 1 if sign == "+" else -1))
        return total

    def _term(self) -> Cases:
        """A product; `mod` binds more tightly, so that `2 * i mod 3` is twice a remainder, as isl reads it."""
        found = self._remainders(self._factor())
        while self.words.take("*") or (self._starts_factor() and _is_number(found)):
            known = _is_number(found)
            right = self._factor()
            found = self._product(found, self._remainders(right) if known else right)
        return found

    def _remainders(self, found: Cases) -> Cases:
        while self.words.take("mod"):
            found = self._remainder(found, self._positive())
        return found

    def _starts_factor(self) -> bool:
        word = self.words.next
        return (word.kind == "name" and word.text not in (*_JOINTS, "mod")) or word.text == "("

    def _product(self, left: Cases, right: Cases) -> Cases:
        if any(not c.value.is_constant for c in left):
            left, right = right, left
        if any(not c.value.is_constant for c in left):
            raise self.words.mistake("one factor of a product is a number")
        return tuple(a.joined(b, b.value * a.value.constant) for a, b in product(left, right))

    def _positive(self) -> int:
        factor = self._factor()
        if len(factor) != 1 or not factor[0].value.is_constant or factor[0].value.constant < 1:
            raise self.words.mistake("a positive number is due")
        return factor[0].value.constant

    def _factor(self) -> Cases:
        words = self.words
        if words.take("("):
            found = self.expression()
            words.expect(")")
            return found
        if words.take("["):
            return self._quotient("]", up=False)
        if words.take("-"):
            return _scaled(self._factor(), -1)
        if (name := words.take("floor", "ceil", "floord", "ceild")) is not None:
            words.expect("(")
            return self._quotient(")", up=name.startswith("ceil"))
        if (name := words.take("min", "max")) is not None:
            return self._extremum(least=name == "min")
        word = words.read()
        if word.kind == "number":
            return (Case(const(int(word.text))),)
        if word.kind == "name" and word.text in self.known:
            return (Case(var(word.text)),)
        words.place -= 1
        raise words.mistake("a number or a name that is known is due")

    def _quotient(self, close: str, up: bool) -> Cases:
        start = self.words.place
        dividend = _scaled(self._term(), -1) if self.words.take("-") else self._term()
        if self.words.next.text not in ("/", ","):
            self.words.place = start
            dividend = self.expression()
            if self.words.next.text == "/":
                raise self.words.mistake("a sum that is divided is written in parentheses: ')' is due")
        divisor = self._positive() if self.words.take("/", ",") else 1
        self.words.expect(close)
        return _scaled(self._floor(_scaled(dividend, -1), divisor), -1) if up else self._floor(dividend, divisor)

    def _floor(self, dividend: Cases, divisor: int) -> Cases:
        if divisor == 1:
            return dividend
        found = []
        for case in dividend:
            name = f"%{self.count}"
            self.count += 1
            low = var(name) * divisor
            defined = (low <= case.value, case.value < low + divisor)
            found.append(Case(var(name), case.conditions + defined, (*case.own, name)))
        return tuple(found)

    def _remainder(self, dividend: Cases, modulus: int) -> Cases:
        quotient = self._floor(dividend, modulus)
        return tuple(
            Case(d.value - (q.value * modulus), q.conditions, q.own) for d, q in zip(dividend, quotient, strict=True)
        )

    def _extremum(self, least: bool) -> Cases:
        self.words.expect("(")
        found = self.expression()
        while self.words.take(","):
            found = tuple(
                Case(one, (*a.conditions, *b.conditions, order), a.own + b.own)
                for a, b in product(found, self.expression())
                for one, order in _smaller_and_larger(a.value, b.value, least)
            )
        self.words.expect(")")
        return found


def _smaller_and_larger(a: Affine, b: Affine, least: bool) -> list[tuple[Affine, Constraint]]:
    return [(a, a <= b), (b, b < a)] if least else [(a, a >= b), (b, b > a)]


def _comparison(left: Affine, relation: str, right: Affine) -> Iterable[Constraint]:
    match relation:
        case "<=":
            return [left <= right]
        case "<":
            return [left < right]
        case ">=":
            return [left >= right]
        case ">":
            return [left > right]
        case "=":
            return [left.equals(right)]
        case _:
            return [left < right, left > right]


def _is_number(cases: Cases) -> bool:
    return len(cases) == 1 and cases[0].value.is_constant


def _scaled(cases: Cases, factor: int) -> Cases:
    return tuple(Case(as_affine(c.value * factor), c.conditions, c.own) for c in cases)


def _sum(left: Cases, right: Cases) -> Cases:
    return tuple(a.joined(b, a.value + b.value) for a, b in product(left, right))
