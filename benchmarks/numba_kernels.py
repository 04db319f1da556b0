"""The programs of `test_simulation.py` for numba; imported where its simulator is switched on."""

from __future__ import annotations

import numpy as np
from numba import cuda


@cuda.jit
def axpy(a, x, y, n):  # type: ignore[no-untyped-def]
    """y = a * x + y."""
    i = cuda.grid(1)
    if i < n:
        y[i] = a * x[i] + y[i]


@cuda.jit
def collatz(steps):  # type: ignore[no-untyped-def]
    """The steps of Collatz's sequence from each number on, from 1."""
    i = cuda.grid(1)
    n, count = i + 1, 0
    while n != 1:
        n = 3 * n + 1 if n & 1 else n >> 1
        count += 1
    steps[i] = count


@cuda.jit
def transpose(a, b, turns):  # type: ignore[no-untyped-def]
    """Transposes of 32 by 32 through shared memory, again and again."""
    tile = cuda.shared.array((32, 33), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for _ in range(turns):
        for row in range(y, 32, 8):
            tile[row, x] = a[cuda.blockIdx.x, row, x]
        cuda.syncthreads()
        for row in range(y, 32, 8):
            b[cuda.blockIdx.x, row, x] = tile[x, row]
        cuda.syncthreads()
