"""Kernels of CUDA C for sm_70, as NVRTC 12.9 compiles them."""

import numpy as np
import pytest

from ptxgen.simulate.tensor import dot, halves
from tests.simulate.foreign.texts import chance, cuda


def chained(a: np.ndarray, b: np.ndarray, dtype: type) -> np.ndarray:
    """A product of rows as Volta's cores do it: blocks of 4 in ascending k; their numerics are held to recorded outputs
    elsewhere."""
    c: np.ndarray = np.zeros((len(a), len(b)), dtype)
    for start in range(0, a.shape[1], 4):
        part = slice(start, start + 4)
        left, right = (
            halves(np.ascontiguousarray(a[:, part].T[:, :, None])),
            halves(np.ascontiguousarray(b[:, part].T[:, None])),
        )
        c = dot(left, right, c, 23, dtype is np.float16)
    return c


def test_volta_wmma():
    k = 64
    a, b = chance(1).standard_normal((32, k)).astype(np.float16), chance(2).standard_normal((8, k)).astype(np.float16)
    d, e = np.zeros((32, 8), np.float32), np.zeros((8, 32), np.float16)
    cuda("volta_wmma", a, b, d, e, k, grid=1, block=32)
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.abs(d - exact).max() < 1e-4
    assert np.abs(e.T - exact).max() < 0.1
    assert (d == chained(a, b, np.float32)).all()
    assert (chained(a, b, np.float16) == e.T).all()


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_volta_warps(seed: int | None):
    x, y, order = chance().integers(0, 99, 32, dtype=np.int32), np.zeros(64, np.int32), np.zeros(32, np.int32)
    cuda("volta_warps", x, y, order, grid=1, block=96, seed=seed)
    assert (y[:32] == 2 * x[::-1]).all()
    sums = np.array([sum(range(lane % 5 + 1)) for lane in range(32)])
    assert (y[32:] == sums[np.arange(32) ^ 1]).all()
    assert (order == 10 * np.arange(32)).all()
