"""Launches that overlap: global memory is touched behind the wait for the grids ahead."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding
from ptxgen.prove.constants import finding
from ptxgen.tile import GridRelease, GridWait, Program


def launch_faults(program: Program) -> Iterator[Finding]:
    """An overlapped program waits for the grids ahead once, before its roles begin; any other says nothing of them."""
    waits = sum(isinstance(node, GridWait) for node in program.enter)
    if program.overlapped and not waits:
        yield finding("launch", "global memory is touched before the grids ahead have ended: no wait for them")
    if waits > (1 if program.overlapped else 0):
        yield finding("needless", "a wait for the grids ahead serves nothing: no launch overlaps, or one was before")
    if not program.overlapped and any(isinstance(node, GridRelease) for node in program.enter):
        yield finding("launch", "the grids behind may begin, though the launch is not an overlapped one")
