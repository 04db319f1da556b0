"""Kernels that Triton compiled, as they lie in its cache."""

import math

import ml_dtypes
import numpy as np
import pytest

from tests.simulate.foreign.texts import chance, triton

bfloat16 = ml_dtypes.bfloat16


def normal(seed: int, *shape: int) -> np.ndarray:
    return chance(seed).standard_normal(shape).astype(np.float32)


def test_add():
    x, y, z = normal(1, 1000), normal(2, 1000), np.zeros(1000, np.float32)
    triton("add", x, y, z, 1000, grid=4)
    assert (z == x + y).all()


def test_softmax():
    x, y = normal(1, 6, 200), np.zeros((6, 200), np.float32)
    triton("softmax", x, y, 200, 200, grid=6, shared_bytes=16)
    power = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    assert np.abs(y - power / power.sum(axis=1, keepdims=True)).max() < 1e-7


def test_layer_norm():
    x, y = normal(1, 5, 190).astype(np.float16), np.zeros((5, 190), np.float16)
    weight, bias = normal(2, 190), normal(3, 190)
    triton("layer_norm", x, y, weight, bias, 190, 1e-5, grid=5, shared_bytes=16)
    wide = x.astype(np.float64)
    apart = wide - wide.mean(axis=1, keepdims=True)
    exact = apart / np.sqrt((apart**2).mean(axis=1, keepdims=True) + 1e-5) * weight + bias
    assert np.abs(y - exact).max() < 1e-2
    assert (y != exact.astype(np.float16)).mean() < 0.01


@pytest.mark.parametrize("seed", [None, 4])
def test_matmul(seed: int | None):
    m, n, k = 64, 128, 96
    a, b, c = normal(1, m, k).astype(np.float16), normal(2, k, n).astype(np.float16), np.zeros((m, n), np.float32)
    triton("matmul", a, b, c, m, n, k, grid=(2, 2), shared_bytes=12288, seed=seed)
    assert np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max() < 1e-4


def test_matmul_of_tf32():
    m, n, k = 32, 64, 48
    a, b, c = normal(1, m, k), normal(2, k, n), np.zeros((m, n), np.float32)
    triton("matmul_tf32", a, b, c, m, n, k, grid=(1, 2), warps=2, shared_bytes=4096, kernel="matmul")
    assert 1e-6 < np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max() < 5e-2


def test_matmul_of_bytes():
    a, b = (chance(seed).integers(-128, 128, (32, 32 * 3)).astype(np.int8) for seed in (1, 2))
    c = np.zeros((32, 32), np.int32)
    triton("matmul_bytes", a, b.T.copy(), c, 96, grid=1, shared_bytes=4096)
    assert (c == a.astype(np.int32) @ b.astype(np.int32).T).all()


def test_transpose():
    x, y = normal(1, 50, 70), np.zeros((70, 50), np.float32)
    triton("transpose", x, y, 50, 70, grid=(2, 3), shared_bytes=4096)
    assert (y == x.T).all()


def test_prefix_sums():
    x, y = chance().integers(-99, 99, (3, 512), dtype=np.int32), np.zeros((3, 512), np.int32)
    triton("prefix_sums", x, y, grid=3, shared_bytes=16)
    assert (y == np.cumsum(x, axis=1)).all()


def test_histogram():
    """Two warps clear the same bins, each with zeros, before they meet: a race without consequence."""
    x, bins = chance().integers(0, 64, 1024, dtype=np.int32), np.zeros(64, np.int32)
    triton("histogram", x, bins, 1024, grid=4, shared_bytes=256, found={"race.shared"})
    assert (bins == np.bincount(x, minlength=64)).all()


def test_sort():
    x, y = chance().integers(-(1 << 31), 1 << 31, (3, 128)).astype(np.int32), np.zeros((3, 128), np.int32)
    triton("sort", x, y, grid=3, warps=2, shared_bytes=512)
    assert (y == np.sort(x, axis=1)).all()


def test_argmax():
    x, place, value = normal(1, 7, 100), np.zeros(7, np.int32), np.zeros(7, np.float32)
    triton("argmax", x, place, value, 100, grid=7, shared_bytes=32)
    assert (place == x.argmax(axis=1)).all()
    assert (value == x.max(axis=1)).all()


def philox(counter: np.ndarray, key: int) -> np.ndarray:
    """The first word of Philox 4x32 with 10 rounds."""
    c, k = [counter.astype(np.uint64), *(np.zeros(len(counter), np.uint64) for _ in range(3))], [key, 0]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        high, other = b >> np.uint64(32), a >> np.uint64(32)
        c = [high ^ c[1] ^ np.uint64(k[0]), b & low, other ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0].astype(np.uint32)


def test_dropout():
    x, y = normal(1, 500), np.zeros(500, np.float32)
    triton("dropout", x, y, 500, 0.25, 123, grid=2)
    word = philox(np.arange(500), 123).view(np.int32)
    uniform = np.where(word < 0, -word - 1, word) * np.float32(4.6566127342e-10)
    assert (y == np.where(uniform > 0.25, x / np.float32(0.75), 0)).all()


def test_gelu():
    x, y = normal(1, 400).astype(bfloat16), np.zeros(400, bfloat16)
    triton("gelu", x.view(np.uint16), y.view(np.uint16), 400, grid=2)
    exact = [0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x.astype(np.float64).tolist()]
    assert (y == np.array(exact, np.float32).astype(bfloat16)).mean() > 0.99


def test_embedding():
    table, index = normal(1, 20, 100).astype(np.float16), chance(2).integers(0, 20, 9).astype(np.int64)
    y = np.zeros((9, 100), np.float16)
    triton("embedding", table, index, y, 100, grid=9, warps=2)
    assert (y == table[index]).all()


def test_cross_entropy():
    x, target, loss = normal(1, 8, 90), chance(2).integers(0, 90, 8).astype(np.int64), np.zeros(8, np.float32)
    triton("cross_entropy", x, target, loss, 90, grid=8, shared_bytes=16)
    wide = x.astype(np.float64)
    exact = np.log(np.exp(wide).sum(axis=1)) - wide[np.arange(8), target]
    assert np.abs(loss - exact).max() < 1e-5


@pytest.mark.parametrize("seed", [None, 9])
def test_attention(seed: int | None):
    length, width, scale = 64, 32, 32**-0.5
    q, k, v = (normal(each, length, width).astype(np.float16) for each in (1, 2, 3))
    out = np.zeros((length, width), np.float16)
    triton("attention", q, k, v, out, length, scale, grid=2, warps=2, shared_bytes=6144, seed=seed)
    score = q.astype(np.float64) @ k.astype(np.float64).T * scale
    score[np.triu_indices(length, 1)] = -np.inf
    power = np.exp(score - score.max(axis=1, keepdims=True))
    exact = power @ v.astype(np.float64) / power.sum(axis=1, keepdims=True)
    assert np.abs(out - exact).max() < 4e-3


def test_convolution():
    x, weight, y = normal(1, 700), normal(2, 5), np.zeros(700, np.float32)
    triton("convolution", x, weight, y, 700, grid=3)
    exact = np.correlate(np.pad(x, 2).astype(np.float64), weight.astype(np.float64), "valid")
    assert np.abs(y - exact).max() < 1e-5


@pytest.mark.parametrize("seed", [None, 2, 3])
def test_lock_sum(seed: int | None):
    """All threads read the sum, as Triton reads scalars, and one writes it: a race on what the others do not use."""
    x = chance(1).integers(-99, 99, (6, 128)).astype(np.float32)
    total, lock = np.zeros(1, np.float32), np.zeros(1, np.int32)
    triton("lock_sum", x, total, lock, grid=6, shared_bytes=16, seed=seed, found={"race.global"})
    assert (total[0], lock[0]) == (x.sum(), 0)


def test_quantise():
    x = normal(1, 6, 150).astype(np.float16)
    codes, scale = np.zeros((6, 150), np.int8), np.zeros(6, np.float32)
    triton("quantise", x, codes, scale, 150, grid=6, shared_bytes=16)
    step = np.abs(x.astype(np.float32)).max(axis=1) / np.float32(127)
    assert np.abs(scale - step).max() <= np.spacing(step).max()
    assert np.abs(codes - np.rint(x / scale[:, None])).max() <= (np.abs(x / scale[:, None]) % 1 == 0.5).max()


@pytest.mark.parametrize("seed", [None, 5])
def test_matmul_of_warpgroups(seed: int | None):
    m, n, k = 64, 128, 96
    a, b = normal(1, m, k).astype(bfloat16), normal(2, k, n).astype(bfloat16)
    c = np.zeros((m, n), np.float32)
    arrays = (a.view(np.uint16), b.view(np.uint16), c)
    triton("matmul_hopper", *arrays, m, n, k, grid=(1, 2), shared_bytes=24576, kernel="matmul", seed=seed)
    assert np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max() < 1e-4
