"""What caches are told by kernels: policies and maps fetched early, which change no bit, and bytes fetched at once."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from attrs import evolve

from isa.tensor_maps import TensorMap
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, Outcome
from ptxgen.kernels.launching.entry import entry_of, from_json, to_json
from ptxgen.kernels.launching.launch import prepare
from ptxgen.plan import evict_first, evict_last
from ptxgen.tile import show
from tests.kernels.cases import bits, random_inputs, run_matmul

PLAIN = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, workers=2, drain=64)
TOLD = evolve(PLAIN, evict=(evict_last, None, evict_first), maps_early=True)
SIZE = (136, 136, 72)
LOAD, STORE = "cp.async.bulk.tensor.2d.shared::cluster", "cp.async.bulk.tensor.2d.global.shared::cta"
HINT = ".L2::cache_hint"


@cache
def ran(tiling: MatmulTiling) -> Outcome:
    return run_matmul(MatmulSpec(), SIZE, tiling, target="sm_90a")


def lines(tiling: MatmulTiling, words: str) -> list[str]:
    return [line for line in ran(tiling).kernel.listing.text.splitlines() if words in line]


@pytest.mark.parametrize("told", [TOLD, evolve(TOLD, cluster=(2, 1)), evolve(TOLD, warps=8, turns=True)], ids=str)
def test_no_bit_changes(told: MatmulTiling) -> None:
    assert np.array_equal(bits(ran(told).arrays["D"]), bits(ran(PLAIN).arrays["D"]))


def test_each_copy_says_what_was_asked_for_it() -> None:
    loads, stores = lines(TOLD, LOAD), lines(TOLD, STORE)
    assert [HINT in line for line in loads] == [True, False]
    assert stores
    assert all(HINT in line for line in stores)
    assert len(lines(TOLD, "createpolicy.fractional.L2::evict_last.b64")) == 1
    assert len(lines(TOLD, "createpolicy.fractional.L2::evict_first.b64")) == 1
    assert not lines(PLAIN, HINT)
    assert not lines(PLAIN, "createpolicy")


def test_policies_are_made_before_the_loops() -> None:
    text = ran(TOLD).kernel.listing.text
    for policy, use in (("evict_last", LOAD), ("evict_first", STORE)):
        made = text.index(f"createpolicy.fractional.L2::{policy}")
        between = text[made : text.index(use)]
        assert any(line.startswith("$") or line.endswith(":") for line in map(str.strip, between.splitlines()))


def test_one_thread_fetches_all_maps_before_the_barriers_are_there() -> None:
    text = ran(TOLD).kernel.listing.text
    assert text.count("prefetch.tensormap") == 3
    assert text.rindex("prefetch.tensormap") < text.index("mbarrier.init")
    assert "prefetch.tensormap" not in ran(PLAIN).kernel.listing.text


def test_operands_come_to_l2_in_256_bytes_and_results_as_they_are() -> None:
    product = Matmul(MatmulSpec(Layout.TN), "sm_90a", PLAIN)
    arrays = product.with_outputs(random_inputs(product.compute, dict(zip("MNK", SIZE, strict=True))))
    kernel = product.kernel_for(arrays)
    assert [(box.array, box.promotion, box.early) for box in kernel.entry.boxes] == [
        ("A", 128, False),
        ("B", 128, False),
        ("D", 0, False),
    ]
    pairs = [found for found in prepare(kernel.entry, arrays, {}).arguments if isinstance(found, tuple)]
    assert [made.promotion for _, made in pairs if isinstance(made, TensorMap)] == [128, 128, 0]


def test_the_tile_program_and_the_entry_say_it() -> None:
    program = ran(TOLD).kernel.program
    text = show(program)
    assert "evict_last in L2" in text
    assert "D_global_map for D.global: D in boxes of 64x64 over d1, d0, swizzled over 128 bytes, fetched early" in text
    assert "swizzled over 128 bytes, 128 bytes at once to L2, fetched early" in text
    entry = entry_of(program)
    assert from_json(to_json(entry)) == entry


def test_a_tiling_says_so() -> None:
    assert str(TOLD).endswith("drained by 64, L2 evict_last - evict_first, maps early")
    assert str(PLAIN).endswith("drained by 64")


def test_results_that_leave_from_registers_are_told_nothing() -> None:
    with pytest.raises(PlanError, match=r"evict=\(evict_last, None, evict_first\): results leave from registers"):
        Matmul(MatmulSpec(), "sm_90a", evolve(TOLD, drain=0))
    plan = Matmul(MatmulSpec(), "sm_90a", evolve(TOLD, drain=0, evict=(*TOLD.evict[:2], None)))
    arrays = plan.with_outputs(random_inputs(plan.compute, dict(zip("MNK", SIZE, strict=True))))
    steps = [str(step) for step in plan.kernel_for(arrays).plan.steps if str(step).startswith("hint")]
    assert steps == ["hint(A.shared, l2=evict_last)", "hint(A.shared, B.shared, map_early=True)"]
    warps = Matmul(MatmulSpec(), "sm_90a", TOLD)
    arrays = warps.with_outputs(random_inputs(warps.compute, {"M": 65, "N": 33, "K": 17}))
    assert not [step for step in warps.kernel_for(arrays).plan.steps if str(step).startswith("hint")]
