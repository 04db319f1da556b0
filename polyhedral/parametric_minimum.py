"""The lexicographic minimum of a system as a function of parameters: parametric integer programming."""

from __future__ import annotations

from collections.abc import Sequence
from operator import neg

from attrs import define, evolve, frozen

from polyhedral.affine import Affine, FloorDiv
from polyhedral.quotients import definition
from polyhedral.rows import Row, scaled_sum
from polyhedral.spelling import is_existential
from polyhedral.system import UNIVERSE, System, disjoint
from polyhedral.tableau import Line, Tableau, best_column, cut, made_whole, pivot, remainder_of, start, with_parameter

MOST_QUOTIENTS, MOST_REGIONS = 16, 1 << 8
Quotients = tuple[tuple[str, FloorDiv], ...]
Point = tuple[Affine, ...]


@frozen
class Region:
    """Where `context` holds, a system over parameters and `quotients`, each of them of those before it.

    New quotients are named `prefix` and a number: no variable of the systems that are asked may be called so.
    """

    prefix: str
    context: System = UNIVERSE
    quotients: Quotients = ()

    def where(self, *parts: System) -> Region | None:
        """The part of the region where all parts hold; None where there is none."""
        if disjoint(self.context, *parts):
            return None
        context = self.context
        for part in parts:
            context = context & part
        return evolve(self, context=context)

    def with_quotient(self, quotient: FloorDiv) -> Region:
        """The region, in which the quotient has a name."""
        name = f"{self.prefix}{len(self.quotients)}"
        context = self.context & definition(name, quotient)
        return evolve(self, context=context, quotients=(*self.quotients, (name, quotient)))


class TooManyRegions(ValueError):
    """The first points of a system take more regions of its parameters, or more quotients in one, than are allowed."""


@frozen
class Minimum:
    """What is least in a region: expressions of its parameters and quotients, or None where there is no point."""

    region: Region
    point: Point | None


def parametric_minimum(system: System, dims: Sequence[str], within: Region) -> list[Minimum]:
    """The lexicographically least `dims` of `system` in regions of which no two meet and that make up `within`.

    What is neither a dimension nor existential is a parameter. Exact over the integers: Feautrier's lexicographic
    dual simplex, which cuts the region where the sign of a constant changes and adds a quotient for each cut that
    depends on parameters. Raises ValueError where a dimension is not bounded from below, and TooManyRegions where there
    are more than `MOST_REGIONS` regions, or `MOST_QUOTIENTS` quotients of one cut after another in a region.
    """
    if system.is_false:
        return [Minimum(within, None)]
    variables = (*dims, *system.exists)
    own = [n for n in system.visible if n not in dims]
    parameters = (*own, *(n for n, _ in within.quotients if n not in own))
    rows, values = _solved(system, variables, parameters)
    free = [k for k in range(len(variables)) if k not in values]
    picked = [tuple([r[k] for k in (*free, *range(len(variables), len(r)))]) for r in rows]
    names = tuple([variables[k] for k in free])
    effort = _Effort(system, tuple(dims), len(within.quotients) + MOST_QUOTIENTS, MOST_REGIONS)
    found = _minima(_State(start(picked, len(free), len(parameters)), names, parameters, within, {}, effort))
    whole = {variables[k]: _affine(row, (*variables, *parameters)) for k, row in sorted(values.items())}
    return [evolve(m, point=_restored(m.point, names, whole, dims)) if m.point is not None else m for m in found]


def _solved(system: System, variables: Sequence[str], parameters: Sequence[str]) -> tuple[list[Row], dict[int, Row]]:
    """The rows as inequalities, without the variables that are expressions of those before them, and these."""
    where = {n: k for k, n in enumerate((*variables, *parameters))}
    pending, rows = ([_placed(r, system.names, where) for r in p] for p in (system.equalities, system.inequalities))
    values: dict[int, Row] = {}
    kept: list[Row] = []
    while pending:
        row = pending.pop()
        last = max((k for k in range(len(variables)) if row[k]), default=None)
        if last is None or abs(row[last]) != 1:
            kept.append(row)
            continue
        value = tuple([0 if k == last else -c * row[last] for k, c in enumerate(row)])
        values[last] = value
        pending, kept, rows = ([_put(r, last, value) for r in part] for part in (pending + kept, [], rows))
    return rows + kept + [tuple(map(neg, r)) for r in kept], values


def _placed(row: Row, names: Sequence[str], where: dict[str, int]) -> Row:
    found = [0] * len(where)
    for name, c in zip(names, row, strict=False):
        found[where[name]] = c
    return (*found, row[-1])


def _put(row: Row, column: int, value: Row) -> Row:
    c = row[column]
    return scaled_sum(1, (*row[:column], 0, *row[column + 1 :]), c, value) if c else row


def _affine(row: Sequence[int], names: Sequence[str]) -> Affine:
    return Affine.of(dict(zip(names, row, strict=False)), row[-1])


def _restored(point: Point, names: Sequence[str], values: dict[str, Affine], dims: Sequence[str]) -> Point:
    known = dict(zip(names, point, strict=False))
    for name, value in values.items():
        if name in dims:
            known[name] = value.substitute(known)
    return tuple([known[d] for d in dims])


@define
class _Effort:
    """What may still be spent on one system: `quotients` in one region, and regions in all."""

    system: System
    dims: tuple[str, ...]
    quotients: int
    regions: int

    def spend(self, region: Region) -> None:
        """Counts a region; raises TooManyRegions where it is one too many."""
        self.regions -= 1
        if self.regions >= 0 and len(region.quotients) <= self.quotients:
            return
        own = ", ".join(n for n in self.system.visible if n not in self.dims)
        few = f"{MOST_REGIONS} regions of {own or 'no parameters'}, with {MOST_QUOTIENTS} quotients in each,"
        raise TooManyRegions(
            f"the first {', '.join(self.dims)} of {self.system} take more than {few} to be told: the congruences tie "
            f"these together, and each cut gives new ones. Put in values of some of {own or 'the dimensions'}, or say "
            "their remainders and take one case after another; `points` and `lexmin` list the points at given values"
        )


@frozen
class _State:
    """A tableau whose first lines are `variables`, in a region; `signs` are the constants whose sign is known there."""

    tableau: Tableau
    variables: tuple[str, ...]
    parameters: tuple[str, ...]
    region: Region
    signs: dict[Row, bool]
    effort: _Effort

    def sign(self, line: Line) -> bool | None:
        """Whether the line is not negative at its vertex; None where that depends on the parameters."""
        fixed = line.fixed
        if line.big or not any(fixed[1:]):
            return line.big > 0 or (line.big == 0 and fixed[0] >= 0)
        if fixed not in self.signs:
            constant = self.constant(fixed)
            if disjoint(self.region.context, System.of(constant < 0)):
                self.signs[fixed] = True
            elif disjoint(self.region.context, System.of(constant >= 0)):
                self.signs[fixed] = False
        return self.signs.get(fixed)

    def constant(self, fixed: Row, divisor: int = 1) -> Affine:
        """The expression of a constant over the parameters, divided by what divides it."""
        terms = {n: c // divisor for n, c in zip(self.parameters, fixed[1:], strict=True)}
        return Affine.of(terms, fixed[0] // divisor)

    def with_quotient(self, quotient: FloorDiv) -> tuple[_State, str]:
        """The state in which the quotient is a parameter, and its name."""
        for name, known in self.region.quotients:
            if known == quotient:
                return self, name
        region = self.region.with_quotient(quotient)
        name = region.quotients[-1][0]
        signs = {(*fixed, 0): sign for fixed, sign in self.signs.items()}
        parameters = (*self.parameters, name)
        tableau = with_parameter(self.tableau)
        return evolve(self, tableau=tableau, parameters=parameters, region=region, signs=signs), name


def _minima(state: _State) -> list[Minimum]:
    state.effort.spend(state.region)
    while True:
        signs = [state.sign(line) for line in state.tableau]
        if False in signs:
            line = state.tableau[signs.index(False)]
            column = best_column(state.tableau, line, len(state.variables))
            if column is None:
                return [Minimum(state.region, None)]
            state = evolve(state, tableau=pivot(state.tableau, line, column))
        elif None in signs:
            return _split(state, [line for line, sign in zip(state.tableau, signs, strict=True) if sign is None])
        else:
            own = state.tableau[: len(state.variables)]
            broken = next((line for line in own if not line.is_whole), None)
            if broken is None:
                return [Minimum(state.region, _point(state))]
            return _cut(state, broken)


def _point(state: _State) -> Point:
    found = []
    for name, line in zip(state.variables, state.tableau, strict=False):
        if line.big != line.denominator and not is_existential(name):
            raise ValueError(f"{name} is not bounded from below where {state.region.context}: there is no first point")
        found.append(state.constant(line.fixed, line.denominator))
    return tuple(found)


def _split(state: _State, lines: list[Line]) -> list[Minimum]:
    """The minima on both sides of a line's sign, one that is not mended first; one minimum where both are the same."""
    line = next((x for x in lines if not any(c > 0 for c in x.columns)), lines[0])
    constant = state.constant(line.fixed)
    found: list[Minimum] = []
    for side, sign in ((System.of(constant >= 0), True), (System.of(constant < 0), False)):
        region = state.region.where(side)
        if region is not None:
            found += _minima(evolve(state, region=region, signs={**state.signs, line.fixed: sign}))
    return joined(state.region, found)


def joined(region: Region, found: list[Minimum]) -> list[Minimum]:
    """The minima, as one where all are the same expressions of what the region knows."""
    points = {m.point for m in found}
    if len(points) > 1:
        return found
    known = {n for n, _ in region.quotients}
    added = {n for m in found for n, _ in m.region.quotients if n not in known}
    point = points.pop()
    if point is not None and any(n in added for a in point for n in a.names):
        return found
    return [Minimum(region, point)]


def _cut(state: _State, line: Line) -> list[Minimum]:
    """The minima behind the cut of a line that is not whole; where nothing makes up for it, those where it is whole."""
    place = None
    if any(remainder_of(line)[1:]):
        place = state.tableau.index(line)
        state, name = state.with_quotient(FloorDiv(state.constant(remainder_of(line)), line.denominator))
        line, place = state.tableau[place], state.parameters.index(name) + 1
    lost = cut(line, place)
    column = best_column(state.tableau, lost, len(state.variables))
    if column is not None:
        return _minima(evolve(state, tableau=pivot((*state.tableau, lost), lost, column)))
    constant = state.constant(lost.fixed)
    region = state.region.where(System.of(constant.equals(0)))
    rest = state.region.where(System.of(constant < 0))
    found = [Minimum(rest, None)] if rest is not None else []
    if region is not None:
        whole = tuple([made_whole(x, place) if x is line else x for x in state.tableau])
        found += _minima(evolve(state, tableau=whole, region=region))
    return joined(state.region, found)
