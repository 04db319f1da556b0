"""Products of warpgroups whose tiles have extents that are no powers of two: no finding, the bits of the plain loop."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, bf16, e4m3, f16, f32, s8, s32, tf32
from ptxgen.derive import derive
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan, parse_epilogue
from ptxgen.kernels.launching.generated import GeneratedKernel, generate
from ptxgen.kernels.products.by_warpgroups import by_warpgroups as by_warpgroups_or_why
from ptxgen.plan import Drain, Fact, MultiplyBy, Plan, Tile, Workers, aligned, multiple, sms, wgmma
from ptxgen.tile import Commit, RegisterFence, granule
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.mutants import without_each_synchronisation
from ptxgen.verify import verify
from tests.kernels.cases import bits, judge, random_inputs, run_matmul
from tests.kernels.clusters import FACTS, memories

WIDE = MatmulTiling(i=128, j=192, k=64, warps=8, depth=4)
TALL = MatmulTiling(i=192, j=128, k=64, warps=12, depth=3)
WAVE = MatmulTiling(i=192, j=96, k=64, warps=12, depth=4)
TILINGS = (
    WIDE,
    TALL,
    WAVE,
    MatmulTiling(i=64, j=160, k=64, warps=4, depth=3),
    MatmulTiling(i=64, j=96, k=64, warps=4, depth=3),
    MatmulTiling(i=128, j=96, k=64, warps=8, depth=3),
    MatmulTiling(i=128, j=24, k=64, warps=8, depth=3),
)
NARROW = TILINGS[-1]
LAYOUTS = (Layout.NT, Layout.NN, Layout.TN, Layout.TT)
SIZE = (136, 200, 72)
TALLER = (200, 136, 72)


def slow(*case: object) -> Any:
    """A case that only long runs try."""
    return pytest.param(*case, marks=pytest.mark.slow)


def allowed(tiling: MatmulTiling, layout: Layout) -> bool:
    """Whether 32 bytes of 16-bit elements divide a row of B's tile, as the narrowest swizzle needs it."""
    return layout.b_transposed or tiling.j % 16 == 0


def by_warpgroups(kernel: GeneratedKernel) -> bool:
    return multiplied(kernel.plan).instruction.warpgroup


def multiplied(plan: Plan) -> MultiplyBy:
    (found,) = (step for step in plan.steps if isinstance(step, MultiplyBy))
    return found


def check(tiling: MatmulTiling, layout: Layout, output: Element, size: tuple[int, int, int] | None = None) -> None:
    size = size or (TALLER if tiling.i == TALL.i else SIZE)
    spec = MatmulSpec.of(bf16 if output is bf16 else f16, layout=layout, output=output)
    outcome = run_matmul(evolve(spec, epilogue=parse_epilogue("bias,relu")), size, tiling, target="sm_90a")
    assert by_warpgroups(outcome.kernel)
    assert verify(outcome.kernel.module) == ()


SOME: tuple[tuple[MatmulTiling, Layout, Element, Workers | None, int], ...] = (
    (TILINGS[0], Layout.NN, f16, sms, 64),
    (TILINGS[1], Layout.TT, f32, sms, 64),
    (TILINGS[2], Layout.NN, bf16, sms, 32),
    (TILINGS[3], Layout.TN, f16, sms, 32),
    (TILINGS[4], Layout.NT, f16, None, 64),
    (TILINGS[6], Layout.NT, f32, sms, 8),
)


@pytest.mark.parametrize(("tiling", "layout", "output", "workers", "drain"), SOME, ids=str)
def test_the_bits_of_the_plain_loop(
    tiling: MatmulTiling, layout: Layout, output: Element, workers: Workers | None, drain: int
) -> None:
    check(evolve(tiling, workers=workers, drain=drain), layout, output)


def leaves_boxed(tiling: MatmulTiling, output: Element) -> bool:
    """Whether the widest pieces that divide a tile are the 32 bytes that tensor copies store at least."""
    return granule(tiling.j) * output.byte_count >= 32


ALL = [
    (tiling, layout, output, workers, drain)
    for tiling, layout, output, workers, drain in product(TILINGS, LAYOUTS, (f16, bf16, f32), (None, sms), (0, 32, 64))
    if allowed(tiling, layout) and (not drain or leaves_boxed(tiling, output))
]


@pytest.mark.slow
@pytest.mark.parametrize(("tiling", "layout", "output", "workers", "drain"), ALL, ids=str)
def test_every_combination(
    tiling: MatmulTiling, layout: Layout, output: Element, workers: Workers | None, drain: int
) -> None:
    check(evolve(tiling, workers=workers, drain=drain), layout, output)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1, 8, 8), (192, 192, 64), (201, 200, 0), (385, 392, 200)], ids=str)
@pytest.mark.parametrize("tiling", TILINGS, ids=str)
def test_ragged_sizes(tiling: MatmulTiling, size: tuple[int, int, int]) -> None:
    for layout in (Layout.NT, Layout.TT):
        check(evolve(tiling, workers=2, drain=32 if leaves_boxed(tiling, f16) else 0), layout, f16, size)


def test_the_bits_of_tiles_of_powers_of_two() -> None:
    tilings = (MatmulTiling(i=64, j=64, k=64, warps=4, depth=2), MatmulTiling(i=64, j=160, k=64, warps=4, depth=2))
    known, other = (run_matmul(MatmulSpec(), (72, 168, 136), tiling, target="sm_90a") for tiling in tilings)
    assert by_warpgroups(known.kernel)
    assert np.array_equal(bits(known.arrays["D"]), bits(other.arrays["D"]))


COLUMNS = [n if n in (40, 112, 224) else slow(n) for n in range(8, 257, 8)]


@pytest.mark.parametrize("columns", COLUMNS)
def test_every_extent_that_the_instruction_has(columns: int) -> None:
    tiling = MatmulTiling(i=64, j=columns, k=16, warps=4, depth=2, isolate=False)
    tiling = evolve(tiling, drain=32 if leaves_boxed(tiling, f16) else 0)
    outcome = run_matmul(MatmulSpec(Layout.NT), (40, columns + 8, 32), tiling, target="sm_90a")
    assert multiplied(outcome.kernel.plan).instruction.n == columns


@pytest.mark.parametrize(("input", "columns"), [(tf32, 96), (s8, 24), slow(s8, 96), slow(e4m3, 160)], ids=str)
def test_other_types(input: Element, columns: int) -> None:
    tiling = MatmulTiling(i=192, j=columns, k=128 // input.byte_count, warps=12, depth=3, workers=sms)
    spec = MatmulSpec.of(input, layout=Layout.NT)
    tiling = evolve(tiling, drain=0 if spec.output is s32 else 32)
    assert by_warpgroups(run_matmul(spec, (200, 112, 80), tiling, target="sm_90a").kernel)


@pytest.mark.slow
def test_chains() -> None:
    tiling = MatmulTiling(i=192, j=96, k=128, warps=12, depth=2, isolate=False)
    spec = MatmulSpec.of(e4m3, layout=Layout.NT, promote=128)
    assert by_warpgroups(run_matmul(spec, (200, 112, 144), tiling, target="sm_90a").kernel)


@pytest.mark.parametrize(
    ("tiling", "cluster", "layout"),
    [
        (WIDE, (2, 1), Layout.NN),
        slow(TALL, (2, 2), Layout.TN),
        (WAVE, (1, 2), Layout.NT),
        slow(WAVE, (3, 1), Layout.NT),
    ],
    ids=str,
)
def test_clusters(tiling: MatmulTiling, cluster: tuple[int, int], layout: Layout) -> None:
    check(evolve(tiling, cluster=cluster, k=32, depth=2, drain=32), layout, f16)


SWAPPED = MatmulTiling(i=24, j=192, k=64, warps=12, depth=2, isolate=False, swap=True)


@pytest.mark.parametrize(
    ("tiling", "layout", "size"),
    [
        (SWAPPED, Layout.NT, (40, 200, 72)),
        (evolve(SWAPPED, i=32, drain=64, workers=2), Layout.TN, (40, 200, 72)),
        slow(evolve(SWAPPED, i=48, workers=2), Layout.TN, (56, 200, 72)),
        slow(evolve(SWAPPED, i=96, j=64, warps=4, drain=64), Layout.TT, (104, 72, 72)),
        slow(evolve(SWAPPED, i=160, j=128, warps=8, drain=64, workers=2), Layout.NN, (200, 136, 72)),
        slow(evolve(SWAPPED, i=112, workers=2), Layout.NN, (200, 200, 72)),
    ],
    ids=str,
)
def test_factors_that_change_places(tiling: MatmulTiling, layout: Layout, size: tuple[int, int, int]) -> None:
    check(tiling, layout, f16, size)


@pytest.mark.parametrize("columns", [24, slow(112), slow(144), slow(160), 192])
def test_row_sums_are_kept_apart_in_what_divides_the_tile(columns: int) -> None:
    tiling = MatmulTiling(i=64, j=columns, k=64, warps=4, depth=2, isolate=False)
    summed = Matmul(MatmulSpec(Layout.NT, epilogue=parse_epilogue("row_sum")), "sm_90a", tiling)
    inputs = random_inputs(summed.compute, {"M": 72, "N": 2 * columns + 8, "K": 40})
    outcome = summed(inputs)
    wanted = inputs["A"].astype(float) @ inputs["B"].astype(float).T
    assert by_warpgroups(outcome.kernel)
    assert np.abs(outcome.arrays["row_sum"] - wanted.sum(1)).max() < 1e-3 * np.abs(wanted).sum(1).max()


@pytest.mark.parametrize(("layout", "columns"), [(Layout.NN, 64), slow(Layout.NT, 32), slow(Layout.TN, 16)], ids=str)
def test_several_instructions_beside_each_other(layout: Layout, columns: int) -> None:
    """Three, six or twelve products along n make up 192 columns."""
    plan = planned(MatmulSpec(layout), evolve(WIDE, depth=2))
    changed = evolve(multiplied(plan), instruction=wgmma(columns, f32))
    steps = tuple(changed if isinstance(step, MultiplyBy) else step for step in plan.steps)
    compute = matmul_compute(MatmulSpec(layout))
    arrays: dict[str, Any] = random_inputs(compute, {"M": 72, "N": 200, "K": 72})
    arrays["D"] = np.full((72, 200), np.nan, np.float16)
    report = generate(evolve(plan, steps=steps)).simulate(arrays)
    assert report is not None
    report.raise_findings()
    judge(compute, arrays, {}, exact=True, target="sm_90a", orders=derive(plan).signature())


def planned(spec: MatmulSpec, tiling: MatmulTiling, target: str = "sm_90a") -> Plan:
    return matmul_plan(matmul_compute(spec), spec, FACTS, tiling, target)


MACHINE = [evolve(t, k=32, drain=32, workers=2, depth=2) for t in TILINGS]


@pytest.mark.parametrize(
    ("tiling", "layout"),
    [*((t, Layout.NN) for t in MACHINE[:2]), *(slow(t, x) for t in MACHINE for x in LAYOUTS if allowed(t, x))],
    ids=str,
)
def test_on_the_tile_machine(tiling: MatmulTiling, layout: Layout) -> None:
    program = derive(planned(MatmulSpec(layout), tiling)).program
    held, sizes, wanted = memories(layout, 200, 232, 72)
    for seed in (None, 1):
        got = run(program, {name: array.copy() for name, array in held.items()}, sizes, seed=seed).arrays["D"]
        assert np.abs(got - wanted).max() < 3e-2


@pytest.mark.slow
def test_on_the_tile_machine_every_synchronisation_is_needed() -> None:
    """But the commit of no stores before the first tile, and the fence of the steady loop, which is for assemblers."""
    tiling = MatmulTiling(i=192, j=48, k=16, warps=12, depth=2, workers=2, drain=16)
    program = derive(planned(MatmulSpec(Layout.NT), tiling)).program
    harmless = []
    for mutant in without_each_synchronisation(program):
        held, sizes, _ = memories(Layout.NT, 200, 104, 56)
        try:
            run(mutant.program, held, sizes)
        except MachineFault:
            continue
        harmless.append(type(mutant.removed))
    assert harmless == [Commit, RegisterFence]


def drain_of(tiling: MatmulTiling, output: Element = f16) -> str:
    (step,) = (s for s in planned(MatmulSpec(Layout.NT, output=output), tiling).steps if isinstance(s, Drain))
    return str(step.pieces) if step.through else "registers"


def test_pieces_are_as_wide_as_divides_the_tile() -> None:
    """Those of 16 bytes in a row have no swizzle: results leave from registers, and the plan says so."""
    assert [drain_of(evolve(t, drain=64, depth=2)) for t in TILINGS] == [
        "(('j', 64),)", "(('j', 64),)", "(('j', 32),)", "(('j', 32),)", "(('j', 32),)", "(('j', 32),)", "registers"
    ]  # fmt: skip
    assert drain_of(evolve(NARROW, drain=64), f32) == "(('j', 8),)"


def test_slots_hold_no_more_than_the_tile() -> None:
    """192 rows or columns of 64 halves are 24 KiB, and boxes have as many rows."""
    program = derive(planned(MatmulSpec(Layout.NT), evolve(TALL, drain=64, workers=sms))).program
    assert [b.slot_bytes for b in program.buffers if b.name.endswith(".shared")] == [24576, 16384, 24576]
    assert [box.extents for box in program.boxes] == [(64, 192), (64, 128), (64, 192)]
    wide = derive(planned(MatmulSpec(Layout.NN), evolve(WIDE, workers=sms))).program
    assert [b.slot_bytes for b in wide.buffers if b.name.endswith(".shared")] == [16384, 24576]
    parts = derive(planned(MatmulSpec(Layout.NT, output=f32), evolve(TALL, depth=2, drain=32, workers=sms))).program
    assert [b.slot_bytes for b in parts.buffers if b.name == "D.shared"] == [24576]
    assert parts.boxes[-1].extents == (8, 64)


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize("tiling", [*TILINGS[:3], *map(slow, TILINGS[3:])], ids=str)
def test_assembled_without_a_note_and_without_spills(tiling: MatmulTiling) -> None:
    """What an assembler takes back of asynchronous products is an error of `assembled`."""
    for workers, drain in ((None, 0), (sms, 64)):
        spec = MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu"))
        cubin = generate(planned(spec, evolve(tiling, workers=workers, drain=drain))).assembled()
        assert (cubin.spills, cubin.registers <= 168) == (0, True)


def test_what_the_facts_deny_goes_by_warps_with_the_power_of_two_below() -> None:
    """Rows of 136 bytes: no tensor map tells of them. Eight columns for each warp at least, whose copies some lanes
    repeat, under bounds."""
    for layout, tiling, instead in (
        (Layout.NN, evolve(WAVE, drain=64), (128, 64, 8)),
        (Layout.NN, evolve(TILINGS[3], drain=64), (64, 128, 4)),
        (Layout.NT, NARROW, (128, 32, 8)),
    ):
        spec = MatmulSpec(layout, epilogue=parse_epilogue("bias"))
        outcome = run_matmul(spec, (72, 76, 68), evolve(tiling, workers=sms), target="sm_90a")
        assert not by_warpgroups(outcome.kernel)
        cta = next(step for step in outcome.kernel.plan.steps if "tile('cta'" in str(step) or "tile(cta" in str(step))
        assert (f"i={instead[0]}" in str(cta), f"j={instead[1]}" in str(cta)) == (True, True)
        assert outcome.kernel.program.warps == instead[2]


def repeated_instruction() -> None:
    plan = planned(MatmulSpec(Layout.NT), WIDE)
    changed = evolve(multiplied(plan), instruction=wgmma(96, f32))
    derive(evolve(plan, steps=tuple(changed if isinstance(s, MultiplyBy) else s for s in plan.steps)))


def no_such_integers() -> None:
    """Forty columns, which products of halves may have."""
    spec = MatmulSpec.of(s8, layout=Layout.NT)
    facts: tuple[Fact, ...] = (
        *(multiple(name, 16) for name in ("M", "N", "K", "lda", "ldb")),
        *aligned("A", "B", "D", bytes=16),
    )
    plan = matmul_plan(
        matmul_compute(spec), spec, facts, MatmulTiling(i=64, j=48, k=32, warps=4, isolate=False), "sm_90a"
    )
    changed = evolve(multiplied(plan), instruction=wgmma(40, s32, s8))
    narrower = (
        evolve(s, extents=(("i", 64), ("j", 40), ("k", 32))) if isinstance(s, Tile) and s.level == "cta" else s
        for s in plan.steps
    )
    derive(evolve(plan, steps=tuple(changed if isinstance(s, MultiplyBy) else s for s in narrower)))


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "ninety-six twice": (repeated_instruction, "needs a tile of exactly 96, no power of two, along j"),
    "forty bytes": (no_such_integers, "m64n40k32"),
    "rows of two spans": (
        lambda: derive(planned(MatmulSpec(Layout.NT), evolve(WIDE, k=128, depth=2))),
        "B.shared: dimension 0 of extent 192: its multiples of 64 do not lie behind everything else",
    ),
    "twelve warps without warpgroups": (
        lambda: planned(MatmulSpec(), TALL, "sm_80"),
        "a product on 12 warps is one of warpgroups, but sm_80 has no products of warpgroups for f16",
    ),
    "twelve warps on 128 rows": (
        lambda: planned(MatmulSpec(), evolve(TALL, i=128)),
        "a product on 12 warps is one of warpgroups, but a tile of 128x128 on 12 warps is none of 64 rows",
    ),
    "ninety-six columns of warps": (
        lambda: derive(planned(MatmulSpec(), MatmulTiling(j=96), "sm_80")),
        "j=96 is no power of two, as tiles are that are dealt to warps",
    ),
    "twelve columns": (
        lambda: planned(MatmulSpec(Layout.NN), evolve(TALL, j=12)),
        "a product on 12 warps is one of warpgroups, but a tile of 192x12 on 12 warps is none of 64 rows",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name: str) -> None:
    case, words = REFUSED[name]
    with pytest.raises(PlanError) as caught:
        case()
    assert words in caught.value.reason


def test_why_no_warpgroup_takes_columns_of_48_bytes_across_k() -> None:
    spec = MatmulSpec(Layout.NN)
    why = by_warpgroups_or_why(Plan(matmul_compute(spec), "sm_90a").assume(*FACTS), spec, NARROW)
    assert why == "rows of B's tile are spans of 16 bytes, a swizzle spans 32 at least"
