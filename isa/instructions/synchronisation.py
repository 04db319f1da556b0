"""Barriers among threads of a CTA and of a cluster, and fences."""

from __future__ import annotations

from isa.availability import since
from isa.instructions.vocabulary import (
    ADDRESS,
    MEMBERS,
    SCOPE,
    SEMANTICS_SINCE,
    immediate,
    predicate,
    value,
    written,
    written_predicate,
)  # fmt: skip
from isa.operands import OneOf, Range
from isa.rows import family, flag, line, rule, slot, word
from isa.types import u32

CTA = flag("cta", since("7.8"))
ALIGNED = flag("aligned")
IDENTITY = value("a", u32, Range(0, 15))
THREADS = value("b", u32, Range(32, 1024, 32))
THREADS_MAYBE = THREADS.maybe
VOTER = predicate("c", negatable=True)
_COUNT = (written("d", u32), IDENTITY, THREADS_MAYBE, VOTER)
_TRUTH = (written_predicate("p"), IDENTITY, THREADS_MAYBE, VOTER)
POPC, AND_OR = slot("op", "popc"), slot("op", "and or")
U32, PRED = slot("type", "u32"), slot("type", "pred")
SINCE_BARRIER = since("6.0", 30)
ARRIVED = slot("sem", "release relaxed", release=since("8.0", 90), relaxed=since("8.0", 90)).maybe

_ONE_WAY = since("8.6", 90)
RESTRICTED = {
    "acquire": slot("restrict", "sync_restrict::shared::cluster"),
    "release": slot("restrict", "sync_restrict::shared::cta"),
    "release of reads": slot("restrict", "sync_restrict::shared::cluster::read"),
}
PROXY = word("proxy")
_ALIAS, _ASYNC = since("7.5", 70), since("8.0", 90)
TENSOR_MAPS = slot("proxies", "tensormap::generic")
ASYNC_GENERIC = slot("proxies", "async::generic")
CLUSTER = slot("scope", "cluster")
ACQUIRE, RELEASE = slot("sem", "acquire"), slot("sem", "release")
EITHER, SYSTEM = slot("sem", "acquire release"), slot("scope", "sys")
MAP_BYTES = immediate("size", OneOf((128,)))

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
    family(
        "membar",
        line(slot("level", "cta gl sys")),
        line(PROXY, slot("kind", "alias async", alias=since("7.5", 60), **{"async": _ASYNC})),
        about="memory barrier, the old spelling",
    ),
    family(
        "fence",
        line(
            slot("sem", "sc acq_rel acquire release", acquire=_ONE_WAY, release=_ONE_WAY).maybe, SCOPE,
            since=SEMANTICS_SINCE,
        ),
        line(ACQUIRE, RESTRICTED["acquire"], CLUSTER, since=_ONE_WAY),
        line(RELEASE, RESTRICTED["release"], CLUSTER, since=_ONE_WAY),
        line(word("mbarrier_init"), RELEASE, CLUSTER, since=_ASYNC),
        line(PROXY, slot("kind", "alias async", alias=_ALIAS, **{"async": _ASYNC})),
        line(PROXY, slot("kind", "alias"), EITHER, SYSTEM, since=since("9.4", 90)),
        line(PROXY, slot("kind", "async"), slot("space", "global shared::cta shared::cluster"), since=_ASYNC),
        line(PROXY, TENSOR_MAPS, RELEASE, SCOPE, since=since("8.3", 90)),
        line(PROXY, TENSOR_MAPS, ACQUIRE, SCOPE, operands=(ADDRESS, MAP_BYTES), since=since("8.3", 90)),
        line(PROXY, ASYNC_GENERIC, ACQUIRE, RESTRICTED["acquire"], CLUSTER, since=_ONE_WAY),
        line(PROXY, ASYNC_GENERIC, RELEASE, RESTRICTED["release"], CLUSTER, since=_ONE_WAY),
        line(PROXY, ASYNC_GENERIC, RELEASE, RESTRICTED["release of reads"], CLUSTER, since=since("9.4", 90)),
        line(
            PROXY, slot("proxies", "generic::fabric fabric::generic fabric::fabric"), slot("kind", "alias"), EITHER,
            SYSTEM, since=since("9.3", 100),
        ),
        about="order memory accesses",
    ),
)  # fmt: skip
