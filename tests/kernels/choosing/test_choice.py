"""The choice is the first of the whole menu, for every shape, and nothing that was cut could have been quicker."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from attrs import evolve

from ptxgen.compute import Element, e4m3, f16, f32, s8, tf32
from ptxgen.kernels import Layout, MatmulSpec
from ptxgen.kernels import parse_epilogue as pieces
from ptxgen.kernels.choosing.choice import chosen, ranked
from ptxgen.kernels.choosing.cut import least
from ptxgen.kernels.choosing.menu import Sizes, standing, walks
from ptxgen.kernels.choosing.pace import pace_of
from ptxgen.kernels.choosing.processors import Processor, processor_named
from ptxgen.kernels.choosing.work import product_of
from tests.kernels.choosing.measured import SPEC, TARGET, measured

SHAPES = (
    *measured(),
    *(Sizes(*each) for each in product((1, 24, 200, 1000, 5000), (72, 1536, 3000), (40, 1000, 8192))),
    Sizes(6144, 6144, 6144), Sizes(512, 512, 512, 16), Sizes(100, 100, 100, 3), Sizes(16384, 1024, 256),
)  # fmt: skip
FEW = (Sizes(3000, 3000, 3000), Sizes(16, 8192, 8192), Sizes(4096, 4096, 64), Sizes(1000, 2000, 1504, 3))
OTHERS = (
    MatmulSpec(epilogue=pieces("bias,gelu,residual,keep")),
    MatmulSpec(Layout.TN, output=f32),
    MatmulSpec(Layout.NT, promote=64),
    MatmulSpec.of(e4m3, layout=Layout.NT),
    MatmulSpec.of(s8, layout=Layout.NT),
    MatmulSpec.of(tf32, layout=Layout.NT),
    MatmulSpec(Layout.TT, accumulate=Element.F16, epilogue=pieces("beta,relu")),
)


def row() -> Processor:
    found = processor_named("H200")
    assert found is not None
    return found


def named(value: object) -> str:
    return f"{value.m}x{value.n}x{value.k}x{value.batches}" if isinstance(value, Sizes) else str(value)


def test_there_are_sixty_shapes() -> None:
    assert len(set(SHAPES)) >= 60


def some(sizes: tuple[Sizes, ...], every: int) -> list[Any]:
    """Every so manyeth in the ordinary tests, the others among the slow ones."""
    return [pytest.param(one, marks=[pytest.mark.slow] if place % every else []) for place, one in enumerate(sizes)]


@pytest.mark.parametrize("sizes", some(SHAPES, 6), ids=named)
def test_the_choice_is_the_first_of_the_whole_menu(sizes: Sizes) -> None:
    assert chosen(SPEC, TARGET, sizes, row()) == ranked(SPEC, TARGET, sizes, row())[0]


@pytest.mark.parametrize("sizes", some(FEW, 4), ids=named)
@pytest.mark.parametrize("target", ("sm_90a", "sm_90", "sm_80", "sm_70"))
def test_so_it_is_of_other_products(target: str, sizes: Sizes) -> None:
    for spec in OTHERS:
        if (target == "sm_70" and spec.input is not f16) or (target == "sm_80" and spec.input is e4m3):
            continue
        assert chosen(spec, target, sizes, row()) == ranked(spec, target, sizes, row())[0], spec


@pytest.mark.parametrize("sizes", FEW, ids=named)
@pytest.mark.parametrize("target", ("sm_90a", "sm_90"))
def test_no_walk_is_told_to_take_less_than_the_least(target: str, sizes: Sizes) -> None:
    narrow = evolve(row(), memory_rate=50.0, lines_cut=6.0, sms_in_fours=60, cluster_slab=1e-6)
    for device, spec in product((row(), narrow), (SPEC, OTHERS[0])):
        stated = product_of(spec, target, sizes, device)
        for each in standing(spec, target, sizes):
            base = pace_of(stated, each)
            bound = least(base)
            for walked in walks(spec, target, each):
                pace = base.walked(walked)
                assert pace == pace_of(stated, walked)
                assert bound <= pace.microseconds, walked


def test_the_least_is_near_enough_to_cut_most() -> None:
    """Of large products, whose tilings are alike, and of small ones."""
    for sizes in (Sizes(1024, 1024, 1024), Sizes(4096, 4096, 4096), Sizes(4096, 4096, 64)):
        stated = product_of(SPEC, TARGET, sizes, row())
        quickest = chosen(SPEC, TARGET, sizes, row()).microseconds
        bounds = [least(pace_of(stated, each)) for each in standing(SPEC, TARGET, sizes)]
        assert sum(bound > quickest for bound in bounds) > 0.6 * len(bounds)
