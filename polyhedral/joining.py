"""Neighbouring regions of a level made one loop again, where the control that it takes is little beside the body."""

from __future__ import annotations

from collections.abc import Sequence

from polyhedral.coalescing import simple_hull
from polyhedral.difference import difference
from polyhedral.places import Place
from polyhedral.precedence import timed
from polyhedral.separation import Region
from polyhedral.shadows import Item
from polyhedral.system import System, disjoint

ITERATIONS_GUESSED = 8
GUARDS_FOR_A_BODY = 4


def joined(regions: Sequence[Region], items: Sequence[Item], level: int, place: Place, by_cost: bool) -> list[Region]:
    """The ordered regions, neighbours joined where both run some item and the conditions of the others are cheap.

    Items that one of the two does not have are then tested, or empty by the bounds of their next loop. With
    `by_cost` that is taken where the items of both run long beside it; else only where no test is left at all.
    """
    members = {m for r in regions for m in r.members}
    known = place.near(*(r.rows for r in regions), *(s for m in members for s in items[m].shadows[level:]))
    found: list[Region] = []
    for region in regions:
        both = _both(found[-1], region, items, level, known, by_cost) if found else None
        if both is None:
            found.append(region)
        else:
            found[-1] = both
    return found


def _both(
    first: Region, second: Region, items: Sequence[Item], level: int, known: System, by_cost: bool
) -> Region | None:
    shared = set(first.members) & set(second.members)
    extra = set(first.members) ^ set(second.members)
    if not shared:
        return None
    long = len(extra) * GUARDS_FOR_A_BODY <= sum(_body(items[m], level) for m in shared)
    hull = simple_hull((first.rows & known, second.rows & known)).gist(known)
    around = hull & known
    rest = [s for s in difference(around, first.rows & known) if difference(s, second.rows)]
    if rest:
        return None
    members = shared | extra
    if long and by_cost:
        allowed = all(_is_apart(items[m], [items[o] for o in members if o != m], level, around) for m in extra)
    else:
        allowed = all(_is_empty_by_bounds(items[m], level, around, not long) for m in extra)
    if not allowed:
        return None
    outers = tuple(dict.fromkeys((*first.outers, *second.outers)))
    return Region(hull, outers, tuple(sorted(members)))


def _is_apart(item: Item, others: Sequence[Item], level: int, known: System) -> bool:
    """Whether a test of the item is never inside a loop that it shares with another."""
    inner = _next_loop(item, level)
    if inner is None or _is_empty_by_bounds(item, level, known, False):
        return True
    own = timed(item, inner)
    return all(disjoint(known, own, timed(o, min(inner, len(o.levels) - 1))) for o in others)


def _next_loop(item: Item, level: int) -> int | None:
    return next((k for k in range(level + 1, len(item.levels)) if item.fixed[k] is None), None)


def _body(item: Item, level: int) -> int:
    """A guess at the steps that an item takes in one iteration of the level."""
    loops = [k for k in range(level + 1, len(item.levels)) if item.fixed[k] is None and _has_a_range(item, k)]
    return int(ITERATIONS_GUESSED ** len(loops)) if loops else 0


def _has_a_range(item: Item, level: int) -> bool:
    shadow, name = item.shadows[level], item.levels[level]
    if name not in shadow.names:
        return False
    column = shadow.names.index(name)
    return not any(r[column] and not any(r[: len(shadow.exists)]) for r in shadow.equalities)


def _is_empty_by_bounds(item: Item, level: int, known: System, simple: bool) -> bool:
    """Whether the next loop of the item has no iterations where the item is not; `simple` if at no cost."""
    inner = _next_loop(item, level)
    if inner is None:
        return False
    name = item.levels[inner]
    own, outer = item.shadows[inner].split_on(name)
    if simple:
        lower, upper = own.gist(known).bounds(name)
        if len(lower) != 1 or len(upper) != 1 or lower[0][1] != 1 or upper[0][1] != 1 or own.equalities:
            return False
    return outer.gist(known & own).is_universe
