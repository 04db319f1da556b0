"""Statements made ready for a scan: times as variables, dimensions solved for them, a shadow for each level."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache

from attrs import evolve, frozen

from polyhedral.affine import ZERO, Affine, Condition, var
from polyhedral.part import Part, in_place
from polyhedral.parts import without_names
from polyhedral.quotients import determined, with_equal_quotients
from polyhedral.sets import Set
from polyhedral.statement import Option, Statement
from polyhedral.system import UNIVERSE, System, disjoint, with_rows

_UNITS = (1, -1)


@frozen(cache_hash=True)
class Item:
    """One piece of one statement.

    `system` is over the parameters and the levels; `shadows[l]` is its projection onto the levels up
    to l, not always exact; `fixed[l]` is the constant time of level l, or None; `bindings` gives each
    dimension of the statement in terms of levels and parameters.
    """

    payload: Hashable
    system: System
    levels: tuple[str, ...]
    fixed: tuple[int | None, ...]
    shadows: tuple[System, ...]
    bindings: tuple[tuple[str, Affine], ...]
    options: tuple[Option, ...] = ()

    def option(self, level: int) -> Option:
        """How the loop of a level is to be made for this item."""
        return self.options[level] if level < len(self.options) else Option.DEFAULT


def shared_until(items: Sequence[Item], level: int) -> System:
    """The plain conditions that all items have, in which `level` and what is inside of it do not occur."""
    first = _until(items[0].system, items[0].levels, level)
    if len(items) == 1 or first.is_universe:
        return first
    others = {_until(i.system, i.levels, level) for i in items[1:]} - {first}
    if not others:
        return first
    conditions = [set(o.conditions) for o in others]
    return System.of(*(c for c in first.conditions if all(c in o for o in conditions)))


@lru_cache(maxsize=1 << 13)
def _until(system: System, levels: tuple[str, ...], level: int) -> System:
    inner = frozenset(levels[level:])
    if system.has_existentials:
        return System.of(*(c for c in _plain_conditions(system) if inner.isdisjoint(c.names)))
    found: list[Part] = []
    for one in system.parts:
        found += (one,) if inner.isdisjoint(one.visible) else without_names(one, inner)
    return System(in_place(found))


@lru_cache(maxsize=1 << 12)
def _plain_conditions(system: System) -> tuple[Condition, ...]:
    """The conditions that hold no existential other than a congruence's own."""
    try:
        return system.conditions
    except ValueError:
        own = len(system.exists)
        rows = system.equalities + system.inequalities
        return with_rows(system, [not any(r[:own]) for r in rows]).conditions


def items_of(
    statement: Statement, context: System, schedule: Sequence[Affine], levels: Sequence[str], reserved: Iterable[str]
) -> list[Item]:
    """The items of a statement where `context` holds, its schedule padded to `levels`; open dimensions are levels."""
    domain = statement.domain
    mark = {d: f"{d}@" for d in domain.dims}
    marked = {d: var(m) for d, m in mark.items()}
    times = [entry.substitute(marked) for entry in schedule]
    found = []
    for piece in _apart(Set(domain.dims, tuple([p for p in domain.pieces if not disjoint(p, context)]))):
        system = with_equal_quotients(piece)
        own = _equations(system, marked) if system.has_equalities else ()
        solution = _solve(own, tuple(times), tuple(levels), tuple(mark.values()))
        taken = set(reserved) | set(levels)
        found += _items(statement, context, system, solution, times, tuple(levels), mark, taken)
    return found


def _equations(system: System, marked: Mapping[str, Affine]) -> tuple[Affine, ...]:
    """What is 0 in a system, its dimensions marked, in the order of the rows of these names."""
    names = sorted([str(marked.get(n, n)) for n in system.names])
    found = []
    for row in system.equalities:
        affine = system.affine(row).substitute(marked)
        found.append(affine if affine.terms[0][1] > 0 else -affine)
    return tuple(sorted(found, key=lambda a: [a.coefficient(n) for n in names]))


def _apart(domain: Set) -> tuple[System, ...]:
    """Pieces of the domain of which no two meet, as few as joining neighbours makes them."""
    return domain.pieces if len(domain.pieces) < 2 else domain.coalesced().disjoint().coalesced().pieces


def _items(
    statement: Statement,
    context: System,
    system: System,
    solved: tuple[dict[str, Affine], list[Condition]],
    times: list[Affine],
    levels: tuple[str, ...],
    mark: dict[str, str],
    reserved: set[str],
) -> list[Item]:
    solution, conditions = solved
    rest = [m for m in mark.values() if m not in solution]
    extra = {m: _free_name(m.removesuffix("@"), reserved) for m in rest}
    renamed = {m: var(n) for m, n in extra.items()}
    solution = {m: a.substitute(renamed) for m, a in solution.items()} if renamed else solution
    whole = system.substitute({d: solution[m] if m in solution else renamed[m] for d, m in mark.items()})
    whole = whole & System.of(*(c.substitute(renamed) for c in conditions)) if conditions else whole
    constants: dict[str, int] = {}
    if whole.has_equalities:
        constants = {n: value for n in levels if (value := whole.constant_of(n)) is not None}
    if constants:
        whole = whole.substitute(constants)
        solution = {m: a.substitute(constants) for m, a in solution.items()}
    bindings = tuple((d, solution.get(m, renamed.get(m, ZERO))) for d, m in mark.items() if d not in statement.hidden)
    fixed = tuple(t.constant if t.is_constant else constants.get(n) for n, t in zip(levels, times, strict=True)) + (
        None,
    ) * len(rest)
    order = levels + tuple(extra.values())
    return [
        Item(statement.payload, part, order, fixed, _shadows(part, order, fixed), bindings, statement.options)
        for part in determined_apart(whole.simplified(context))
    ]


def without_shared_quotients(items: list[Item], inner: set[str]) -> tuple[list[Item], System]:
    """What all items say alike of names not in `inner` by existentials that are no congruences, taken out of them."""
    parts = [_quotient_part(item.system, frozenset(inner)) for item in items]
    shared = parts[0][0]
    if shared.is_universe or any(p[0] != shared for p in parts[1:]):
        return items, UNIVERSE
    return [evolve(item, system=rest) for item, (_, rest) in zip(items, parts, strict=True)], shared


@lru_cache(maxsize=1 << 12)
def _quotient_part(system: System, inner: frozenset[str]) -> tuple[System, System]:
    if not system.exists:
        return UNIVERSE, system
    rows = system.equalities + system.inequalities
    own = len(system.exists)
    closed = [n in inner for n in system.names]
    while True:
        bound = [any(c and x for c, x in zip(closed, r, strict=False)) for r in rows]
        more = {k for k in range(own) if not closed[k] and any(b and r[k] for b, r in zip(bound, rows, strict=True))}
        if not more:
            break
        closed = [c or k in more for k, c in enumerate(closed)]
    chosen = [any(r[:own]) and not b for r, b in zip(rows, bound, strict=True)]
    part = with_rows(system, chosen)
    if _is_plain(part):
        return UNIVERSE, system
    return part, with_rows(system, [not c for c in chosen])


def _is_plain(system: System) -> bool:
    try:
        return system.conditions is not None
    except ValueError:
        return False


def _free_name(name: str, reserved: set[str]) -> str:
    while name in reserved:
        name += "_"
    reserved.add(name)
    return name


def determined_apart(system: System) -> list[System]:
    """Systems of which no two meet, whose union is `system`, the existentials of each determined as quotients."""
    if system.is_empty():
        return []
    parts = determined(system)
    if len(parts) == 1:
        return [parts[0].system]
    apart = Set((), tuple(p.system for p in parts)).disjoint().pieces
    return [p for part in apart for p in determined_apart(part)]


@lru_cache(maxsize=1 << 10)
def _solve(
    own: tuple[Affine, ...], times: tuple[Affine, ...], levels: tuple[str, ...], dims: tuple[str, ...]
) -> tuple[dict[str, Affine], list[Condition]]:
    solution: dict[str, Affine] = {}
    conditions: list[Condition] = []
    equations = [(var(n) - t) for n, t in zip(levels, times, strict=False) if not t.is_constant]
    equations += [a for a in own if not any(n.startswith("$") for n in a.names)]
    for number, equation in enumerate(equations):
        left = equation.substitute(solution)
        held = dict(left.terms)
        pivot = next((d for d in dims if held.get(d) in _UNITS), None)
        if pivot is not None:
            value = left.substitute({pivot: 0}) * -held[pivot]
            put = {pivot: value}
            solution = {d: a.substitute(put) if pivot in dict(a.terms) else a for d, a in solution.items()} | put
        elif number < len(equations) - len(own) or left.names:
            conditions.append(left.equals(0))
    return solution, [c.substitute(solution) for c in conditions]


def _shadows(system: System, levels: tuple[str, ...], fixed: tuple[int | None, ...]) -> tuple[System, ...]:
    shadow = system.eliminate()[0]
    found = []
    for level, value in zip(reversed(levels), reversed(fixed), strict=False):
        found.append(shadow)
        if value is None:
            shadow = shadow.eliminate(level)[0]
    return tuple(reversed(found))
