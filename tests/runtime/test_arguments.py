"""The parameter block, byte for byte, held against the layout of a C struct."""

import ctypes
import struct

import ml_dtypes
import numpy as np
import pytest

from isa.types import Type, b8, b16, b32, b64, f16, f16x2, f32, f64, s8, s32, s64, u8, u16, u32, u64
from ptxgen.errors import LaunchError
from ptxgen.ir import Parameter, PointerFacts, Space
from ptxgen.runtime.arguments import byte_offsets, encode, pack

POINTER = Parameter("a", u64, pointer=PointerFacts(Space.GLOBAL, 16))


class Mixed(ctypes.Structure):
    _fields_ = (
        ("flag", ctypes.c_uint8),
        ("scale", ctypes.c_float),
        ("count", ctypes.c_int16),
        ("address", ctypes.c_uint64),
        ("tail", ctypes.c_int32),
        ("map", ctypes.c_uint8 * 6),
        ("last", ctypes.c_double),
    )


MIXED = (
    Parameter("flag", u8),
    Parameter("scale", f32),
    Parameter("count", b16),
    POINTER,
    Parameter("tail", s32),
    Parameter("map", b8, (6,)),
    Parameter("last", f64),
)


def test_layout_is_that_of_a_c_struct() -> None:
    offsets, size = byte_offsets(MIXED)
    assert offsets == tuple(getattr(Mixed, name).offset for name, _ in Mixed._fields_)
    assert size == ctypes.sizeof(Mixed)


def test_block_is_a_c_struct_byte_for_byte() -> None:
    block = pack("k", MIXED, (200, 1.5, -2, 0xFEDCBA9876543210, -7, b"abcdef", 0.1))
    wanted = Mixed(200, 1.5, -2, 0xFEDCBA9876543210, -7, (ctypes.c_uint8 * 6)(*b"abcdef"), 0.1)
    assert bytes(block.data) == bytes(wanted)
    base = ctypes.addressof(block.data)
    addresses = (ctypes.c_uint64 * len(MIXED)).from_address(block.pointer)
    assert [address - base for address in addresses] == list(byte_offsets(MIXED)[0])


def test_declared_alignment_moves_a_parameter() -> None:
    parameters = (Parameter("n", u32), Parameter("map", b8, (128,), align=64), Parameter("m", u8))
    assert byte_offsets(parameters) == ((0, 64, 192), 193)


def test_a_kernel_without_parameters_has_an_empty_block() -> None:
    assert pack("k", (), ()).pointer == 0


@pytest.mark.parametrize(
    "type_, value, wanted",
    [
        (u32, 0xFFFFFFFF, "ffffffff"),
        (s32, -1, "ffffffff"),
        (b32, -1, "ffffffff"),
        (b32, 0x80000000, "00000080"),
        (s8, -128, "80"),
        (u16, np.uint16(0x1234), "3412"),
        (s64, np.int64(-2), "feffffffffffffff"),
        (f32, 1, "0000803f"),
        (f32, np.float64(0.1), struct.pack("<f", 0.1).hex()),
        (f16, 1.0 + 2.0**-11, "003c"),
        (f16, 1.0 + 3 * 2.0**-11, "023c"),
        (f64, float("-inf"), "000000000000f0ff"),
        (f32, float("nan"), "0000c07f"),
        (b16, np.float16(1.0), "003c"),
        (b16, ml_dtypes.bfloat16(1.0), "803f"),
        (b32, np.float32(1.0), "0000803f"),
        (f16x2, np.array([1.0, -2.0], np.float16), "003c00c0"),
        (f16x2, 0x3C003C00, "003c003c"),
        (b64, b"12345678", b"12345678".hex()),
    ],
)
def test_bytes_of_a_scalar(type_: Type, value: object, wanted: str) -> None:
    assert encode(Parameter("x", type_), value).hex() == wanted


@pytest.mark.parametrize(
    "type_, value, wanted",
    [
        (u32, -1, r"an integer 0 to 4294967295, got -1 \(int\)"),
        (u32, 1 << 32, "an integer 0 to 4294967295"),
        (s32, 1 << 31, "an integer -2147483648 to 2147483647"),
        (u32, 1.0, r"got 1.0 \(float\)"),
        (u32, True, r"got True \(bool\)"),
        (u32, np.zeros((3, 4)), r"got ndarray of shape \(3, 4\)"),
        (b32, -(1 << 31) - 1, "an integer"),
        (f32, "1", "a number, got str"),
        (f32, True, "a number, got True"),
        (f32, 1e39, "a number that f32 can hold"),
        (f16, 65520, "a number that f16 can hold"),
        (b32, b"123", "wants 4 bytes, got 3"),
        (b16, np.float32(1), "wants 2 bytes, got 4"),
        (b64, object(), "wants 8 bytes, got object"),
    ],
)
def test_what_a_scalar_refuses(type_: Type, value: object, wanted: str) -> None:
    with pytest.raises(LaunchError, match=wanted):
        encode(Parameter("x", type_), value)


def test_a_pointer_says_what_it_wants() -> None:
    with pytest.raises(LaunchError, match="wants an array in device memory, a numpy array or an address, got list"):
        encode(POINTER, [1, 2])


def test_every_misfit_is_listed_at_once() -> None:
    with pytest.raises(LaunchError) as caught:
        pack("gemm", (POINTER, Parameter("n", u32), Parameter("map", b8, (4,))), (0, -1, b"123"))
    assert str(caught.value).splitlines() == [
        "kernel gemm: arguments that do not fit",
        "  argument 2 (n, .u32) wants an integer 0 to 4294967295, got -1 (int)",
        "  argument 3 (map, .b8[4]) wants 4 bytes, got 3 (bytes)",
    ]


def test_the_count_is_checked_first() -> None:
    with pytest.raises(LaunchError, match=r"kernel k takes 1 arguments \(n: .u32\), got 2"):
        pack("k", (Parameter("n", u32),), (1, 2))
