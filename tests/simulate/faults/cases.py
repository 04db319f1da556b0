"""The kernels that faults are put into: written by hand, compiled by nvcc and Triton, derived."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ptxgen.kernels import Matmul, MatmulSpec, MatmulTiling
from ptxgen.kernels.launching.launch import prepare
from ptxgen.parse import parse
from tests.simulate.asynchronous import hopper
from tests.simulate.asynchronous.pipelines import PIPELINES, Pipeline
from tests.simulate.faults import hand
from tests.simulate.faults.hand import Case, Launch, launch
from tests.simulate.foreign.texts import chance, module


def _pipeline(written: Callable[[], Pipeline]) -> Case:
    made = written()

    def make() -> tuple[Any, tuple[Any, ...]]:
        args = made.args()
        args[-1][:] = 77
        return args, (args[-1],)

    return Case(made.module, (Launch(made.grid, made.block, make, (made.wanted,), made.cluster),))


def _product(target: str, tiling: MatmulTiling, sizes: tuple[tuple[int, int, int], ...]) -> Case:
    """The product that is derived for a target, with sizes that fill its tiles and sizes that do not; two of them
    once more with infinities, which zeros do not hide.
    """
    product = Matmul(MatmulSpec(), target, tiling)
    kernels, launches = [], list[Launch]()
    for m, n, k in sizes:
        arrays = product.with_outputs({
            "A": chance(1).integers(-4, 5, (m, k)).astype(np.float16),
            "B": chance(2).integers(-4, 5, (k, n)).astype(np.float16),
        })  # fmt: skip
        kernel = product.kernel_for(arrays)
        exact = arrays["A"].astype(np.float64) @ arrays["B"].astype(np.float64)
        kernels.append(kernel)
        launches.append(_of_product(kernel, arrays, exact.astype(arrays["D"].dtype)))
        if (m, n, k) in (sizes[1], sizes[-1]):
            arrays = {name: each.copy() for name, each in arrays.items()}
            arrays["A"][::2, 0] = np.inf
            launches.append(_of_product(kernel, arrays, None))
    assert all(each.module == kernels[0].module for each in kernels), "sizes that share no kernel"
    return Case(kernels[0].module, tuple(launches))


def _of_product(kernel: Any, arrays: dict[str, Any], exact: Any) -> Launch:
    def make() -> tuple[Any, tuple[Any, ...]]:
        given = {name: each.copy() for name, each in arrays.items()}
        return prepare(kernel.entry, given, {}).arguments, (given["D"],)

    shape = prepare(kernel.entry, arrays, {})
    return Launch(shape.blocks, shape.threads, make, (exact,), shared_bytes=shape.shared_bytes)


# Sizes at which each comparison of a row, of a column and of a depth is just true, or just false.
EDGES = ((57, 24, 40), (49, 16, 72), (41, 24, 8), (33, 32, 16), (25, 32, 24), (17, 24, 32), (9, 32, 56), (1, 24, 64),
         (64, 8, 8))  # fmt: skip


def volta() -> Case:
    """The product derived for Volta: registers to shared memory, two stages."""
    tiling = MatmulTiling(i=64, j=32, k=16, warps=2, isolate=False)
    return _product("sm_70", tiling, ((64, 32, 48), *EDGES))


def ampere() -> Case:
    """The product derived for Ampere: a ring of copies by lane."""
    tiling = MatmulTiling(i=64, j=32, k=16, warps=2, depth=3, isolate=False)
    return _product("sm_80", tiling, ((64, 32, 144), *EDGES))


def hopper_derived() -> Case:
    """The product derived for Hopper: a ring of tensor copies, a producer and a warpgroup."""
    tiling = MatmulTiling(i=64, j=32, k=32, warps=4, depth=2, isolate=False)
    return _product("sm_90a", tiling, ((64, 32, 160), *EDGES))


def hopper_written() -> Case:
    """The product written for a cluster of two, one operand multicast."""
    a, b = (chance(seed).integers(-4, 5, (rows, hopper.DEPTH * 7)).astype(np.float16)
            for seed, rows in ((1, 2 * hopper.ROWS), (2, hopper.COLUMNS)))  # fmt: skip

    def make() -> tuple[Any, tuple[Any, ...]]:
        d = np.zeros((2 * hopper.ROWS, hopper.COLUMNS), np.float16)
        maps = hopper.maps(2 * hopper.ROWS, hopper.COLUMNS, a.shape[1])
        return [(a.copy(), maps[0]), (b.copy(), maps[1]), (d, maps[2]), a.shape[1] // hopper.DEPTH], (d,)

    exact = (a.astype(np.float64) @ b.astype(np.float64).T).astype(np.float16)
    return Case(parse(hopper.text()), (Launch(2, hopper.THREADS, make, (exact,)),))


def _cuda(name: str, *launches: Launch) -> Case:
    return Case(module("cuda", name), launches, name)


def scan() -> Case:
    """nvcc: prefix sums of a block between two buffers."""
    x = chance().integers(-1000, 1000, (2, 128), dtype=np.int32)
    return _cuda("scan_block", launch(2, 128, (x, np.zeros_like(x)), {1: np.cumsum(x, axis=1).astype(np.int32)}))


def histogram() -> Case:
    """nvcc: bytes counted by atomics in shared memory, then added in global memory."""
    launches = []
    for count, block in ((700, 96), (100, 64), (0, 128)):
        data = chance().integers(0, 256, count, dtype=np.uint8)
        data[:2] = (255, 0)[: min(count, 2)]
        bins = np.bincount(data, minlength=256).astype(np.uint32)
        launches.append(launch(2, block, (np.append(data, np.uint8(3)), np.zeros(256, np.uint32), count), {1: bins}))
    return _cuda("histogram", *launches)


def last_block() -> Case:
    """nvcc: parts handed over by a fence and a counter to the block that finishes last."""
    launches = []
    for count, blocks in ((300, 3), (100, 7), (448, 4), (50, 1)):
        x = chance().integers(0, 1 << 32, count, dtype=np.uint32)
        given = (
            np.append(x, np.uint32(5))[: max(count, 1)],
            np.zeros(blocks, np.uint32),
            np.zeros(1, np.uint32),
            count,
        )
        launches.append(launch(blocks, 64, given, {2: x.sum(dtype=np.uint32, keepdims=True)}))
    return _cuda("reduce_last_block", *launches)


def phases() -> Case:
    """nvcc and libcu++: a barrier whose phases order copies."""
    launches = []
    for tiles in (3, 1, 0):
        x = chance().integers(-99, 99, (tiles, 256), dtype=np.int32)
        sums = np.roll(x, -100, axis=1).reshape(tiles, 64, 4).sum(axis=(0, 2)).astype(np.int32)
        count = np.array([max(3, int((sums & 1).sum()))], np.uint32)
        given = (np.append(x, np.int32(0)), np.full(64, 77, np.int32), np.zeros(1, np.uint32), tiles)
        launches.append(launch(1, 64, given, {1: sums, 2: count}))
    return _cuda("barrier_pipeline", *launches)


def cluster_histogram() -> Case:
    """nvcc: bins shared out among the shared memories of a cluster."""
    launches = []
    for count, block in ((512, 64), (256, 32), (100, 16), (16, 16)):
        x = chance().integers(0, 64, count, dtype=np.int32)
        x[:4] = 31, 63, 0, 32
        bins = np.bincount(x, minlength=64).astype(np.int32)
        launches.append(launch(2, block, (x, np.zeros(64, np.int32), count), {1: bins}))
    return _cuda("cluster_histogram", *launches)


def triton_softmax() -> Case:
    """Triton: rows reduced by shuffles and through shared memory."""
    launches = []
    for count in (200, 128, 129, 256):
        x = chance().standard_normal((2, count)).astype(np.float32)
        given = (x, np.zeros((2, count), np.float32), count, count, 0, 0)
        launches.append(launch(2, 128, given, {1: None}, shared_bytes=16))
    return Case(module("triton", "softmax"), tuple(launches), "softmax")


def triton_matmul() -> Case:
    """Triton: a product with copies by lane."""
    launches = []
    for depth in (192, 32, 64, 96):
        a, b = chance(1).integers(-4, 5, (32, depth)), chance(2).integers(-4, 5, (depth, 64))
        given = (a.astype(np.float16), b.astype(np.float16), np.zeros((32, 64), np.float32), 32, 64, depth, 0, 0)
        launches.append(launch(1, 128, given, {2: (a @ b).astype(np.float32)}, shared_bytes=12288))
    return Case(module("triton", "matmul"), tuple(launches), "matmul")


CASES: dict[str, Callable[[], Case]] = {
    **{each.__name__: each for each in (
        hand.reduction, hand.transpose, hand.bounded, hand.pipeline, hand.warps, hand.hand_over, scan, histogram,
        last_block, phases, cluster_histogram, triton_softmax, triton_matmul, volta, ampere, hopper_derived,
        hopper_written,
    )},
    **{name: partial(_pipeline, each) for name, each in PIPELINES.items()},
}  # fmt: skip
