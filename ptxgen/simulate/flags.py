"""Order through memory: what strong accesses release at an address, and what others acquire there.

A strong write hands on what its thread releases: all it knows if the access itself releases, else what its last fence
covered. A strong read takes what was handed on there: at once if it acquires, else at the thread's next fence. What a
scope of one CTA orders is for the threads of that CTA only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
            here = np.unique(warps[cells == cell])
            if strength.writes:
                self._hand_on(space, cell, here, strength)
            if strength.reads:
                self._take(space, cell, here, strength)

    def _hand_on(self, space: str, cell: int, warps: Array, strength: Strength) -> None:
        near, far = self.clocks.handed_on(warps, fenced=not strength.releases)
        for cta, here in _parts(warps // self.clocks.warps_per_cta):
            _merge(self.near, (space, cell, cta), near[here])
        if crosses(strength.reach, self.cluster):
            for cluster, here in _parts(warps // self.clocks.warps_per_cluster):
                _merge(self.far, (space, cell, cluster), far[here])

    def _take(self, space: str, cell: int, warps: Array, strength: Strength) -> None:
        for cta, here in _parts(warps // self.clocks.warps_per_cta):
            self._learn(self.near.get((space, cell, cta)), warps[here], strength, wide=False)
        if crosses(strength.reach, self.cluster):
            for cluster, here in _parts(warps // self.clocks.warps_per_cluster):
                self._learn(self.far.get((space, cell, cluster)), warps[here], strength, wide=True)

    def _learn(self, row: Array | None, warps: Array, strength: Strength, *, wide: bool) -> None:
        if row is None:
            return
        if strength.acquires:
            self.clocks.acquire(warps, row)
        else:
            self.clocks.await_fence(warps, row, wide=wide)


def _parts(groups: Array) -> Iterator[tuple[int, Array]]:
    """Each group's number, and which belong to it."""
    for group in np.unique(groups).tolist():
        yield group, groups == group


def _merge(table: dict[Any, Array], key: Any, rows: Array) -> None:
    row = rows.max(axis=0)
    table[key] = np.maximum(row, table[key]) if key in table else row
