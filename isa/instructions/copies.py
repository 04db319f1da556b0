"""Asynchronous copies of runs of bytes: by lane, in bulk, and to every replica."""

from __future__ import annotations

from isa.availability import ALWAYS, since
from isa.instructions.vocabulary import (
    DATACENTRE,
    L2_HINT,
    POLICY,
    RUBIN,
    immediate,
    predicate,
    value,
)  # fmt: skip
from isa.operands import OneOf, OperandKind, Range, Role
from isa.rows import Constraint, Line, Operand, Slot, family, flag, line, rule, slot, table, word
from isa.types import u16, u32

_SM_80, _SM_90 = since("7.0", 80), since("8.0", 90)


def _address(name: str) -> Operand:
    return Operand(name, Role.READ, OperandKind.ADDRESS)


DESTINATION, SOURCE, MBAR = _address("destination"), _address("source"), _address("mbar")

# Copies by lane.
TO_SHARED = slot("destination", "shared shared::cta", shared__cta=since("7.8"))
FROM_GLOBAL = slot("source", "global")
MBAR_SPACE = slot("space", "shared shared::cta", shared__cta=since("7.8"))
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
_SPELLED_OUT = slot(
    "multicast::cluster", "multicast::cluster multicast::cluster::16b", multicast__cluster__16b=since("9.4", 90)
)
MULTICAST = _SPELLED_OUT.maybe
MULTICAST_WIDE = word("multicast::cluster::32b", RUBIN)
MASK = Operand(
    "ctas", Role.READ, OperandKind.VALUE, u16, domain=Range(0, 2**16 - 1), when=("multicast::cluster",)
)  # fmt: skip
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
UNFLUSHED = slot("type", "f16 bf16 f32", f32=since("9.4", 90))
REDUCED = slot("type", "f16 bf16 b32 u32 s32 b64 u64 s64 f32 f64")
NOFTZ = word("noftz")
_TRANSFER = (DESTINATION, SOURCE, BYTES)
_STORED = (*_TRANSFER, POLICY)
L2 = slot("level", "L2")
KEPT = slot("priority", "L2::evict_last", L2__evict_last=RUBIN)


def _ordered(*slots: Slot, operands: tuple[Operand, ...], scope: Slot = SCOPE) -> tuple[Line, Line]:
    """A copy by weak accesses, and the same by relaxed ones of 16 bytes."""
    return line(WEAK, *slots, operands=operands), line(RELAXED, scope, *slots, ATOM, operands=operands)


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
        line(word("mbarrier"), word("arrive"), flag("noinc"), MBAR_SPACE.maybe, slot("type", "b64"), operands=(MBAR,)),
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
             UNFLUSHED, operands=_STORED),
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
        line(RELAXED.maybe, SCOPE.maybe, GLOBAL_DESTINATION, FROM_CTA, BY_GROUP, slot("op", "add"), NOFTZ, UNFLUSHED,
             operands=_TRANSFER),
        rules=(rule(since=since("9.1", 90)), *TOGETHER),
        about="combine a run of elements into every replica",
    ),
    family(
        "applypriority.async.bulk",
        line(slot("space", "global").maybe, BY_GROUP, slot("level", "L2::evict_normal"), operands=(SOURCE, BYTES)),
        rules=(rule(since=RUBIN),),
        about="set the eviction priority of a run of bytes",
    ),
)  # fmt: skip
