"""How long work takes on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxgen.runtime.driver import call, on_device, stream_handle

if TYPE_CHECKING:
    from collections.abc import Callable


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
