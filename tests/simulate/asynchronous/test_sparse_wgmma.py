"""Products of warpgroups with a sparse A: types, selectors, layouts of B, A in registers, against whole numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from isa.descriptors import SharedMatrix, Swizzle
from isa.targets import target
from ptxgen.emit import emit
from ptxgen.ir import Module
from ptxgen.parse import parse
from ptxgen.simulate import simulate
from tests.device.products import Product, in_shared, module_of
from tests.device.sparse_products import ANY, WARPGROUP, kinds, meeting, operands
from tests.oracles.ptxas import verdict
from tests.simulate.asynchronous import test_wgmma
from tests.simulate.integer_products import multiplied
from tests.simulate.pictures import kept_columns, operand_registers, sum_registers, sums
from tests.simulate.test_sparse_matrices import in_integers

BLOCKS = {"f16": (16, 25), "bf16": (16, 25), "tf32": (8, 25), "e4m3": (32, 13), "e5m2": (32, 13)}


def expected(product: Product, a: np.ndarray, met: np.ndarray, c: np.ndarray) -> np.ndarray:
    if product.d == "s32":
        return in_integers(product, a, met, c)
    into = "f32/13" if product.a in ("e4m3", "e5m2") and product.d == "f32" else ""
    return multiplied(a, met, c, (product.a, product.b, product.d), *BLOCKS[product.a], into)


def some(seed: int, product: Product) -> tuple[slice | np.ndarray, np.ndarray, np.ndarray]:
    """Rows of all warps to look at, and columns."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(64)[:8]
    return rows, rows[:, None], rng.permutation(product.columns)[:8]


@pytest.mark.parametrize("product", WARPGROUP, ids=str)
def test_random_numbers_and_some_edges(product):
    assert verdict(str(emit(module_of(product))), target("sm_90a")).ok
    for seed, kind in enumerate(kinds(product)):
        a, b, c, metadata, told = operands(seed, product, kind, 1)
        found = product.simulated(a, b, c, metadata)
        rows, places, columns = some(seed, product)
        met = meeting(b[:, columns], kept_columns(told, product.a)[:, rows])
        wanted = expected(product, a[:, rows], met, c[:, places, columns])
        assert np.array_equal(found[:, places, columns], wanted), kind


@pytest.mark.parametrize("swizzle", [Swizzle.NONE, Swizzle.BYTES_64, Swizzle.BYTES_128])
def test_b_in_every_layout_along_k(swizzle):
    """Small integers, 64 bytes of K in a row of B."""
    made, wanted = small(swizzle, across=False, run=on_cpu)
    assert np.array_equal(made, wanted)


@pytest.mark.parametrize("swizzle", list(test_wgmma.SWIZZLES))
def test_b_across(swizzle):
    made, wanted = small(swizzle, across=True, run=on_cpu)
    assert np.array_equal(made, wanted)


def on_cpu(module: Module, args: list[Any]) -> None:
    simulate(module, grid=1, block=128, args=args).raise_findings()


def laid_along(bits: np.ndarray, swizzle: Swizzle) -> tuple[np.ndarray, dict[str, int]]:
    """Rows of 64 bytes [rows, 64] in shared memory."""
    rows = len(bits)
    if swizzle is Swizzle.NONE:
        return in_shared(bits[None]).view(np.uint8), {"leading_bytes": 128, "stride_bytes": 512}
    memory = np.zeros(rows * swizzle.span, np.uint8)
    for row in range(rows):
        for byte in range(64):
            memory[swizzle.place(row * swizzle.span + byte)] = bits[row, byte]
    return memory, {"leading_bytes": 16, "stride_bytes": 8 * swizzle.span}


def small(swizzle: Swizzle, *, across: bool, run: Callable[[Module, list[Any]], None]) -> tuple[np.ndarray, np.ndarray]:
    """Small integers of f16 with B in a layout: D as the run makes it, and as it has to be."""
    product = Product(64, 64, 32, "f16", "f16", "f32", "", True, ANY, int(across))
    rng = np.random.default_rng(9)
    _, _, _, metadata, told = operands(3, product, 3, 1)
    a = rng.integers(-4, 5, (64, 16)).astype(np.float16)
    b = rng.integers(-4, 5, (product.columns, 32)).astype(np.float16)
    if across:
        b_bytes, b_form = test_wgmma.across(np.ascontiguousarray(b.view(np.uint16).T), swizzle)
    else:
        b_bytes, b_form = laid_along(b.view(np.uint8).reshape(-1, 64), swizzle)
    trailing = f", 1, -1, 0, {int(across)}"
    text = test_wgmma.kernel(product.name, "f32", product.columns // 2, trailing, selector=product.selector)
    forms = [SharedMatrix(0, leading_bytes=128, stride_bytes=256).bits, SharedMatrix(0, swizzle=swizzle, **b_form).bits]
    c = rng.integers(-9, 10, (1, 64, product.columns)).astype(np.float32)
    d = sum_registers(c.view(np.uint32), "f32")
    words = in_shared(a.view(np.uint16)[None]), b_bytes.view(np.uint32)
    args = [*words, d, words[0].size, words[1].size, *forms, 1, metadata]
    run(parse(text), args)
    met = meeting(b[None].astype(np.float32), kept_columns(told, "f16"))
    wanted = c - np.einsum("nrk,nrck->nrc", a[None].astype(np.float32), met)
    return sums(d, "f32", 64, product.columns).view(np.float32), wanted


def test_a_in_registers():
    product = Product(64, 8, 64, "s8", "u8", "s32", "", True, ANY)
    a, b, c, metadata, told = operands(5, product, 3, 1)
    held = np.concatenate(
        [operand_registers(a[:, 16 * warp : 16 * warp + 16], "s8", is_a=True) for warp in range(4)], axis=2
    )
    text = test_wgmma.kernel(product.name, "b32", 4, "", a_registers=4, selector=0)
    assert verdict(text, target("sm_90a")).ok
    words, d = in_shared(b), sum_registers(c, "s32")
    form = SharedMatrix(0, leading_bytes=128, stride_bytes=512).bits
    args = [held[0].copy(), words, d, 0, words.size, 0, form, 1, metadata]
    simulate(parse(text), grid=1, block=128, args=args).raise_findings()
    wanted = in_integers(product, a, meeting(b, kept_columns(told, "s8")), c)
    assert np.array_equal(sums(d, "s32", 64, 8), wanted)
