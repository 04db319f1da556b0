"""Data movement: moves, loads, stores, address and type conversion, permutation, shuffles."""

from __future__ import annotations

from isa.availability import since, until
from isa.derive import by
from isa.instructions.vocabulary import (
    ADDRESS,
    FTZ,
    L2_HINT,
    LOADED,
    MEMBERS,
    POLICY,
    RELU_80,
    SAT,
    SCOPE,
    SEMANTICS_SINCE,
    SHARED_WINDOWS,
    STORED,
    TYPE,
    A,
    D,
    register,
    value,
    written,
    written_predicate,
)  # fmt: skip
from isa.operands import OperandKind, Role
from isa.rows import Constraint, Operand, family, flag, line, rule, slot, table, word
from isa.types import b8, b16, b32, b64, f32, pred, u64

ADDRESSES = slot("type", "b32 b64 u32 u64 s32 s64")
SMALL = slot("type", "b16 u16 s16")
MOVED = slot("type", "f32 f64 b128", b128=since("8.3", 70))
ANYTHING = Operand("a", Role.READ, OperandKind.VALUE, TYPE, special=True, symbol=True)
VALUE_OR_SPECIAL = Operand("a", Role.READ, OperandKind.VALUE, TYPE, special=True)
PREDICATE_OR_CONSTANT = Operand("a", Role.READ, OperandKind.PREDICATE, pred, immediates=True)


def _vector(name: str, role: Role, element: object, count: int) -> Operand:
    return Operand(name, role, OperandKind.REGISTER, element, count, sink=role is Role.WRITE)  # type: ignore[arg-type]


_HALVES = ((b8, b16, 2, "b16"), (b16, b32, 2, "b32"), (b8, b32, 4, "b32"), (b32, b64, 2, "b64"), (b16, b64, 4, "b64"))


def _packing() -> tuple[object, ...]:
    made = []
    for element, whole, count, name in _HALVES:
        typed = slot("type", name)
        made.append(line(typed, operands=(written("d", whole), _vector("a", Role.READ, element, count))))
        made.append(line(typed, operands=(_vector("d", Role.WRITE, element, count), register("a", whole))))
    wide = slot("type", "b128", b128=since("8.3", 70))
    made.append(line(wide, operands=(written("d"), _vector("a", Role.READ, b64, 2))))
    made.append(line(wide, operands=(_vector("d", Role.WRITE, b64, 2), register("a"))))
    return tuple(made)


LOAD_SPACE = slot(
    "space", "const global local param param::entry param::func shared shared::cta shared::cluster",
    param__entry=since("8.3"), param__func=since("8.3"), **SHARED_WINDOWS,
)  # fmt: skip
STORE_SPACE = slot(
    "space", "global local param param::func shared shared::cta shared::cluster",
    param__func=since("8.3"), **SHARED_WINDOWS,
)  # fmt: skip
ORDERED_SPACE = LOAD_SPACE.of("global", "shared", "shared::cta", "shared::cluster").maybe
GLOBAL = LOAD_SPACE.of("global")
WEAK = flag("weak", SEMANTICS_SINCE)
LOAD_CACHE = slot("cop", "ca cg cs lu cv").maybe
CONSTANT_CACHE = slot("cop", "ca cg cs").maybe
STORE_CACHE = slot("cop", "wb cg cs wt").maybe
NC = word("nc", since("3.1", 32))
_L1 = since("7.4", 70)
EVICT = slot(
    "l1", "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate",
    L1__evict_normal=_L1, L1__evict_unchanged=_L1, L1__evict_first=_L1, L1__evict_last=_L1, L1__no_allocate=_L1,
)  # fmt: skip
PREFETCH = slot(
    "prefetch", "L2::64B L2::128B L2::256B",
    L2__64B=since("7.4", 75), L2__128B=since("7.4", 75), L2__256B=since("7.4", 80),
).maybe  # fmt: skip
MEMORY_TYPE = slot("type", "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", b128=since("8.3", 70))
VEC = slot("vec", "v2 v4 v8", v8=since("8.8", 100)).maybe

_FAR = "- global"
MEMORY_RULES: tuple[Constraint, ...] = (
    rule(when={"L2::cache_hint": "*"}, only={"space": _FAR}),
    rule(when={"prefetch": "*"}, only={"space": _FAR}),
    rule(when={"l1": "*"}, only={"space": _FAR}),
    rule(when={"vec": "v8"}, only={"type": "b32 u32 s32 f32", "space": "global"}),
    rule(when={"vec": "v4", "type": "b64 u64 s64 f64"}, only={"space": "global"}, since=since("8.8", 100)),
    rule(when={"type": "b128"}, only={"vec": "-"}),
    rule(when={"type": "b128", "scope": "sys"}, since=since("8.4", 70)),
)  # fmt: skip

_LOAD = (LOADED, ADDRESS)
_LOAD_HINTED = (LOADED, ADDRESS, POLICY)
_STORE = (ADDRESS, STORED)
_STORE_HINTED = (ADDRESS, STORED, POLICY)
_READ_TAIL = (L2_HINT, PREFETCH, VEC, MEMORY_TYPE)
_WRITE_TAIL = (L2_HINT, VEC, MEMORY_TYPE)

SIZE = slot("type", "u32 u64")
CONVERTED_SPACE = slot(
    "space", "const global local shared shared::cta shared::cluster param param::entry",
    param=since("7.7", 70), param__entry=since("8.3", 70), **SHARED_WINDOWS,
)  # fmt: skip

_INTEGER = "u8 u16 u32 u64 s8 s16 s32 s64"
_FLOAT = "f16 f32 f64"
DTYPE, ATYPE = slot("dtype", f"{_INTEGER} {_FLOAT}"), slot("atype", f"{_INTEGER} {_FLOAT}")
TO_INTEGER = slot("irnd", "rni rzi rmi rpi")
TO_FLOAT = slot("frnd", "rn rz rm rp")
_CONVERTED = Operand("d", Role.WRITE, OperandKind.REGISTER, by("dtype"), wide=True)
_CONVERTIBLE = Operand("a", Role.READ, OperandKind.VALUE, by("atype"), wide=True)
_CONVERT = (_CONVERTED, _CONVERTIBLE)
_WIDE_A = Operand("a", Role.READ, OperandKind.VALUE, f32, wide=True)
_WIDE_B = Operand("b", Role.READ, OperandKind.VALUE, f32, wide=True)
_PAIR = (_CONVERTED, _WIDE_A, _WIDE_B)
_SINGLE = (_CONVERTED, _WIDE_A)
_FROM_F32 = slot("atype", "f32")
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
        "ld",
        line(WEAK, LOAD_SPACE.maybe, LOAD_CACHE, *_READ_TAIL, operands=_LOAD_HINTED),
        line(WEAK, LOAD_SPACE.maybe, EVICT, *_READ_TAIL, operands=_LOAD_HINTED),
        line(word("volatile"), ORDERED_SPACE, PREFETCH, VEC, MEMORY_TYPE, operands=_LOAD),
        line(
            slot("sem", "relaxed acquire"), SCOPE, ORDERED_SPACE, EVICT.maybe, *_READ_TAIL,
            operands=_LOAD_HINTED, since=SEMANTICS_SINCE,
        ),
        line(
            word("mmio"), slot("sem", "relaxed"), SCOPE.of("sys"), GLOBAL.maybe, MEMORY_TYPE,
            operands=_LOAD, since=since("8.2", 70),
        ),
        line(GLOBAL, CONSTANT_CACHE, NC, *_READ_TAIL, operands=_LOAD_HINTED),
        line(GLOBAL, NC, EVICT, *_READ_TAIL, operands=_LOAD_HINTED),
        rules=MEMORY_RULES,
        about="load from memory",
    ),
    family(
        "st",
        line(WEAK, STORE_SPACE.maybe, STORE_CACHE, *_WRITE_TAIL, operands=_STORE_HINTED),
        line(WEAK, STORE_SPACE.maybe, EVICT, *_WRITE_TAIL, operands=_STORE_HINTED),
        line(word("volatile"), ORDERED_SPACE,
             VEC, MEMORY_TYPE, operands=_STORE),
        line(
            slot("sem", "relaxed release"), SCOPE, ORDERED_SPACE, EVICT.maybe, *_WRITE_TAIL,
            operands=_STORE_HINTED, since=SEMANTICS_SINCE,
        ),
        line(
            word("mmio"), slot("sem", "relaxed"), SCOPE.of("sys"), GLOBAL.maybe, MEMORY_TYPE,
            operands=_STORE, since=since("8.2", 70),
        ),
        rules=MEMORY_RULES,
        about="store to memory",
    ),
    family(
        "cvta",
        line(flag("to"), CONVERTED_SPACE, SIZE, operands=(
            written("d"), Operand("a", Role.READ, OperandKind.REGISTER, TYPE, symbol=True))),
        about="convert an address of a space to a generic one, or back",
    ),
    family(
        "isspacep",
        line(CONVERTED_SPACE, operands=(written_predicate("p"), register("a", u64))),
        about="does a generic address lie in the space",
    ),
    family(
        "cvt",
        line(FTZ, SAT, DTYPE, ATYPE, operands=_CONVERT, rules=(_PLAIN, _CLAMPED)),
        line(TO_INTEGER, FTZ, SAT, DTYPE, ATYPE, operands=_CONVERT, rules=(_TO_WHOLE,)),
        line(TO_FLOAT, FTZ, SAT, DTYPE, ATYPE, operands=_CONVERT, rules=(_ROUNDED,)),
        line(TO_FLOAT.of("rn", "rz"), word("relu"), slot("dtype", "f16 bf16"), _FROM_F32, operands=_SINGLE,
             since=since("7.0", 80)),
        line(TO_FLOAT.of("rn", "rz"), RELU_80, slot("dtype", "f16x2 bf16x2"), _FROM_F32, operands=_PAIR,
             since=since("7.0", 80)),
        line(TO_FLOAT.of("rn", "rz"), slot("dtype", "bf16"), _FROM_F32, operands=_SINGLE, since=since("7.0", 80)),
        line(slot("frnd", "rna"), slot("dtype", "tf32"), _FROM_F32, operands=_SINGLE, since=since("7.0", 80)),
        line(TO_FLOAT.of("rn", "rz"), flag("relu"), slot("dtype", "tf32"), _FROM_F32, operands=_SINGLE,
             since=since("7.8", 90)),
        about="convert between types",
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
    family("activemask", line(WORD, operands=(D,), since=since("6.2", 30)), about="the lanes that run together now"),
    family(
        "prefetch",
        line(slot("space", "global local").maybe, slot("level", "L1 L2"), operands=(ADDRESS,)),
        about="bring a line into a cache",
    ),
)  # fmt: skip
