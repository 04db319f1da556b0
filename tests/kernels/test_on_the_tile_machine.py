"""Kernels that come with ptxgen on the tile machine, where an access that no meeting orders is a fault."""

from __future__ import annotations

import numpy as np
import pytest

from ptxgen.derive import derive
from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan, parse_epilogue
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.mutants import without_each_synchronisation

TILING = MatmulTiling(i=64, j=64, k=16)
M, N, K = 70, 72, 40


def gelu(value: np.ndarray) -> np.ndarray:
    return np.asarray(value * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (value + 0.044715 * value**3))))


def memories(layout: Layout) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    a, b = rng.standard_normal((M, K)).astype(np.float16), rng.standard_normal((K, N)).astype(np.float16)
    return {
        "A": np.ascontiguousarray(a.T if layout.a_transposed else a),
        "B": np.ascontiguousarray(b.T if layout.b_transposed else b),
        "bias": rng.standard_normal(N).astype(np.float32),
        "R": rng.standard_normal((M, N)).astype(np.float16),
        "D": np.full((M, N), np.nan, np.float16),
        "row_sum_parts": np.full((-(-N // 32), M), np.nan, np.float32),
    }


def derived(layout: Layout, epilogue: str) -> tuple[object, dict[str, np.ndarray], dict[str, int]]:
    spec = MatmulSpec(layout, epilogue=parse_epilogue(epilogue), parts=TILING.warp_tile)
    compute = matmul_compute(spec)
    program = derive(matmul_plan(compute, spec, (), TILING, "sm_70")).program
    arrays = {name: array for name, array in memories(layout).items() if name in {a.name for a in compute.arrays}}
    strides = {"lda": arrays["A"].shape[1], "ldb": arrays["B"].shape[1], "ldd": N, "ldr": N, "ldrow_sum_parts": M}
    return program, arrays, {"M": M, "N": N, "K": K, "row_sum_part_count": -(-N // 32), **strides}


def wanted(layout: Layout, epilogue: str) -> np.ndarray:
    given = {name: array.astype(float) for name, array in memories(layout).items()}
    a = given["A"].T if layout.a_transposed else given["A"]
    b = given["B"].T if layout.b_transposed else given["B"]
    value = a @ b
    for word in epilogue.split(","):
        match word:
            case "bias":
                value = value + given["bias"]
            case "relu":
                value = np.maximum(value, 0)
            case "gelu":
                value = gelu(value)
            case "residual":
                value = value + given["R"]
    return np.asarray(value)


CASES = [(Layout.NN, "bias,relu"), (Layout.NT, "bias,gelu,residual"), (Layout.TN, "relu,row_sum"), (Layout.TT, "bias")]


@pytest.mark.parametrize(("layout", "epilogue"), CASES, ids=lambda part: getattr(part, "value", part))
def test_agrees_with_numpy_in_any_interleaving(layout: Layout, epilogue: str) -> None:
    program, arrays, sizes = derived(layout, epilogue)
    reference = wanted(layout, epilogue)
    for seed in (None, 1):
        report = run(program, arrays, sizes, seed=seed)  # type: ignore[arg-type]
        assert np.abs(report.arrays["D"] - reference).max() < 2e-2
        if "row_sum" in epilogue:
            assert np.abs(report.arrays["row_sum_parts"].sum(0) - reference.sum(1)).max() < 1e-3


@pytest.mark.parametrize("layout", [Layout.NT, Layout.TN])
def test_every_meeting_is_needed(layout: Layout) -> None:
    program, arrays, sizes = derived(layout, "bias,gelu,residual")
    for mutant in without_each_synchronisation(program):  # type: ignore[arg-type]
        found: set[str] = set()
        for k in (K, 8, 64):
            try:
                run(mutant.program, trimmed(arrays, layout, k), {**sizes, "K": k, **leading(layout, k)})
            except MachineFault as fault:
                found.add(fault.code)
        assert found == {"tile.race"}


def trimmed(arrays: dict[str, np.ndarray], layout: Layout, k: int) -> dict[str, np.ndarray]:
    a = np.zeros((k, M) if layout.a_transposed else (M, k), np.float16)
    b = np.zeros((N, k) if layout.b_transposed else (k, N), np.float16)
    return {**arrays, "A": a, "B": b}


def leading(layout: Layout, k: int) -> dict[str, int]:
    return {"lda": M if layout.a_transposed else k, "ldb": k if layout.b_transposed else N}
