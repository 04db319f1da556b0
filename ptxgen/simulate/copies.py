"""Copies under way: what each thread has asked for and not yet waited for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from attrs import define, evolve, field, frozen
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


@frozen(eq=False)
class Pending:
    """Copies of one instruction, thread by thread as flat arrays.

    `groups` are the ordinals of the threads' groups, `index` byte places in the arena of the destination, `values` the
    bytes [n, size]. `site` is the instruction, `epochs` those of the warps at the issue, `tracked`
    those that an mbarrier tells of.
    """

    site: int
    warps: Array
    lanes: Array
    groups: Array
    index: Array
    values: Array
    epochs: Array
    tracked: Array

    def part(self, which: Array) -> Pending:
        """The copies that are chosen by a truth per copy."""
        return evolve(
            self, warps=self.warps[which], lanes=self.lanes[which], groups=self.groups[which],
            index=self.index[which], values=self.values[which], epochs=self.epochs[which],
            tracked=self.tracked[which],
        )  # fmt: skip


@define(eq=False)
class Copies:
    """The copies of a batch in the order of their issue; `committed` [warps, 32] counts each thread's groups."""

    pending: list[Pending] = field(factory=list)
    committed: Array = field(factory=lambda: np.zeros((0, 32), np.int64))

    def counts(self, warps: int) -> Array:
        """`committed`, made when first asked for."""
        if len(self.committed) != warps:
            self.committed = np.zeros((warps, 32), np.int64)
        return self.committed

    def due(self, limit: Array) -> Iterator[Pending]:
        """Take out, oldest first, the copies of groups below `limit` [warps, 32]."""
        kept: list[Pending] = []
        for each in self.pending:
            ready = each.groups < limit[each.warps, each.lanes]
            if ready.all():
                yield each
            elif ready.any():
                kept.append(each.part(~ready))
                yield each.part(ready)
            else:
                kept.append(each)
        self.pending = kept
