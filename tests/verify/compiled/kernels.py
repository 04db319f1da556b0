"""The kernels of the Triton modules here: `triton.compile(ASTSource(kernel, ...), target=GPUTarget("cuda", 80, 32))`.

The number in a module's name is its target; lines and debug sections are left out. Tiles are 128 x 128 x 64 (32 for
sm_80), `warp_specialised` is `persistent` with WARP_SPECIALISE. The CUDA modules: `nvcc -std=c++17 -ptx -arch=sm_90a`.
"""

import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, LEAKY: tl.constexpr):
    block = tl.program_id(0)
    across = tl.cdiv(N, BN)
    rows = (block // across) * BM + tl.arange(0, BM)
    columns = (block % across) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    from_a = a + rows[:, None] * sa + depth[None, :]
    from_b = b + depth[:, None] * sb + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(from_a, mask=depth[None, :] < K - k, other=0.0)
        y = tl.load(from_b, mask=depth[:, None] < K - k, other=0.0)
        total = tl.dot(x, y, total)
        from_a += BK
        from_b += BK * sb
    if LEAKY:
        total = tl.where(total > 0, total, 0.01 * total)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * sc + columns[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WARP_SPECIALISE: tl.constexpr):
    of_a = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    of_b = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    of_c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=WARP_SPECIALISE):
        row, column = tile // tl.cdiv(N, BN), tile % tl.cdiv(N, BN)
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            x = of_a.load([row * BM, k * BK])
            y = of_b.load([column * BN, k * BK])
            total = tl.dot(x, y.T, total)
        of_c.store([row * BM, column * BN], total.to(tl.float16))


@triton.jit
def attention(q, k, v, o, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    width, keys = tl.arange(0, D), tl.arange(0, BN)
    query = tl.load(q + rows[:, None] * D + width[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        key = tl.load(k + (start + keys)[None, :] * D + width[:, None])
        score = tl.dot(query, key)
        larger = tl.maximum(most, tl.max(score, 1))
        share = tl.exp2(score - larger[:, None])
        scale = tl.exp2(most - larger)
        weight = weight * scale + tl.sum(share, 1)
        total = total * scale[:, None]
        value = tl.load(v + (start + keys)[:, None] * D + width[None, :])
        total = tl.dot(share.to(tl.float16), value, total)
        most = larger
    tl.store(o + rows[:, None] * D + width[None, :], (total / weight[:, None]).to(tl.float16))
