"""Batches of CTAs in several processes: the same arrays, findings and counts as in one, or one process after all."""

from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

from ptxgen.ir import Module
from ptxgen.parse import parse
from ptxgen.simulate import NO_CHECKS, Report, simulate, unwritten

TEXT = """.version 7.0
.target sm_70
.address_size 64
.visible .entry main(.param .u64 x, .param .u64 y, .param .u32 n)
{{
    .reg .b32 %r<9>; .reg .b64 %p<9>; .reg .pred %q;
    .shared .b32 room[256];
    ld.param.u64 %p1, [x]; ld.param.u64 %p2, [y]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r2, 256, %r3;
    setp.ge.u32 %q, %r4, %r1; @%q ret;
    mul.wide.u32 %p3, %r4, 4; add.s64 %p4, %p1, %p3; add.s64 %p5, %p2, %p3;
    ld.global.u32 %r5, [%p4];
    mov.u32 %r6, room; mad.lo.u32 %r7, %r3, 4, %r6; st.shared.u32 [%r7], %r5;
    {body}
    st.global.u32 [%p5], %r5;
    ret;
}}
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2) as made:
        yield made


class Counting(Executor):
    """Runs at once, and counts what it ran."""

    ran = 0

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self.ran += 1
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


def told(report: Report) -> tuple[Any, ...]:
    sites = [(each.count, each.shared, each.global_) for each in report.statements]
    return report.findings, sites, report.total, report.printed


def both(
    body: str, executor: Executor, n: int = 80000, **options: Any
) -> tuple[Report, np.ndarray, Report, np.ndarray]:
    module: Module = parse(TEXT.format(body=body))
    found = []
    for chosen in (None, executor):
        x, y = (whole := np.zeros((2, n + 64), np.uint32))
        whole[0] = np.arange(n + 64)
        args = (x, unwritten(y), n)
        found += [simulate(module, grid=-(-n // 256), block=256, args=args, executor=chosen, **options), y]
    return tuple(found)  # type: ignore[return-value]


BODIES = {
    "clean": "add.u32 %r5, %r5, 7;",
    "races within CTAs": "xor.b32 %r7, %r7, 128; ld.shared.u32 %r5, [%r7];",
    "reads what nothing wrote": "ld.global.u32 %r8, [%p5]; add.u32 %r5, %r5, 1;",
    "out of bounds": "ld.global.u32 %r8, [%p5+40000000];",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_the_same_in_two_processes(body: str, pool: ProcessPoolExecutor):
    one, y, two, z = both(body, pool)
    assert (y == z).all()
    assert y[:80000].any()
    assert told(one) == told(two)


FAR = "xor.b32 %r8, %r2, 255; mul.wide.u32 %p6, %r8, 4; add.s64 %p6, %p2, %p6; st.global.u32 [%p6], 5;"
COMMUNICATING = ("atom.global.add.u32 %r5, [%p2], 1;", FAR)


def test_threads_that_do_not_communicate_are_run_apart_and_others_are_not():
    counting = Counting()
    both(BODIES["clean"], counting)
    assert counting.ran >= 1
    for body in COMMUNICATING:
        one, y, two, z = both(body, counting)
        assert (y == z).all()
        assert told(one) == told(two)


def test_what_needs_one_order_is_left_to_one_process():
    for options in ({"seed": 1}, {"limit": 1 << 30}, {"n": 500}):
        counting = Counting()
        both(BODIES["clean"], counting, **options)
        assert counting.ran == 0
    counting = Counting()
    both("mov.u32 %r5, %clock;", counting)
    both("membar.gl;", counting)
    assert counting.ran == 0


def test_races_are_not_told_where_nobody_asked():
    one, y, two, z = both(BODIES["races within CTAs"], Counting(), checks=NO_CHECKS)
    assert one.findings == two.findings == ()
    assert (y == z).all()
