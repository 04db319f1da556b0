"""Arguments that do not fit are refused by name before anything runs; facts hold of what they were found in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ptxgen.errors import LaunchError
from ptxgen.kernels import Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.kernels.binding import arrays_in_memory, bind, facts_of

TILING = MatmulTiling(i=64, j=64, k=16)
PRODUCT = Matmul(MatmulSpec(epilogue=parse_epilogue("alpha,bias")), tiling=TILING)


def arguments() -> dict[str, Any]:
    return {
        "A": np.ones((8, 16), np.float16),
        "B": np.ones((16, 24), np.float16),
        "bias": np.ones(24, np.float32),
        "D": np.zeros((8, 24), np.float16),
    }


def changed(name: str, change: Callable[[Any], Any]) -> dict[str, Any]:
    return {key: change(value) if key == name else value for key, value in arguments().items()}


@pytest.mark.parametrize(
    ("arrays", "words"),
    (
        ({k: v for k, v in arguments().items() if k != "B"}, "no array given for B"),
        ({**arguments(), "Z": np.ones(3)}, "no array is called Z; wanted are A, B, bias, D"),
        (changed("A", lambda a: a.astype(np.float32)), "A must be float16, got float32"),
        (changed("bias", lambda a: a.astype(np.float64)), "bias must be float32, got float64"),
        (changed("A", lambda a: a[None]), "A must have 2 dimensions (M x K), got shape (1, 8, 16)"),
        (changed("B", lambda a: a[:15]), "B's extent 0 must be 16 (K = 16 by A's extent 1), got 15"),
        (changed("bias", lambda a: a[:23]), "bias's extent 0 must be 24 (N = 24 by B's extent 1), got 23"),
        (changed("D", lambda a: a.T.copy().T), "along dimension 1 must lie next to each other, got stride 8"),
        (changed("A", lambda a: a[::-1]), "A: byte strides (-32, 2) are not whole elements forwards"),
        (changed("A", lambda a: a.tolist()), "A must be an array, got list"),
        (changed("D", lambda a: np.lib.stride_tricks.as_strided(a, a.shape, (8, 2))), "its elements overlap"),
    ),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arrays_that_do_not_fit(arrays: dict[str, Any], words: str) -> None:
    before = {name: array.copy() if isinstance(array, np.ndarray) else array for name, array in arrays.items()}
    with pytest.raises(LaunchError) as caught:
        PRODUCT(arrays, {"alpha": 1.0})
    assert words in str(caught.value)
    if isinstance(before.get("D"), np.ndarray):
        assert np.array_equal(before["D"], arrays["D"])


@pytest.mark.parametrize("scalars", ({}, {"alpha": 1.0, "beta": 2.0}), ids=str)
def test_scalars_that_do_not_fit(scalars: dict[str, float]) -> None:
    with pytest.raises(LaunchError, match=r"takes the scalars \['alpha'\]"):
        PRODUCT(arguments(), scalars)


def test_a_result_may_not_lie_on_an_operand() -> None:
    whole = np.ones((16, 16), np.float16)
    with pytest.raises(LaunchError, match="D is written, but its memory is that of A"):
        Matmul(tiling=TILING)({"A": whole, "B": np.ones((16, 16), np.float16), "D": whole})


def test_a_result_may_lie_on_the_residual_that_it_replaces() -> None:
    product = Matmul(MatmulSpec(epilogue=parse_epilogue("residual")), tiling=TILING)
    both = np.full((16, 24), np.float16(3))
    product({"A": np.ones((16, 8), np.float16), "B": np.ones((8, 24), np.float16), "R": both, "D": both})
    assert (both == 11).all()
    moved = np.full((16, 25), np.float16(3))
    factors = {"A": np.ones((16, 8), np.float16), "B": np.ones((8, 24), np.float16)}
    with pytest.raises(LaunchError, match="D is written, but its memory is that of R"):
        product({**factors, "R": moved[:, 1:], "D": moved[:, :24]})


def test_a_kernel_refuses_what_its_facts_exclude() -> None:
    kernel = PRODUCT.kernel_for(arguments())
    assert [str(fact) for fact in kernel.program.facts]
    odd = {"A": np.ones((8, 17), np.float16), "B": np.ones((17, 24), np.float16)}
    with pytest.raises(LaunchError, match=r"matmul was made for (lda|K) % \d == 0, got (lda|K) = 17"):
        kernel.simulate({**arguments(), **odd}, {"alpha": 1.0})
    shifted = np.ones((8, 24), np.float16)[:, 1:17]
    with pytest.raises(LaunchError, match="matmul was made for A aligned to 16 bytes"):
        kernel.simulate({**arguments(), "A": shifted}, {"alpha": 1.0})


@pytest.mark.parametrize(
    ("width", "skipped", "expected"),
    ((16, 0, 16), (20, 0, 8), (18, 0, 4), (17, 0, 0), (24, 4, 8), (24, 2, 4), (24, 1, 0)),
    ids=str,
)
def test_facts_are_what_address_and_strides_allow(width: int, skipped: int, expected: int) -> None:
    wide = np.ones((8, width), np.float16)
    assert wide.ctypes.data % 16 == 0
    arrays = {**arguments(), "A": wide[:, skipped:], "B": np.ones((width - skipped, 24), np.float16)}
    facts = [str(fact) for fact in facts_of(PRODUCT.compute, bind(arrays_in_memory(PRODUCT.compute), arrays))]
    about = [fact for fact in facts if fact.startswith("aligned(A,")]
    assert about == ([f"aligned(A, {expected})"] if expected else [])
