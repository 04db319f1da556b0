"""The kernels that faults are put into: written by hand, compiled by nvcc and Triton, derived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.kernels import Matmul, MatmulSpec, MatmulTiling
from ptxgen.kernels.generated import prepare
from ptxgen.parse import parse
from tests.simulate.asynchronous import hopper
from tests.simulate.asynchronous.pipelines import PIPELINES, Pipeline
from tests.simulate.faults import hand
from tests.simulate.faults.hand import Case, Launch, launch
from tests.simulate.foreign.texts import chance, module


def _pipeline(made: Pipeline) -> Case:
    def make() -> tuple[Any, tuple[Any, ...]]:
        args = made.args()
        return args, (args[-1],)

    return Case(made.module, (Launch(made.grid, made.block, make, (made.wanted,), made.cluster),))


def _product(target: str, tiling: MatmulTiling, sizes: tuple[tuple[int, int, int], ...]) -> Case:
    """The product that is derived for a target, with sizes that fill its tiles and sizes that do not."""
    product = Matmul(MatmulSpec(), target, tiling)
    kernels, launches = [], []
    for m, n, k in sizes:
        arrays = product.with_outputs({
            "A": chance(1).integers(-4, 5, (m, k)).astype(np.float16),
            "B": chance(2).integers(-4, 5, (k, n)).astype(np.float16),
        })  # fmt: skip
        kernel = product.kernel_for(arrays)
        exact = arrays["A"].astype(np.float64) @ arrays["B"].astype(np.float64)
        kernels.append(kernel)
        launches.append(_of_product(kernel, arrays, exact.astype(arrays["D"].dtype)))
    assert all(each.module == kernels[0].module for each in kernels), "sizes that share no kernel"
    return Case(kernels[0].module, tuple(launches))


def _of_product(kernel: Any, arrays: dict[str, Any], exact: Any) -> Launch:
    def make() -> tuple[Any, tuple[Any, ...]]:
        given = {name: each.copy() for name, each in arrays.items()}
        return prepare(kernel.program, given, {}).arguments, (given["D"],)

    shape = prepare(kernel.program, arrays, {})
    return Launch(shape.blocks, shape.threads, make, (exact,), shared_bytes=shape.shared_bytes)


def volta() -> Case:
    """The product derived for Volta: registers to shared memory, two stages."""
    tiling = MatmulTiling(i=64, j=32, k=16, warps=2, isolate=False)
    return _product("sm_70", tiling, ((64, 32, 48), (56, 24, 40)))


def ampere() -> Case:
    """The product derived for Ampere: a ring of copies by lane."""
    tiling = MatmulTiling(i=64, j=32, k=16, warps=2, depth=3, isolate=False)
    return _product("sm_80", tiling, ((64, 32, 80), (56, 24, 72)))


def hopper_derived() -> Case:
    """The product derived for Hopper: a ring of tensor copies, a producer and a warpgroup."""
    tiling = MatmulTiling(i=64, j=32, k=32, warps=4, depth=2, isolate=False)
    return _product("sm_90a", tiling, ((64, 32, 160), (56, 24, 168)))


def hopper_written() -> Case:
    """The product written for a cluster of two, one operand multicast."""
    a, b = (chance(seed).integers(-4, 5, (rows, hopper.DEPTH * 4)).astype(np.float16)
            for seed, rows in ((1, 2 * hopper.ROWS), (2, hopper.COLUMNS)))  # fmt: skip

    def make() -> tuple[Any, tuple[Any, ...]]:
        d = np.zeros((2 * hopper.ROWS, hopper.COLUMNS), np.float16)
        maps = hopper.maps(2 * hopper.ROWS, hopper.COLUMNS, a.shape[1])
        return [(a.copy(), maps[0]), (b.copy(), maps[1]), (d, maps[2]), a.shape[1] // hopper.DEPTH], (d,)

    exact = (a.astype(np.float64) @ b.astype(np.float64).T).astype(np.float16)
    return Case(parse(hopper.text()), (Launch(2, hopper.THREADS, make, (exact,)),))


def _cuda(name: str, grid: int, block: int, given: tuple[Any, ...], wanted: dict[int, Any]) -> Case:
    return Case(module("cuda", name), (launch(grid, block, given, wanted),), name)


def scan() -> Case:
    """nvcc: prefix sums of a block between two buffers."""
    x = chance().integers(-1000, 1000, (2, 128), dtype=np.int32)
    return _cuda("scan_block", 2, 128, (x, np.zeros_like(x)), {1: np.cumsum(x, axis=1).astype(np.int32)})


def histogram() -> Case:
    """nvcc: bytes counted by atomics in shared memory, then added in global memory."""
    data = chance().integers(0, 256, 700, dtype=np.uint8) & np.uint8(0x7F)
    bins = np.bincount(data, minlength=256).astype(np.uint32)
    return _cuda("histogram", 2, 96, (data, np.zeros(256, np.uint32), 700), {1: bins})


def last_block() -> Case:
    """nvcc: parts handed over by a fence and a counter to the block that finishes last."""
    x = chance().integers(0, 1 << 32, 300, dtype=np.uint32)
    given = (x, np.zeros(3, np.uint32), np.zeros(1, np.uint32), 300)
    return _cuda("reduce_last_block", 3, 64, given, {2: x.sum(dtype=np.uint32, keepdims=True)})


def phases() -> Case:
    """nvcc and libcu++: a barrier whose phases order copies."""
    x = chance().integers(-99, 99, (3, 256), dtype=np.int32)
    sums = np.roll(x, -100, axis=1).reshape(3, 64, 4).sum(axis=(0, 2)).astype(np.int32)
    count = np.array([max(3, int((sums & 1).sum()))], np.uint32)
    given = (x, np.zeros(64, np.int32), np.zeros(1, np.uint32), 3)
    return _cuda("barrier_pipeline", 1, 64, given, {1: sums, 2: count})


def cluster_histogram() -> Case:
    """nvcc: bins shared out among the shared memories of a cluster."""
    x = chance().integers(0, 64, 512, dtype=np.int32)
    bins = np.bincount(x, minlength=64).astype(np.int32)
    return _cuda("cluster_histogram", 2, 64, (x, np.zeros(64, np.int32), 512), {1: bins})


def triton_softmax() -> Case:
    """Triton: rows reduced by shuffles and through shared memory."""
    x = chance().standard_normal((2, 200)).astype(np.float32)
    given = (x, np.zeros((2, 200), np.float32), 200, 200, 0, 0)
    return _triton("softmax", 2, 128, given, 1, 16)


def triton_matmul() -> Case:
    """Triton: a product with copies by lane."""
    a, b = chance(1).integers(-4, 5, (32, 96)), chance(2).integers(-4, 5, (96, 64))
    given = (a.astype(np.float16), b.astype(np.float16), np.zeros((32, 64), np.float32), 32, 64, 96, 0, 0)
    return _triton("matmul", 1, 128, given, 2, 12288)


def _triton(name: str, grid: int, block: int, given: tuple[Any, ...], out: int, shared_bytes: int) -> Case:
    """A case whose result is that of the good run, which other tests hold against numpy."""
    return Case(module("triton", name), (launch(grid, block, given, {out: None}, shared_bytes=shared_bytes),), name)


CASES: dict[str, Callable[[], Case]] = {
    **{each.__name__: each for each in (
        hand.reduction, hand.transpose, hand.bounded, hand.pipeline, hand.warps, scan, histogram, last_block, phases,
        cluster_histogram, triton_softmax, triton_matmul, volta, ampere, hopper_derived, hopper_written,
    )},
    **{name: (lambda each=each: _pipeline(each())) for name, each in PIPELINES.items()},
}  # fmt: skip
