"""Who runs a role."""

from __future__ import annotations

from attrs import frozen


@frozen
class Threads:
    """`units` warps or warpgroups with `threads` threads in all. With `alternates` each unit takes every n-th work item
    by itself."""

    units: int
    threads: int
    alternates: bool = False

    @property
    def together(self) -> Threads:
        """Those that carry out one work item: all, or one unit."""
        return Threads(1, self.threads // self.units) if self.alternates else self


@frozen
class Rotation:
    """Units of `role` take work items in turn and go through each of `phases` one after the other: what they do for
    such a statement is issued for one item before that for the next one begins. With `over` they share every item, and
    in each step of that loop go through each phase one after the other."""

    role: str
    phases: tuple[str, ...]
    over: str = ""


SEVERAL = Threads(1, 2)
