"""What fences and strong accesses order between threads: by the manual's memory model, case by case, each with the same
message passed with one thing weaker."""

import numpy as np
import pytest

from ptxgen.parse import parse
from ptxgen.simulate import LimitReached, simulate

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry main(.param .u64 data, .param .u64 out)
{{
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
.shared .align 4 .b32 word; .shared .align 4 .b32 flag;
ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [out];
mov.u32 %r1, {who};
setp.ne.u32 %p1, %r1, 0;
mov.u32 %r7, %tid.x; setp.eq.u32 %p3, %r7, 0;
@%p1 bra READER;
{send}
bra END;
READER:
{receive}
END:
ret;
}}
"""
SEND = "@%p3 st{space} [{data}], 7;\n{fence}\n@%p3 st{release}{space} [{flag}], 1;"
RECEIVE = """
ASK:
ld{acquire}{space} %r3, [{flag}];
setp.eq.u32 %p2, %r3, 0;
@%p2 bra ASK;
{fence}
ld{space} %r4, [{data}];
st.global.u32 [%rd2], %r4;
"""
GLOBAL = {"space": ".global.u32", "data": "%rd1", "flag": "%rd1+16", "who": "%ctaid.x"}
SHARED = {"space": ".shared.u32", "data": "word", "flag": "flag", "who": "%tid.x"}
FENCED = {"release": ".relaxed.gpu", "acquire": ".relaxed.gpu"}
ORDERED = {
    "fences": (FENCED, "fence.acq_rel.gpu;", "fence.acq_rel.gpu;"),
    "membars": (FENCED, "membar.gl;", "membar.sys;"),
    "volatile and fences": ({"release": ".volatile", "acquire": ".volatile"}, "fence.sc.gpu;", "fence.sc.sys;"),
    "a release and an acquire": ({"release": ".release.gpu", "acquire": ".acquire.gpu"}, "", ""),
    "a release and a fence": ({"release": ".release.gpu", "acquire": ".relaxed.gpu"}, "", "fence.acq_rel.gpu;"),
    "a fence and an acquire": ({"release": ".relaxed.gpu", "acquire": ".acquire.sys"}, "fence.acq_rel.gpu;", ""),
}
BROKEN = {
    "no fence of the sender": (FENCED, "", "fence.acq_rel.gpu;"),
    "no fence of the receiver": (FENCED, "fence.acq_rel.gpu;", ""),
    "a relaxed store": ({"release": ".relaxed.gpu", "acquire": ".acquire.gpu"}, "", ""),
    "a relaxed load": ({"release": ".release.gpu", "acquire": ".relaxed.gpu"}, "", ""),
}
NARROW = {
    "a sender's fence of its CTA": (FENCED, "fence.acq_rel.cta;", "fence.acq_rel.gpu;"),
    "a receiver's fence of its CTA": (FENCED, "membar.gl;", "membar.cta;"),
    "a release for the CTA": ({"release": ".release.cta", "acquire": ".acquire.gpu"}, "", ""),
    "an acquire for the CTA": ({"release": ".release.gpu", "acquire": ".acquire.cta"}, "", ""),
}


def passed(words, sent, received, place, seed):
    send = SEND.format(fence=sent, **words, **place)
    receive = RECEIVE.format(fence=received, **words, **place)
    module = parse(HEAD.format(send=send, receive=receive, who=place["who"]))
    data, out = np.zeros(8, np.uint32), np.zeros(1, np.uint32)
    report = simulate(module, grid=2, block=1, args=(data, out), seed=seed, limit=20_000)
    return {each.code for each in report.findings}, int(out[0])


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
@pytest.mark.parametrize("how", ORDERED)
def test_a_message_arrives(how, seed):
    assert passed(*ORDERED[how], GLOBAL, seed) == (set(), 7)


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("how", [*BROKEN, *NARROW])
def test_a_message_that_nothing_orders_is_a_race(how, seed):
    found, _ = passed(*{**BROKEN, **NARROW}[how], GLOBAL, seed)
    assert found == {"race.global"}


IN_A_CTA = """
setp.ne.u32 %p1, %r7, 32;
mov.u32 %r5, 0;
@%p3 st.shared.u32 [flag], %r5;
bar.sync 0;
@!%p3 bra SECOND;
{send}
bra END;
SECOND:
@%p1 bra END;
{receive}
"""


@pytest.mark.parametrize("how", [*ORDERED, *NARROW])
def test_within_a_cta_the_scope_of_the_cta_is_enough(how):
    words, sent, received = {**ORDERED, **NARROW}[how]
    send, receive = SEND.format(fence=sent, **words, **SHARED), RECEIVE.format(fence=received, **words, **SHARED)
    text = HEAD.format(send=IN_A_CTA.format(send=send, receive=receive), receive="", who="0")
    out = np.zeros(1, np.uint32)
    simulate(parse(text), grid=1, block=64, args=(np.zeros(8, np.uint32), out), limit=20_000).raise_findings()
    assert out[0] == 7


LAST = """
@!%p3 bra END;
st.volatile.global.u32 [%rd3], 5;
{fence}
atom.global.add.u32 %r3, [%rd1+16], 1;
setp.ne.u32 %p2, %r3, 1;
@%p2 bra END;
ld.volatile.global.u32 %r4, [%rd1]; ld.volatile.global.u32 %r5, [%rd1+4];
add.u32 %r4, %r4, %r5; st.global.u32 [%rd2], %r4;
"""


def summed(fence, seed):
    """Two CTAs, of which the one that comes last adds what both have written."""
    start = "mov.u32 %r8, %ctaid.x; mul.wide.u32 %rd3, %r8, 4; add.s64 %rd3, %rd3, %rd1;"
    text = HEAD.format(send=start + LAST.format(fence=fence), receive="", who="0")
    out = np.zeros(1, np.uint32)
    report = simulate(parse(text), grid=2, block=32, args=(np.zeros(8, np.uint32), out), seed=seed)
    return report.findings, int(out[0])


def test_strong_writes_come_late_without_a_fence():
    """Strong accesses never race, so that only a result tells: in some orders the sum lacks a part."""
    assert {summed("", seed) for seed in range(20)} == {((), 5), ((), 10)}
    assert {summed("membar.cta;", seed) for seed in range(20)} == {((), 5), ((), 10)}
    assert {summed("membar.gl;", seed) for seed in (None, *range(20))} == {((), 10)}


def test_what_was_found_until_a_limit_is_told():
    text = HEAD.format(send="ld.global.u32 %r2, [%rd1+2];\nROUND: bra ROUND;", receive="", who="0")
    with pytest.raises(LimitReached) as stopped:
        simulate(parse(text), grid=1, block=32, args=(np.zeros(8, np.uint32), np.zeros(1, np.uint32)), limit=500)
    assert [each.code for each in stopped.value.report.findings] == ["memory.misaligned"]
