"""The judge's formats, and the tile machine's, against ml_dtypes: every code, and rounding of many numbers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ptxgen.compute import Element
from ptxgen.testing.formats import FORMATS, STORED, rounded_to, stored_as, values_of
from ptxgen.tile.machine.numbers import narrowed, widened

KINDS = {
    Element.F16: np.float16,
    Element.BF16: ml_dtypes.bfloat16,
    Element.E4M3: ml_dtypes.float8_e4m3fn,
    Element.E5M2: ml_dtypes.float8_e5m2,
}


def numbers() -> np.ndarray:
    chance = np.random.default_rng(0)
    many = chance.standard_normal(100000) * 10.0 ** chance.integers(-9, 6, 100000)
    edges = [0.0, -0.0, np.inf, -np.inf, 447.0, 448.0, 464.0, 465.0, 57344.0, 61440.0, 61441.0, 65504.0, 65520.0, 1e30]
    halfway = np.arange(1 << 12) / 2.0**14
    return np.concatenate([many, edges, np.negative(edges), halfway]).astype(np.float32)


@pytest.mark.parametrize("element", KINDS, ids=str)
def test_every_code_has_its_value(element: Element) -> None:
    codes = np.arange(1 << element.bits).astype(f"u{element.byte_count}")
    with np.errstate(all="ignore"):
        wanted = codes.view(KINDS[element]).astype(np.float64)
    given = codes.view(STORED[element])
    assert np.array_equal(values_of(given, element), wanted, equal_nan=True)
    assert np.array_equal(np.signbit(values_of(given, element))[wanted == 0], np.signbit(wanted)[wanted == 0])
    with np.errstate(all="ignore"):
        assert np.array_equal(widened(given, element).astype(np.float64), wanted, equal_nan=True)


@pytest.mark.parametrize("element", KINDS, ids=str)
def test_rounding_is_that_of_ml_dtypes(element: Element) -> None:
    values, most = numbers(), FORMATS[element].largest
    limited = np.clip(values, -most, most) if FORMATS[element].saturates else values
    with np.errstate(all="ignore"):
        wanted = limited.astype(KINDS[element])
        bits = wanted.view(f"u{element.byte_count}")
        found = stored_as(values.astype(np.float64), element)
        other = narrowed(values, element)
    assert np.array_equal(found.view(bits.dtype), bits)
    assert np.array_equal(other.view(bits.dtype), bits)
    assert np.array_equal(rounded_to(values.astype(np.float64), element), wanted.astype(np.float64))


@pytest.mark.parametrize("element", (Element.S8, Element.U8), ids=str)
def test_integers_round_to_even_and_saturate(element: Element) -> None:
    values = np.array([0.5, 1.5, -0.5, -1.5, 126.5, 127.5, 300.0, -300.0, 254.5, np.nan, np.inf])
    limits = np.iinfo(STORED[element])
    wanted = np.clip(np.rint(np.nan_to_num(values, nan=0.0)), limits.min, limits.max)
    assert np.array_equal(stored_as(values, element), wanted)
    assert np.array_equal(narrowed(values.astype(np.float32), element), wanted)


def test_nan_is_the_hardware_s() -> None:
    nan = np.array([np.nan])
    for element, code in ((Element.BF16, 0x7FFF), (Element.E4M3, 0x7F), (Element.E5M2, 0x7F)):
        assert stored_as(nan, element)[0] == code
        assert narrowed(nan.astype(np.float32), element)[0] == code
