"""Products with a sparse A on an sm_90 GPU and in the simulator: bits, the layout of the metadata, the blocks."""

from concurrent.futures import Executor
from typing import Any

import numpy as np
import pytest

from isa.descriptors import Swizzle
from ptxgen.ir import Module
from tests.device.products import Product
from tests.device.questions import bits_of
from tests.device.sparse_products import ANY, RISING, WARP, WARPGROUP, Work, kinds, operands, simulated
from tests.simulate.asynchronous import test_sparse_wgmma
from tests.simulate.pictures import WIDTHS, chunk_of, metadata_registers


@pytest.mark.parametrize("product", [*WARP, *WARPGROUP], ids=str)
def test_equal_bits(product: Product, pool: Executor) -> None:
    wrong, compared = [], 0
    count = 16 if product.warpgroup else 128
    works: list[Work] = [(seed, product, kind, count) for seed, kind in enumerate(kinds(product))]
    for work, here in zip(works, pool.map(simulated, works), strict=True):
        there = product.on_gpu(*operands(*work)[:4])
        compared += here.size
        for place in np.argwhere(here != there)[:2]:
            told = f"{hex(here[*place])} simulated, {hex(there[*place])} on the GPU"
            wrong.append(f"{work[2]} at {place.tolist()}: {told}")
    print(f"\n{product}: {compared} sums compared, {len(wrong)} kinds differ")
    assert not wrong, "\n".join(wrong)


HALF, NINE = (16, 32), (8, 16)
LAID = [
    *(Product(16, 8, depth, "f16", "f16", "f32", sparse=RISING, selector=n) for depth in HALF for n in (0, 1)),
    *(Product(16, 8, depth, "tf32", "tf32", "f32", sparse=RISING, selector=n) for depth in NINE for n in (0, 1)),
    *(Product(16, 8, depth, "s8", "s8", "s32", sparse=RISING) for depth in (32, 64)),
    *(Product(16, 8, depth, "s4", "s4", "s32", sparse=RISING) for depth in (64, 128)),
    Product(16, 8, 64, "e4m3", "e4m3", "f32", sparse=RISING),
    *(Product(64, 8, 32, "f16", "f16", "f32", "", True, ANY, n) for n in (0, 1)),
    Product(64, 8, 16, "tf32", "tf32", "f32", "", True, ANY), Product(64, 8, 64, "s8", "s8", "s32", "", True, ANY),
    Product(64, 8, 64, "e4m3", "e4m3", "f32", "", True, ANY),
]  # fmt: skip
ONE_AND_TWO = {"f16": (0x3C00, 0x4000), "tf32": (0x3F800000, 0x40000000), "e4m3": (0x38, 0x40)}


@pytest.mark.parametrize("product", LAID, ids=str)
def test_which_lane_tells_of_which_chunk(product: Product) -> None:
    """Four bits of one lane of each four are changed: which chunk of which rows chooses other elements then?"""
    chunk = chunk_of(product.a)
    one, two = ONE_AND_TWO.get(product.a, (1, 2))
    dtype, total = f"u{max(8, WIDTHS[product.a]) // 8}", np.int32 if product.d == "s32" else np.float32
    chunks, cases = product.depth // chunk, [(lane, place) for lane in range(4) for place in range(8)]
    a = np.full((len(cases) * 2, product.rows, product.kept), one, dtype)
    b = np.zeros((len(cases) * 2, product.columns, product.depth), dtype)
    for n, column, k in np.ndindex(*b.shape):
        if k // chunk == column + 8 * (n % 2):
            b[n, column, k] = two if k % chunk >= chunk // 2 else one
    metadata = np.full((len(cases) * 2, 1, 128 if product.warpgroup else 32), 0x44444444, np.uint32)
    for n, (lane, place) in enumerate(cases):
        metadata[2 * n : 2 * n + 2, 0, lane::4] ^= np.uint32(0b1010 << 4 * place)
    c = np.zeros((len(a), product.rows, product.columns), np.uint32)
    here, there = (run(a, b, c, metadata).view(total) for run in (product.simulated, product.on_gpu))
    plain = 2 if chunk == 4 else 4 if chunk == 8 else 1
    print(f"\n{product}: what each four bits of a lane of four tell of, as (row of the first lanes, chunk)")
    for lane in range(4):
        told = []
        for place in range(8):
            n = 2 * (8 * lane + place)
            whole = np.concatenate([there[n], there[n + 1]], axis=1)[:, :chunks]
            told.append([(int(row), int(at)) for row, at in np.argwhere(whole != plain) if row in (0, 8)])
        print(f"  lane {lane}: {told}")
    assert np.array_equal(here, there)


BLOCKS = [
    *(Product(16, 8, depth, "f16", "f16", "f32", sparse=RISING) for depth in HALF),
    *(Product(16, 8, depth, "bf16", "bf16", "f32", sparse=ANY) for depth in HALF),
    *(Product(16, 8, depth, "tf32", "tf32", "f32", sparse=RISING) for depth in NINE),
    Product(16, 8, 64, "e5m2", "e5m2", "f32", sparse=RISING),
    Product(64, 8, 32, "f16", "f16", "f32", "", True, ANY), Product(64, 8, 32, "bf16", "bf16", "f32", "", True, ANY),
    Product(64, 8, 16, "tf32", "tf32", "f32", "", True, ANY), Product(64, 8, 64, "e5m2", "e5m2", "f32", "", True, ANY),
]  # fmt: skip


@pytest.mark.parametrize("product", BLOCKS, ids=str)
def test_which_products_make_a_block(product: Product) -> None:
    """A great product, its opposite in the same chunk or in C, and a small one, which is lost where it meets them."""
    kept, dtype = product.kept, f"u{WIDTHS[product.a] // 8}"
    great, small = (bits_of(2.0**power, product.a) for power in (12, -9))
    minus = great | 1 << WIDTHS[product.a] - 1
    firsts = range(0, kept, max(2, kept // 8))
    in_chunk = [(i, i + 1, at) for i in firsts for at in range(kept) if at not in (i, i + 1)]
    in_c = [(i, None, at) for i in firsts for at in range(kept) if at != i]
    cases = [*in_chunk, *in_c]
    a = np.zeros((len(cases), product.rows, kept), dtype)
    b = np.zeros((len(cases), product.columns, product.depth), dtype)
    c = np.zeros((len(cases), product.rows, product.columns), np.uint32)
    chunk = chunk_of(product.a)
    told = np.full((len(cases), product.rows, product.depth // chunk), 0b0100, np.uint8)
    column = np.arange(product.depth).reshape(-1, chunk)[:, : chunk // 2].ravel()
    for n, (i, opposite, at) in enumerate(cases):
        a[n, 0, i], a[n, 0, at] = great, small
        b[n, 0, column[[i, at]]] = great, small
        if opposite is None:
            c[n, 0, 0] = bits_of(-(2.0**24), "f32")
        else:
            a[n, 0, opposite], b[n, 0, column[opposite]] = minus, great
    metadata = metadata_registers(np.random.default_rng(0), told, product.a, product.selector)
    here, there = (run(a, b, c, metadata)[:, 0, 0] for run in (product.simulated, product.on_gpu))
    print(f"\n{product}: products that lose a small one ('#') beside them; row: the great one, column: the small one")
    for name, some in (("opposite in the same chunk", in_chunk), ("opposite in C", in_c)):
        print(f"  {name}")
        found = dict(zip(cases, there.tolist(), strict=True))
        for i in sorted({each[0] for each in some}):
            line = {at: "." if found[i, other, at] else "#" for row, other, at in some if row == i}
            print("    " + "".join(line.get(at, " ") for at in range(kept)))
    assert np.array_equal(here, there)


def on_gpu(module: Module, args: list[Any]) -> None:
    from ptxgen.runtime import load

    load(module)["one"](*args, grid=1, block=128)


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("swizzle", [Swizzle.NONE, Swizzle.BYTES_32, Swizzle.BYTES_64, Swizzle.BYTES_128])
def test_layouts_of_b(swizzle: Swizzle, across: bool) -> None:
    if swizzle is Swizzle.BYTES_32 and not across:
        pytest.skip("rows of 64 bytes do not fit a swizzle of 32")
    found, wanted = test_sparse_wgmma.small(swizzle, across=across, run=on_gpu)
    assert np.array_equal(found, wanted)
