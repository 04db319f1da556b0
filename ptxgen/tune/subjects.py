"""Candidates as the gate sees them: a derived kernel on the simulator, or on a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from ptxgen.errors import AssemblerError
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.kernels.launching.views import View, view_of
from ptxgen.runtime import DeviceArray
from ptxgen.tune.gate import Built, Timing
from ptxgen.tune.making import Made, assembled

PLACED_BYTES = 256
"""What memory of a device that nobody has divided yet is aligned to."""


def untimed() -> Timing | None:
    """No time at all."""
    return None


@define
class OnSimulator:
    """A kernel on the CPU simulator with every check; each launch after the first with another order of the warps."""

    made: Made
    clock: Callable[[], Timing | None] = untimed
    launches: int = 0

    def proof(self) -> tuple[str, ...]:
        """What the derivation's checker found."""
        return self.made.doubts

    def build(self) -> Built:
        """What an assembler makes of it where one is here; nothing to object to elsewhere."""
        return built(self.made)

    def launch(self, arrays: Mapping[str, NDArray[Any]], scalars: Mapping[str, float]) -> None:
        """Simulates it; KernelError with what the simulator finds."""
        seed = self.launches or None
        self.launches += 1
        report = self.made.kernel.simulate(arrays, scalars, seed=seed)
        if report is not None:
            report.raise_findings()

    def timed(self) -> Timing | None:
        """What the clock says."""
        return self.clock()


@frozen(eq=False)
class OnDevice:
    """A kernel on a GPU; arrays are copied there with all the memory around them, and back."""

    made: Made
    kernel: GeneratedKernel
    clock: Callable[[], Timing | None] = untimed
    device: int = 0

    def proof(self) -> tuple[str, ...]:
        """What the derivation's checker found."""
        return self.made.doubts

    def build(self) -> Built:
        """What an assembler made of it, and the driver's compiler, whose code is what runs: the worse of both."""
        found = built(self.made)
        return Built(max(found.spills, self.kernel.on_device(self.device).local_bytes), found.notes)

    def launch(self, arrays: Mapping[str, NDArray[Any]], scalars: Mapping[str, float]) -> None:
        """Runs it and waits; DriverError for a fault."""
        copies: dict[int, Copy] = {}
        views: dict[str, View] = {}
        for name, array in arrays.items():
            memory = whole(array)
            if id(memory) not in copies:
                copies[id(memory)] = Copy.of(memory, self.device)
            here, copy = view_of(name, array), copies[id(memory)]
            views[name] = View(copy.address_of(here.address), here.dtype, here.shape, here.strides, copy)
        self.kernel.prepare(views, scalars, device=self.device).once(self.kernel.on_device(self.device))
        for copy in copies.values():
            copy.read()

    def timed(self) -> Timing | None:
        """What the clock says."""
        return self.clock()


@frozen(eq=False)
class Copy:
    """Memory of the host on a device, at an address that is as much aligned as the host's and no more."""

    memory: NDArray[Any] = field(repr=False)
    held: DeviceArray
    ahead: int

    @classmethod
    def of(cls, memory: NDArray[Any], device: int) -> Copy:
        """A copy of contiguous memory."""
        ahead = memory.ctypes.data % PLACED_BYTES
        padded = np.zeros(ahead + memory.nbytes, np.uint8)
        padded[ahead:] = memory.reshape(-1).view(np.uint8)
        return cls(memory, DeviceArray.from_numpy(padded, device=device), ahead)

    def address_of(self, address: int) -> int:
        """Where an address of the host lies on the device."""
        return self.held.address + self.ahead + address - self.memory.ctypes.data

    def read(self) -> None:
        """Brings everything back."""
        self.memory.reshape(-1).view(np.uint8)[...] = self.held.to_numpy()[self.ahead :]


def whole(array: NDArray[Any]) -> NDArray[Any]:
    """The array that owns the memory of another one, contiguous."""
    found = array
    while isinstance(found.base, np.ndarray):
        found = found.base
    return found


def built(made: Made) -> Built:
    """What an assembler made of a candidate; AssemblerError where it refused."""
    if made.refused_by is AssemblerError:
        raise AssemblerError(made.reason)
    cubin = made.cubin
    if cubin is None:
        return Built()
    return Built(cubin.spills, tuple(note.message for note in cubin.notes))


def built_of(text: str) -> Built:
    """What an assembler makes of PTX text; nothing to object to where none is here."""
    cubin = assembled(text)
    return Built() if cubin is None else Built(cubin.spills, tuple(note.message for note in cubin.notes))
