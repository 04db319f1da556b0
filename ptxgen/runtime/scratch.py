"""Memory that launches take for themselves: one for each stream, and one for each capture of a graph.

Launches on a stream follow each other, so that all of them, of whatever kernel, share what the stream has. What a
capture takes is the graph's: replays of a graph follow each other, but beside those of any other and beside launches of
this process, so that no other launch has it. Streams are told apart by the driver's number of them, which the default
stream of each thread has too; in a capture, where the driver tells none, by their handles.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

import numpy as np
from attrs import define, frozen

from ptxgen.errors import DriverError, LaunchError
from ptxgen.runtime.arguments import ArgumentBlock
from ptxgen.runtime.arrays import DeviceArray
from ptxgen.runtime.driver import binding, call, direct, on_device, outside_captures, reason

NO_CAPTURE, CAPTURING = 0, 1
CAPTURE_INFO, STREAM_NUMBER = "cuStreamGetCaptureInfo", "cuStreamGetId"
ALIGNED_BYTES = 256
Key = tuple[int, int, int]


@frozen
class Scratch:
    """An argument that stands for memory of the launch's own, which no other launch uses meanwhile: so many bytes,
    aligned to 256. With `zeroed` they are zeros when the launch begins, and the kernel leaves them so; else what is in
    them means nothing."""

    byte_count: int
    zeroed: bool = False


@define(eq=False)
class Held:
    """What a stream or a capture has, of zeros or not; a larger piece takes the place of a smaller one, which stays,
    for a launch may have it."""

    pieces: list[DeviceArray]

    @property
    def byte_count(self) -> int:
        """The bytes of the largest piece."""
        return self.pieces[-1].nbytes


_HELD: dict[tuple[Key, bool], Held] = {}
_GROWING = Lock()


def _address(key: Key, byte_count: int, zeroed: bool) -> int:
    """Where a stream or capture (device, capture or 0, stream) has so many bytes; made where it has fewer."""
    held = _HELD.get((key, zeroed))
    if held is not None and held.byte_count >= byte_count:
        return held.pieces[-1].address
    with _GROWING:
        held = _HELD.get((key, zeroed))
        if held is None or held.byte_count < byte_count:
            made = _made(key[0], max(byte_count, 2 * held.byte_count if held else 0), zeroed)
            held = _HELD[key, zeroed] = Held([*(held.pieces if held else ()), made])
    return held.pieces[-1].address


def _made(device: int, byte_count: int, zeroed: bool) -> DeviceArray:
    """New memory, also while a stream is captured; zeros are there when this returns, whatever streams are doing."""
    with outside_captures():
        made = DeviceArray.empty(byte_count, np.uint8, device=device)
        if zeroed:
            with on_device(device) as api:
                stream = call(api.cuStreamCreate, int(api.CUstream_flags.CU_STREAM_NON_BLOCKING))
                call(api.cuMemsetD8Async, made.address, 0, byte_count, stream)
                call(api.cuStreamSynchronize, stream)
                call(api.cuStreamDestroy, stream)
    return made


def handed_over(device: int, capture: int) -> tuple[DeviceArray, ...]:
    """What the launches of a capture took, to be held as long as the graph is; else it stays for ever."""
    with _GROWING:
        own = [entry for entry in _HELD if entry[0][:2] == (device, capture)]
        return tuple(piece for entry in own for piece in _HELD.pop(entry).pieces)


def capture_of(api: Any, stream: int) -> int:
    """The driver's number of the capture that a stream is in; 0 where it is in none."""
    state, number = ctypes.c_int(), ctypes.c_ulonglong()
    status = direct(api, CAPTURE_INFO, 6)(stream, ctypes.byref(state), ctypes.byref(number), None, None, None)
    if status:
        raise DriverError(f"{CAPTURE_INFO}: {reason(binding().CUresult(status))}")
    return number.value if state.value == CAPTURING else NO_CAPTURE


@define(eq=False)
class OwnMemory:
    """The places in a launch's arguments that hold addresses of memory of its own, each with its place in what the
    stream has, and the driver's functions that tell which stream that is."""

    kernel: str
    device: int
    stream: ctypes.c_void_p
    places: tuple[tuple[ctypes.c_uint64, int, bool], ...]
    byte_counts: dict[bool, int]
    questions: tuple[Callable[..., int], Callable[..., int]]
    status: ctypes.c_int
    number: ctypes.c_ulonglong

    @classmethod
    def of(
        cls, api: Any, kernel: str, arguments: Iterable[Any], block: ArgumentBlock, *, device: int, stream: int
    ) -> OwnMemory | None:
        """That of a launch with these arguments; None where none of them is `Scratch`."""
        ends, places = dict[bool, int](), []
        for index, each in enumerate(arguments):
            if isinstance(each, Scratch):
                begin = ends.get(each.zeroed, 0)
                ends[each.zeroed] = begin + -(-each.byte_count // ALIGNED_BYTES) * ALIGNED_BYTES
                places.append((ctypes.c_uint64.from_address(block.addresses[index]), begin, each.zeroed))
        if not places:
            return None
        questions = direct(api, CAPTURE_INFO, 6), direct(api, STREAM_NUMBER, 2)
        handle = ctypes.c_void_p(stream)
        return cls(kernel, device, handle, tuple(places), ends, questions, ctypes.c_int(), ctypes.c_ulonglong())

    def fill(self) -> None:
        """Puts the addresses of what the stream has, or the graph that it is captured for, into the arguments, the
        device's context being current. LaunchError where there is no memory for it."""
        about, number = self.questions
        self._ask(about(self.stream, ctypes.byref(self.status), ctypes.byref(self.number), None, None, None))
        if self.status.value == CAPTURING:
            capture, own = self.number.value, self.stream.value or 0
        else:
            capture = NO_CAPTURE
            self._ask(number(self.stream, ctypes.byref(self.number)))
            own = self.number.value
        key = (self.device, capture, own)
        try:
            first = {zeroed: _address(key, count, zeroed) for zeroed, count in self.byte_counts.items()}
        except DriverError as error:
            total = sum(self.byte_counts.values())
            where = "the graph that is captured" if capture else "its stream"
            raise LaunchError(
                f"kernel {self.kernel}: no memory for the {total} bytes that it takes on {where} ({error}): "
                f"free some before it is prepared or captured"
            ) from None
        for slot, begin, zeroed in self.places:
            slot.value = first[zeroed] + begin

    def _ask(self, status: int) -> None:
        if status:
            raise DriverError(f"kernel {self.kernel}: {reason(binding().CUresult(status))}")
