"""Conjunctions of affine conditions with existential variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain
from operator import attrgetter, mul
from typing import NamedTuple, TypeAlias, Union

from polyhedral import part_rows
from polyhedral.affine import Affine, Condition, Congruence, Constraint, as_affine
from polyhedral.components import product
from polyhedral.conditions import congruence, of_affine, of_one
from polyhedral.isl_text import system_text
from polyhedral.part import NOTHING, VISIBLE, Part, Parts, in_place, parts_of, touching
from polyhedral.part_rows import Bounds
from polyhedral.parts import conjoined, eliminated, gist_by_parts, renamed, spelled_rows, substituted, without_names
from polyhedral.points import first_point_of, have_no_point
from polyhedral.rows import Row
from polyhedral.spelling import Spelling, in_order, is_existential, normal

Conjunct: TypeAlias = Union[Condition, "System"]


_PARTS = attrgetter("parts")
_OWN, _EQUALITIES = attrgetter("own"), attrgetter("equalities")


class System(NamedTuple):
    """A conjunction of equalities and inequalities over named integer variables.

    It is kept in `parts` no two of which share a visible variable. As a whole it is spelled by `names`,
    sorted, just the variables that occur, those called `$0`, `$1`, ... existential, and rows: the
    coefficients in the order of `names` and then the constant, divided by their gcd. Existentials that
    can be eliminated without losing a point never stay.
    """

    parts: Parts = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that occur, sorted."""
        parts = self.parts
        return parts[0].names if len(parts) == 1 else _spelled(self).names

    @property
    def equalities(self) -> tuple[Row, ...]:
        """The rows that are 0."""
        parts = self.parts
        return parts[0].equalities if len(parts) == 1 else _spelled(self).equalities

    @property
    def inequalities(self) -> tuple[Row, ...]:
        """The rows that are not negative."""
        parts = self.parts
        return parts[0].inequalities if len(parts) == 1 else _spelled(self).inequalities

    @staticmethod
    def of(*parts: Conjunct, exists: Iterable[str] = ()) -> System:
        """The conjunction of conditions and systems; the names in `exists` become existential."""
        names = tuple(exists)
        if len(parts) == 1 and isinstance(parts[0], Constraint) and not names:
            return System(of_one(parts[0]))
        equal: list[tuple[Affine, int]] = []
        unequal: list[Affine] = []
        systems: list[System] = []
        for conjunct in parts:
            match conjunct:
                case Constraint(affine, equality):
                    equal.append((affine, 0)) if equality else unequal.append(affine)
                case Congruence(affine, modulus):
                    equal.append((affine, modulus))
                case System():
                    systems.append(conjunct)
                case _:
                    raise TypeError(f"wanted a Constraint, a Congruence or a System, got {conjunct!r}")
        result = System(of_affine(equal, unequal))
        for system in systems:
            result = conjoin(result, system)
        return result.quantified(names) if names else result

    def quantified(self, names: Iterable[str]) -> System:
        """The system with these visible variables made existential."""
        return self.rename({n: f"$_{n}" for n in names})

    @property
    def exists(self) -> tuple[str, ...]:
        """The existential variables."""
        return self.names[: sum([p.own for p in self.parts])] if self.has_existentials else ()

    @property
    def has_existentials(self) -> bool:
        """Whether there are existential variables."""
        return any(map(_OWN, self.parts))

    @property
    def has_equalities(self) -> bool:
        """Whether some row is an equality."""
        return any(map(_EQUALITIES, self.parts))

    @property
    def visible(self) -> tuple[str, ...]:
        """The variables that are not existential, sorted."""
        return tuple(sorted([n for p in self.parts for n in p.visible]))

    @property
    def is_false(self) -> bool:
        """Whether it is spelled as the contradiction (`is_empty` decides whether it is one)."""
        return self.parts == NOTHING

    @property
    def is_universe(self) -> bool:
        """Whether there is no condition at all."""
        return not self.parts

    def __and__(self, other: Conjunct) -> System:
        return conjoin(self, other) if isinstance(other, System) else System.of(self, other)

    def is_empty(self) -> bool:
        """Whether no integers satisfy it, for any value of the parameters. Exact."""
        return any(have_no_point((one,)) for one in self.parts)

    def sample(self) -> dict[str, int] | None:
        """Integers for all visible variables that satisfy it, or None where there are none."""
        found: dict[str, int] = {}
        for one in self.parts:
            point = first_point_of(one)
            if point is None:
                return None
            found.update({n: point.get(n, 0) for n in one.names if n in one.visible})
        return found

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
        return _gist(self, context or UNIVERSE, False)

    def gist(self, context: System) -> System:
        """Conditions that together with `context` say the same as this system with `context`, as few as can be."""
        return _gist(self, context, True)

    def implies(self, condition: Condition) -> bool:
        """Whether `condition` holds at every point."""
        return all(disjoint(self, n) for n in _negated(condition))

    def substitute(self, values: Mapping[str, Affine | int]) -> System:
        """The system with each name of `values` replaced, all at once."""
        found: Parts = ()
        for one in self.parts:
            own = tuple([(n, as_affine(v)) for n, v in values.items() if n in one.visible])
            new = substituted(one, own) if own else (one,)
            found = conjoined(found, new) if found else new
        return System(found)

    def rename(self, names: Mapping[str, str]) -> System:
        """The system with variables renamed; raises ValueError where two would become one."""
        visible = frozenset().union(*map(VISIBLE, self.parts))
        new = {n: m for n, m in names.items() if n in visible}
        if not new:
            return self
        if len(set(new.values())) < len(new) or not visible.difference(new).isdisjoint(new.values()):
            raise ValueError(f"renaming {dict(names)} makes two variables of {self} one")
        if self.has_existentials or any(map(is_existential, new.values())):
            return make(*in_order(tuple([names.get(n, n) for n in self.names]), self.equalities, self.inequalities))
        own = [(p, tuple([(n, m) for n, m in new.items() if n in p.visible])) for p in self.parts]
        return System(in_place([renamed(p, n) if n else p for p, n in own]))

    def split_on(self, name: str) -> tuple[System, System]:
        """The conditions in which `name` occurs, and the others; existentials must be congruences."""
        mine = next((p for p in self.parts if name in p.visible), None)
        if mine is None:
            return UNIVERSE, self
        own, others = part_rows.split(mine, name)
        return System(own), System(in_place([*others, *[p for p in self.parts if p is not mine]]))

    def about(self, name: str) -> System:
        """The conditions in which `name` occurs; existentials must be congruences."""
        return next((System(part_rows.rows_about(p, name)) for p in self.parts if name in p.visible), UNIVERSE)

    def bounds(self, name: str) -> Bounds:
        """The (expression, divisor) pairs e, d with name >= ceil(e/d), and those with name <= floor(e/d)."""
        one = next((p for p in self.parts if name in p.visible), None)
        return ((), ()) if one is None else part_rows.bounds(one, name)

    def has_steep_bounds(self, name: str) -> bool:
        """Whether there is a lower bound of `name` and an upper one whose divisors are above one."""
        return any(part_rows.has_steep_bounds(p, name) for p in self.parts if name in p.visible)

    def solved_for(self, name: str) -> Affine | None:
        """What `name` is equal to, where an equality without existentials has it with coefficient 1, else None."""
        one = next((p for p in self.parts if p.equalities and name in p.visible), None)
        return None if one is None else part_rows.solved_for(one, name)

    def constant_of(self, name: str) -> int | None:
        """The one value of `name` where an equality says it, else None."""
        one = next((p for p in self.parts if p.equalities and name in p.visible), None)
        return None if one is None else part_rows.constant_of(one, name)

    def affine(self, row: Row) -> Affine:
        """The expression of one of the rows."""
        return Affine.of(dict(zip(self.names, row, strict=False)), row[-1])

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions without existentials; raises ValueError where one is more than a congruence."""
        found = self.plain_conditions()
        if found is None:
            raise ValueError(f"{self} has existentials that are no congruences")
        return found

    def plain_conditions(self) -> tuple[Condition, ...] | None:
        """The conditions without existentials; None where one is more than a congruence."""
        found: list[Condition] = []
        used: set[str] = set()
        for row in self.equalities:
            affine = self.affine(row)
            own = [n for n in affine.names if is_existential(n)]
            if not own:
                found.append(Constraint(affine, equality=True))
            elif len(own) == 1 and own[0] not in used:
                used.add(own[0])
                found.append(congruence(affine, own[0]))
            else:
                return None
        for row in self.inequalities:
            affine = self.affine(row)
            if any(is_existential(n) for n in affine.names):
                return None
            found.append(Constraint(affine))
        return tuple(found)

    def __str__(self) -> str:
        return system_text(self) or "true"


def _value(row: Row, point: list[int]) -> int:
    return int(sum(map(mul, row, point)) + row[-1])


def _negated(condition: Condition) -> list[System]:
    match condition:
        case Congruence(affine, modulus):
            multiple = Affine((("%", modulus),))
            return [System.of(affine >= multiple + 1, affine < multiple + modulus, exists=("%",))]
        case Constraint(affine, equality):
            return [System.of(affine < 0), *([System.of(affine > 0)] if equality else [])]


UNIVERSE = System()
FALSE = System(NOTHING)


def make(names: tuple[str, ...], equalities: Iterable[Row], inequalities: Iterable[Row]) -> System:
    """The system of these rows over sorted `names`, in normal form."""
    return System(parts_of(normal(names, equalities, inequalities)))


@lru_cache(maxsize=1 << 14)
def _spelled(system: System) -> Spelling:
    return product(system.parts)


def conjoin(first: System, second: System) -> System:
    """Both systems at once; their existentials are kept apart."""
    if first.is_universe or second.is_false or first == second:
        return second
    if second.is_universe or first.is_false:
        return first
    return _conjoin(first, second)


@lru_cache(maxsize=1 << 14)
def _conjoin(first: System, second: System) -> System:
    return System(conjoined(first.parts, second.parts))


@lru_cache(maxsize=1 << 15)
def disjoint(*systems: System) -> bool:
    """Whether no integer point is in all of the systems. Exact; as `is_empty` of their conjunction, but cheaper."""
    return have_no_point(tuple(dict.fromkeys(chain.from_iterable(map(_PARTS, systems)))))


def _eliminate(system: System, names: tuple[str, ...], force: bool) -> tuple[System, bool]:
    held = touching(system.parts, frozenset(names))
    if force and system.has_existentials:
        held = tuple([p for p in system.parts if p.own or p in held])
    if not held:
        return system, True
    left, exact = [p for p in system.parts if p not in held], True
    for one in held:
        found, is_exact = eliminated(one, names, force)
        left += found
        exact = exact and is_exact
    return System(in_place(left)), exact


@lru_cache(maxsize=1 << 14)
def _gist(system: System, context: System, equalities_too: bool) -> System:
    if system.is_universe or system.is_false:
        return system
    return System(gist_by_parts(system.parts, context.parts, equalities_too))


def without_congruences(system: System) -> System:
    """The system without its rows that hold existentials."""
    found: list[Part] = []
    for one in system.parts:
        found += without_names(one, frozenset(one.names[: one.own])) if one.own else (one,)
    return System(in_place(found))


def with_rows(system: System, chosen: list[bool]) -> System:
    """The system with only those rows, equalities and then inequalities, that are chosen."""
    return System(spelled_rows(system, chosen))
