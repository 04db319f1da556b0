"""What threads share: equal parts are one object whoever made them, and points that are looked at while others come."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from polyhedral.part import part
from polyhedral.spelling import Spelling
from polyhedral.witnesses import Witnesses

THREADS, ROUNDS, SPELLINGS = 4, 40, 60


@pytest.fixture(autouse=True)
def often_switched() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_equal_parts_are_one_object_in_all_threads() -> None:
    for tried in range(ROUNDS):
        begun = Barrier(THREADS)

        def made(_: int, tried: int = tried, begun: Barrier = begun) -> list[object]:
            begun.wait()
            return [part(Spelling(("x",), (), ((1, 1000 * tried + n),))) for n in range(SPELLINGS)]

        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(made, range(THREADS)))
        assert {len({id(one) for one in same}) for same in zip(*found, strict=True)} == {1}


def test_points_are_found_while_other_threads_find_others() -> None:
    shared = Witnesses(24)
    systems = [part(Spelling(("x",), ((1, -n),), ())) for n in range(40)]
    begun = Barrier(THREADS)

    def found(start: int) -> int:
        begun.wait()
        wrong = 0
        for n in range(start, start + 4000):
            at = n * 7 % len(systems)
            point = shared.find([systems[at]])
            wrong += point is not None and point["x"] != at
            shared.add({"x": n % len(systems)})
        return wrong

    with ThreadPoolExecutor(THREADS) as pool:
        assert sum(pool.map(found, range(THREADS))) == 0
    assert len(shared.points) == 24
