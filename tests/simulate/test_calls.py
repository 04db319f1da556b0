"""Functions: arguments in memory and registers, recursion, calls through addresses, divergence inside."""

import math

import numpy as np
import pytest

from ptxgen.errors import KernelError
from ptxgen.parse import parse
from ptxgen.simulate import simulate

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
FACTORIAL = """
.func (.param .b32 result) factorial(.param .b32 n)
{
    .reg .b32 %r<6>; .reg .pred %p;
    ld.param.u32 %r1, [n];
    setp.lt.u32 %p, %r1, 2;
    @%p bra LAST;
    sub.u32 %r2, %r1, 1;
    { .param .b32 given; .param .b32 taken;
      st.param.b32 [given+0], %r2;
      call.uni (taken), factorial, (given);
      ld.param.b32 %r3, [taken+0]; }
    mul.lo.u32 %r4, %r3, %r1;
    st.param.b32 [result+0], %r4;
    ret;
LAST:
    st.param.b32 [result+0], 1;
    ret;
}
"""
KERNEL = """
.visible .entry main(.param .u64 out)
{
    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    BODY
    st.global.u32 [%rd3], %r2;
    ret;
}
"""


def run(functions: str, body: str, threads: int = 64, seed: int | None = None):
    out = np.zeros(threads, np.uint32)
    module = parse(HEAD + functions + KERNEL.replace("BODY", body))
    report = simulate(module, "main", grid=1, block=threads, args=(out,), seed=seed)
    return report, out


def test_recursion_of_different_depths():
    report, out = run(FACTORIAL, """
    and.b32 %r1, %r1, 7;
    { .param .b32 given; .param .b32 taken;
      st.param.b32 [given+0], %r1;
      call.uni (taken), factorial, (given);
      ld.param.b32 %r2, [taken+0]; }
    """)  # fmt: skip
    report.raise_findings()
    assert out.tolist() == [math.factorial(thread & 7) for thread in range(64)]


def test_endless_recursion_is_a_finding():
    report, _ = run(FACTORIAL, """
    { .param .b32 given; .param .b32 taken;
      st.param.b32 [given+0], 1000000;
      call.uni (taken), factorial, (given);
      ld.param.b32 %r2, [taken+0]; }
    """)  # fmt: skip
    assert report.findings[0].code == "stack.overflow"
    assert "factorial" in report.findings[0].message


PAIR = """
.func (.reg .b32 sum) twice(.reg .b32 x) { add.u32 sum, x, x; ret; }
.func (.reg .b32 sum) loops(.reg .b32 x)
{
    .reg .pred %q; .reg .b32 %c;
    mov.u32 %c, x; mov.u32 sum, 0;
AGAIN:
    setp.eq.u32 %q, %c, 0;
    @%q ret;
    add.u32 sum, sum, %c;
    sub.u32 %c, %c, 1;
    bra AGAIN;
}
"""


def test_registers_as_arguments_and_lanes_that_return_early():
    report, out = run(PAIR, """
    setp.lt.u32 %p, %r1, 40;
    mov.u32 %r2, 7;
    @%p call (%r2), loops, (%r1);
    call (%r2), twice, (%r2);
    """)  # fmt: skip
    report.raise_findings()
    assert out.tolist() == [2 * (thread * (thread + 1) // 2 if thread < 40 else 7) for thread in range(64)]


TABLE = """
.func (.param .b32 result) first(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r2, %r1, 100; st.param.b32 [result], %r2; ret; }
.func (.param .b32 result) second(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [x]; mul.lo.u32 %r2, %r1, 3; st.param.b32 [result], %r2; ret; }
.global .align 8 .u64 table[2] = {first, second};
"""


def test_calls_through_a_table_of_addresses():
    report, out = run(TABLE, """
    and.b32 %r4, %r1, 1;
    mul.wide.u32 %rd5, %r4, 8;
    mov.u64 %rd6, table;
    add.s64 %rd6, %rd6, %rd5;
    ld.global.u64 %rd7, [%rd6];
    { .param .b32 given; .param .b32 taken;
      st.param.b32 [given], %r1;
      prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (taken), %rd7, (given), prototype;
      ld.param.b32 %r2, [taken]; }
    """)  # fmt: skip
    report.raise_findings()
    assert out.tolist() == [thread * 3 if thread & 1 else thread + 100 for thread in range(64)]


def test_functions_have_local_memory_of_their_own():
    function = """
.func (.reg .b32 back) keep(.reg .b32 x)
{
    .local .align 4 .b32 place[2]; .reg .b64 %a; .reg .b32 %t;
    mov.u64 %a, place;
    st.local.u32 [%a+4], x;
    ld.local.u32 back, [%a+4];
    ret;
}
"""
    report, out = run(function, """
    .local .align 4 .b32 mine;
    st.local.u32 [mine], %r1;
    call (%r3), keep, (5);
    ld.local.u32 %r2, [mine];
    add.u32 %r2, %r2, %r3;
    """)  # fmt: skip
    report.raise_findings()
    assert out.tolist() == [thread + 5 for thread in range(64)]


def test_what_a_function_left_unwritten_is_found():
    function = """
.func (.param .b32 result) nothing(.param .b32 x) { ret; }
"""
    report, _ = run(function, """
    { .param .b32 given; .param .b32 taken;
      st.param.b32 [given], %r1;
      call (taken), nothing, (given);
      ld.param.b32 %r2, [taken]; }
    """)  # fmt: skip
    assert [finding.code for finding in report.findings] == ["uninitialised.local"]


def test_functions_without_a_body_are_refused_by_name():
    with pytest.raises(KernelError, match="outside, which has no body"):
        run(".extern .func outside ();", "call outside;")


def test_a_barrier_in_a_function_that_some_warps_never_call_is_a_deadlock():
    report, _ = run(".func wait () { bar.sync 0; bar.sync 1; ret; }", """
    mov.u32 %r2, 0; setp.lt.u32 %p, %r1, 32;
    @%p call wait;
    @!%p bar.sync 0;
    @!%p bar.sync 2;
    """)  # fmt: skip
    assert [finding.code for finding in report.findings] == ["deadlock", "deadlock"]


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_barriers_in_functions_are_those_of_the_cta(seed: int | None):
    function = """
.func wait (.param .b32 number) { .reg .b32 %b; ld.param.u32 %b, [number]; bar.sync %b, 64; ret; }
"""
    _, out = run(function, """
    .shared .b32 room[64]; .reg .b32 %a;
    mov.u32 %a, room; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %a;
    st.shared.u32 [%r3], %r1;
    setp.lt.u32 %p, %r1, 32;
    { .param .b32 given;
      st.param.b32 [given], 3;
      @%p bra OTHER;
      call wait, (given);
      bra JOINED;
OTHER:
      call wait, (given); }
JOINED:
    xor.b32 %r3, %r3, 252; ld.shared.u32 %r2, [%r3];
    """, seed=seed)  # fmt: skip
    assert out.tolist() == [63 - thread for thread in range(64)]


def test_a_call_through_an_address_of_no_function():
    report, out = run(TABLE, """
    .reg .u64 %t;
    mov.u32 %r2, 1; mov.u64 %t, 64;
    { .param .b32 given; .param .b32 taken;
      st.param.b32 [given], %r1;
      proto: .callprototype (.param .b32 _) _ (.param .b32 _);
      setp.eq.u32 %p, %r1, 5;
      @%p call (taken), %t, (given), proto; }
    """)  # fmt: skip
    assert [(finding.code, finding.count) for finding in report.findings] == [("call.target", 1)]
    assert out.tolist() == [int(thread != 5) for thread in range(64)]


def test_a_stack_that_grows_is_given_back_and_ends():
    body = """
    .reg .u64 %a<4>, %top; .reg .pred %more;
    mov.u32 %r3, 0; stacksave.u64 %top;
AGAIN:
    mov.u64 %a1, SIZE; alloca.u64 %a2, %a1, 16; st.local.u32 [%a2], %r1; RESTORE
    add.u32 %r3, %r3, 1; setp.lt.u32 %more, %r3, 8; @%more bra AGAIN;
    ld.local.u32 %r2, [%a2];
    """
    report, out = run("", body.replace("SIZE", "128").replace("RESTORE", ""))
    assert (report.findings, out.tolist()) == ((), list(range(64)))
    report, _ = run("", body.replace("SIZE", "144").replace("RESTORE", ""))
    assert [finding.code for finding in report.findings] == ["stack.overflow"]
    report, out = run("", body.replace("SIZE", "1000").replace("RESTORE", "stackrestore.u64 %top;"))
    assert (report.findings, out.tolist()) == ((), list(range(64)))
    unwritten = "mov.u64 %a1, 16; alloca.u64 %a2, %a1; ld.local.u32 %r2, [%a2];"
    report, _ = run("", ".reg .u64 %a<4>;" + unwritten)
    assert [finding.code for finding in report.findings] == ["uninitialised.local"]
