"""Integers that depend on the thread's number alone: linear maps over F2 from its bits."""

from __future__ import annotations

from functools import reduce
from operator import or_

from attrs import evolve, frozen

from ptxgen.tile import Distribution


@frozen(cache_hash=True)
class ThreadMap:
    """The XOR of `images[b]` over the set bits b of the thread's number within its role, and of `flip`.

    The lowest five bits are the lane, the others the warp.
    """

    images: tuple[int, ...] = ()
    flip: int = 0

    @property
    def mask(self) -> int:
        """The bits of the result that some thread bit moves."""
        return reduce(or_, self.images, 0)

    def flipped(self, constant: int) -> tuple[ThreadMap, int]:
        """This map with `constant` joined by XOR, as a map and a number that is added to its value.

        Only those bits of `constant` that the map moves enter the new map; the others are the number.
        """
        hit = constant & self.mask
        return evolve(self, flip=self.flip ^ hit), constant ^ hit

    def terms(self) -> tuple[tuple[int, int], ...]:
        """The map as an XOR of shifted fields: `(mask, shift)` stands for `(number & mask) << shift`."""
        fields: dict[int, int] = {}
        for bit, image in enumerate(self.images):
            for out in range(image.bit_length()):
                if image >> out & 1:
                    fields[out - bit] = fields.get(out - bit, 0) | 1 << bit
        return tuple((mask, shift) for shift, mask in sorted(fields.items()))


def along(distribution: Distribution, dimension: int) -> ThreadMap:
    """The coordinate of a thread's elements along `dimension`, as far as the thread decides it."""
    return ThreadMap(tuple(image[dimension] for image in distribution.lanes + distribution.warps))


def replicas(distribution: Distribution) -> int:
    """The bits of the thread's number that only make copies of elements, as a mask."""
    return sum(1 << bit for bit, image in enumerate(distribution.lanes + distribution.warps) if not any(image))
