"""The tile machine against numpy in float64, whatever the interleaving."""

import numpy as np
import pytest
from attrs import evolve

from polyhedral import const, var
from ptxgen.compute import Comparison, Constant, Operand, ReductionOp, Scalar, Select, f16, f32
from ptxgen.errors import LaunchError
from ptxgen.tile import Copy, Fact, Fill, Iteration, Map, MapOperand, Outside, Program, Reduce, Sequence
from ptxgen.tile.machine import MachineReport, run
from tests.tile.programs import (
    Matmul,
    cooperative,
    copying,
    held,
    here,
    kernel,
    memory,
    region,
    softmax,
    transposing,
)

SEEDS = [None, 0, 1, 2, 3]


def noise(*shape: int, dtype: type = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def blank(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.full(shape, np.nan, dtype)


def matmul(builder: Matmul, m: int, n: int, k: int, seed: int | None = None) -> tuple[MachineReport, np.ndarray]:
    """The run, and what D should be in float64."""
    a, b, bias = noise(m, k, dtype=np.float16), noise(k, n, dtype=np.float16, seed=1), noise(n, seed=2)
    arrays = {"A": a, "B": b, "bias": bias, "D": blank(m, n)}
    report = run(builder.program(), arrays, {"M": m, "N": n, "K": k}, seed=seed)
    return report, np.maximum(a.astype(float) @ b.astype(float) + bias, 0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("m, n", [(1, 1), (16, 32), (33, 50)])
def test_a_copy_moves_every_element_and_nothing_beyond_the_edge(m: int, n: int, seed: int | None) -> None:
    x, y = noise(m, n + 7), blank(m + 1, n)
    report = run(copying(), {"X": x, "Y": y}, {"M": m, "N": n, "ldx": n + 7}, seed=seed)
    assert np.array_equal(report.arrays["Y"][:m], x[:, :n])
    assert np.isnan(report.arrays["Y"][m:]).all()
    assert np.isnan(y).all(), "the array given is left as it was"


def test_only_the_blocks_asked_for_run() -> None:
    x = noise(32, 32)
    report = run(copying(), {"X": x, "Y": blank(32, 32)}, {"M": 32, "N": 32, "ldx": 32}, blocks=[(1, 0)])
    assert report.blocks == 1
    assert np.isnan(report.arrays["Y"][:16]).all()
    assert np.array_equal(report.arrays["Y"][16:], x[16:])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_transposing_copy_goes_through_a_swizzled_tile(seed: int | None) -> None:
    x = noise(70, 33)
    report = run(transposing(), {"X": x, "Y": blank(33, 70)}, {"M": 70, "N": 33}, seed=seed)
    assert np.array_equal(report.arrays["Y"], x.T)
    assert report.meetings == report.blocks == 6


@pytest.mark.parametrize("m, n", [(8, 64), (13, 50), (1, 1)])
def test_softmax_of_rows(m: int, n: int) -> None:
    x = noise(m, n)
    report = run(softmax(), {"X": x, "Y": blank(m, n)}, {"M": m, "N": n})
    power = np.exp(x.astype(float) - x.astype(float).max(axis=1, keepdims=True))
    assert np.allclose(report.arrays["Y"], power / power.sum(axis=1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("k", [0, 1, 4, 7, 8, 9, 16, 17, 24, 31])
def test_a_double_buffered_matmul_at_every_slab_count(k: int) -> None:
    report, expected = matmul(Matmul((32, 32, 8), (2, 2)), 32, 32, k)
    assert np.allclose(report.arrays["D"], expected, atol=1e-4)
    assert report.meetings == (k + 7) // 8


@pytest.mark.parametrize("m, n, k", [(31, 33, 20), (1, 1, 1), (65, 32, 9)])
def test_a_double_buffered_matmul_with_ragged_edges(m: int, n: int, k: int) -> None:
    report, expected = matmul(Matmul((32, 32, 8), (2, 2)), m, n, k)
    assert np.allclose(report.arrays["D"], expected, atol=1e-4)


def test_every_interleaving_gives_the_same_bits() -> None:
    bits = {
        matmul(Matmul((32, 32, 8), (2, 2)), 40, 33, 50, seed)[0].arrays["D"].tobytes() for seed in [None, *range(8)]
    }
    assert len(bits) == 1


def test_the_default_tile_of_a_ragged_matmul() -> None:
    report, expected = matmul(Matmul((128, 128, 32), (2, 2)), 257, 129, 65)
    assert np.allclose(report.arrays["D"], expected, atol=1e-3)


def test_an_f16_accumulator_is_rounded_after_each_instruction() -> None:
    report, _ = matmul(Matmul((32, 32, 8), (2, 2), accumulate=f16), 32, 32, 24)
    a, b, bias = noise(32, 24, dtype=np.float16), noise(24, 32, dtype=np.float16, seed=1), noise(32, seed=2)
    total = np.zeros((32, 32), np.float16)
    for start in range(0, 24, 4):
        wide = total.astype(np.float32)
        for k in range(start, start + 4):
            wide = wide + a[:, k, None].astype(np.float32) * b[k].astype(np.float32)
        total = wide.astype(np.float16)
    assert np.array_equal(report.arrays["D"], np.maximum(total.astype(np.float32) + bias, 0))


def choosing() -> Program:
    """Y[i] = (C[i] * beta if beta != 0 else 0) + 1, for a tile of 32 elements."""
    c, y = memory("C", f32, (const(32),), (const(1),)), memory("Y", f32, (const(32),), (const(1),))
    lanes = cooperative((32,), 0, 1, 0)
    out = held("Y.registers", f32, lanes)
    beta = Scalar("beta")
    value = Select(Comparison.NOT_EQUAL, beta, Constant(0.0), Operand(0) * beta, Constant(0.0)) + 1.0
    over = Iteration(("i",), (const(0),), (const(32),), lanes, ())
    body = Sequence(
        (
            Map("Y.registers", over, region(out), (0,), value, (MapOperand(region(c, 0), (0,), 1),), here()),
            Copy("Y", region(out), region(y, 0), lanes, 1, (), Outside.NEVER, here()),
        )
    )
    return kernel("choosing", (), (c, y, out), 1, body)


def test_the_side_that_is_not_taken_is_never_read() -> None:
    c = noise(32)
    assert (run(choosing(), {"Y": blank(32)}, {}, {"beta": 0.0}).arrays["Y"] == 1).all()
    report = run(choosing(), {"C": c, "Y": blank(32)}, {}, {"beta": 2.0})
    assert np.array_equal(report.arrays["Y"], c * np.float32(2) + np.float32(1))


@pytest.mark.parametrize("seed", range(10))
def test_a_reduction_joins_values_in_order_and_then_lanes_by_butterfly(seed: int) -> None:
    x, y = memory("X", f32, (const(128),), (const(1),)), memory("Y", f32, (const(1),), (const(1),))
    lanes = cooperative((128,), 0, 4, 0)
    one = lanes.project(())
    tile, total = held("X.registers", f32, lanes), held("total", f32, one)
    over = Iteration(("i",), (const(0),), (const(128),), lanes, ())
    operand = (MapOperand(region(tile), (0,), 1),)
    single = cooperative((1,), 0, 1, 0)
    out = held("Y.registers", f32, single)
    nothing = Iteration(("u",), (const(0),), (const(1),), single, ())
    body = Sequence(
        (
            Copy("X.registers", region(x, 0), region(tile), lanes, 4, (), Outside.NEVER, here()),
            Fill("start", region(total), 0.0, here()),
            Reduce("total", ReductionOp.ADD, over, region(total), (), Operand(0), operand, here()),
            Map(
                "Y.registers", nothing, region(out), (0,), Operand(0), (MapOperand(region(total), (), 1),), here()
            ),
            Copy("Y", region(out), region(y, 0), single, 1, (), Outside.NEVER, here()),
        )
    )  # fmt: skip
    values = noise(128, seed=seed)
    report = run(kernel("summing", (), (x, y, tile, total, out), 1, body), {"X": values, "Y": blank(1)}, {})
    lane = values.reshape(32, 4)
    sums = [np.float32(((row[0] + row[1]) + row[2]) + row[3]) for row in lane]
    for distance in (1, 2, 4, 8, 16):
        sums = [sums[place] + sums[place ^ distance] for place in range(32)]
    assert report.arrays["Y"][0] == sums[0]


@pytest.mark.parametrize(
    "change, words",
    [
        ({"sizes": {"M": 4, "N": 4}}, "no value given for the stride ldx"),
        ({"sizes": {"M": 4, "N": 4, "ldx": 5}}, "needs ldx % 4 == 0, but ldx is 5"),
        ({"dtype": np.float16}, "array X is f32, got float16"),
    ],
)
def test_a_launch_that_does_not_fit_is_refused(change: dict, words: str) -> None:
    program = evolve(copying(), facts=(Fact(var("ldx"), 4),))
    sizes = change.get("sizes", {"M": 4, "N": 4, "ldx": 4})
    with pytest.raises(LaunchError, match=words):
        run(program, {"X": noise(4, 5, dtype=change.get("dtype", np.float32)), "Y": blank(4, 4)}, sizes)


def test_more_blocks_than_an_access_can_name_are_refused() -> None:
    arrays, sizes = {"X": noise(1, 1), "Y": blank(1, 1)}, {"M": 1 << 22, "N": 1, "ldx": 1}
    with pytest.raises(LaunchError, match="copying: 262144 blocks; the tile machine takes fewer than 262143"):
        run(copying(), arrays, sizes)


@pytest.mark.parametrize("outside, beyond", [(Outside.ZERO, 0.0), (Outside.ANY, float("nan"))])
def test_a_map_beyond_its_extent_gives_zero_or_what_nobody_may_use(outside: Outside, beyond: float) -> None:
    x, y = memory("X", f32, (const(20),), (const(1),)), memory("Y", f32, (const(32),), (const(1),))
    lanes = cooperative((32,), 0, 1, 0)
    out = held("Y.registers", f32, lanes)
    over = Iteration(("i",), (const(0),), (const(20),), lanes, (0,))
    operands = (MapOperand(region(x, 0), (0,), 1),)
    body = Sequence(
        (
            Map("Y.registers", over, region(out), (0,), Operand(0) + 1.0, operands, here(), outside),
            Copy("Y", region(out), region(y, 0), lanes, 1, (), Outside.NEVER, here()),
        )
    )
    report = run(kernel("edge", (), (x, y, out), 1, body), {"X": np.ones(20, np.float32), "Y": blank(32)}, {})
    assert np.array_equal(report.arrays["Y"], [2.0] * 20 + [beyond] * 12, equal_nan=True)
