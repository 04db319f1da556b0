"""How the benchmarks measure shares of a floor that was run at the same time, so that load slows both alike."""

import gc
import time
from collections.abc import Callable
from typing import Any

ROUNDS = 60


def seconds(work: Callable[[], Any]) -> float:
    """The processor's seconds of one call, with no garbage left over from before."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def share(
    floor: Callable[[], Any],
    work: Callable[[], Any],
    *,
    rounds: int = ROUNDS,
    before: Callable[[], Any] = lambda: None,
) -> float:
    """The speed of `work` as a share of that of `floor`: the least time of each, in pairs one after another.

    `before` is called before each round of the work and not counted.
    """
    least_floor = least_work = float("inf")
    for _ in range(rounds):
        least_floor = min(least_floor, seconds(floor))
        before()
        least_work = min(least_work, seconds(work))
    return least_floor / least_work
