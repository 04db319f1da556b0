"""Elements of every type read, rounded and stored by an elementwise kernel, against numpy and ml_dtypes: by whole
registers where rows allow it, by single elements where they do not."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from ptxgen.compute import Element, bf16, e4m3, e5m2, f16, f32, f64, s8, s32, tf32, u8
from ptxgen.kernels import epilogue_compute, epilogue_plan, generate, parse_epilogue
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.kernels.launching.views import DTYPES, aligned_zeros
from ptxgen.runtime import assemble
from tests.kernels.cases import bits

SOURCES = (f16, bf16, tf32, f32, f64, e4m3, e5m2, s8, u8, s32)
OUTPUTS = (f16, bf16, f32, f64, e4m3, e5m2, s8, u8)
PAIRS = [(source, f32) for source in SOURCES] + [(f32, output) for output in OUTPUTS]
PAIRS += [(e4m3, s8), (s8, e5m2), (f64, bf16), (u8, u8), (s32, f64)]
LARGEST = {e4m3: ml_dtypes.finfo(ml_dtypes.float8_e4m3fn).max, e5m2: ml_dtypes.finfo(ml_dtypes.float8_e5m2).max}


def given(element: Element, shape: tuple[int, int]) -> NDArray[Any]:
    chance = np.random.default_rng(4)
    found = aligned_zeros(DTYPES[element], shape)
    if element.is_integer:
        limits = np.iinfo(DTYPES[element])
        found[...] = chance.integers(limits.min, limits.max, shape, endpoint=True)
    else:
        found[...] = (chance.standard_normal(shape) * 100).astype(DTYPES[element])
    return found


def rounded(values: NDArray[Any], element: Element) -> NDArray[Any]:
    """What conversions of the target give: to nearest even, bytes and small integers saturate."""
    if element.is_integer:
        limits = np.iinfo(DTYPES[element])
        return np.asarray(np.clip(np.rint(values), limits.min, limits.max)).astype(DTYPES[element])
    if element in LARGEST:
        values = np.clip(values, -float(LARGEST[element]), float(LARGEST[element]))
    return values.astype(DTYPES[element])


@pytest.mark.parametrize("shape", ((24, 80), (19, 67)), ids=str)
@pytest.mark.parametrize("source, output", PAIRS, ids=str)
def test_read_scaled_and_stored(source: Element, output: Element, shape: tuple[int, int], ptxas: object) -> None:
    compute = epilogue_compute(parse_epilogue("alpha"), source=source, output=output)
    arrays = {"AB": given(source, shape), "D": aligned_zeros(DTYPES[output], shape)}
    facts = facts_of(compute, bind(arrays_in_memory(compute), arrays))
    kernel = generate(epilogue_plan(compute, facts, "sm_89"))
    assemble(kernel.listing)
    report = kernel.simulate(arrays, {"alpha": 0.75})
    assert report is not None
    report.raise_findings()
    read: NDArray[Any] = arrays["AB"] if source is f64 else arrays["AB"].astype(np.float32)
    wide = read.astype(np.float64 if f64 in (source, output) else np.float32)
    assert np.array_equal(bits(arrays["D"]), bits(rounded(np.multiply(wide, 0.75), output)))
