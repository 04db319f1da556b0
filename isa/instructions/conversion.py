"""Conversion between types: `cvt` and `cvt.pack`."""

from __future__ import annotations

from attrs import evolve

from isa.availability import Availability, since
from isa.derive import by, whole
from isa.instructions.vocabulary import FAMILY, FTZ, RELU_80, RUBIN, SAT, SPECIFIC, value, written
from isa.operands import OperandKind, Role
from isa.rows import Line, Operand, family, flag, line, rule, slot, table, word
from isa.types import b8, b16, b32, f32, s32, u32

_INTEGER = "u8 u16 u32 u64 s8 s16 s32 s64"
_FLOAT = "f16 f32 f64"
DTYPE, ATYPE = slot("dtype", f"{_INTEGER} {_FLOAT}"), slot("atype", f"{_INTEGER} {_FLOAT}")
TO_INTEGER = slot("irnd", "rni rzi rmi rpi")
TO_FLOAT = slot("frnd", "rn rz rm rp")
NEAREST, EITHER = TO_FLOAT.of("rn"), TO_FLOAT.of("rn", "rz")
FROM_F32 = slot("atype", "f32")
BF16_TO, BF16_FROM = slot("dtype", "bf16"), slot("atype", "bf16")
RELU = flag("relu")
SATFINITE, SATFINITE_MAYBE = word("satfinite"), flag("satfinite", since("8.1"))
_SUB_BYTE = since("6.5", 75)
PACKED_DTYPE = slot("dtype", "u8 s8 u4 s4 u2 s2", u4=_SUB_BYTE, s4=_SUB_BYTE, u2=_SUB_BYTE, s2=_SUB_BYTE)
SCALED = flag("scaled::n2::ue8m0")
SCALED_TOGETHER = flag("scaled::n1::ue8m0", RUBIN)

NARROW_SINCE = since("7.8", 90) | since("8.1", 89)
TINY_SINCE = since("8.6", SPECIFIC) | since("8.8", FAMILY)
TINY_FROM_PAIRS = since("9.1", SPECIFIC, FAMILY)
TINY_TO_BF16 = since("9.2", SPECIFIC, FAMILY)
STOCHASTIC_SINCE = since("8.7", "sm_100a sm_103a sm_107a")
FIXED_SINCE = since("9.1", "sm_100a sm_103a sm_107a sm_110a sm_120a sm_121a")
DOWN = slot("frnd", "rn rz", rz=RUBIN)
POSITIVE_ZERO = flag("pzo", RUBIN)
WIDE_UNSIGNED = slot("dtype", "ue5m3x2")
BYTES = "e4m3x2 e5m2x2"
TINY = "e2m1x2 e2m3x2 e3m2x2"

_CONVERTED = Operand("d", Role.WRITE, OperandKind.REGISTER, by("dtype"), wide=True)
_CONVERTIBLE = Operand("a", Role.READ, OperandKind.VALUE, by("atype"), wide=True)
_CONVERT = (_CONVERTED, _CONVERTIBLE)
_CONVERT_OR_SPECIAL = (_CONVERTED, evolve(_CONVERTIBLE, special=whole("atype")))
_EXACT = (written("d", by("dtype")), value("a", by("atype")))
_WIDE_A = Operand("a", Role.READ, OperandKind.VALUE, f32, wide=True)
_WIDE_B = Operand("b", Role.READ, OperandKind.VALUE, f32, wide=True)
_PAIR, _SINGLE = (_CONVERTED, _WIDE_A, _WIDE_B), (_CONVERTED, _WIDE_A)
_EXACT_PAIR = (written("d", by("dtype")), value("a", f32), value("b", f32))
_BITS = Operand("rbits", Role.READ, OperandKind.REGISTER, b32, untyped=True)
_FOUR = (
    written("d", by("dtype")), Operand("a", Role.READ, OperandKind.VALUE, f32, 4, immediates=True), _BITS,
)  # fmt: skip
_SCALE = Operand("scale", Role.READ, OperandKind.REGISTER, b16, untyped=True, when=("scaled::n2::ue8m0",))
_ONE_SCALE = Operand("scale", Role.READ, OperandKind.REGISTER, b8, untyped=True, when=("scaled::n1::ue8m0",))

_EVER = since("1.0")
_PLAIN = table(
    "ftz dtype atype",
    (_EVER, "-", _INTEGER, _INTEGER),
    (_EVER, "-", "f16", "f16"),
    (_EVER, "- ftz", "f32", "f16 f32"),
    (_EVER, "-", "f64", "f16 f64"),
    (_EVER, "- ftz", "f64", "f32"),
)
_CLAMPED = table(
    "sat dtype atype",
    (_EVER, "-", _INTEGER, _INTEGER),
    (_EVER, "- sat", _FLOAT, _FLOAT),
    (_EVER, "sat", "u8", "u16 u32 u64 s8 s16 s32 s64"),
    (_EVER, "sat", "u16", "u32 u64 s8 s16 s32 s64"),
    (_EVER, "sat", "u32", "u64 s8 s16 s32 s64"),
    (_EVER, "sat", "u64", "s8 s16 s32 s64"),
    (_EVER, "sat", "s8", "u8 u16 u32 u64 s16 s32 s64"),
    (_EVER, "sat", "s16", "u16 u32 u64 s32 s64"),
    (_EVER, "sat", "s32", "u32 u64 s64"),
    (_EVER, "sat", "s64", "u64"),
)
_ROUNDED = table(
    "ftz dtype atype",
    (_EVER, "-", "f16 f64", _INTEGER),
    (_EVER, "- ftz", "f32", _INTEGER),
    (_EVER, "- ftz", "f32", "f64"),
    (_EVER, "- ftz", "f16", "f32"),
    (_EVER, "-", "f16", "f64"),
)
_TO_WHOLE = table(
    "ftz dtype atype",
    (_EVER, "-", _INTEGER, _FLOAT),
    (_EVER, "ftz", _INTEGER, "f32"),
    (_EVER, "-", "f16", "f16"),
    (_EVER, "- ftz", "f32", "f32"),
    (_EVER, "-", "f64", "f64"),
)
_FROM_BF16 = table(
    "ftz dtype atype",
    (since("7.1", 80), "-", "f32", "bf16"),
    (since("7.8", 90), "ftz", "f32", "bf16"),
    (since("7.8", 90), "-", "f64 bf16", "bf16"),
)


_NEWEST = (SCALED_TOGETHER, POSITIVE_ZERO)
_NOT_UPWARDS = rule(when={"frnd": "rp"}, only={"scaled::n1::ue8m0": "-"})


def _packed(dtype: str, first: Availability, from_pairs: Availability) -> tuple[Line, ...]:
    """Two numbers of 4, 6 or 8 bits from f32 and from pairs of halves, and back into pairs."""
    both, back = slot("dtype", dtype), slot("atype", dtype)
    return (
        line(DOWN, SATFINITE, RELU, *_NEWEST, both, FROM_F32, operands=(*_EXACT_PAIR, _ONE_SCALE), since=first),
        line(DOWN, SATFINITE, RELU, *_NEWEST, both, slot("atype", "f16x2"), operands=(*_EXACT, _ONE_SCALE),
             since=from_pairs),
        line(DOWN, SATFINITE, RELU, *_NEWEST, both, slot("atype", "bf16x2"), operands=(*_EXACT, _ONE_SCALE),
             since=TINY_FROM_PAIRS),
        line(NEAREST, RELU, slot("dtype", "f16x2"), back, operands=_EXACT, since=first),
        line(NEAREST, flag("satfinite"), RELU, SCALED, slot("dtype", "bf16x2"), back, operands=(*_EXACT, _SCALE),
             since=TINY_TO_BF16),
    )  # fmt: skip


FAMILIES = (
    family(
        "cvt",
        line(FTZ, SAT, DTYPE, ATYPE, operands=_CONVERT_OR_SPECIAL, rules=(_PLAIN, _CLAMPED)),
        line(TO_INTEGER, FTZ, SAT, DTYPE, ATYPE, operands=_CONVERT, rules=(_TO_WHOLE,)),
        line(TO_FLOAT, FTZ, SAT, DTYPE, ATYPE, operands=_CONVERT, rules=(_ROUNDED,)),
        line(FTZ, slot("dtype", "f32 f64 bf16"), BF16_FROM, operands=_EXACT, rules=(_FROM_BF16,)),
        line(TO_INTEGER, slot("dtype", f"{_INTEGER} bf16"), BF16_FROM, operands=_EXACT, since=since("7.8", 90)),
        line(TO_FLOAT, BF16_TO, slot("atype", f"{_INTEGER} f16 f64"), operands=_EXACT, since=since("7.8", 90)),
        line(TO_FLOAT, slot("dtype", "f16 f64"), BF16_FROM, operands=_EXACT, since=since("7.8", 90)),
        line(TO_FLOAT, word("pzo", RUBIN), slot("dtype", "f16"), FROM_F32, operands=_SINGLE),
        line(TO_FLOAT, word("pzo", RUBIN), slot("dtype", "bf16"), FROM_F32, operands=_EXACT),
        line(EITHER, word("relu"), SATFINITE_MAYBE, POSITIVE_ZERO, slot("dtype", "f16"), FROM_F32, operands=_SINGLE,
             since=since("7.0", 80)),
        line(EITHER, SATFINITE, POSITIVE_ZERO, slot("dtype", "f16"), FROM_F32, operands=_SINGLE,
             since=since("8.1", 70)),
        line(EITHER, RELU_80, SATFINITE_MAYBE, POSITIVE_ZERO, slot("dtype", "f16x2"), FROM_F32, operands=_PAIR,
             since=since("7.0", 80)),
        line(EITHER, RELU_80, SATFINITE_MAYBE, POSITIVE_ZERO, slot("dtype", "bf16x2"), FROM_F32, operands=_EXACT_PAIR,
             since=since("7.0", 80)),
        line(EITHER, RELU_80, SATFINITE_MAYBE, POSITIVE_ZERO, BF16_TO, FROM_F32, operands=_EXACT,
             since=since("7.0", 80)),
        line(TO_FLOAT.of("rm", "rp"), BF16_TO, FROM_F32, operands=_EXACT, since=since("7.0", 80)),
        line(slot("frnd", "rs"), RELU, flag("satfinite"), slot("dtype", "f16x2"), FROM_F32,
             operands=(*_PAIR, _BITS), since=STOCHASTIC_SINCE),
        line(slot("frnd", "rs"), RELU, flag("satfinite"), slot("dtype", "bf16x2"), FROM_F32,
             operands=(*_EXACT_PAIR, _BITS), since=STOCHASTIC_SINCE),
        line(slot("frnd", "rna"), SATFINITE_MAYBE, slot("dtype", "tf32"), FROM_F32, operands=_EXACT,
             since=since("7.0", 80)),
        line(EITHER, flag("satfinite", since("8.6", 100)), RELU, POSITIVE_ZERO, slot("dtype", "tf32"), FROM_F32,
             operands=_EXACT, since=since("7.8", 90)),
        *_packed(BYTES, NARROW_SINCE, NARROW_SINCE),
        *_packed(TINY, TINY_SINCE, TINY_FROM_PAIRS),
        line(slot("frnd", "rs"), RELU, SATFINITE, slot("dtype", "e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4"), FROM_F32,
             operands=_FOUR, since=STOCHASTIC_SINCE),
        line(TO_FLOAT.of("rz", "rp"), flag("satfinite"), slot("dtype", "ue8m0x2"), FROM_F32, operands=_EXACT_PAIR,
             since=TINY_SINCE),
        line(TO_FLOAT.of("rz", "rp"), flag("satfinite"), slot("dtype", "ue8m0x2"), slot("atype", "bf16x2"),
             operands=_EXACT, since=TINY_SINCE),
        line(NEAREST, slot("dtype", "bf16x2"), slot("atype", "ue8m0x2"), operands=_EXACT, since=TINY_SINCE),
        line(TO_FLOAT.of("rn", "rz", "rp"), flag("satfinite"), SCALED_TOGETHER, WIDE_UNSIGNED, FROM_F32,
             operands=(*_EXACT_PAIR, _ONE_SCALE), since=RUBIN, rules=(_NOT_UPWARDS,)),
        line(TO_FLOAT.of("rn", "rz", "rp"), flag("satfinite"), SCALED_TOGETHER, WIDE_UNSIGNED,
             slot("atype", "f16x2 bf16x2"), operands=(*_EXACT, _ONE_SCALE), since=RUBIN, rules=(_NOT_UPWARDS,)),
        line(NEAREST, slot("dtype", "f16x2"), slot("atype", "ue5m3x2"), operands=_EXACT, since=RUBIN),
        line(NEAREST, flag("satfinite"), SCALED, slot("dtype", "bf16x2"), slot("atype", "ue5m3x2"),
             operands=(*_EXACT, _SCALE), since=RUBIN),
        line(NEAREST, SATFINITE, RELU, SCALED, slot("dtype", "s2f6x2"), FROM_F32,
             operands=(*_EXACT_PAIR, _SCALE), since=FIXED_SINCE),
        line(NEAREST, SATFINITE, RELU, SCALED, slot("dtype", "s2f6x2"), slot("atype", "bf16x2"),
             operands=(*_EXACT, _SCALE), since=FIXED_SINCE),
        line(NEAREST, flag("satfinite"), RELU, SCALED, slot("dtype", "bf16x2"), slot("atype", "s2f6x2"),
             operands=(*_EXACT, _SCALE), since=FIXED_SINCE),
        about="convert between types",
    ),
    family(
        "cvt.pack",
        line(word("sat"), slot("dtype", "u16 s16"), slot("abtype", "s32"), since=since("6.5", 72),
             operands=(written("d", u32), value("a", s32), value("b", s32))),
        line(word("sat"), PACKED_DTYPE, slot("abtype", "s32"), slot("ctype", "b32"), since=since("6.5", 72),
             operands=(written("d", u32), value("a", s32), value("b", s32), value("c", b32))),
        about="convert two integers with saturation and pack them above the low bits of c",
    ),
)  # fmt: skip
