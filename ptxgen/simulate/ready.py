"""The groups that may run, piled up by where they stand, so that those that meet become one when their turn comes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from attrs import define, field

from ptxgen.simulate.group import Group

Rank: TypeAlias = Sequence[tuple[int, int]]
_Key: TypeAlias = tuple[int, tuple[tuple[int, int], ...], int]


@define(eq=False)
class Pile:
    """Groups that meet, and the turn of the one that waits longest."""

    groups: list[Group]
    oldest: int


@define(eq=False)
class Ready:
    """Piles by instruction and calls; a group that is to be alone has a pile of its own.

    A pile that was passed over for `patience` turns for each of the `count` groups goes first, else the one furthest
    behind.
    """

    patience: int
    piles: dict[_Key, Pile] = field(factory=dict)
    count: int = 0

    def append(self, group: Group) -> None:
        """Put a group on its pile."""
        frames = tuple((each.site, each.base) for each in group.frames) if group.frames else ()
        key = (group.pc, frames, id(group) if group.alone else 0)
        pile = self.piles.get(key)
        self.count += 1
        if pile is None:
            self.piles[key] = Pile([group], group.last_turn)
        else:
            pile.groups.append(group)
            pile.oldest = min(pile.oldest, group.last_turn)

    def __iadd__(self, groups: Iterable[Group]) -> Ready:
        for group in groups:
            self.append(group)
        return self

    def __bool__(self) -> bool:
        return bool(self.piles)

    def __iter__(self) -> Iterator[Group]:
        return chain.from_iterable(pile.groups for pile in self.piles.values())

    def take(self, turn: int, rank: Rank, chance: random.Random | None) -> list[Group]:
        """Take out the pile whose turn it is; with `chance` that of a random group."""
        key = next(iter(self.piles)) if len(self.piles) == 1 else self._chosen(turn, rank, chance)
        groups = self.piles.pop(key).groups
        self.count -= len(groups)
        return groups

    def _chosen(self, turn: int, rank: Rank, chance: random.Random | None) -> _Key:
        if chance is not None:
            keys = [key for key, pile in self.piles.items() for _ in pile.groups]
            return chance.choice(keys)
        oldest = min(self.piles, key=lambda key: self.piles[key].oldest)
        if turn - self.piles[oldest].oldest > self.patience * self.count:
            return oldest
        if any(frames for _, frames, _ in self.piles):
            return min(self.piles, key=lambda key: (*(rank[site] for site, _ in key[1]), rank[key[0]]))
        return min(self.piles, key=lambda key: rank[key[0]])
