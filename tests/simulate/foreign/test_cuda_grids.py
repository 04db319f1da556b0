"""Kernels of CUDA C over grids: stencils, transposes, products, and loops that diverge."""

import ml_dtypes
import numpy as np
import pytest

from tests.simulate.foreign.texts import chance, cuda, distance


def test_transpose():
    a, b = chance().standard_normal((70, 45)).astype(np.float32), np.zeros((45, 70), np.float32)
    report = cuda("transpose", a, b, 70, 45, grid=(2, 3), block=(32, 8))
    assert (b == a.T).all()
    assert report.conflicts == 0


def test_copy_vectors():
    a, c = chance().standard_normal((64, 4)).astype(np.float32), chance().standard_normal((64, 2))
    e = chance().integers(0, 256, (64, 4), dtype=np.uint8)
    b, d, f = np.zeros_like(a), np.zeros_like(c), np.zeros_like(e)
    report = cuda("copy_vectors", a, b, c, d, e, f, grid=2, block=32)
    assert (b == a[:, ::-1]).all()
    assert (d == c[:, ::-1]).all()
    assert (f == e[:, [1, 0, 3, 2]]).all()
    assert all(site.global_.efficiency == 1 for site in report.global_sites)


def test_stencil_constant():
    n, weights = 300, (-0.5, 1.25, 2.0, -3.0, 0.75, 0.125, 1.0)
    x, y = chance().standard_normal(n).astype(np.float32), np.zeros(300, np.float32)
    cuda("stencil_constant", x, y, n, grid=3, block=128)
    padded, sums = np.pad(x, 3).astype(np.float64), np.zeros(n, np.float32)
    for k, weight in enumerate(weights):
        sums = (weight * padded[k : k + n] + sums).astype(np.float32)
    assert (y == sums).all()


def test_stencil_heat():
    u, v = chance().standard_normal((21, 37)), np.zeros((21, 37))
    cuda("stencil_heat", u, v, 37, 21, 0.1, grid=(3, 3), block=(16, 8))
    exact = u.copy()
    around = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4 * u[1:-1, 1:-1]
    exact[1:-1, 1:-1] += 0.1 * around
    assert np.abs(v - exact).max() < 1e-15 * 16


def test_life():
    n = 40
    cells, after = chance().integers(0, 2, (n, n), dtype=np.uint8), np.zeros((n, n), np.uint8)
    cuda("life", cells, after, n, grid=(3, 5), block=(16, 8))
    around = sum(np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - cells
    assert (after == ((around == 3) | ((around == 2) & (cells == 1)))).all()


def test_matmul_tiled():
    m, n, k = 33, 20, 50
    a, b = chance(1).standard_normal((m, k)).astype(np.float32), chance(2).standard_normal((k, n)).astype(np.float32)
    c, exact = np.zeros((m, n), np.float32), np.zeros((m, n), np.float32)
    cuda("matmul_tiled", a, b, c, m, n, k, grid=(2, 3), block=(16, 16))
    for i in range(k):
        exact = (a[:, i : i + 1].astype(np.float64) * b[i] + exact).astype(np.float32)
    assert (c == exact).all()


def test_wmma_half():
    m, n, k = 32, 48, 64
    a, b = chance(1).standard_normal((m, k)).astype(np.float16), chance(2).standard_normal((n, k)).astype(np.float16)
    d = np.zeros((m, n), np.float32)
    cuda("wmma_half", a, b, d, m, n, k, grid=(3, 1), block=64)
    exact, size = 0.5 * (a.astype(np.float64) @ b.T.astype(np.float64)), np.abs(a).astype(np.float64) @ np.abs(b.T)
    assert (np.abs(d - exact) <= size * 2.0**-19).all()


def test_wmma_bytes():
    a, b = (chance(rows).integers(-128, 128, (rows, 64)).astype(np.int8) for rows in (8, 32))
    d = np.zeros((8, 32), np.int32)
    cuda("wmma_bytes", a, b, d, 64, grid=1, block=32)
    assert (d == a.astype(np.int32) @ b.T.astype(np.int32) - 7).all()


def test_wmma_double():
    a, b, d = chance(1).standard_normal((8, 32)), chance(2).standard_normal((32, 8)), np.zeros((8, 8))
    cuda("wmma_double", a, b, d, 32, grid=1, block=32)
    assert np.abs(d.T - a @ b).max() < 1e-13


def test_wmma_bfloat():
    a, b = (chance(s).standard_normal(shape).astype(ml_dtypes.bfloat16) for s, shape in ((1, (32, 16)), (2, (16, 8))))
    e, f = (chance(s).standard_normal((16, 8)).astype(np.float32) for s in (3, 4))
    d, g = np.zeros((32, 8), np.float32), np.zeros((16, 16), np.float32)
    cuda("wmma_bfloat", a.view(np.uint16), b.view(np.uint16), d, e, f, g, grid=1, block=32)
    assert np.abs(d - a.astype(np.float64) @ b.astype(np.float64)).max() < 1e-5
    exact = e.astype(np.float64) @ f.T.astype(np.float64)
    assert 0 < np.abs(g - exact).max() < 1e-2


def test_mandelbrot():
    width, height, limit = 40, 24, 60
    out = np.zeros((height, width), np.int32)
    report = cuda("mandelbrot", out, width, height, limit, grid=(3, 3), block=(16, 8))
    cx, cy = np.meshgrid(-2.0 + 3.0 * np.arange(width) / width, -1.5 + 3.0 * np.arange(height) / height)
    x, y, count = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape, np.int32)
    for _ in range(limit):
        going = x * x + y * y <= 4.0
        count += going
        x, y = np.where(going, x * x - y * y + cx, x), np.where(going, 2.0 * x * y + cy, y)
    assert (out != count).mean() < 0.01
    assert report.total.lanes < 32 * report.total.warps


def test_collatz():
    steps = np.zeros(200, np.uint32)
    cuda("collatz", steps, 1, grid=2, block=100)

    def length(n: int) -> int:
        return 0 if n == 1 else 1 + length(3 * n + 1 if n & 1 else n // 2)

    assert steps.tolist() == [length(n) for n in range(1, 201)]


def test_nbody():
    bodies, found = chance().standard_normal((128, 4)).astype(np.float32), np.zeros((128, 3), np.float32)
    cuda("nbody", bodies, found, 128, grid=2, block=64)
    wide = bodies.astype(np.float64)
    apart = wide[None, :, :3] - wide[:, None, :3]
    weight = wide[None, :, 3] * ((apart**2).sum(axis=2) + np.float32(0.01)) ** -1.5
    assert np.abs(found - (weight[..., None] * apart).sum(axis=1)).max() < 2e-4 * np.abs(found).max()


def test_sparse_product():
    rows, columns = 30, 64
    dense = np.where(chance().random((rows, columns)) < 0.2, chance(1).integers(-9, 9, (rows, columns)), 0)
    row, column = np.nonzero(dense)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))]).astype(np.int32)
    x, y = chance(2).integers(-9, 9, columns).astype(np.float32), np.zeros(rows, np.float32)
    values = dense[row, column].astype(np.float32)
    cuda("sparse_product", starts, column.astype(np.int32), values, x, y, rows, grid=8, block=128)
    assert (y == dense @ x).all()


@pytest.mark.parametrize("seed", [None, 3])
def test_async_copies(seed: int | None):
    x, y = chance().integers(-99, 99, (2, 5, 256)).astype(np.float32), np.zeros((2, 64), np.float32)
    cuda("async_copies", x, y, 5, grid=2, block=64, seed=seed)
    assert (y == np.roll(x, -17, axis=2).reshape(2, 5, 64, 4).sum(axis=(1, 3))).all()


def test_random_walk():
    steps, ends, visits = 40, np.zeros((64, 2), np.int32), np.zeros(64, np.uint32)
    cuda("random_walk", 12345, steps, ends, visits, grid=2, block=32)
    i = np.arange(64, dtype=np.uint64)
    s, p = np.uint64(12345) + i * np.uint64(0x9E3779B97F4A7C15), i.astype(np.uint32) * np.uint32(747796405)
    p = p + np.uint32(2891336453)
    x, y, counts = np.zeros(64, np.int64), np.zeros(64, np.int64), np.zeros(64, np.int64)
    for _ in range(steps):
        s = s ^ (s << np.uint64(13))
        s = s ^ (s >> np.uint64(7))
        s = s ^ (s << np.uint64(17))
        p = p * np.uint32(747796405) + np.uint32(2891336453)
        word = ((p >> ((p >> np.uint32(28)) + np.uint32(4))) ^ p) * np.uint32(277803737)
        word = (word >> np.uint32(22)) ^ word
        by, across = np.where(word & np.uint32(1), 1, -1), (s >> np.uint64(40)) & np.uint64(1) != 0
        x, y = np.where(across, x + by, x), np.where(across, y, y + by)
        np.add.at(counts, ((y & 7) << 3) | (x & 7), 1)
    assert (ends == np.stack([x, y], axis=1)).all()
    assert (visits == counts).all()


def test_functions_of_floats():
    x = np.concatenate([chance().uniform(-20, 20, 250), [0.0, 1.0, -1.0, 0.5, 1e-3, 80.0]]).astype(np.float32)
    n = len(x)
    out = np.zeros((10, n), np.float32)
    cuda("float_functions", x, out, n, grid=2, block=128)
    v, p = x.astype(np.float64), (np.abs(x) + np.float32(0.5)).astype(np.float64)
    large = (x * np.float32(1e6)).astype(np.float64)
    exact = [np.sin(large), np.cos(v), np.exp(v), np.log(p), p ** np.float64(np.float32(1.7)), np.tanh(v), p**-0.5]
    exact.append(np.arctan2(v, p))
    for row, (found, wanted) in enumerate(zip(out, exact, strict=False)):
        assert distance(found, wanted) <= 5, row
