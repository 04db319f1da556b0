"""Interleavings, and meetings that are never complete."""

from collections.abc import Iterator
from random import Random

import pytest

from ptxgen.tile import Meet
from ptxgen.tile.machine import MachineFault
from ptxgen.tile.machine.schedule import Thread, interleave


def thread(name: str, log: list[str], *script: str | int) -> Thread:
    """A thread of team `all` that logs its steps; a number is a meeting at that barrier."""

    def steps() -> Iterator[Meet | None]:
        for item in script:
            if isinstance(item, int):
                yield Meet(item, ())
            else:
                log.append(name + item)
                yield None

    return Thread(name, "all", steps())


def test_round_robin_takes_one_step_each() -> None:
    log: list[str] = []
    interleave([thread("x", log, "1", "2"), thread("y", log, "1", "2")], lambda team: None, None)
    assert log == ["x1", "y1", "x2", "y2"]


@pytest.mark.parametrize("seed", range(20))
def test_nothing_passes_a_meeting(seed: int) -> None:
    log: list[str] = []
    threads = [thread(name, log, "1", "2", 0, "3", 0, "4") for name in "xyz"]
    interleave(threads, lambda team: log.append("meeting of " + team), Random(seed))
    phases = "".join("|" if entry.startswith("meeting") else entry[1] for entry in log)
    assert [sorted(phase) for phase in phases.split("|")] == [list("111222"), list("333"), list("444")]


def test_seeds_give_different_orders() -> None:
    orders = set()
    for seed in range(20):
        log: list[str] = []
        interleave([thread(name, log, *"1234") for name in "xy"], lambda team: None, Random(seed))
        orders.add(tuple(log))
    assert len(orders) > 3


@pytest.mark.parametrize("other, words", [((), "y has ended"), ((1,), "y waits at barrier 1")])
def test_a_meeting_that_is_never_complete_is_a_deadlock(other: tuple[int, ...], words: str) -> None:
    with pytest.raises(MachineFault, match="x waits at barrier 0") as caught:
        interleave([thread("x", [], 0), thread("y", [], *other)], lambda team: None, None)
    assert caught.value.code == "tile.deadlock"
    assert words in str(caught.value)
