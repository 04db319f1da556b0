"""Order through memory: what strong accesses release at an address, and what others acquire there.

A strong write hands on what its thread releases: all it knows if the access itself releases, else what its last fence
covered. A strong read takes what was handed on there: at once if it acquires, else at the thread's next fence. What a
scope of one CTA orders is for the threads of that CTA only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from ptxgen.simulate.races import Clocks, Reach

Array: TypeAlias = NDArray[Any]

_STRONG = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"})


@frozen
class Strength:
    """How an access orders: whether it reads and writes, releases and acquires, and for whom."""

    reads: bool
    writes: bool
    releases: bool
    acquires: bool
    reach: Reach


def strength_of(opcode: str, words: Mapping[str, str]) -> Strength | None:
    """The strength of a memory instruction; None for a weak one."""
    told = frozenset(words.values())
    atomic = opcode in ("atom", "red")
    if not atomic and not told & _STRONG:
        return None
    both = "acq_rel" in told
    return Strength(
        atomic or opcode != "st", atomic or opcode == "st", both or "release" in told, both or "acquire" in told,
        reach_of(words),
    )  # fmt: skip


def reach_of(words: Mapping[str, str]) -> Reach:
    """For whom a fence or an access orders; all where nothing is said."""
    match words.get("scope") or words.get("level"):
        case "cta":
            return Reach.CTA
        case "cluster":
            return Reach.CLUSTER
        case _:
            return Reach.ALL


def crosses(reach: Reach, cluster: int) -> bool:
    """Whether something of that reach orders threads of different CTAs, of clusters of so many."""
    return reach is Reach.ALL or (reach is Reach.CLUSTER and cluster > 1)


@define(eq=False)
class Flags:
    """What is handed on, by space and cell: to threads of one CTA, and to all that the clocks know of."""

    clocks: Clocks
    cluster: int
    near: dict[tuple[str, int, int], Array] = field(factory=dict)
    far: dict[tuple[str, int, int], Array] = field(factory=dict)

    def exchange(self, space: str, cells: Array, warps: Array, strength: Strength) -> None:
        """Strong accesses of warps to cells, one cell after the other."""
        for cell in np.unique(cells).tolist():
            self._at(space, cell, np.unique(warps[cells == cell]), strength)

    def _at(self, space: str, cell: int, warps: Array, strength: Strength) -> None:
        clocks, wide = self.clocks, crosses(strength.reach, self.cluster)
        if strength.writes:
            near, far = clocks.handed_on(warps, fenced=not strength.releases)
        for group in np.unique(warps // clocks.warps_per_cta).tolist():
            here = warps // clocks.warps_per_cta == group
            if strength.writes:
                _merge(self.near, (space, cell, group), near[here])
            if strength.reads:
                self._take(self.near, (space, cell, group), warps[here], strength, wide=False)
        for group in np.unique(warps // clocks.warps_per_cluster).tolist() if wide else ():
            here = warps // clocks.warps_per_cluster == group
            if strength.writes:
                _merge(self.far, (space, cell, group), (near if strength.releases else far)[here])
            if strength.reads:
                self._take(self.far, (space, cell, group), warps[here], strength, wide=True)

    def _take(
        self, table: dict[tuple[str, int, int], Array], key: tuple[str, int, int], warps: Array, strength: Strength, *,
        wide: bool,
    ) -> None:  # fmt: skip
        row = table.get(key)
        if row is None:
            return
        if strength.acquires:
            self.clocks.acquire(warps, row)
        else:
            self.clocks.await_fence(warps, row, wide=wide)


def _merge(table: dict[Any, Array], key: Any, rows: Array) -> None:
    row = rows.max(axis=0)
    table[key] = np.maximum(row, table[key]) if key in table else row
