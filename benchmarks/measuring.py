"""How the benchmarks measure shares of a floor that was run at the same time, so that load slows both alike."""

import gc
import time
from collections.abc import Callable
from typing import Any

ROUNDS = 60


def seconds(work: Callable[[], Any], *, collected: bool = True) -> float:
    """The processor's seconds of one call, with no garbage left over from before unless `collected` is False."""
    if collected:
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
    collected: bool = True,
) -> float:
    """The speed of `work` as a share of that of `floor`: the least time of each, in pairs one after another.

    `before` is called before each round of the work and not counted. Collecting garbage empties the processor's caches,
    which work of microseconds would feel: such work is measured with `collected` False.
    """
    least_floor = least_work = float("inf")
    for _ in range(rounds):
        least_floor = min(least_floor, seconds(floor, collected=collected))
        before()
        least_work = min(least_work, seconds(work, collected=collected))
    return least_floor / least_work
