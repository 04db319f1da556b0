"""Clusters, barriers, tensor copies and products as nvcc and Triton compile them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isa.descriptors import Swizzle
from isa.tensor_maps import tiled
from ptxgen.parse import parse
from ptxgen.simulate import simulate

HERE = Path(__file__).parent
COMPILED = Path(__file__).parents[2] / "parse" / "data"


def run(name, args, *, grid, block, seed):
    module = parse((COMPILED / f"{name}.ptx").read_text())
    return simulate(module, grid=grid, block=block, args=args, seed=seed, limit=100_000)


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_a_barrier_of_the_block_and_memory_of_the_other(seed):
    """All blocks read the same words, so that each finds its own in the other; and all write to the same place."""
    x = np.arange(128, dtype=np.int32)
    report = run("barriers", [x], grid=2, block=128, seed=seed)
    assert {each.code for each in report.findings} == {"race.global"}
    assert x.tolist() == [*range(128)]


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_blocks_of_a_cluster_pass_words_on(seed):
    """All blocks write to the same place, which one of them writes last."""
    x = np.arange(64, dtype=np.int32)
    report = run("clusters", [x], grid=4, block=64, seed=seed)
    assert {each.code for each in report.findings} == {"race.global"}
    assert set((x - np.arange(64)).tolist()) <= {4, 5, 6, 7}


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_a_tile_comes_and_goes(seed):
    tensor, x = np.arange(64 * 40, dtype=np.float32).reshape(64, 40), np.zeros(256, np.float32)
    args = [(tensor, tiled("f32", tensor.shape, (32, 32))), x]
    run("tensor_copies", args, grid=1, block=32, seed=seed).raise_findings()
    wanted = tensor[:32, 4:36].copy()
    wanted[:, 0] += 1
    assert x.tolist() == wanted.reshape(-1)[:256].tolist()


M, N, K = 256, 64, 5 * 64 - 24


def multiplied(name, seed, grid):
    """The product that a kernel of Triton's computes, and what it should be."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((M, K)).astype(np.float16), rng.standard_normal((N, K)).astype(np.float16)
    c, scratch = np.zeros((M, N), np.float16), np.zeros(384 * grid, np.uint8)
    if name == "matmul_own":
        args: list[Any] = [a, b, c]
    else:
        args = []
        for array in (a, b, c):
            described = tiled("f16", array.shape, (64, 64), swizzle=Swizzle.BYTES_128)
            args += [(array, described), *array.shape, array.shape[1], 1]
    module = parse((HERE / "compiled" / f"{name}.ptx").read_text())
    report = simulate(module, grid=grid, block=128, args=[*args, M, N, K, scratch, scratch], shared_bytes=49176,
                      seed=seed, limit=200_000)  # fmt: skip
    report.raise_findings()
    return c, a.astype(np.float64) @ b.astype(np.float64).T


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("name", ["matmul_tma", "matmul_own", "matmul_cluster"])
def test_products_of_triton(name, seed):
    made, exact = multiplied(name, seed, grid=4)
    assert np.abs(made - exact).max() <= 2.0**-11 * np.abs(exact).max()
