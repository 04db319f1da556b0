"""Video instructions: arithmetic on bytes and half-words picked out of registers, one at a time or as SIMD."""

from __future__ import annotations

from itertools import product

from isa.derive import by
from isa.instructions.vocabulary import SAT
from isa.operands import OperandKind, Role
from isa.rows import Line, Operand, family, line, slot, word
from isa.types import Type, u32

DTYPE, ATYPE, BTYPE = slot("dtype", "u32 s32"), slot("atype", "u32 s32"), slot("btype", "u32 s32")
AMOUNT = slot("btype", "u32")
SECONDARY = slot("op2", "add min max")
COMPARISON = slot("cmp", "eq ne lt le gt ge")
MODE = slot("mode", "clamp wrap")
SCALE = slot("scale", "shr7 shr15").maybe

PARTS = ("b0", "b1", "b2", "b3", "h0", "h1")
HALF_MASKS = ("h0", "h1", "h10")
HALF_PICKS = tuple(f"h{high}{low}" for high, low in product(range(4), repeat=2))
BYTE_MASKS = ("b0", "b1", "b10", "b2", "b20", "b21", "b210", "b3", "b30", "b31", "b310", "b32", "b320", "b321", "b3210")
BYTE_PICKS = tuple("b" + "".join(picked) for picked in product("01234567", repeat=4))


def _source(name: str, parts: tuple[str, ...], *, minus: bool = False) -> Operand:
    return Operand(name, Role.READ, OperandKind.VALUE, by(name + "type"), selectors=parts, minus=minus)


def _result(parts: tuple[str, ...], of_type: Type | None = None, *, partial: bool = False) -> Operand:
    return Operand("d", Role.WRITE, OperandKind.REGISTER, of_type or by("dtype"), selectors=parts, partial=partial)


def _accumulated(of_type: Type | None = None, *, minus: bool = False) -> Operand:
    return Operand("c", Role.READ, OperandKind.VALUE, of_type or by("dtype"), minus=minus)


_A, _B = _source("a", PARTS), _source("b", PARTS)
_TYPED = (DTYPE, ATYPE, BTYPE, SAT)
_SHIFTED = (DTYPE, ATYPE, AMOUNT, SAT, MODE)
_NEGATED = (_result(()), _source("a", PARTS, minus=True), _source("b", PARTS, minus=True), _accumulated(minus=True))
_COMPARED = (ATYPE, BTYPE, COMPARISON)


def _scalar(*slots: object, result: Type | None = None) -> tuple[Line, ...]:
    """Plain, with a second operation on c, and merged into a part of c."""
    return (
        line(*slots, operands=(_result((), result), _A, _B)),  # type: ignore[arg-type]
        line(*slots, SECONDARY, operands=(_result((), result), _A, _B, _accumulated(result))),  # type: ignore[arg-type]
        line(*slots, operands=(  # type: ignore[arg-type]
            _result(PARTS, result, partial=True), _A, _B, _accumulated(result))),
    )  # fmt: skip


def _lanes(masks: tuple[str, ...], picks: tuple[str, ...], result: Type | None = None) -> tuple[Operand, ...]:
    merged = Operand("c", Role.READ, OperandKind.REGISTER, result or by("dtype"))
    picked = [Operand(name, Role.READ, OperandKind.REGISTER, by(name + "type"), selectors=picks) for name in "ab"]
    return _result(masks, result), *picked, merged


def _simd(masks: tuple[str, ...], picks: tuple[str, ...]) -> tuple[Line, ...]:
    operands = _lanes(masks, picks)
    return line(*_TYPED, operands=operands), line(DTYPE, ATYPE, BTYPE, word("add"), operands=operands)


def _simd_compared(masks: tuple[str, ...], picks: tuple[str, ...]) -> tuple[Line, ...]:
    operands = _lanes(masks, picks, u32)
    return line(*_COMPARED, operands=operands), line(*_COMPARED, word("add"), operands=operands)


_WHAT = {"add": "sum", "sub": "difference", "absdiff": "absolute difference", "min": "the smaller", "max": "the larger"}

FAMILIES = (
    *(family(f"v{name}", *_scalar(*_TYPED), about=f"{what} of parts") for name, what in _WHAT.items()),
    family("vshl", *_scalar(*_SHIFTED), about="parts shifted left"),
    family("vshr", *_scalar(*_SHIFTED), about="parts shifted right"),
    family(
        "vmad",
        line(*_TYPED, SCALE, operands=_NEGATED),
        line(DTYPE, ATYPE, BTYPE, word("po"), SAT, SCALE, operands=(_result(()), _A, _B, _accumulated())),
        about="product of parts plus c, po: plus one, shifted right by the scale",
    ),
    family("vset", *_scalar(*_COMPARED, result=u32), about="compare parts"),
    *(
        family(f"v{name}{count}", *_simd(masks, picks), about=f"{what}, {count} lanes at once")
        for count, masks, picks in ((2, HALF_MASKS, HALF_PICKS), (4, BYTE_MASKS, BYTE_PICKS))
        for name, what in {**_WHAT, "avrg": "average"}.items()
    ),
    family("vset2", *_simd_compared(HALF_MASKS, HALF_PICKS), about="compare two lanes at once"),
    family("vset4", *_simd_compared(BYTE_MASKS, BYTE_PICKS), about="compare four lanes at once"),
)
