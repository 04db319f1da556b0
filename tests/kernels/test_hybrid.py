"""Sums in chains of f16 (or of bytes) promoted into f32: the plan's rewrite, its proof, its bits and its error."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from isa.numerics import Rounding
from ptxgen.compute import Element, e4m3, f16, f32
from ptxgen.derive import Blocks, SumOrder, derive
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan, parse_epilogue
from ptxgen.runtime import assemble
from ptxgen.testing import loop_model
from ptxgen.testing.tensor_core import ordered_product
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.mutants import without_each_synchronisation
from tests.kernels.cases import bits, random_inputs, run_matmul
from tests.kernels.clusters import FACTS

WARPS = MatmulTiling(i=64, j=64, k=64, depth=2)
GROUPS = MatmulTiling(i=64, j=64, k=64, warps=4, depth=2, isolate=False)
# tensor-core-numerics: relative error of chains of f16 on the record of sm_90, for normal inputs, before the output is
# rounded; whole chains of f16 and of f32 at two lengths.
PREDICTED = {16: 2.0e-4, 32: 2.5e-4, 64: 3.2e-4, 128: 4.3e-4}
WHOLE = {(f16, 512): 8.4e-4, (f16, 4096): 2.3e-3, (f32, 512): 6.5e-7, (f32, 4096): 4.9e-6}
HOPPER = Blocks(16, 25, Rounding.TOWARDS_ZERO)
HOPPER_HALF = Blocks(16, 25, Rounding.NEAREST_EVEN)


def spec(every: int, **others: object) -> MatmulSpec:
    return MatmulSpec.of(f16, accumulate=f16, promote=every, output=f32, layout=Layout.NT, **others)


@pytest.mark.parametrize("every", (16, 32, 64, 128))
@pytest.mark.parametrize("target", ("sm_70", "sm_80", "sm_90a"))
def test_bits_and_bounds(target: str, every: int) -> None:
    tiling = evolve(GROUPS if target == "sm_90a" else WARPS, k=max(64, every))
    outcome = run_matmul(spec(every), (40, 72, 208), tiling, target=target)
    (order,) = outcome.kernel.derivation.signature()
    assert (order.promoted, order.chain) == (every, f16)


@pytest.mark.parametrize("sums", (f16, f32), ids=str)
@pytest.mark.parametrize("target", ("sm_89", "sm_90a"))
def test_chains_of_bytes(target: str, sums: Element) -> None:
    tiling = evolve(GROUPS if target == "sm_90a" else WARPS, k=128)
    wanted = MatmulSpec.of(e4m3, accumulate=sums, promote=64, output=f32, layout=Layout.NT)
    run_matmul(wanted, (40, 72, 208), tiling, target=target)


def test_with_an_epilogue_a_batch_and_ragged_edges() -> None:
    run_matmul(spec(32, epilogue=parse_epilogue("alpha,bias,relu"), batched=True), (33, 70, 66), WARPS, target="sm_80")


def relative_error(every: int | None, length: int, sums: Element = f16, rows: int = 24) -> float:
    """Root mean square of the error over that of the exact product, for normal inputs in f16, on sm_90's record."""
    chance = np.random.default_rng(length + (every or 0))
    a, b = (chance.standard_normal(shape).astype(np.float16).astype(float) for shape in ((rows, length), (length, 32)))
    terms = HOPPER_HALF if sums is f16 else HOPPER
    found = ordered_product(a, b, SumOrder("AB", (f16, f16), sums, terms, every)).astype(float)
    return float(np.sqrt(np.mean((found - a @ b) ** 2) / np.mean((a @ b) ** 2)))


@pytest.mark.parametrize("length", (512, 2048, 4096))
@pytest.mark.parametrize("every", PREDICTED)
def test_the_error_is_within_a_tenth_of_what_is_predicted(every: int, length: int) -> None:
    assert abs(relative_error(every, length) / PREDICTED[every] - 1) < 0.1


@pytest.mark.parametrize("sums, length", WHOLE, ids=str)
def test_the_error_of_one_chain_is_as_predicted(sums: Element, length: int) -> None:
    assert abs(relative_error(None, length, sums, rows=64) / WHOLE[sums, length] - 1) < 0.1


@pytest.mark.parametrize("target", ("sm_90", "sm_90a"))
def test_the_simulated_kernel_errs_as_predicted(target: str) -> None:
    """At a small size and every K; its bits are the model's, so this holds the model against the kernel."""
    product = Matmul(spec(64), target, GROUPS if target == "sm_90a" else WARPS)
    for length in (512, 2048):
        inputs = random_inputs(product.compute, {"M": 16, "N": 64, "K": length}, seed=length)
        found = product(inputs).arrays["D"].astype(float)
        exact = inputs["A"].astype(float) @ inputs["B"].astype(float).T
        error = np.sqrt(np.mean((found - exact) ** 2) / np.mean(exact**2))
        assert abs(error / PREDICTED[64] - 1) < 0.1


@pytest.mark.parametrize(
    "every, k, words",
    [(8, 64, "a multiplication takes 16"), (128, 64, "k=64: sums are promoted in chains of 128 terms")],
)
def test_chains_that_tiles_do_not_hold_are_refused(every: int, k: int, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        Matmul(spec(every), "sm_80", evolve(WARPS, k=k)).kernel()


def test_blocks_that_stay_keep_chains_by_warps_only() -> None:
    run_matmul(spec(32), (136, 72, 208), evolve(WARPS, workers=2), target="sm_80")
    with pytest.raises(PlanError, match="workers=2: chains that warpgroups promote are for blocks of one tile each"):
        Matmul(spec(32), "sm_90a", evolve(GROUPS, workers=2))
    staying = matmul_plan(matmul_compute(spec(32)), spec(32), FACTS, evolve(GROUPS, workers=2), "sm_90a")
    with pytest.raises(PlanError, match="kept in chains by warpgroups of blocks that stay"):
        derive(staying)


def test_a_model_of_other_chains_has_other_bits() -> None:
    outcome = run_matmul(spec(32), (40, 72, 208), WARPS, target="sm_80")
    (order,) = outcome.kernel.derivation.signature()
    arrays = {name: outcome.arrays[name] for name in ("A", "B")}
    sizes, compute = {"M": 40, "N": 72, "K": 208}, matmul_compute(spec(32))
    other = loop_model(compute, arrays, sizes, target="sm_80", orders=[evolve(order, promoted=64)])
    assert not np.array_equal(bits(other["D"]), bits(outcome.arrays["D"]))


@pytest.mark.parametrize("every", (32, 64))
def test_every_wait_and_fence_is_needed(every: int) -> None:
    """On the tile machine, which shares nothing with what derived them."""
    product = Matmul(spec(every), "sm_90a", GROUPS)
    arrays = product.with_outputs(random_inputs(product.compute, {"M": 64, "N": 64, "K": 192}))
    program = product.kernel_for(arrays).program
    sizes = {"M": 64, "N": 64, "K": 192, "lda": 192, "ldb": 192, "ldd": 64}
    exact = arrays["A"].astype(float) @ arrays["B"].astype(float).T
    assert np.abs(run(program, arrays, sizes).arrays["D"] - exact).max() < 0.2
    for mutant in without_each_synchronisation(program):
        with pytest.raises(MachineFault):
            run(mutant.program, arrays, sizes)


@pytest.mark.parametrize("target", ("sm_80", "sm_90a"))
@pytest.mark.parametrize("every", (32, 64, 128))
def test_assembles_and_stays_asynchronous(target: str, every: int, ptxas: object) -> None:
    product = Matmul(spec(every, epilogue=()), target)
    arrays = random_inputs(product.compute, {"M": 256, "N": 256, "K": 256})
    kernel = product.kernel_for(product.with_outputs(arrays))
    assert assemble(kernel.listing).spills == 0
    assert derive(kernel.plan).signature() == kernel.derivation.signature()
