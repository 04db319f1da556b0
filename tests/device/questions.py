"""Single sums put to a GPU and to the simulator: what stands in a row of A and a column of B, and beside them."""

from collections.abc import Sequence

import ml_dtypes
import numpy as np
from attrs import frozen

from tests.device.products import Product

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32,
          "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}  # fmt: skip


@frozen
class Code:
    """A number given by its bits."""

    bits: int


Number = float | Code


@frozen
class Question:
    """Element (0, 0) of a product whose A has `a` in row 0, from k = 0 on, and whose B has `b` in column 0."""

    about: str
    a: Sequence[Number]
    b: Sequence[Number]
    c: Number = 0.0


def bits_of(number: Number, element: str) -> int:
    """The bits of a number; ValueError where the format does not have it."""
    if isinstance(number, Code):
        return number.bits
    made = np.array([number], np.float64).astype(DTYPES[element])
    if float(made[0]) != number:
        raise ValueError(f"{number} is no {element}")
    return int(made.view(f"u{made.itemsize}")[0])


def matrices(product: Product, asked: Sequence[Question]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One product for each question."""
    sizes = {8: np.uint8, 16: np.uint16, 32: np.uint32}
    a, b, c = (
        np.zeros((len(asked), *extents), sizes[8 * np.dtype(DTYPES[element]).itemsize])
        for element, extents in (
            (product.a, (product.rows, product.depth)), (product.b, (product.columns, product.depth)),
            (product.d, (product.rows, product.columns)),
        )
    )  # fmt: skip
    for n, question in enumerate(asked):
        a[n, 0, : len(question.a)] = [bits_of(each, product.a) for each in question.a]
        b[n, 0, : len(question.b)] = [bits_of(each, product.b) for each in question.b]
        c[n, 0, 0] = bits_of(question.c, product.d)
    return a, b, c


def answers(product: Product, asked: Sequence[Question]) -> list[int]:
    """What the GPU says, printed; AssertionError where the simulator says otherwise."""
    operands = matrices(product, asked)
    theirs, ours = (run(*operands)[:, 0, 0].tolist() for run in (product.on_gpu, product.simulated))
    print(f"\n{product}")
    for question, there, here in zip(asked, theirs, ours, strict=True):
        verdict = "" if there == here else f"   SIMULATED {told(here, product.d)}"
        print(f"  {question.about}: {told(there, product.d)}{verdict}")
    wrong = [each.about for each, there, here in zip(asked, theirs, ours, strict=True) if there != here]
    assert not wrong, f"{product}: the simulator disagrees about {wrong}"
    return list(theirs)


def told(bits: int, element: str) -> str:
    """Bits, and their value."""
    width = np.dtype(DTYPES[element]).itemsize
    value = float(np.array([bits], f"u{width}").view(DTYPES[element])[0])
    return f"{bits:#0{2 + 2 * width}x} = {value!r}" + (f" = {value.hex()}" if value not in (0, 1) else "")
