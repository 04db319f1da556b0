"""Every dense type of the tensor cores: products simulated without a finding, the plain loop's bits in the kernel's
order, within the bounds of float64."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, bf16, e4m3, e5m2, f16, f32, f64, s8, s32, tf32, u8
from ptxgen.derive import derive
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, matmul_compute, parse_epilogue
from ptxgen.kernels.products.generations import generation_of
from ptxgen.plan import (
    MatrixInstruction,
    Plan,
    aligned,
    blocks,
    m8n8k4,
    m8n8k16,
    m16n8k4,
    m16n8k8,
    m16n8k16,
    m16n8k32,
    multiple,
    role,
    shared,
    swizzle,
    tensor,
    warpgroups,
    wgmma,
)
from ptxgen.runtime import assemble
from tests.kernels.cases import by_instruction, judge, random_inputs, run_matmul

SIZE = (72, 88, 112)


def by_warps(element: Element) -> MatmulTiling:
    return MatmulTiling(i=64, j=64, k=max(16, 64 // element.byte_count), depth=3)


def by_warpgroups(element: Element) -> MatmulTiling:
    return MatmulTiling(i=64, j=64, k=128 // element.byte_count, warps=4, depth=3, isolate=False)


WARPS = [
    ("sm_75", s8),
    *(("sm_80", element) for element in (bf16, tf32, f64, s8, u8)),
    *(("sm_89", element) for element in (f16, e4m3, e5m2)),
    *(("sm_90", element) for element in (bf16, tf32, f64, e4m3)),
]


@pytest.mark.parametrize("target, element", WARPS, ids=str)
def test_by_warps(target: str, element: Element) -> None:
    outcome = run_matmul(MatmulSpec.of(element, layout=Layout.NT), SIZE, by_warps(element), target=target)
    instruction = generation_of(target, element, MatmulSpec.of(element).accumulate).instruction
    assert f"mma.sync.aligned.{instruction.name}.row.col" in str(outcome.kernel.listing)


@pytest.mark.parametrize("element", (bf16, tf32, s8, u8, e4m3, e5m2), ids=str)
def test_by_warpgroups(element: Element) -> None:
    outcome = run_matmul(MatmulSpec.of(element, layout=Layout.NT), SIZE, by_warpgroups(element), target="sm_90a")
    assert f"k{32 // element.byte_count}.{MatmulSpec.of(element).accumulate}.{element}" in str(outcome.kernel.listing)


@pytest.mark.parametrize("layout", (Layout.NN, Layout.TN, Layout.TT), ids=lambda layout: layout.value)
@pytest.mark.parametrize("element", (tf32, s8), ids=str)
def test_operands_that_lie_across_k(layout: Layout, element: Element) -> None:
    run_matmul(MatmulSpec.of(element, layout=layout), SIZE, by_warps(element), target="sm_80")


@pytest.mark.slow
@pytest.mark.parametrize("layout", tuple(Layout), ids=lambda layout: layout.value)
@pytest.mark.parametrize("target, element", WARPS, ids=str)
def test_every_layout(target: str, element: Element, layout: Layout) -> None:
    run_matmul(MatmulSpec.of(element, layout=layout), SIZE, by_warps(element), target=target)
    run_matmul(MatmulSpec.of(element, layout=layout), (40, 33, 37), by_warps(element), target=target)


@pytest.mark.parametrize("layout", (Layout.NN, Layout.TT), ids=lambda layout: layout.value)
def test_bf16_by_warpgroups_lies_either_way(layout: Layout) -> None:
    outcome = run_matmul(MatmulSpec.of(bf16, layout=layout), SIZE, by_warpgroups(bf16), target="sm_90a")
    assert "wgmma" in str(outcome.kernel.listing)


def test_bytes_across_k_are_multiplied_by_warps_and_it_is_told() -> None:
    spec = MatmulSpec.of(s8, layout=Layout.NN)
    product = Matmul(spec, "sm_90a", by_warpgroups(s8))
    variant = product.variant(random_inputs(product.compute, {"M": 64, "N": 64, "K": 128}))
    assert not variant.instruction.warpgroup
    assert variant.narrower == "B does not lie together along k, as wgmma needs it of s8"


MIXED = [("sm_80", s8, u8, s32), ("sm_89", e4m3, e5m2, f32), ("sm_90a", e5m2, e4m3, f32), ("sm_90a", u8, s8, s32)]


@pytest.mark.parametrize("target, left, right, sums", MIXED, ids=str)
def test_two_types(target: str, left: Element, right: Element, sums: Element) -> None:
    tiling = by_warpgroups(left) if target == "sm_90a" else by_warps(left)
    spec = MatmulSpec.of(left, b_input=right, layout=Layout.NT)
    assert f".{sums}.{left}.{right}" in str(run_matmul(spec, SIZE, tiling, target=target).kernel.listing)


@pytest.mark.parametrize("target", ("sm_89", "sm_90a"))
def test_bytes_summed_in_halves(target: str) -> None:
    tiling = by_warpgroups(e4m3) if target == "sm_90a" else by_warps(e4m3)
    run_matmul(MatmulSpec.of(e4m3, accumulate=f16, layout=Layout.NT), SIZE, tiling, target=target)


RESULTS = [
    ("sm_80", s8, f32, "alpha,bias,relu"), ("sm_80", s8, s8, "alpha,bias"), ("sm_80", u8, bf16, "alpha"),
    ("sm_80", f16, bf16, "bias"), ("sm_89", f16, e4m3, "alpha,relu"), ("sm_89", e4m3, e5m2, "bias"),
    ("sm_80", f64, f64, "alpha,bias,residual,relu,clamp"), ("sm_80", f64, f32, "alpha,beta"),
    ("sm_80", bf16, f32, "residual"), ("sm_80", tf32, f16, "bias,relu"), ("sm_80", f16, f64, "alpha"),
]  # fmt: skip


@pytest.mark.parametrize("target, element, output, epilogue", RESULTS, ids=str)
def test_results_of_other_types(target: str, element: Element, output: Element, epilogue: str) -> None:
    spec = MatmulSpec.of(element, output=output, layout=Layout.NT, epilogue=parse_epilogue(epilogue))
    run_matmul(spec, (40, 72, 64), by_warps(element), target=target)


@pytest.mark.parametrize("element", (s8, u8), ids=str)
def test_integers_scaled_and_rounded_again(element: Element) -> None:
    """Half of the results are inside the range, the others saturate."""
    spec = MatmulSpec.of(element, output=element, layout=Layout.NT, epilogue=parse_epilogue("alpha,bias"))
    product = Matmul(spec, "sm_80", by_warps(element))
    inputs = random_inputs(product.compute, {"M": 40, "N": 72, "K": 64})
    alpha = 1 / 512 if element is s8 else 1 / 5000
    outcome = product(inputs, {"alpha": alpha})
    orders = outcome.kernel.derivation.signature()
    judge(product.compute, outcome.arrays, {"alpha": alpha}, target="sm_80", orders=orders)
    exact = alpha * (inputs["A"].astype(float) @ inputs["B"].astype(float).T) + inputs["bias"]
    limits = np.iinfo(outcome.arrays["D"].dtype)
    assert np.abs(outcome.arrays["D"] - np.clip(exact, limits.min, limits.max)).max() < 0.6
    assert 0.2 < (np.abs(exact - np.clip(exact, limits.min, limits.max)) == 0).mean() < 0.99


RAGGED = [("sm_80", s8), ("sm_80", tf32), ("sm_80", f64), ("sm_89", e5m2), ("sm_90a", bf16), ("sm_90a", u8)]


@pytest.mark.parametrize("target, element", RAGGED, ids=str)
@pytest.mark.parametrize("size", ((33, 70, 66), (1, 1, 1), (65, 17, 0)), ids=str)
def test_ragged_and_tiny(target: str, element: Element, size: tuple[int, int, int]) -> None:
    tiling = by_warpgroups(element) if target == "sm_90a" else by_warps(element)
    run_matmul(MatmulSpec.of(element, layout=Layout.NT), size, tiling, target=target)


def test_a_batch_of_integers() -> None:
    run_matmul(MatmulSpec.of(s8, layout=Layout.NT, batched=True), (40, 72, 64), by_warps(s8), target="sm_80")


def test_arrays_of_bits_are_taken_for_what_numpy_lacks() -> None:
    product = Matmul(MatmulSpec.of(bf16, layout=Layout.NT), "sm_80", by_warps(bf16))
    arrays = random_inputs(product.compute, {"M": 40, "N": 72, "K": 64})
    plain = {name: array.view(np.uint16) for name, array in arrays.items()}
    out = np.zeros((40, 72), np.uint16)
    product({**plain, "D": out})
    assert np.array_equal(out, product(arrays).arrays["D"].view(np.uint16))


WITHOUT = """
import sys
sys.modules["ml_dtypes"] = None
import numpy as np
from ptxgen.compute import bf16, e4m3
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling
for element, kind in ((bf16, np.uint16), (e4m3, np.uint8)):
    product = Matmul(MatmulSpec.of(element, layout=Layout.NT, output=element), "sm_89", MatmulTiling(i=64, j=64, k=64))
    one = 0x3F80 if element is bf16 else 0x38
    arrays = {"A": np.full((8, 4), one, kind), "B": np.full((16, 4), one, kind)}
    result = product(arrays).arrays["D"]
    assert result.dtype == kind
    assert (result == (0x4080 if element is bf16 else 0x48)).all()
"""


def test_without_ml_dtypes_arrays_are_bits() -> None:
    """One, as bits, times one, four times: four."""
    subprocess.run(
        [sys.executable, "-c", WITHOUT], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )


REFUSED: dict[str, MatmulSpec] = {
    "input f32": MatmulSpec(input=f32),
    "input s32": MatmulSpec(input=s32),
    "input f16 by bf16: f16 is multiplied by f16": MatmulSpec(b_input=bf16),
    "accumulator f16: a product of bf16 has f32": MatmulSpec(input=bf16, accumulate=f16),
    "accumulator f32: a product of s8 has s32": MatmulSpec(input=s8),
    "output s32: a result of sums in f32 is": MatmulSpec(output=s32),
    "output tf32": MatmulSpec(output=tf32),
    "output s32: an epilogue is arithmetic in f32": MatmulSpec.of(s8, epilogue=parse_epilogue("bias")),
    "row and column sums are in f32": MatmulSpec.of(f64, epilogue=parse_epilogue("row_sum")),
    "promotion of s32": MatmulSpec.of(s8, promote=64),
}


@pytest.mark.parametrize("words", REFUSED)
def test_types_that_no_instruction_has_are_refused(words: str) -> None:
    with pytest.raises(ValueError, match=words):
        matmul_compute(REFUSED[words])
    with pytest.raises(ValueError, match=words):
        Matmul(REFUSED[words], "sm_89")


def test_warpgroups_refuse_bytes_that_lie_across_k() -> None:
    compute = matmul_compute(MatmulSpec.of(s8, layout=Layout.NN))
    facts = (aligned("A", "B", bytes=16), multiple("lda", 16), multiple("ldb", 16))
    plan = Plan(compute, "sm_90a").assume(*facts).tile("cta", i=64, j=64, k=64).place("cta", onto=blocks)
    plan = plan.tile("group", i=64).place("group", onto=warpgroups)
    for name in ("A", "B"):
        plan = plan.stage(name, at="cta.k", into=shared(2, swizzle(64)), by=tensor)
    plan = plan.roles(load=role("A.shared", "B.shared", warps=4), math=role())
    plan = plan.multiply("AB", wgmma(64, s32, s8), at="group").finish("D", at="group")
    with pytest.raises(PlanError, match="reads s8 only where it lies together along k, B does not"):
        derive(plan)


SHAPES = [
    ("sm_90", m8n8k4(f64, f64)), ("sm_75", m8n8k16(s32, s8, u8)), ("sm_80", m16n8k4(f32, tf32)),
    ("sm_90", m16n8k4(f64, f64)), ("sm_80", m16n8k8(f16)), ("sm_80", m16n8k8(f32, bf16)),
    ("sm_80", m16n8k8(f32, tf32)), ("sm_90", m16n8k8(f64, f64)), ("sm_80", m16n8k16(f16)),
    ("sm_90", m16n8k16(f32, bf16)), ("sm_90", m16n8k16(f64, f64)), ("sm_80", m16n8k16(s32, s8)),
    ("sm_80", m16n8k16(s32, u8, s8)), ("sm_89", m16n8k16(f32, e4m3)), ("sm_89", m16n8k16(f16, e5m2, e4m3)),
    ("sm_80", m16n8k32(s32, u8)), ("sm_89", m16n8k32(f16, e5m2)), ("sm_90", m16n8k32(f32, e4m3, e5m2)),
]  # fmt: skip


@pytest.mark.parametrize("target, instruction", SHAPES, ids=str)
def test_every_shape_of_a_warp(target: str, instruction: MatrixInstruction, ptxas: object) -> None:
    others = {"accumulate": instruction.accumulate, "b_input": instruction.b_input}
    spec = MatmulSpec.of(instruction.input, layout=Layout.NT, **others)
    compute, kernel = matmul_compute(spec), by_instruction(spec, target, instruction)
    assemble(kernel.listing)
    arrays = Matmul(spec, "sm_90").with_outputs(random_inputs(compute, {"M": 40, "N": 72, "K": 80}))
    report = kernel.simulate(arrays)
    assert report is not None
    report.raise_findings()
    judge(compute, arrays, {}, target=target, orders=kernel.derivation.signature())


@pytest.mark.parametrize(
    "columns", (8, 256, *(pytest.param(columns, marks=pytest.mark.slow) for columns in (16, 32, 128)))
)
@pytest.mark.parametrize("element", (bf16, tf32, u8, e5m2), ids=str)
def test_every_width_of_a_warpgroup(element: Element, columns: int) -> None:
    tiling = evolve(by_warpgroups(element), j=columns, depth=2)
    spec = MatmulSpec.of(element, layout=Layout.NT, output=bf16)
    outcome = run_matmul(spec, (40, columns, 96), tiling, target="sm_90a")
    assert f"m64n{columns}k" in str(outcome.kernel.listing)


ASSEMBLED = [
    *WARPS, ("sm_120", bf16), ("sm_120", e4m3), ("sm_100", f64), ("sm_86", s8),
    *(("sm_90a", element) for element in (bf16, tf32, f64, s8, u8, e4m3, e5m2)),
]  # fmt: skip


@pytest.mark.parametrize("target, element", ASSEMBLED, ids=str)
def test_default_plans_assemble_without_spills(target: str, element: Element, ptxas: object) -> None:
    product = Matmul(MatmulSpec.of(element, layout=Layout.NT, epilogue=()), target)
    arrays = random_inputs(product.compute, {"M": 256, "N": 256, "K": 256})
    assert assemble(product.kernel_for(product.with_outputs(arrays)).listing).spills == 0
