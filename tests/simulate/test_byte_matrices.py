"""`ldmatrix` and `stmatrix` of bytes, also unpacked ones, against the manual's formulas."""

import numpy as np
import pytest

from isa.types import b32
from ptxgen.build import Module, pointer
from ptxgen.simulate import simulate

LANE = np.arange(32)
GROUP, THREAD = LANE >> 2, LANE & 3
ROW = 32  # bytes from row to row in shared memory


def loaded(name: str, rows: np.ndarray, lanes: int, registers: int) -> np.ndarray:
    """What a load makes of rows of 16 bytes [lanes, 16], as bytes [32, registers, 4]; the last row lies first."""
    module = Module("sm_100a")
    with module.kernel("one", rows=pointer(b32), out=pointer(b32)) as k:
        memory = k.shared(b32, 32 * ROW // 4)
        start = k.mov.u32(memory)
        place = k.mad.lo.u32(k.sub.u32(lanes - 1, k.tid.x), ROW, start)
        source = k.add.s64(k.args.rows, k.mul.wide.u32(k.tid.x, 16))
        with k.when(k.setp.lt.u32(k.tid.x, lanes)):
            k.emit("st.shared.v4.b32", place, k.emit("ld.global.v4.b32", source))
        k.bar.warp.sync(0xFFFFFFFF)
        made = k.emit(name, place)
        out = k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4 * registers))
        for register, value in enumerate(made if isinstance(made, tuple) else (made,)):
            k.emit("st.global.b32", out + 4 * register, value)
    found = np.zeros((32, registers), np.uint32)
    simulate(module.build(), grid=1, block=32, args=(rows.view(np.uint32), found)).raise_findings()
    return found.view(np.uint8).reshape(32, registers, 4)


def packed(elements: np.ndarray, bits: int) -> np.ndarray:
    """Rows of 16 elements in 16 bytes each, what is left over filled with ones."""
    if bits == 8:
        return elements
    each = np.unpackbits(elements[..., None], axis=-1, count=bits, bitorder="little").reshape(len(elements), -1)
    rest = np.ones((len(elements), 128 - each.shape[1]), np.uint8)
    return np.packbits(np.concatenate([each, rest], axis=1), axis=1, bitorder="little")


FORMATS = [("b8", 8), ("b8x16.b6x16_p32", 6), ("b8x16.b4x16_p64", 4)]


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("element, bits", FORMATS)
def test_square_matrices_come_turned(element, bits, number):
    rng = np.random.default_rng(bits)
    elements = rng.integers(0, 1 << bits, (16 * number, 16)).astype(np.uint8)
    name = f"ldmatrix.sync.aligned.m16n16.x{number}.trans.shared.{element}"
    found = loaded(name, packed(elements, bits), 16 * number, 2 * number)
    for matrix in range(number):
        own = elements[16 * matrix : 16 * matrix + 16]
        for register in range(2):
            wanted = own[4 * THREAD[:, None] + np.arange(4), GROUP[:, None] + 8 * register]
            assert np.array_equal(found[:, 2 * matrix + register], wanted)


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("element, bits", FORMATS[1:])
def test_rows_of_eight_are_unpacked(element, bits, number):
    rng = np.random.default_rng(bits)
    elements = rng.integers(0, 1 << bits, (8 * number, 16)).astype(np.uint8)
    name = f"ldmatrix.sync.aligned.m8n16.x{number}.shared.{element}"
    found = loaded(name, packed(elements, bits), 8 * number, number)
    for matrix in range(number):
        wanted = elements[8 * matrix + GROUP[:, None], 4 * THREAD[:, None] + np.arange(4)]
        assert np.array_equal(found[:, matrix], wanted)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_accumulators_are_stored_turned(number):
    rng = np.random.default_rng(number)
    values = rng.integers(0, 1 << 32, (32, number), np.uint32)
    module = Module("sm_100a")
    with module.kernel("one", values=pointer(b32), out=pointer(b32)) as k:
        memory = k.shared(b32, 32 * ROW // 4)
        place = k.mad.lo.u32(k.tid.x, ROW, k.mov.u32(memory))
        source = k.add.s64(k.args.values, k.mul.wide.u32(k.tid.x, 4 * number))
        registers = tuple(k.emit("ld.global.b32", source + 4 * n) for n in range(number))
        k.emit(f"stmatrix.sync.aligned.m16n8.x{number}.trans.shared.b8", place, registers)
        k.bar.warp.sync(0xFFFFFFFF)
        with k.when(k.setp.lt.u32(k.tid.x, 8 * number)):
            out = k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 16))
            k.emit("st.global.v4.b32", out, k.emit("ld.shared.v4.b32", place))
    found = np.zeros((8 * number, 16), np.uint8)
    simulate(module.build(), grid=1, block=32, args=(values, found.view(np.uint32))).raise_findings()
    wanted = np.zeros_like(found)
    for matrix in range(number):
        each = np.ascontiguousarray(values[:, matrix, None]).view(np.uint8)
        for element in range(4):
            wanted[8 * matrix + 2 * THREAD + element % 2, GROUP + 8 * (element // 2)] = each[:, element]
    assert np.array_equal(found, wanted)
