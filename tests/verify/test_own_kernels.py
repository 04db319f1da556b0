"""No alarm on the kernels of the project: they are built with all checks on, and no warning is left either."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ptxgen.compute import Compute
from ptxgen.kernels import (
    MatmulSpec,
    chained_compute,
    chained_plan,
    epilogue_compute,
    epilogue_plan,
    generate,
    matmul_compute,
    matmul_plan,
    parse_epilogue,
    softmax_compute,
    softmax_plan,
    transpose_compute,
    transpose_plan,
)
from ptxgen.kernels.products.defaults import default_tiling
from ptxgen.kernels.products.samples import menu
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Fact, Plan, aligned, multiple
from ptxgen.verify import verify

FACTS: tuple[Fact, ...] = (*aligned("A", "B", "D", bytes=16), *(multiple(name, 8) for name in ("lda", "ldb", "ldd")))
OTHERS: dict[str, tuple[Callable[[], Compute], Callable[..., Plan]]] = {
    "softmax": (softmax_compute, softmax_plan),
    "transpose": (transpose_compute, transpose_plan),
    "chained": (chained_compute, chained_plan),
    "epilogue": (lambda: epilogue_compute(parse_epilogue("alpha,beta,bias,silu,residual,clamp")), epilogue_plan),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("target", ["sm_70", "sm_80"])
def test_the_smaller_kernels(name: str, target: str) -> None:
    compute, plan = OTHERS[name]
    assert verify(generate(plan(compute(), (), target)).module) == ()


def product(tiling: MatmulTiling | None, target: str, facts: tuple[Fact, ...], epilogue: str = "bias,relu") -> None:
    spec = MatmulSpec(epilogue=parse_epilogue(epilogue))
    chosen = default_tiling(spec, target) if tiling is None else tiling
    assert verify(generate(matmul_plan(matmul_compute(spec), spec, facts, chosen, target)).module) == ()


@pytest.mark.parametrize("facts", [FACTS, ()], ids=["wide", "narrow"])
@pytest.mark.parametrize("target", ["sm_70", "sm_80", "sm_90"])
def test_the_default_product(target: str, facts: tuple[Fact, ...]) -> None:
    product(None, target, facts)


@pytest.mark.slow
@pytest.mark.parametrize("tiling", list(menu()), ids=str)
def test_every_product_of_the_menu(tiling: MatmulTiling) -> None:
    product(tiling, "sm_70", FACTS)
