"""Neighbouring regions of a level made one loop again, where the control that it takes is little beside the body."""

from __future__ import annotations

from collections.abc import Sequence

from polyhedral.coalescing import simple_hull
from polyhedral.difference import difference
from polyhedral.part import in_place, touching
from polyhedral.parts import with_names
from polyhedral.places import Place
from polyhedral.precedence import interleave, timed
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
    if long and (
        _stay_tested(first, second, items, level, known, by_cost)
        or _stay_tested(second, first, items, level, known, by_cost)
    ):
        return None
    hull = simple_hull((first.rows & known, second.rows & known)).gist(known)
    around = hull & known
    members = shared | extra
    if long and by_cost:
        allowed = all(_is_apart(items[m], [items[o] for o in members if o != m], level, around) for m in extra)
    else:
        is_empty = _is_empty_by_bounds if long else _is_empty_at_no_cost
        allowed = all(is_empty(items[m], level, around) for m in extra)
    if not allowed:
        return None
    gaps = [g for s in difference(around, first.rows & known) for g in difference(s, second.rows)]
    name = items[0].levels[level]
    if gaps and not all(hull.bounds(name)):
        return None
    if any(_is_between(g, first, second, name) for g in gaps):
        return None
    if not all(_is_idle(items[m], level, g) for m in members for g in gaps):
        return None
    outers = tuple(dict.fromkeys((*first.outers, *second.outers)))
    return Region(hull, outers, tuple(sorted(members)))


def _is_between(gap: System, first: Region, second: Region, name: str) -> bool:
    """Whether a gap may be beside values of both regions at once, so that it costs more than a loop without them."""
    one, other = (r.rows.rename({name: f"{name}{mark}"}) for r, mark in ((first, "'"), (second, "''")))
    return not disjoint(gap, one, other)


def _is_idle(item: Item, level: int, gap: System) -> bool:
    """Whether the item has nothing to do in a gap, and its inner loops have no iterations there."""
    return disjoint(gap, timed(item, level)) and _is_empty_by_bounds(item, level, gap)


def _is_apart(item: Item, others: Sequence[Item], level: int, known: System) -> bool:
    """Whether a test of the item is never inside a loop that it shares with another."""
    inner = _next_loop(item, level)
    if inner is None or _is_empty_by_bounds(item, level, known):
        return True
    return not _shares_loops_inside(item, others, level, inner, known)


def _stay_tested(
    region: Region, other: Region, items: Sequence[Item], level: int, known: System, by_cost: bool
) -> bool:
    """Whether a look shows that an item of the region alone takes a test in a loop around both that is not allowed.

    Its loops have iterations in the other region, and with `by_cost` it shares loops with another item of its own.
    """
    here, there = known & region.rows, known & other.rows
    for member in region.members:
        inner = _next_loop(items[member], level)
        if member in other.members or inner is None or disjoint(there, _rows_inside(items[member], level)):
            continue
        beside = [items[m] for m in region.members if m != member]
        if not by_cost or _shares_loops_inside(items[member], beside, level, inner, here):
            return True
    return False


def _shares_loops_inside(item: Item, others: Sequence[Item], level: int, inner: int, known: System) -> bool:
    own = timed(item, inner)
    return any(
        not disjoint(known, own, timed(o, min(inner, len(o.levels) - 1))) and _share_loops(item, o, level + 1, known)
        for o in others
    )


def _share_loops(item: Item, other: Item, level: int, known: System) -> bool:
    width = next((k for k, (a, b) in enumerate(zip(item.levels, other.levels, strict=False)) if a != b), None)
    width = min(len(item.levels), len(other.levels)) if width is None else width
    return interleave(item, other, level, width, known)


def _next_loop(item: Item, level: int) -> int | None:
    return next((k for k in range(level + 1, len(item.levels)) if item.fixed[k] is None), None)


def _body(item: Item, level: int) -> int:
    """A guess at the steps that an item takes in one iteration of the level."""
    loops = [k for k in range(level + 1, len(item.levels)) if item.fixed[k] is None and _has_a_range(item, k)]
    return int(ITERATIONS_GUESSED ** len(loops)) if loops else 0


def _has_a_range(item: Item, level: int) -> bool:
    name = item.levels[level]
    one = next((p for p in item.shadows[level].parts if name in p.visible), None)
    if one is None:
        return False
    column = one.names.index(name)
    return not any(r[column] and not any(r[: one.own]) for r in one.equalities)


def _is_empty_by_bounds(item: Item, level: int, known: System) -> bool:
    """Whether the loops of the item inside of the level have no iterations where the item is not."""
    own = _rows_inside(item, level)
    return disjoint(known, own) or timed(item, level).gist(known & own).is_universe


def _rows_inside(item: Item, level: int) -> System:
    """The conditions of the item on what is inside of the level."""
    inner = frozenset(item.levels[level + 1 :])
    return System(in_place([own for one in touching(item.system.parts, inner) for own in with_names(one, inner)]))


def _is_empty_at_no_cost(item: Item, level: int, known: System) -> bool:
    """Whether the next loop of the item has no iterations where the item is not, and no more than two plain bounds."""
    inner = _next_loop(item, level)
    if inner is None:
        return False
    name = item.levels[inner]
    own, outer = timed(item, inner).split_on(name)
    lower, upper = own.gist(known).bounds(name)
    if len(lower) != 1 or len(upper) != 1 or lower[0][1] != 1 or upper[0][1] != 1 or own.equalities:
        return False
    return outer.gist(known & own).is_universe
