"""Grouped products in the simulator, against numpy: groups whose bounds only memory knows."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from attrs import evolve

from isa.descriptors import InvalidDescriptor, Swizzle
from isa.tensor_maps import TensorMap
from ptxgen import grouped_matmul
from ptxgen.compute import Compute, ComputeBuilder, f32, s32
from ptxgen.derive import derive
from ptxgen.errors import LaunchError, PlanError
from ptxgen.kernels import (
    Grouping,
    Layout,
    Matmul,
    MatmulSpec,
    MatmulTiling,
    default_tiling,
    generate,
    matmul_compute,
    matmul_plan,
    parse_epilogue,
)
from ptxgen.kernels.choosing.menu import Sizes, menu_for
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.kernels.launching.entry import entry_of, from_json, program_arrays, to_json
from ptxgen.kernels.launching.launch import prepare
from ptxgen.kernels.launching.segments import bounded, most_tiles
from ptxgen.plan import BlockOrder, Plan, blocks, grouped, hilbert, sms, warps
from ptxgen.prove.trees import check_program
from ptxgen.runtime import assemble
from ptxgen.tile import MIDDLE, ROUND, Program, show
from ptxgen.tile.machine import run
from ptxgen.tile.reading import read
from tests.kernels.grouped import Case, bounds

ROWS, TERMS = Grouping.ROWS, Grouping.TERMS
WARPS = MatmulTiling(i=64, j=64, depth=2, isolate=False)
VOLTA = MatmulTiling(i=64, j=64, k=16)
GROUPS = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3)
PLANS = {
    "volta": ("sm_70", VOLTA),
    "full tiles apart": ("sm_80", evolve(WARPS, isolate=True)),
    "ampere": ("sm_80", WARPS),
    "ampere walking": ("sm_80", evolve(WARPS, workers=3, drain=16)),
    "boxes for warps": ("sm_90", evolve(WARPS, depth=3, boxed=True, workers=3)),
    "warpgroups": ("sm_90a", GROUPS),
    "warpgroups in boxes": ("sm_90a", evolve(GROUPS, drain=32)),
    "warpgroups walking": ("sm_90a", evolve(GROUPS, workers=3, drain=32, raster=grouped(2), overlap=True)),
}
USUAL = {ROWS: Layout.NT, TERMS: Layout.TN}
SIZES = {ROWS: (344, 80, 72), TERMS: (72, 80, 344)}
ENDS = [5, 5, 70, 71, 200, 330]
OTHER_ENDS = ([0, 0, 0], [344], [1, 2, 3, 344], [128, 64, 256, 1000], [-5, 64, 128, 128])


def ran(case: Case, target: str, tiling: MatmulTiling, layout: Layout, epilogue: str = "bias,relu") -> Matmul:
    spec = MatmulSpec(layout, epilogue=parse_epilogue(epilogue), grouped=case.grouping)
    made = Matmul(spec, target, tiling)
    case.judge(made(case.arrays(layout)).arrays["D"])
    return made


@pytest.mark.parametrize("grouping", Grouping, ids=lambda grouping: grouping.value)
@pytest.mark.parametrize("name", PLANS)
def test_every_generation(name: str, grouping: Grouping) -> None:
    ran(Case.of(grouping, ENDS, SIZES[grouping]), *PLANS[name], USUAL[grouping])


@pytest.mark.parametrize("grouping", Grouping, ids=lambda grouping: grouping.value)
@pytest.mark.parametrize("ends", OTHER_ENDS, ids=str)
@pytest.mark.parametrize("name", ["ampere", "warpgroups walking"])
def test_empty_single_and_senseless_groups(name: str, ends: list[int], grouping: Grouping) -> None:
    ran(Case.of(grouping, ends, SIZES[grouping]), *PLANS[name], USUAL[grouping])


LAYOUTS = [each for each in product(Grouping, Layout) if each not in tuple(USUAL.items())]


@pytest.mark.parametrize(("grouping", "layout"), LAYOUTS, ids=lambda each: each.value)
@pytest.mark.parametrize("name", ["ampere", "warpgroups"])
def test_other_layouts(name: str, grouping: Grouping, layout: Layout) -> None:
    """Where groups lie together in memory no copy of several elements fits, nor a box; it still multiplies."""
    ran(Case.of(grouping, [3, 64, 100], (104, 72, 104)), *PLANS[name], layout)


@pytest.mark.parametrize(("grouping", "layout"), LAYOUTS, ids=lambda each: each.value)
def test_other_layouts_are_boxed_where_no_groups_lie_together(grouping: Grouping, layout: Layout) -> None:
    case = Case.of(grouping, [3, 64, 100], (104, 72, 104))
    if grouping is ROWS and not layout.a_transposed:
        ran(case, *PLANS["boxes for warps"], layout)
        return
    with pytest.raises(PlanError, match=r"boxed=True: [AB].* along groups, which no tensor map describes; take False"):
        ran(case, *PLANS["boxes for warps"], layout)


WALKS = {
    "more blocks than tiles": evolve(GROUPS, workers=sms),
    "one block": evolve(GROUPS, workers=1, drain=32),
    "rows": evolve(GROUPS, workers=2, raster=BlockOrder(1)),
    "along a curve": evolve(GROUPS, workers=2, raster=hilbert(2)),
    "in turns": evolve(GROUPS, warps=8, workers=2, turns=True, drain=32),
    "factors swapped": evolve(GROUPS, i=16, workers=2, swap=True),
    "two warpgroups": evolve(GROUPS, i=128, warps=8, workers=2, drain=32),
}


@pytest.mark.parametrize("grouping", Grouping, ids=lambda grouping: grouping.value)
@pytest.mark.parametrize("name", WALKS)
def test_ways_to_walk(name: str, grouping: Grouping) -> None:
    sizes = {ROWS: (200, 136, 72), TERMS: (136, 72, 200)}[grouping]
    if (name, grouping) == ("in turns", TERMS):
        with pytest.raises(PlanError, match="do not know how long k is there"):
            program_of("warpgroups", TERMS, tiling=WALKS[name])
        return
    ran(Case.of(grouping, [5, 5, 140, 200], sizes), "sm_90a", WALKS[name], USUAL[grouping])


@pytest.mark.parametrize("grouping", Grouping, ids=lambda grouping: grouping.value)
def test_random_ends(grouping: Grouping) -> None:
    rng = np.random.default_rng(8)
    for name in ("ampere walking", "warpgroups walking"):
        for _ in range(3):
            ends = np.sort(rng.integers(0, 200, rng.integers(1, 9))).tolist()
            ran(
                Case.of(grouping, ends, {ROWS: (200, 64, 40), TERMS: (64, 64, 200)}[grouping]),
                *PLANS[name],
                USUAL[grouping],
            )


def test_sizes_of_nothing() -> None:
    for grouping, size in product(Grouping, [(0, 64, 64), (64, 64, 0), (64, 0, 64)]):
        for name in ("ampere", "warpgroups walking"):
            ran(Case.of(grouping, [0, 40], size), *PLANS[name], USUAL[grouping])


def program_of(name: str, grouping: Grouping, case: Case | None = None, tiling: MatmulTiling | None = None) -> Program:
    """The program of a plan for arguments of which everything is known that lets accesses be wide."""
    target, tiling = PLANS[name][0], tiling or PLANS[name][1]
    spec = MatmulSpec(USUAL[grouping], epilogue=parse_epilogue("bias,relu"), grouped=grouping)
    arrays = (case or Case.of(grouping, ENDS, SIZES[grouping])).arrays(spec.layout)
    compute = matmul_compute(spec)
    facts = facts_of(compute, bind(arrays_in_memory(compute), arrays))
    return derive(matmul_plan(compute, spec, facts, tiling, target)).program


QUICK = ("ampere walking", "warpgroups", "warpgroups walking")
CASES = [
    pytest.param(name, grouping, marks=() if name in QUICK else pytest.mark.slow, id=f"{name}-{grouping.value}")
    for name, grouping in product(PLANS, Grouping)
]


@pytest.mark.parametrize(("name", "grouping"), CASES)
def test_on_the_tile_machine_in_any_interleaving(name: str, grouping: Grouping) -> None:
    case = Case.of(grouping, [5, 5, 70, 71], {ROWS: (80, 72, 40), TERMS: (72, 80, 80)}[grouping])
    program, arrays = program_of(name, grouping, case), case.arrays(USUAL[grouping])
    sizes = bind(program_arrays(program), arrays).sizes
    for seed in (None, 1):
        case.judge(run(program, arrays, sizes, seed=seed).arrays["D"])


@pytest.mark.parametrize(("name", "grouping"), CASES)
def test_judged_as_a_tree_and_read_back_from_text_and_json(name: str, grouping: Grouping) -> None:
    program = program_of(name, grouping)
    assert not check_program(program).findings
    assert read(show(program)) == program
    entry = entry_of(program)
    assert from_json(to_json(entry)) == entry


def test_a_judge_of_trees_sees_groups_of_different_lengths() -> None:
    """A ring whose counter goes on by the slabs of the longest group: right for every group alone, wrong for two."""
    program = program_of("warpgroups walking", TERMS)
    text = show(program)
    steps = re.findall(r"advance .* by floor\(\(k.end - k.first \+ 63\)/64\)", text)
    assert len(steps) == 2
    findings = check_program(read(text.replace(steps[-1], re.sub("by .*", "by 2", steps[-1])))).findings
    assert findings


def test_the_blocks_of_a_launch_are_as_many_as_some_groups_need() -> None:
    """Against the most tiles that any ends give, by trying all of them."""
    grid = program_of("ampere", ROWS).grid
    for tile, rows, groups in product((2, 4), range(8), range(4)):
        rows_of = evolve(grid.dims[1], count=evolve(grid.dims[1].count, divisor=tile))
        found = most_tiles(
            evolve(grid, dims=(grid.dims[0], rows_of, grid.dims[2])), {"M": rows, "groups": groups, "N": 1}
        )
        every = (bounds(ends, rows) for ends in product(range(rows + 1), repeat=groups))
        assert found == [1, max(sum(-(-(end - first) // tile) for first, end in each) for each in every), 1]


def test_a_launch_that_memory_gives_little_to_do_has_blocks_for_the_most() -> None:
    case = Case.of(ROWS, [0, 0, 0], SIZES[ROWS])
    made = ran(case, *PLANS["ampere"], Layout.NT)
    blocks = prepare(made.kernel_for(case.arrays(Layout.NT)).entry, case.arrays(Layout.NT), {}).blocks
    assert blocks == 2 * (3 + (344 - 3) // 64)


def test_one_kernel_for_any_number_of_groups() -> None:
    product_of = Matmul(MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias"), grouped=ROWS), *PLANS["ampere"])
    found = [product_of.kernel_for(Case.of(ROWS, ends, (64, 64, 64)).arrays(Layout.NT)) for ends in ([1, 2, 3, 4], [9])]
    assert found[0] is found[1]


def test_what_is_told_of_a_kernel() -> None:
    told = Matmul(MatmulSpec(Layout.TN, grouped=ROWS), "sm_90a", GROUPS).variant(without_bias(Layout.TN, ROWS))
    assert "A lies together along groups, which begin anywhere" in told.narrower
    assert "A 2 bytes an access, held by groups that begin anywhere" in told.reasons
    assert (
        not Matmul(MatmulSpec(Layout.NT, grouped=ROWS), "sm_90a", GROUPS)
        .variant(without_bias(Layout.NT, ROWS))
        .narrower
    )


def without_bias(layout: Layout, grouping: Grouping) -> dict[str, np.ndarray]:
    arrays = Case.of(grouping, [64, 320], {ROWS: (320, 256, 256), TERMS: (256, 256, 320)}[grouping]).arrays(layout)
    return {name: array for name, array in arrays.items() if name != "bias"}


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize("grouping", Grouping, ids=lambda grouping: grouping.value)
def test_products_stay_in_flight_and_nothing_is_spilt(grouping: Grouping) -> None:
    """Branches on what memory holds keep no assembler from overlapping products."""
    spec = MatmulSpec(USUAL[grouping], grouped=grouping)
    made = Matmul(spec, "sm_90a", default_tiling(spec, "sm_90a"))
    found = assemble(made.kernel_for(without_bias(spec.layout, grouping)).listing)
    assert (found.notes, found.spills) == ((), 0)


def test_more_rows_than_a_map_of_groups_holds() -> None:
    made = TensorMap("f16", (64, MIDDLE), (128,), (64, 32), swizzle=Swizzle.BYTES_128)
    assert bounded(made, 1).dims == (64, MIDDLE, MIDDLE + 1, MIDDLE + 1)
    for long in (evolve(made, dims=(64, MIDDLE + 1)), evolve(made, strides=(ROUND,))):
        with pytest.raises(InvalidDescriptor, match="have maps that end so"):
            bounded(long, 1)


@pytest.mark.parametrize("grouping", Grouping, ids=lambda grouping: grouping.value)
def test_tilings_offered_ask_for_no_clusters_and_parts(grouping: Grouping) -> None:
    spec = MatmulSpec(USUAL[grouping], grouped=grouping)
    offered = menu_for(spec, "sm_90a", Sizes.of(spec, {"M": 4096, "N": 4096, "K": 4096, "groups": 8}))
    assert len(offered) > 60
    assert all(tiling.cluster == (1, 1) and tiling.split == 1 for tiling in offered)
    assert default_tiling(spec, "sm_90a") in offered


def groups_behind(plan: Plan) -> Plan:
    return plan.tile("cta", i=64, g=1, j=64).place("cta", onto=blocks)


def groups_together(plan: Plan) -> Plan:
    return plan.tile("cta", g=2, i=64, j=64).place("cta", onto=blocks)


def groups_in_clusters(plan: Plan) -> Plan:
    return plan.tile("cta", g=1, i=64, j=64).place("cta", onto=blocks).cluster(i=2)


def scaled_rows() -> Compute:
    """No product: rows times a vector of their group."""
    c = ComputeBuilder("scaled")
    g, j = c.dims(g="G", j="N")
    i = c.segments("i", "M", ends=c.input("ends", s32, (g,), (1,)), group=g)
    x, factor = c.input("X", f32, (i, j), ("ldx", 1)), c.input("F", f32, (g, j), ("ldf", 1))
    c.define(c.output("Y", f32, (i, j), ("ldy", 1))[i, j], x[i, j] * factor[g, j], (g, i, j))
    return c.build()


@pytest.mark.parametrize("steps", [groups_behind, groups_together, groups_in_clusters], ids=lambda each: each.__name__)
def test_blocks_that_would_have_several_groups_are_refused(steps: Callable[[Plan], Plan]) -> None:
    with pytest.raises(PlanError, match=r"the bounds of i are those of one group|blocks that share a tile"):
        derive(steps(Plan(scaled_rows(), "sm_90a")))


def test_a_statement_that_multiplies_no_matrices() -> None:
    plan = Plan(scaled_rows(), "sm_70").tile("cta", g=1, i=16, j=64).place("cta", onto=blocks)
    made = generate(plan.tile("warp", i=8, j=64).place("warp", onto=warps))
    rng, ends = np.random.default_rng(2), np.array([3, 3, 40, 41], np.int32)
    x, factor = rng.standard_normal((50, 70)).astype(np.float32), rng.standard_normal((4, 70)).astype(np.float32)
    y = np.full_like(x, np.nan)
    report = made.simulate({"ends": ends, "X": x, "F": factor, "Y": y})
    assert report is not None
    report.raise_findings()
    wanted = np.full_like(x, np.nan)
    for group, (first, end) in enumerate(bounds(ends, len(x))):
        wanted[first:end] = x[first:end] * factor[group]
    assert np.array_equal(y, wanted, equal_nan=True)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxgen.kernels.calling.call.device_count", lambda: 0)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("target", [None, "sm_90a"])
def test_the_call(target: str | None) -> None:
    for grouping in Grouping:
        case = Case.of(grouping, [5, 5, 70, 100], {ROWS: (120, 72, 40), TERMS: (72, 80, 120)}[grouping])
        out = case.result
        found = grouped_matmul(case.a, case.b, case.ends, bias=case.bias, activation="relu", out=out, target=target)
        assert found is out
        case.judge(out)


@pytest.mark.usefixtures("no_gpu")
def test_the_call_makes_results_and_takes_other_types() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(-99, 99, (40, 32)).astype(np.int8), rng.integers(-99, 99, (2, 32, 24)).astype(np.int8)
    found = grouped_matmul(a, b, np.array([7, 40], np.int32))
    assert found.dtype == np.int32
    wanted = np.concatenate([a[:7].astype(int) @ b[0], a[7:].astype(int) @ b[1]])
    assert np.array_equal(found, wanted)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize(
    ("shapes", "kind", "told"),
    [
        (((4, 40, 32), (4, 32, 24), (4,)), np.int32, "a must have two dimensions, and b three or"),
        (
            ((40, 32), (4, 32, 24), (3,)), np.int32,
            "b must have the shape (3, 32, 24) beside a of (40, 32), b of (4, 32, 24) and offsets of (3,), got",
        ),
        (((40, 32), (4, 31, 24), (4,)), np.int32, "b must have the shape (4, 32, 24)"),
        (((40, 32), (32, 24), (4,)), np.int64, "offsets must be one end for each group, in s32, got int64"),
        (((40, 32), (32, 24), (4, 1)), np.int32, "offsets must be one end for each group"),
    ],
    ids=str,
)  # fmt: skip
def test_calls_refused(shapes: tuple[tuple[int, ...], ...], kind: type[np.generic], told: str) -> None:
    a, b = (np.zeros(shape, np.float16) for shape in shapes[:2])
    with pytest.raises(LaunchError, match=re.escape(told)):
        grouped_matmul(a, b, np.zeros(shapes[2], kind))


@pytest.mark.usefixtures("no_gpu")
def test_arrays_that_do_not_fit_groups_are_refused_in_the_words_of_the_call() -> None:
    a, b, ends = np.zeros((40, 32), np.float16), np.zeros((4, 32, 24), np.float16), np.zeros(4, np.int32)
    with pytest.raises(LaunchError, match=re.escape("bias must have the shape (4, 24)")):
        grouped_matmul(a, b, ends, bias=np.zeros(24, np.float32))
    with pytest.raises(LaunchError, match=re.escape("out must have the shape (4, 40, 24)")):
        grouped_matmul(a, b[0], ends, out=np.zeros((40, 24), np.float16))
