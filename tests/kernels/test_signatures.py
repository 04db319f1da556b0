"""The order of a sum as a signature: equal ones give equal bits across plans, transports and instructions, and where
bits differ the signatures do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from isa.numerics import Rounding
from ptxgen.compute import Element, bf16, e4m3, f16, f32, f64, s8, tf32
from ptxgen.derive import Blocks, Exact, Fused, SumOrder, Unpacked, Unsettled
from ptxgen.kernels import GeneratedKernel, Layout, Matmul, MatmulSpec, MatmulTiling, matmul_compute
from ptxgen.kernels.products.alignment import copies_words
from ptxgen.plan import Stage, Transport, m16n8k8
from tests.kernels.cases import bits, by_instruction, random_inputs

SIZES = {"M": 40, "N": 72, "K": 208}


def tilings(element: Element) -> dict[str, MatmulTiling]:
    """By a plan's way of feeding its product."""
    slab = max(16, 64 // element.byte_count)
    return {
        "ld": MatmulTiling(i=64, j=64, k=slab, depth=1),
        "cp_async": MatmulTiling(i=32, j=64, k=2 * slab, depth=3, warps=2, isolate=False),
        "tensor": MatmulTiling(i=64, j=64, k=128 // element.byte_count, warps=4, depth=2, isolate=False),
    }


def kernels(spec: MatmulSpec, target: str, arrays: Mapping[str, Any]) -> dict[str, GeneratedKernel]:
    """The same product by every transport: where nothing is known of the arguments through registers, or by words where
    an element is one."""
    found = {}
    for name, tiling in tilings(spec.input).items():
        product = Matmul(spec, target, tiling)
        found[name] = product.kernel() if name == "ld" else product.kernel_for(product.with_outputs(arrays))
    return found


def left_by(kernel: GeneratedKernel, arrays: Mapping[str, Any], output: type[np.generic]) -> np.ndarray:
    result = np.zeros((SIZES["M"], SIZES["N"]), output)
    report = kernel.simulate({**arrays, "D": result})
    assert report is not None
    report.raise_findings()
    return bits(result)


def carriers(kernel: GeneratedKernel) -> set[Transport]:
    return {s.by.transport for s in kernel.plan.steps if isinstance(s, Stage) and s.op in ("A.shared", "B.shared")}


@pytest.mark.parametrize("element", (f16, bf16, tf32, s8), ids=str)
def test_equal_signatures_and_bits_by_every_transport_on_hopper(element: Element) -> None:
    spec = MatmulSpec.of(element, layout=Layout.NT, output=f32)
    arrays = random_inputs(matmul_compute(spec), SIZES)
    made = kernels(spec, "sm_90a", arrays)
    words = {Transport.CP_ASYNC} if element is tf32 else {Transport.ST}
    assert {name: carriers(kernel) for name, kernel in made.items()} == {
        "ld": words, "cp_async": {Transport.CP_ASYNC}, "tensor": {Transport.TENSOR},
    }  # fmt: skip
    first, *others = (kernel.derivation.signature() for kernel in made.values())
    assert all(other == first for other in others)
    wanted, *found = (left_by(kernel, arrays, np.float32) for kernel in made.values())
    assert all(np.array_equal(each, wanted) for each in found)


def test_bytes_on_hopper_differ_between_warps_and_warpgroups_and_so_do_their_signatures() -> None:
    spec = MatmulSpec.of(e4m3, layout=Layout.NT, output=f32)
    arrays = random_inputs(matmul_compute(spec), SIZES)
    made = kernels(spec, "sm_90a", arrays)
    orders = {name: kernel.derivation.signature() for name, kernel in made.items()}
    assert orders["ld"] == orders["cp_async"] != orders["tensor"]
    found = {name: left_by(kernel, arrays, np.float32) for name, kernel in made.items()}
    assert np.array_equal(found["ld"], found["cp_async"])
    assert not np.array_equal(found["ld"], found["tensor"])


@pytest.mark.parametrize("target, equal", [("sm_80", True), ("sm_90", False)])
def test_instructions_of_other_depths(target: str, equal: bool) -> None:
    """sm_80 adds 8 products at once whatever the instruction; sm_90 all of the instruction's, up to 16."""
    spec = MatmulSpec(Layout.NT, output=f32)
    arrays = random_inputs(matmul_compute(spec), SIZES)
    sixteen, eight = Matmul(spec, target, tilings(f16)["ld"]).kernel(), by_instruction(spec, target, m16n8k8(f32))
    assert (sixteen.derivation.signature() == eight.derivation.signature()) is equal
    assert np.array_equal(left_by(sixteen, arrays, np.float32), left_by(eight, arrays, np.float32)) is equal


def test_generations_differ() -> None:
    spec = MatmulSpec(Layout.NT, output=f32)
    arrays = random_inputs(matmul_compute(spec), SIZES)
    first, second = (Matmul(spec, target, tilings(f16)["ld"]).kernel() for target in ("sm_80", "sm_90"))
    assert first.derivation.signature() != second.derivation.signature()
    assert first.derivation.signature("sm_90") == second.derivation.signature()
    assert not np.array_equal(left_by(first, arrays, np.float32), left_by(second, arrays, np.float32))


def order_of(target: str, element: Element, **others: Any) -> SumOrder:
    tiling = evolve(tilings(element)["ld"], k=max(tilings(element)["ld"].k, 64))
    (order,) = Matmul(MatmulSpec.of(element, **others), target, tiling).kernel().derivation.signature()
    return order


def test_what_a_signature_says() -> None:
    rz, rn = Rounding.TOWARDS_ZERO, Rounding.NEAREST_EVEN
    assert order_of("sm_70", f16).terms == Blocks(4, 23, rz)
    assert order_of("sm_80", bf16).terms == Blocks(8, 24, rz)
    assert order_of("sm_80", tf32).terms == Blocks(4, 24, rz)
    assert order_of("sm_90", f16, accumulate=f16).terms == Blocks(16, 25, rn)
    assert order_of("sm_89", e4m3).terms == Blocks(16, 13, Rounding.TOWARDS_ZERO_13)
    assert order_of("sm_90", e4m3).terms == Unpacked(32, Blocks(16, 25, rz))
    assert order_of("sm_80", f64).terms == Fused()
    assert order_of("sm_80", s8).terms == Exact()
    unsettled = order_of("sm_75", f16).terms
    assert isinstance(unsettled, Unsettled)
    assert "sources disagree" in unsettled.reason


def test_how_a_signature_reads() -> None:
    assert str(order_of("sm_90", f16)) == (
        "AB: f16 * f16 summed in f32 by blocks of 16 in ascending k, each term cut 25 bits below the largest, rounded "
        "once (rz); one chain from zero; not split"
    )
    chains = str(order_of("sm_80", f16, accumulate=f16, promote=64, output=f32))
    assert chains.endswith("; chains of 64 from zero, each added to f32 (rn) in ascending k; not split")


def test_what_is_known_of_arguments_is_not_part_of_it() -> None:
    spec = MatmulSpec(Layout.NT)
    product = Matmul(spec, "sm_80", tilings(f16)["cp_async"])
    arrays = random_inputs(product.compute, SIZES)
    wide, narrow = product.kernel_for(product.with_outputs(arrays)), product.kernel()
    assert copies_words(wide.plan, "A")
    assert not copies_words(narrow.plan, "A")
    assert wide.derivation.signature() == narrow.derivation.signature()
