"""The programs of `test_simulation.py` in numba's CUDA simulator, where it is installed: Python threads, no checks; and
a kernel of Triton in its interpreter.

Both are measured in this process on sizes that each can bear, and compared by the time for one thread of the program.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

from benchmarks.test_simulation import AXPY, COLLATZ, TRANSPOSE, axpy, collatz, least_seconds, prepared, transpose
from ptxgen.parse import parse
from ptxgen.simulate import simulator

TIMES_SLOWER = {"axpy": 300, "collatz": 10, "transpose": 300}
TURNS = 4
FOREIGN = Path(__file__).resolve().parents[1] / "tests" / "simulate" / "foreign"


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


def bare_collatz(n: int) -> np.ndarray:
    """The steps of Collatz's sequence from each number up to n, in numpy alone: no instruction, no check, no count."""
    live, at, steps, count = np.arange(1, n + 1, dtype=np.uint32), np.arange(n), np.zeros(n, np.uint32), 0
    while live.size:
        kept = live != 1
        steps[at[~kept]] = count
        live, at, count = live[kept], at[kept], count + 1
        live = np.where(live & 1, live * np.uint32(3) + np.uint32(1), live >> np.uint32(1))
    return steps


def test_beside_plain_numpy() -> None:
    """Reported, not bounded: what no simulator that holds registers in numpy arrays can stay below."""
    n = 1 << 16
    bare = least_seconds(lambda: bare_collatz(n), 3)
    steps = int(bare_collatz(n).sum())
    work, _ = ours("collatz")
    own = least_seconds(work, 3)
    print(f"collatz: {1e9 * own / steps:.1f} ns a step here, {1e9 * bare / steps:.1f} in plain numpy, {own / bare:.1f}")


class HostTensor:
    """As much of a tensor as Triton's interpreter asks of one, on a numpy array."""

    device = "cpu"

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.dtype = array, array.dtype

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self.array.ctypes.data)

    def untyped_storage(self) -> HostTensor:
        """The tensor, which is its own storage."""
        return self

    def cpu(self) -> HostTensor:
        """The tensor, which is there already."""
        return self

    def new_empty(self, count: int, device: str) -> HostTensor:
        """An empty tensor of the type."""
        return HostTensor(np.zeros(count, self.dtype))

    def set_(self, storage: HostTensor, *view: Any) -> HostTensor:
        """Another storage's elements."""
        self.array = storage.array
        return self

    def storage_offset(self) -> int:
        """Nothing stands before it."""
        return 0

    def size(self) -> tuple[int, ...]:
        """The shape."""
        return self.array.shape

    def stride(self) -> tuple[int, ...]:
        """Elements side by side."""
        return (1,)

    def copy_(self, other: HostTensor) -> HostTensor:
        """The elements are shared, so they are there."""
        return self


def test_beside_the_interpreter_of_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reported, not bounded: a sum of arrays as Triton interprets it and as its PTX runs here."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    pytest.importorskip("triton")
    kernels = importlib.import_module("tests.simulate.foreign.triton.kernels")
    n = 1 << 17
    x, y, z = (np.arange(n, dtype=np.float32) for _ in range(3))
    tensors = [HostTensor(each) for each in (x, y, z)]
    theirs_seconds = least_seconds(lambda: kernels.add[(n // 256,)](*tensors, n, BLOCK=256), 2)
    assert (z == x + y).all()
    decoded = simulator(parse((FOREIGN / "triton" / "add.ptx").read_text(encoding="utf-8")), "add")
    args = (x, y, np.zeros(n, np.float32), n, 0, 0)
    own_seconds = least_seconds(lambda: decoded.run(grid=n // 256, block=128, args=args), 3)
    print(f"add: Triton's interpreter takes {theirs_seconds / own_seconds:.1f} times as long as its PTX here")
