"""The elements of an array that a copy touches, as sets of coordinates packed into numbers."""

from __future__ import annotations

from functools import lru_cache

from ptxgen.tile import Distribution

COORDINATE_BITS = 24
Elements = frozenset[int]


@lru_cache(maxsize=1 << 10)
def elements_of(distribution: Distribution, corner: tuple[int, ...]) -> Elements:
    """The coordinates of a distribution's elements from a corner on, each packed into one number."""
    values = _span(distribution.values, distribution.value_count)
    lanes = _span(distribution.lanes, 1 << len(distribution.lanes))
    warps, first = _span(distribution.warps, distribution.warp_count), _packed(corner)
    return frozenset(first + (value ^ lane ^ warp) for warp in warps for lane in lanes for value in values)


def _span(images: tuple[tuple[int, ...], ...], count: int) -> list[int]:
    found = [0]
    for image in images:
        found += [own ^ _packed(image) for own in found]
    return found[:count]


def _packed(coordinate: tuple[int, ...]) -> int:
    return sum(at << COORDINATE_BITS * place for place, at in enumerate(coordinate))


@lru_cache(maxsize=1 << 12)
def meet(first: Elements, second: Elements) -> bool:
    """Whether two sets have an element in common."""
    return first is second or not first.isdisjoint(second)
