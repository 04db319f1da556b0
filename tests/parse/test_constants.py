"""Constant expressions: their values are those that ptxas computes."""

import struct
from pathlib import Path

import pytest

from ptxgen.errors import PtxSyntaxError
from ptxgen.ir import Instruction, Int
from tests.parse.cubin import machine_code
from tests.parse.programs import statements

VALUES = [
    ("(1<<4)+3*2", 22),
    ("2+3*4", 14),
    ("(2+3)*4", 20),
    ("7/2", 3),
    ("-7/2", -3),
    ("7 % 4", 3),
    ("-7 % 4", 1),
    ("10-3-2", 5),
    ("1<<3<<2", 32),
    ("256>>2>>1", 32),
    ("-8>>1", -4),
    ("6&3", 2),
    ("6|3", 7),
    ("6^3", 5),
    ("1|2^3&4", 3),
    ("~5", -6),
    ("~0&0xFF", 255),
    ("!5", 0),
    ("!0", 1),
    ("3<4", 1),
    ("4<=3", 0),
    ("3==3", 1),
    ("3!=3", 0),
    ("1&&2", 1),
    ("0||0", 0),
    ("1?10:20", 10),
    ("0?10:0?20:30", 30),
    ("(.s64)5", 5),
    ("(.u64)-1 > 0", 1),
    ("(.s64)(.u64)-1 > 0", 0),
    ("-1 > 0", 0),
    ("-1 > 0U", 1),
    ("0x10+010+0b11", 27),
    ("WARP_SZ*2", 64),
    ("- -3", 3),
    ("+3", 3),
    ("0x7FFFFFFFFFFFFFFF", 0x7FFFFFFFFFFFFFFF),
    ("0xFFFFFFFFFFFFFFFF", 0xFFFFFFFFFFFFFFFF),
    ("9223372036854775807+1", -(1 << 63)),
    ("1.5 < 2.5", 1),
]


@pytest.mark.parametrize("text, value", VALUES, ids=[text for text, _ in VALUES])
def test_the_value(text: str, value: int) -> None:
    (read,) = statements(f"mov.b64 %rd1, {text};")
    assert isinstance(read, Instruction)
    assert read.operands[1] == Int(value)


def test_ptxas_computes_the_same(tmp_path: Path) -> None:
    """The expressions as initial values of an array: what ptxas puts into its data are our values."""
    values = ", ".join(text for text, _ in VALUES)
    text = f".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .b64 v[{len(VALUES)}] = {{{values}}};\n"
    data = machine_code(text, tmp_path, "sm_80")[".nv.global.init"]
    assert list(struct.unpack(f"<{len(VALUES)}Q", data)) == [value % (1 << 64) for _, value in VALUES]


@pytest.mark.parametrize(
    "text, words",
    [
        ("1/0", "division by zero"),
        ("1.5+2", "an integer or a 0f constant"),
        ("1.5&2.5", "takes integers"),
        ("~1.5", "a float in an expression of integers"),
        ("0x10000000000000000", "does not fit in 64 bits"),
        ("(1", "')'"),
        ("1+", "a constant"),
    ],
)
def test_what_has_no_value(text: str, words: str) -> None:
    with pytest.raises(PtxSyntaxError, match=words.replace("(", r"\(").replace(")", r"\)")):
        statements(f"mov.b64 %rd1, {text};")
