"""Arguments that do not fit are refused by name before anything runs; facts hold of what they were found in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.errors import LaunchError
from ptxgen.kernels import Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.kernels.launching.binding import LARGEST_SIZE, arrays_in_memory, bind, facts_of
from ptxgen.kernels.launching.entry import entry_of
from ptxgen.kernels.launching.launch import block_count
from ptxgen.kernels.launching.views import outline, view_of
from ptxgen.tile import Quotient
from tests.kernels.cases import random_inputs, scalars_of

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


FACTORS = {"A": np.ones((16, 8), np.float16), "B": np.ones((8, 24), np.float16)}


@pytest.mark.parametrize(
    ("epilogue", "names", "refused"),
    (
        ("residual,keep,relu", "RE", "E is written, but its memory is that of R"),
        ("keep,residual", "RE", "E is written, but its memory is that of R"),
        ("keep", "DE", "(E|D) is written, but its memory is that of (D|E)"),
        ("keep,residual", "RD", None),
        ("residual,keep,relu", "RD", None),
        ("beta,bias", "CD", None),
    ),
)
def test_what_may_lie_in_one_place(epilogue: str, names: str, refused: str | None) -> None:
    product = Matmul(MatmulSpec(epilogue=parse_epilogue(epilogue)), tiling=TILING)
    scalars = scalars_of(product.compute)
    arrays: dict[str, Any] = {**random_inputs(product.compute, {"M": 16, "N": 24, "K": 8}), **FACTORS}
    apart = product(arrays, scalars).arrays
    both = arrays[names[0]].copy() if names[0] in arrays else np.zeros((16, 24), np.float16)
    arrays |= dict.fromkeys(names, both)
    if refused is None:
        together = product(arrays, scalars).arrays
        for name in set("DE") & set(together):
            assert np.array_equal(together[name], apart[name])
        return
    before = both.copy()
    with pytest.raises(LaunchError, match=refused):
        product(arrays, scalars)
    assert np.array_equal(before, both)


def test_a_sum_is_bound_by_its_own_name() -> None:
    product = Matmul(MatmulSpec(epilogue=parse_epilogue("row_sum,column_sum")), tiling=TILING)
    for given, words in (
        ({"row_sum": np.zeros(15, np.float32)}, "row_sum's extent 0 must be 16"),
        ({"column_sum": np.zeros(24, np.float16)}, "column_sum must be float32, got float16"),
        ({"row_sum": np.zeros(16, np.float32)[:, None]}, r"row_sum must have 1 dimensions \(M\)"),
        ({"row_sum_parts": np.zeros((1, 16), np.float32)}, "no array is called row_sum_parts"),
    ):
        with pytest.raises(LaunchError, match=words):
            product({**FACTORS, **given})
    both = np.zeros(24, np.float32)
    with pytest.raises(LaunchError, match="is written, but its memory is that of"):
        product({**FACTORS, "row_sum": both[:16], "column_sum": both})


@pytest.mark.parametrize(("epilogue", "name"), (("bias", "D"), ("keep", "E"), ("row_sum", "row_sum")))
def test_a_result_may_not_be_read_only(epilogue: str, name: str) -> None:
    product = Matmul(MatmulSpec(epilogue=parse_epilogue(epilogue)), tiling=TILING)
    arrays = {**random_inputs(product.compute, {"M": 16, "N": 24, "K": 8}), **FACTORS}
    given = np.zeros(16, np.float32) if name == "row_sum" else np.zeros((16, 24), np.float16)
    given.setflags(write=False)
    with pytest.raises(LaunchError, match=f"{name} is written, but the array given is read-only"):
        product({**arrays, name: given})
    for array in arrays.values():
        array.setflags(write=False)
    assert np.isfinite(product(arrays).arrays["D"]).all()


class OnDevice:
    """What a device array tells of itself."""

    def __init__(self, shape: tuple[int, ...], read_only: bool) -> None:
        self.__cuda_array_interface__ = {"shape": shape, "typestr": "<f2", "data": (1 << 40, read_only), "version": 3}


def test_a_device_array_may_be_read_only_too() -> None:
    assert view_of("D", OnDevice((4, 4), False)).writeable
    arrays = {**FACTORS, "D": OnDevice((16, 24), True)}
    with pytest.raises(LaunchError, match="D is written, but the array given is read-only"):
        Matmul(tiling=TILING).with_outputs(arrays)


@pytest.mark.parametrize("size", (LARGEST_SIZE + 1, 2**31 - 1, 2**40))
def test_sizes_whose_tiles_no_kernel_can_count(size: int) -> None:
    tall = outline(np.dtype(np.float16), (size, 1))
    with pytest.raises(LaunchError, match=f"M = {size}: a size is from 0 to {LARGEST_SIZE}"):
        Matmul().with_outputs({"A": tall, "B": np.ones((1, 1), np.float16)}, make=outline)


def test_an_outline_is_no_array_to_run_on() -> None:
    with pytest.raises(LaunchError, match="an outline has no memory to run on"):
        PRODUCT({**arguments(), "A": outline(np.dtype(np.float16), (8, 16))}, {"alpha": 1.0})


def test_the_largest_size_is_counted_right() -> None:
    program = Matmul().kernel().program
    sizes = {"M": LARGEST_SIZE, "N": 1, "K": 1}
    assert block_count(entry_of(program), sizes) == -(-LARGEST_SIZE // 128)
    assert all(dim.count.numerator.evaluate({**sizes, "N": LARGEST_SIZE}) < 2**31 for dim in program.grid.dims)
    with pytest.raises(LaunchError, match=r"matmul: \d+ blocks, a grid has at most 2147483647"):
        block_count(entry_of(program), {"M": LARGEST_SIZE, "N": LARGEST_SIZE, "K": 1})


def test_a_band_of_blocks_that_32_bits_cannot_count() -> None:
    program = Matmul().kernel().program
    columns = program.grid.dims[-1]
    fine = evolve(columns, count=Quotient(columns.count.numerator - 127, 1))
    narrow = evolve(program, grid=evolve(program.grid, dims=(program.grid.dims[0], fine)))
    assert block_count(entry_of(narrow), {"M": 1, "N": 2**29 - 1}) == 2**29 - 1
    with pytest.raises(LaunchError, match=r"matmul: 4294967296 blocks in a band, at most 4294967295"):
        block_count(entry_of(narrow), {"M": 1, "N": 2**29})


def test_numbers_beyond_f32() -> None:
    for value in (1e300, -1e39, 3.5e38, 10**400):
        with pytest.raises(LaunchError, match=r"alpha = .* is beyond the range of f32"):
            PRODUCT(arguments(), {"alpha": value})
    assert np.isinf(PRODUCT(arguments(), {"alpha": np.inf}).arrays["D"]).all()
    assert np.isinf(PRODUCT(arguments(), {"alpha": 3.4e38}).arrays["D"]).all()


def test_an_outcome_and_a_kernel_are_shown_in_a_line() -> None:
    outcome = PRODUCT(arguments(), {"alpha": 1.0})
    for shown in (repr(outcome), repr(outcome.kernel), repr(outcome.kernel.derivation)):
        assert len(shown) < 300
        assert "matmul" in shown


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
