"""The integer tensor core against recorded hardware, and against what IEEE arithmetic says where it is exact."""

from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from isa.numerics import Rounding
from ptxgen.compute import f16, f32
from ptxgen.derive import Blocks, SumOrder
from ptxgen.testing import chained_product
from ptxgen.testing.tensor_core import block, ordered_product

HALVES = (f16, f16)
VOLTA = Blocks(4, 23, Rounding.TOWARDS_ZERO)


@pytest.fixture(scope="module")
def recorded(shared_folder: Path):
    with np.load(shared_folder / "vectors" / "V100.npz") as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize("output", (np.float32, np.float16), ids=("f32", "f16"))
def test_5000_of_5000_outputs_of_a_v100(recorded, output) -> None:
    a = recorded["fp16_a"].view(np.float32).astype(np.float16)
    b = recorded["fp16_b"].view(np.float32).astype(np.float16)
    c = recorded["fp16_c_f32"].view(np.float32).astype(output)
    wanted = recorded["fp16_d_fp32" if output is np.float32 else "fp16_d_fp16"].view(np.float32).astype(output)
    rounding = Rounding.TOWARDS_ZERO if output is np.float32 else Rounding.NEAREST_EVEN
    left, right = a[:, None, :].astype(float), b[:, :, None].astype(float)
    found = block(left, right, c.reshape(-1, 1, 1), Blocks(4, 23, rounding), HALVES).reshape(-1)
    assert len(found) == 5000
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    assert same.sum() == 5000


@pytest.mark.parametrize("accumulate", (f16, f32), ids=str)
def test_small_integers_are_exact(accumulate) -> None:
    chance = np.random.default_rng(0)
    a = chance.integers(-4, 5, (7, 30)).astype(np.float16)
    b = chance.integers(-4, 5, (30, 5)).astype(np.float16)
    assert np.array_equal(chained_product(a, b, accumulate, "sm_70"), a.astype(np.int64) @ b.astype(np.int64))


def test_terms_far_below_the_largest_are_cut_and_f32_truncates() -> None:
    a = np.array([[1.0, 1.0, 0.0, 0.0]], float)
    b = np.array([[2.0], [2.0**-24], [0.0], [0.0]])
    assert block(a, b, np.zeros((1, 1), np.float32), VOLTA, HALVES)[0, 0] == 2.0
    below = np.array([[np.nextafter(np.float32(1), np.float32(0))]])
    assert block(a, np.zeros_like(b), below, VOLTA, HALVES)[0, 0] == below[0, 0]


def test_specials() -> None:
    huge, nan = np.inf, np.nan
    row = np.array([[huge, 1, 1, 1]])
    zero = np.zeros((1, 1), np.float32)
    assert block(row, np.ones((4, 1)), zero, VOLTA, HALVES)[0, 0] == np.inf
    assert block(row, np.zeros((4, 1)), zero, VOLTA, HALVES).view(np.uint32)[0, 0] == 0x7FFFFFFF
    assert np.isnan(block(row, np.full((4, 1), nan), zero, VOLTA, HALVES)[0, 0])


def test_parts_are_sums_of_their_slabs_added_in_ascending_order() -> None:
    """Slab s of 16 terms belongs to part s mod 3; the parts are rounded apart, and added from part 0 on."""
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((5, 100)), rng.standard_normal((100, 7))
    a, b = a.astype(np.float16).astype(float), b.astype(np.float16).astype(float)
    order = SumOrder("", HALVES, f32, Blocks(16, 25, Rounding.TOWARDS_ZERO), parts=3, slab=16)
    alone = evolve(order, parts=1, slab=None)
    slabs = [range(start, min(start + 16, 100)) for start in range(0, 112, 16)]
    sums = []
    for part in range(3):
        own = [k for slab in slabs[part::3] for k in slab]
        sums.append(ordered_product(a[:, own], b[own], alone))
    wanted = (sums[0] + sums[1]) + sums[2]
    found = ordered_product(a, b, order)
    assert found.dtype == np.float32
    assert np.array_equal(found, wanted)
    assert not np.array_equal(found, ordered_product(a, b, alone))
    assert np.abs(found - a @ b).max() < 1e-4
