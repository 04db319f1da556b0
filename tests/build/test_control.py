"""Structured flow means what Python's flow means, judged by running the instructions one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.types import s32
from ptxgen.build import Kernel, Module, Value
from tests.build.interpreter import run


def stored(write, **arguments: int) -> list[int]:
    """What a kernel of s32 parameters stores, written by `write(k)`."""
    module = Module("sm_70")
    with module.kernel("k", **dict.fromkeys(arguments, s32)) as k:
        write(k)
    return run(module.build().function("k"), arguments)


def put(k: Kernel, value: Value | int) -> None:
    k.st.local.s32(0, value)


bounds = st.integers(-4, 9)
steps = st.sampled_from([-3, -2, -1, 1, 2, 3])


@given(bounds, bounds, steps)
def test_range_between_registers(start: int, stop: int, step: int) -> None:
    def write(k: Kernel) -> None:
        with k.range(k.args.start, k.args.stop, step) as i:
            put(k, i)

    assert stored(write, start=start, stop=stop) == list(range(start, stop, step))


@given(bounds, bounds, steps)
def test_range_between_numbers(start: int, stop: int, step: int) -> None:
    def write(k: Kernel) -> None:
        with k.range(start, stop, step) as i:
            put(k, i)

    assert stored(write) == list(range(start, stop, step))


@given(bounds)
def test_when_and_otherwise(n: int) -> None:
    def write(k: Kernel) -> None:
        with k.when(k.setp.lt.s32(k.args.n, 3)):
            put(k, 1)
            with k.when(~k.setp.lt.s32(k.args.n, 0)):
                put(k, 2)
            with k.otherwise():
                put(k, 3)
        with k.otherwise():
            put(k, 4)
        put(k, 5)

    assert stored(write, n=n) == ([1, 2 if n >= 0 else 3] if n < 3 else [4]) + [5]


@given(bounds)
def test_a_loop_that_breaks_and_continues(n: int) -> None:
    def write(k: Kernel) -> None:
        i = k.register(s32, 0)
        with k.loop() as loop:
            k.add.s32(i, 1, into=i)
            loop.break_(k.setp.gt.s32(i, k.args.n))
            loop.continue_(k.setp.eq.s32(i, 4))
            put(k, i)

    assert stored(write, n=n) == [i for i in range(1, n + 1) if i != 4]


@given(bounds)
def test_a_loop_tested_at_the_bottom(n: int) -> None:
    def write(k: Kernel) -> None:
        i = k.register(s32, 0)
        with k.loop() as loop:
            put(k, i)
            k.add.s32(i, 1, into=i)
            loop.while_(k.setp.lt.s32(i, k.args.n))

    assert stored(write, n=n) == [0, *range(1, n)]


@given(bounds, bounds)
def test_a_range_that_breaks_and_continues(n: int, skipped: int) -> None:
    def write(k: Kernel) -> None:
        loop = k.range(0, k.args.n, 2)
        with loop as i:
            loop.continue_(k.setp.eq.s32(i, k.args.skipped))
            loop.break_(k.setp.gt.s32(i, 5))
            put(k, i)

    assert stored(write, n=n, skipped=skipped) == [i for i in range(0, n, 2) if i != skipped and i <= 5]


@pytest.mark.parametrize("n", [1, 7])
def test_guards_and_labels(n: int) -> None:
    def write(k: Kernel) -> None:
        small = k.setp.lt.s32(k.args.n, 4)
        end = k.label("end")
        value = k.register(s32, 10)
        with k.guard(small):
            k.add.s32(value, 1, into=value)
        with k.guard(~small):
            k.mul.lo.s32(value, 2, into=value)
            k.bra(end)
        put(k, value)
        end.place()
        put(k, 0)

    assert stored(write, n=n) == ([11, 0] if n < 4 else [0])


def test_the_bottom_test_is_one_branch_a_round() -> None:
    module = Module("sm_70")
    with module.kernel("k", n=s32) as k, k.range(0, k.args.n) as i:
        put(k, i)
    names = [each.form.name for each in module.build().function("k").instructions()]
    assert names == [
        "ld.param.s32",
        "mov.s32",
        "setp.ge.s32",
        "bra",
        "st.local.s32",
        "add.s32",
        "setp.lt.s32",
        "bra",
        "ret",
    ]
