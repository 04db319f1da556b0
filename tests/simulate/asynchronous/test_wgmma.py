"""Products of warpgroups: every type and layout against numpy, and bit for bit against the arithmetic of `mma`."""

import numpy as np
import pytest

from isa.descriptors import SharedMatrix, Swizzle
from isa.numerics import numerics
from isa.targets import target
from ptxgen.parse import parse
from ptxgen.simulate import simulate
from ptxgen.simulate.exact_products import chained, operand
from ptxgen.simulate.formats import FORMATS, decoded
from tests.oracles.ptxas import verdict

SM_90A = target("sm_90a")
SWIZZLES = (Swizzle.NONE, Swizzle.BYTES_32, Swizzle.BYTES_64, Swizzle.BYTES_128)


def k_major(content, swizzle):
    """Rows of 32 bytes [rows, 32] as shared memory holds them along K, and the descriptor at its start."""
    rows = len(content)
    if swizzle is Swizzle.NONE:
        laid = content.reshape(rows // 8, 8, 2, 16).transpose(0, 2, 1, 3).reshape(-1)
        return laid, {"leading_bytes": 128, "stride_bytes": 256}
    memory = np.zeros(rows * swizzle.span, np.uint8)
    for row in range(rows):
        for byte in range(32):
            memory[swizzle.place(row * swizzle.span + byte)] = content[row, byte]
    return memory, {"leading_bytes": 16, "stride_bytes": 8 * swizzle.span}


def across(content, swizzle):
    """Halves [16 of K, rows] as shared memory holds them along the rows, and the descriptor's distances."""
    depth, rows = content.shape
    chunk = (swizzle.span or 16) // 2
    chunks = -(-rows // chunk)
    memory = np.zeros(chunks * depth * chunk, np.uint16)
    for k in range(depth):
        for row in range(rows):
            inside = (row // chunk) * depth * chunk + k * chunk + row % chunk
            memory[swizzle.place(2 * inside) // 2] = content[k, row]
    group = depth * chunk * 2
    if swizzle is Swizzle.NONE:
        return memory.view(np.uint8), {"leading_bytes": 8 * 16, "stride_bytes": group}
    return memory.view(np.uint8), {"leading_bytes": group, "stride_bytes": 8 * swizzle.span}


def kernel(name, registers, values, trailing, *, a_registers=0, selector=None):
    """A module whose warpgroups each copy A and B into shared memory, multiply once and store the sums.

    With a selector A is sparse, and the last parameter points to the metadata, a word for each thread.
    """
    d = ", ".join(f"%d{each}" for each in range(values))
    a = "{" + ", ".join(f"%a{each}" for each in range(a_registers)) + "}" if a_registers else "%rd5"
    loads = "\n".join(
        f"mad.wide.u32 %rd7, %r1, 4, %rd1; ld.global.b32 %a{each}, [%rd7+{512 * each}];" for each in range(a_registers)
    )
    stores = "\n".join(f"st.global.b32 [%rd8+{512 * each}], %d{each};" for each in range(values))
    starts = "\n".join(f"ld.global.b32 %d{each}, [%rd8+{512 * each}];" for each in range(values))
    told = sparse = metadata = ""
    if selector is not None:
        told, sparse = ", .param .u64 metadata", f", %e, {selector}"
        metadata = ".reg .b32 %e; ld.param.u64 %rd7, [metadata]; mad.lo.u32 %r12, %r11, 128, %r1;\n"
        metadata += "mad.wide.u32 %rd7, %r12, 4, %rd7; ld.global.b32 %e, [%rd7];"
    kind = ".f32" if registers == "f32" else ".b32"
    return f""".version 8.4
.target sm_90a
.address_size 64
.visible .entry one(.param .u64 a_bits, .param .u64 b_bits, .param .u64 d_bits, .param .u32 a_words,
                    .param .u32 b_words, .param .u64 a_form, .param .u64 b_form, .param .u32 scaled{told})
.reqntid 128, 1, 1
{{
.reg .pred %p<4>; .reg .b32 %r<13>; .reg .b64 %rd<12>; .reg .b32 %a<8>; .reg {kind} %d<{values + 1}>;
.shared .align 1024 .b8 a[32768];
.shared .align 1024 .b8 b[65536];
mov.u32 %r1, %tid.x;
mov.u32 %r2, a;
mov.u32 %r3, b;
ld.param.u64 %rd1, [a_bits]; ld.param.u64 %rd2, [b_bits];
ld.param.u32 %r4, [a_words]; ld.param.u32 %r5, [b_words];
mov.u32 %r11, %ctaid.x;
mul.lo.u32 %r12, %r11, %r4; mad.wide.u32 %rd1, %r12, 4, %rd1;
mul.lo.u32 %r12, %r11, %r5; mad.wide.u32 %rd2, %r12, 4, %rd2;
mov.u32 %r6, %r1;
COPY_A:
setp.ge.u32 %p1, %r6, %r4; @%p1 bra A_DONE;
mad.wide.u32 %rd3, %r6, 4, %rd1; ld.global.b32 %r7, [%rd3]; mad.lo.u32 %r8, %r6, 4, %r2; st.shared.b32 [%r8], %r7;
add.u32 %r6, %r6, 128; bra COPY_A;
A_DONE:
mov.u32 %r6, %r1;
COPY_B:
setp.ge.u32 %p1, %r6, %r5; @%p1 bra B_DONE;
mad.wide.u32 %rd3, %r6, 4, %rd2; ld.global.b32 %r7, [%rd3]; mad.lo.u32 %r8, %r6, 4, %r3; st.shared.b32 [%r8], %r7;
add.u32 %r6, %r6, 128; bra COPY_B;
B_DONE:
fence.proxy.async;
bar.sync 0;
ld.param.u64 %rd5, [a_form]; ld.param.u64 %rd6, [b_form];
shr.u32 %r9, %r2, 4; cvt.u64.u32 %rd9, %r9; add.s64 %rd5, %rd5, %rd9;
shr.u32 %r9, %r3, 4; cvt.u64.u32 %rd9, %r9; add.s64 %rd6, %rd6, %rd9;
ld.param.u32 %r10, [scaled]; setp.ne.u32 %p2, %r10, 0;
ld.param.u64 %rd8, [d_bits]; mad.wide.u32 %rd8, %r1, 4, %rd8;
mul.lo.u32 %r12, %r11, {512 * values}; cvt.u64.u32 %rd10, %r12; add.s64 %rd8, %rd8, %rd10;
{loads}
{starts}
{metadata}
wgmma.fence.sync.aligned;
{name} {{{d}}}, {a}, %rd6{sparse}, %p2{trailing};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{stores}
ret;
}}
"""


def run(text, a, b, d, a_form, b_form, scaled):
    """Run the module on bytes; the accumulators [registers, 128] as they stand afterwards."""
    forms = [0 if form is None else SharedMatrix(0, swizzle=swizzle, **form).bits for form, swizzle in (a_form, b_form)]
    a_words = 0 if a_form[0] is None else a.size // 4
    args = [a.view(np.uint32), b.view(np.uint32), d, a_words, b.size // 4, *forms, scaled]
    simulate(parse(text), grid=1, block=128, args=args).raise_findings()
    return d


def accumulators(matrix):
    """[64, N] of 32-bit values as the registers [N / 2, 128] of the manual's picture."""
    columns = matrix.shape[1]
    held = np.zeros((columns // 2, 128), matrix.dtype)
    for thread in range(128):
        for value in range(columns // 2):
            row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (value >> 1 & 1)
            held[value, thread] = matrix[row, 8 * (value >> 2) + 2 * (thread % 4) + (value & 1)]
    return held


def bits_of(rng, element, shape):
    """Random bits of a format, without infinities and NaNs."""
    if element == "f16":
        return rng.standard_normal(shape).astype(np.float16).view(np.uint16)
    if element == "bf16":
        return (rng.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if element == "tf32":
        return rng.standard_normal(shape).astype(np.float32).view(np.uint32)
    if element in ("e4m3", "e5m2"):
        return (rng.integers(0, 0x78, shape) | rng.integers(0, 2, shape) << 7).astype(np.uint8)
    return rng.integers(0, 256, shape).astype(np.uint8)


def exact(bits, element):
    """The values of bits as float64."""
    match element:
        case "tf32":
            return (bits & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
        case "s8":
            return bits.view(np.int8).astype(np.float64)
        case "u8":
            return bits.astype(np.float64)
    return decoded(bits, FORMATS[element]) if element != "f16" else bits.view(np.float16).astype(np.float64)


FLOATS = [("f16", "f16"), ("bf16", "bf16"), ("tf32", "tf32"), ("e4m3", "e5m2"), ("e5m2", "e5m2")]


@pytest.mark.parametrize("swizzle", SWIZZLES)
@pytest.mark.parametrize("atype, btype", FLOATS)
def test_floats_equal_the_arithmetic_of_the_record(atype, btype, swizzle):
    rng = np.random.default_rng(7)
    depth, columns = {"f16": 16, "bf16": 16, "tf32": 8}.get(atype, 32), 24
    a, b = bits_of(rng, atype, (64, depth)), bits_of(rng, btype, (columns, depth))
    c = rng.standard_normal((64, columns)).astype(np.float32)
    a_bytes, a_form = k_major(a.view(np.uint8).reshape(64, 32), swizzle)
    b_bytes, b_form = k_major(b.view(np.uint8).reshape(columns, 32), swizzle)
    trailing = ", 1, 1, 0, 0" if depth == 16 else ", 1, 1"
    name = f"wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.f32.{atype}.{btype}"
    text = kernel(name, "f32", columns // 2, trailing)
    assert verdict(text, SM_90A).ok
    d = accumulators(c).view(np.uint32).copy()
    made = run(text, a_bytes, b_bytes, d, (a_form, swizzle), (b_form, swizzle), 1)
    record = numerics(SM_90A, "wgmma", f"m64n{columns}k{depth}", atype)
    left, right = exact(a, atype), exact(b, btype)
    least = {"f16": -14, "bf16": -126, "tf32": -126, "e4m3": -6, "e5m2": -14}
    wanted = chained(
        operand(np.ascontiguousarray(left.T)[..., None], least[atype]),
        operand(np.ascontiguousarray(right.T)[..., None], least[btype]), c[..., None], record, False,
    )[..., 0]  # fmt: skip
    assert np.array_equal(made, accumulators(wanted).view(np.uint32))
    near = left @ right.T + c
    assert np.abs(made.view(np.float32) - accumulators(near)).max() <= 2.0**-11 * np.abs(near).max()


@pytest.mark.parametrize("a_across, b_across", [(0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_matrices_that_are_contiguous_along_their_rows(swizzle, a_across, b_across):
    rng = np.random.default_rng(3)
    a, b = rng.integers(-4, 5, (64, 16)).astype(np.float16), rng.integers(-4, 5, (64, 16)).astype(np.float16)
    parts = []
    for matrix, transposed in ((a, a_across), (b, b_across)):
        bits = matrix.view(np.uint16)
        parts.append(across(np.ascontiguousarray(bits.T), swizzle) if transposed
                     else k_major(bits.view(np.uint8).reshape(64, 32), swizzle))  # fmt: skip
    name = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
    text = kernel(name, "f32", 32, f", 1, -1, {a_across}, {b_across}")
    d = accumulators(np.full((64, 64), 3, np.float32)).view(np.uint32).copy()
    made = run(text, parts[0][0], parts[1][0], d, (parts[0][1], swizzle), (parts[1][1], swizzle), 0)
    wanted = -(a.astype(np.float32) @ b.astype(np.float32).T)
    assert np.array_equal(made.view(np.float32), accumulators(wanted))


@pytest.mark.parametrize("scaled", [0, 1])
@pytest.mark.parametrize("columns", [8, 40, 256])
def test_a_in_registers_and_sums_of_halves(columns, scaled):
    rng = np.random.default_rng(columns)
    a, b = rng.integers(-4, 5, (64, 16)).astype(np.float16), rng.integers(-4, 5, (columns, 16)).astype(np.float16)
    held = np.zeros((4, 128, 2), np.float16)
    for thread in range(128):
        group, pair = thread % 32 // 4, thread % 4
        for register in range(4):
            row = 16 * (thread // 32) + group + 8 * (register & 1)
            column = 2 * pair + 8 * (register >> 1)
            held[register, thread] = a[row, column : column + 2]
    b_bytes, b_form = k_major(b.view(np.uint8).reshape(columns, 32), Swizzle.BYTES_32)
    name = f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f16.f16.f16"
    text = kernel(name, "b32", columns // 4, ", 1, 1, 0", a_registers=4)
    assert verdict(text, SM_90A).ok
    start = rng.integers(-9, 10, (64, columns)).astype(np.float16)
    d = accumulators(np.ascontiguousarray(start)).reshape(columns // 4, 2, 128).transpose(0, 2, 1)
    d = np.ascontiguousarray(d).view(np.uint32)[..., 0].copy()
    a_bytes = held.view(np.uint8).reshape(-1)
    made = run(text, a_bytes, b_bytes, d, (None, Swizzle.NONE), (b_form, Swizzle.BYTES_32), scaled)
    wanted = a.astype(np.float64) @ b.astype(np.float64).T + scaled * start.astype(np.float64)
    halves = accumulators(wanted.astype(np.float16)).reshape(columns // 4, 2, 128).transpose(0, 2, 1)
    assert np.array_equal(made, np.ascontiguousarray(halves).view(np.uint32)[..., 0])


@pytest.mark.parametrize("atype, btype", [("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8")])
def test_bytes_are_exact_and_saturate(atype, btype):
    rng = np.random.default_rng(11)
    a, b = bits_of(rng, atype, (64, 32)), bits_of(rng, btype, (16, 32))
    c = rng.integers(-(1 << 31), 1 << 31, (64, 16)).astype(np.int32)
    a_bytes, a_form = k_major(a, Swizzle.NONE)
    b_bytes, b_form = k_major(b, Swizzle.BYTES_64)
    text = kernel(f"wgmma.mma_async.sync.aligned.m64n16k32.satfinite.s32.{atype}.{btype}", "b32", 8, "")
    assert verdict(text, SM_90A).ok
    d = accumulators(c).view(np.uint32).copy()
    made = run(text, a_bytes, b_bytes, d, (a_form, Swizzle.NONE), (b_form, Swizzle.BYTES_64), 1)
    wanted = np.clip(exact(a, atype) @ exact(b, btype).T + c, -(1 << 31), (1 << 31) - 1).astype(np.int32)
    assert np.array_equal(made.view(np.int32), accumulators(wanted))


def test_bits_count_common_ones():
    rng = np.random.default_rng(13)
    a, b = bits_of(rng, "b1", (64, 32)), bits_of(rng, "b1", (8, 32))
    a_bytes, a_form = k_major(a, Swizzle.BYTES_32)
    b_bytes, b_form = k_major(b, Swizzle.BYTES_32)
    text = kernel("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc", "b32", 4, "")
    assert verdict(text, SM_90A).ok
    d = np.zeros((4, 128), np.uint32)
    made = run(text, a_bytes, b_bytes, d, (a_form, Swizzle.BYTES_32), (b_form, Swizzle.BYTES_32), 0)
    wanted = np.bitwise_count(a[:, None] & b[None]).sum(axis=2).astype(np.int32)
    assert np.array_equal(made.view(np.int32), accumulators(wanted))
