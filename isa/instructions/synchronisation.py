"""Barriers, fences, votes, and atomic operations."""

from __future__ import annotations

from isa.availability import since, until
from isa.instructions.vocabulary import (
    ADDRESS,
    L2_HINT,
    MEMBERS,
    POLICY,
    SCOPE,
    SEMANTICS_SINCE,
    SHARED_WINDOWS,
    A,
    B,
    C,
    D,
    predicate,
    register,
    value,
    written,
    written_predicate,
)  # fmt: skip
from isa.operands import Range
from isa.rows import Constraint, family, flag, line, rule, slot, table, word
from isa.types import b32, u32

CTA = flag("cta", since("7.8"))
ALIGNED = flag("aligned")
IDENTITY = value("a", u32, Range(0, 15))
BITS_A = value("a", u32)
THREADS = value("b", u32, Range(32, 1024, 32))
THREADS_MAYBE = THREADS.maybe
OLD = written(sink=True)
VOTER = predicate("c", negatable=True)
_COUNT = (written("d", u32), IDENTITY, THREADS_MAYBE, VOTER)
_TRUTH = (written_predicate("p"), IDENTITY, THREADS_MAYBE, VOTER)
POPC, AND_OR = slot("op", "popc"), slot("op", "and or")
U32, PRED, WORD = slot("type", "u32"), slot("type", "pred"), slot("type", "b32")
SINCE_BARRIER = since("6.0", 30)

SEM = slot("sem", "relaxed acquire release acq_rel").maybe
_ORDERED = rule(when={"sem": "*"}, since=SEMANTICS_SINCE)
_WIDEST = rule(when={"type": "b128", "scope": "sys"}, since=since("8.4", 90))
ATOMIC_SCOPE = slot(
    "scope", "cta cluster gpu sys", cta=since("5.0", 60), gpu=since("5.0", 60), sys=since("5.0", 60),
    cluster=since("7.8", 90),
).maybe  # fmt: skip
SPACE = slot("space", "global shared shared::cta shared::cluster", **SHARED_WINDOWS).maybe
ARITHMETIC = slot("op", "and or xor add inc dec min max")
ATOMIC_TYPE = slot("type", "b32 b64 u32 u64 s32 s64 f32 f64", f64=since("5.0", 60))
SWAPPED = slot("type", "b16 b32 b64 b128", b16=since("6.3", 70), b128=since("8.3", 90))
PACKED = slot(
    "type", "f16 f16x2 bf16 bf16x2",
    f16=since("6.3", 70), f16x2=since("6.2", 60), bf16=since("7.8", 90), bf16x2=since("7.8", 90),
)  # fmt: skip
NOFTZ = word("noftz")
CAS = slot("op", "cas")
ARRIVED = slot("sem", "release relaxed", release=since("8.0", 90), relaxed=since("8.0", 90)).maybe

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
_SWAPPED_REGISTERS = (register("b"), register("c"))
_ATOM, _RED = (OLD, ADDRESS, B, POLICY), (ADDRESS, B, POLICY)
_HINT_RULE = rule(when={"L2::cache_hint": "*"}, only={"space": "- global"})

FAMILIES = (
    family(
        "bar",
        line(CTA, word("sync"), operands=(IDENTITY, THREADS_MAYBE)),
        line(CTA, word("arrive"), operands=(IDENTITY, THREADS)),
        line(CTA, word("red"), POPC, U32, operands=_COUNT),
        line(CTA, word("red"), AND_OR, PRED, operands=_TRUTH),
        about="barrier among warps of a CTA, all lanes of a warp together",
    ),
    family(
        "barrier",
        line(CTA, word("sync"), ALIGNED, operands=(IDENTITY, THREADS_MAYBE)),
        line(CTA, word("arrive"), ALIGNED, operands=(IDENTITY, THREADS)),
        line(CTA, word("red"), POPC, ALIGNED, U32, operands=_COUNT),
        line(CTA, word("red"), AND_OR, ALIGNED, PRED, operands=_TRUTH),
        rules=(rule(since=SINCE_BARRIER),),
        about="barrier among threads of a CTA",
    ),
    family(
        "barrier.cluster",
        line(word("arrive"), ARRIVED, ALIGNED),
        line(word("wait"), slot("sem", "acquire", acquire=since("8.0", 90)).maybe, ALIGNED),
        rules=(rule(since=since("7.8", 90)),),
        about="barrier among threads of a cluster",
    ),
    family(
        "bar.warp.sync",
        line(operands=(MEMBERS,), since=since("6.0", 30)),
        about="barrier among lanes of a warp",
    ),
    family("membar", line(slot("level", "cta gl sys")), about="memory barrier, the old spelling"),
    family(
        "fence",
        line(slot("sem", "sc acq_rel acquire release", acquire=since("8.6", 90), release=since("8.6", 90)).maybe, SCOPE,
            since=SEMANTICS_SINCE,
        ),
        line(word("proxy"), slot("kind", "alias async", alias=since("7.5", 70), **{"async": since("8.0", 90)})),
        line(word("proxy"), slot("kind", "async"), slot("space", "global shared::cta shared::cluster"),
             since=since("8.0", 90)),
        line(word("mbarrier_init"), slot("sem", "release"), slot("scope", "cluster"), since=since("8.0", 90)),
        about="order memory accesses",
    ),
    family(
        "vote",
        line(slot("mode", "all any uni"), PRED, operands=(written_predicate("d"), predicate("a", negatable=True)),
             since=until("6.3", 70)),
        line(slot("mode", "ballot"), WORD, operands=(written("d", b32), predicate("a", negatable=True)),
             since=until("6.3", 70)),
        line(word("sync"), slot("mode", "all any uni"), PRED, since=since("6.0", 30),
             operands=(written_predicate("d"), predicate("a", negatable=True), MEMBERS)),
        line(word("sync"), slot("mode", "ballot"), WORD, since=since("6.0", 30),
             operands=(written("d", b32), predicate("a", negatable=True), MEMBERS)),
        about="agree on a predicate within a warp",
    ),
    family(
        "match",
        line(slot("mode", "any"), word("sync"), slot("type", "b32 b64"), operands=(written("d", u32), A, MEMBERS)),
        line(slot("mode", "all"), word("sync"), slot("type", "b32 b64"), operands=(
            written("d", u32), written_predicate("p", joined=True, optional=True), A, MEMBERS)),
        rules=(rule(since=since("6.0", 70)),),
        about="which lanes hold the same value",
    ),
    family(
        "redux.sync",
        line(slot("op", "add min max"), slot("type", "u32 s32"), operands=(D, A, MEMBERS), since=since("7.0", 80)),
        line(slot("op", "and or xor"), WORD, operands=(written("d", u32), BITS_A, MEMBERS), since=since("7.0", 80)),
        about="reduce over the lanes of a warp",
    ),
    family(
        "atom",
        line(SEM, ATOMIC_SCOPE, SPACE, ARITHMETIC, L2_HINT, ATOMIC_TYPE, operands=_ATOM, rules=OPERATIONS),
        line(SEM, ATOMIC_SCOPE, SPACE, slot("op", "exch"), L2_HINT, SWAPPED.of("b32", "b64", "b128"), operands=_ATOM),
        line(SEM, ATOMIC_SCOPE, SPACE, CAS, SWAPPED.of("b16", "b32", "b64"), operands=(OLD, ADDRESS, B, C)),
        line(SEM, ATOMIC_SCOPE, SPACE, CAS, SWAPPED.of("b128"), operands=(OLD, ADDRESS, *_SWAPPED_REGISTERS)),
        line(SEM, ATOMIC_SCOPE, SPACE, slot("op", "add"), NOFTZ, L2_HINT, PACKED, operands=_ATOM),
        rules=(_HINT_RULE, _ORDERED, _WIDEST),
        about="read, modify and write at once; d is the old value",
    ),
    family(
        "red",
        line(SEM, ATOMIC_SCOPE, SPACE, ARITHMETIC, L2_HINT, ATOMIC_TYPE, operands=_RED, rules=OPERATIONS),
        line(SEM, ATOMIC_SCOPE, SPACE, slot("op", "add"), NOFTZ, L2_HINT, PACKED, operands=_RED),
        rules=(_HINT_RULE, _ORDERED, rule(never={"sem": "acquire acq_rel"})),
        about="modify memory at once, without the old value",
    ),
)  # fmt: skip
