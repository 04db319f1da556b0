"""Products on Turing, Ampere and later: the same statement, other plans."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, bf16, e4m3, f16, f32, f64, s8, s32, tf32, u8
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.kernels.launching.launch import prepare
from ptxgen.kernels.products.generations import generation_of
from ptxgen.plan import m8n8k4, m8n8k16, m16n8k8, m16n8k16, m16n8k32
from ptxgen.simulate import simulator
from ptxgen.tile import Carrier, Copy
from ptxgen.tile.machine.walking import leaves_of
from tests.kernels.cases import random_inputs, run_matmul

SMALL = MatmulTiling(i=64, j=64, k=32, depth=3)


def test_the_newest_instruction_of_a_target_is_taken() -> None:
    expected = {"sm_70": m8n8k4, "sm_72": m8n8k4, "sm_75": m16n8k8, "sm_80": m16n8k16, "sm_120": m16n8k16}
    assert {name: generation_of(name).instruction for name in expected} == {n: w(f32) for n, w in expected.items()}
    past = {name: generation_of(name).past_registers for name in expected}
    assert past == {"sm_70": False, "sm_72": False, "sm_75": False, "sm_80": True, "sm_120": True}
    with pytest.raises(PlanError, match="sm_61 has no tensor cores"):
        generation_of("sm_61")


TYPED = {
    ("sm_75", s8): m8n8k16(s32),
    ("sm_80", u8): m16n8k32(s32, u8),
    ("sm_80", bf16): m16n8k16(f32, bf16),
    ("sm_80", tf32): m16n8k8(f32, tf32),
    ("sm_80", f64): m8n8k4(f64, f64),
    ("sm_90", f64): m16n8k16(f64, f64),
    ("sm_89", e4m3): m16n8k32(f32, e4m3),
}


@pytest.mark.parametrize("target, element", TYPED, ids=str)
def test_the_widest_instruction_of_a_type_is_taken(target: str, element: Element) -> None:
    spec = MatmulSpec.of(element)
    assert generation_of(target, element, spec.accumulate).instruction == TYPED[target, element]


@pytest.mark.parametrize("target, element", [("sm_75", bf16), ("sm_75", f64), ("sm_80", e4m3), ("sm_70", s8)], ids=str)
def test_what_no_tensor_core_of_a_target_multiplies(target: str, element: Element) -> None:
    spec = MatmulSpec.of(element)
    with pytest.raises(PlanError, match=f"{target} has no tensor cores that multiply {element} into"):
        generation_of(target, element, spec.accumulate)


@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.value)
@pytest.mark.parametrize("accumulate", [f16, f32], ids=str)
def test_every_layout_on_ampere(layout: Layout, accumulate: Element) -> None:
    run_matmul(MatmulSpec(layout, accumulate), (72, 136, 96), SMALL, target="sm_80")


@pytest.mark.parametrize("target", ["sm_86", "sm_89", "sm_90"])
def test_later_targets(target: str) -> None:
    run_matmul(MatmulSpec(Layout.TN, epilogue=parse_epilogue("bias,relu")), (72, 136, 96), SMALL, target=target)


@pytest.mark.parametrize("epilogue", ["alpha,beta,bias,gelu", "bias,residual,silu", "keep,clamp"])
def test_epilogues_on_ampere(epilogue: str) -> None:
    run_matmul(MatmulSpec(epilogue=parse_epilogue(epilogue)), (72, 80, 40), SMALL, target="sm_80")


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("slabs", [0, 1, 2, 5])
def test_every_end_of_the_pipeline(depth: int, slabs: int) -> None:
    run_matmul(MatmulSpec(), (40, 72, 32 * slabs + 8 * (slabs % 2)), evolve(SMALL, depth=depth), target="sm_80")


def carriers(spec: MatmulSpec, size: tuple[int, int, int]) -> set[Carrier]:
    """What carries A and B of a product into shared memory."""
    product = Matmul(spec, "sm_80", SMALL)
    arrays = random_inputs(product.compute, dict(zip("MNK", size, strict=True)))
    program = product.kernel_for(product.with_outputs(arrays)).program
    return {
        leaf.carrier
        for role in program.roles
        for leaf in leaves_of(role.body)
        if isinstance(leaf, Copy) and leaf.op in ("A.shared", "B.shared")
    }


def test_operands_without_aligned_words_go_through_registers() -> None:
    assert carriers(MatmulSpec(), (64, 64, 64)) == {Carrier.LANE_COPY}
    assert carriers(MatmulSpec(), (64, 64, 63)) == {Carrier.ACCESS, Carrier.LANE_COPY}
    assert carriers(MatmulSpec(), (64, 63, 63)) == {Carrier.ACCESS}
    for size in ((65, 64, 63), (64, 63, 63), (1, 1, 1), (33, 70, 66)):
        run_matmul(MatmulSpec(), size, SMALL, target="sm_80")


@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.value)
def test_turing(layout: Layout) -> None:
    """The plan of sm_75 on the tile machine, and its PTX with the arithmetic of sm_80: nobody has recorded its own."""
    spec = MatmulSpec(layout)
    product = Matmul(spec, "sm_75", evolve(SMALL, depth=2))
    arrays = product.with_outputs(random_inputs(product.compute, {"M": 72, "N": 136, "K": 96}))
    kernel = product.kernel_for(arrays)
    assert "ldmatrix" in str(kernel.listing)
    assert "m16n8k8" in str(kernel.listing)
    assert "cp.async" not in str(kernel.listing)
    a = np.asarray(arrays["A"].T if layout.a_transposed else arrays["A"], float)
    b = np.asarray(arrays["B"].T if layout.b_transposed else arrays["B"], float)
    launch = prepare(kernel.entry, arrays, {}, None)
    simulator(kernel.module, target="sm_80").run(
        grid=launch.blocks, block=launch.threads, args=launch.arguments, shared_bytes=launch.shared_bytes
    ).raise_findings()
    assert np.abs(arrays["D"] - a @ b).max() < 2e-2


@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.value)
def test_fragments_of_one_matrix_are_loaded(layout: Layout) -> None:
    """`ldmatrix` of one matrix fills a vector of one register."""
    kernel = Matmul(MatmulSpec(layout), "sm_75", MatmulTiling(16, 8, 16, 1, fragment_depth=1, isolate=False)).kernel()
    assert ".x1" in kernel.listing.text
    assert kernel.assembled().spills == 0


def test_fragments_of_one_matrix_of_integers_are_multiplied() -> None:
    tiling = MatmulTiling(i=16, j=16, k=16, warps=4, fragment_depth=1, isolate=False)
    run_matmul(MatmulSpec.of(s8, layout=Layout.NT), (24, 40, 48), tiling, target="sm_75")


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90a"])
def test_default_plans_do_not_spill(target: str) -> None:
    for layout in Layout:
        for epilogue in ("", "bias,relu"):
            spec = MatmulSpec(layout, epilogue=parse_epilogue(epilogue))
            product = Matmul(spec, target)
            arrays = product.with_outputs(random_inputs(product.compute, {"M": 256, "N": 256, "K": 256}))
            assert product.kernel_for(arrays).assembled().spills == 0, (layout, epilogue)


WARPGROUP = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False)


@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.value)
@pytest.mark.parametrize("accumulate", [f16, f32], ids=str)
def test_every_layout_by_warpgroups(layout: Layout, accumulate: Element) -> None:
    outcome = run_matmul(MatmulSpec(layout, accumulate), (72, 136, 96), WARPGROUP, target="sm_90a")
    assert "wgmma.mma_async" in str(outcome.kernel.listing)


@pytest.mark.parametrize("slabs", [0, 1, 2, 3, 4, 7])
@pytest.mark.parametrize("depth", [2, 4])
def test_every_end_of_the_ring(depth: int, slabs: int) -> None:
    run_matmul(MatmulSpec(), (40, 72, 64 * slabs), evolve(WARPGROUP, depth=depth), target="sm_90a")


@pytest.mark.parametrize("epilogue", ["alpha,beta,bias,gelu", "bias,residual,silu"])
def test_epilogues_by_two_warpgroups(epilogue: str) -> None:
    tiling = evolve(WARPGROUP, i=128, j=128, warps=8, depth=2)
    spec = MatmulSpec(Layout.TN, epilogue=parse_epilogue(epilogue), batched=True)
    run_matmul(spec, (136, 80, 72), tiling, target="sm_90a")


def test_operands_that_no_tensor_map_describes_are_multiplied_by_warps() -> None:
    outcome = run_matmul(MatmulSpec(), (65, 64, 63), WARPGROUP, target="sm_90a")
    assert "wgmma" not in str(outcome.kernel.listing)
    assert "mma.sync" in str(outcome.kernel.listing)


def test_slabs_of_more_steps_than_fragments_are_held() -> None:
    run_matmul(MatmulSpec(), (40, 72, 136), evolve(SMALL, k=64), target="sm_80")
