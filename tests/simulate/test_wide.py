"""Accesses of 32 bytes and registers of 128 bits: every byte arrives, is judged, and is seen by the races."""

from typing import Any

import numpy as np
import pytest

from ptxgen.parse import parse
from ptxgen.simulate import simulate, unwritten

HEAD = """.version 8.8
.target {target}
.address_size 64
.visible .entry main(.param .u64 a, .param .u64 b)
{{
    .reg .b32 %t, %r<9>; .reg .b64 %p<5>, %w<5>; .reg .b128 %q<4>; .reg .pred %s;
    ld.param.u64 %p1, [a]; ld.param.u64 %p2, [b];
    mov.u32 %t, %tid.x; mul.wide.u32 %p3, %t, {stride}; add.s64 %p1, %p1, %p3; add.s64 %p2, %p2, %p3;
"""


def run(body: str, a: Any, b: Any, *, stride: int, target: str = "sm_100", block: int = 32):
    module = parse(HEAD.format(target=target, stride=stride) + body + "\n    ret;\n}\n")
    return simulate(module, grid=1, block=block, args=(a, b))


def words(count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, 1 << 32, (32, count), dtype=np.uint32)


def test_eight_words_at_once():
    a, b = words(8), np.zeros((32, 8), np.uint32)
    load, store = "ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%p1];", "st.global.v8.b32 [%p2],"
    report = run(f"{load} {store} {{%r8,%r7,%r6,%r5,%r4,%r3,%r2,%r1}};", a, b, stride=32)
    report.raise_findings()
    assert (b == a[:, ::-1]).all()
    assert [site.global_.sectors_per_request for site in report.global_sites] == [32, 32]


def test_four_doublewords_with_sinks():
    a, b = words(8), np.zeros((32, 8), np.uint32)
    run("ld.global.v4.b64 {_, %w1, _, %w2}, [%p1]; st.global.v4.u64 [%p2], {%w2, %w1, %w1, %w2};", a, b, stride=32)
    assert (b.view(np.uint64) == a.view(np.uint64)[:, [3, 1, 1, 3]]).all()


@pytest.mark.parametrize("body, code", [
    ("ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%p1+16];", "memory.misaligned"),
    ("ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%p1+4096];", "memory.bounds"),
    ("ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%p2];", "uninitialised.global"),
    ("ld.global.b128 %q1, [%p2];", "uninitialised.global"),
    ("st.global.v8.b32 [%p2], {%t,%t,%t,%t,%t,%t,%t,%t}; ld.global.b32 %r1, [%p2+44];", "race.global"),
])  # fmt: skip
def test_faults(body: str, code: str):
    report = run(body, words(8), unwritten(np.zeros((34, 8), np.uint32)), stride=32)
    assert code in {finding.code for finding in report.findings}


def test_the_last_of_eight_words_unwritten():
    b = np.zeros((32, 8), np.uint32)
    body = "st.global.v4.u32 [%p2], {%t,%t,%t,%t}; st.global.v2.u32 [%p2+16], {%t,%t}; st.global.u32 [%p2+24], %t;"
    report = run(
        f"{body} ld.global.v8.b32 {{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}}, [%p2];", words(8), unwritten(b), stride=32
    )
    assert [finding.code for finding in report.findings] == ["uninitialised.global"]


def test_registers_of_128_bits():
    a, b = words(4), np.zeros((32, 4), np.uint32)
    run("""
    ld.global.b128 %q1, [%p1]; mov.b128 {%w1, %w2}, %q1; mov.b128 %q2, {%w2, %w1}; mov.b128 %q3, %q1;
    setp.lt.u32 %s, %t, 9; @%s mov.b128 %q3, %q2; st.global.b128 [%p2], %q3;
    """, a, b, stride=16).raise_findings()  # fmt: skip
    swapped = np.arange(32)[:, None] < 9
    assert (b == np.where(swapped, a[:, [2, 3, 0, 1]], a)).all()


def test_bits_that_are_no_number_survive():
    a, b = np.full((32, 4), 0x7FF00001, np.uint32), np.zeros((32, 4), np.uint32)
    run("ld.global.b128 %q1, [%p1]; st.global.b128 [%p2], %q1;", a, b, stride=16)
    assert (b == a).all()


def test_exchange_of_128_bits():
    a, b = words(4), np.zeros((1, 4), np.uint32)
    body = "ld.global.b128 %q1, [%p1]; sub.s64 %p2, %p2, %p3; atom.global.relaxed.gpu.exch.b128 %q2, [%p2], %q1;"
    run(f"{body} st.global.b128 [%p1], %q2;", taken := a.copy(), b, stride=16, target="sm_90").raise_findings()
    assert (b[0] == a[31]).all()
    assert (taken == np.concatenate([np.zeros((1, 4), np.uint32), a[:31]])).all()


def test_compare_and_swap_of_128_bits_tells_minus_zero_and_nan_by_their_bits():
    values = [0x8000000000000000, 0x7FF8000000000001, 5]
    a = np.zeros((32, 2), np.uint64)
    a[:3, 1] = values
    for place in range(3):
        b = np.array([[0, values[place]]], np.uint64)
        run("""
        ld.global.b128 %q1, [%p1]; mov.b64 %w1, 77; mov.b128 %q2, {%w1, %w1};
        sub.s64 %p2, %p2, %p3; atom.global.cas.b128 %q3, [%p2], %q1, %q2;
        """, a.copy(), b, stride=16, target="sm_90").raise_findings()  # fmt: skip
        assert (b == 77).all(), place


def test_what_is_discarded_counts_as_unwritten():
    b = np.zeros((32, 32), np.uint32)
    report = run(
        "discard.global.L2 [%p2], 128; st.global.u32 [%p2+4], %t; ld.global.u32 %r1, [%p2+4];", b.copy(), b, stride=128
    )
    report.raise_findings()
    report = run("discard.global.L2 [%p2], 128; ld.global.u32 %r1, [%p2+124];", b.copy(), b, stride=128)
    assert [(finding.code, finding.count) for finding in report.findings] == [("uninitialised.global", 32)]
