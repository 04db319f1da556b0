"""Nothing that a tiling asks for is silently left undone: it is in the plan, or refused by name; and what is refused
would not have been."""

from __future__ import annotations

import re
from itertools import product
from linecache import getline
from typing import Any

import numpy as np
import pytest
from attrs import evolve, fields

from ptxgen.compute import f16, f32
from ptxgen.derive import derive
from ptxgen.errors import PlanError, PtxgenError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, default_tiling, generate
from ptxgen.kernels.choosing.menu import Sizes, menu_for
from ptxgen.kernels.products.case import Case
from ptxgen.kernels.products.generations import generation_of
from ptxgen.kernels.products.needs import NEEDS, Conflict, conflicts
from ptxgen.plan import Drain, Eviction, Plan, sms
from tests.kernels.cases import random_inputs
from tests.kernels.products.asked import DEFAULTS, SPECS, TARGETS, drawn, plan_of, steps_of

# Choices that another one, or the product, may leave nothing to do for: no fragments or slabs ahead, tiles not apart.
NOTHING_TO_DO = {"prefetch": False, "fragment_depth": 1, "isolate": False}
NARROW = MatmulTiling(i=64, j=64, k=64, warps=4, isolate=False)
HALVES, TOLD = (Eviction.FIRST, None, None), (None, None, Eviction.LAST)


def found_in(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> list[Conflict]:
    return list(conflicts(Case.of(spec, target, tiling)))


def without(tiling: MatmulTiling, name: str) -> MatmulTiling:
    return evolve(tiling, **{name: DEFAULTS[name]})


def planned(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> Plan | None:
    """The plan; None where it is refused."""
    try:
        return plan_of(spec, target, tiling)
    except (PtxgenError, ValueError):
        return None


def check_carried_out(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> None:
    """Every choice changes the plan, and results leave as asked."""
    plan = planned(spec, target, tiling)
    assert plan is not None
    for name, usual in DEFAULTS.items():
        value = getattr(tiling, name)
        if value == usual or (name in NOTHING_TO_DO and value == NOTHING_TO_DO[name]):
            continue
        other = planned(spec, target, without(tiling, name))
        assert other is None or steps_of(other) != steps_of(plan), f"{name}={value} is ignored"
    drains = [step for step in plan.steps if isinstance(step, Drain) and "sum" not in step.array]
    stored = [step for step in drains if plan.compute.array(step.array).element in (f16, f32)]
    assert all(bool(step.through) == bool(tiling.drain) for step in stored)


def check_refused_rightly(spec: MatmulSpec, target: str, tiling: MatmulTiling, found: list[Conflict]) -> None:
    """A choice that is refused would not have been in the plan as it was asked: no plan, no derivation, another plan,
    or a kernel that no thread's registers hold."""
    plan = planned(spec, target, tiling)
    for each in found if plan else []:
        assert plan is not None
        fell_back = each.name in ("swap", "turns", "boxed", "fragment_depth", "group_rows") or is_other_k(each, found)
        left = any(isinstance(step, Drain) and step.through is None for step in plan.steps) or each.asked == 24
        other = planned(spec, target, without(tiling, each.name))
        same = other is not None and steps_of(other) == steps_of(plan)
        assert same or fell_back or (each.name == "drain" and left) or not is_held(plan), each


def is_other_k(conflict: Conflict, found: list[Conflict]) -> bool:
    """Whether slabs are others, since those that were asked for are copied by no boxes."""
    return conflict.name == "k" and any(each.name == "boxed" for each in found)


def is_held(plan: Plan) -> bool:
    """Whether the plan is derived, and assembled without spilling registers."""
    try:
        return generate(plan).assembled().spills == 0
    except PtxgenError:
        return False


def has_cores(spec: MatmulSpec, target: str) -> bool:
    """Whether a target multiplies a product's types."""
    try:
        generation_of(target, spec.input, spec.accumulate, spec.b_input)
    except PlanError:
        return False
    return True


def try_some(seed: int, count: int) -> tuple[int, int]:
    """How many tilings were carried out, and how many refused."""
    chance = np.random.default_rng(seed)
    carried = refused = 0
    for _ in range(count):
        spec = list(SPECS.values())[chance.integers(len(SPECS))]
        target, tiling = TARGETS[chance.integers(len(TARGETS))], drawn(chance)
        if not has_cores(spec, target):
            continue
        found = found_in(spec, target, tiling)
        if found:
            check_refused_rightly(spec, target, tiling, found)
            refused += 1
        else:
            check_carried_out(spec, target, tiling)
            carried += 1
    return carried, refused


@pytest.mark.parametrize("layout", Layout)
def test_rows_of_terms_that_are_cut_are_powers_of_two_in_number(layout: Layout) -> None:
    """Where rows are longer than 128 bytes: what is refused could not be derived, and nothing else is."""
    refused = 0
    for (i, j, warps), k in product(((64, 96, 4), (64, 64, 4), (192, 64, 12), (64, 192, 4)), (64, 128)):
        spec, tiling = MatmulSpec(layout), MatmulTiling(i=i, j=j, k=k, warps=warps, depth=1, isolate=False)
        found = [each.name for each in found_in(spec, "sm_90a", tiling)]
        plan = planned(spec, "sm_90a", tiling)
        assert found == ([] if plan is not None and derives(plan) else ["k"])
        refused += bool(found)
    assert refused == {"nn": 1, "nt": 3, "tn": 0, "tt": 2}[layout.value]


def derives(plan: Plan) -> bool:
    try:
        derive(plan)
    except PtxgenError:
        return False
    return True


def test_each_choice_is_carried_out_or_refused() -> None:
    carried, refused = try_some(3, 120)
    assert carried > 20
    assert refused > 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_each_choice_of_many_is_carried_out_or_refused(seed: int) -> None:
    carried, refused = try_some(100 + seed, 1500)
    assert carried > 300
    assert refused > 800


CASES: dict[str, tuple[str, str, MatmulTiling, str]] = {
    "clusters": (
        "plain",
        "sm_80",
        evolve(NARROW, cluster=(2, 1)),
        "cluster=(2, 1): only warpgroups do that, but sm_80 has",
    ),
    "clusters of warps": (
        "plain",
        "sm_90a",
        evolve(NARROW, warps=8, cluster=(2, 1)),
        "a tile of 64x64 on 8 warps is none of 64",
    ),
    "clusters of groups": ("groups of rows", "sm_90a", evolve(NARROW, cluster=(2, 1)), "would have different groups"),
    "large clusters": (
        "plain",
        "sm_90a",
        evolve(NARROW, cluster=(4, 4)),
        "a cluster has at most 8 blocks, this one 16",
    ),
    "turns": ("plain", "sm_80", evolve(NARROW, turns=True), "turns=True: only warpgroups do that"),
    "turns alone": (
        "plain",
        "sm_90a",
        evolve(NARROW, turns=True, workers=sms),
        "one warpgroup has nobody to take turns",
    ),
    "turns of one tile": (
        "plain",
        "sm_90a",
        evolve(NARROW, warps=8, turns=True),
        "blocks that come and go have one tile",
    ),
    "swap": ("plain", "sm_80", evolve(NARROW, swap=True), "swap=True: only warpgroups do that"),
    "maps": ("bytes in rows", "sm_90a", evolve(NARROW, maps_early=True), "as wgmma needs it of e4m3"),
    "lines": ("plain", "sm_80", evolve(NARROW, evict=HALVES), "evict=(evict_first, None, None): only warpgroups"),
    "lines of results": ("plain", "sm_90a", evolve(NARROW, evict=TOLD), "results leave from registers, by no copy"),
    "overlap": ("plain", "sm_80", evolve(NARROW, overlap=True), "overlap=True: sm_80 has no launches that overlap"),
    "boxes": ("plain", "sm_80", evolve(NARROW, boxed=True), "boxed=True: sm_80 copies no boxes of tensors"),
    "short boxes": (
        "plain",
        "sm_90",
        MatmulTiling(i=64, j=64, k=8, boxed=True),
        "a tile has rows of 16 bytes, a box 32",
    ),
    "seven": ("plain", "sm_80", evolve(NARROW, drain=7), "drain=7: pieces have a power of two as extent; take 32, 64"),
    "four rows": (
        "plain",
        "sm_80",
        evolve(NARROW, drain=4),
        "drain=4: a warp holds 8 rows in one step; take 8 or more",
    ),
    "few columns": ("plain", "sm_90a", evolve(NARROW, drain=8), "tensor copies store 32 bytes of a row at least"),
    "integers": (
        "integers",
        "sm_90a",
        evolve(NARROW, drain=32),
        "store pieces of f16, bf16, f32, not of s32; take 0",
    ),
    "slices": (
        "plain",
        "sm_90a",
        evolve(NARROW, drain=32, split=2),
        "drain=32: blocks of a cluster that join their sums",
    ),
    "no room": (
        "plain",
        "sm_90a",
        MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, drain=128, workers=5, drain_depth=16),
        "drain=128: rings and pieces of results do not fit",
    ),
    "depth of nothing": (
        "plain",
        "sm_90a",
        evolve(NARROW, drain_depth=3),
        "drain_depth=3: results leave from registers",
    ),
    "pieces of nothing": (
        "plain",
        "sm_90a",
        evolve(NARROW, piecewise=True),
        "piecewise=True: results leave from registers",
    ),
    "pieces of sums": ("row sums", "sm_90a", evolve(NARROW, piecewise=True, drain=32), "is finished in whole tiles"),
    "residuals": (
        "plain",
        "sm_90a",
        evolve(NARROW, drain=32, piecewise=True, residual_depth=2),
        "the epilogue has no residual",
    ),
    "residuals of tiles": (
        "residual",
        "sm_90a",
        evolve(NARROW, drain=32, residual_depth=2),
        "take piecewise=True beside it",
    ),
    "rows of warps": ("plain", "sm_80", evolve(NARROW, group_rows=128), "group_rows=128: only warpgroups do that"),
    "parts of staying": (
        "plain",
        "sm_80",
        evolve(NARROW, split=2, workers=4),
        "split=2: blocks that stay and walk the tiles",
    ),
    "streams of parts": ("plain", "sm_80", evolve(NARROW, split=2, stream=True), "a sum is cut one way or the other"),
    "fragments": (
        "plain",
        "sm_80",
        evolve(NARROW, fragment_depth=3),
        "a slab of 64 terms is 4 steps of 16; take a divisor",
    ),
    "fragments of groups": (
        "plain",
        "sm_90a",
        evolve(NARROW, fragment_depth=4),
        "warpgroups multiply from shared memory",
    ),
    "three warps": ("plain", "sm_80", evolve(NARROW, warps=3), "a product runs on 1, 2, 4, 8, 12 warps"),
    "warps of nothing": (
        "plain",
        "sm_80",
        MatmulTiling(i=16, j=32, k=32, warps=4),
        "warps=4: a warp has 8x16 of a tile of 16x32, and multiplies 16x8 at once; take a larger tile, or fewer",
    ),
    "quads of nothing": (
        "plain",
        "sm_70",
        MatmulTiling(i=32, j=16, k=32, warps=2),
        "warps=2: a warp has 32x8 of a tile of 32x16, and multiplies 16x16 at once",
    ),
    "many sums": (
        "plain",
        "sm_80",
        MatmulTiling(i=128, j=256, k=32, warps=4, isolate=False),
        "warps=4: sums and results of a tile of 128x256 take 384 registers of a thread, which has 255; take a smaller",
    ),
    "small pieces": (
        "plain",
        "sm_80",
        MatmulTiling(i=64, j=16, k=16, warps=4, drain=8),
        "drain=8: pieces of 8 rows of a warp, 16x16 in all, have less than 16 bytes for each thread of 4 warps; take",
    ),
    "three warps drained": (
        "plain",
        "sm_80",
        evolve(NARROW, warps=3, drain=32),
        "warps=3, drain=32: a product runs on 1, 2, 4, 8, 12 warps; take one of 1, 2, 4, 8",
    ),
    "odd extents": ("plain", "sm_80", evolve(NARROW, i=96), "i=96: tiles that are dealt to warps have powers of two"),
    "odd columns": (
        "plain",
        "sm_80",
        evolve(NARROW, j=24, k=48),
        "j=24, k=48: tiles that are dealt to warps have powers of two as extents; take powers of two",
    ),
    "chains": (
        "chains",
        "sm_90a",
        evolve(NARROW, workers=sms),
        "chains that warpgroups promote are for blocks of one tile",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_refused_says_why_on_the_line_that_asks(name: str) -> None:
    spec, target, tiling, words = CASES[name]
    with pytest.raises(PlanError) as refused:
        Matmul(SPECS[spec], target, tiling)
    said = str(refused.value)
    assert words in said
    assert f"not be carried out on {target}:" in said
    assert re.match(rf"{re.escape(__file__)}:\d+: ", said)
    assert all("; take " in line for line in said.splitlines()[1:])


def test_all_conflicts_are_told_at_once_and_those_of_one_reason_together() -> None:
    asked: dict[str, Any] = {"cluster": (2, 1), "swap": True, "overlap": True, "drain": 7, "residual_depth": 1}
    with pytest.raises(PlanError) as refused:
        Matmul(MatmulSpec(), "sm_80", evolve(NARROW, **asked))
    _, *lines = str(refused.value).splitlines()
    assert [line.split(": ")[0].strip() for line in lines] == [
        "cluster=(2, 1), swap=True", "overlap=True", "drain=7", "residual_depth=1",
    ]  # fmt: skip


@pytest.mark.parametrize("target", (*TARGETS, "sm_75", "sm_89", "sm_100a", "sm_120"))
@pytest.mark.parametrize("name", SPECS)
def test_what_is_chosen_for_somebody_is_never_refused(name: str, target: str) -> None:
    if not has_cores(SPECS[name], target):
        pytest.skip("no tensor cores for it")
    usual = default_tiling(SPECS[name], target)
    for tiling in (usual, *menu_for(SPECS[name], target, Sizes(1024, 1024, 1024))[::40]):
        assert found_in(SPECS[name], target, tiling) == []


def test_rows_are_of_choices_that_there_are_and_none_is_forgotten() -> None:
    free = {"depth", "prefetch", "isolate", "raster"}
    assert {need.choice.name for need in NEEDS} | free == {each.name for each in fields(MatmulTiling)}


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("warps", "4", "a whole number of at least 1, got '4'"),
        ("prefetch", 1, "True or False, got 1"),
        ("boxed", None, "True or False, got None"),
        ("raster", 8, "an order such as grouped(8), got 8"),
        ("workers", 0, "None, sms or a whole number from 1 to 2147483647, got 0"),
        ("workers", "all", "None, sms or a whole number from 1 to 2147483647, got 'all'"),
        ("evict", ("evict_first", None, None), "an Eviction or None for each of A, B and the results, got"),
        ("evict", None, "an Eviction or None for each of A, B and the results, got None"),
    ],
)
def test_a_choice_of_no_such_kind_is_named(name: str, value: Any, wanted: str) -> None:
    with pytest.raises(PlanError) as refused:
        MatmulTiling(**{name: value})
    assert f"MatmulTiling: {name} is {wanted}" in str(refused.value)


def test_what_a_block_cannot_hold_is_told_on_the_line_that_asked() -> None:
    wide = MatmulTiling(i=256, j=160, k=64, warps=8, depth=3, group_rows=128)
    product = Matmul(MatmulSpec(Layout.NT, output=f32), "sm_90a", wide)  # asked
    said = r"^sm_90a, tiling 256x160x64, .*: tiles held at once in registers need 320, a thread has 255"
    arrays = product.with_outputs(random_inputs(product.compute, {"M": 256, "N": 160, "K": 64}))
    for on_disk in (False, True):
        with pytest.raises(PlanError) as refused:
            product.kernel_for(arrays, on_disk=on_disk)
        assert re.match(said, refused.value.reason)
        line = refused.value.line
        assert line is not None
        assert line.file == __file__
        assert getline(line.file, line.line).endswith("# asked\n")
