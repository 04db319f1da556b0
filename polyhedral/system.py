"""Conjunctions of affine conditions with existential variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from operator import neg
from typing import TypeAlias, Union

from attrs import frozen

from polyhedral.affine import Affine, Condition, Congruence, Constraint, as_affine
from polyhedral.components import components, linked, product
from polyhedral.elimination import exact_shadow, project
from polyhedral.emptiness import integer_point
from polyhedral.gist import without_known, without_redundant
from polyhedral.rows import Contradiction, Row
from polyhedral.spelling import aligned, dense, in_order, is_existential, merged, normal, subset, tidy, unit
from polyhedral.witnesses import Witnesses

Part: TypeAlias = Union[Condition, "System"]
Bounds: TypeAlias = tuple[tuple[tuple[Affine, int], ...], tuple[tuple[Affine, int], ...]]


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
        names = self.names
        return tuple([n for n in names if is_existential(n)]) if names and is_existential(names[0]) else ()

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
        return all(disjoint(self, n) for n in _negated(condition))

    def substitute(self, values: Mapping[str, Affine | int]) -> System:
        """The system with each name of `values` replaced, all at once."""
        if not any(n in values for n in self.names):
            return self
        new = {n: as_affine(v) for n, v in values.items() if n in self.names}
        names = sorted({n for n in self.names if n not in new}.union(*(a.names for a in new.values())))
        index = {n: i for i, n in enumerate(names)}
        into = [dense(new[n], index) if n in new else unit(index[n], len(names)) for n in self.names]
        into.append(unit(len(names), len(names)))
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
        return make(*in_order(new, self.equalities, self.inequalities))

    def split_on(self, name: str) -> tuple[System, System]:
        """The conditions in which `name` occurs, and the others; existentials must be congruences."""
        if name not in self.names:
            return UNIVERSE, self
        column = self.names.index(name)
        chosen = [bool(r[column]) for r in self.equalities + self.inequalities]
        return with_rows(self, chosen), with_rows(self, [not c for c in chosen])

    def bounds(self, name: str) -> Bounds:
        """The (expression, divisor) pairs e, d with name >= ceil(e/d), and those with name <= floor(e/d)."""
        if name not in self.names:
            return (), ()
        column = self.names.index(name)
        signs = [*self.inequalities, *self.equalities, *(tuple(map(neg, r)) for r in self.equalities)]
        lower = tuple(self._bound(r, column) for r in signs if r[column] > 0)
        upper = tuple(self._bound(r, column) for r in signs if r[column] < 0)
        return lower, upper

    def solved_for(self, name: str) -> Affine | None:
        """What `name` is equal to, where an equality without existentials has it with coefficient 1, else None."""
        if name not in self.names:
            return None
        column, own = self.names.index(name), len(self.exists)
        for row in self.equalities:
            if abs(row[column]) == 1 and not any(row[:own]):
                return self.affine(row).substitute({name: 0}) * -row[column]
        return None

    def constant_of(self, name: str) -> int | None:
        """The one value of `name` where an equality says it, else None."""
        for row in self.equalities:
            if sum(map(bool, row[:-1])) == 1 and name in self.names and row[self.names.index(name)]:
                return -row[-1]
        return None

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


def _negated(condition: Condition) -> list[System]:
    match condition:
        case Congruence(affine, modulus):
            multiple = Affine((("%", modulus),))
            return [System.of(affine >= multiple + 1, affine < multiple + modulus, exists=("%",))]
        case Constraint(affine, equality):
            return [System.of(affine < 0), *([System.of(affine > 0)] if equality else [])]


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
        row = list(dense(affine, index))
        if modulus:
            row[index[f"${i}"]] = -modulus
        rows.append(tuple(row))
    return make(tuple(names), rows, [dense(a, index) for a in unequal])


def make(names: tuple[str, ...], equalities: Iterable[Row], inequalities: Iterable[Row]) -> System:
    """The system of these rows over sorted `names`, in normal form."""
    return System(*normal(names, equalities, inequalities))


@lru_cache(maxsize=1 << 14)
def conjoin(first: System, second: System) -> System:
    """Both systems at once; their existentials are kept apart."""
    if first.is_universe or second.is_false or first == second:
        return second
    if second.is_universe or first.is_false:
        return first
    names, (a, b) = aligned(first, second)
    if not names or not is_existential(names[0]):
        return System(*merged(names, a, b))
    return make(names, a[0] + b[0], a[1] + b[1])


_witnesses = Witnesses(24)


@lru_cache(maxsize=1 << 14)
def components_of(system: System) -> tuple[System, ...]:
    """The parts of a system that share no variable, none of the universe."""
    found = components(system)
    if found is None:
        return (system,) if system.names or system.is_false else ()
    return tuple([System(*p) for p in found])


def together(parts: Sequence[System]) -> System:
    """Parts that share no variable, as one."""
    return parts[0] if len(parts) == 1 else System(*product(parts)) if parts else UNIVERSE


@lru_cache(maxsize=1 << 15)
def disjoint(*systems: System) -> bool:
    """Whether no integer point is in all of the systems. Exact; as `is_empty` of their conjunction, but cheaper."""
    parts = tuple(dict.fromkeys([p for s in systems for p in components_of(s)]))
    return any(_have_no_point(*[parts[i] for i in group]) for group in linked(parts))


@lru_cache(maxsize=1 << 15)
def _have_no_point(*systems: System) -> bool:
    if _witnesses.meet(systems):
        return False
    names, parts = aligned(*systems)
    equalities = [row for part in parts for row in part[0]]
    point = integer_point(equalities, [row for part in parts for row in part[1]], len(names))
    if point is not None:
        _witnesses.add({n: v for n, v in zip(names, point, strict=True) if v and not is_existential(n)})
    return point is None


def _point(system: System) -> tuple[int, ...] | None:
    found: dict[str, int] = {}
    parts = components_of(system)
    if len(parts) == 1:
        return _point_of_part(parts[0])
    for part in parts:
        point = _point_of_part(part)
        if point is None:
            return None
        found.update(zip(part.names, point, strict=True))
    return tuple([found.get(n, 0) for n in system.names])


@lru_cache(maxsize=1 << 15)
def _point_of_part(system: System) -> tuple[int, ...] | None:
    point = integer_point(system.equalities, system.inequalities, len(system.names))
    return None if point is None else tuple(point)


def _eliminate(system: System, names: tuple[str, ...], force: bool) -> tuple[System, bool]:
    parts = components_of(system)
    if len(parts) < 2:
        return _eliminate_from_part(system, tuple([n for n in names if n in system.names]), force)
    left, exact = [], True
    for part in parts:
        one, is_exact = _eliminate_from_part(part, tuple([n for n in names if n in part.names]), force)
        if one.is_false:
            return FALSE, True
        left += [one] if one.names else []
        exact = exact and is_exact
    return together(left), exact


@lru_cache(maxsize=1 << 14)
def _eliminate_from_part(system: System, names: tuple[str, ...], force: bool) -> tuple[System, bool]:
    if not names and not (force and system.exists):
        return system, True
    columns = [i for i, n in enumerate(system.names) if n in names or is_existential(n)]
    try:
        left = project(system.equalities, system.inequalities, columns, len(system.names), force)
        left = left if force else exact_shadow(left, len(system.names))
    except Contradiction:
        return FALSE, True
    own = {system.names[c]: f"${i:03d}" for i, c in enumerate(left.columns)}
    new = tuple(own.get(n, f"$unused{n}" if i in columns else n) for i, n in enumerate(system.names))
    order = sorted(range(len(new)), key=lambda i: new[i])
    rows = [[tuple([r[i] for i in order] + [r[-1]]) for r in part] for part in (left.equalities, left.inequalities)]
    return System(*tidy(tuple(new[i] for i in order), rows[0], rows[1])), left.exact


@lru_cache(maxsize=1 << 14)
def _simplified(system: System, context: System) -> System:
    return _by_parts(system, context, _simplified_part)


@lru_cache(maxsize=1 << 14)
def _gist(system: System, context: System) -> System:
    return _by_parts(system, context, _gist_part)


def _by_parts(system: System, context: System, work: Callable[[System, System], System]) -> System:
    if system.is_universe or system.is_false:
        return system
    if disjoint(system, context):
        return FALSE
    own, known = components_of(system), components_of(context)
    found = []
    for group in linked((*own, *known)):
        mine = [own[i] for i in group if i < len(own)]
        if mine:
            left = work(together(mine), together([known[i - len(own)] for i in group if i >= len(own)]))
            found += [left] if left.names else []
    return together(found)


@lru_cache(maxsize=1 << 14)
def _simplified_part(system: System, context: System) -> System:
    return System(*without_redundant(system, context))


@lru_cache(maxsize=1 << 14)
def _gist_part(system: System, context: System) -> System:
    return System(*without_known(system, context))


def without_congruences(system: System) -> System:
    """The system without its rows that hold existentials."""
    own = [i for i, n in enumerate(system.names) if is_existential(n)]
    if not own:
        return system
    return with_rows(system, [not any(r[i] for i in own) for r in system.equalities + system.inequalities])


def with_rows(system: System, chosen: list[bool]) -> System:
    """The system with only those rows, equalities and then inequalities, that are chosen."""
    if not system.exists:
        return System(*subset(system, chosen))
    equal, unequal = system.equalities, system.inequalities
    return System(*tidy(system.names, compress(equal, chosen), compress(unequal, chosen[len(equal) :])))
