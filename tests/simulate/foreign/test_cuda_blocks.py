"""Kernels of CUDA C that reduce, scan, sort and count within and across blocks."""

import numpy as np
import pytest

from tests.simulate.foreign.texts import chance, cuda


def test_axpy():
    x, y = chance(1).standard_normal(1000).astype(np.float32), chance(2).standard_normal(1000).astype(np.float32)
    exact = (np.float32(1.5).astype(np.float64) * x + y).astype(np.float32)
    cuda("axpy", 1.5, x, y, 1000, grid=3, block=128)
    assert (y == exact).all()


def test_reduce_tree():
    x, sums = chance().integers(-99, 99, (6, 256), dtype=np.int32), np.zeros(6, np.int32)
    cuda("reduce_tree", x, sums, grid=6, block=256)
    assert (sums == x.sum(axis=1)).all()


def test_reduce_shuffle():
    x, total = chance().integers(-(1 << 30), 1 << 30, 5000).astype(np.float64), np.zeros(1)
    cuda("reduce_shuffle", x, total, 5000, grid=1, block=256)
    assert total[0] == x.sum()


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_reduce_last_block(seed: int | None):
    x = chance().integers(0, 1 << 32, 3000, dtype=np.uint32)
    parts, total = np.zeros(7, np.uint32), np.zeros(1, np.uint32)
    cuda("reduce_last_block", x, parts, total, 3000, grid=7, block=96, seed=seed)
    assert total[0] == x.sum(dtype=np.uint32)


def test_scan_block():
    x, y = chance().integers(-1000, 1000, (4, 128), dtype=np.int32), np.zeros((4, 128), np.int32)
    cuda("scan_block", x, y, grid=4, block=128)
    assert (y == np.cumsum(x, axis=1)).all()


def test_scan_warp():
    x, y = chance().integers(0, 1 << 60, 1000, dtype=np.uint64), np.zeros(1000, np.uint64)
    cuda("scan_warp", x, y, 1000, grid=1, block=1024)
    assert (y == np.cumsum(x) - x).all()


def test_histogram():
    data, bins = chance().integers(0, 256, 6000, dtype=np.uint8) & np.uint8(0x7F), np.zeros(256, np.uint32)
    cuda("histogram", data, bins, 6000, grid=5, block=192)
    assert (bins == np.bincount(data, minlength=256)).all()


def test_histogram_match():
    keys, counts = chance().integers(0, 9, 700, dtype=np.int32), np.zeros(9, np.int32)
    cuda("histogram_match", keys, counts, 700, grid=6, block=128)
    assert (counts == np.bincount(keys)).all()


@pytest.mark.parametrize("seed", [None, 7])
def test_bitonic_sort(seed: int | None):
    keys = chance().integers(-(1 << 31), 1 << 31, (3, 512)).astype(np.int32)
    exact = np.sort(keys, axis=1)
    report = cuda("bitonic_sort", keys, grid=3, block=256, shared_bytes=2048, seed=seed)
    assert (keys == exact).all()
    assert report.conflicts > 0


def test_radix_sort():
    keys = chance().integers(0, 1 << 12, 256, dtype=np.uint32)
    exact = np.sort(keys)
    cuda("radix_sort", keys, 12, grid=1, block=256)
    assert (keys == exact).all()


def test_compaction():
    x, y, count = chance().integers(0, 100, 500, dtype=np.int32), np.zeros(500, np.int32), np.zeros(1, np.int32)
    cuda("compaction", x, y, count, 500, grid=4, block=128)
    kept = x[x % 3 == 0]
    assert count[0] == len(kept)
    assert (np.sort(y[: len(kept)]) == np.sort(kept)).all()


def test_cooperative_groups():
    x = chance().integers(-50, 50, 256, dtype=np.int32)
    sums, scanned, odd = np.zeros(32, np.int32), np.zeros(256, np.int32), np.zeros(256, np.int32)
    cuda("cooperative", x, sums, scanned, odd, grid=2, block=128)
    tiles = x.reshape(32, 8)
    assert (sums == tiles.sum(axis=1)).all()
    assert (scanned == np.cumsum(tiles, axis=1).ravel()).all()
    is_odd = (x & 1).reshape(8, 32)
    place = np.cumsum(is_odd, axis=1) - 1
    assert (odd.reshape(8, 32) == np.where(is_odd, place * 100 + is_odd.sum(axis=1, keepdims=True), -1)).all()


def test_warp_reductions():
    x, out = chance().integers(-1000, 1000, (4, 32), dtype=np.int32), np.zeros((5, 4, 32), np.int32)
    x[1] |= 1
    cuda("warp_reductions", x, out, 128, grid=2, block=64)
    whole = np.ones((1, 32), np.int32)
    assert (out[0] == x.sum(axis=1, keepdims=True) * whole).all()
    assert (out[1] == (x.min(axis=1) ^ x.max(axis=1))[:, None] * whole).all()
    assert (out[2] == np.bitwise_xor.reduce(x, axis=1)[:, None] * whole).all()
    uniform = ((x & 1) == (x[:, :1] & 1)).all(axis=1)
    votes = (x > -900).all(axis=1) + 2 * (x > 900).any(axis=1) + 4 * uniform
    assert (out[3] == votes[:, None] * whole).all()
    assert (out[4] == 0).all()


def test_atomic_kinds():
    n = 300
    x = chance().integers(-500, 500, n, dtype=np.int32)
    x[17] = 77
    ints, words = np.array([9999, -9999, 5, 0, 9999], np.int32), np.array([~0 & 0xFFFFFFFF, 0, 3, 0, 2, 10], np.uint32)
    wide, floats, doubles = np.zeros(2, np.uint64), np.zeros(1, np.float32), np.zeros(1)
    cuda("atomic_kinds", x, ints, words, wide, floats, doubles, n, grid=3, block=128)
    assert ints.tolist() == [x.min(), x.max(), 5 - x.sum(), 1234, x.min()]
    bits = np.unique(x & 31)
    some = int(np.bitwise_or.reduce(1 << bits.astype(np.int64)))
    assert words[:3].tolist() == [~some & 0xFFFFFFFF, some, int(np.bitwise_xor.reduce(x)) & 0xFFFFFFFF ^ 3]
    down = 2
    for _ in range(n):
        down = 6 if down == 0 or down > 6 else down - 1
    assert words[3:].tolist() == [n % 10, down, 10 + int((x & 3).sum())]
    assert wide.tolist() == [int((x.astype(np.int64) ** 2).sum()), int(x.max()) + (1 << 20)]
    assert floats[0] == (x & 15).sum()
    assert doubles[0] == 0.25 * x.sum()


@pytest.mark.parametrize("seed", [None, 5])
def test_spin_lock(seed: int | None):
    lock, counter, log = np.zeros(1, np.int32), np.zeros(1, np.int32), np.full(96, -1, np.int32)
    cuda("spin_lock", lock, counter, log, grid=2, block=48, seed=seed)
    assert (np.sort(log) == np.arange(96)).all()
    assert (lock[0], counter[0]) == (0, 96)


def test_shortest_paths():
    n = 20
    distance = chance().integers(1, 100, (n, n)).astype(np.int32)
    np.fill_diagonal(distance, 0)
    exact = distance.copy()
    for k in range(n):
        exact = np.minimum(exact, exact[:, k : k + 1] + exact[k])
    cuda("shortest_paths", distance, n, grid=1, block=128)
    assert (distance == exact).all()
