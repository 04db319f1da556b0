"""Programs that share slots among warps and warpgroups, or rings among loops, on the GPU: against float64, and of the
same bits in every run, also where threads sleep now and then."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from ptxgen.runtime import DeviceArray, compute_capability, load
from tests.device.repeated import sleeping
from tests.kernels.cases import bits, judge
from tests.kernels.test_further_programs import PROGRAMS, TARGET, made

DRAWS, RUNS, SEEDS = 20, 1000, 10


@pytest.fixture(autouse=True)
def hopper() -> None:
    if compute_capability() != (9, 0):
        pytest.skip("the plans are for devices of capability 9.0")


def sizes_of(name: str, chance: Random) -> dict[str, int]:
    """Ragged, tiny and thin shapes, of which a tensor map can tell."""
    return {each: 8 * chance.randint(1, chance.choice((2, 80))) for each in PROGRAMS[name][2][0]}


@pytest.mark.parametrize("name", PROGRAMS)
def test_drawn_shapes(name: str) -> None:
    compute, _, all_sizes, exact = PROGRAMS[name]
    for sizes in (*all_sizes, *(sizes_of(name, Random(number)) for number in range(DRAWS))):
        kernel, arrays = made(name, sizes)
        kernel.run(arrays)
        try:
            judge(compute(), arrays, {}, exact=exact, target=TARGET, orders=kernel.derivation.signature())
        except AssertionError as error:
            raise AssertionError(str(sizes)) from error


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_bits_where_threads_sleep(name: str) -> None:
    kernel, arrays = made(name, {each: 8 * (number + 21) for number, each in enumerate(PROGRAMS[name][2][0])})
    output = kernel.derivation.plan.compute.statements[-1].target.array
    kernel.run(arrays)
    first = bits(arrays[output]).copy()
    held: dict[str, Any] = {each: DeviceArray.from_numpy(array) for each, array in arrays.items()}
    poison = np.full_like(arrays[output], np.nan)
    launch = kernel.prepare(held)
    for seed in range(SEEDS):
        slow = launch.packed(load(sleeping(kernel.listing.text, Random(seed)))[kernel.entry.name])
        for _ in range(RUNS // SEEDS):
            held[output].write(poison)
            slow()
            assert np.array_equal(bits(held[output].to_numpy()), first), seed
