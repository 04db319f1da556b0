"""Kernels of CUDA C that call: device functions, recursion, pointers, the heap, printf and assert; and local memory."""

import math

import numpy as np
import pytest

from tests.simulate.foreign.texts import chance, cuda


def test_device_functions():
    p = chance().standard_normal((64, 6)).astype(np.float32)
    out, dots, tags = np.zeros((64, 3), np.float32), np.zeros(64), np.zeros(64, np.int32)
    cuda("device_functions", p, out, dots, tags, grid=1, block=64)
    exact = np.cross(p[:, :3].astype(np.float64), p[:, 3:].astype(np.float64))
    exact = np.where(np.arange(64)[:, None] % 3 != 0, exact / np.linalg.norm(exact, axis=1, keepdims=True), exact)
    assert np.abs(out - exact).max() < 1e-5
    assert np.abs(dots - (out.astype(np.float64) * p[:, :3]).sum(axis=1)).max() < 1e-12
    assert (tags == np.arange(64) + 1000).all()


def test_recursion():
    left = np.array([2 * i + 1 if 2 * i + 1 < 32 else -1 for i in range(32)], np.int32)
    right = np.array([2 * i + 2 if 2 * i + 2 < 32 and i % 5 else -1 for i in range(32)], np.int32)
    f, a, d = (np.zeros(32, np.int32) for _ in range(3))
    cuda("recursion", f, a, left, right, d, grid=1, block=32)

    def fibonacci(n: int) -> int:
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    def ackermann(m: int, n: int) -> int:
        if m == 0:
            return n + 1
        return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))

    def depth(node: int) -> int:
        return 0 if node < 0 else 1 + max(depth(int(left[node])), depth(int(right[node])))

    assert f.tolist() == [fibonacci(i % 11) for i in range(32)]
    assert a.tolist() == [ackermann(i % 3, i % 4) for i in range(32)]
    assert d.tolist() == [depth(i) for i in range(32)]


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_barrier_in_function(seed: int | None):
    x, y = chance().integers(-20, 20, (3, 128), dtype=np.int32), np.zeros((3, 128), np.int32)
    cuda("barrier_in_function", x, y, grid=3, block=128, seed=seed)
    exact = x.sum(axis=1) * 1000 + (x > 0).sum(axis=1) + (x > 5).sum(axis=1)
    assert (y == exact[:, None]).all()


def test_function_pointers():
    x, y = chance(1).integers(-9, 9, 64).astype(np.float32), chance(2).integers(-9, 9, 64).astype(np.float32)
    z, areas = np.zeros(64, np.float32), np.zeros(64, np.float32)
    cuda("function_pointers", x, y, z, areas, grid=2, block=32)
    i = np.arange(64)
    assert (z == np.choose(i % 3, [x + y, x * y, x - y])).all()
    assert (areas == np.where(i & 1, x * x, x * y + 1)).all()


def test_prints():
    x = np.array([5, -3, 7, -1] + [2] * 28 + [1, -8], np.int32)
    report = cuda("prints", x, 34, grid=2, block=32)
    lines = [f"thread {i % 32} of block {i // 32} has {x[i]:+5d}, {('even', 'odd')[i & 1]}, {x[i] / 8:.3f} and "
             f"{chr(97 + i % 26)}%" for i in range(34) if x[i] < 0]  # fmt: skip
    lines.append(f"{0x123456789ABCDEF:x} (nil)    ab|cd   |{48879:08x} {12345.678:e}")
    assert sorted(report.printed.splitlines()) == sorted(lines)


def test_asserts_that_hold():
    x, y = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    cuda("asserts", x, y, grid=2, block=32)
    assert (y == x + 1).all()


def test_asserts_that_fail():
    x, y = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    x[[40, 41]] = -1
    report = cuda("asserts", x, y, grid=2, block=32, found={"assert"})
    (finding,) = report.findings
    assert 'x[i] >= 0 && "numbers are not negative"' in finding.message
    assert "asserts.cu:5" in finding.message
    assert (finding.cta, finding.thread, finding.count) == ((1, 0, 0), (8, 0, 0), 2)


def test_heap():
    x, y = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    cuda("heap", x, y, 4, grid=2, block=32)
    for i in range(64):
        total = 0
        for k in reversed(range(i % 4 + 1)):
            total = 3 * total + i + k
        assert y[i] == total


def test_reverse_dynamic():
    n = 100
    a, c = np.arange(n, dtype=np.int16), np.sqrt(np.arange(n))
    b, d = np.zeros(n, np.int16), np.zeros(n)
    cuda("reverse_dynamic", a, b, c, d, n, grid=1, block=64, shared_bytes=10 * n)
    assert (b == a[::-1]).all()
    assert (d == c[::-1]).all()


def test_dynamic_memory_too_small():
    n = 100
    a, b, c, d = np.arange(n, dtype=np.int16), np.zeros(n, np.int16), np.sqrt(np.arange(n)), np.zeros(n)
    cuda("reverse_dynamic", a, b, c, d, n, grid=1, block=64, shared_bytes=9 * n, found={"memory.bounds"})


def test_local_arrays():
    x = chance().integers(-99, 99, (64, 12), dtype=np.int32)
    y, peaks = np.zeros((64, 12), np.int32), np.zeros(64, np.int32)
    cuda("local_arrays", x, y, peaks, grid=2, block=32)
    assert (y == np.sort(x, axis=1)).all()
    for row, peak in zip(x.tolist(), peaks.tolist(), strict=True):
        stack: list[int] = []
        most = 0
        for value in row:
            while stack and stack[-1] <= value:
                stack.pop()
            stack.append(value)
            most = max(most, len(stack))
        assert peak == most


def test_switch_table():
    n = 200
    op, x = chance(1).integers(0, 9, n, dtype=np.int32), chance(2).integers(-300, 300, n, dtype=np.int32)
    y = chance(3).integers(-9, 9, n, dtype=np.int32)
    before = y.copy()
    cuda("switch_table", op, x, y, n, grid=2, block=128)
    for i in range(n):
        v = int(x[i])
        match int(op[i]):
            case 0:
                v = v * 3 + int(before[i])
            case 1:
                v = v << 2
            case 2:
                k = 0
                while k < v & 7:
                    v, k = v + k * v, k + 1
            case 3:
                v = math.trunc(v / 7)
            case 4:
                v = int(math.fmod(v, 13)) - 4
            case 5:
                v = (v & 0xFFFFFFFF).bit_count()
            case 6:
                v = v**3
            case 7:
                while v > 100:
                    v = v // 2 - 1
            case _:
                v = -1
        assert y[i] == np.int64(v).astype(np.int32), (i, op[i])


def test_clocks():
    good = np.zeros(96, np.int32)
    cuda("clocks", good, 10, grid=1, block=96)
    assert good.all()


def test_stack_arrays():
    x, y = chance().integers(-20, 20, 32, dtype=np.int32), np.zeros(32, np.int32)
    cuda("stack_arrays", x, y, grid=1, block=32)
    for i in range(32):
        total = 0
        for turn in range(1, 4):
            n = (i * turn) % 5 + 1
            value = 0
            for k in reversed(range(n)):
                value = value * 7 + int(x[(i + k) % 32]) + turn
            total += value
        assert y[i] == total
