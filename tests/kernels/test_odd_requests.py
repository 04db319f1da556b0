"""Requests at the edge of what is asked for: small tiles, mixed copies, empty arrays and what is no number, judged by
float64, or refused by name."""

from typing import Any

import numpy as np
import pytest

import ptxgen
from ptxgen import LaunchError, PlanError
from ptxgen.compute import f16
from ptxgen.kernels.matmul import Matmul
from ptxgen.kernels.products.compute import Layout, MatmulSpec, matmul_compute
from ptxgen.kernels.products.defaults import default_tiling
from ptxgen.kernels.products.tiling import MatmulTiling

RNG = np.random.default_rng(6)


def halves(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float16)


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxgen.kernels.calling.call.device_count", lambda: 0)


def agrees(target: str, layout: Layout, sizes: tuple[int, int, int], tiling: MatmulTiling) -> None:
    m, n, k = sizes
    a, b = halves(m, k), halves(k, n)
    stored = {
        "A": np.ascontiguousarray(a.T) if layout.a_transposed else a,
        "B": np.ascontiguousarray(b.T) if layout.b_transposed else b,
    }
    found = Matmul(MatmulSpec.of(f16, layout=layout), target, tiling)(stored).arrays["D"]
    np.testing.assert_allclose(found.astype(float), a.astype(float) @ b.astype(float), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_rows_shorter_than_a_swizzle_lie_plain(target: str) -> None:
    agrees(target, Layout.NN, (32, 40, 24), MatmulTiling(i=16, j=8, k=16, warps=1))


@pytest.mark.parametrize(
    ("layout", "sizes"), [(Layout.NN, (32, 33, 24)), (Layout.NN, (32, 40, 33)), (Layout.TN, (24, 33, 24))]
)
def test_streamed_slabs_of_which_one_operand_alone_could_be_copied_past_registers(
    layout: Layout, sizes: tuple[int, int, int]
) -> None:
    agrees("sm_80", layout, sizes, MatmulTiling(i=32, j=32, k=16, warps=4, workers=2, stream=True))


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("i", 0, "a whole number of at least 1, got 0"),
        ("j", 64.0, "a whole number of at least 1, got 64.0"),
        ("depth", 0, "a whole number of at least 1, got 0"),
        ("fragment_depth", 0, "a whole number of at least 1, got 0"),
        ("drain", -8, "a whole number of at least 0, got -8"),
        ("drain_depth", 0, "a whole number of at least 1, got 0"),
        ("residual_depth", -1, "a whole number of at least 0, got -1"),
        ("cluster", (1, 2, 3), "two whole numbers of at least 1, got (1, 2, 3)"),
        ("cluster", 2, "two whole numbers of at least 1, got 2"),
    ],
)
def test_a_tiling_names_what_is_no_number_of_its_kind(name: str, value: Any, wanted: str) -> None:
    with pytest.raises(PlanError) as refused:
        MatmulTiling(**{name: value})
    assert str(refused.value) == f"MatmulTiling: {name} is {wanted}"


def test_more_multiplications_than_are_written_out_are_refused_at_once() -> None:
    with pytest.raises(LaunchError, match=f"a tile of {2**40}, each written out: a tile has at most 1024"):
        ptxgen.matmul(halves(16, 24), halves(24, 8), promote=2**40)


@pytest.mark.parametrize("missing", ["b", "offsets"])
def test_an_array_that_is_needed_and_missing_is_named(missing: str) -> None:
    a, b = halves(8, 8), halves(2, 8, 8)
    given = {"b": b, "offsets": np.array([4, 8], np.int32)} | {missing: None}
    with pytest.raises(LaunchError, match=f"{missing} must be an array, got NoneType"):
        ptxgen.grouped_matmul(a, **given)


def test_an_unknown_target_is_refused_with_the_known_ones() -> None:
    with pytest.raises(LaunchError, match=r"unknown target 'foo'; known: .*sm_90a"):
        ptxgen.matmul(halves(8, 8), halves(8, 8), target="foo")


def test_no_products_at_all_and_no_groups_at_all() -> None:
    assert ptxgen.matmul(halves(0, 8, 16), halves(0, 16, 24)).shape == (0, 8, 24)
    out = np.full((16, 24), 7, np.float16)
    assert ptxgen.grouped_matmul(halves(16, 8), halves(0, 8, 24), np.zeros(0, np.int32), out=out) is out
    assert (out == 7).all()


@pytest.mark.parametrize("of", (default_tiling, matmul_compute))
def test_what_is_no_spec_is_named(of: Any) -> None:
    with pytest.raises(TypeError, match=f"{of.__name__}: spec is a MatmulSpec, got 'f16'"):
        of("f16")
