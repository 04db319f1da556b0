"""Items of one level in parts that run one after another, whatever their loops are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from polyhedral.affine import var
from polyhedral.shadows import Item
from polyhedral.system import System, disjoint


def in_turn(items: Sequence[Item], level: int, width: int, known: System, ties: bool) -> list[list[Item]]:
    """The items in parts, such that around the same outer loops no instance of a part runs after one of a later part.

    Times from `level` up to `width` count, and where `ties` between equal times the order of the items.
    """
    count = len(items)
    if count == 1:
        return [list(items)]

    def follows(i: int, j: int) -> bool:
        return _may_follow(items[i], items[j], ties and i > j, level, width, known)

    parts = _strong_components(count, follows)
    found: list[list[Item]] = []
    for part in parts:
        own = [items[i] for i in sorted(part)]
        if found and _are_alike(found[-1] + own, level):
            found[-1] += own
        else:
            found.append(own)
    return found


def _are_alike(items: Sequence[Item], level: int) -> bool:
    """Whether all run at the same times of the level, so that they stay together: it is then one time."""
    return len({(item.shadows[level], item.fixed[level]) for item in items}) == 1


def interleave(item: Item, other: Item, level: int, width: int, known: System) -> bool:
    """Whether the times of two items from `level` on may be such that neither runs wholly before the other."""
    return _may_follow(item, other, False, level, width, known) and _may_follow(other, item, False, level, width, known)


def _may_follow(item: Item, other: Item, later: bool, level: int, width: int, known: System) -> bool:
    """Whether an instance of `item` may run after one of `other`; `later` says so of those of one time."""
    for place in range(level, width):
        name, mine, its = item.levels[place], item.fixed[place], other.fixed[place]
        if mine is not None and its is not None:
            if mine != its:
                return mine > its
            continue
        around = (known, timed(item, place), _marked(other, place))
        if not disjoint(*around, _after(name)):
            return True
        if disjoint(*around, _at_once(name)):
            return False
    return later


@lru_cache(maxsize=1 << 13)
def timed(item: Item, place: int) -> System:
    """What is known of the times up to `place`, constant ones said too."""
    shadow = item.shadows[place]
    for name, time in zip(item.levels[: place + 1], item.fixed, strict=False):
        if time is not None:
            shadow = shadow & System.of(var(name).equals(time))
    return shadow


@lru_cache(maxsize=1 << 13)
def _marked(item: Item, place: int) -> System:
    """As `timed`, the time of that level by another name."""
    name = item.levels[place]
    return timed(item, place).rename({name: f"{name}'"})


@lru_cache(maxsize=1 << 10)
def _after(name: str) -> System:
    return System.of(var(name) > var(f"{name}'"))


@lru_cache(maxsize=1 << 10)
def _at_once(name: str) -> System:
    return System.of(var(name).equals(var(f"{name}'")))


def _strong_components(count: int, leads: Callable[[int, int], bool]) -> list[list[int]]:
    """The strongly connected components of a graph, each after those that it leads to (Tarjan).

    Only of pairs for which it matters is asked whether the first leads to the second.
    """
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    path: list[int] = []
    found: list[list[int]] = []

    def visit(node: int) -> None:
        number[node] = lowest[node] = len(number)
        path.append(node)
        for to in range(count):
            if to not in number:
                if leads(node, to):
                    visit(to)
                    lowest[node] = min(lowest[node], lowest[to])
            elif number[to] < lowest[node] and to in path and leads(node, to):
                lowest[node] = number[to]
        if lowest[node] == number[node]:
            place = path.index(node)
            found.append(path[place:])
            del path[place:]

    for node in range(count):
        if node not in number:
            visit(node)
    return found
