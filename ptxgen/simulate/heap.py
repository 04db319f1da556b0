"""The heap of device code: what `malloc` gives and `free` takes back, in global memory."""

from __future__ import annotations

from attrs import define, field

from ptxgen.simulate.memory import ALLOCATED, GLOBAL_BASE, UNALLOCATED, Arena

HEAP_BYTES = 8 << 20
HEAP_FUNCTIONS = frozenset({"malloc", "free"})
_ALIGNMENT = 16


@define(eq=False)
class Heap:
    """Bytes `start` to `start + size_bytes` of the arena of global memory, given out once each.

    What was freed is not given out again, so that whoever still uses it is found. HEAP_BYTES is what a context of CUDA
    has by default.
    """

    arena: Arena
    start: int
    size_bytes: int
    used: int = 0
    sizes: dict[int, int] = field(factory=dict)

    def take(self, size_bytes: int) -> int:
        """The address of so many bytes that nothing has written, aligned to 16; 0 where the heap has no room left."""
        if size_bytes > self.size_bytes - self.used:
            return 0
        place = self.start + self.used
        self.used += -(-max(size_bytes, 1) // _ALIGNMENT) * _ALIGNMENT
        self.arena.shadow[place : place + size_bytes] = ALLOCATED
        self.sizes[GLOBAL_BASE + place] = size_bytes
        return GLOBAL_BASE + place

    def give_back(self, address: int) -> bool:
        """End an allocation; False for an address at which none begins. Address 0 is always good."""
        if address == 0:
            return True
        size_bytes = self.sizes.pop(address, None)
        if size_bytes is None:
            return False
        place = address - GLOBAL_BASE
        self.arena.shadow[place : place + size_bytes] = UNALLOCATED
        return True
