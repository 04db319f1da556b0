"""Parts of systems: rows that hang together by their variables. Equal parts are one object, and questions are asked
of parts and remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from operator import mul, neg

from attrs import frozen

from polyhedral.affine import Affine
from polyhedral.components import components
from polyhedral.elimination import exact_shadow, project
from polyhedral.emptiness import Nearby, glance, point_in
from polyhedral.gist import needed
from polyhedral.interned import Interned
from polyhedral.rows import Contradiction, Row
from polyhedral.spelling import (
    CONTRADICTION,
    Rows,
    Spelled,
    Spelling,
    aligned,
    dense,
    in_order,
    is_existential,
    merged,
    normal,
    subset,
    tidy,
    unit,
)
from polyhedral.witnesses import Witnesses


@frozen(eq=False)
class Part:
    """Rows that share variables, as a normal spelling; made by `part` alone, so that equal ones are one object.

    `own` existentials come first among the names, `visible` are the others. `place` orders the parts of a system.
    `near` is where points of it and of what it comes from were found lately: it saves work and says nothing.
    """

    names: tuple[str, ...]
    equalities: tuple[Row, ...]
    inequalities: tuple[Row, ...]
    own: int
    visible: frozenset[str]
    place: tuple[str, Rows]
    near: dict[str, int]


Parts = tuple[Part, ...]
_known: Interned[Spelling, Part] = Interned()


def part(spelling: Spelling) -> Part:
    """The one part that is spelled like this; its rows hang together."""
    kept = _known.refs.get(spelling)
    found = None if kept is None else kept()
    if found is None:
        names, equalities, inequalities = spelling
        own = sum(map(is_existential, names)) if names and names[0][0] == "$" else 0
        visible = names[own:]
        place = (visible[0] if visible else "", (equalities, inequalities))
        found = _known.add(spelling, Part(names, equalities, inequalities, own, frozenset(visible), place, {}))
    return found


FALSE_PART = part(CONTRADICTION)
NOTHING: Parts = (FALSE_PART,)


def in_place(parts: Iterable[Part]) -> Parts:
    """The parts of one system in their order; only the contradiction where it is one of them."""
    found = tuple(parts)
    if FALSE_PART in found:
        return NOTHING
    return found if len(found) < 2 else tuple(sorted(found, key=_place))


def _place(one: Part) -> tuple[str, Rows]:
    return one.place


def parts_of(spelling: Spelling) -> Parts:
    """The parts of a normal spelling."""
    if not spelling.names:
        return NOTHING if spelling.inequalities else ()
    found = components(spelling)
    return (part(spelling),) if found is None else in_place(map(part, found))


def linked(own: Sequence[Part], known: Sequence[Part]) -> list[tuple[Parts, Parts]]:
    """The parts of two systems in groups that share no visible variable."""
    found: list[tuple[Parts, Parts]] = []
    if len(own) == 1:
        names = own[0].visible
        theirs = tuple([p for p in known if not names.isdisjoint(p.visible)])
        found.append((tuple(own), theirs))
        found += [((), (p,)) for p in known if p not in theirs]
        return found
    for group in _groups(tuple(dict.fromkeys((*own, *known)))):
        found.append((tuple([p for p in own if p in group]), tuple([p for p in known if p in group])))
    return found


def conjoined(first: Parts, second: Parts) -> Parts:
    """The parts of both conjunctions at once; their existentials are kept apart."""
    found = first
    for one in second:
        if one in found:
            continue
        met = tuple([p for p in found if not p.visible.isdisjoint(one.visible)])
        if met:
            found = (*[p for p in found if p not in met], *_joined(*met, one))
        else:
            found = (*found, one)
    return in_place(found)


@lru_cache(maxsize=1 << 14)
def _joined(*parts: Part) -> Parts:
    names, rows = aligned(*parts)
    if any(p.own for p in parts):
        return parts_of(normal(names, [r for p in rows for r in p[0]], [r for p in rows for r in p[1]]))
    both = merged(tuple(rows))
    if both is None:
        return NOTHING
    one = part(Spelling(names, *both))
    for other in parts:
        one.near.update(other.near)
    return (one,)


_witnesses = Witnesses(24)


@lru_cache(maxsize=1 << 15)
def point_of(*parts: Part) -> Mapping[str, int] | None:
    """Integers that satisfy parts which hang together, by visible name, 0 where not named; None where none do."""
    names, rows = aligned(*parts)
    equalities, inequalities = _together(rows)
    if len(parts) == 1:
        near = parts[0].near
    else:
        near = {}
        for one in parts:
            near.update(one.near)
    seen = glance(equalities, inequalities, len(names), Nearby(at(near, names)))
    if seen.is_empty:
        return None
    point = seen.point
    if point is None:
        found = _witnesses.find(parts) if len(parts) > 1 else None
        if found is not None:
            return found
        point = point_in(equalities, inequalities, len(names))
        if point is None:
            return None
        _witnesses.add(_named(names, point))
    values = _named(names, point)
    for one in parts:
        one.near.update(values)
    return values


def first_point_of(one: Part) -> Mapping[str, int] | None:
    """A point of a part as `point_of`, the same one whatever was asked before."""
    point = point_in(one.equalities, one.inequalities, len(one.names))
    return None if point is None else _named(one.names, point)


def _named(names: tuple[str, ...], point: Sequence[int]) -> dict[str, int]:
    return {n: v for n, v in zip(names, point, strict=True) if n[0] != "$"}


def at(point: Mapping[str, int], names: tuple[str, ...]) -> tuple[int, ...]:
    """The values of these names at a point."""
    return tuple([point.get(n, 0) for n in names])


def _together(rows: Sequence[Rows]) -> Rows:
    if len(rows) == 1:
        return rows[0]
    return tuple([r for p in rows for r in p[0]]), tuple([r for p in rows for r in p[1]])


def have_no_point(parts: Sequence[Part]) -> bool:
    """Whether no integer point is in all of the parts."""
    if len(parts) == 1:
        return point_of(parts[0]) is None
    return any(point_of(*group) is None for group in _groups(parts))


def _groups(parts: Sequence[Part]) -> list[list[Part]]:
    """The parts in groups that share no visible variable."""
    names_of: list[frozenset[str]] = []
    groups: list[list[Part]] = []
    for one in parts:
        names, met = one.visible, None
        for number, seen in enumerate(names_of):
            if not names.isdisjoint(seen):
                if met is None:
                    met = number
                    groups[number].append(one)
                    names_of[number] = seen | names
                else:
                    groups[met] += groups[number]
                    names_of[met] |= seen
                    groups[number], names_of[number] = [], frozenset()
        if met is None:
            names_of.append(names)
            groups.append([one])
    return [g for g in groups if g]


@lru_cache(maxsize=1 << 14)
def gist_of(own: Parts, known: Parts, equalities_too: bool) -> Parts:
    """Of parts that hang together, what is not implied by its other rows and `known`; `NOTHING` where no point is left.

    Without `equalities_too` only inequalities are taken away.
    """
    point = point_of(*own, *known)
    if point is None:
        return NOTHING
    if equalities_too and all(p in known for p in own):
        return ()
    names, rows = aligned(*own, *known)
    mine, theirs = _together(rows[: len(own)]), _together(rows[len(own) :])
    existential = sum(p.own for p in own) + sum(p.own for p in known)
    chosen = needed(
        mine, theirs, equalities_too, existential, len(names), None if existential else Nearby(at(point, names))
    )
    if all(chosen):
        return own
    count = len(mine[0])
    equal, unequal = compress(mine[0], chosen), compress(mine[1], chosen[count:])
    if existential:
        return parts_of(normal(names, equal, unequal))
    return parts_of(subset(Spelling(names, *mine), chosen))


def gist_by_parts(own: Parts, known: Parts, equalities_too: bool) -> Parts:
    """As `gist_of`, of parts that need not hang together."""
    found: list[Part] = []
    for mine, theirs in linked(own, known):
        if mine:
            found += gist_of(mine, theirs, equalities_too)
        elif point_of(*theirs) is None:
            return NOTHING
    return in_place(found)


def eliminated(one: Part, names: Iterable[str], force: bool) -> tuple[Parts, bool]:
    """The shadow of a part without `names`, and whether it is exact; see `System.eliminate`."""
    gone = one.visible.intersection(names)
    columns = tuple([i for i, n in enumerate(one.names) if n in gone or i < one.own])
    return _shadow(one, columns, force)


@lru_cache(maxsize=1 << 14)
def _shadow(one: Part, columns: tuple[int, ...], force: bool) -> tuple[Parts, bool]:
    spelled, exact = _shadow_of_rows((one.equalities, one.inequalities), columns, len(one.names), force)
    names = tuple([n if n[0] == "$" else one.names[int(n)] for n in spelled.names])
    return parts_of(Spelling(names, spelled.equalities, spelled.inequalities)), exact


@lru_cache(maxsize=1 << 14)
def _shadow_of_rows(rows: Rows, columns: tuple[int, ...], width: int, force: bool) -> tuple[Spelling, bool]:
    """The shadow of rows whatever their names are: each column is called by its number."""
    try:
        left = project(*rows, columns, width, force)
        left = left if force else exact_shadow(left, width)
        own = {c: f"${i:03d}" for i, c in enumerate(left.columns)}
        names = tuple([own.get(i, f"$unused{i}" if i in columns else f"{i:06d}") for i in range(width)])
        return tidy(*in_order(names, left.equalities, left.inequalities)), left.exact
    except Contradiction:
        return CONTRADICTION, True


@lru_cache(maxsize=1 << 14)
def substituted(one: Part, values: tuple[tuple[str, Affine], ...]) -> Parts:
    """The part with visible names replaced by expressions, all at once."""
    new = dict(values)
    names = sorted({n for n in one.names if n not in new}.union(*[a.names for a in new.values()]))
    index = {n: i for i, n in enumerate(names)}
    into = [dense(new[n], index) if n in new else unit(index[n], len(names)) for n in one.names]
    into.append(unit(len(names), len(names)))
    equal, unequal = [_multiplied(rows, tuple(into)) for rows in (one.equalities, one.inequalities)]
    return parts_of(normal(tuple(names), equal, unequal))


@lru_cache(maxsize=1 << 14)
def _multiplied(rows: tuple[Row, ...], matrix: tuple[Row, ...]) -> tuple[Row, ...]:
    columns = list(zip(*matrix, strict=True))
    return tuple([tuple([sum(map(mul, row, column)) for column in columns]) for row in rows])


@lru_cache(maxsize=1 << 14)
def renamed(one: Part, names: tuple[tuple[str, str], ...]) -> Part:
    """The part with visible names replaced by others, which it does not have."""
    new = dict(names)
    spelled = in_order(tuple([new.get(n, n) for n in one.names]), one.equalities, one.inequalities)
    return part(Spelling(spelled.names, tuple(sorted(map(_positive, spelled.equalities))), tuple(sorted(spelled[2]))))


def _positive(row: Row) -> Row:
    return tuple(map(neg, row)) if next((c for c in row if c), 1) < 0 else row


@lru_cache(maxsize=1 << 14)
def without_names(one: Part, names: frozenset[str]) -> Parts:
    """The rows in which none of the names occurs."""
    columns = [i for i, n in enumerate(one.names) if n in names]
    return rows_of(one, [not any(r[i] for i in columns) for r in one.equalities + one.inequalities])


def rows_of(one: Spelled, chosen: list[bool]) -> Parts:
    """Only those rows, equalities and then inequalities, that are chosen."""
    if not (one.names and is_existential(one.names[0])):
        return parts_of(subset(one, chosen))
    equal, unequal = one.equalities, one.inequalities
    return parts_of(tidy(one.names, compress(equal, chosen), compress(unequal, chosen[len(equal) :])))
