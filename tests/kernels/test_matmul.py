"""Products simulated without a finding, within the bound of float64 and equal to the plain loop bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, f16, f32
from ptxgen.kernels import (
    Layout,
    Matmul,
    MatmulSpec,
    MatmulTiling,
    epilogue_compute,
    epilogue_plan,
    generate,
    menu,
    parse_epilogue,
)
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.plan import BlockOrder
from tests.kernels.cases import bits, judge, random_inputs, run_matmul, scalars_of

EPILOGUES = ("", "bias", "bias,relu", "bias,gelu,residual")
SIZES = ((1, 1, 1), (16, 16, 4), (64, 48, 20), (128, 128, 32), (257, 129, 65), (300, 200, 100))
MATRIX = tuple(product(Layout, (f32, f16), EPILOGUES, SIZES))
SOME = tuple(case for case in MATRIX[5::23] if case[3] != SIZES[-1])
SMALL = MatmulTiling(i=64, j=64, k=16)


def name(case: tuple[Layout, Element, str, tuple[int, int, int]]) -> str:
    layout, accumulate, epilogue, size = case
    return f"{layout.value}-{accumulate}-{epilogue or 'plain'}-{'x'.join(map(str, size))}"


@pytest.mark.parametrize("case", SOME, ids=name)
def test_some_of_all_products(case: tuple[Layout, Element, str, tuple[int, int, int]]) -> None:
    layout, accumulate, epilogue, size = case
    run_matmul(MatmulSpec(layout, accumulate, epilogue=parse_epilogue(epilogue)), size)


@pytest.mark.slow
@pytest.mark.parametrize("case", MATRIX, ids=name)
def test_every_product(case: tuple[Layout, Element, str, tuple[int, int, int]]) -> None:
    layout, accumulate, epilogue, size = case
    run_matmul(MatmulSpec(layout, accumulate, epilogue=parse_epilogue(epilogue)), size)


@pytest.mark.parametrize(
    "epilogue",
    ("alpha,beta,silu", "row_bias,clamp,keep,relu", "keep,gelu,bias,row_bias,alpha", "residual,residual,relu"),
)
def test_pieces_in_any_sequence(epilogue: str) -> None:
    run_matmul(MatmulSpec(epilogue=parse_epilogue(epilogue)), (40, 24, 12), SMALL)


@pytest.mark.parametrize("output", (f16, f32), ids=str)
@pytest.mark.parametrize("accumulate", (f16, f32), ids=str)
def test_sums_and_results_in_both_types(accumulate: Element, output: Element) -> None:
    run_matmul(MatmulSpec(accumulate=accumulate, output=output, epilogue=parse_epilogue("bias")), (70, 66, 20), SMALL)


def test_batches_by_stride() -> None:
    run_matmul(MatmulSpec(batched=True, epilogue=parse_epilogue("bias,residual")), (20, 36, 18), SMALL)


def around(tile: int) -> tuple[int, int, int]:
    return tile - 1, tile, tile + 1


@pytest.mark.parametrize("size", ((63, 65, 15), (64, 64, 16), (65, 63, 17), (64, 65, 32), (63, 64, 33)), ids=str)
def test_one_below_at_and_above_a_tile(size: tuple[int, int, int]) -> None:
    run_matmul(MatmulSpec(epilogue=parse_epilogue("bias")), size, SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("size", tuple(product(around(128), around(128), around(32))), ids=str)
def test_every_size_around_a_tile(size: tuple[int, int, int]) -> None:
    run_matmul(MatmulSpec(epilogue=parse_epilogue("bias")), size)


@pytest.mark.parametrize("depth", (1, 2))
@pytest.mark.parametrize("slabs", (0, 1, 2, 3))
def test_slab_counts_around_the_depth(slabs: int, depth: int) -> None:
    run_matmul(MatmulSpec(epilogue=parse_epilogue("bias,relu")), (64, 64, 16 * slabs), evolve(SMALL, depth=depth))


@pytest.mark.parametrize(
    "size",
    (*((128, 128, 32 * slabs) for slabs in range(4)), (127, 129, 31), (129, 128, 33), (128, 127, 32)),
    ids=str,
)
def test_the_default_tile_around_its_edges_and_depth(size: tuple[int, int, int]) -> None:
    assert (Matmul().tiled.i, Matmul().tiled.j, Matmul().tiled.k, Matmul().tiled.depth) == (128, 128, 32, 2)
    run_matmul(MatmulSpec(epilogue=parse_epilogue("bias,relu")), size)


def test_sums_of_nothing_are_zero_before_the_epilogue() -> None:
    outcome = run_matmul(MatmulSpec(epilogue=parse_epilogue("bias,relu")), (70, 40, 0), SMALL)
    expected = np.maximum(outcome.arrays["bias"], 0).astype(np.float16)
    assert np.array_equal(outcome.arrays["D"], np.broadcast_to(expected, (70, 40)))


@pytest.mark.parametrize("size", ((0, 5, 4), (5, 0, 4), (0, 0, 0)), ids=str)
def test_a_result_without_elements_launches_nothing(size: tuple[int, int, int]) -> None:
    outcome = run_matmul(MatmulSpec(), size, SMALL)
    assert outcome.report is None


def test_leading_dimensions_larger_than_the_row() -> None:
    chance = np.random.default_rng(1)
    wide = {name: chance.standard_normal((70, 120)).astype(np.float16) for name in "AB"}
    result = np.full((70, 110), np.float16(7))
    product_ = Matmul(tiling=SMALL)
    arrays = {"A": wide["A"][:, :33], "B": wide["B"][:33, 5:71], "D": result[:, 8:74]}
    product_(arrays)
    judge(product_.compute, arrays, {})
    assert (result[:, :8] == 7).all()
    assert (result[:, 74:] == 7).all()


@pytest.mark.parametrize("variant", tuple(menu())[4::5], ids=str)
def test_some_other_plans_give_the_same_bits(variant: MatmulTiling) -> None:
    run_matmul(MatmulSpec(epilogue=parse_epilogue("bias,relu")), (130, 70, 40), variant)


@pytest.mark.slow
@pytest.mark.parametrize("layout", Layout, ids=lambda layout: layout.value)
@pytest.mark.parametrize("variant", tuple(menu()), ids=str)
def test_every_plan_of_the_menu_gives_the_same_bits(variant: MatmulTiling, layout: Layout) -> None:
    run_matmul(MatmulSpec(layout, epilogue=parse_epilogue("bias,relu")), (150, 140, 70), variant)


def test_the_menu_offers_25_different_plans() -> None:
    offered = tuple(menu())
    assert len(offered) >= 25
    assert len(set(offered)) == len(offered)


@pytest.mark.parametrize(
    ("layout", "accumulate", "epilogue"),
    (
        (Layout.NN, f32, "bias,relu"),
        (Layout.NT, f32, "alpha,row_bias,gelu,residual"),
        (Layout.TN, f16, "beta,silu,clamp"),
        (Layout.TT, f16, "bias,keep,gelu,residual"),
        (Layout.TT, f32, "clamp,keep,alpha"),
        (Layout.NN, f16, ""),
    ),
    ids=str,
)
def test_fused_equals_unfused(layout: Layout, accumulate: Element, epilogue: str) -> None:
    pieces = parse_epilogue(epilogue)
    fused = Matmul(MatmulSpec(layout, accumulate, epilogue=pieces), tiling=SMALL)
    inputs = random_inputs(fused.compute, {"M": 70, "N": 50, "K": 36})
    scalars = scalars_of(fused.compute)
    whole = fused(inputs, scalars).arrays
    factors = {name: inputs[name] for name in "AB"}
    plain = Matmul(MatmulSpec(layout, accumulate, accumulate), tiling=SMALL)(factors).arrays["D"]
    second = epilogue_compute(pieces, accumulate)
    results = {name: np.zeros_like(whole[name]) for name in "DE" if name in whole}
    arrays = {"AB": plain, **{name: array for name, array in inputs.items() if name not in factors}, **results}
    kernel = generate(epilogue_plan(second, facts_of(second, bind(arrays_in_memory(second), arrays)), "sm_70"))
    report = kernel.simulate(arrays, scalars)
    assert report is not None
    report.raise_findings()
    for name, result in results.items():
        assert np.array_equal(bits(result), bits(whole[name])), name


def test_beta_of_zero_never_reads_its_operand() -> None:
    product_ = Matmul(MatmulSpec(epilogue=parse_epilogue("beta")), tiling=SMALL)
    inputs = random_inputs(product_.compute, {"M": 64, "N": 64, "K": 16})
    inputs["C"][...] = np.nan

    def bytes_read(beta: float) -> int:
        outcome = product_(inputs, {"beta": beta})
        assert outcome.report is not None
        assert np.isfinite(outcome.arrays["D"]).all() == (beta == 0.0)
        sites = [s for s in outcome.report.global_sites if s.instruction.form.opcode == "ld"]
        return sum(site.global_.bytes for site in sites)

    assert bytes_read(1.0) - bytes_read(0.0) == inputs["C"].nbytes


def test_nan_passes_relu_and_stays_in_its_row() -> None:
    product_ = Matmul(MatmulSpec(epilogue=parse_epilogue("relu")), tiling=SMALL)
    inputs = random_inputs(product_.compute, {"M": 20, "N": 24, "K": 19})
    inputs["A"][7, 3] = np.nan
    result = product_(inputs).arrays["D"]
    assert np.isnan(result[7]).all()
    assert not np.isnan(np.delete(result, 7, axis=0)).any()


PRINTED = """
from ptxgen.kernels import Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.plan import aligned, multiple
spec = MatmulSpec(epilogue=parse_epilogue("bias,gelu,residual,keep,row_sum"))
product = Matmul(spec, tiling=MatmulTiling(64, 64, 16))
facts = (*aligned("A", "B", "D", bytes=16), *(multiple(name, 8) for name in ("lda", "ldb", "ldd", "N")))
print(product.kernel(facts).listing)
"""


def test_the_text_is_the_same_in_every_process() -> None:
    texts = [
        subprocess.run(
            [sys.executable, "-c", PRINTED], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert b".visible .entry matmul" in texts[0]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("shape", [(130, 200, 40), (1, 1, 1), (128, 64, 0), (65, 129, 33)], ids=str)
@pytest.mark.parametrize("batches", [None, 2])
def test_row_and_column_sums(shape: tuple[int, int, int], batches: int | None) -> None:
    m, n, k = shape
    front = () if batches is None else (batches,)
    rng = np.random.default_rng(m)
    a = rng.standard_normal((*front, m, k)).astype(np.float16)
    b = rng.standard_normal((*front, k, n)).astype(np.float16)
    spec = MatmulSpec(epilogue=parse_epilogue("relu,row_sum,column_sum"), batched=batches is not None)
    arrays = Matmul(spec)({"A": a, "B": b}).arrays
    wanted = np.maximum(a.astype(float) @ b.astype(float), 0)
    for got, reference in ((arrays["row_sum"], wanted.sum(-1)), (arrays["column_sum"], wanted.sum(-2))):
        assert got.shape == reference.shape
        assert np.all(np.abs(got - reference) <= 1e-5 * (k + 1) * (1 + np.abs(reference)))


def test_sums_do_not_depend_on_the_order_of_blocks() -> None:
    rng = np.random.default_rng(7)
    given = {
        "A": rng.standard_normal((200, 40)).astype(np.float16),
        "B": rng.standard_normal((40, 300)).astype(np.float16),
    }
    spec = MatmulSpec(epilogue=parse_epilogue("row_sum"))
    sums = [
        Matmul(spec, tiling=MatmulTiling(raster=BlockOrder(order)))(given).arrays["row_sum"].tobytes()
        for order in (1, 2)
    ]
    assert sums[0] == sums[1]
