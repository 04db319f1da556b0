"""How systems are spelled: sorted names, normal rows, several systems over common names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from operator import itemgetter
from typing import NamedTuple, Protocol

from polyhedral.affine import Affine
from polyhedral.elimination import project
from polyhedral.rows import Contradiction, Row, Table, hidden_equalities, reduced_equality, table_of


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
            left = project(equalities, inequalities, existential, len(names), False)
            equalities, inequalities = left.equalities, left.inequalities
        return tidy(names, equalities, inequalities)
    except Contradiction:
        return CONTRADICTION


def tidy(names: tuple[str, ...], equalities: Iterable[Row], inequalities: Iterable[Row]) -> Spelling:
    """The rows reduced and sorted, opposite rows joined to equalities, names that do not occur dropped.

    Raises Contradiction where a row cannot hold.
    """
    table = table_of(inequalities)
    equal = [r for r in map(reduced_equality, equalities) if r is not None]
    equal += [r for r in map(reduced_equality, hidden_equalities(table)) if r is not None]
    rows = [(*c, k) for c, k in table.items()]
    columns = list(zip(*equal, *rows, strict=True))
    used = [i for i in range(len(names)) if columns and any(columns[i])]
    if len(used) < len(names):
        equal = [(*[r[i] for i in used], r[-1]) for r in equal]
        rows = [(*[r[i] for i in used], r[-1]) for r in rows]
        names = tuple([names[i] for i in used])
    if names and is_existential(names[0]):
        names = _numbered(names)
    return Spelling(names, tuple(sorted(set(equal))), tuple(sorted(rows)))


def subset(system: Spelled, chosen: Sequence[bool]) -> Spelling:
    """The system with only those rows, equalities and then inequalities, that are chosen; without existentials."""
    if all(chosen):
        return Spelling(system.names, system.equalities, system.inequalities)
    count = len(system.equalities)
    equal = list(compress(system.equalities, chosen))
    unequal = list(compress(system.inequalities, chosen[count:]))
    rows = equal + unequal
    used = [i for i in range(len(system.names)) if any(r[i] for r in rows)]
    if len(used) == len(system.names):
        return Spelling(system.names, tuple(equal), tuple(unequal))
    pick = (*used, len(system.names))
    return Spelling(
        tuple([system.names[i] for i in used]),
        tuple([tuple([r[i] for i in pick]) for r in equal]),
        tuple([tuple([r[i] for i in pick]) for r in unequal]),
    )


def merged(names: tuple[str, ...], parts: Sequence[Rows]) -> Spelling:
    """All at once: equalities and inequalities over the same names, normal and without existentials."""
    table: Table = {}
    equal: set[Row] = set()
    for equalities, inequalities in parts:
        equal.update(equalities)
        for row in inequalities:
            coefficients = row[:-1]
            old = table.get(coefficients)
            if old is None or row[-1] < old:
                table[coefficients] = row[-1]
    try:
        equal.update([r for r in map(reduced_equality, hidden_equalities(table)) if r is not None])
    except Contradiction:
        return CONTRADICTION
    return Spelling(names, tuple(sorted(equal)), tuple(sorted([(*c, k) for c, k in table.items()])))


def _numbered(names: tuple[str, ...]) -> tuple[str, ...]:
    own = [n for n in names if is_existential(n)]
    return tuple(sorted(f"${i}" for i in range(len(own)))) + names[len(own) :]


def in_order(names: tuple[str, ...], equalities: Iterable[Row], inequalities: Iterable[Row]) -> Spelling:
    """The rows over unsorted names as rows over the sorted ones."""
    order = sorted(range(len(names)), key=lambda i: names[i])
    return Spelling(
        tuple(names[i] for i in order),
        tuple(tuple([r[i] for i in order] + [r[-1]]) for r in equalities),
        tuple(tuple([r[i] for i in order] + [r[-1]]) for r in inequalities),
    )


def aligned(*systems: Spelled) -> tuple[tuple[str, ...], list[tuple[tuple[Row, ...], tuple[Row, ...]]]]:
    """Common sorted names, and the rows of each system over them; existentials are kept apart."""
    renamed, fresh = [], 0
    for system in systems:
        own = system.names
        if own and own[0][0] == "$":
            count = sum(map(is_existential, own))
            own = (*[f"${k:03d}" for k in range(fresh, fresh + count)], *own[count:])
            fresh += count
        renamed.append(own)
    names = tuple(sorted(set().union(*renamed)))
    return names, [
        (_spread(s.equalities, o, names), _spread(s.inequalities, o, names))
        for s, o in zip(systems, renamed, strict=True)
    ]


def _spread(rows: tuple[Row, ...], own: tuple[str, ...], names: tuple[str, ...]) -> tuple[Row, ...]:
    if own == names or not rows:
        return rows
    pick = _places(own, names)
    return tuple([pick((*r, 0)) for r in rows])


@lru_cache(maxsize=1 << 12)
def _places(own: tuple[str, ...], names: tuple[str, ...]) -> Callable[[Row], Row]:
    """Puts a row over `own` with a 0 behind it into the order of `names`, which has more."""
    where = {n: i for i, n in enumerate(own)}
    zero = len(own) + 1
    return itemgetter(*[where.get(n, zero) for n in names], len(own))
