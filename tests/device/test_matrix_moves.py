"""`wmma` of nibbles and bits through memory on an sm_90 GPU."""

import numpy as np
import pytest

from ptxgen.runtime import load
from tests.simulate.test_wmma import tiny_case


@pytest.mark.parametrize("element, operation", [("s4", ""), ("u4", ""), ("b1", ".xor.popc"), ("b1", ".and.popc")])
def test_elements_of_less_than_a_byte(element: str, operation: str) -> None:
    found, wanted = tiny_case(element, operation, lambda module, args: load(module)["main"](*args, grid=1, block=32))
    assert np.array_equal(found, wanted)
