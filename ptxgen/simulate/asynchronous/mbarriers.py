"""Barriers that are objects in shared memory: arrivals, transactions, phases."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from attrs import define
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

COUNT_BITS = 20
_PHASE_SHIFT = 32


@define(eq=False)
class MBarrier:
    """A barrier of `count` arrivals a phase.

    `place` is its byte in the arena of shared memory, `address` that in its CTA's addresses, `cta` its CTA in the
    batch, `engine` the one whose writes it tells of. `maker` and `epoch` are the participant that initialised it and
    when. `phase` is the number of the phase not yet complete, which wants `pending` arrivals and `transactions` bytes;
    `under_way` bytes are on their way to it. `gathered` is what this phase's arrivals have released, `released` what
    those of the last complete phase have, as rows of the clocks; `far` and `released_far` what only those may know who
    acquire for the cluster. `used` [warps of the cluster] are the epochs in which
    warps have used it last.
    """

    place: int
    address: int
    cta: int
    engine: int
    count: int
    pending: int
    maker: int
    epoch: int
    site: int
    gathered: Array
    released: Array
    used: Array
    far: Array
    released_far: Array
    phase: int = 0
    transactions: int = 0
    under_way: int = 0
    arrived: int = 0

    def settle(self) -> bool:
        """Complete the phase if nothing is missing; True if it did."""
        if self.pending > 0 or self.transactions != 0:
            return False
        self.phase += 1
        self.released, self.gathered = self.gathered, np.zeros_like(self.gathered)
        self.released_far, self.far = self.far, np.zeros_like(self.far)
        self.pending, self.arrived = self.count, 0
        return True

    def gather(self, row: Array, *, far: bool = False) -> None:
        """What an arrival releases; that of another CTA is `far`."""
        known = self.far if far else self.gathered
        np.maximum(known, row, out=known)

    @property
    def everything(self) -> Array:
        """What the last complete phase released."""
        return np.maximum(self.released, self.released_far)

    def told(self) -> str:
        """The barrier and what its phase still wants, in words."""
        wants = f"{self.pending} of {self.count} arrivals" if self.pending else "no arrival"
        if self.transactions > 0:
            wants += f" and {self.transactions} bytes, of which {self.under_way} are on their way"
        return f"the mbarrier at {self.address:#x}, whose phase {self.phase} still wants {wants}"


def state_of(phase: Any, pending: Any) -> Any:
    """The 64-bit state that an arrival returns: the phase above the count that was pending before it."""
    return (phase << type(phase)(_PHASE_SHIFT)) | pending


def phase_of(state: Array) -> Array:
    """The phase that a state tells of."""
    return state >> np.uint64(_PHASE_SHIFT)


def pending_of(state: Array) -> Array:
    """The pending count that a state holds."""
    return (state & np.uint64((1 << COUNT_BITS) - 1)).astype(np.uint32)
