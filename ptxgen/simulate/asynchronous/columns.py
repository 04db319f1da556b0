"""The engines of a cluster: which participant of its clocks does what."""

from __future__ import annotations

from attrs import frozen

BARRIERS = 24
_WARPS_OF_GROUP = 4


@frozen
class Columns:
    """For each CTA of a cluster: a multiplier for each warpgroup, the reader of copies out of its shared memory, the
    writer of copies into global memory, and for each of its mbarriers (those past BARRIERS share the last) the
    writer of what is told there.
    """

    cluster: int = 1
    warps_per_cta: int = 0

    @property
    def groups(self) -> int:
        """Warpgroups of a CTA, the last perhaps not whole."""
        return -(-self.warps_per_cta // _WARPS_OF_GROUP)

    @property
    def per_cta(self) -> int:
        """Engines of a CTA."""
        return self.groups + 2 + BARRIERS

    @property
    def count(self) -> int:
        """Engines of a cluster; none where the kernel has no use for them."""
        return self.cluster * self.per_cta if self.warps_per_cta else 0

    def multiplier(self, rank: int, group: int) -> int:
        """The engine of a warpgroup."""
        return rank * self.per_cta + group

    def reader(self, rank: int) -> int:
        """The engine that reads what copies take out of the CTA's shared memory, and what they take from global."""
        return rank * self.per_cta + self.groups

    def writer(self, rank: int) -> int:
        """The engine that writes to global memory for the CTA."""
        return self.reader(rank) + 1

    def barrier(self, rank: int, ordinal: int) -> int:
        """The engine whose writes the CTA's mbarrier with that number tells of."""
        return self.reader(rank) + 2 + min(ordinal, BARRIERS - 1)

    def told(self, engine: int) -> str:
        """An engine in words."""
        rank, place = divmod(engine, self.per_cta)
        where = f" of CTA {rank} of the cluster" if self.cluster > 1 else ""
        if place < self.groups:
            return f"a wgmma of warpgroup {place}{where}"
        return f"a copy{' out' if place == self.groups else ''}{where}"
