"""Integer arithmetic, with the carry chain and the bit fields."""

from __future__ import annotations

from isa.availability import since
from isa.derive import doubled
from isa.instructions.vocabulary import BYTES_SINCE, COUNT_B, COUNT_C, A, B, C, D, value, written
from isa.rows import family, flag, line, slot, word
from isa.types import b32, s32, u32

INTEGER = slot("type", "u16 u32 u64 s16 s32 s64")
SIGNED = slot("type", "s16 s32 s64")
PACKED = slot("type", "u16x2 s16x2", u16x2=since("8.0", 90), s16x2=since("8.0", 90))
WORD = slot("type", "u32 s32")
CARRY = slot("type", "u32 s32 u64 s64", u64=since("4.3"), s64=since("4.3"))
ANY_BITS = slot("type", "b32 b64")
FIELD = slot("type", "u32 u64 s32 s64")
MODE = slot("mode", "hi lo wide")
HALF = slot("mode", "hi lo")
CC = word("cc")
CC_MAYBE = flag("cc")
BINARY = (D, A, B)
TERNARY = (D, A, B, C)
COUNTED = (written("d", u32), A)
WIDE = doubled("type")
SATURATED = slot("type", "s32")
BYTES = slot("type", "u8x4 s8x4")

_NARROW = slot("type", "u16 s16 u32 s32")
_HI_LO = (line(HALF, INTEGER, operands=BINARY), line(MODE.of("wide"), _NARROW, operands=(written("d", WIDE), A, B)))

FAMILIES = (
    family(
        "add",
        line(INTEGER, operands=BINARY),
        line(PACKED, operands=BINARY),
        line(word("sat"), SATURATED, operands=BINARY),
        line(word("sat"), slot("type", "u32 u16x2 s16x2"), operands=BINARY, since=BYTES_SINCE),
        line(flag("sat"), BYTES, operands=BINARY, since=BYTES_SINCE),
        line(CC, CARRY, operands=BINARY),
        about="sum",
    ),
    family("addc", line(CC_MAYBE, CARRY, operands=BINARY), about="sum with carry in"),
    family(
        "sub",
        line(INTEGER, operands=BINARY),
        line(word("sat"), SATURATED, operands=BINARY),
        line(flag("sat"), BYTES, operands=BINARY, since=BYTES_SINCE),
        line(CC, CARRY, operands=BINARY),
        about="difference",
    ),
    family("subc", line(CC_MAYBE, CARRY, operands=BINARY), about="difference with borrow in"),
    family("mul", *_HI_LO, about="product, its high or low half, or all of it"),
    family(
        "mad",
        line(HALF, INTEGER, operands=TERNARY),
        line(MODE.of("wide"), _NARROW, operands=(written("d", WIDE), A, B, value("c", WIDE))),
        line(MODE.of("hi"), word("sat"), SATURATED, operands=TERNARY),
        line(HALF, CC, CARRY, operands=TERNARY),
        about="product plus c",
    ),
    family("madc", line(HALF, CC_MAYBE, CARRY, operands=TERNARY), about="product plus c plus carry"),
    family("mul24", line(HALF, WORD, operands=BINARY), about="product of the low 24 bits"),
    family(
        "mad24",
        line(HALF, WORD, operands=TERNARY),
        line(MODE.of("hi"), word("sat"), SATURATED, operands=TERNARY),
        about="product of the low 24 bits plus c",
    ),
    family("sad", line(INTEGER, operands=TERNARY), about="c plus the absolute difference"),
    family("div", line(INTEGER, operands=BINARY), about="quotient, towards zero"),
    family("rem", line(INTEGER, operands=BINARY), about="remainder, of the dividend's sign"),
    family("abs", line(SIGNED, operands=(D, A)), about="absolute value"),
    family(
        "neg",
        line(SIGNED, operands=(D, A)),
        line(BYTES.of("s8x4"), operands=(D, A), since=BYTES_SINCE),
        about="negation",
    ),
    family(
        "clmad",
        line(HALF, slot("type", "u64"), operands=TERNARY, since=since("9.3", 80)),
        about="carry-less product, its high or low half, xor c",
    ),
    *(
        family(
            opcode,
            line(INTEGER, operands=BINARY),
            line(PACKED, operands=BINARY),
            line(word("relu", since("8.0", 90)), slot("type", "s32 s16x2"), operands=BINARY),
            line(BYTES, operands=BINARY, since=BYTES_SINCE),
            line(word("relu"), BYTES.of("s8x4"), operands=BINARY, since=BYTES_SINCE),
            line(slot("type", "s32 s16x2"), word("relu", since("8.0", 90)), operands=BINARY),
            about=about,
        )
        for opcode, about in (("min", "the smaller"), ("max", "the larger"))
    ),
    family("popc", line(ANY_BITS, operands=COUNTED), about="number of ones"),
    family("clz", line(ANY_BITS, operands=COUNTED), about="number of leading zeros"),
    family("bfind", line(flag("shiftamt"), FIELD, operands=COUNTED), about="place of the highest non-sign bit"),
    family(
        "fns",
        line(
            slot("type", "b32"),
            operands=(written("d", b32), value("mask", b32), value("base", b32), value("offset", s32)),
            since=since("6.0", 30),
        ),
        about="place of the n-th one",
    ),
    family("brev", line(ANY_BITS, operands=(D, A)), about="bits in reverse"),
    family("bfe", line(FIELD, operands=(D, A, COUNT_B, COUNT_C)), about="extract the field at b of length c"),
    family(
        "bfi",
        line(ANY_BITS, operands=(D, A, B, value("c", u32), value("length", u32))),
        about="insert a into b at c with a length",
    ),
    family(
        "bmsk",
        line(
            slot("mode", "clamp wrap"),
            slot("type", "b32"),
            operands=(written("d", u32), value("a", u32), COUNT_B),
            since=since("7.6", 70),
        ),
        about="mask of b ones from place a",
    ),
    family(
        "szext",
        line(slot("mode", "clamp wrap"), WORD, operands=(D, A, COUNT_B), since=since("7.6", 70)),
        about="sign or zero extend from b bits",
    ),
    family(
        "dp4a",
        line(
            slot("atype", "u32 s32"),
            slot("btype", "u32 s32"),
            operands=(written("d", u32), value("a", u32), value("b", u32), value("c", u32)),
            since=since("5.0", 61),
        ),
        about="dot product of four bytes plus c",
    ),
    family(
        "dp2a",
        line(
            HALF,
            slot("atype", "u32 s32"),
            slot("btype", "u32 s32"),
            operands=(written("d", u32), value("a", u32), value("b", u32), value("c", u32)),
            since=since("5.0", 61),
        ),
        about="dot product of two halves with two bytes plus c",
    ),
)
