"""Neighbouring regions of a level made one loop again, where an inner loop without iterations costs no guard."""

from __future__ import annotations

from collections.abc import Sequence

from polyhedral.coalescing import simple_hull
from polyhedral.difference import difference
from polyhedral.separation import Region
from polyhedral.shadows import Item
from polyhedral.system import System


def joined(regions: Sequence[Region], items: Sequence[Item], level: int, known: System) -> list[Region]:
    """The ordered regions, neighbours joined where one runs the items of the other and items that are then empty.

    An item is empty without a guard in the values that it does not have where the bounds of its next loop say so.
    """
    found: list[Region] = []
    for region in regions:
        both = _both(found[-1], region, items, level, known) if found else None
        if both is None:
            found.append(region)
        else:
            found[-1] = both
    return found


def _both(first: Region, second: Region, items: Sequence[Item], level: int, known: System) -> Region | None:
    small, large = sorted((first, second), key=lambda r: len(r.members))
    extra = set(large.members) - set(small.members)
    if not set(small.members) < set(large.members):
        return None
    hull = simple_hull((first.rows & known, second.rows & known)).gist(known)
    rest = [s for s in difference(hull & known, first.rows & known) if difference(s, second.rows)]
    if rest or not all(_is_empty_by_bounds(items[m], level, hull & known) for m in extra):
        return None
    outers = tuple(dict.fromkeys((*large.outers, *small.outers)))
    return Region(hull, outers, large.members)


def _is_empty_by_bounds(item: Item, level: int, known: System) -> bool:
    inner = next((k for k in range(level + 1, len(item.levels)) if item.fixed[k] is None), None)
    if inner is None:
        return False
    name = item.levels[inner]
    own, outer = item.shadows[inner].split_on(name)
    lower, upper = own.gist(known).bounds(name)
    if len(lower) != 1 or len(upper) != 1 or lower[0][1] != 1 or upper[0][1] != 1 or own.equalities:
        return False
    return outer.gist(known & own).is_universe
