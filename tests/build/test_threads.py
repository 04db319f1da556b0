"""Registers whose nodes kernels share, taken by several threads at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from isa.types import b32
from ptxgen.build import Module
from ptxgen.build.registers import Pool, forget

THREADS, ROUNDS, TAKEN = 4, 20, 600


@pytest.fixture(autouse=True)
def often_switched() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_each_thread_has_every_register_once() -> None:
    for _ in range(ROUNDS):
        forget()
        begun = Barrier(THREADS)

        def names(_: int, begun: Barrier = begun) -> list[str]:
            with Module("sm_90").kernel("k") as k:
                pool = Pool(k._draft, b32)
                begun.wait()
                return [pool.take().node.name for _ in range(TAKEN)]

        with ThreadPoolExecutor(THREADS) as pool:
            for found in pool.map(names, range(THREADS)):
                assert found == [f"%r{n}" for n in range(TAKEN)]
