"""What device code prints against the C library's own snprintf."""

import ctypes
import ctypes.util
import random
import struct

import pytest

from ptxgen.simulate.printing import printed

SIZES = {"hh": (ctypes.c_int, 4), "h": (ctypes.c_int, 4), "": (ctypes.c_int, 4), "l": (ctypes.c_long, 8),
         "ll": (ctypes.c_longlong, 8)}  # fmt: skip
NUMBERS = [0, 1, -1, 7, -8, 255, 65535, 1 << 31, (1 << 31) - 1, -(1 << 31), 1 << 40, -(1 << 63), (1 << 63) - 1]
DOUBLES = [0.0, -0.0, 1.0, -2.5, 1e-5, 123456789.125, 1e300, 5e-324, float("inf"), float("-inf"), 0.1]
STRINGS = ["", "a", "a word", "percent % sign"]


@pytest.fixture(scope="module")
def libc() -> ctypes.CDLL:
    name = ctypes.util.find_library("c")
    if name is None:
        pytest.skip("no C library to ask")
    return ctypes.CDLL(name)


def one(kind: str, drawn: random.Random) -> tuple[str, object, bytes]:
    """A conversion, its argument for C, and the argument as device code lays it out."""
    flags = "".join(sorted({drawn.choice("-+ #0") for _ in range(drawn.randint(0, 2))}))
    width = drawn.choice(["", "", "1", "6", "12"])
    precision = drawn.choice(["", "", ".", ".0", ".3", ".9"])
    if kind in "diuoxX":
        size = drawn.choice(list(SIZES))
        c_type, width_bytes = SIZES[size]
        value = drawn.choice(NUMBERS) % (1 << 8 * width_bytes)
        return f"%{flags}{width}{precision}{size}{kind}", c_type(value), value.to_bytes(width_bytes, "little")
    if kind == "c":
        letter = drawn.choice("azA9%")
        return f"%{flags.replace('0', '')}{width}c", ctypes.c_int(ord(letter)), ord(letter).to_bytes(4, "little")
    if kind == "s":
        place = drawn.randrange(len(STRINGS))
        return f"%{flags.replace('0', '')}{width}{precision}s", STRINGS[place].encode(), place.to_bytes(8, "little")
    number = drawn.choice(DOUBLES)
    if kind in "aA":
        return f"%{width}{kind}", ctypes.c_double(number), struct.pack("<d", number)
    return f"%{flags}{width}{precision}{kind}", ctypes.c_double(number), struct.pack("<d", number)


@pytest.mark.parametrize("seed", range(60))
def test_as_the_c_library_prints(seed: int, libc: ctypes.CDLL):
    drawn = random.Random(seed)
    form, given, data = "start ", [], b""
    for _ in range(12):
        text, argument, raw = one(drawn.choice("diuoxXcseEfFgGaA"), drawn)
        form += f"[{text}] %% "
        given.append(argument)
        data = data.ljust(-(-len(data) // len(raw)) * len(raw), b"\0") + raw
    buffer = ctypes.create_string_buffer(8192)
    libc.snprintf(buffer, len(buffer), form.encode(), *given)
    found, count = printed(form, lambda offset, size: data[offset : offset + size], lambda place: STRINGS[place])
    assert found == buffer.value.decode()
    assert count == 12
