"""Buffers that lie over each other: a write to one is a write to the other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import numpy as np

from ptxgen.tile.machine.geometry import Index
from ptxgen.tile.machine.state import IN_FLIGHT, NEVER_WRITTEN, Step, Storage
from ptxgen.tile.program import Program


def lay_over(program: Program, shared: Mapping[str, Storage]) -> None:
    """Makes storages of buffers that begin in one place know each other."""
    for first, second in permutations((b for b in program.buffers if b.name in shared), 2):
        if (first.alias or first.name) == (second.alias or second.name):
            shared[first.name].shares.append((second.name, shared[second.name]))


def clobber(step: Step, storage: Storage, index: Index) -> None:
    """Elements that are written overwrite those of buffers that lie over or under them: nobody may be using these."""
    own = storage.values.itemsize
    for name, other in storage.shares:
        width = other.values.itemsize
        bytes_ = (index[:, None] * own + np.arange(0, own, width)).ravel()
        hit = np.unique(bytes_ // width)
        hit = hit[hit < len(other.values)]
        assert other.ranks is not None
        assert other.clocks is not None
        conflict = other.clocks.write(step.stamp, step.warp.seen, hit)
        if conflict is not None:
            other_leaf = step.warp.block.launch.leaves[conflict.earlier.op]
            raise step.fault("tile.race", f"overwrites {name}, which {other_leaf.op} uses: no meeting between")
        if (other.ranks[hit] == IN_FLIGHT).any():
            raise step.fault("tile.stale", f"overwrites {name}, and a copy that fills it is not complete")
        other.ranks[hit] = NEVER_WRITTEN
