"""Loads and stores, hints to the caches, and addresses: their spaces, their conversion, their place in a cluster."""

from __future__ import annotations

from isa.availability import since
from isa.derive import holes, vector_count
from isa.instructions.vocabulary import (
    ADDRESS,
    HANDLE,
    L2_HINT,
    POLICY,
    SCOPE,
    SEMANTICS_SINCE,
    SHARED_WINDOWS,
    TYPE,
    immediate,
    register,
    value,
    written,
    written_predicate,
)  # fmt: skip
from isa.operands import OneOf, OperandKind, Role
from isa.rows import Constraint, Operand, family, flag, line, rule, slot, word
from isa.types import f32, u32, u64

LOAD_SPACE = slot(
    "space", "const global local param param::entry param::func shared shared::cta shared::cluster",
    param__entry=since("8.3"), param__func=since("8.3"), **SHARED_WINDOWS,
)  # fmt: skip
STORE_SPACE = LOAD_SPACE.of("global", "local", "param", "param::func", "shared", "shared::cta", "shared::cluster")
ORDERED_SPACE = LOAD_SPACE.of("global", "shared", "shared::cta", "shared::cluster").maybe
VOLATILE_SPACE = slot(
    "space", "global local shared shared::cta shared::cluster", local=since("9.1"), **SHARED_WINDOWS
).maybe  # fmt: skip
GLOBAL = LOAD_SPACE.of("global")
WEAK = flag("weak", SEMANTICS_SINCE)
LOAD_CACHE = slot("cop", "ca cg cs lu cv").maybe
CONSTANT_CACHE = slot("cop", "ca cg cs").maybe
STORE_CACHE = slot("cop", "wb cg cs wt").maybe
NC = word("nc", since("3.1", 32))
_L1, _L2 = since("7.4", 70), since("8.8", 100)
EVICT = slot(
    "l1", "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate",
    L1__evict_normal=_L1, L1__evict_unchanged=_L1, L1__evict_first=_L1, L1__evict_last=_L1, L1__no_allocate=_L1,
)  # fmt: skip
EVICT_FAR = slot(
    "l2", "L2::evict_normal L2::evict_first L2::evict_last",
    L2__evict_normal=_L2, L2__evict_first=_L2, L2__evict_last=_L2,
)  # fmt: skip
PREFETCH = slot(
    "prefetch", "L2::64B L2::128B L2::256B",
    L2__64B=since("7.4", 75), L2__128B=since("7.4", 75), L2__256B=since("7.4", 80),
).maybe  # fmt: skip
MEMORY_TYPE = slot("type", "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", b128=since("8.3", 70))
READONLY_TYPE = slot("type", "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64")
VEC = slot("vec", "v2 v4 v8", v8=since("8.8", 100)).maybe
OF_LOADS = slot("sem", "relaxed acquire", acquire=since("9.3", 70))
OF_STORES = slot("sem", "relaxed release", release=since("9.3", 70))
MMIO = word("mmio", since("8.2", 70))

_FAR = "- global"
_DOUBLE, _SINGLE = "b64 u64 s64 f64", "b32 u32 s32 f32"
MEMORY_RULES: tuple[Constraint, ...] = (
    rule(when={"L2::cache_hint": "*"}, only={"space": _FAR}),
    rule(when={"prefetch": "*"}, only={"space": _FAR}),
    rule(when={"l1": "*"}, only={"space": _FAR}),
    rule(when={"l2": "*"}, only={"space": _FAR, "vec": "v4 v8", "type": f"{_DOUBLE} {_SINGLE}"}),
    rule(when={"l2": "*", "type": _SINGLE}, only={"vec": "v8"}),
    rule(when={"vec": "v8"}, only={"type": _SINGLE, "space": _FAR}),
    rule(when={"vec": "v4", "type": _DOUBLE}, only={"space": _FAR}, since=since("8.8", 100)),
    rule(when={"type": "b128"}, only={"vec": "-"}),
    rule(when={"type": "b128", "scope": "sys"}, since=since("8.4", 70)),
)  # fmt: skip

UNIFIED_SINCE = since("8.0", 90)
UNIFIED_ADDRESS = Operand("a", Role.READ, OperandKind.ADDRESS, unified=UNIFIED_SINCE)
LOADED = Operand("d", Role.WRITE, OperandKind.REGISTER, TYPE, vector_count(), wide=True, sink=True)
STORED = Operand("b", Role.READ, OperandKind.VALUE, TYPE, vector_count(), wide=True, sink=holes())
_LOAD = (LOADED, ADDRESS)
_LOAD_HINTED = (LOADED, ADDRESS, POLICY)
_LOAD_UNIFIED = (LOADED, UNIFIED_ADDRESS, POLICY)
_STORE = (ADDRESS, STORED)
_STORE_HINTED = (ADDRESS, STORED, POLICY)
_READ_TAIL = (L2_HINT, PREFETCH, VEC, MEMORY_TYPE)
_WRITE_TAIL = (L2_HINT, VEC, MEMORY_TYPE)
_UNIFORM_RULES = (
    rule(when={"type": "b128"}, only={"vec": "-"}),
    rule(when={"vec": "v4"}, never={"type": _DOUBLE}),
)  # fmt: skip

SIZE = slot("type", "u32 u64")
CONVERTED_SPACE = slot(
    "space", "const global local shared shared::cta shared::cluster param param::entry",
    param=since("7.7", 70), param__entry=since("8.3", 70), **SHARED_WINDOWS,
)  # fmt: skip
CLUSTER_SPACE = slot("space", "shared::cluster").maybe
IN_SHARED = Operand("a", Role.READ, OperandKind.VALUE, TYPE, symbol=True)

HINTS = since("7.4", 80)
LINE_BYTES = immediate("size", OneOf((128,)))
PRIMARY = slot("primary", "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged")
SECONDARY = slot("secondary", "L2::evict_first L2::evict_unchanged").maybe
WHOLE = slot("type", "b64")
MADE_POLICY = written("policy", u64)

FAMILIES = (
    family(
        "ld",
        line(WEAK, LOAD_SPACE.maybe, LOAD_CACHE, *_READ_TAIL, operands=_LOAD_UNIFIED),
        line(WEAK, LOAD_SPACE.maybe, EVICT, EVICT_FAR.maybe, *_READ_TAIL, operands=_LOAD_UNIFIED),
        line(WEAK, LOAD_SPACE.maybe, EVICT_FAR, *_READ_TAIL, operands=_LOAD_UNIFIED),
        line(word("volatile"), VOLATILE_SPACE, PREFETCH, VEC, MEMORY_TYPE, operands=_LOAD),
        line(
            slot("sem", "relaxed acquire"), SCOPE, ORDERED_SPACE, EVICT.maybe, EVICT_FAR.maybe, *_READ_TAIL,
            operands=_LOAD_HINTED, since=SEMANTICS_SINCE,
        ),
        line(MMIO, OF_LOADS, SCOPE.of("sys"), GLOBAL.maybe, MEMORY_TYPE, operands=_LOAD),
        line(GLOBAL, CONSTANT_CACHE, NC, *_READ_TAIL, operands=_LOAD_UNIFIED),
        line(GLOBAL, NC, EVICT, EVICT_FAR.maybe, *_READ_TAIL, operands=_LOAD_UNIFIED),
        line(GLOBAL, NC, EVICT_FAR, *_READ_TAIL, operands=_LOAD_UNIFIED),
        line(GLOBAL.maybe, VEC, READONLY_TYPE, word("proxy::readonly"), operands=_LOAD, since=since("9.4", 90)),
        rules=MEMORY_RULES,
        about="load from memory",
    ),
    family(
        "ldu",
        line(GLOBAL.maybe, VEC.of("v2", "v4"), MEMORY_TYPE, operands=_LOAD, rules=_UNIFORM_RULES),
        about="load read-only data from one address for all lanes",
    ),
    family(
        "st",
        line(WEAK, STORE_SPACE.maybe, STORE_CACHE, *_WRITE_TAIL, operands=_STORE_HINTED),
        line(WEAK, STORE_SPACE.maybe, EVICT, EVICT_FAR.maybe, *_WRITE_TAIL, operands=_STORE_HINTED),
        line(WEAK, STORE_SPACE.maybe, EVICT_FAR, *_WRITE_TAIL, operands=_STORE_HINTED),
        line(word("volatile"), VOLATILE_SPACE, VEC, MEMORY_TYPE, operands=_STORE),
        line(
            slot("sem", "relaxed release"), SCOPE, ORDERED_SPACE, EVICT.maybe, EVICT_FAR.maybe, *_WRITE_TAIL,
            operands=_STORE_HINTED, since=SEMANTICS_SINCE,
        ),
        line(MMIO, OF_STORES, SCOPE.of("sys"), GLOBAL.maybe, MEMORY_TYPE, operands=_STORE),
        rules=MEMORY_RULES,
        about="store to memory",
    ),
    family(
        "prefetch",
        line(slot("space", "global local").maybe, slot("level", "L1 L2"), operands=(ADDRESS,)),
        line(GLOBAL, slot("level", "L2::evict_last L2::evict_normal"), operands=(ADDRESS,), since=HINTS),
        line(slot("level", "L1::32B"), word("valid_addr"), operands=(ADDRESS,), since=since("9.4", 90)),
        line(slot("space", "const param").maybe, word("tensormap"), operands=(ADDRESS,), since=since("8.0", 90)),
        about="bring a line, or a tensor map, into a cache",
    ),
    family("prefetchu", line(slot("level", "L1"), operands=(ADDRESS,)), about="bring a line into the uniform cache"),
    family(
        "applypriority",
        line(GLOBAL.maybe, slot("level", "L2::evict_normal"), operands=(ADDRESS, LINE_BYTES), since=HINTS),
        about="set the eviction priority of a cached line",
    ),
    family(
        "discard",
        line(GLOBAL.maybe, slot("level", "L2"), operands=(ADDRESS, LINE_BYTES), since=HINTS),
        about="drop a line without writing it back",
    ),
    family(
        "createpolicy",
        line(word("fractional"), PRIMARY, SECONDARY, WHOLE, operands=(MADE_POLICY, value("fraction", f32).maybe)),
        line(
            word("range"), GLOBAL.maybe, PRIMARY, SECONDARY, WHOLE,
            operands=(MADE_POLICY, ADDRESS, value("primary_bytes", u32), value("total_bytes", u32)),
        ),
        line(
            word("range"), word("fabric"), PRIMARY, SECONDARY, WHOLE, since=since("9.4", 100),
            operands=(MADE_POLICY, HANDLE, value("primary_bytes", u32), value("total_bytes", u32)),
        ),
        line(word("cvt"), slot("level", "L2"), WHOLE, operands=(MADE_POLICY, value("property", u64))),
        rules=(rule(since=HINTS),),
        about="make a cache eviction policy",
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
        "mapa",
        line(CLUSTER_SPACE, SIZE, operands=(written("d"), IN_SHARED, value("b", u32)), since=since("7.8", 90)),
        about="the address of the same variable in another CTA of the cluster",
    ),
    family(
        "getctarank",
        line(CLUSTER_SPACE, SIZE, operands=(written("d", u32), IN_SHARED), since=since("7.8", 90)),
        about="the rank of the CTA that an address belongs to",
    ),
)  # fmt: skip
