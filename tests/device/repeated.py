"""What several device tests ask of products: random draws against float64, and the same bits run after run."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from ptxgen.kernels import Machine, Matmul
from tests.kernels.cases import judge, random_inputs, scalars_of

Draw = Callable[[Random], tuple[Matmul, dict[str, int]]]
RUNS = 1000


def check_draws(draw: Draw, first: int, count: int) -> None:
    """Products drawn by the numbers from `first` on, on the GPU against float64; a failure tells which."""
    for number in range(first, first + count):
        product, sizes = draw(Random(number))
        scalars = scalars_of(product.compute)
        try:
            arrays = product(random_inputs(product.compute, sizes, number), scalars, on=Machine.GPU).arrays
            judge(product.compute, arrays, scalars, exact=False, target="sm_90")
        except AssertionError as error:
            found = f"{product.spec}, {product.target}, {product.tiled}, {sizes}"
            raise AssertionError(f"draw {number}: {found}") from error


def check_runs(product: Matmul, depth: int) -> None:
    """A thousand runs of a ragged product with A as M x K and B as N x K, all of the same bits."""
    torch = pytest.importorskip("torch")
    rng = torch.Generator(device="cuda").manual_seed(7)
    a = torch.randn(1000, depth, device="cuda", dtype=torch.float16, generator=rng)
    b = torch.randn(1032, depth, device="cuda", dtype=torch.float16, generator=rng)
    first = torch.full((1000, 1032), float("nan"), device="cuda", dtype=torch.float16)
    product({"A": a, "B": b, "D": first}, on=Machine.GPU)
    again = torch.empty_like(first)
    for _ in range(RUNS):
        again.fill_(float("nan"))
        product({"A": a, "B": b, "D": again}, on=Machine.GPU)
        assert torch.equal(again, first)
