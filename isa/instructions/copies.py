"""Asynchronous copies: by lane, in bulk, and of tensors; tensor maps."""

from __future__ import annotations

from isa.availability import ALWAYS, Availability, since
from isa.derive import coordinates, offsets
from isa.instructions.vocabulary import (
    ADDRESS,
    DATACENTRE,
    FAMILY,
    L2_HINT,
    POLICY,
    SPECIFIC,
    immediate,
    predicate,
    value,
)  # fmt: skip
from isa.operands import OneOf, OperandKind, Range, Role
from isa.rows import Constraint, Line, Operand, Slot, family, flag, line, rule, slot, table, word
from isa.types import s32, u16, u32, u64

_SM_80, _SM_90 = since("7.0", 80), since("8.0", 90)
RUBIN = since("9.4", "sm_107a sm_107f")


def _address(name: str) -> Operand:
    return Operand(name, Role.READ, OperandKind.ADDRESS)


DESTINATION, SOURCE, MBAR = _address("destination"), _address("source"), _address("mbar")

# Copies by lane.
TO_SHARED = slot("destination", "shared shared::cta", shared__cta=since("7.8"))
FROM_GLOBAL = slot("source", "global")
_7_4 = since("7.4")
PREFETCHED = slot("prefetch", "L2::64B L2::128B L2::256B", L2__64B=_7_4, L2__128B=_7_4, L2__256B=_7_4).maybe
_LANE_TAIL = (TO_SHARED, FROM_GLOBAL, L2_HINT, PREFETCHED)
SMALL_SIZE, LARGE_SIZE = immediate("bytes", OneOf((4, 8, 16))), immediate("bytes", OneOf((16,)))
SOURCE_BYTES = value("source_bytes", u32, Range(0, 16)).maybe
IGNORED = predicate("ignore")
GROUPS = immediate("n", Range(0, 2**32 - 1))

# Copies in bulk.
BYTES = value("bytes", u32, Range(0, 2**20 - 16, 16))
BY_MBARRIER = slot("completion", "mbarrier::complete_tx::bytes")
BY_GROUP = slot("completion", "bulk_group")
CTA = slot("destination", "shared::cta", shared__cta=since("8.6"))
CLUSTER = slot("destination", "shared::cluster")
GLOBAL_DESTINATION = slot("destination", "global")
FROM_CTA = slot("source", "shared::cta")
MULTICAST = flag("multicast::cluster")
MULTICAST_WIDE = word("multicast::cluster::32b", RUBIN)
MASK = Operand("ctas", Role.READ, OperandKind.VALUE, u16, when=("multicast::cluster",))
WIDE_MASK = value("ctas", u32)
CP_MASK = flag("cp_mask", since("8.6", 100))
BYTE_MASK = Operand("byte_mask", Role.READ, OperandKind.VALUE, u16, when=("cp_mask",))
IGNORE_OOB = word("ignore_oob", since("9.2", 90))
LEFT, RIGHT = value("left_bytes", u32, Range(0, 15)), value("right_bytes", u32, Range(0, 15))
ARITHMETIC = slot("op", "and or xor add inc dec min max")
INTO_CLUSTER: tuple[Constraint, ...] = (
    table(
        "op type",
        (ALWAYS, "add", "u32 s32 u64"),
        (ALWAYS, "min max", "u32 s32"),
        (ALWAYS, "inc dec", "u32"),
        (ALWAYS, "and or xor", "b32"),
    ),
)
INTO_GLOBAL: tuple[Constraint, ...] = (
    table(
        "op type",
        (ALWAYS, "add", "u32 s32 u64 f32 f64"),
        (ALWAYS, "min max", "u32 s32 u64 s64 f16 bf16"),
        (ALWAYS, "inc dec", "u32"),
        (ALWAYS, "and or xor", "b32 b64"),
    ),
)
_ORDERED_SINCE = since("9.3", 90)
WEAK = slot("sem", "weak", weak=_ORDERED_SINCE).maybe
RELAXED = slot("sem", "relaxed", relaxed=_ORDERED_SINCE)
SCOPE, NEAR_SCOPE = slot("scope", "cta cluster gpu sys"), slot("scope", "cta cluster")
ATOM = slot("type", "b128")
_VALID = "mbarrier::report::validity::per_"
_REPORTS = f"mbarrier::report::disabled {_VALID}element::ff " + " ".join(
    f"{_VALID}16bytes::{each}" for each in ("8", "80", "8000", "80000000")
)
REPORT = slot("report", _REPORTS, **{each.replace("::", "__"): RUBIN for each in _REPORTS.split()}).maybe
_VALIDITY_KNOWN = rule(when={"ignore_oob": "*"}, only={"report": "- mbarrier::report::disabled"})
_FAR_RELAXED = rule(
    when={"sem": "relaxed", "destination": "shared::cluster", "source": "global"},
    since=since("9.3", "sm_90a", DATACENTRE),
)
TOGETHER: tuple[Constraint, ...] = (
    rule(when={"sem": "*"}, only={"scope": "*"}),
    rule(when={"scope": "*"}, only={"sem": "*"}),
)
REDUCED = slot("type", "f16 bf16 b32 u32 s32 b64 u64 s64 f32 f64")
HALF = slot("type", "f16 bf16")
NOFTZ = word("noftz")
_TRANSFER = (DESTINATION, SOURCE, BYTES)
_STORED = (*_TRANSFER, POLICY)

# Tensors.
DIM = slot("dim", "1d 2d 3d 4d 5d")
DIM_2, DIM_SPATIAL = DIM.of("2d"), DIM.of("3d", "4d", "5d")
TILE = slot("mode", "tile").maybe
GATHER = slot("mode", "tile::gather4")
SCATTER = slot("mode", "tile::scatter4")
IM2COL = slot("mode", "im2col im2col::w im2col::w::128")
NO_OFFSETS = slot("mode", "im2col_no_offs im2col_no_offs::w", im2col_no_offs__w=RUBIN)
_BLACKWELL = since("8.6", DATACENTRE)
CTA_GROUP = slot("group", "cta_group::1 cta_group::2", cta_group__1=_BLACKWELL, cta_group__2=_BLACKWELL).maybe
TENSOR = Operand("tensor", Role.READ, OperandKind.COORDINATE, s32, coordinates(), immediates=True)
OFFSETS = Operand("offsets", Role.READ, OperandKind.VALUE, u16, offsets())
_LOADED = (DESTINATION, TENSOR, MBAR)
OPERATION = slot("op", "add min max inc dec and or xor")


def _ordered(*slots: Slot, operands: tuple[Operand, ...], scope: Slot = SCOPE) -> tuple[Line, Line]:
    """A copy by weak accesses, and the same by relaxed ones of 16 bytes."""
    return line(WEAK, *slots, operands=operands), line(RELAXED, scope, *slots, ATOM, operands=operands)


def _halos(where: Availability) -> tuple[Constraint, ...]:
    return (
        rule(when={"mode": "im2col::w"}, since=where),
        rule(when={"mode": "im2col::w::128"}, since=_BLACKWELL),
    )


def _loads(to: Slot, gather: Availability, halo: Availability, *multicast: Slot) -> tuple[Line, ...]:
    head, tail = (to, FROM_GLOBAL), (BY_MBARRIER, REPORT, *multicast, CTA_GROUP, L2_HINT)
    mask = (WIDE_MASK,) if MULTICAST_WIDE in multicast else (MASK,) if multicast else ()
    return (
        line(DIM, *head, TILE, *tail, operands=(*_LOADED, *mask, POLICY)),
        line(DIM_2, *head, GATHER, *tail, operands=(*_LOADED, *mask, POLICY), since=gather),
        line(
            DIM_SPATIAL, *head, IM2COL, *tail, operands=(*_LOADED, OFFSETS, *mask, POLICY),
            rules=_halos(halo),
        ),
    )  # fmt: skip


L2 = slot("level", "L2")
KEPT = slot("priority", "L2::evict_last", L2__evict_last=RUBIN)


def _prefetches(tail: Slot) -> tuple[Line, ...]:
    return (
        line(DIM, L2, FROM_GLOBAL, TILE, tail, operands=(TENSOR, POLICY)),
        line(DIM_2, L2, FROM_GLOBAL, GATHER, tail, operands=(TENSOR, POLICY), since=_BLACKWELL),
        line(DIM_SPATIAL, L2, FROM_GLOBAL, IM2COL, tail, operands=(TENSOR, OFFSETS, POLICY), rules=_halos(_BLACKWELL)),
    )


_HALO = since("8.6", 100)

# Tensor maps.
MAP_SPACE = slot("space", "global shared::cta").maybe
WHOLE = slot("object", "b1024")
_B32, _B64 = slot("type", "b32"), slot("type", "b64")
_ORDINAL, _STRIDE_ORDINAL = immediate("ordinal", Range(0, 4)), immediate("ordinal", Range(0, 3))
NEW_32, NEW_64 = value("new", u32), value("new", u64)
_NEWER = (SPECIFIC, FAMILY)
_SUB_BYTE, _SWIZZLE_96 = since("8.7", *_NEWER), since("8.8", "sm_103a sm_107a")
_ENUMERATED = (
    ("elemtype", Range(0, 12), ALWAYS), ("elemtype", Range(13, 15), _SUB_BYTE),
    ("interleave_layout", Range(0, 2), ALWAYS),
    ("swizzle_mode", Range(0, 3), ALWAYS), ("swizzle_mode", OneOf((4,)), _SWIZZLE_96),
    ("swizzle_atomicity", Range(0, 3), since("8.6", *_NEWER)), ("fill_mode", Range(0, 1), ALWAYS),
)  # fmt: skip


def _field(words: str, type_: Slot, *operands: Operand, exists: Availability = ALWAYS) -> Line:
    named = slot("field", words)
    return line(word("tile"), named, MAP_SPACE, WHOLE, type_, operands=(ADDRESS, *operands), since=exists)


FAMILIES = (
    family(
        "cp.async",
        line(slot("cop", "ca"), *_LANE_TAIL, operands=(DESTINATION, SOURCE, SMALL_SIZE, SOURCE_BYTES, POLICY)),
        line(slot("cop", "cg"), *_LANE_TAIL, operands=(DESTINATION, SOURCE, LARGE_SIZE, SOURCE_BYTES, POLICY)),
        line(slot("cop", "ca"), *_LANE_TAIL, operands=(DESTINATION, SOURCE, SMALL_SIZE, IGNORED, POLICY),
             since=since("7.5", 80)),
        line(slot("cop", "cg"), *_LANE_TAIL, operands=(DESTINATION, SOURCE, LARGE_SIZE, IGNORED, POLICY),
             since=since("7.5", 80)),
        line(word("commit_group")),
        line(word("wait_group"), operands=(GROUPS,)),
        line(word("wait_all")),
        line(word("mbarrier"), word("arrive"), flag("noinc"),
             slot("space", "shared shared::cta", shared__cta=since("7.8")).maybe, _B64, operands=(MBAR,)),
        rules=(rule(since=_SM_80),),
        about="copy from global to shared memory, each lane its bytes",
    ),
    family(
        "cp.async.bulk",
        *_ordered(CTA, FROM_GLOBAL, BY_MBARRIER, REPORT, L2_HINT, operands=(*_TRANSFER, MBAR, POLICY)),
        *_ordered(CTA, FROM_GLOBAL, BY_MBARRIER, REPORT, L2_HINT, IGNORE_OOB,
                  operands=(*_TRANSFER, LEFT, RIGHT, MBAR, POLICY)),
        *_ordered(CLUSTER, FROM_GLOBAL, BY_MBARRIER, REPORT, MULTICAST, L2_HINT,
                  operands=(*_TRANSFER, MBAR, MASK, POLICY)),
        *_ordered(CLUSTER, FROM_GLOBAL, BY_MBARRIER, REPORT, MULTICAST_WIDE, L2_HINT,
                  operands=(*_TRANSFER, MBAR, WIDE_MASK, POLICY)),
        *_ordered(CLUSTER, FROM_CTA, BY_MBARRIER, operands=(*_TRANSFER, MBAR), scope=NEAR_SCOPE),
        *_ordered(GLOBAL_DESTINATION, FROM_CTA, BY_GROUP, L2_HINT, CP_MASK, operands=(*_STORED, BYTE_MASK)),
        line(word("commit_group")),
        line(word("wait_group"), flag("read"), operands=(GROUPS,)),
        rules=(rule(since=_SM_90), _FAR_RELAXED, _VALIDITY_KNOWN),
        about="copy a run of bytes, by one lane",
    ),
    family(
        "cp.async.bulk.prefetch",
        line(L2, FROM_GLOBAL, L2_HINT, operands=(SOURCE, BYTES, POLICY), since=_SM_90),
        line(L2, FROM_GLOBAL, KEPT, operands=(SOURCE, BYTES)),
        about="bring a run of bytes into L2",
    ),
    family(
        "cp.reduce.async.bulk",
        line(RELAXED.maybe, NEAR_SCOPE.maybe, CLUSTER, FROM_CTA, BY_MBARRIER, ARITHMETIC,
             slot("type", "b32 u32 s32 b64 u64"), operands=(*_TRANSFER, MBAR), rules=INTO_CLUSTER),
        line(RELAXED.maybe, SCOPE.maybe, GLOBAL_DESTINATION, FROM_CTA, BY_GROUP, L2_HINT, ARITHMETIC, REDUCED,
             operands=_STORED, rules=INTO_GLOBAL),
        line(RELAXED.maybe, SCOPE.maybe, GLOBAL_DESTINATION, FROM_CTA, BY_GROUP, L2_HINT, slot("op", "add"), NOFTZ,
             HALF, operands=_STORED),
        rules=(rule(since=_SM_90), *TOGETHER),
        about="combine a run of elements into memory",
    ),
    family(
        "multimem.cp.async.bulk",
        *_ordered(GLOBAL_DESTINATION, FROM_CTA, BY_GROUP, CP_MASK, operands=(*_TRANSFER, BYTE_MASK)),
        rules=(rule(since=since("9.1", 90)),),
        about="copy a run of bytes to every replica",
    ),
    family(
        "multimem.cp.reduce.async.bulk",
        line(RELAXED.maybe, SCOPE.maybe, GLOBAL_DESTINATION, FROM_CTA, BY_GROUP, ARITHMETIC, REDUCED,
             operands=_TRANSFER, rules=INTO_GLOBAL),
        line(RELAXED.maybe, SCOPE.maybe, GLOBAL_DESTINATION, FROM_CTA, BY_GROUP, slot("op", "add"), NOFTZ, HALF,
             operands=_TRANSFER),
        rules=(rule(since=since("9.1", 90)), *TOGETHER),
        about="combine a run of elements into every replica",
    ),
    family(
        "cp.async.bulk.tensor",
        *_loads(CTA, _HALO, _HALO),
        *_loads(CLUSTER, _BLACKWELL, _BLACKWELL, MULTICAST),
        *_loads(CLUSTER, _BLACKWELL, _BLACKWELL, MULTICAST_WIDE),
        line(DIM, GLOBAL_DESTINATION, FROM_CTA, TILE, BY_GROUP, L2_HINT, operands=(TENSOR, SOURCE, POLICY)),
        line(DIM_2, GLOBAL_DESTINATION, FROM_CTA, SCATTER, BY_GROUP, L2_HINT, operands=(TENSOR, SOURCE, POLICY),
             since=_BLACKWELL),
        line(DIM_SPATIAL, GLOBAL_DESTINATION, FROM_CTA, NO_OFFSETS, BY_GROUP, L2_HINT,
             operands=(TENSOR, SOURCE, POLICY)),
        rules=(rule(since=_SM_90),),
        about="copy a box of a tensor",
    ),
    family(
        "cp.reduce.async.bulk.tensor",
        line(DIM, GLOBAL_DESTINATION, FROM_CTA, OPERATION, TILE, BY_GROUP, L2_HINT, operands=(TENSOR, SOURCE, POLICY)),
        line(DIM_SPATIAL, GLOBAL_DESTINATION, FROM_CTA, OPERATION, NO_OFFSETS, BY_GROUP, L2_HINT,
             operands=(TENSOR, SOURCE, POLICY)),
        rules=(rule(since=_SM_90),),
        about="combine a box into a tensor",
    ),
    family(
        "cp.async.bulk.prefetch.tensor",
        *(each for tail in (L2_HINT, KEPT) for each in _prefetches(tail)),
        rules=(rule(since=_SM_90),),
        about="bring a box of a tensor into L2",
    ),
    family(
        "applypriority.async.bulk",
        line(slot("space", "global").maybe, BY_GROUP, slot("level", "L2::evict_normal"), operands=(SOURCE, BYTES)),
        rules=(rule(since=RUBIN),),
        about="set the eviction priority of a run of bytes",
    ),
    family(
        "applypriority.async.bulk.tensor",
        line(DIM, slot("space", "global").maybe, TILE, BY_GROUP, slot("level", "L2::evict_normal"), operands=(TENSOR,)),
        rules=(rule(since=RUBIN),),
        about="set the eviction priority of a box of a tensor",
    ),
    family(
        "tensormap.replace",
        _field("global_address", _B64, NEW_64),
        _field("rank", _B32, NEW_32),
        _field("box_dim global_dim element_stride", _B32, _ORDINAL, NEW_32),
        _field("global_stride", _B64, _STRIDE_ORDINAL, NEW_64),
        *(_field(name, _B32, immediate("new", domain), exists=exists) for name, domain, exists in _ENUMERATED),
        rules=(rule(since=since("8.3", "sm_90a", *_NEWER)),),
        about="change a field of a tensor map",
    ),
    family(
        "tensormap.cp_fenceproxy",
        line(
            GLOBAL_DESTINATION, FROM_CTA, slot("proxies", "tensormap::generic"), slot("sem", "release"),
            slot("scope", "cta cluster gpu sys"), word("sync"), word("aligned"),
            operands=(DESTINATION, SOURCE, immediate("bytes", OneOf((128,)))), since=since("8.3", 90),
        ),
        about="copy a tensor map to global memory and release it to the tensor copies",
    ),
)  # fmt: skip
