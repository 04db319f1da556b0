"""`mma` through the fragment layouts of the manual's tables, against products added up in the recorded way."""

from itertools import product

import numpy as np
import pytest

from isa.types import b32
from ptxgen.build import Module, pointer
from ptxgen.errors import KernelError
from ptxgen.simulate import simulate
from tests.simulate.test_tensor import by_the_book, toward_zero


def mma_kernel(name: str, counts: tuple[int, int, int, int], target: str) -> Module:
    """Every lane loads its registers of A, B and C as words, and stores those of D."""
    module = Module(target)
    d, a, b, c = counts
    typed = name.split(".")
    with module.kernel("product", a=pointer(b32), b=pointer(b32), c=pointer(b32), d=pointer(b32)) as k:

        def fragment(base, count, element):
            address = k.add.s64(base, k.mul.wide.u32(k.tid.x, 4 * count))
            load = k.ld.global_.f32 if element == "f32" else k.ld.global_.b32
            return tuple(load(address + 4 * place) for place in range(count))

        left, right = fragment(k.args.a, a, "f16"), fragment(k.args.b, b, "f16")
        out = k.emit(name, left, right, fragment(k.args.c, c, typed[-1]))
        address = k.add.s64(k.args.d, k.mul.wide.u32(k.tid.x, 4 * d))
        store = k.st.global_.f32 if typed[-4] == "f32" else k.st.global_.b32
        for place in range(d):
            store(address + 4 * place, out[place])
    return module


VOLTA = {
    "row a": lambda lane, i: (lane % 4 + 4 * (lane >> 4), i),
    "col a": lambda lane, i: (i + 4 * (lane >> 4), lane % 4),
    "row b": lambda lane, i: (lane % 4, i + 4 * (lane >> 4)),
    "col b": lambda lane, i: (i, lane % 4 + 4 * (lane >> 4)),
    "f16": lambda lane, i: (lane % 4 + 4 * (lane >> 4), i),
    "f32": lambda lane, i: ((lane & 1) + (i & 2) + 4 * (lane >> 4), (i & 4) + (lane & 2) + (i & 1)),
}


@pytest.mark.parametrize("a_layout, b_layout", list(product(("row", "col"), repeat=2)))
@pytest.mark.parametrize("d_type, c_type", [("f32", "f32"), ("f16", "f16"), ("f32", "f16")])
@pytest.mark.parametrize("warps", [1, 3])
def test_volta(a_layout, b_layout, d_type, c_type, warps):
    rng = np.random.default_rng(1)
    lanes = 32 * warps
    a, b = (rng.standard_normal((lanes, 4)).astype(np.float16) for _ in range(2))
    c = rng.standard_normal((lanes, 8)).astype({"f32": np.float32, "f16": np.float16}[c_type])
    d = np.zeros((lanes, 8), {"f32": np.float32, "f16": np.float16}[d_type])
    words = {"f32": 8, "f16": 4}
    name = f"mma.sync.aligned.m8n8k4.{a_layout}.{b_layout}.{d_type}.f16.f16.{c_type}"
    module = mma_kernel(name, (words[d_type], 2, 2, words[c_type]), "sm_70").build()
    simulate(module, grid=1, block=lanes, args=(a, b, c, d)).raise_findings()
    for warp, quad in product(range(warps), range(4)):
        own = [lane for lane in range(32) if lane >> 2 & 3 == quad]
        rows = np.zeros((8, 4), np.float16)
        columns = np.zeros((4, 8), np.float16)
        addend = np.zeros((8, 8), c.dtype)
        for lane in own:
            for i in range(4):
                rows[VOLTA[f"{a_layout} a"](lane, i)] = a[32 * warp + lane, i]
                columns[VOLTA[f"{b_layout} b"](lane, i)] = b[32 * warp + lane, i]
            for i in range(8):
                addend[VOLTA[c_type](lane, i)] = c[32 * warp + lane, i]
        for lane, i in product(own, range(8)):
            row, column = VOLTA[d_type](lane, i)
            least = -126 if c_type == "f32" else -14
            exact = by_the_book(rows[row].tolist(), columns[:, column].tolist(), float(addend[row, column]), 23, least)
            wanted = toward_zero(exact) if d_type == "f32" else np.float16(float(exact))
            assert d[32 * warp + lane, i] == wanted


@pytest.mark.parametrize("shape, target", [("m16n8k8", "sm_80"), ("m16n8k16", "sm_80"), ("m16n8k16", "sm_90")])
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_ampere_and_hopper(shape, target, element):
    depth = int(shape.split("k")[1])
    rng = np.random.default_rng(2)
    a, b = rng.integers(-8, 9, (16, depth)).astype(np.float16), rng.integers(-8, 9, (depth, 8)).astype(np.float16)
    dtype = {"f32": np.float32, "f16": np.float16}[element]
    c = rng.integers(-8, 9, (16, 8)).astype(dtype)
    held_a, held_b, held_c = (
        np.zeros((32, depth // 2), np.float16),
        np.zeros((32, depth // 4), np.float16),
        np.zeros((32, 4), dtype),
    )
    for lane in range(32):
        group, thread = lane >> 2, lane & 3
        for i in range(depth // 2):
            register, j = divmod(i, 2)
            held_a[lane, i] = a[group + 8 * (register & 1), 2 * thread + j + 8 * (register >> 1)]
        for i in range(depth // 4):
            register, j = divmod(i, 2)
            held_b[lane, i] = b[2 * thread + j + 8 * register, group]
        for i in range(4):
            held_c[lane, i] = c[group + 8 * (i >> 1), 2 * thread + (i & 1)]
    d = np.zeros((32, 4), dtype)
    counts = (4 if element == "f32" else 2, depth // 4, depth // 8, 4 if element == "f32" else 2)
    name = f"mma.sync.aligned.{shape}.row.col.{element}.f16.f16.{element}"
    simulate(
        mma_kernel(name, counts, target).build(), grid=1, block=32, args=(held_a, held_b, held_c, d)
    ).raise_findings()
    wanted = a.astype(np.float64) @ b.astype(np.float64) + c
    for lane, i in product(range(32), range(4)):
        assert d[lane, i] == wanted[(lane >> 2) + 8 * (i >> 1), 2 * (lane & 3) + (i & 1)]


def test_operands_of_a_chain_are_told_apart():
    """D = A1 * B + (A2 * B + 0): two products with different A in one kernel."""
    module = Module("sm_70")
    with module.kernel("chain", a=pointer(b32), b=pointer(b32), d=pointer(b32)) as k:
        left = k.add.s64(k.args.a, k.mul.wide.u32(k.tid.x, 16))
        right = k.ld.global_.v2.b32(k.add.s64(k.args.b, k.mul.wide.u32(k.tid.x, 8)))
        total = tuple(k.mov.f32(0.0) for _ in range(8))
        for half in range(2):
            part = k.ld.global_.v2.b32(left + 8 * half)
            total = k.mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32(part, right, total)
        out = k.add.s64(k.args.d, k.mul.wide.u32(k.tid.x, 32))
        for place in range(8):
            k.st.global_.f32(out + 4 * place, total[place])
    a = np.zeros((32, 8), np.float16)
    a[:, :4], a[:, 4:] = 1, 100
    b, d = np.ones((32, 4), np.float16), np.zeros((32, 8), np.float32)
    simulate(module.build(), grid=1, block=32, args=(a, b, d)).raise_findings()
    assert (d == 404).all()


def test_an_unsettled_target_is_refused_by_name():
    module = mma_kernel("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", (8, 2, 2, 8), "sm_70").build()
    arrays = [np.zeros((32, 8), np.float32)] * 4
    with pytest.raises(KernelError, match="8 or 4"):
        simulate(module, grid=1, block=32, args=arrays, target="sm_75")


def test_a_product_by_half_a_warp_is_a_finding():
    module = mma_kernel("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", (8, 2, 2, 8), "sm_70").build()
    arrays = [np.zeros((32, 8), np.float32) for _ in range(4)]
    report = simulate(module, grid=1, block=16, args=arrays)
    assert [finding.code for finding in report.findings] == ["warp.divergent"]
