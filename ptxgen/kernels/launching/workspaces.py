"""Memory that kernels want for themselves: how much a launch takes, and what stands for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptxgen.kernels.launching.views import DTYPES, aligned_zeros
from ptxgen.runtime import Scratch
from ptxgen.tile import Workspace

UNWRITTEN = 0xFF


def workspace_bytes(wanted: Workspace, tiles: int) -> int:
    """The bytes of a workspace in a launch with so many tiles."""
    return elements_of(wanted, tiles) * wanted.element.byte_count


def elements_of(wanted: Workspace, tiles: int) -> int:
    """The elements of a workspace in a launch with so many tiles."""
    return wanted.elements if wanted.single else tiles * wanted.elements


def on_the_cpu(wanted: Workspace, tiles: int) -> NDArray[Any]:
    """A workspace for one run in the simulator: zeros where the kernel counts on them, else bytes of no meaning."""
    made = aligned_zeros(DTYPES[wanted.element], (elements_of(wanted, tiles),))
    if not wanted.zeroed:
        made.view(np.uint8).fill(UNWRITTEN)
    return made


def on_a_device(wanted: Workspace, tiles: int) -> Scratch:
    """A workspace as an argument of a launch, which is given memory for itself where it is prepared."""
    return Scratch(workspace_bytes(wanted, tiles), wanted.zeroed)
