"""Launches recorded once and made together, without the host in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from ptxgen.runtime.arrays import DeviceArray
from ptxgen.runtime.driver import call, on_device, release_with
from ptxgen.runtime.scratch import capture_of, handed_over
from ptxgen.runtime.timing import elapsed_ms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxgen.runtime.loading import Launch


@frozen(eq=False)
class Graph:
    """Launches one after the other; a call makes them all, on the graph's own stream or another, and does not wait.

    `memory` is what the launches take for themselves, which lives as long as the graph. Replays of it follow each
    other, whatever streams they are on."""

    handle: Any = field(repr=False)
    stream: int
    launches: tuple[Launch, ...] = field(repr=False)
    device: int = 0
    memory: tuple[DeviceArray, ...] = field(default=(), repr=False)

    def __call__(self, stream: int | None = None) -> None:
        with on_device(self.device) as api:
            call(api.cuGraphLaunch, self.handle, self.stream if stream is None else stream)

    def wait(self) -> None:
        """Waits until every replay so far is done."""
        with on_device(self.device) as api:
            call(api.cuStreamSynchronize, self.stream)

    def milliseconds(self) -> float:
        """How long one replay takes, by events around it."""
        (found,) = elapsed_ms(self, repeats=1, warmups=0, stream=self.stream, device=self.device)
        return found


def record(launches: Iterable[Launch], *, device: int = 0) -> Graph:
    """The launches as a graph, which is instantiated and holds them; their own streams become the graph's."""
    held = tuple(launches)
    with on_device(device) as api:
        stream = int(call(api.cuStreamCreate, int(api.CUstream_flags.CU_STREAM_NON_BLOCKING)))
        call(api.cuStreamBeginCapture, stream, api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
        capture = capture_of(api, stream)
        try:
            for launch in held:
                launch.on_stream(stream)
                launch()
        finally:
            recorded = call(api.cuStreamEndCapture, stream)
            memory = handed_over(device, capture)
        handle = call(api.cuGraphInstantiate, recorded, 0)
        call(api.cuGraphDestroy, recorded)
        made = Graph(handle, stream, held, device, memory)
        release_with(made, device, api.cuStreamDestroy, stream)
        release_with(made, device, api.cuGraphExecDestroy, handle)
    return made
