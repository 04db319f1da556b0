"""Systems apart into parts that share no variable, and together again: most questions are answered part by part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import itemgetter

from polyhedral.rows import Row
from polyhedral.spelling import Spelled, Spelling, aligned, is_existential


def components(system: Spelled) -> list[Spelling] | None:
    """The parts of a system no two of which share a variable, in the order of their first names; None if it is one."""
    width = len(system.names)
    bits = [1 << i for i in range(width)]
    whole = (1 << width) - 1
    count = len(system.equalities)
    groups: list[tuple[int, list[int]]] = []
    rows = system.equalities + system.inequalities
    for number, row in enumerate(rows):
        used = sum(compress(bits, row))
        if used == whole:
            return None
        numbers, apart = [number], []
        for group in groups:
            if group[0] & used:
                used |= group[0]
                numbers = group[1] + numbers
            else:
                apart.append(group)
        groups = [*apart, (used, numbers)]
    if len(groups) < 2:
        return None
    groups.sort(key=lambda g: g[0] & -g[0])
    return [_part(system.names, rows, count, used, sorted(numbers)) for used, numbers in groups]


def _part(names: tuple[str, ...], rows: tuple[Row, ...], count: int, used: int, numbers: list[int]) -> Spelling:
    columns = [i for i in range(len(names)) if used >> i & 1]
    own_names = tuple([names[i] for i in columns])
    if is_existential(own_names[0]):
        own = sum(map(is_existential, own_names))
        own_names = (*sorted([f"${i}" for i in range(own)]), *own_names[own:])
    pick = itemgetter(*columns, -1)
    equal = tuple([pick(rows[n]) for n in numbers if n < count])
    return Spelling(own_names, equal, tuple([pick(rows[n]) for n in numbers if n >= count]))


def product(parts: Sequence[Spelled]) -> Spelling:
    """The parts, which share no visible variable, as one."""
    names, rows = aligned(*parts)
    if names and is_existential(names[0]):
        own = sum(map(is_existential, names))
        names = (*sorted([f"${i}" for i in range(own)]), *names[own:])
    equal: list[Row] = [r for p in rows for r in p[0]]
    unequal: list[Row] = [r for p in rows for r in p[1]]
    return Spelling(names, tuple(sorted(equal)), tuple(sorted(unequal)))
