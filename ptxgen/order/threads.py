"""Who runs a role."""

from __future__ import annotations

from attrs import frozen


@frozen
class Threads:
    """`units` warps or warpgroups with `threads` threads in all."""

    units: int
    threads: int


SEVERAL = Threads(1, 2)
