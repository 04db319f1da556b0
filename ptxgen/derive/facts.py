"""What is known of sizes, strides and addresses: divisibility by powers of two."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from polyhedral import Affine
from ptxgen.plan import Aligned, Assume, Multiple, Plan

EVERY_POWER = 1 << 62


def power_of_two_in(number: int) -> int:
    """The largest power of two that divides `number`; zero is divided by all of them."""
    return EVERY_POWER if number == 0 else number & -number


@frozen
class Facts:
    """The facts that a plan assumes, ready to be asked."""

    multiples: tuple[Multiple, ...]
    alignments: tuple[Aligned, ...]

    @classmethod
    def of(cls, plan: Plan) -> Facts:
        """All facts of the plan's `assume` steps."""
        stated = [fact for step in plan.steps if isinstance(step, Assume) for fact in step.facts]
        return cls(
            tuple(fact for fact in stated if isinstance(fact, Multiple)),
            tuple(fact for fact in stated if isinstance(fact, Aligned)),
        )

    def divisor(self, value: Affine) -> int:
        """A power of two that divides `value` for every size that the facts allow."""
        whole = [fact.factor for fact in self.multiples if fact.value == value]
        by_terms = power_of_two_in(value.constant)
        for name, coefficient in value.terms:
            by_terms = min(by_terms, power_of_two_in(coefficient) * self._name_divisor(name))
        return max([by_terms, *map(power_of_two_in, whole)])

    def _name_divisor(self, name: str) -> int:
        known = [fact.factor for fact in self.multiples if fact.value == Affine.of({name: 1})]
        return max(map(power_of_two_in, known), default=1)

    def alignment(self, array: str) -> int:
        """The bytes that the address of `array` is a multiple of, 1 where nothing is known."""
        return max((fact.byte_count for fact in self.alignments if fact.array == array), default=1)

    def vector(self, array: str, element_bytes: int, values: Iterable[Affine], most: int) -> int:
        """The most elements, at most `most`, that one aligned access may move: `values` are the strides, extents and
        origins in elements that it must divide, the address the rest."""
        count = min(most, max(1, self.alignment(array) // element_bytes))
        for value in values:
            count = min(count, self.divisor(value))
        return max(1, count)
