"""The hand-written product, lowered and simulated: exact on small integers, close to float64 on random numbers."""

from __future__ import annotations

import re
import subprocess
from collections import Counter

import numpy as np
import pytest

from isa.targets import target
from polyhedral import var
from ptxgen.compute import Constant, Operand, Scalar, f16, f32, relu
from ptxgen.emit import emit
from ptxgen.lower import lower
from ptxgen.simulate import unwritten
from ptxgen.tile import MapOperand
from tests.lower.programs import array, at, run
from tests.lower.volta import Shape, matmul
from tests.oracles.ptxas import find_ptxas

SMALL = Shape((1, 1), (32, 32))
KINDS = {f16: np.float16, f32: np.float32}
LAYOUTS = [(True, True), (True, False), (False, True), (False, False)]


def padded(matrix, multiple=8):
    """The matrix with rows longer than they need, whose rest is not a number."""
    extra = -matrix.shape[1] % multiple + multiple
    return np.ascontiguousarray(np.pad(matrix, ((0, 0), (0, extra)), constant_values=np.nan))


def existing(matrix):
    """The matrix, or where it is empty some memory that nobody may read."""
    return matrix if matrix.size else unwritten(np.zeros((1, 8), np.float16))


def product(made, a, b, a_row, b_row, out=f16, module=None, multiple=8, **more):
    """D of a run; rows of D are longer than needed and must stay as they were there."""
    (m, k), n = a.shape, b.shape[1]
    lies_a, lies_b = (padded(x if row else x.T, multiple) for x, row in ((a, a_row), (b, b_row)))
    d = np.full((max(m, 1), n + 16 - n % 8), 7, KINDS[out])
    strides = {"lda": lies_a.shape[1], "ldb": lies_b.shape[1], "ldd": d.shape[1]}
    report = run(
        made, {"A": existing(lies_a), "B": existing(lies_b), "D": d, "M": m, "N": n, "K": k, **strides, **more}, module
    )
    assert (d[:, n:] == 7).all()
    return d[:m, :n], report


def integers(m, n, k, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(-3, 4, (m, k)).astype(np.float16), random.integers(-3, 4, (k, n)).astype(np.float16)


@pytest.mark.parametrize("a_row, b_row", LAYOUTS)
@pytest.mark.parametrize("accumulate, out", [(f32, f16), (f32, f32), (f16, f16)])
def test_products_of_integers_are_exact(a_row, b_row, accumulate, out) -> None:
    made = matmul(SMALL, a_row, b_row, accumulate, out)
    module = lower(made)
    for m, n, k in [(8, 8, 8), (40, 72, 0), (64, 32, 96), (16, 40, 200)]:
        a, b = integers(m, n, k)
        d, _ = product(made, a, b, a_row, b_row, out, module)
        assert (d == a.astype(np.float64) @ b.astype(np.float64)).all(), (m, n, k)


@pytest.mark.parametrize("a_row, b_row", LAYOUTS)
def test_any_extent_and_stride_element_by_element(a_row, b_row) -> None:
    made = matmul(SMALL, a_row, b_row, aligned=False)
    module = lower(made)
    for m, n, k in [(1, 1, 1), (31, 33, 33), (5, 37, 63)]:
        a, b = integers(m, n, k)
        d, _ = product(made, a, b, a_row, b_row, module=module, multiple=1)
        assert (d == a.astype(np.float64) @ b.astype(np.float64)).all(), (m, n, k)


@pytest.mark.parametrize("shape", [Shape((2, 2), (32, 64)), Shape((4, 2), (32, 32)), Shape((1, 2), (64, 32))])
def test_random_numbers_agree_with_float64(shape) -> None:
    random = np.random.default_rng(3)
    a, b = (random.standard_normal(s).astype(np.float16) for s in ((136, 72), (72, 96)))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    for accumulate, unit in ((f32, 2.0**-23), (f16, 2.0**-10)):
        d, _ = product(matmul(shape, accumulate=accumulate, group=2), a, b, True, True)
        assert (np.abs(d - exact) <= 2.0**-11 * np.abs(exact) + 18 * 2 * unit * size).all()


def test_an_epilogue_with_bias_residual_and_scalars() -> None:
    i, j = var("cta.i") * 32, var("cta.j") * 32
    bias, residual = array("bias", f32, ("N",), (1,)), array("C0", f16, ("M", "N"), ("ldc", 1))
    more = (MapOperand(at(bias, j), (1,), 2), MapOperand(at(residual, i, j), (0, 1), 2))
    expression = relu(Operand(0) * Scalar("alpha") + Operand(1)) + Operand(2) * Constant(0.5)
    made = matmul(SMALL, out=f32, expression=expression, more=more, arrays=(bias, residual), scalars=("alpha",))
    a, b = integers(40, 24, 40)
    extra = np.random.default_rng(5).standard_normal((40, 32)).astype(np.float16)
    line = np.random.default_rng(6).standard_normal(24).astype(np.float32)
    d, _ = product(made, a, b, True, True, f32, bias=line, C0=extra, ldc=32, alpha=0.3)
    summed = (a.astype(np.float32) @ b.astype(np.float32)) * np.float32(0.3) + line
    assert (d == np.where(summed < 0, 0, summed).astype(np.float32) + extra[:, :24] * np.float32(0.5)).all()


BUDGETS = {(True, True): 196, (True, False): 200, (False, True): 193, (False, False): 197}


@pytest.mark.parametrize("a_row, b_row", LAYOUTS)
@pytest.mark.parametrize("accumulate", [f32, f16])
def test_the_main_loop_is_the_data_and_little_else(a_row, b_row, accumulate) -> None:
    made = matmul(Shape(), a_row, b_row, accumulate, guarded=False)
    module = lower(made)
    a, b = integers(128, 256, 96)
    d, report = product(made, a, b, a_row, b_row, module=module, multiple=16)
    assert (d == a.astype(np.float64) @ b.astype(np.float64)).all()
    main = max(report.loops, key=lambda loop: len(loop.statements))
    counts = Counter(statement.instruction.form.opcode for statement in main.statements)
    assert (counts["mma"], counts["bar"], counts["bra"], counts["setp"]) == (128, 1, 1, 1)
    assert counts["add"] + counts["xor"] <= 14
    assert sum(counts.values()) == BUDGETS[a_row, b_row]
    assert all(statement.shared.conflicts == 0 for statement in main.statements if statement.shared)
    assert all(statement.global_.efficiency == 1.0 for statement in main.statements if statement.global_)


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("a_row, b_row", LAYOUTS)
def test_the_default_tile_assembles_without_spills(a_row, b_row, guarded, tmp_path) -> None:
    text = str(emit(lower(matmul(Shape(), a_row, b_row, guarded=guarded))))
    path = tmp_path / "kernel.ptx"
    path.write_text(text)
    command = [str(find_ptxas(target("sm_70"))), "-v", "-arch=sm_70", str(path), "-o", str(tmp_path / "kernel.cubin")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "0 bytes spill stores, 0 bytes spill loads" in said
    assert max(map(int, re.findall(r"Used (\d+) registers", said))) <= 255


def test_equal_programs_give_equal_text() -> None:
    assert str(emit(lower(matmul(SMALL)))) == str(emit(lower(matmul(SMALL))))
