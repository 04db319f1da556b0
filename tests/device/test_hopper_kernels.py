"""A transposition, a softmax and chained products by tensor copies on the GPU: drawn shapes against float64, the bits
of the plain loop where all sums are products, and the same bits in every run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import numpy as np
import pytest

from ptxgen.compute import Compute, f16, f32
from ptxgen.kernels import (
    GeneratedKernel,
    chained_compute,
    generate,
    softmax_compute,
    softmax_plan,
    transpose_compute,
)
from ptxgen.kernels.chained import by_warpgroups
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.kernels.transpose import by_boxes
from ptxgen.plan import Fact, Plan, sms
from ptxgen.runtime import compute_capability
from tests.kernels.cases import bits, judge
from tests.kernels.test_boxed_kernels import given

TARGET = "sm_90a"
RUNS = 200
Case = tuple[Compute, Callable[[Iterable[Fact]], Plan], dict[str, int]]


@pytest.fixture(autouse=True)
def hopper() -> None:
    if compute_capability() != (9, 0):
        pytest.skip("the plans are for devices of capability 9.0")


def sizes_of(chance: Random, names: str, most: int) -> dict[str, int]:
    """Ragged, tiny and thin shapes, of which a tensor map can tell."""
    return {name: 8 * chance.choice((1, chance.randint(1, most // 8), chance.randint(1, most // 8))) for name in names}


def transposition(chance: Random) -> Case:
    element = chance.choice((f16, f32))
    compute, tile = transpose_compute(element), chance.choice((32, 64)) if element is f16 else 32
    depth, workers = chance.choice((1, 2, 4)), chance.choice((sms, 1, 7, 1000))
    return (
        compute,
        lambda facts: by_boxes(Plan(compute, TARGET).assume(*facts), tile, depth, workers),
        sizes_of(chance, "MN", 2000),
    )


def softmax(chance: Random) -> Case:
    compute, rows, columns = softmax_compute(chance.choice((f16, f32))), chance.choice((1, 4, 8)), 256
    columns = 512 if rows == 1 else columns
    return (
        compute,
        lambda facts: softmax_plan(compute, facts, TARGET, rows, columns),
        sizes_of(chance, "MN", 3000),
    )


def chained(chance: Random) -> Case:
    compute = chained_compute(chance.choice((f16, f32)))
    choices: dict[str, Any] = {
        "i": chance.choice((64, 128)),
        "n": chance.choice((64, 128)),
        "depth": chance.choice((2, 3, 4)),
        "window": chance.choice((0, 1)),
        "workers": chance.choice((None, sms, 1, 5)),
    }
    ahead = chance.choice((0, 0, 1, 2))

    def plan(facts: Iterable[Fact]) -> Plan:
        found = by_warpgroups(Plan(compute, TARGET).assume(*facts), **choices)
        return found.shift("D.shared", ahead=ahead, at="cta.j") if ahead else found

    return compute, plan, sizes_of(chance, "MJKN", 400)


def resident(chance: Random) -> Case:
    """Chained products whose first operand stays in shared memory."""
    compute = chained_compute(chance.choice((f16, f32)), chance.choice((64, 128)))
    choices: dict[str, Any] = {
        "i": chance.choice((64, 128)),
        "n": chance.choice((64, 128)),
        "depth": chance.choice((2, 3, 4)),
        "workers": chance.choice((None, sms, 1, 5)),
    }

    def plan(facts: Iterable[Fact]) -> Plan:
        return by_warpgroups(Plan(compute, TARGET).assume(*facts), **choices)

    return compute, plan, sizes_of(chance, "MJN", 400)


def rotating(chance: Random) -> Case:
    """The same on several warpgroups that take products, or what is between them too, in rotation."""
    compute = chained_compute(chance.choice((f16, f32)), chance.choice((64, 128)))
    groups = chance.choice((2, 2, 4))
    choices: dict[str, Any] = {
        "i": 64 * groups,
        "n": 64 if groups > 2 else chance.choice((64, 128)),
        "depth": chance.choice((1, 2, 3)) if groups == 2 else 2,
        "workers": chance.choice((None, sms, 1, 5)),
        "turns": chance.choice((("AB", "PD"), ("AB", "PD"), ("AB",), ("PD",), ("AB", "P", "PD"))),
    }

    def plan(facts: Iterable[Fact]) -> Plan:
        return by_warpgroups(Plan(compute, TARGET).assume(*facts), **choices)

    return compute, plan, sizes_of(chance, "MJN", 600)


def made(case: Case) -> tuple[GeneratedKernel, dict[str, Any]]:
    compute, plan, sizes = case
    arrays = given(compute, sizes)
    return generate(plan(facts_of(compute, bind(arrays_in_memory(compute), arrays)))), arrays


@pytest.mark.parametrize("draw", (transposition, softmax, chained, resident, rotating), ids=lambda draw: draw.__name__)
def test_drawn_shapes(draw: Callable[[Random], Case]) -> None:
    for number in range(40):
        case = draw(Random(number))
        kernel, arrays = made(case)
        kernel.run(arrays)
        exact = draw is not softmax
        try:
            judge(case[0], arrays, {}, exact=exact, target=TARGET, orders=kernel.derivation.signature())
        except AssertionError as error:
            raise AssertionError(f"draw {number}: {case[2]}\n{kernel.plan}") from error


@pytest.mark.parametrize("draw", (transposition, softmax, chained, resident, rotating), ids=lambda draw: draw.__name__)
def test_the_same_bits_in_every_run(draw: Callable[[Random], Case]) -> None:
    compute, plan, _ = draw(Random(3))
    sizes = {name: 8 * count for name, count in zip("MJKN", (125, 40, 33, 129), strict=True)}
    kernel, arrays = made((compute, plan, sizes))
    output = "E" if "E" in arrays else "Y"
    kernel.run(arrays)
    first = np.array(arrays[output])
    assert not np.isnan(first).any()
    for _ in range(RUNS):
        arrays[output].fill(np.nan)
        kernel.run(arrays)
        assert np.array_equal(bits(arrays[output]), bits(first))


def test_turns_change_no_bit() -> None:
    """Of chained products on two warpgroups, whatever they take in rotation."""
    compute, left = chained_compute(f32, 128), list[Any]()
    sizes = {"M": 1000, "J": 1032, "N": 264}
    inputs = given(compute, sizes)
    for turns in ((), ("AB", "PD"), ("PD",)):

        def plan(facts: Iterable[Fact], taken: tuple[str, ...] = turns) -> Plan:
            return by_warpgroups(Plan(compute, TARGET).assume(*facts), turns=taken)

        kernel, _ = made((compute, plan, sizes))
        held = {name: array.copy() for name, array in inputs.items()}
        for _ in range(RUNS):
            held["E"].fill(np.nan)
            kernel.run(held)
            left.append(bits(held["E"]).copy())
    assert all(np.array_equal(found, left[0]) for found in left)
