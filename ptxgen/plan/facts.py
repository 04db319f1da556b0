"""What is known of sizes, strides and addresses, and what of it cannot hold together."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from polyhedral import Affine, System, congruent, var
from ptxgen.compute import Array
from ptxgen.plan.checked import instance_of, whole


@frozen
class Multiple:
    """The fact that `value`, a size or stride, is a multiple of `factor`."""

    value: Affine = field(validator=instance_of(Affine, "an affine expression of sizes and strides"))
    factor: int = field(validator=whole)

    def __str__(self) -> str:
        parts = len(self.value.terms) + (self.value.constant != 0)
        return f"{self.value if parts < 2 else f'({self.value})'} % {self.factor} == 0"


@frozen
class Aligned:
    """The fact that the address of `array` is a multiple of `byte_count`."""

    array: str = field(validator=instance_of(str, "an array or its name"))
    byte_count: int = field(validator=whole)

    def __str__(self) -> str:
        return f"aligned({self.array}, {self.byte_count})"


Fact = Multiple | Aligned


def multiple(value: Affine | str, of: int) -> Multiple:
    """The fact that a size or stride is a multiple of `of`."""
    return Multiple(var(value) if isinstance(value, str) else value, of)


def aligned(*arrays: Array | str, bytes: int) -> tuple[Aligned, ...]:
    """The fact that the addresses of these arrays are multiples of `bytes`."""
    return tuple(Aligned(array.name if isinstance(array, Array) else array, bytes) for array in arrays)


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
