"""Facts that cannot hold together."""

from __future__ import annotations

from collections.abc import Sequence

from polyhedral import System, congruent
from ptxgen.plan.words import Multiple


def contradiction(facts: Sequence[Multiple]) -> tuple[Multiple, ...]:
    """The fewest of `facts`, one after the other left out, that no sizes satisfy together; nothing where some do."""
    if all(fact.value.constant % fact.factor == 0 for fact in facts) or _can_hold(facts):
        return ()
    needed = list(facts)
    for fact in facts:
        others = [other for other in needed if other is not fact]
        if not _can_hold(others):
            needed = others
    return tuple(needed)


def _can_hold(facts: Sequence[Multiple]) -> bool:
    return not System.of(*(congruent(fact.value, fact.factor) for fact in facts)).is_empty()
