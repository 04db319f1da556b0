"""The model of cost held against launches that were timed on a device, and against what it must not say."""

from __future__ import annotations

from math import exp, log
from statistics import median

import pytest
from attrs import evolve

from ptxgen.compute import Element, e4m3
from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling, default_tiling
from ptxgen.kernels.matmul_choice import chosen, chosen_tiling, ranked
from ptxgen.kernels.matmul_cost import Bound, estimate, explain
from ptxgen.kernels.matmul_menu import Sizes, menu_for
from ptxgen.kernels.processors import PROCESSORS, Processor, processor_for, processor_named
from ptxgen.plan import grouped, sms
from tests.kernels.measured import FIRST, LATER, SPEC, TARGET, measured


def row() -> Processor:
    found = processor_for(90)
    assert found is not None
    return found


def told(sizes: Sizes, tiling: MatmulTiling, spec: MatmulSpec = SPEC) -> float:
    return estimate(spec, TARGET, sizes, tiling, row()).microseconds


def test_half_of_the_times_are_told_within_a_twentieth_and_nine_in_ten_within_an_eighth() -> None:
    off = sorted(
        abs(log(told(sizes, tiling) / micro)) for sizes, found in measured().items() for tiling, micro in found.items()
    )
    assert len(off) > 600
    assert exp(median(off)) < 1.05
    assert exp(off[int(0.9 * len(off))]) < 1.125


RECORDS = [(record, sizes) for record in (FIRST, LATER) for sizes in measured(record)]


@pytest.mark.parametrize(
    "record, sizes", RECORDS, ids=lambda each: each if isinstance(each, str) else f"{each.m}x{each.n}x{each.k}"
)
def test_the_best_that_it_tells_is_within_a_twelfth_of_the_best_measured(record: str, sizes: Sizes) -> None:
    found = measured(record)[sizes]
    pick = min(found, key=lambda tiling: told(sizes, tiling))
    assert found[pick] <= 1.08 * min(found.values())


@pytest.mark.parametrize("sizes", measured(), ids=lambda sizes: f"{sizes.m}x{sizes.n}x{sizes.k}")
def test_no_time_is_below_the_floor_of_the_device(sizes: Sizes) -> None:
    flops, moved = 2.0 * sizes.m * sizes.n * sizes.k, 2.0 * (sizes.m * sizes.k + sizes.n * sizes.k + sizes.m * sizes.n)
    floor = row().floor(Element.F16, flops, moved)
    assert floor < min(measured()[sizes].values())
    for each in ranked(SPEC, TARGET, sizes, row()):
        assert each.microseconds > floor


def test_the_choice_is_the_quickest_of_the_menu_and_always_the_same() -> None:
    sizes = Sizes(1024, 4096, 1024)
    best = chosen(SPEC, TARGET, sizes, row())
    assert best.microseconds == min(told(sizes, tiling) for tiling in menu_for(SPEC, TARGET, sizes))
    chosen.cache_clear()
    assert chosen(SPEC, TARGET, sizes, row()) == best


def test_small_grids_get_small_tiles_and_large_ones_large() -> None:
    small, large = (
        chosen_tiling(SPEC, TARGET, sizes, row()) for sizes in (Sizes(1024, 1024, 1024), Sizes(*[8192] * 3))
    )
    assert small.i * small.j < 128 * 192 <= large.i * large.j


def test_only_a_row_that_was_measured_chooses() -> None:
    sizes = Sizes(256, 256, 256)
    assert chosen_tiling(SPEC, TARGET, sizes, row()) != default_tiling(SPEC, TARGET)
    for nothing in (None, evolve(row(), measured=False)):
        assert chosen_tiling(SPEC, TARGET, sizes, nothing) == default_tiling(SPEC, TARGET)
    assert chosen_tiling(SPEC, TARGET, evolve(sizes, k=0), row()) == default_tiling(SPEC, TARGET)


def test_what_makes_a_product_slower() -> None:
    base = MatmulTiling(128, 256, 64, warps=8, depth=4, isolate=False, raster=grouped(8), workers=sms, drain=64)
    sizes = Sizes(4096, 4096, 4096)
    assert told(evolve(sizes, k=8192), base) > 1.8 * told(sizes, base)
    assert told(evolve(sizes, m=4097), base) > told(sizes, base)
    assert told(sizes, evolve(base, depth=2)) > told(sizes, base)
    assert told(sizes, evolve(base, drain=0)) > told(sizes, base)
    assert told(evolve(sizes, batches=2), base, evolve(SPEC, batched=True)) > 1.8 * told(sizes, base)
    odd = Sizes(3000, 3000, 3000)
    alone = evolve(base, j=128, workers=None)
    assert told(odd, evolve(alone, cluster=(2, 2))) < 0.8 * told(odd, alone), "rows that cut lines want to be shared"
    assert told(sizes, base, MatmulSpec.of(e4m3, layout=Layout.NT)) < 0.7 * told(sizes, base)


def test_an_estimate_says_what_it_waits_for() -> None:
    base = default_tiling(SPEC, TARGET)
    large = estimate(SPEC, TARGET, Sizes(8192, 8192, 8192), base, row())
    assert large.dominant in (Bound.POWER, Bound.TENSOR)
    assert (large.tiles, large.at_once, large.rounds) == (2048, 132, 16)
    thin = estimate(SPEC, TARGET, Sizes(4096, 4096, 8), base, row())
    assert thin.dominant in (Bound.RESULTS, Bound.MEMORY)
    assert sum(micro for _, micro in large.shares) == pytest.approx(large.microseconds)
    lines = explain(large, Sizes(8192, 8192, 8192)).splitlines()
    assert "2048 tiles, 132 at once, 16 rounds" in lines[1]
    assert len(lines) == 2 + len(large.shares)


def test_rows_of_devices() -> None:
    found = processor_named("NVIDIA H200")
    assert found is not None
    assert found.name == "H200"
    assert processor_named("NVIDIA T4") is None
    assert [each.name for each in PROCESSORS if not each.source] == []
    for each, peak in (("H200", 989), ("A100", 312), ("V100", 125)):
        held = processor_named(each)
        assert held is not None
        at_boost = held.flops(Element.F16) * held.sms * min(held.top_ghz, 1.83) / 1e3
        assert at_boost == pytest.approx(peak, rel=0.02), "the makers' figures at the makers' clocks"
