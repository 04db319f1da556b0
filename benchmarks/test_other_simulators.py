"""The programs of `test_simulation.py` in numba's CUDA simulator, where it is installed: Python threads, no checks.

Both are measured in this process on sizes that each can bear, and compared by the time for one thread of the program.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import pytest

from benchmarks.test_simulation import AXPY, COLLATZ, TRANSPOSE, axpy, collatz, least_seconds, prepared, transpose

TIMES_SLOWER = {"axpy": 300, "collatz": 10, "transpose": 300}
TURNS = 4


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The kernels for numba, to be run by its simulator."""
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    pytest.importorskip("numba")
    return importlib.import_module("benchmarks.numba_kernels")


def theirs(kernels: Any, name: str) -> tuple[Callable[[], object], int]:
    """The programs for numba as launches of few threads, and their number."""
    n = 2048
    x, y, steps = np.arange(n, dtype=np.float32), np.ones(n, np.float32), np.zeros(1024, np.uint32)
    a, b = np.zeros((1, 32, 32), np.float32), np.zeros((1, 32, 32), np.float32)
    match name:
        case "axpy":
            return lambda: kernels.axpy[n // 256, 256](0.5, x, y, n), n
        case "collatz":
            return lambda: kernels.collatz[4, 256](steps), 1024
        case _:
            return lambda: kernels.transpose[1, (32, 8)](a, b, TURNS), 256


def ours(name: str) -> tuple[Callable[[], object], int]:
    """The programs of ours as launches of many threads; Collatz over the same starts."""
    match name:
        case "axpy":
            return axpy(prepared(AXPY), 1 << 20), 1 << 20
        case "collatz":
            return collatz(prepared(COLLATZ), 1 << 16), 1 << 16
        case _:
            return transpose(prepared(TRANSPOSE), 64, TURNS), 64 * 256


@pytest.mark.parametrize("name", TIMES_SLOWER)
def test_times_slower(kernels: Any, name: str) -> None:
    launch, threads = theirs(kernels, name)
    started = process_time()
    launch()
    their_seconds = (process_time() - started) / threads
    work, count = ours(name)
    own_seconds = least_seconds(work, 3) / count
    ratio = their_seconds / own_seconds
    print(f"{name}: numba's simulator takes {1e6 * their_seconds:.1f} us a thread, {ratio:.0f} times ours")
    assert ratio >= TIMES_SLOWER[name]
