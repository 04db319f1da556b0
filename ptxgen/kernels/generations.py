"""Generations of tensor cores: the instruction, and how it is fed."""

from __future__ import annotations

from collections.abc import Callable

from attrs import field, frozen

from isa.forms import resolve
from isa.targets import target as target_named
from ptxgen.compute import Element, f32
from ptxgen.errors import PlanError
from ptxgen.plan import By, MatrixInstruction, ld, ldmatrix, m8n8k4, m16n8k8, m16n8k16


@frozen
class Generation:
    """`product(accumulate)` is the instruction for f16, `step` its extent along k; `fragments` loads its operands from
    shared memory; `past_registers`: `cp.async` fills shared memory. `orders`: operands may lie either way, as only
    Volta's do."""

    product: Callable[[Element], MatrixInstruction]
    step: int
    fragments: By
    past_registers: bool
    orders: bool = field(default=False, kw_only=True)

    def serves(self, target: str) -> bool:
        """Whether a target has the instruction."""
        name = f"mma.sync.aligned.{self.product(f32).name}.row.col.f32.f16.f16.f32"
        return resolve(name).availability.least_version(target_named(target)) is not None


VOLTA = Generation(m8n8k4, 4, ld(16), past_registers=False, orders=True)
TURING = Generation(m16n8k8, 8, ldmatrix(4), past_registers=False)
AMPERE = Generation(m16n8k16, 16, ldmatrix(4), past_registers=True)


def has_warpgroups(target: str) -> bool:
    """Whether a target has products of warpgroups, which read what tensor copies bring."""
    name = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"
    return resolve(name).availability.least_version(target_named(target)) is not None


def generation_of(target: str) -> Generation:
    """The newest generation whose instruction a target has; PlanError where it has none."""
    for found in (AMPERE, TURING, VOLTA):
        if found.serves(target):
            return found
    raise PlanError(f"{target} has no tensor cores: a product needs sm_70 or later")
