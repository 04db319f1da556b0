"""Conjunctions of affine conditions with existential variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import itemgetter, neg
from typing import TypeAlias, Union

from attrs import frozen

from polyhedral.affine import Affine, Condition, Congruence, Constraint, FloorDiv, as_affine
from polyhedral.elimination import implies, irredundant, project
from polyhedral.emptiness import integer_point
from polyhedral.fourier_motzkin import dark_row, splinters, split
from polyhedral.rows import Contradiction, Row, hidden_equalities, reduced_equality, table_of

Part: TypeAlias = Union[Condition, "System"]
Bounds: TypeAlias = tuple[tuple[tuple[Affine, int], ...], tuple[tuple[Affine, int], ...]]


def is_existential(name: str) -> bool:
    """Whether `name` is one that a System gave to an existential variable."""
    return name.startswith("$")


@frozen(cache_hash=True)
class System:
    """A conjunction of equalities and inequalities over named integer variables.

    `names` is sorted and holds just the variables that occur; those spelled `$0`, `$1`, ... are
    existential. Rows are the coefficients in the order of `names` and then the constant, divided by
    their gcd. Existentials that can be eliminated without losing a point never stay.
    """

    names: tuple[str, ...] = ()
    equalities: tuple[Row, ...] = ()
    inequalities: tuple[Row, ...] = ()

    @staticmethod
    def of(*parts: Part, exists: Iterable[str] = ()) -> System:
        """The conjunction of conditions and systems; the names in `exists` become existential."""
        equal: list[tuple[Affine, int]] = []
        unequal: list[Affine] = []
        systems: list[System] = []
        for part in parts:
            match part:
                case Constraint(affine, equality):
                    equal.append((affine, 0)) if equality else unequal.append(affine)
                case Congruence(affine, modulus):
                    equal.append((affine, modulus))
                case System():
                    systems.append(part)
                case _:
                    raise TypeError(f"wanted a Constraint, a Congruence or a System, got {part!r}")
        result = _from_affine(equal, unequal)
        for system in systems:
            result = conjoin(result, system)
        return result.quantified(exists)

    def quantified(self, names: Iterable[str]) -> System:
        """The system with these visible variables made existential."""
        return self.rename({n: f"$_{n}" for n in names})

    @property
    def exists(self) -> tuple[str, ...]:
        """The existential variables."""
        return tuple(n for n in self.names if is_existential(n))

    @property
    def visible(self) -> tuple[str, ...]:
        """The variables that are not existential, sorted."""
        return tuple(n for n in self.names if not is_existential(n))

    @property
    def is_false(self) -> bool:
        """Whether it is spelled as the contradiction (`is_empty` decides whether it is one)."""
        return self == FALSE

    @property
    def is_universe(self) -> bool:
        """Whether there is no condition at all."""
        return not self.equalities and not self.inequalities

    def __and__(self, other: Part) -> System:
        return conjoin(self, other) if isinstance(other, System) else System.of(self, other)

    def is_empty(self) -> bool:
        """Whether no integers satisfy it, for any value of the parameters. Exact."""
        return _point(self) is None

    def sample(self) -> dict[str, int] | None:
        """Integers for all visible variables that satisfy it, or None where there are none."""
        point = _point(self)
        if point is None:
            return None
        return {n: v for n, v in zip(self.names, point, strict=False) if not is_existential(n)}

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it holds where each visible variable has the value given; exact with existentials too."""
        if not self.exists:
            point = [values[n] for n in self.names]
            return all(_value(r, point) == 0 for r in self.equalities) and all(
                _value(r, point) >= 0 for r in self.inequalities
            )
        return not self.substitute({n: values[n] for n in self.visible}).is_empty()

    def eliminate(self, *names: str) -> tuple[System, bool]:
        """The shadow without `names`, and whether it is exact.

        Every point of the system has its image in the shadow. The converse holds where the flag is
        True; where it is False the shadow is the rational one, tightened to integers. Congruences
        that arise stay as existentials.
        """
        return _eliminate(self, names, True)

    def project_out(self, *names: str) -> System:
        """The exact integer shadow without `names`; what has no plain form stays as an existential."""
        return _eliminate(self, names, False)[0]

    def simplified(self, context: System | None = None) -> System:
        """The system without the inequalities that the others (and `context`) imply; the same set."""
        return _simplified(self, context or UNIVERSE)

    def gist(self, context: System) -> System:
        """Conditions that together with `context` say the same as this system with `context`, as few as can be."""
        return _gist(self, context)

    def implies(self, condition: Condition) -> bool:
        """Whether `condition` holds at every point."""
        return all(disjoint(self, c) for c in negations(System.of(condition)))

    def substitute(self, values: Mapping[str, Affine | int]) -> System:
        """The system with each name of `values` replaced, all at once."""
        if not any(n in values for n in self.names):
            return self
        new = {n: as_affine(v) for n, v in values.items() if n in self.names}
        names = sorted({n for n in self.names if n not in new}.union(*(a.names for a in new.values())))
        index = {n: i for i, n in enumerate(names)}
        into = [_dense(new[n], index) if n in new else _unit(index[n], len(names)) for n in self.names]
        into.append(_unit(len(names), len(names)))
        columns = list(zip(*into, strict=False))

        def put(row: Row) -> Row:
            return tuple([sum(map(int.__mul__, row, column)) for column in columns])

        return make(tuple(names), map(put, self.equalities), map(put, self.inequalities))

    def rename(self, names: Mapping[str, str]) -> System:
        """The system with variables renamed; raises ValueError where two would become one."""
        if not any(n in names for n in self.names):
            return self
        new = tuple(names.get(n, n) for n in self.names)
        if len(set(new)) != len(new):
            raise ValueError(f"renaming {dict(names)} makes two variables of {self} one")
        return _reorder(new, self.equalities, self.inequalities)

    def split_on(self, name: str) -> tuple[System, System]:
        """The conditions in which `name` occurs, and the others; existentials must be congruences."""
        if name not in self.names:
            return UNIVERSE, self
        column = self.names.index(name)
        parts = [
            _tidy(
                self.names,
                [r for r in self.equalities if bool(r[column]) is with_name],
                [r for r in self.inequalities if bool(r[column]) is with_name],
            )
            for with_name in (True, False)
        ]
        return parts[0], parts[1]

    def bounds(self, name: str) -> Bounds:
        """The (expression, divisor) pairs e, d with name >= ceil(e/d), and those with name <= floor(e/d)."""
        if name not in self.names:
            return (), ()
        column = self.names.index(name)
        signs = [*self.inequalities, *self.equalities, *(tuple(map(neg, r)) for r in self.equalities)]
        lower = tuple(self._bound(r, column) for r in signs if r[column] > 0)
        upper = tuple(self._bound(r, column) for r in signs if r[column] < 0)
        return lower, upper

    def _bound(self, row: Row, column: int) -> tuple[Affine, int]:
        sign = -1 if row[column] > 0 else 1
        rest = {n: sign * c for i, (n, c) in enumerate(zip(self.names, row, strict=False)) if i != column}
        return Affine.of(rest, sign * row[-1]), abs(row[column])

    def affine(self, row: Row) -> Affine:
        """The expression of one of the rows."""
        return Affine.of(dict(zip(self.names, row, strict=False)), row[-1])

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions without existentials; raises ValueError where one is more than a congruence."""
        found: list[Condition] = []
        used: set[str] = set()
        for row in self.equalities:
            affine = self.affine(row)
            own = [n for n in affine.names if is_existential(n)]
            if not own:
                found.append(Constraint(affine, equality=True))
            elif len(own) == 1 and own[0] not in used:
                used.add(own[0])
                found.append(_congruence(affine, own[0]))
            else:
                raise ValueError(f"{self} has existentials that are no congruences")
        for row in self.inequalities:
            affine = self.affine(row)
            if any(is_existential(n) for n in affine.names):
                raise ValueError(f"{self} has existentials that are no congruences")
            found.append(Constraint(affine))
        return tuple(found)

    def __str__(self) -> str:
        if self.is_universe:
            return "true"
        parts = [f"{Constraint(self.affine(r), equality=True)}" for r in self.equalities]
        parts += [f"{Constraint(self.affine(r))}" for r in self.inequalities]
        prefix = f"exists {', '.join(self.exists)}: " if self.exists else ""
        return prefix + " and ".join(parts)


def _congruence(affine: Affine, own: str) -> Congruence:
    modulus = abs(affine.coefficient(own))
    rest = affine.substitute({own: 0})
    terms = {n: c % modulus for n, c in rest.terms}
    return Congruence(Affine.of(terms, rest.constant % modulus), modulus)


def _value(row: Row, point: list[int]) -> int:
    return sum(map(int.__mul__, row, point)) + row[-1]


def _unit(column: int, width: int) -> Row:
    return tuple([1 if i == column else 0 for i in range(width + 1)])


def _dense(affine: Affine, index: Mapping[str, int]) -> Row:
    row = [0] * (len(index) + 1)
    for name, coefficient in affine.terms:
        row[index[name]] = coefficient
    row[-1] = affine.constant
    return tuple(row)


UNIVERSE = System()
FALSE = System((), (), ((-1,),))


def _from_affine(equal: list[tuple[Affine, int]], unequal: list[Affine]) -> System:
    found = {n for a, _ in equal for n in a.names}.union(*(a.names for a in unequal))
    reserved = [n for n in found if is_existential(n)]
    if reserved:
        raise ValueError(f"the variable name {reserved[0]!r} is reserved: names that start with $ are existential")
    names = sorted([*found, *(f"${i}" for i, (_, modulus) in enumerate(equal) if modulus)])
    index = {n: i for i, n in enumerate(names)}
    rows = []
    for i, (affine, modulus) in enumerate(equal):
        row = list(_dense(affine, index))
        if modulus:
            row[index[f"${i}"]] = -modulus
        rows.append(tuple(row))
    return make(tuple(names), rows, [_dense(a, index) for a in unequal])


def make(names: tuple[str, ...], equalities: Iterable[Row], inequalities: Iterable[Row]) -> System:
    """The normal form of these rows over sorted `names`."""
    try:
        if names and is_existential(names[0]):
            existential = [i for i, n in enumerate(names) if is_existential(n)]
            left = project(equalities, inequalities, existential, len(names), False)
            equalities, inequalities = left.equalities, left.inequalities
        return _tidy(names, equalities, inequalities)
    except Contradiction:
        return FALSE


def _tidy(names: tuple[str, ...], equalities: Iterable[Row], inequalities: Iterable[Row]) -> System:
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
    return System(names, tuple(sorted(set(equal))), tuple(sorted(rows)))


def _numbered(names: tuple[str, ...]) -> tuple[str, ...]:
    own = [n for n in names if is_existential(n)]
    return tuple(sorted(f"${i}" for i in range(len(own)))) + names[len(own) :]


def _reorder(names: tuple[str, ...], equalities: Iterable[Row], inequalities: Iterable[Row]) -> System:
    order = sorted(range(len(names)), key=lambda i: names[i])
    return make(
        tuple(names[i] for i in order),
        [tuple([r[i] for i in order] + [r[-1]]) for r in equalities],
        [tuple([r[i] for i in order] + [r[-1]]) for r in inequalities],
    )


@lru_cache(maxsize=1 << 14)
def conjoin(first: System, second: System) -> System:
    """Both systems at once; their existentials are kept apart."""
    if first.is_universe or second.is_false or first == second:
        return second
    if second.is_universe or first.is_false:
        return first
    names, (a, b) = aligned(first, second)
    return make(names, a[0] + b[0], a[1] + b[1])


@lru_cache(maxsize=1 << 15)
def disjoint(*systems: System) -> bool:
    """Whether no integer point is in all of the systems. Exact; as `is_empty` of their conjunction, but cheaper."""
    names, parts = aligned(*systems)
    equalities = [row for part in parts for row in part[0]]
    return integer_point(equalities, [row for part in parts for row in part[1]], len(names)) is None


def aligned(*systems: System) -> tuple[tuple[str, ...], list[tuple[tuple[Row, ...], tuple[Row, ...]]]]:
    """Common sorted names, and the rows of each system over them; existentials are kept apart."""
    renamed, fresh = [], 0
    for system in systems:
        own: list[str] = []
        for name in system.names:
            if is_existential(name):
                name, fresh = f"${fresh:03d}", fresh + 1
            own.append(name)
        renamed.append(own)
    names = tuple(sorted(set().union(*renamed)))
    return names, [
        (_spread(s.equalities, o, names), _spread(s.inequalities, o, names))
        for s, o in zip(systems, renamed, strict=False)
    ]


def _spread(rows: tuple[Row, ...], own: list[str], names: tuple[str, ...]) -> tuple[Row, ...]:
    if tuple(own) == names or not rows:
        return rows
    where = {n: i for i, n in enumerate(own)}
    zero = len(own) + 1
    pick = itemgetter(*[where.get(n, zero) for n in names], len(own), len(own))
    return tuple([pick((*r, 0))[:-1] for r in rows])


@lru_cache(maxsize=1 << 15)
def _point(system: System) -> tuple[int, ...] | None:
    point = integer_point(system.equalities, system.inequalities, len(system.names))
    return None if point is None else tuple(point)


@lru_cache(maxsize=1 << 14)
def _eliminate(system: System, names: tuple[str, ...], force: bool) -> tuple[System, bool]:
    columns = [i for i, n in enumerate(system.names) if n in names or is_existential(n)]
    if not any(n in names for n in system.names) and not (force and system.exists):
        return system, True
    try:
        left = project(system.equalities, system.inequalities, columns, len(system.names), force)
    except Contradiction:
        return FALSE, True
    own = {system.names[c]: f"${i:03d}" for i, c in enumerate(left.columns)}
    new = tuple(own.get(n, f"$unused{n}" if i in columns else n) for i, n in enumerate(system.names))
    order = sorted(range(len(new)), key=lambda i: new[i])
    rows = [[tuple([r[i] for i in order] + [r[-1]]) for r in part] for part in (left.equalities, left.inequalities)]
    return _tidy(tuple(new[i] for i in order), rows[0], rows[1]), left.exact


@lru_cache(maxsize=1 << 14)
def _simplified(system: System, context: System) -> System:
    if system.is_universe or system.is_false:
        return system
    if disjoint(system, context):
        return FALSE
    names, (own, known) = aligned(system, context)
    kept = irredundant(own[0], own[1], known[0], known[1], len(names))
    return make(names, own[0], kept)


@lru_cache(maxsize=1 << 14)
def _gist(system: System, context: System) -> System:
    if system.is_universe or system.is_false:
        return system
    if disjoint(system, context):
        return FALSE
    names, (own, known) = aligned(system, context)
    width = len(names)
    equal = list(own[0])
    for row in own[0]:
        others = [*known[0], *(r for r in equal if r is not row)]
        if _equality_is_implied(row, others, [*known[1], *own[1]], names):
            equal.remove(row)
    kept = irredundant(equal, own[1], known[0], known[1], width)
    return make(names, equal, kept)


def _equality_is_implied(row: Row, equalities: list[Row], inequalities: list[Row], names: tuple[str, ...]) -> bool:
    width = len(names)
    own = [i for i, n in enumerate(names) if is_existential(n) and row[i]]
    if not own:
        return implies(equalities, inequalities, row, width) and implies(
            equalities, inequalities, tuple(map(neg, row)), width
        )
    if len(own) > 1 or any(r[own[0]] for r in (*equalities, *inequalities)):
        return False
    modulus = abs(row[own[0]])
    rest = row if row[own[0]] > 0 else tuple(map(neg, row))
    window = [(*rest[:-1], rest[-1] - 1), (*tuple(map(neg, rest[:-1])), modulus - 1 - rest[-1])]
    return integer_point(equalities, [*inequalities, *window], width) is None


@frozen
class Determined:
    """A system each of whose existentials is a quotient of visible variables and of quotients before it."""

    system: System
    quotients: tuple[tuple[str, FloorDiv], ...]


@lru_cache(maxsize=1 << 12)
def determined(system: System) -> tuple[Determined, ...]:
    """Systems whose union is `system`, each with its existentials written as quotients. Exact."""
    if not system.exists:
        return (Determined(system, ()),)
    known: list[tuple[str, FloorDiv]] = []
    open_names = list(system.exists)
    while open_names:
        for name in open_names:
            quotient = _quotient(system, name, open_names)
            if quotient is not None:
                known.append((name, quotient))
                open_names.remove(name)
                break
        else:
            return tuple(d for s in _splintered(system, open_names[0]) for d in determined(s))
    return (Determined(system, tuple(known)),)


def _quotient(system: System, name: str, unknown: list[str]) -> FloorDiv | None:
    column = system.names.index(name)
    others = [i for i, n in enumerate(system.names) if n in unknown and n != name]
    for row in system.equalities:
        if row[column] and not any(row[i] for i in others):
            sign = -1 if row[column] > 0 else 1
            return FloorDiv(system.affine(row).substitute({name: 0}) * sign, abs(row[column]))
    upper = {r[:-1]: r[-1] for r in system.inequalities if r[column] < 0}
    for row in system.inequalities:
        a = row[column]
        if a <= 0 or any(row[i] for i in others):
            continue
        constant = upper.get(tuple(map(neg, row[:-1])))
        if constant is not None and row[-1] + constant < a:
            return FloorDiv(system.affine(row).substitute({name: 0}) * -1 + (a - 1), a)
    return None


def _splintered(system: System, name: str) -> list[System]:
    column = system.names.index(name)
    lower, upper, rest = split({r[:-1]: r[-1] for r in system.inequalities}, column)
    others = [(*c, k) for c, k in rest.items()]
    if any(r[column] for r in system.equalities):
        raise AssertionError(f"{name} of {system} is in an equality and in no quotient")
    dark = others + [dark_row(low, high, column) for low in lower for high in upper]
    parts = [make(system.names, system.equalities, dark)]
    for equality in splinters(lower, upper, column):
        parts.append(make(system.names, [*system.equalities, equality], [*others, *lower, *upper]))
    return [p for p in parts if not p.is_empty()]


def negations(system: System) -> tuple[System, ...]:
    """Systems, no two of which meet, whose union is where `system` does not hold. Exact."""
    return outside(UNIVERSE, system)


@lru_cache(maxsize=1 << 13)
def outside(system: System, taken: System) -> tuple[System, ...]:
    """Systems, no two of which meet, whose union is the part of `system` where `taken` does not hold. Exact."""
    result: tuple[System, ...] = (system,)
    for part in determined(taken):
        if not disjoint(system, part.system):
            own = _negations(part)
            result = tuple(r & n for r in result for n in own if not disjoint(r, n))
    return result


@lru_cache(maxsize=1 << 13)
def _negations(part: Determined) -> tuple[System, ...]:
    system = part.system
    width = len(system.names)
    conditions = [(r, True) for r in system.equalities] + [(r, False) for r in system.inequalities]
    found: list[System] = []
    equal: list[Row] = []
    unequal: list[Row] = _definitions(part)
    for row, equality in conditions:
        opposite = (*tuple(map(neg, row[:-1])), -row[-1] - 1)
        for negated in [opposite] + ([(*row[:-1], row[-1] - 1)] if equality else []):
            if integer_point(equal, [*unequal, negated], width) is not None:
                found.append(make(system.names, equal, [*unequal, negated]))
        (equal if equality else unequal).append(row)
    return tuple(found)


def _definitions(part: Determined) -> list[Row]:
    index = {n: i for i, n in enumerate(part.system.names)}
    rows = []
    for name, quotient in part.quotients:
        row = list(_dense(quotient.affine, index))
        row[index[name]] -= quotient.divisor
        rows.append(tuple(row))
        rows.append((*tuple(-c for c in row[:-1]), quotient.divisor - 1 - row[-1]))
    return rows


def definition(name: str, quotient: FloorDiv) -> System:
    """The system that says that `name` is the quotient."""
    low = Affine(((name, quotient.divisor),))
    return System.of(low <= quotient.affine, quotient.affine < low + quotient.divisor)


def reveal(system: System, names: Mapping[str, str]) -> System:
    """The system with existentials made visible under new names."""
    return _reorder(tuple(names.get(n, n) for n in system.names), system.equalities, system.inequalities)


def without_congruences(system: System) -> System:
    """The system without its rows that hold existentials."""
    own = [i for i, n in enumerate(system.names) if is_existential(n)]
    if not own:
        return system
    return _tidy(
        system.names,
        [r for r in system.equalities if not any(r[i] for i in own)],
        [r for r in system.inequalities if not any(r[i] for i in own)],
    )
