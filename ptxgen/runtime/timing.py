"""How long work takes on the device."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ptxgen.runtime.driver import call, on_device, stream_handle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def elapsed_ms(
    work: Callable[[], object], *, repeats: int = 10, warmups: int = 2, stream: object = None, device: int = 0
) -> tuple[float, ...]:
    """The milliseconds between two events around each of `repeats` calls of `work`, after `warmups` calls untimed.

    `work` puts launches on `stream`, a `Launch` for example. The events are recorded without waiting in between, so the
    host's own time counts only where the device is faster than the host.
    """
    handle = stream_handle(stream)
    with on_device(device) as api:
        for _ in range(warmups):
            work()
        events = [call(api.cuEventCreate, 0) for _ in range(2 * repeats)]
        pairs = list(zip(events[::2], events[1::2], strict=True))
        try:
            for begin, end in pairs:
                call(api.cuEventRecord, begin, handle)
                work()
                call(api.cuEventRecord, end, handle)
            call(api.cuStreamSynchronize, handle)
            return tuple(float(call(api.cuEventElapsedTime, begin, end)) for begin, end in pairs)
        finally:
            for event in events:
                call(api.cuEventDestroy, event)


def laps_ms(works: Sequence[Callable[[], object]], *, stream: object = None, device: int = 0) -> tuple[float, ...]:
    """The milliseconds of each of several works on `stream`, one after the other. The first is done once more ahead of
    all of them, untimed, and nothing waits in between: the device is never idle where it is slower than the host."""
    handle = stream_handle(stream)
    with on_device(device) as api:
        events = [call(api.cuEventCreate, 0) for _ in range(len(works) + 1)]
        try:
            for work in works[:1]:
                work()
            call(api.cuEventRecord, events[0], handle)
            for work, event in zip(works, events[1:], strict=True):
                work()
                call(api.cuEventRecord, event, handle)
            call(api.cuStreamSynchronize, handle)
            return tuple(float(call(api.cuEventElapsedTime, *pair)) for pair in pairwise(events))
        finally:
            for event in events:
                call(api.cuEventDestroy, event)
