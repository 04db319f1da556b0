"""Kernels of CUDA C on its libraries: CUB, libcu++, clusters of cooperative groups."""

import numpy as np
import pytest

from tests.simulate.foreign.texts import chance, cuda


@pytest.mark.parametrize("seed", [None, 4])
def test_cub_block_sort(seed: int | None):
    keys = chance(1).integers(0, 1 << 32, (2, 512), dtype=np.uint32)
    values = np.arange(1024, dtype=np.int32).reshape(2, 512)
    out, moved, scanned = np.zeros_like(keys), np.zeros_like(values), np.zeros_like(keys)
    total = np.zeros(2, np.uint32)
    cuda("cub_block_sort", keys, values, out, moved, scanned, total, grid=2, block=128, seed=seed)
    order = np.argsort(keys, axis=1, kind="stable")
    exact = np.take_along_axis(keys, order, axis=1)
    assert (out == exact).all()
    assert (moved == np.take_along_axis(values, order, axis=1)).all()
    assert (scanned == np.cumsum(exact, axis=1, dtype=np.uint32) - exact).all()
    assert (total == exact.sum(axis=1, dtype=np.uint32)).all()


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_barrier_pipeline(seed: int | None):
    x, y, count = chance().integers(-99, 99, (5, 256), dtype=np.int32), np.zeros(64, np.int32), np.zeros(1, np.uint32)
    cuda("barrier_pipeline", x, y, count, 5, grid=1, block=64, seed=seed)
    exact = np.roll(x, -100, axis=1).reshape(5, 64, 4).sum(axis=(0, 2))
    assert (y == exact).all()
    assert count[0] == max(3, (exact & 1).sum())


@pytest.mark.parametrize("seed", [None, 3])
def test_cluster_histogram(seed: int | None):
    x, bins = chance().integers(0, 64, 1024, dtype=np.int32), np.zeros(64, np.int32)
    cuda("cluster_histogram", x, bins, 1024, grid=4, block=96, seed=seed)
    assert (bins == np.bincount(x, minlength=64)).all()


def test_complex_numbers():
    z = chance(1).standard_normal((32, 2)).astype(np.float32)
    x, power, out = (
        chance(2).integers(0, 1 << 32, 32, dtype=np.uint32),
        np.zeros((32, 2), np.float32),
        np.zeros(32, np.uint32),
    )
    cuda("complex_numbers", z, power, x, out, grid=1, block=32)
    exact = (z[:, 0].astype(np.float64) + 1j * z[:, 1]) ** 5
    assert np.abs(power[:, 0] + 1j * power[:, 1] - exact).max() < 1e-4 * np.abs(exact).max()
    for word, found in zip(x.tolist(), out.tolist(), strict=True):
        own = [(word << 7 | word >> 25) & 0xFFFFFFFF, word, 32 - word.bit_length(), ~word & 0xFFFFFFFF]
        total = 0
        for each in own:
            total = (total * 31 + each) & 0xFFFFFFFF
        assert found == total
