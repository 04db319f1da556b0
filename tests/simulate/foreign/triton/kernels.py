"""Kernels in Triton, compiled to the .ptx files beside this one. Nothing here is imported by a test."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def softmax(x, y, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * stride + i, i < columns, -float("inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * stride + i, power / tl.sum(power, 0), i < columns)


@triton.jit
def layer_norm(x, y, weight, bias, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < columns
    value = tl.load(x + row * columns + i, inside, 0.0).to(tl.float32)
    mean = tl.sum(value, 0) / columns
    apart = tl.where(inside, value - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(apart * apart, 0) / columns + eps)
    result = apart * scale * tl.load(weight + i, inside) + tl.load(bias + i, inside)
    tl.store(y + row * columns + i, result.to(tl.float16), inside)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * N + n[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * N + n[None, :], total)


@triton.jit
def matmul_bytes(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.int32)
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * BN + n[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * BN + n[None, :], total)


@triton.jit
def transpose(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    tile = tl.load(x + m[:, None] * N + n[None, :], (m[:, None] < M) & (n[None, :] < N))
    tl.store(y + n[:, None] * M + m[None, :], tl.trans(tile), (n[:, None] < N) & (m[None, :] < M))


@triton.jit
def prefix_sums(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + i, i < n, 0), BINS)
    tl.atomic_add(bins + tl.arange(0, BINS), counts)


@triton.jit
def sort(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * BLOCK
    tl.store(y + row + i, tl.sort(tl.load(x + row + i)))


@triton.jit
def argmax(x, place, value, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    best, at = tl.max(tl.load(x + row * columns + i, i < columns, -float("inf")), 0, return_indices=True)
    tl.store(place + row, at)
    tl.store(value + row, best)


@triton.jit
def dropout(x, y, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(y + i, tl.where(keep, tl.load(x + i, i < n) / (1 - p), 0.0), i < n)


@triton.jit
def gelu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, i < n).to(tl.float32)
    tl.store(y + i, (0.5 * value * (1 + tl.erf(value * 0.7071067811865476))).to(tl.bfloat16), i < n)


@triton.jit
def embedding(table, index, y, width, BLOCK: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    i = tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0) * width + i, tl.load(table + row * width + i, i < width), i < width)


@triton.jit
def cross_entropy(x, target, loss, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, i < columns, -float("inf"))
    top = tl.max(value, 0)
    total = tl.log(tl.sum(tl.exp(value - top), 0)) + top
    tl.store(loss + row, total - tl.load(x + row * columns + tl.load(target + row)))


@triton.jit
def attention(q, k, v, out, length, scale, BQ: tl.constexpr, BK: tl.constexpr, WIDTH: tl.constexpr):
    row = tl.program_id(0) * BQ + tl.arange(0, BQ)
    w, c = tl.arange(0, WIDTH), tl.arange(0, BK)
    query = tl.load(q + row[:, None] * WIDTH + w[None, :])
    top = tl.full((BQ,), -1e30, tl.float32)
    total = tl.zeros((BQ,), tl.float32)
    gathered = tl.zeros((BQ, WIDTH), tl.float32)
    for start in range(0, length, BK):
        key = tl.load(k + (start + c)[None, :] * WIDTH + w[:, None])
        score = tl.dot(query, key) * scale
        score = tl.where(row[:, None] >= (start + c)[None, :], score, -1e30)
        now = tl.maximum(top, tl.max(score, 1))
        power, shrink = tl.exp(score - now[:, None]), tl.exp(top - now)
        value = tl.load(v + (start + c)[:, None] * WIDTH + w[None, :])
        gathered = gathered * shrink[:, None] + tl.dot(power.to(tl.float16), value)
        total = total * shrink + tl.sum(power, 1)
        top = now
    tl.store(out + row[:, None] * WIDTH + w[None, :], (gathered / total[:, None]).to(tl.float16))


@triton.jit
def convolution(x, weight, y, n, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for tap in range(TAPS):
        at = i + tap - TAPS // 2
        total += tl.load(x + at, (at >= 0) & (at < n), 0.0) * tl.load(weight + tap)
    tl.store(y + i, total, i < n)


@triton.jit
def lock_sum(x, total, lock, BLOCK: tl.constexpr):
    part = tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), 0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def quantise(x, codes, scale, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, i < columns, 0.0).to(tl.float32)
    step = tl.max(tl.abs(value), 0) / 127
    tl.store(scale + row, step)
    tl.store(codes + row * columns + i, tl.extra.cuda.libdevice.rint(value / step).to(tl.int8), i < columns)
