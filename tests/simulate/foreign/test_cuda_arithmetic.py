"""Kernels of CUDA C about numbers: doubles, halves, bytes, bits, and the mathematical library."""

import math
import zlib

import ml_dtypes
import numpy as np

from tests.simulate.foreign.texts import chance, cuda, distance

WORDS = chance(8).integers(0, 1 << 32, (2, 200), dtype=np.uint32)
WORDS[:, :4] = [[0, 0xFFFFFFFF, 0x80000000, 1], [0, 0x80000000, 0xFFFFFFFF, 0x7F80FF01]]


def test_double_precision():
    n = 150
    a, b, out = chance(1).standard_normal(n) * 1e3, chance(2).standard_normal(n), np.zeros((7, n))
    cuda("double_precision", a, b, out, n, grid=2, block=96)
    assert (out[0] == a / b).all()
    assert (out[1] == np.sqrt(np.abs(a))).all()
    assert np.abs(out[2] - (a * b - 1)).max() < 1e-12
    assert (out[3] == np.fmod(a, b)).all()
    assert np.abs(out[4] - (a / b - (a + b))).max() <= 1e-15 * np.abs(a / b).max() * 8
    assert (out[5] == np.trunc(a * 1e6) + b.astype(np.float32) + np.rint(a) + np.floor(b)).all()
    assert distance(out[6] - np.copysign(a, b), np.fmin(a, b) * np.fmax(a, -b)) < 1e5


def test_functions_of_doubles():
    x = np.concatenate([chance().uniform(-12, 12, 90), [0.0, 1.0, -0.5, 1e-9]])
    out = np.zeros((9, len(x)))
    cuda("double_functions", x, out, len(x), grid=1, block=96)
    p = np.abs(x) + 0.5
    exact = [np.sin(x), np.exp(x), np.log(p), np.arctan2(x, p), np.cbrt(x), p**x, [math.erf(each) for each in x]]
    exact += [[math.gamma(each) for each in p], np.sinh(x)]
    for row, (found, wanted) in enumerate(zip(out, exact, strict=True)):
        assert distance(found, np.array(wanted)) <= 10, row


def test_half_pairs():
    n = 64
    a, b = (chance(s).standard_normal((n, 2)).astype(np.float16) for s in (1, 2))
    out, wide = np.zeros((4, n, 2), np.float16), np.zeros((2, n, 2), np.float32)
    cuda("half_pairs", a, b, out, wide, n, grid=1, block=64)
    x, y = a.astype(np.float64), b.astype(np.float64)
    assert (out[0] == (x * y + (a + b).astype(np.float64)).astype(np.float16)).all()
    assert (out[1] == np.minimum(a * b, a - b)).all()
    assert (out[2] == (a > b)).all()
    assert distance(out[3], x / np.abs(y)) <= 1
    assert (wide[0] == np.stack([b[:, 0], a[:, 1]], axis=1)).all()
    assert (wide[1, :, 0] == (a[:, 0] < b[:, 1])).all()
    assert distance(wide[1, :, 1].astype(np.float16), np.sqrt(np.abs(x[:, 0]))) <= 1


def test_bfloats():
    n, kind = 64, ml_dtypes.bfloat16
    a, b = (chance(s).standard_normal((n, 2)).astype(kind) for s in (1, 2))
    x, out, narrow = chance(3).standard_normal(n).astype(np.float32), np.zeros((3, n, 2), kind), np.zeros((3, n), kind)
    cuda("bfloats", *(each.view(np.uint16) for each in (a, b, out)), x, narrow.view(np.uint16), n, grid=1, block=64)
    p, q = a.astype(np.float64), b.astype(np.float64)
    assert (out[0] == (p * q + p).astype(kind)).all()
    assert (out[1] == (a + b) * (a - b)).all()
    assert (out[2] == np.maximum(p, -q).astype(kind)).all()
    assert (narrow[0] == x.astype(kind)).all()
    assert (narrow[1].view(np.uint16) == (x.view(np.uint32) >> 16)).all()
    assert (narrow[2] == (a[:, 0].astype(np.float32) / b[:, 1].astype(np.float32)).astype(kind)).all()


def test_eight_bits():
    n = 100
    x = (chance().standard_normal((n, 2)) * 50).astype(np.float32)
    codes, back = [np.zeros((n, 2), np.uint8) for _ in range(2)], np.zeros((2, n, 2), np.float16)
    cuda("eight_bits", x, *codes, back, n, grid=1, block=128)
    for code, of, wide in zip(codes, (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2), back, strict=True):
        exact = x.astype(of)
        assert (code == exact.view(np.uint8)).all()
        assert (wide == exact.astype(np.float16)).all()


def test_dot_bytes():
    a, b = WORDS.view(np.int32)
    n, out = len(a), np.zeros((3, 200), np.int32)
    cuda("dot_bytes", a, b, out, n, grid=2, block=128)
    signed = [each.view(np.int8).reshape(n, 4).astype(np.int64) for each in (a, b)]
    unsigned = [each.view(np.uint8).reshape(n, 4).astype(np.int64) for each in (a, b)]
    assert (out[0] == (signed[0] * signed[1]).sum(axis=1) + 100).all()
    assert (out[1] == (unsigned[0] * unsigned[1]).sum(axis=1) + 7).all()
    halves = a.view(np.int16).reshape(n, 2).astype(np.int64)
    low, high = (halves * signed[1][:, :2]).sum(axis=1) - 5, (halves * signed[1][:, 2:]).sum(axis=1) + 1
    assert (out[2] == (low + high).astype(np.int32)).all()


def test_simd_words():
    a, b = WORDS
    n, out = len(a), np.zeros((8, 200), np.uint32)
    cuda("simd_words", a, b, out, n, grid=2, block=128)
    u, v = (each.view(np.uint8).reshape(n, 4).astype(np.int64) for each in WORDS)
    s, t = (each.view(np.int8).reshape(n, 4).astype(np.int64) for each in WORDS)
    g, h = (each.view(np.int16).reshape(n, 2).astype(np.int64) for each in WORDS)
    p, q = (each.view(np.uint16).reshape(n, 2).astype(np.int64) for each in WORDS)

    def bytes_of(values: np.ndarray) -> np.ndarray:
        return (values & 255).astype(np.uint8).view(np.uint32)[:, 0]

    def shorts_of(values: np.ndarray) -> np.ndarray:
        return (values & 0xFFFF).astype(np.uint16).view(np.uint32)[:, 0]

    assert (out[0] == bytes_of(u + v)).all()
    assert (out[1] == bytes_of(np.abs(u - v))).all()
    assert (out[2] == shorts_of(np.maximum(g, h))).all()
    assert (out[3] == bytes_of(np.clip(s - t, -128, 127))).all()
    assert (out[4] == bytes_of(np.where(u > v, 255, 0))).all()
    total = s + t
    assert (out[5] == bytes_of((total + (total >= 0)) >> 1)).all()
    assert (out[6] == np.abs(u - v).sum(axis=1)).all()
    assert (out[7] == shorts_of(np.minimum(p + q, 0xFFFF))).all()


def test_bit_tricks():
    a, b = WORDS
    n = len(a)
    c = chance(4).integers(0, 1 << 64, n, dtype=np.uint64)
    out, wide = np.zeros((5, n), np.uint32), np.zeros((3, n), np.uint64)
    cuda("bit_tricks", a, b, out, c, wide, n, grid=2, block=128)
    for i, (x, y, p) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        first = (x & -x).bit_length()
        words = [x.bit_count() + 64 * (32 - y.bit_length()) + 4096 * first]
        permuted = (x & 0xFF00) >> 8 | (x & 0xFF) << 8 | (y & 0xFFFF) << 16
        permuted = (x >> 8 & 255) | (x & 255) << 8 | (y & 255) << 16 | (y >> 8 & 255) << 24
        words.append(int(f"{x:032b}"[::-1], 2) ^ permuted)
        pair = y << 32 | x
        words.append((pair << (y & 31) >> 32) + (pair >> min(x & 63, 32)))
        signed = [each - (each >> 31 << 32) for each in (x, y)]
        product = (signed[0] * signed[1]) >> 32
        words.append((x * y >> 32) + product + (x & 0xFFFFFF) * (y & 0xFFFFFF) + abs(x - y) + 5)
        words.append((x + y >> 1) ^ (x + y + 1 >> 1))
        assert out[:, i].tolist() == [word & 0xFFFFFFFF for word in words], i
        q = p ^ 0x9E3779B97F4A7C15
        longs = [(p * q >> 64) + int(f"{p:064b}"[::-1], 2) + q.bit_count()]
        longs.append((p * q + p >> 61) + 64 - (p | 1).bit_length())
        apart = (p - (p >> 63 << 64)) - (q - (q >> 63 << 64))
        longs.append(abs(apart) // 1000003 * (1 if apart >= 0 else -1))
        assert wide[:, i].tolist() == [each & (1 << 64) - 1 for each in longs], i


def test_inline_ptx():
    a, b = (chance(s).integers(0, 1 << 32, (64, 4), dtype=np.uint32) for s in (1, 2))
    a[0], b[0] = 0xFFFFFFFF, (1, 0, 0, 0)
    total, other = np.zeros((64, 4), np.uint32), np.zeros(64, np.uint32)
    cuda("inline_ptx", a, b, total, other, grid=2, block=32)

    def whole(words: np.ndarray) -> int:
        return int.from_bytes(words.tobytes(), "little")

    for i in range(64):
        assert whole(total[i]) == (whole(a[i]) + whole(b[i])) % (1 << 128)
        x, y = int(a[i, 0]), int(b[i, 0])
        greater = x - (x >> 31 << 32) > y - (y >> 31 << 32)
        word = x >> 3 & 0x7FF if greater else y
        assert other[i] == (i % 32 + word + int(a[i, 0] ^ a[i, 1] ^ a[i, 2])) & 0xFFFFFFFF


def test_checksum():
    rows = chance().integers(0, 256, (40, 29), dtype=np.uint8)
    crc, fnv = np.zeros(40, np.uint32), np.zeros(40, np.uint64)
    cuda("checksum", rows, 29, crc, fnv, grid=1, block=40)
    assert crc.tolist() == [zlib.crc32(row.tobytes()) for row in rows]
    for found, row in zip(fnv.tolist(), rows, strict=True):
        h = 14695981039346656037
        for byte in row.tolist():
            h = (h ^ byte) * 1099511628211 % (1 << 64)
        assert found == h
