"""Parts of systems: rows that hang together by their variables. Equal parts are one object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from operator import attrgetter, not_

from attrs import define

from polyhedral.components import components
from polyhedral.interned import Interned
from polyhedral.rows import Row
from polyhedral.spelling import CONTRADICTION, Spelling, is_existential


@define(eq=False)
class Part:
    """Rows that share variables, as a normal spelling; made by `part` alone, so that equal ones are one object.

    `own` existentials come first among the names, `visible` are the others. `place` orders the parts of a system.
    `near` is a point by visible name, 0 where not named, perhaps with other names beside: a point of it where `found`,
    else where points of what it comes from were found. Both save work and say nothing.
    """

    names: tuple[str, ...]
    equalities: tuple[Row, ...]
    inequalities: tuple[Row, ...]
    own: int
    visible: frozenset[str]
    place: tuple[str, tuple[Row, ...], tuple[Row, ...]]
    near: Mapping[str, int]
    found: bool


VISIBLE = attrgetter("visible")
NO_POINT: Mapping[str, int] = {}
_PLACE = attrgetter("place")
Parts = tuple[Part, ...]
_known: Interned[Spelling, Part] = Interned()


def part(spelling: Spelling) -> Part:
    """The one part that is spelled like this; its rows hang together."""
    kept = _known.refs.get(spelling)
    found = None if kept is None else kept()
    if found is None:
        names, equalities, inequalities = spelling
        own = sum(map(is_existential, names)) if names and names[0][0] == "$" else 0
        visible = names[own:] if own else names
        place = (visible[0] if visible else "", equalities, inequalities)
        found = _known.add(
            spelling, Part(names, equalities, inequalities, own, frozenset(visible), place, NO_POINT, False)
        )
    return found


FALSE_PART = part(CONTRADICTION)
NOTHING: Parts = (FALSE_PART,)


def inherited(parts: Parts, point: Mapping[str, int]) -> Parts:
    """The parts, which a point is known to satisfy, with this said to those that know of none."""
    for one in parts:
        if not one.found:
            one.near, one.found = point, True
    return parts


def touching(parts: Sequence[Part], names: frozenset[str]) -> Parts:
    """Those of the parts that have one of the names."""
    return tuple(compress(parts, map(not_, map(names.isdisjoint, map(VISIBLE, parts)))))


def in_place(parts: Iterable[Part]) -> Parts:
    """The parts of one system in their order; only the contradiction where it is one of them."""
    found = tuple(parts)
    if FALSE_PART in found:
        return NOTHING
    return found if len(found) < 2 else tuple(sorted(found, key=_PLACE))


def parts_of(spelling: Spelling) -> Parts:
    """The parts of a normal spelling."""
    if not spelling.names:
        return NOTHING if spelling.inequalities else ()
    found = components(spelling)
    return (part(spelling),) if found is None else in_place(map(part, found))
