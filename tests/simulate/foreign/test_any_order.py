"""The same kernels with their warps in 20 random orders: the same results, and no finding that is not expected."""

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ptxgen.simulate import simulate
from tests.simulate.foreign import texts

MODULES = ("cuda_arithmetic", "cuda_blocks", "cuda_calls", "cuda_grids", "cuda_libraries", "cuda_volta", "triton")


def kernels_with_results() -> Iterator[Callable[..., None]]:
    """Those that want nothing but a seed."""
    for name in MODULES:
        module = importlib.import_module(f"tests.simulate.foreign.test_{name}")
        for label, function in inspect.getmembers(module, inspect.isfunction):
            own = label.startswith("test_") and function.__module__ == module.__name__
            if own and set(inspect.signature(function).parameters) <= {"seed"}:
                yield function


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_in_a_random_order(seed: int, monkeypatch: pytest.MonkeyPatch):
    def shuffled(*given: Any, **options: Any) -> Any:
        return simulate(*given, **{**options, "seed": seed})

    monkeypatch.setattr(texts, "simulate", shuffled)
    functions = list(kernels_with_results())
    assert len(functions) >= 60
    for function in functions:
        function(*([seed] if inspect.signature(function).parameters else []))
