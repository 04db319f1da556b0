"""Stores and reductions that complete later, and those that reach every replica of a multimem address."""

from __future__ import annotations

from isa.availability import ALWAYS, since
from isa.derive import vector_count
from isa.instructions.vocabulary import (
    ADDRESS,
    SPECIFIC,
    TYPE,
    B,
    immediate,
    register,
    value,
)  # fmt: skip
from isa.operands import OneOf, OperandKind, Range, Role
from isa.rows import Constraint, Operand, family, flag, line, rule, slot, table, word
from isa.types import u32, u64

_SM_90, _SM_100 = since("8.1", 90), since("8.7", 100)
REMOTE = slot("space", "shared::cluster").maybe
GLOBAL = slot("space", "global").maybe
COMPLETION = word("mbarrier::complete_tx::bytes")
VEC = slot("vec", "v2 v4").maybe
WIDE_TYPE = slot("type", "b32 b64 b128 u32 u64 s32 s64 f32 f64", b128=since("9.2", 90))
ANY_TYPE = slot("type", "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64")
WEAK = flag("weak")
MMIO = flag("mmio")
RELEASE, RELAXED = slot("sem", "release"), slot("sem", "relaxed")
FAR = slot("scope", "gpu sys")
NEAR = slot("scope", "cluster")
MBAR = Operand("mbar", Role.READ, OperandKind.ADDRESS)
STORED = Operand("b", Role.READ, OperandKind.VALUE, TYPE, vector_count())
_TRACKED = (ADDRESS, STORED, MBAR)
_SINGLE_TRACKED = (ADDRESS, B, MBAR)
_RELEASED = (ADDRESS, B)
_IN_128_BITS: tuple[Constraint, ...] = (
    rule(when={"type": "b64 u64 s64 f64"}, never={"vec": "v4"}),
    rule(when={"type": "b128"}, only={"vec": "-"}),
)
_MMIO_RULE = rule(when={"mmio": "mmio"}, only={"scope": "sys"})

SCOPE = slot("scope", "cta cluster gpu sys").maybe
_SCOPED: tuple[Constraint, ...] = (
    rule(when={"sem": "relaxed acquire release"}, only={"scope": "*"}),
    rule(when={"scope": "*"}, only={"sem": "relaxed acquire release"}),
)
LOADING = slot("sem", "weak relaxed acquire").maybe
STORING = slot("sem", "weak relaxed release").maybe
REDUCING = slot("sem", "relaxed release").maybe
INTEGER_OPERATION = slot("op", "add min max and or xor")
INTEGER = slot("type", "b32 b64 u32 u64 s32 s64")
INTEGERS = table(
    "op type",
    (ALWAYS, "add", "u32 s32 u64"),
    (ALWAYS, "min max", "u32 s32 u64 s64"),
    (ALWAYS, "and or xor", "b32 b64"),
)
FLOAT_VEC = slot("vec", "v2 v4 v8").maybe
_BYTE_FLOATS = "e4m3 e5m2 e4m3x2 e5m2x2 e4m3x4 e5m2x4"
FLOAT = slot("type", f"f16 f16x2 bf16 bf16x2 f32 f64 {_BYTE_FLOATS}")
PRECISION = slot("acc", "acc::f32 acc::f16", acc__f32=since("8.2"), acc__f16=since("8.6")).maybe
_EIGHTS = since("8.6", SPECIFIC, "sm_100f sm_101f sm_103f sm_107f sm_110f")
_SIZES = (
    (ALWAYS, "v2 v4 v8", "f16 bf16"),
    (ALWAYS, "- v2 v4", "f16x2 bf16x2 f32"),
    (ALWAYS, "-", "f64"),
)
_BYTE_SIZES = (
    (_EIGHTS, "v4 v8", "e4m3 e5m2"),
    (_EIGHTS, "v2 v4 v8", "e4m3x2 e5m2x2"),
    (_EIGHTS, "- v2 v4", "e4m3x4 e5m2x4"),
)
SIZES = table("vec type", *_SIZES)
ALL_SIZES = table("vec type", *_SIZES, *_BYTE_SIZES)
_HALVES = "f16 f16x2 bf16 bf16x2"
REDUCED = Operand("d", Role.WRITE, OperandKind.REGISTER, TYPE, vector_count())
SHARED = Operand("b", Role.READ, OperandKind.VALUE, TYPE, vector_count())

FAMILIES = (
    family(
        "st.async",
        line(WEAK, REMOTE, COMPLETION, VEC, WIDE_TYPE, operands=_TRACKED, since=_SM_90, rules=_IN_128_BITS),
        line(NEAR, REMOTE, COMPLETION, VEC, WIDE_TYPE, operands=_TRACKED, since=_SM_90, rules=_IN_128_BITS),
        line(MMIO, RELEASE, FAR, GLOBAL, ANY_TYPE, operands=_RELEASED, since=_SM_100, rules=(_MMIO_RULE,)),
        about="store later, to another CTA of the cluster or to global memory",
    ),
    family(
        "red.async",
        line(
            RELAXED, NEAR, REMOTE, COMPLETION, slot("op", "inc dec min max and or xor add"),
            slot("type", "u32 s32 b32 u64"), operands=_SINGLE_TRACKED, since=_SM_90,
            rules=(table(
                "op type",
                (ALWAYS, "inc dec", "u32"),
                (ALWAYS, "min max", "u32 s32"),
                (ALWAYS, "and or xor", "b32"),
                (ALWAYS, "add", "u32 s32 u64"),
            ),),
        ),
        line(
            MMIO, RELEASE, FAR, GLOBAL, slot("op", "add"), slot("type", "u32 s32 u64 s64"), operands=_RELEASED,
            since=_SM_100, rules=(_MMIO_RULE,),
        ),
        about="modify memory later, in another CTA of the cluster or in global memory",
    ),
    family(
        "st.bulk",
        line(WEAK, slot("space", "shared::cta").maybe, since=since("8.6", 100),
             operands=(ADDRESS, value("bytes", u64, Range(0, 2**24, 8)), immediate("initial", OneOf((0,))))),
        line(WEAK, slot("space", "shared::cta").maybe, since=since("9.0", 100),
             operands=(ADDRESS, register("bytes", u32), immediate("initial", OneOf((0,))))),
        about="fill a run of shared memory with zeros",
    ),
    family(
        "multimem.ld_reduce",
        line(LOADING, SCOPE, GLOBAL, INTEGER_OPERATION, INTEGER, operands=(REDUCED, ADDRESS), rules=(INTEGERS,)),
        line(
            LOADING, SCOPE, GLOBAL, slot("op", "add min max"), PRECISION, FLOAT_VEC, FLOAT,
            operands=(REDUCED, ADDRESS),
            rules=(
                ALL_SIZES,
                rule(when={"type": "f32 f64"}, only={"op": "add", "acc": "-"}),
                rule(when={"acc": "*"}, only={"op": "add"}),
                rule(when={"acc": "acc::f32"}, only={"type": _HALVES}),
                rule(when={"acc": "acc::f16"}, only={"type": _BYTE_FLOATS}),
            ),
        ),
        rules=(rule(since=_SM_90), *_SCOPED),
        about="combine what all replicas hold",
    ),
    family(
        "multimem.st",
        line(STORING, SCOPE, GLOBAL, INTEGER, operands=(ADDRESS, SHARED)),
        line(STORING, SCOPE, GLOBAL, FLOAT_VEC, FLOAT, operands=(ADDRESS, SHARED), rules=(ALL_SIZES,)),
        rules=(rule(since=_SM_90), *_SCOPED),
        about="store to every replica",
    ),
    family(
        "multimem.red",
        line(REDUCING, SCOPE, GLOBAL, INTEGER_OPERATION, INTEGER, operands=(ADDRESS, SHARED), rules=(INTEGERS,)),
        line(
            REDUCING, SCOPE, GLOBAL, slot("op", "add"), FLOAT_VEC,
            slot("type", "f16 f16x2 bf16 bf16x2 f32 f64"), operands=(ADDRESS, SHARED), rules=(SIZES,),
        ),
        rules=(rule(since=_SM_90), *_SCOPED),
        about="modify every replica",
    ),
    family(
        "multimem.st.async",
        line(RELEASE, FAR, GLOBAL, ANY_TYPE, operands=_RELEASED, since=since("9.3", 100)),
        about="store to every replica later",
    ),
    family(
        "multimem.red.async",
        line(RELEASE, FAR, GLOBAL, slot("op", "add"), slot("type", "u32 s32 u64"), operands=_RELEASED,
             since=since("9.3", 100)),
        about="modify every replica later",
    ),
)  # fmt: skip
