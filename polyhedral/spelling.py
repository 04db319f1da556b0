"""How systems are spelled: sorted names, normal rows, several systems over common names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress, repeat
from itertools import count as numbers
from operator import add, attrgetter, itemgetter, neg
from typing import NamedTuple, Protocol

from polyhedral.affine import Affine
from polyhedral.elimination import project
from polyhedral.rows import (
    Contradiction,
    Row,
    Table,
    hidden_equalities,
    least_width,
    reduced_equality,
    table_of,
    tightest,
)


class Spelling(NamedTuple):
    """Sorted names that occur and the rows over them; names that start with `$` are existential."""

    names: tuple[str, ...] = ()
    equalities: tuple[Row, ...] = ()
    inequalities: tuple[Row, ...] = ()


class Spelled(Protocol):
    """What has the parts of a spelling."""

    def __hash__(self) -> int:
        """Equal spellings have equal hashes."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted."""
        ...

    @property
    def equalities(self) -> tuple[Row, ...]:
        """The rows that are 0."""
        ...

    @property
    def inequalities(self) -> tuple[Row, ...]:
        """The rows that are not negative."""
        ...


Rows = tuple[tuple[Row, ...], tuple[Row, ...]]
_NAMES = attrgetter("names")
_FIRST, _SECOND = itemgetter(0), itemgetter(1)
_ZERO = (0,)
CONTRADICTION = Spelling((), (), ((-1,),))


def is_existential(name: str) -> bool:
    """Whether `name` is one that a System gave to an existential variable."""
    return name.startswith("$")


def unit(column: int, width: int) -> Row:
    """The row of one column."""
    return tuple([1 if i == column else 0 for i in range(width + 1)])


def dense(affine: Affine, index: Mapping[str, int]) -> Row:
    """The row of an expression over the columns that `index` gives."""
    row = [0] * (len(index) + 1)
    for name, coefficient in affine.terms:
        row[index[name]] = coefficient
    row[-1] = affine.constant
    return tuple(row)


def normal(names: tuple[str, ...], equalities: Iterable[Row], inequalities: Iterable[Row]) -> Spelling:
    """The normal form of these rows over sorted `names`: existentials that can be eliminated exactly are gone."""
    try:
        if names and is_existential(names[0]):
            existential = [i for i, n in enumerate(names) if is_existential(n)]
            left = project(tuple(equalities), tuple(inequalities), existential, len(names), False)
            equalities, inequalities = left.equalities, left.inequalities
        return tidy(names, equalities, inequalities)
    except Contradiction:
        return CONTRADICTION


def tidy(names: tuple[str, ...], equalities: Iterable[Row], inequalities: Iterable[Row]) -> Spelling:
    """The rows reduced and sorted, opposite rows joined to equalities, names that do not occur dropped.

    Raises Contradiction where a row cannot hold.
    """
    used, equal, unequal = _tidy_rows(tuple(equalities), tuple(inequalities))
    if len(used) < len(names):
        names = tuple([names[i] for i in used])
    if names and is_existential(names[0]):
        names = _numbered(names)
    return Spelling(names, equal, unequal)


_Chosen = tuple[tuple[int, ...], tuple[Row, ...], tuple[Row, ...]]


@lru_cache(maxsize=1 << 14)
def _tidy_rows(equalities: tuple[Row, ...], inequalities: tuple[Row, ...]) -> _Chosen:
    """The columns that are used, and the rows over them in normal form."""
    table = table_of(inequalities)
    equal = [r for r in map(reduced_equality, equalities) if r is not None]
    equal += [r for r in map(reduced_equality, hidden_equalities(table)) if r is not None]
    used, first, second = _used_columns(equal, [(*c, k) for c, k in table.items()])
    return used, tuple(sorted(set(first))), tuple(sorted(second))


def _used_columns(equalities: Sequence[Row], inequalities: Sequence[Row]) -> _Chosen:
    occurs = list(map(any, zip(*equalities, *inequalities, strict=True)))[:-1]
    used = tuple(compress(range(len(occurs)), occurs))
    if len(used) == len(occurs):
        return used, tuple(equalities), tuple(inequalities)
    if not used:
        return (), tuple([(r[-1],) for r in equalities]), tuple([(r[-1],) for r in inequalities])
    pick = itemgetter(*used, -1)
    return used, tuple(map(pick, equalities)), tuple(map(pick, inequalities))


def subset(system: Spelled, chosen: Sequence[bool]) -> Spelling:
    """The system with only those rows, equalities and then inequalities, that are chosen; without existentials."""
    if all(chosen):
        return Spelling(system.names, system.equalities, system.inequalities)
    used, equal, unequal = _chosen_rows(system.equalities, system.inequalities, tuple(chosen))
    return Spelling(tuple([system.names[i] for i in used]), equal, unequal)


@lru_cache(maxsize=1 << 14)
def _chosen_rows(equalities: tuple[Row, ...], inequalities: tuple[Row, ...], chosen: tuple[bool, ...]) -> _Chosen:
    equal = list(compress(equalities, chosen))
    return _used_columns(equal, list(compress(inequalities, chosen[len(equalities) :])))


@lru_cache(maxsize=1 << 14)
def merged(parts: tuple[Rows, ...]) -> Rows | None:
    """All at once: rows over the same names, normal and without existentials; None where that is a contradiction."""
    equal: set[Row] = set().union(*map(_FIRST, parts))
    rows = set[Row]().union(*map(_SECOND, parts))
    table = tightest(rows)
    if len(table) == len(rows) and (_none_is_opposed(parts, table) or least_width(table) > 0):
        return tuple(sorted(equal)), tuple(sorted(rows))
    try:
        equal.update([r for r in map(reduced_equality, hidden_equalities(table)) if r is not None])
    except Contradiction:
        return None
    return tuple(sorted(equal)), tuple(sorted([(*c, k) for c, k in table.items()]))


def _none_is_opposed(parts: Sequence[Rows], table: Table) -> bool:
    """Whether no row of one part is opposite to one of another, as a look at all parts but the first shows."""
    return table.keys().isdisjoint([tuple(map(neg, r[:-1])) for _, rows in parts[1:] for r in rows])


def _numbered(names: tuple[str, ...]) -> tuple[str, ...]:
    own = [n for n in names if is_existential(n)]
    return tuple(sorted(f"${i}" for i in range(len(own)))) + names[len(own) :]


def in_order(names: tuple[str, ...], equalities: Iterable[Row], inequalities: Iterable[Row]) -> Spelling:
    """The rows over unsorted names as rows over the sorted ones."""
    if len(names) < 2:
        return Spelling(names, tuple(equalities), tuple(inequalities))
    order = sorted(range(len(names)), key=names.__getitem__)
    pick = itemgetter(*order, len(names))
    return Spelling(tuple([names[i] for i in order]), tuple(map(pick, equalities)), tuple(map(pick, inequalities)))


def aligned(*systems: Spelled) -> tuple[tuple[str, ...], list[Rows]]:
    """Common sorted names, and the rows of each system over them; existentials are kept apart."""
    if len(systems) == 1:
        return systems[0].names, [(systems[0].equalities, systems[0].inequalities)]
    names, places = _common(*map(_NAMES, systems))
    return names, [
        (s.equalities, s.inequalities) if p is None else (_spread(s.equalities, p), _spread(s.inequalities, p))
        for s, p in zip(systems, places, strict=True)
    ]


@lru_cache(maxsize=1 << 14)
def _common(*several: tuple[str, ...]) -> tuple[tuple[str, ...], list[tuple[int, ...] | None]]:
    """The common names, existentials apart, and where the rows of each are taken from, None where its names are all."""
    apart = several if not [own for own in several if own and own[0][0] == "$"] else _kept_apart(several)
    names = tuple(sorted(set().union(*apart)))
    return names, [None if own == names else _places(own, names) for own in apart]


def _kept_apart(several: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The names with existentials numbered so that no two have one of them."""
    renamed, fresh = [], 0
    for own in several:
        count = sum(map(is_existential, own))
        renamed.append((*[f"${k:03d}" for k in range(fresh, fresh + count)], *own[count:]))
        fresh += count
    return renamed


def _places(own: tuple[str, ...], names: tuple[str, ...]) -> tuple[int, ...]:
    width = len(own)
    return (*map(dict(zip(own, numbers(), strict=False)).get, names, repeat(width + 1)), width)


@lru_cache(maxsize=1 << 14)
def _spread(rows: tuple[Row, ...], places: tuple[int, ...]) -> tuple[Row, ...]:
    """The rows with a 0 behind them, taken in the order of `places`."""
    return tuple(map(itemgetter(*places), map(add, rows, repeat(_ZERO))))
