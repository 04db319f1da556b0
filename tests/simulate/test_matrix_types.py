"""Matrix products of every element type: registers filled by the manual's layout, results against exact integers."""

import ml_dtypes
import numpy as np
import pytest

from isa.types import bits_type
from ptxgen.build import Module, pointer
from ptxgen.errors import KernelError
from ptxgen.simulate import simulate

LANE = np.arange(32)
GROUP, THREAD = LANE >> 2, LANE & 3
FLOATS = {"bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
BITS = {"bf16": 16, "tf32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "e4m3": 8, "e5m2": 8, "f16": 16}


def codes(values: np.ndarray, element: str) -> np.ndarray:
    """Small integers as the bits of an element."""
    match element:
        case "f64":
            return values.astype(np.float64).view(np.uint64)
        case "tf32":
            return values.astype(np.float32).view(np.uint32)
        case "f16":
            return values.astype(np.float16).view(np.uint16)
        case _ if element in FLOATS:
            made = values.astype(np.float32).astype(FLOATS[element])
            return made.view(f"u{made.itemsize}")
        case _:
            return values & ((1 << BITS[element]) - 1)


def held(bits: np.ndarray, element: str, *, is_a: bool) -> np.ndarray:
    """The registers [registers, 32] of A [rows, k], or of B given as [columns, k]."""
    width = BITS[element]
    packed = max(1, 32 // width)
    halves = bits.shape[0] // 8 if is_a else 1
    count = bits.shape[0] * bits.shape[1] // 32 // packed
    made = np.zeros((count, 32), np.uint64 if width == 64 else np.uint32)
    for register in range(count):
        for place in range(packed):
            row = GROUP + 8 * (register % halves)
            column = THREAD * packed + place + 4 * packed * (register // halves)
            made[register] |= bits[row, column].astype(made.dtype) << made.dtype.type(place * width % 64)
    return made


CASES = [
    ("m16n8k8", "bf16", "bf16", "f32", "sm_80"), ("m16n8k16", "bf16", "bf16", "f32", "sm_90"),
    ("m16n8k4", "tf32", "tf32", "f32", "sm_80"), ("m16n8k8", "tf32", "tf32", "f32", "sm_90"),
    ("m8n8k4", "f64", "f64", "f64", "sm_80"), ("m16n8k4", "f64", "f64", "f64", "sm_90"),
    ("m16n8k8", "f64", "f64", "f64", "sm_90"), ("m16n8k16", "f64", "f64", "f64", "sm_90"),
    ("m8n8k16", "s8", "u8", "s32", "sm_75"), ("m16n8k16", "u8", "s8", "s32", "sm_80"),
    ("m16n8k32", "s8", "s8", "s32", "sm_90"), ("m8n8k32", "s4", "u4", "s32", "sm_75"),
    ("m16n8k32", "u4", "u4", "s32", "sm_80"), ("m16n8k64", "s4", "s4", "s32", "sm_90"),
    ("m16n8k32", "e4m3", "e5m2", "f32", "sm_89"), ("m16n8k32", "e5m2", "e4m3", "f16", "sm_90"),
    ("m16n8k32", "e4m3", "e4m3", "f32", "sm_90"), ("m16n8k16", "e5m2", "e4m3", "f32", "sm_90"),
    ("m16n8k16", "e4m3", "e5m2", "f16", "sm_90"),
]  # fmt: skip


def launched(name, a, b, c, d_dtype, target):
    """Run one `mma` of a warp whose registers are given as [registers, 32]; C and D are [registers, 32] too."""
    d = np.zeros(c.shape, d_dtype)
    module = Module(target)
    arrays = {"a": a, "b": b, "c": c, "d": d}
    with module.kernel("one", **{key: pointer(bits_type(each.itemsize * 8)) for key, each in arrays.items()}) as k:
        sources = []
        for key in "abc":
            width = arrays[key].itemsize
            place = k.add.s64(getattr(k.args, key), k.mul.wide.u32(k.tid.x, width))
            loaded = [k.emit(f"ld.global.b{8 * width}", place + 32 * width * row) for row in range(len(arrays[key]))]
            sources.append(tuple(loaded))
        made = k.emit(name, *sources)
        place = k.add.s64(k.args.d, k.mul.wide.u32(k.tid.x, d.itemsize))
        for row, value in enumerate(made):
            k.emit(f"st.global.b{8 * d.itemsize}", place + 32 * d.itemsize * row, value)
    simulate(module.build(), grid=1, block=32, args=(a, b, c, d)).raise_findings()
    return d


def accumulator(matrix: np.ndarray) -> np.ndarray:
    """C [rows, 8] as registers [registers, 32]; two halves share one."""
    rows = len(matrix)
    values = [matrix[GROUP + 8 * half, 2 * THREAD + j] for half in range(rows // 8) for j in range(2)]
    made = np.stack(values)
    if matrix.dtype == np.float16:
        return np.ascontiguousarray(np.stack([made[0::2], made[1::2]], axis=-1)).view(np.uint32)[..., 0]
    return made


@pytest.mark.parametrize("shape, atype, btype, dtype, target", CASES, ids=lambda each: str(each))
def test_small_integers_are_exact(shape, atype, btype, dtype, target):
    rows, depth = int(shape[1:].partition("n")[0]), int(shape.partition("k")[2])
    rng = np.random.default_rng(depth)
    low = {element: 0 if element[0] == "u" else -4 for element in (atype, btype)}
    a, b = rng.integers(low[atype], 5, (rows, depth)), rng.integers(low[btype], 5, (8, depth))
    whole = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "s32": np.int32}[dtype]
    c = rng.integers(-50, 50, (rows, 8)).astype(whole)
    registers = held(codes(a, atype), atype, is_a=True), held(codes(b, btype), btype, is_a=False)
    name = f"mma.sync.aligned.{shape}.row.col.{dtype}.{atype}.{btype}.{dtype}"
    found = launched(name, *registers, accumulator(c), accumulator(c).dtype, target)
    assert np.array_equal(found, accumulator((a @ b.T + c).astype(whole)))


@pytest.mark.parametrize("shape", ["m8n8k128", "m16n8k128", "m16n8k256"])
@pytest.mark.parametrize("operation", ["xor", "and"])
def test_single_bits(shape, operation):
    rows, depth = int(shape[1:].partition("n")[0]), int(shape.partition("k")[2])
    rng = np.random.default_rng(depth)
    a, b = rng.integers(0, 2, (rows, depth)), rng.integers(0, 2, (8, depth))
    c = rng.integers(-50, 50, (rows, 8)).astype(np.int32)
    joined = (a[:, None] ^ b) if operation == "xor" else (a[:, None] & b)
    name = f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{operation}.popc"
    found = launched(name, held(a, "b1", is_a=True), held(b, "b1", is_a=False), accumulator(c), np.int32, "sm_80")
    assert np.array_equal(found, accumulator((joined.sum(axis=2) + c).astype(np.int32)))


@pytest.mark.parametrize("satfinite", ["", ".satfinite"])
def test_integers_wrap_or_are_clamped(satfinite):
    a, b = np.full((16, 32), 127), np.full((8, 32), 127)
    c = np.full((16, 8), (1 << 31) - 1, np.int32)
    name = f"mma.sync.aligned.m16n8k32.row.col{satfinite}.s32.s8.s8.s32"
    found = launched(name, held(a, "s8", is_a=True), held(b, "s8", is_a=False), accumulator(c), np.int32, "sm_80")
    exact = (1 << 31) - 1 + 32 * 127 * 127
    assert (found == ((1 << 31) - 1 if satfinite else exact - (1 << 32))).all()


@pytest.mark.parametrize("name, target, why", [
    ("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32", "sm_120a", "no recorded"),
    ("m16n8k8.row.col.f32.f16.f16.f32", "sm_75", "8 or 4"),
])  # fmt: skip
def test_what_is_not_known_is_refused_by_name(name, target, why):
    a = np.zeros((4 if "e4m3" in name else 2, 32), np.uint32)
    b = np.zeros((2, 32) if "e4m3" in name else (1, 32), np.uint32)
    with pytest.raises(KernelError, match=why):
        launched(f"mma.sync.aligned.{name}", a, b, np.zeros((4, 32), np.uint32), np.uint32, target)


@pytest.mark.parametrize("target, exact", [("sm_89", 1.0), ("sm_90", 1.0 + 2.0**-23)])
def test_bytes_on_sm_90_are_summed_apart_and_then_added_to_nearest(target, exact):
    """Three products of 2**-25 beside 1: cut where the sum is aligned with C, rounded where ptxas adds C by FADD."""
    a, b = np.zeros((16, 32)), np.zeros((8, 32))
    a[:, [0, 2, 5]], b[:, [0, 2, 5]] = 2.0**-14, 2.0**-11
    registers = held(codes(a, "e5m2"), "e5m2", is_a=True), held(codes(b, "e5m2"), "e5m2", is_a=False)
    c = np.ones((16, 8), np.float32)
    name = "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32"
    found = launched(name, *registers, accumulator(c), np.float32, target)
    assert (found == np.float32(exact)).all()


@pytest.mark.parametrize("mode, steps", [("rn", 0), ("rz", 0), ("rm", 0), ("rp", 4)])
def test_chains_of_doubles_round_as_they_are_told(mode, steps):
    a, b, c = (np.full((1, 32), value) for value in (2.0**-30, 2.0**-30, 1.0))
    c = np.concatenate([c, -c])
    found = launched(f"wmma.mma.sync.aligned.row.col.m8n8k4.{mode}.f64.f64.f64.f64", a, b, c, np.float64, "sm_90")
    assert (found[0] == 1 + steps * 2.0**-52).all()
    assert (found[1] == (-1 + 4 * 2.0**-53 if mode in ("rz", "rp") else -1.0)).all()


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_quads_without_volta_s_cores_are_fused_in_f32(dtype):
    """Elements of rows of A and columns of B as the manual's layout of m8n8k4 has them, all four pairs of quads."""
    rng = np.random.default_rng(6)
    rows, columns = (rng.standard_normal((4, 8, 4)).astype(np.float16) for _ in range(2))
    quad, within = (LANE % 16) // 4, LANE % 4 + 4 * (LANE // 16)
    a, b = (each[quad, within].view(np.uint32).T.copy() for each in (rows, columns))
    c = (rng.standard_normal((4, 8, 8)) * 8).astype(np.float32 if dtype == "f32" else np.float16)
    x, y = rows.astype(np.float64)[:, :, None], columns.astype(np.float64)[:, None]

    def single(value: np.ndarray) -> np.ndarray:
        return value.astype(np.float32).astype(np.float64)

    if dtype == "f32":
        total: np.ndarray = np.zeros((4, 8, 8))
        for k in range(4):
            total = single(x[..., k] * y[..., k] + total)
        exact = (total + c).astype(np.float32)
        row = np.stack([within - 2 * (within % 4 // 2) + 2 * (j // 2 % 2) for j in range(8)])
        column = np.stack([4 * (j // 4) + within % 4 // 2 * 2 + j % 2 for j in range(8)])
        found = launched(
            "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", a, b, c[quad, row, column], np.float32, "sm_80"
        )
        assert (found == exact[quad, row, column]).all()
        return
    pairs = [single(x[..., k] * y[..., k] + x[..., k + 1] * y[..., k + 1]) for k in (0, 2)]
    exact16 = single(single(c.astype(np.float64) + pairs[0]) + pairs[1]).astype(np.float16)
    given = np.ascontiguousarray(c[quad, within]).view(np.uint32).T.copy()
    found = launched("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", a, b, given, np.uint32, "sm_90")
    assert (found == np.ascontiguousarray(exact16[quad, within]).view(np.uint32).T).all()
