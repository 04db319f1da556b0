"""`wmma` through memory: layouts, strides and types, against products of small integers."""

import ml_dtypes
import numpy as np
import pytest

from ptxgen.parse import parse
from ptxgen.simulate import simulate

KINDS: dict[str, tuple[str, type, str, int]] = {
    "f16": ("f16", np.float16, "b32", 8), "bf16": ("bf16", ml_dtypes.bfloat16, "b32", 4),
    "tf32": ("tf32", np.float32, "b32", 4),
    "s8": ("s8", np.int8, "b32", 2), "u8": ("u8", np.uint8, "b32", 2), "f64": ("f64", np.float64, "f64", 1),
}  # fmt: skip
SUMS: dict[str, tuple[type, str]] = {
    "f32": (np.float32, "f32"), "f16": (np.float16, "b32"), "s32": (np.int32, "b32"), "f64": (np.float64, "f64"),
}  # fmt: skip


def registers(prefix: str, count: int) -> str:
    return "{" + ", ".join(f"%{prefix}{place}" for place in range(count)) + "}"


def program(shape: str, element: str, total: str, a_layout: str, b_layout: str, strides, target: str) -> str:
    rows, columns, depth = (int(each) for each in shape[1:].replace("n", " ").replace("k", " ").split())
    word, count = KINDS[element][2:]
    if element in ("s8", "u8", "bf16"):
        width = np.dtype(KINDS[element][1]).itemsize
        count_a, count_b = (extent * width // 128 for extent in (rows * depth, depth * columns))
    else:
        count_a = count_b = count
    sums = rows * columns * np.dtype(SUMS[total][0]).itemsize // 32 // max(4, np.dtype(SUMS[total][0]).itemsize)
    a, b, d = registers("a", count_a), registers("b", count_b), registers("d", sums)
    space, align = "global", "sync.aligned"
    types = f"{total}.{total}" if element == "f16" else f"{total}.{element}.{element}.{total}"
    rounding = ".rn" if element == "f64" else ""
    return f"""
.version 8.0
.target {target}
.address_size 64
.visible .entry main(.param .u64 pa, .param .u64 pb, .param .u64 pd)
{{
    .reg .{word} %a<9>; .reg .{word} %b<9>; .reg .{SUMS[total][1]} %d<9>; .reg .b64 %r<4>;
    ld.param.u64 %r0, [pa]; ld.param.u64 %r1, [pb]; ld.param.u64 %r2, [pd];
    wmma.load.a.{align}.{a_layout}.{shape}.{space}.{element} {a}, [%r0], {strides[0]};
    wmma.load.b.{align}.{b_layout}.{shape}.{space}.{element} {b}, [%r1], {strides[1]};
    wmma.load.c.{align}.row.{shape}.{space}.{total} {d}, [%r2], {strides[2]};
    wmma.mma.{align}.{a_layout}.{b_layout}.{shape}{rounding}.{types} {d}, {a}, {b}, {d};
    wmma.store.d.{align}.row.{shape}.{space}.{total} [%r2], {d}, {strides[2]};
    ret;
}}
"""


@pytest.mark.parametrize("a_layout, b_layout", [("row", "col"), ("col", "row")])
@pytest.mark.parametrize("shape, element, total, target", [
    ("m16n16k16", "f16", "f32", "sm_70"), ("m16n16k16", "f16", "f16", "sm_80"), ("m32n8k16", "f16", "f32", "sm_90"),
    ("m8n32k16", "bf16", "f32", "sm_80"), ("m16n16k8", "tf32", "f32", "sm_90"), ("m16n16k16", "s8", "s32", "sm_80"),
    ("m32n8k16", "u8", "s32", "sm_80"), ("m8n8k4", "f64", "f64", "sm_80"),
])  # fmt: skip
def test_products_through_memory(shape, element, total, target, a_layout, b_layout):
    rows, columns, depth = (int(each) for each in shape[1:].replace("n", " ").replace("k", " ").split())
    rng = np.random.default_rng(depth)
    low = 0 if element == "u8" else -4
    a, b = rng.integers(low, 5, (rows, depth)), rng.integers(low, 5, (depth, columns))
    stored = [each if layout == "row" else each.T for each, layout in ((a, a_layout), (b, b_layout))]
    padded: list[np.ndarray] = [
        np.pad(each, ((0, 0), (0, 8))).astype(np.float32).astype(KINDS[element][1]) for each in stored
    ]
    d: np.ndarray = np.pad(rng.integers(-20, 20, (rows, columns)), ((0, 0), (0, 4))).astype(SUMS[total][0], order="C")
    wanted = a @ b + d[:, :columns].astype(np.int64)
    text = program(
        shape, element, total, a_layout, b_layout, [padded[0].shape[1], padded[1].shape[1], columns + 4], target
    )
    raw = [np.ascontiguousarray(each).view(f"u{each.itemsize}") for each in padded]
    simulate(parse(text), grid=1, block=32, args=(*raw, d)).raise_findings()
    assert np.array_equal(d[:, :columns].astype(np.int64), wanted)
    assert not d[:, columns:].any()


TINY = {"s4": ("m8n8k32", 4, -8, 8), "u4": ("m8n8k32", 4, 0, 16), "b1": ("m8n8k128", 1, 0, 2)}


def packed(values: np.ndarray, bits: int) -> np.ndarray:
    """Elements of less than a byte, rows after each other, the low one first."""
    each = np.unpackbits((values.astype(np.int16) & ((1 << bits) - 1)).astype(np.uint8)[..., None], axis=-1,
                         count=bits, bitorder="little")  # fmt: skip
    return np.packbits(each.reshape(len(values), -1), axis=1, bitorder="little")


def tiny_program(element: str, operation: str, strides: tuple[int, int]) -> str:
    shape = TINY[element][0]
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry main(.param .u64 pa, .param .u64 pb, .param .u64 pd)
{{
    .reg .b32 %a<2>; .reg .b32 %b<2>; .reg .b32 %d<4>; .reg .b64 %r<4>;
    ld.param.u64 %r0, [pa]; ld.param.u64 %r1, [pb]; ld.param.u64 %r2, [pd];
    wmma.load.a.sync.aligned.row.{shape}.global.{element} {{%a0}}, [%r0], {strides[0]};
    wmma.load.b.sync.aligned.col.{shape}.global.{element} {{%b0}}, [%r1], {strides[1]};
    wmma.load.c.sync.aligned.row.{shape}.global.s32 {{%d0, %d1}}, [%r2], 12;
    wmma.mma{operation}.sync.aligned.row.col.{shape}.s32.{element}.{element}.s32
        {{%d0, %d1}}, {{%a0}}, {{%b0}}, {{%d0, %d1}};
    wmma.store.d.sync.aligned.row.{shape}.global.s32 [%r2], {{%d0, %d1}}, 12;
    ret;
}}
"""


def tiny_case(element: str, operation: str, run) -> tuple[np.ndarray, np.ndarray]:
    """The accumulators after a product of nibbles or bits, and what they have to be."""
    shape, bits, low, high = TINY[element]
    depth = int(shape.partition("k")[2])
    rng = np.random.default_rng(bits)
    a, b = rng.integers(low, high, (8, depth)), rng.integers(low, high, (8, depth))
    padded = [np.pad(each, ((0, 0), (0, more))) for each, more in ((a, 128), (b, 256))]
    d = np.pad(rng.integers(-1000, 1000, (8, 8)), ((0, 0), (0, 4))).astype(np.int32)
    joined = a[:, None] ^ b if operation.startswith(".xor") else a[:, None] & b if operation else a[:, None] * b
    wanted = d.copy()
    wanted[:, :8] += joined.sum(axis=2).astype(np.int32)
    memory = [packed(each, bits) for each in padded]
    run(parse(tiny_program(element, operation, (depth + 128, depth + 256))), [*memory, d])
    return d, wanted


@pytest.mark.parametrize("element, operation", [("s4", ""), ("u4", ""), ("b1", ".xor.popc"), ("b1", ".and.popc")])
def test_elements_of_less_than_a_byte(element, operation):
    found, wanted = tiny_case(
        element, operation, lambda module, args: simulate(module, grid=1, block=32, args=args).raise_findings()
    )
    assert np.array_equal(found, wanted)
