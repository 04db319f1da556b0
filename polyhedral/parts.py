"""What is asked of parts of systems, and remembered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, compress
from operator import attrgetter, itemgetter, mul, neg, not_

from polyhedral.affine import Affine, var
from polyhedral.elimination import exact_shadow, project
from polyhedral.emptiness import Nearby
from polyhedral.gist import are_lone_bounds, needed
from polyhedral.part import NOTHING, VISIBLE, Part, Parts, in_place, inherited, part, parts_of, touching
from polyhedral.points import at, point_of, points_of, together
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


def linked(own: Sequence[Part], known: Sequence[Part]) -> list[tuple[Parts, Parts]]:
    """The parts of two systems in groups that share no visible variable."""
    found: list[tuple[Parts, Parts]] = []
    if len(own) == 1:
        names = own[0].visible
        theirs = touching(known, names)
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
        apart = list(map(one.visible.isdisjoint, map(VISIBLE, found)))
        if all(apart):
            found = (*found, one)
        else:
            found = (*compress(found, apart), *_joined(*compress(found, map(not_, apart)), one))
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
    if not one.found:
        one.near = points_of(sorted(parts, key=_count))
    return (one,)


def _count(one: Part) -> int:
    return len(one.names)


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
    point = point_of(*known, *own)
    if point is None:
        return NOTHING
    if known and not [p for p in own if p not in known or (p.equalities and not equalities_too)]:
        return ()
    if len(own) == 1 and _is_all_needed(own[0], known):
        return own
    names, rows = aligned(*own, *known)
    mine, theirs = together(rows[: len(own)]), together(rows[len(own) :])
    existential = sum(map(_OWN, chain(own, known)))
    chosen = needed(
        mine, theirs, equalities_too, existential, len(names), None if existential else Nearby(at(point, names))
    )
    if all(chosen):
        return own
    count = len(mine[0])
    equal, unequal = compress(mine[0], chosen), compress(mine[1], chosen[count:])
    if existential:
        return parts_of(normal(names, equal, unequal))
    return inherited(parts_of(subset(Spelling(names, *mine), chosen)), point)


def _is_all_needed(one: Part, known: Parts) -> bool:
    """Whether it is one row that nothing is known about, or each row alone bounds a variable that is not known."""
    rows = one.inequalities
    if one.equalities or one.own:
        return not known and len(rows) + len(one.equalities) == 1
    if not known and len(rows) == 1:
        return True
    free = one.visible.difference(*map(VISIBLE, known))
    return 2 * len(free) >= len(rows) and are_lone_bounds(rows, tuple(map(free.__contains__, one.names)))


def gist_by_parts(own: Parts, known: Parts, equalities_too: bool) -> Parts:
    """As `gist_of`, of parts that need not hang together."""
    found: list[Part] = []
    for mine, theirs in linked(own, known):
        if mine:
            found += gist_of(mine, theirs, equalities_too and any(p.equalities for p in mine))
        elif point_of(*theirs) is None:
            return NOTHING
    return in_place(found)


@lru_cache(maxsize=1 << 14)
def eliminated(one: Part, names: tuple[str, ...], force: bool) -> tuple[Parts, bool]:
    """The shadow of a part without `names`, and whether it is exact; see `System.eliminate`."""
    columns = tuple([i for i, n in enumerate(one.names) if n in names or i < one.own])
    spelled, exact = _shadow_of_rows((one.equalities, one.inequalities), columns, len(one.names), force)
    names = tuple([n if n[0] == "$" else one.names[int(n)] for n in spelled.names])
    left = parts_of(Spelling(names, spelled.equalities, spelled.inequalities))
    return (inherited(left, one.near) if one.found else left), exact


_OWN = attrgetter("own")
_CONSTANT = itemgetter(slice(-1, None))


@lru_cache(maxsize=1 << 14)
def _shadow_of_rows(rows: Rows, columns: tuple[int, ...], width: int, force: bool) -> tuple[Spelling, bool]:
    """The shadow of rows whatever their names are: each column is called by its number."""
    try:
        left = project(*rows, columns, width, force)
        left = left if force else exact_shadow(left, width)
        if not left.columns:
            kept = [i for i in range(width) if i not in columns]
            pick = itemgetter(*kept, -1) if kept else _CONSTANT
            names = tuple(map(str, kept))
            return tidy(names, tuple(map(pick, left.equalities)), tuple(map(pick, left.inequalities))), left.exact
        own = {c: f"${i:03d}" for i, c in enumerate(left.columns)}
        names = tuple([own.get(i, f"$unused{i}" if i in columns else f"{i:06d}") for i in range(width)])
        return tidy(*in_order(names, left.equalities, left.inequalities)), left.exact
    except Contradiction:
        return CONTRADICTION, True


@lru_cache(maxsize=1 << 14)
def substituted(one: Part, values: tuple[tuple[str, Affine], ...]) -> Parts:
    """The part with visible names replaced by expressions, all at once."""
    new = {n: v for n, v in values if v != var(n)}
    if not new:
        return (one,)
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
    found = part(Spelling(spelled.names, tuple(sorted(map(_positive, spelled.equalities))), tuple(sorted(spelled[2]))))
    if one.found and not found.found:
        found.near, found.found = {new.get(n, n): one.near.get(n, 0) for n in one.visible}, True
    return found


def _positive(row: Row) -> Row:
    return tuple(map(neg, row)) if next((c for c in row if c), 1) < 0 else row


@lru_cache(maxsize=1 << 14)
def without_names(one: Part, names: frozenset[str]) -> Parts:
    """The rows in which none of the names occurs."""
    columns = [i for i, n in enumerate(one.names) if n in names]
    return rows_of(one, [not any(r[i] for i in columns) for r in one.equalities + one.inequalities])


@lru_cache(maxsize=1 << 14)
def with_names(one: Part, names: frozenset[str]) -> Parts:
    """The rows in which some of the names occurs."""
    columns = [i for i, n in enumerate(one.names) if n in names]
    chosen = [any(r[i] for i in columns) for r in one.equalities + one.inequalities]
    return (one,) if all(chosen) else rows_of(one, chosen)


def rows_of(one: Part, chosen: list[bool]) -> Parts:
    """Only those rows of a part, equalities and then inequalities, that are chosen."""
    left = spelled_rows(one, chosen)
    return inherited(left, one.near) if one.found else left


def spelled_rows(system: Spelled, chosen: list[bool]) -> Parts:
    """Only those rows, equalities and then inequalities, that are chosen."""
    if not (system.names and is_existential(system.names[0])):
        return parts_of(subset(system, chosen))
    equal, unequal = system.equalities, system.inequalities
    return parts_of(tidy(system.names, compress(equal, chosen), compress(unequal, chosen[len(equal) :])))
