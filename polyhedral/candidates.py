"""What the items of a level say of it: rows to cut into regions, and steps."""

from __future__ import annotations

from polyhedral.affine import Affine, var
from polyhedral.places import Place
from polyhedral.separation import Candidate
from polyhedral.shadows import Item
from polyhedral.strides import EVERY_VALUE, Stride, stride_of
from polyhedral.system import System, without_congruences


def candidates_of(level: int, name: str, items: list[Item], place: Place) -> list[Candidate]:
    """The items with the rows on the level that are not known yet, those with equal rows together."""
    found: dict[tuple[System, System], list[int]] = {}
    for number, item in enumerate(items):
        time = item.fixed[level]
        if place.alone is item and time is None and (place.open_still.is_universe or not place.values):
            own, outer = place.valued(item.shadows[level].about(name)), place.open_still
        else:
            shadow = place.valued(item.shadows[level])
            own, outer = shadow.split_on(name) if time is None else (System.of(var(name).equals(time)), shadow)
        outer = place.known.gist_of(outer)
        if outer.is_false:
            continue
        known = place.known if outer.is_universe else place.known & outer
        if own.has_existentials and known.exclude(own):
            continue
        rows = known.gist_of(without_congruences(own))
        if not rows.is_false:
            found.setdefault((rows, outer), []).append(number)
    return [Candidate(rows, outer, tuple(members)) for (rows, outer), members in found.items()]


def common_stride(items: list[Item], level: int, name: str, place: Place) -> Stride:
    """The coarsest stride found that has the values of all items."""
    strides = [stride_at(item, level, name, place) for item in items]
    common = strides[0]
    for other in strides[1:]:
        common = common.joined(other, place.known.near(*(item.shadows[level] for item in items)))
    return common if common.step else EVERY_VALUE


def stride_at(item: Item, level: int, name: str, place: Place) -> Stride:
    """The values of the level that one item has."""
    time = item.fixed[level]
    if time is not None:
        return Stride(0, Affine((), time))
    shadow = item.shadows[level]
    if not shadow.has_equalities:
        return EVERY_VALUE
    shadow = place.valued(shadow)
    only = shadow.solved_for(name)
    return stride_of(shadow, name) if only is None else Stride(0, only)
