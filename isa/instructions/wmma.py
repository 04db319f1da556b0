"""The first warp-level matrix instructions, whose fragments are opaque: `wmma.load`, `wmma.mma`, `wmma.store`."""

from __future__ import annotations

from isa.availability import since, until
from isa.derive import wmma_count, wmma_type
from isa.instructions.matrix import COL, LAYOUT_A, LAYOUT_B, ROW, SYNC
from isa.instructions.vocabulary import ADDRESS, value
from isa.operands import OperandKind, Role
from isa.rows import Constraint, Line, Operand, Slot, family, flag, line, rule, slot, table, word
from isa.types import Type, f16x2, s32, u32

ALIGNED = flag("aligned", since("6.3"))
_UNALIGNED = rule(when={"aligned": "-"}, since=until("6.2"))
LAYOUT = slot("layout", "row col")
SHAPE = slot("shape", "m16n16k16 m8n32k16 m32n8k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128")
SPACE = slot("space", "global shared shared::cta", shared__cta=since("7.8")).maybe
ELEMENT = slot("type", "f16 s8 u8 bf16 tf32 f64 s4 u4 b1")
ACCUMULATOR = slot("type", "f16 f32 s32 f64")
ROUNDING = slot("rnd", "rn rz rm rp").maybe
SATFINITE = flag("satfinite")
STRIDE = value("stride", u32).maybe

_FIRST, _OTHER = since("6.0", 70), since("6.1", 70)
_BYTES, _TINY, _AMPERE = since("6.3", 72), since("6.3", 75), since("7.0", 80)
_FLAT = "m8n32k16 m32n8k16"
_DEEP = f"m16n16k16 {_FLAT}"

_MULTIPLICANDS = (
    (_FIRST, "m16n16k16", "f16", "row col"),
    (_OTHER, _FLAT, "f16", "row col"),
    (_BYTES, _DEEP, "s8 u8", "row col"),
    (_AMPERE, _DEEP, "bf16", "row col"),
    (_AMPERE, "m16n16k8", "tf32", "row col"),
    (_AMPERE, "m8n8k4", "f64", "row col"),
)
ACCUMULATORS = table(
    "shape type",
    (_FIRST, "m16n16k16", "f16 f32"),
    (_OTHER, _FLAT, "f16 f32"),
    (_BYTES, _DEEP, "s32"),
    (_AMPERE, "m16n16k8", "f32"),
    (_AMPERE, "m8n8k4", "f64"),
    (_TINY, "m8n8k32 m8n8k128", "s32"),
)


def _tiny(layout: str) -> Constraint:
    rows = ((_TINY, "m8n8k32", "s4 u4", layout), (_TINY, "m8n8k128", "b1", layout))
    return table("shape type layout", *_MULTIPLICANDS, *rows)


def _fragment(name: str, of: str = "", role: Role = Role.READ, operand: str = "") -> Operand:
    kept = operand or name
    return Operand(name, role, OperandKind.REGISTER, wmma_type(kept, of), wmma_count(kept, of))


def _load(operand: str, of: Slot, legal: Constraint) -> Line:
    loaded = _fragment("r", "type", Role.WRITE, operand)
    return line(
        word("load"), word(operand), SYNC, ALIGNED, LAYOUT, SHAPE, SPACE, of, operands=(loaded, ADDRESS, STRIDE),
        rules=(legal,),
    )  # fmt: skip


def _half(name: str, of: Type, count: int) -> Operand:
    return Operand(name, Role.READ, OperandKind.REGISTER, of, count)


_D, _C = _fragment("d", role=Role.WRITE), _fragment("c")
_PRODUCT = (_D, _fragment("a"), _fragment("b"), _C)
_HALVES = (_D, _half("a", f16x2, 8), _half("b", f16x2, 8), _C)
_BITS = (_D, _half("a", s32, 1), _half("b", s32, 1), _C)
_MMA = (word("mma"), SYNC, ALIGNED)


def _types(result: str, element: str) -> tuple[Slot, ...]:
    return slot("dtype", result), slot("atype", element), slot("btype", element), slot("ctype", result)


_HALF_SHAPES = table("shape", (_FIRST, "m16n16k16"), (_OTHER, _FLAT))
_FLOATS = table("shape atype btype", (_AMPERE, _DEEP, "bf16", "bf16"), (_AMPERE, "m16n16k8", "tf32", "tf32"))
_INTEGERS = table("atype btype", (_BYTES, "s8", "s8"), (_BYTES, "u8", "u8"))
_FOURS = table("atype btype", (_TINY, "s4", "s4"), (_TINY, "u4", "u4"))

FAMILIES = (
    family(
        "wmma",
        _load("a", ELEMENT, _tiny("row")),
        _load("b", ELEMENT, _tiny("col")),
        _load("c", ACCUMULATOR, ACCUMULATORS),
        line(word("store"), word("d"), SYNC, ALIGNED, LAYOUT, SHAPE, SPACE, ACCUMULATOR, rules=(ACCUMULATORS,),
             operands=(ADDRESS, _fragment("r", "type", operand="d"), STRIDE)),
        line(*_MMA, LAYOUT_A, LAYOUT_B, SHAPE.of("m16n16k16", "m8n32k16", "m32n8k16"), slot("dtype", "f16 f32"),
             slot("ctype", "f16 f32"), operands=_HALVES, rules=(_HALF_SHAPES,)),
        line(*_MMA, LAYOUT_A, LAYOUT_B, SHAPE.of("m16n16k16", "m8n32k16", "m32n8k16", "m16n16k8"),
             *_types("f32", "bf16 tf32"), operands=_PRODUCT, rules=(_FLOATS,)),
        line(*_MMA, LAYOUT_A, LAYOUT_B, SHAPE.of("m8n8k4"), ROUNDING, *_types("f64", "f64"), operands=_PRODUCT,
             since=_AMPERE),
        line(*_MMA, LAYOUT_A, LAYOUT_B, SHAPE.of("m16n16k16", "m8n32k16", "m32n8k16"), *_types("s32", "s8 u8"),
             SATFINITE, operands=_PRODUCT, rules=(_INTEGERS,)),
        line(*_MMA, ROW, COL, SHAPE.of("m8n8k32"), *_types("s32", "s4 u4"), SATFINITE, operands=_PRODUCT,
             rules=(_FOURS,)),
        line(word("mma"), slot("bitop", "xor and", **{"and": since("7.1", 80)}), word("popc"), SYNC, ALIGNED, ROW, COL,
             SHAPE.of("m8n8k128"), slot("dtype", "s32"), slot("atype", "b1"), slot("btype", "b1"),
             slot("ctype", "s32"), operands=_BITS, since=_TINY),
        rules=(_UNALIGNED,),
        about="load, multiply and store opaque fragments of matrices",
    ),
)  # fmt: skip
