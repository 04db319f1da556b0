"""A tiling for a product on a target, and what may be asked of the three together."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.generations import generation_of
from ptxgen.kernels.products.groups import Denial, group_product
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import MatrixInstruction


@frozen
class Case:
    """A tiling for a product on a target, with the product of warpgroups that carries it out, or why none does."""

    spec: MatmulSpec
    target: str
    tiling: MatmulTiling
    product: MatrixInstruction | Denial

    @classmethod
    def of(cls, spec: MatmulSpec, target: str, tiling: MatmulTiling) -> Case:
        """That of arrays which suit the tiling."""
        return cls(spec, target, tiling, group_product(spec, tiling, target))

    @property
    def by_groups(self) -> bool:
        """Whether warpgroups multiply."""
        return not isinstance(self.product, Denial)

    @property
    def instruction(self) -> MatrixInstruction:
        """What multiplies: a product of warpgroups or of warps."""
        if isinstance(self.product, MatrixInstruction):
            return self.product
        return generation_of(self.target, self.spec.input, self.spec.accumulate, self.spec.b_input).instruction

    @property
    def least_tile(self) -> tuple[int, int]:
        """The rows and columns that a warp multiplies at once: on Volta each half of its quads has a product."""
        halves = 2 if self.instruction.orders else 1
        return halves * self.instruction.m, halves * self.instruction.n

    @property
    def step(self) -> int:
        """The terms that one instruction multiplies."""
        return self.instruction.k


@frozen
class Condition:
    """What must hold; where it does not, `why` tells what keeps it, and `serves` what to take instead."""

    holds: Callable[[Case], bool]
    why: Callable[[Case], str]
    serves: Callable[[Case], str]


def stated(holds: Callable[[Case], bool], why: str, serves: str) -> Condition:
    """A condition of which the same is told always."""
    return Condition(holds, lambda case: why, lambda case: serves)
