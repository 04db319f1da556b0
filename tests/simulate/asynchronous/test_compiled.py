"""Clusters, barriers and tensor copies as nvcc compiles them from the library's own functions."""

from pathlib import Path

import numpy as np
import pytest

from isa.tensor_maps import tiled
from ptxgen.parse import parse
from ptxgen.simulate import simulate

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
    wanted = tensor[:32, 3:35].copy()
    wanted[:, 0] += 1
    assert x.tolist() == wanted.reshape(-1)[:256].tolist()
