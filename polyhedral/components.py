"""Systems apart into parts that share no variable, and together again: most questions are answered part by part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from polyhedral.rows import Row
from polyhedral.spelling import Spelled, Spelling, aligned, is_existential


def components(system: Spelled) -> list[Spelling] | None:
    """The parts of a system no two of which share a variable, in the order of their first names; None if it is one."""
    width = len(system.names)
    bits = [1 << i for i in range(width)]
    whole = (1 << width) - 1
    groups: list[int] = []
    for row in system.equalities + system.inequalities:
        used = sum(compress(bits, row))
        if used == whole:
            return None
        apart = []
        for group in groups:
            if group & used:
                used |= group
            else:
                apart.append(group)
        groups = [*apart, used]
    if len(groups) < 2:
        return None
    groups.sort(key=lambda g: g & -g)
    return [_part(system, [i for i in range(width) if group >> i & 1]) for group in groups]


def _part(system: Spelled, columns: list[int]) -> Spelling:
    names = tuple([system.names[i] for i in columns])
    if is_existential(names[0]):
        own = sum(map(is_existential, names))
        names = (*sorted([f"${i}" for i in range(own)]), *names[own:])
    equal = [(*[r[i] for i in columns], r[-1]) for r in system.equalities]
    unequal = [(*[r[i] for i in columns], r[-1]) for r in system.inequalities]
    return Spelling(names, tuple([r for r in equal if any(r[:-1])]), tuple([r for r in unequal if any(r[:-1])]))


def product(parts: Sequence[Spelled]) -> Spelling:
    """The parts, which share no visible variable, as one."""
    names, rows = aligned(*parts)
    if names and is_existential(names[0]):
        own = sum(map(is_existential, names))
        names = (*sorted([f"${i}" for i in range(own)]), *names[own:])
    equal: list[Row] = [r for p in rows for r in p[0]]
    unequal: list[Row] = [r for p in rows for r in p[1]]
    return Spelling(names, tuple(sorted(equal)), tuple(sorted(unequal)))
