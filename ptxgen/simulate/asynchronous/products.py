"""Products of warpgroups under way, and the registers that they will write or still read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ptxgen.simulate.batch import Batch
    from ptxgen.simulate.group import Group

Array: TypeAlias = NDArray[Any]


@define(eq=False)
class Pending:
    """One product of some warps of the batch (sorted, whole warpgroups), issued by instruction `site`.

    `ordinals` [warps] are the groups it belongs to, `left` [warps] where it is still to be done. `finish(group, rows,
    own)` writes the accumulators of the group's rows from the product's own rows. `groups` [warps] are the warpgroups,
    `engines` for each the (engine in the cluster, epoch) of its reads, `released` what its warps knew at the issue,
    which whoever waits for it learns. `accumulators` and `sources` are the registers that it writes and reads, as
    numbers among those watched.
    """

    site: int
    warps: Array
    ordinals: Array
    left: Array
    finish: Callable[[Batch, Group, Array, Array], None]
    groups: Array
    engines: dict[int, tuple[int, int]]
    released: dict[int, Array]
    accumulators: tuple[int, ...]
    sources: tuple[int, ...]


@define(eq=False)
class Products:
    """The products of a batch in the order of their issue.

    `committed` [warps] counts the groups of each warp, `touched` [warps, watched] are registers that other
    instructions have accessed since the warp's last `wgmma.fence`, or from the start.
    """

    pending: list[Pending] = field(factory=list)
    committed: Array = field(factory=lambda: np.zeros(0, np.int64))
    touched: Array = field(factory=lambda: np.zeros((0, 0), np.bool_))

    def prepare(self, warps: int, watched: int) -> None:
        """Make the tables for so many warps and watched registers, once."""
        if len(self.committed) != warps:
            self.committed = np.zeros(warps, np.int64)
            self.touched = np.ones((warps, watched), np.bool_)

    def retire(self, batch: Batch, group: Group, pending: int) -> None:
        """The warps of a group wait until at most `pending` of their latest groups are under way."""
        for product in self.pending:
            rows, own = common(group.warps, product.warps)
            due = product.left[own] & (product.ordinals[own] < self.committed[group.warps[rows]] - pending)
            rows, own = rows[due], own[due]
            if not len(rows):
                continue
            product.finish(batch, group, rows, own)
            product.left[own] = False
            for number in np.unique(product.groups[own]).tolist():
                inside = group.warps[rows[product.groups[own] == number]]
                batch.clocks.learn(inside, *product.engines[number])
                batch.clocks.acquire(inside, product.released[number])
        self.pending = [each for each in self.pending if each.left.any()]


def common(warps: Array, others: Array) -> tuple[Array, Array]:
    """Where the warps that stand in both sorted arrays stand in each."""
    place = np.minimum(np.searchsorted(others, warps), len(others) - 1)
    rows = np.flatnonzero(others[place] == warps)
    return rows, place[rows]
