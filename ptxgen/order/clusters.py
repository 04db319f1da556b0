"""Who reaches whom in a cluster: `masks[c]` has a bit for every block that the block of rank c reaches, itself among
them where it does; no masks at all: each block reaches itself."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

Masks = tuple[int, ...]


def ranks_in(mask: int) -> tuple[int, ...]:
    """The ranks that a mask names, ascending."""
    return tuple(rank for rank in range(mask.bit_length()) if mask >> rank & 1)


def reached(masks: Masks, size: int) -> Masks:
    """The masks of a cluster of `size` blocks, spelled out."""
    return masks or tuple(1 << rank for rank in range(size))


def is_remote(masks: Masks) -> bool:
    """Whether some block reaches another one."""
    return any(mask & ~(1 << rank) for rank, mask in enumerate(masks))


def inverse(masks: Masks) -> Masks:
    """Who is reached by whom: rank c reaches d here where d reaches c there."""
    return tuple(sum(1 << rank for rank, mask in enumerate(masks) if mask >> place & 1) for place in range(len(masks)))


def joined(several: Iterable[Masks]) -> Masks:
    """Whoever is reached by some of several relations of one cluster."""
    found = tuple(several)
    size = max(map(len, found), default=0)
    spelled = [reached(masks, size) for masks in found]
    return tuple(reduce(or_, (masks[rank] for masks in spelled)) for rank in range(size))
