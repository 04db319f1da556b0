"""Memory that kernels want for themselves: how much a launch takes, and where it is held."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from ptxgen.kernels.views import DTYPES, aligned_zeros
from ptxgen.runtime import DeviceArray
from ptxgen.tile import Workspace

UNWRITTEN = 0xFF


def workspace_bytes(wanted: Workspace, tiles: int) -> int:
    """The bytes of a workspace in a launch with so many tiles."""
    return tiles * wanted.elements * wanted.element.byte_count


def on_the_cpu(wanted: Workspace, tiles: int) -> NDArray[Any]:
    """A workspace for one run in the simulator: zeros where the kernel counts on them, else bytes of no meaning."""
    made = aligned_zeros(DTYPES[wanted.element], (tiles * wanted.elements,))
    if not wanted.zeroed:
        made.view(np.uint8).fill(UNWRITTEN)
    return made


@define(eq=False)
class DeviceWorkspaces:
    """The workspaces of a kernel on a device, those of each stream apart: launches on one stream follow each other and
    share them. They are made, and zeroed where that is wanted, when a launch first needs as much; captured graphs may
    launch again what was launched before, so that none is given back before the kernel is."""

    held: dict[tuple[int, int, str], list[DeviceArray]] = field(factory=dict)

    def of(self, wanted: Workspace, tiles: int, *, device: int, stream: int) -> int:
        """The address of a workspace for so many tiles. DriverError where the device has too little memory."""
        size = workspace_bytes(wanted, tiles)
        own = self.held.setdefault((device, stream, wanted.name), [])
        if not own or own[-1].nbytes < size:
            own.append(DeviceArray.empty(size, np.uint8, device=device))
            own[-1].fill(0)
        return own[-1].address
