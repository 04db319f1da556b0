"""Moves between registers: copies, packing, permutation of bytes, shuffles."""

from __future__ import annotations

from isa.availability import since, until
from isa.instructions.vocabulary import (
    MEMBERS,
    TYPE,
    A,
    D,
    register,
    value,
    written,
    written_predicate,
)  # fmt: skip
from isa.operands import OperandKind, Role
from isa.rows import Operand, family, line, slot, word
from isa.types import Type, b8, b16, b32, b64, pred

ADDRESSES = slot("type", "b32 b64 u32 u64 s32 s64")
SMALL = slot("type", "b16 u16 s16")
MOVED = slot("type", "f32 f64 b128", b128=since("8.3", 70))
ANYTHING = Operand("a", Role.READ, OperandKind.VALUE, TYPE, special=True, symbol=True)
VALUE_OR_SPECIAL = Operand("a", Role.READ, OperandKind.VALUE, TYPE, special=True)
PREDICATE_OR_CONSTANT = Operand("a", Role.READ, OperandKind.PREDICATE, pred, special=True, immediates=True)


def _vector(name: str, role: Role, element: object, count: int) -> Operand:
    return Operand(name, role, OperandKind.REGISTER, element, count, sink=role is Role.WRITE)  # type: ignore[arg-type]


def _packed(element: Type, count: int) -> Operand:
    return Operand("a", Role.READ, OperandKind.REGISTER, element, count, special=element.bits >= 32)


_HALVES = ((b8, b16, 2, "b16"), (b16, b32, 2, "b32"), (b8, b32, 4, "b32"), (b32, b64, 2, "b64"), (b16, b64, 4, "b64"))


def _packing() -> tuple[object, ...]:
    made = []
    for element, whole, count, name in _HALVES:
        typed = slot("type", name)
        made.append(line(typed, operands=(written("d", whole), _packed(element, count))))
        unpacked = Operand("a", Role.READ, OperandKind.REGISTER, whole, special=True)
        made.append(line(typed, operands=(_vector("d", Role.WRITE, element, count), unpacked)))
    wide = slot("type", "b128", b128=since("8.3", 70))
    made.append(line(wide, operands=(written("d"), _packed(b64, 2))))
    made.append(line(wide, operands=(_vector("d", Role.WRITE, b64, 2), register("a"))))
    return tuple(made)


SHUFFLE = slot("mode", "up down bfly idx")
_SHUFFLED = (written("d", b32), written_predicate("p", joined=True, optional=True), value("a", b32),
             value("b", b32), value("c", b32))  # fmt: skip
WORD = slot("type", "b32")

FAMILIES = (
    family(
        "mov",
        line(ADDRESSES, operands=(D, ANYTHING)),
        line(SMALL, operands=(D, VALUE_OR_SPECIAL)),
        line(MOVED, operands=(D, A)),
        line(slot("type", "pred"), operands=(written_predicate("d"), PREDICATE_OR_CONSTANT)),
        *_packing(),  # type: ignore[arg-type]
        about="copy a value, a special register or an address; pack and unpack",
    ),
    family(
        "prmt",
        line(WORD, slot("mode", "f4e b4e rc8 ecl ecr rc16").maybe, operands=(
            D, A, value("b", b32), value("c", b32))),
        about="pick bytes of a pair of words",
    ),
    family(
        "shfl",
        line(SHUFFLE, WORD, operands=_SHUFFLED, since=since("3.0", 30) & until("6.3", 70)),
        line(word("sync"), SHUFFLE, WORD, operands=(*_SHUFFLED, MEMBERS), since=since("6.0", 30)),
        about="exchange registers between lanes",
    ),
)  # fmt: skip
