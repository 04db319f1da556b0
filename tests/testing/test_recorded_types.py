"""The judge's tensor core against outputs recorded on GPUs, of every type of input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptxgen.compute import Element, bf16, e4m3, e5m2, f16, f32, tf32
from ptxgen.derive import SumOrder
from ptxgen.derive.signature import terms_of
from ptxgen.testing.tensor_core import joined, multiplied_values
from ptxgen.tile import MatrixOrder, MultiplyRow

NAMES = {f16: "fp16", bf16: "bf16", tf32: "tf32", e4m3: "E4M3", e5m2: "E5M2"}
GPUS = {"A100": "sm_80", "Ada": "sm_89", "H200": "sm_90a"}
CASES = [
    *(("A100", element, f32) for element in (f16, bf16, tf32)), ("A100", f16, f16),
    *(("Ada", element, f32) for element in NAMES), *(("Ada", element, f16) for element in (f16, e4m3, e5m2)),
    *(("H200", element, f32) for element in NAMES), *(("H200", element, f16) for element in (f16, e4m3, e5m2)),
]  # fmt: skip


def row(gpu: str, element: Element, sums: Element) -> MultiplyRow:
    """The instruction that was recorded: on the H200 bytes into f32 by a warpgroup, all else by warps."""
    group = gpu == "H200" and element.bits == 8 and sums is f32
    m, n = (64, 8) if group else (16, 8)
    return MultiplyRow(m, n, 32 // element.byte_count, element, sums, MatrixOrder.ROW, MatrixOrder.COLUMN, group)


@pytest.mark.parametrize("gpu, element, sums", CASES, ids=str)
def test_5000_of_5000_outputs(gpu: str, element: Element, sums: Element, shared_folder: Path) -> None:
    kind = np.float32 if sums is f32 else np.float16
    with np.load(shared_folder / "vectors" / f"{gpu}.npz") as file:
        a, b, c = (file[f"{NAMES[element]}_{part}"].view(np.float32) for part in ("a", "b", "c_f32"))
        wanted = file[f"{NAMES[element]}_d_{'fp32' if sums is f32 else 'fp16'}"].view(np.float32).astype(kind)
    if gpu == "H200" and element.bits == 8 and sums is f32:
        c = np.zeros_like(c)
    order = SumOrder("", (element, element), sums, terms_of(row(gpu, element, sums), GPUS[gpu]))
    left = multiplied_values(a[:, None, :].astype(float), element)
    right = multiplied_values(b[:, :, None].astype(float), element)
    held = c.astype(kind).reshape(-1, 1, 1)
    depth = a.shape[1] if element is tf32 else None
    found = in_steps(left, right, held, order, depth).reshape(-1)
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    assert same.sum() == len(wanted) == 5000


def in_steps(a: np.ndarray, b: np.ndarray, c: np.ndarray, order: SumOrder, depth: int | None) -> np.ndarray:
    """The recorded sum, in as many blocks as the instruction has of it."""
    step = getattr(order.terms, "length", None) or a.shape[-1]
    step = min(step, a.shape[-1]) if depth is None else depth
    for k in range(0, a.shape[-1], step):
        c = joined(a[..., k : k + step], b[..., k : k + step, :], c, order.terms, order)
    return c
