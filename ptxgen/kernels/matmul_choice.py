"""The tiling of a product whose sizes are known, chosen by the model of its cost without running anything."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

from ptxgen.compute import f64
from ptxgen.kernels.matmul_compute import MatmulSpec
from ptxgen.kernels.matmul_cost import Estimate, estimate
from ptxgen.kernels.matmul_menu import Sizes, menu_for
from ptxgen.kernels.matmul_plan import MatmulTiling, default_tiling
from ptxgen.kernels.processors import Processor

CHOICES_KEPT = 4096


class Tuned(Protocol):
    """Tilings that were found by measuring, for whoever asks to be given them."""

    def tiling(self, spec: MatmulSpec, target: str, sizes: Sizes) -> MatmulTiling | None:
        """The best known for a product of these sizes; None where nothing like it was measured."""


def ranked(spec: MatmulSpec, target: str, sizes: Sizes, processor: Processor) -> tuple[Estimate, ...]:
    """The menu with what the model expects of each, the quickest first; equal ones in the menu's order."""
    found = (estimate(spec, target, sizes, tiling, processor) for tiling in menu_for(spec, target, sizes))
    return tuple(sorted(found, key=lambda each: each.microseconds))


@lru_cache(maxsize=CHOICES_KEPT)
def chosen(spec: MatmulSpec, target: str, sizes: Sizes, processor: Processor) -> Estimate:
    """The quickest of the menu as the model has it, remembered; the same for the same question always."""
    return ranked(spec, target, sizes, processor)[0]


def chosen_tiling(spec: MatmulSpec, target: str, sizes: Sizes, processor: Processor | None) -> MatmulTiling:
    """The tiling for a shape: by the model where the device's row was measured, else the default one, as for products
    in f64, which nobody has timed, and with sums over rows or columns, whose parts are as large as the default tiles.
    """
    nothing = min(sizes.m, sizes.n, sizes.k, sizes.batches) < 1
    if processor is None or not processor.measured or spec.totals or spec.summed is f64 or nothing:
        return default_tiling(spec, target)
    return chosen(spec, target, sizes, processor).tiling
