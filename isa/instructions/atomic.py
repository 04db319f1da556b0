"""Atomic operations on memory."""

from __future__ import annotations

from isa.availability import since
from isa.derive import vector_count
from isa.instructions.vocabulary import (
    ADDRESS,
    L2_HINT,
    POLICY,
    SEMANTICS_SINCE,
    SHARED_WINDOWS,
    TYPE,
    B,
    C,
    register,
    written,
)  # fmt: skip
from isa.operands import OperandKind, Role
from isa.rows import Constraint, Line, Operand, family, line, rule, slot, table, word

SEM = slot("sem", "relaxed acquire release acq_rel").maybe
SCOPE = slot(
    "scope", "cta cluster gpu sys", cta=since("5.0", 60), gpu=since("5.0", 60), sys=since("5.0", 60),
    cluster=since("7.8", 90),
).maybe  # fmt: skip
SPACE = slot("space", "global shared shared::cta shared::cluster", **SHARED_WINDOWS).maybe
GLOBAL = SPACE.of("global")
ARITHMETIC = slot("op", "and or xor add inc dec min max")
ATOMIC_TYPE = slot("type", "b32 b64 u32 u64 s32 s64 f32 f64", f64=since("5.0", 60))
SWAPPED = slot("type", "b16 b32 b64 b128", b16=since("6.3", 70), b128=since("8.3", 90))
_KEEPING = since("9.4", 90)
PACKED = slot(
    "type", "f16 f16x2 bf16 bf16x2 f32", f16=since("6.3", 70), f16x2=since("6.2", 60), bf16=since("7.8", 90),
    bf16x2=since("7.8", 90), f32=_KEEPING,
)  # fmt: skip
ADD, CAS, EXCHANGE, NOFTZ = slot("op", "add"), slot("op", "cas"), slot("op", "exch"), word("noftz")
VECTOR_OPERATION = slot("op", "add min max")

OPERATIONS: tuple[Constraint, ...] = (
    table(
        "op type",
        (since("1.1"), "and or xor", "b32"),
        (since("3.1", 32), "and or xor", "b64"),
        (since("1.1"), "inc dec", "u32"),
        (since("1.1"), "add", "u32 s32 u64"),
        (since("2.0", 20), "add", "f32"),
        (since("5.0", 60), "add", "f64"),
        (since("1.1"), "min max", "u32 s32"),
        (since("3.1", 32), "min max", "u64 s64"),
    ),
)
_VECTORS_SINCE = since("8.1", 90)
_HINT_RULE = rule(when={"L2::cache_hint": "*"}, only={"space": "- global"})
_ORDERED = rule(when={"sem": "*"}, since=SEMANTICS_SINCE)
_WIDEST = rule(when={"type": "b128", "scope": "sys"}, since=since("8.4", 90))

OLD = written(sink=True)
OLD_VECTOR = Operand("d", Role.WRITE, OperandKind.REGISTER, TYPE, vector_count(), sink=True)
VECTOR = Operand("b", Role.READ, OperandKind.REGISTER, TYPE, vector_count())
_ATOM, _RED = (OLD, ADDRESS, B, POLICY), (ADDRESS, B, POLICY)
_ATOM_VECTOR, _RED_VECTOR = (OLD_VECTOR, ADDRESS, VECTOR, POLICY), (ADDRESS, VECTOR, POLICY)


def _vectors(operands: tuple[Operand, ...]) -> tuple[Line, ...]:
    head, whole, half = (SEM, SCOPE, GLOBAL), slot("vec", "v2 v4"), slot("vec", "v2 v4 v8")
    f32, single, packed = slot("type", "f32"), slot("type", "f16 bf16"), slot("type", "f16x2 bf16x2")
    return (
        line(*head, ADD, L2_HINT, whole, f32, operands=operands, since=_VECTORS_SINCE),
        line(*head, ADD, NOFTZ, L2_HINT, whole, f32, operands=operands, since=_KEEPING),
        line(*head, VECTOR_OPERATION, NOFTZ, L2_HINT, half, single, operands=operands, since=_VECTORS_SINCE),
        line(*head, VECTOR_OPERATION, NOFTZ, L2_HINT, whole, packed, operands=operands, since=_VECTORS_SINCE),
    )


FAMILIES = (
    family(
        "atom",
        line(SEM, SCOPE, SPACE, ARITHMETIC, L2_HINT, ATOMIC_TYPE, operands=_ATOM, rules=OPERATIONS),
        line(SEM, SCOPE, SPACE, EXCHANGE, L2_HINT, SWAPPED.of("b32", "b64", "b128"), operands=_ATOM),
        line(SEM, SCOPE, SPACE, CAS, SWAPPED.of("b16", "b32", "b64"), operands=(OLD, ADDRESS, B, C)),
        line(SEM, SCOPE, SPACE, CAS, SWAPPED.of("b128"), operands=(OLD, ADDRESS, register("b"), register("c"))),
        line(SEM, SCOPE, SPACE, ADD, NOFTZ, L2_HINT, PACKED, operands=_ATOM),
        *_vectors(_ATOM_VECTOR),
        rules=(_HINT_RULE, _ORDERED, _WIDEST),
        about="read, modify and write at once; d is the old value",
    ),
    family(
        "red",
        line(SEM, SCOPE, SPACE, ARITHMETIC, L2_HINT, ATOMIC_TYPE, operands=_RED, rules=OPERATIONS),
        line(SEM, SCOPE, SPACE, ADD, NOFTZ, L2_HINT, PACKED, operands=_RED),
        *_vectors(_RED_VECTOR),
        rules=(_HINT_RULE, _ORDERED, rule(never={"sem": "acquire acq_rel"})),
        about="modify memory at once, without the old value",
    ),
)  # fmt: skip
