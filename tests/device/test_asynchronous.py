"""Asynchronous machinery on an sm_90 GPU and in the simulator: tensor maps byte for byte, copies, products."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from cuda.bindings import driver

from isa.descriptors import SharedMatrix, Swizzle
from isa.tensor_maps import ELEMENTS, Im2col, Interleave, TensorMap, decode, tiled
from ptxgen.parse import parse
from ptxgen.runtime import load
from ptxgen.runtime.driver import on_device
from ptxgen.simulate import simulate
from tests.simulate.asynchronous import (
    hopper,
    test_bulk_copies,
    test_clusters,
    test_interleaved_copies,
    test_tensor_copies,
    test_wgmma,
)
from tests.simulate.asynchronous import kernels as written

ADDRESS = 0x7F12_3456_7800
CODES = {Swizzle.NONE: 0, Swizzle.BYTES_32: 1, Swizzle.BYTES_64: 2, Swizzle.BYTES_128: 3, Swizzle.BYTES_128_BY_32: 4,
         Swizzle.BYTES_128_BY_32_FLIPPED: 5, Swizzle.BYTES_128_BY_64: 6}  # fmt: skip
NEVER_MIND = 1 << 85  # the driver sets it for small tensors, the copies do not look at it


def encoded_by_the_driver(described: TensorMap) -> bytes:
    """The bytes that the driver makes of a map."""
    enums = driver.CUtensorMapDataType, driver.CUtensorMapInterleave, driver.CUtensorMapSwizzle
    element, interleave, swizzle = (
        enum(code)
        for enum, code in zip(
            enums,
            (
                ELEMENTS[described.element].driver,
                list(Interleave).index(described.interleave),
                CODES[described.swizzle],
            ),
            strict=True,
        )
    )
    promotion = driver.CUtensorMapL2promotion((0, 64, 128, 256).index(described.promotion))
    fill = driver.CUtensorMapFloatOOBfill(int(described.nan_fill))
    wide = [[driver.cuuint64_t(each) for each in values] for values in (described.dims, described.strides or (0,))]
    steps = [driver.cuuint32_t(each) for each in described.element_strides]
    layout = interleave, swizzle, promotion, fill
    if described.im2col is None:
        box = [driver.cuuint32_t(each) for each in described.box]
        status, made = driver.cuTensorMapEncodeTiled(element, described.rank, ADDRESS, *wide, box, steps, *layout)
    else:
        form = described.im2col
        status, made = driver.cuTensorMapEncodeIm2col(
            element, described.rank, ADDRESS, *wide, list(form.lower), list(form.upper), described.box[0], form.pixels,
            steps, *layout,
        )  # fmt: skip
    if status == driver.CUresult.CUDA_ERROR_INVALID_VALUE:
        pytest.skip(f"the driver makes no map of this device: {described}")
    assert status == driver.CUresult.CUDA_SUCCESS, status
    return b"".join(int(each).to_bytes(8, "little") for each in made.opaque)


def skip_unless_made(described: TensorMap) -> None:
    """Skips what the driver makes no map of: a copy by it ends the context."""
    with on_device(0):
        encoded_by_the_driver(described)


def sampled() -> Iterator[TensorMap]:
    """Maps of every element type, rank, swizzle, interleave, fill and promotion, and with large numbers."""
    yield from (each[0] for each in test_tensor_copies.TILES)
    yield from (each[0] for each in test_tensor_copies.IMAGES)
    yield from (each[0] for each in test_interleaved_copies.BOXED)
    for element in ELEMENTS.values():
        if not element.packed:
            yield tiled(element.name, (64, 128), (32, 16))
    for promotion in (64, 128, 256):
        yield tiled("f16", (4096, 4096), (64, 64), promotion=promotion, swizzle=Swizzle.BYTES_128)
    yield TensorMap("u8", (1 << 31, 3, 5), ((1 << 39) + 16, (1 << 39) + 4096), (256, 1, 2), (1, 5, 8))
    yield TensorMap("f32", (64, 32, 16, 8), (256, 8192, 131072), (8, 16, 4, 2), swizzle=Swizzle.BYTES_32,
                    interleave=Interleave.BYTES_32)  # fmt: skip
    yield TensorMap("f16", (64, 32, 16), (256, 8192), (8, 16, 4), interleave=Interleave.BYTES_16, nan_fill=True)
    for lower, upper, pixels in (((-3,), (2,), 1024), ((5,), (-7,), 3)):
        yield TensorMap("bf16", (256, 100, 9), (512, 51200), (256,), (1, 3, 1), im2col=Im2col(lower, upper, pixels))
    yield TensorMap("s32", (16, 9, 8, 7, 6), (64, 640, 5120, 40960), (16,), (1, 2, 3, 4, 1),
                    im2col=Im2col((-16, 15, 3), (-1, -2, -3), 513), promotion=128)  # fmt: skip


@pytest.mark.parametrize("described", list(sampled()), ids=str)
def test_maps_are_those_of_the_driver(described: TensorMap) -> None:
    with on_device(0):
        theirs = int.from_bytes(encoded_by_the_driver(described), "little")
    ours = int.from_bytes(described.encode(ADDRESS), "little")
    words = [(theirs ^ ours) >> 32 * word & 0xFFFFFFFF for word in range(32)]
    words[2] &= ~(NEVER_MIND >> 64)
    wrong = {word: (hex(theirs >> 32 * word & 0xFFFFFFFF), hex(ours >> 32 * word & 0xFFFFFFFF))
             for word, different in enumerate(words) if different}  # fmt: skip
    assert not wrong, f"{described}: words (driver's, ours) {wrong}"
    assert decode(theirs.to_bytes(128, "little")) == (described, ADDRESS)


@pytest.mark.parametrize("described, start", test_tensor_copies.TILES, ids=str)
def test_boxes(described: TensorMap, start: tuple[int, ...]) -> None:
    for body, name in ((test_tensor_copies.LOADING, test_tensor_copies.LOAD),
                       (test_tensor_copies.STORING, test_tensor_copies.STORE)):  # fmt: skip
        if name is test_tensor_copies.STORE and min(start) < 0:
            continue
        equal_boxes(test_tensor_copies.module(body, name, described.rank, "tile"), described, start)


@pytest.mark.parametrize("described, start, offsets", test_tensor_copies.IMAGES, ids=str)
def test_pixels(described: TensorMap, start: tuple[int, ...], offsets: tuple[int, ...]) -> None:
    made = test_tensor_copies.module(
        test_tensor_copies.LOADING, test_tensor_copies.LOAD, described.rank, "im2col", offsets=len(offsets)
    )
    equal_boxes(made, described, start, offsets)


def equal_boxes(module, described, start, offsets=()):
    """The same tensor and shared memory after the same kernel here and there."""
    skip_unless_made(described)
    rng = np.random.default_rng(1)
    size = max([described.dims[0] * described.element_bytes, *(
        extent * stride for extent, stride in zip(described.dims[1:], described.strides, strict=True))])  # fmt: skip
    tensor = rng.integers(0, 120, size).astype(np.uint8)
    content = rng.integers(0, 120, described.box_bytes).astype(np.uint8).view(np.uint32)
    c = np.array([*start, *[0] * (5 - len(start))], np.int32).tobytes()
    o = np.array([*offsets, *[0] * (3 - len(offsets))], np.uint16).tobytes()
    found = []
    for run in (on_cpu, on_gpu):
        mine = tensor.copy(), content.copy()
        run(module, "one", [(mine[0], described), mine[1], c, o, content.size], 1, 128)
        found.append(mine)
    assert np.array_equal(found[0][1], found[1][1])
    assert np.array_equal(found[0][0], found[1][0])


def on_cpu(module, kernel, args, grid, block, cluster=None):
    simulate(module, kernel, grid=grid, block=block, args=args, cluster=cluster).raise_findings()


def on_gpu(module, kernel, args, grid, block, cluster=None):
    load(module)[kernel](*args, grid=grid, block=block, cluster=cluster or 1)


def test_the_hopper_product() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((512, 640)).astype(np.float16), rng.standard_normal((128, 640)).astype(np.float16)
    maps = hopper.maps(512, 128, 640)
    found = []
    for run in (on_cpu, on_gpu):
        d = np.zeros((512, 128), np.float16)
        run(parse(hopper.text()), "product", [(a, maps[0]), (b, maps[1]), (d, maps[2]), 10], (4, 2), hopper.THREADS)
        found.append(d.view(np.uint16))
    assert np.array_equal(found[0], found[1])


read = cache(parse)
SPECIALS = {
    "f16": [0, 0x8000, 1, 0x3FF, 0x400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E01, 0x7D00],
    "bf16": [0, 0x8000, 1, 0x7F, 0x80, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC1],
    "tf32": [0, 1 << 31, 1, 0x2000, 0x800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001, 0x3F801FFF],
    "e4m3": [0, 0x80, 1, 7, 8, 0x7E, 0xFE, 0x7F, 0xFF], "e5m2": [0, 0x80, 1, 3, 4, 0x7B, 0xFB, 0x7C, 0xFC, 0x7E],
    "f32": [0, 1 << 31, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001],
    "s8": [0, 1, 127, 128, 255], "u8": [0, 1, 127, 128, 255],
}  # fmt: skip


TYPES = [
    ("f16", "f16", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "f32"), ("tf32", "tf32", "f32"),
    ("e4m3", "e4m3", "f32"), ("e5m2", "e4m3", "f32"), ("e4m3", "e5m2", "f16"), ("s8", "s8", "s32"), ("u8", "s8", "s32"),
]  # fmt: skip
GROUPS = 64
COLUMNS = 128


def product_of(atype: str, btype: str, dtype: str) -> tuple[str, int, int]:
    """The text of a kernel that multiplies once, the depth, and the registers of its accumulators."""
    depth = {"f16": 16, "bf16": 16, "tf32": 8}.get(atype, 32)
    name = f"wgmma.mma_async.sync.aligned.m64n{COLUMNS}k{depth}.{dtype}.{atype}.{btype}"
    trailing = {16: ", 1, 1, 0, 0", 8: ", 1, 1"}.get(depth, "" if dtype == "s32" else ", 1, 1")
    registers = COLUMNS // 4 if dtype == "f16" else COLUMNS // 2
    return test_wgmma.kernel(name, "f32" if dtype == "f32" else "b32", registers, trailing), depth, registers


def operands(rng, types, depth, registers, swizzle, special):
    """A, B and the accumulators of many products; a part of the elements, and of the sums, is special."""
    parts = []
    for element, rows in ((types[0], 64), (types[1], COLUMNS)):
        bits = test_wgmma.bits_of(rng, element, (GROUPS, rows, depth))
        chosen = rng.random(bits.shape) < special
        bits[chosen] = rng.choice(np.array(SPECIALS[element], bits.dtype), int(chosen.sum()))
        laid = [test_wgmma.k_major(each.view(np.uint8).reshape(rows, 32), swizzle) for each in bits]
        parts.append((np.concatenate([each for each, _ in laid]), laid[0][1]))
    shape = GROUPS, registers, 128
    start = rng.standard_normal(shape).astype(np.float32).view(np.uint32)
    if types[2] == "f16":
        start = rng.standard_normal((*shape[:2], 256)).astype(np.float16).view(np.uint32)
    if types[2] == "s32":
        start = rng.integers(0, 1 << 32, shape, np.uint32)
    if special and types[2] == "f32":
        chosen = rng.random(shape) < special
        start[chosen] = rng.choice(np.array(SPECIALS["f32"], np.uint32), int(chosen.sum()))
    return parts, start


@pytest.mark.parametrize("swizzle", list(test_wgmma.SWIZZLES))
@pytest.mark.parametrize("types", TYPES, ids=".".join)
def test_products_of_warpgroups_with_special_values(types, swizzle) -> None:
    text, depth, registers = product_of(*types)
    rng = np.random.default_rng(3)
    for special in (0.003, 0.03, 0.3):
        parts, start = operands(rng, types, depth, registers, swizzle, special)
        equal_products(text, parts, start, swizzle)


@pytest.mark.parametrize("a_across, b_across", [(0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("swizzle", list(test_wgmma.SWIZZLES))
def test_matrices_that_are_contiguous_along_their_rows(swizzle, a_across, b_across) -> None:
    rng = np.random.default_rng(4)
    text = test_wgmma.kernel(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "f32", 64, f", 1, -1, {a_across}, {b_across}"
    )
    parts = []
    for rows, transposed in ((64, a_across), (128, b_across)):
        bits = rng.standard_normal((rows, 16)).astype(np.float16).view(np.uint16)
        parts.append(test_wgmma.across(np.ascontiguousarray(bits.T), swizzle) if transposed
                     else test_wgmma.k_major(bits.view(np.uint8).reshape(rows, 32), swizzle))  # fmt: skip
    start = rng.standard_normal((1, 64, 128)).astype(np.float32).view(np.uint32)
    equal_products(text, parts, start, swizzle)


def equal_products(text, parts, start, swizzle):
    """The same accumulators [products, registers, 128] here and there, bit for bit."""
    (a, a_form), (b, b_form) = parts
    forms = [SharedMatrix(0, swizzle=swizzle, **form).bits for form in (a_form, b_form)]
    found = []
    for run in (on_cpu, on_gpu):
        d = start.copy()
        words = a.size // 4 // len(start), b.size // 4 // len(start)
        run(read(text), "one", [a.view(np.uint32), b.view(np.uint32), d, *words, *forms, 1], len(start), 128)
        found.append(d)
    wrong = np.argwhere(found[0] != found[1])
    assert not len(wrong), [(hex(int(found[0][*each])), hex(int(found[1][*each]))) for each in wrong[:4]]


@pytest.mark.parametrize("what", ["st.async", "red.async", "copy"])
def test_words_are_sent_to_another_cta(what: str) -> None:
    operation, size, back, _ = test_clusters.SENT[what]
    body = test_clusters.exchange(operation, size).replace("{back}", str(back))
    found = []
    for run in (on_cpu, on_gpu):
        out = np.zeros(64, np.uint32)
        run(written.module(body, test_clusters.SHARED), "one", [out], 2, 32, 2)
        found.append(out)
    assert np.array_equal(found[0], found[1])


@pytest.mark.parametrize("op, element, _", test_bulk_copies.REDUCTIONS)
def test_runs_are_combined(op: str, element: str, _: object) -> None:
    rng = np.random.default_rng(5)
    there, come = (rng.integers(0, 30, 128).astype(np.uint8) for _ in range(2))
    body = test_bulk_copies.MAKE + "ld.param.u64 %rd3, [in1]; mad.wide.u32 %rd3, %t, 4, %rd3;\n"
    body += "ld.global.u32 %r3, [%rd3]; st.shared.u32 [%r1], %r3;\n" + test_bulk_copies.STORE.format(
        copy=f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{element} [%rd1], [tile], 128;", read=""
    )
    found = []
    for run in (on_cpu, on_gpu):
        mine, out = there.copy(), np.zeros(32, np.uint32)
        run(written.module(body, test_bulk_copies.SHARED, ["in0", "in1"]), "one", [mine, come, out], 1, 32)
        found.append(mine)
    assert np.array_equal(found[0], found[1])
