"""The tiling of a product whose sizes are known, chosen by the model of its cost without running anything."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, runtime_checkable

from ptxgen.compute import f64
from ptxgen.kernels.choosing.cost import Estimate, estimate_of
from ptxgen.kernels.choosing.cut import least
from ptxgen.kernels.choosing.legal import is_legal
from ptxgen.kernels.choosing.menu import Sizes, menu_for, standing, walks
from ptxgen.kernels.choosing.pace import pace_of
from ptxgen.kernels.choosing.processors import Processor
from ptxgen.kernels.choosing.work import product_of
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.defaults import default_tiling
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Fact

CHOICES_KEPT = 4096


class Tuned(Protocol):
    """Tilings that were found by measuring, for whoever asks to be given them."""

    def tiling(self, spec: MatmulSpec, target: str, sizes: Sizes, facts: tuple[Fact, ...]) -> MatmulTiling | None:
        """The best known for a product of these sizes whose arguments allow these facts and no others; None where
        nothing like it was measured."""


@runtime_checkable
class TunedOnDevices(Tuned, Protocol):
    """Tilings that were found on several devices."""

    def of_device(self, device: int) -> Tuned:
        """Those of a device, by its number."""


def tuned_on(device: int, tuned: Tuned | None) -> Tuned | None:
    """What was found for a device, where it tells devices apart."""
    return tuned.of_device(device) if isinstance(tuned, TunedOnDevices) else tuned


def ranked(spec: MatmulSpec, target: str, sizes: Sizes, processor: Processor) -> tuple[Estimate, ...]:
    """The menu with what the model expects of each, the quickest first; equal ones in the menu's order."""
    product = product_of(spec, target, sizes, processor)
    found = (estimate_of(pace_of(product, tiling)) for tiling in menu_for(spec, target, sizes))
    return tuple(sorted(found, key=lambda each: each.microseconds))


@lru_cache(maxsize=CHOICES_KEPT)
def chosen(spec: MatmulSpec, target: str, sizes: Sizes, processor: Processor) -> Estimate:
    """The quickest of the menu as the model has it, remembered; the same for the same question always: the first of
    `ranked`, found without a look at what cannot be quicker than one seen before."""
    product, base = product_of(spec, target, sizes, processor), default_tiling(spec, target)
    first = pace_of(product, base)
    found = [(first.microseconds, 0, 0, first)] if is_legal(spec, target, base) else []
    paces = [pace_of(product, each) for each in standing(spec, target, sizes)]
    for bound, place in sorted((least(pace), place) for place, pace in enumerate(paces, 1)):
        if found and bound > found[0][0]:
            break
        standing_pace = paces[place - 1]
        ways = enumerate(map(standing_pace.walked, walks(spec, target, standing_pace.tiling)))
        found = sorted([*found, *((pace.microseconds, place, way, pace) for way, pace in ways)])[:1]
    return estimate_of(found[0][-1])


def chosen_tiling(spec: MatmulSpec, target: str, sizes: Sizes, processor: Processor | None) -> MatmulTiling:
    """The tiling for a shape: by the model where the device's row was measured, else the default one, as for products
    in f64, which nobody has timed, and with sums over rows or columns, whose parts are as large as the default tiles.
    """
    nothing = min(sizes.m, sizes.n, sizes.k, sizes.batches) < 1
    if processor is None or not processor.measured or spec.totals or spec.summed is f64 or nothing:
        return default_tiling(spec, target)
    return chosen(spec, target, sizes, processor).tiling
