"""Loops of an item alone, one inside the other, as far as each is a range of all values between its bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from polyhedral.bounds import Range, Unbounded, shape_of
from polyhedral.guards import hoisted
from polyhedral.places import Place
from polyhedral.shadows import Item
from polyhedral.strides import EVERY_VALUE
from polyhedral.tree import Block, Guard, Loop, Node


@frozen
class Nest:
    """Loops around what is at `level` of the item, where `place` is."""

    loops: tuple[tuple[str, Range], ...]
    level: int
    place: Place

    def around(self, body: Node) -> Node:
        """The loops with this inside."""
        for name, shape in reversed(self.loops):
            body = looped(name, shape, body)
        return body


def looped(name: str, shape: Range, body: Node) -> Node:
    """One loop, conditions that are not about it outside of it; nothing where nothing is inside."""
    around, inside = hoisted(name, body)
    loop = Block() if inside == Block() else Loop(name, shape.lower, shape.upper, shape.step, inside)
    return Guard(around, loop) if around else loop


def nest_of(item: Item, level: int, place: Place, is_written_out: Callable[[int, str, Sequence[Item]], bool]) -> Nest:
    """The loops from `level` on, up to the first level that has a constant time, a step, one value or copies.

    The item is alone at the place and nothing of it is open there; there are none where levels around have values
    and no loop. Inside the last loop of an item whose shadow says all of it nothing is asked, so its rows are left out.
    """
    loops: list[tuple[str, Range]] = []
    known = place.known
    while level < len(item.levels) and not place.values:
        name, shadow = item.levels[level], item.shadows[level]
        if item.fixed[level] is not None or shadow.has_equalities or is_written_out(level, name, [item]):
            break
        rows = known.gist_of(shadow.about(name))
        if rows.is_false:
            break
        try:
            shape = shape_of(rows, name, EVERY_VALUE, known.near(rows))
        except Unbounded:
            break
        if not isinstance(shape, Range):
            break
        loops.append((name, shape))
        level += 1
        if level < len(item.levels) or item.system not in item.shadows[-1:]:
            known = known & rows
    return Nest(tuple(loops), level, place if not loops else Place(known, place.values, item))
