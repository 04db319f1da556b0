"""Plans derived side by side by threads give the text that they give one after the other."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import _lru_cache_wrapper

import pytest

from ptxgen.build.registers import forget as forget_registers
from ptxgen.emit import emit
from ptxgen.lower import lower
from tests.prove.menu import menu

THREADS, ROUNDS = 4, 2
NAMES = ("sm_75, one slab", "sm_80, 3 slabs", "sm_90a, 3 slabs", "sm_90a, cluster of 2x1", "sm_90a, drained")
PLANS = dict(menu())


@pytest.fixture(autouse=True)
def often_switched() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def forget() -> None:
    """Empties what is remembered of sets and registers, so that threads find it out together."""
    forget_registers()
    for found in gc.get_objects():
        if isinstance(found, _lru_cache_wrapper) and found.__module__.startswith("polyhedral."):
            found.cache_clear()


def text(name: str) -> str:
    return str(emit(lower(PLANS[name].derivation.program)))


def test_plans_derived_by_threads_give_the_same_text() -> None:
    alone = [text(name) for name in NAMES]
    for _ in range(ROUNDS):
        forget()
        with ThreadPoolExecutor(THREADS) as pool:
            assert list(pool.map(text, NAMES)) == alone
