"""Systems apart into parts that share no variable, and together again: most questions are answered part by part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress, repeat
from operator import itemgetter

from polyhedral.rows import Row
from polyhedral.spelling import Spelled, Spelling, aligned, is_existential


def components(system: Spelled) -> list[Spelling] | None:
    """The parts of a system no two of which share a variable, in the order of their first names; None if it is one."""
    if len(system.names) == 1 or len(system.equalities) + len(system.inequalities) == 1:
        return None
    found = _row_groups(system.equalities, system.inequalities, len(system.names))
    if found is None:
        return None
    parts = []
    for columns, equalities, inequalities in found:
        names = tuple([system.names[i] for i in columns])
        if is_existential(names[0]):
            own = sum(map(is_existential, names))
            names = (*sorted([f"${i}" for i in range(own)]), *names[own:])
        parts.append(Spelling(names, equalities, inequalities))
    return parts


@lru_cache(maxsize=1 << 14)
def _row_groups(
    equalities: tuple[Row, ...], inequalities: tuple[Row, ...], width: int
) -> list[tuple[list[int], tuple[Row, ...], tuple[Row, ...]]] | None:
    """The columns and rows of each group that shares none with another; None where there is one group."""
    bits = [1 << i for i in range(width)]
    masks = list(map(sum, map(compress, repeat(bits), equalities + inequalities)))
    groups: list[int] = []
    for mask in set(masks):
        apart = [g for g in groups if not g & mask]
        groups = [*apart, sum(groups) - sum(apart) | mask]
    if len(groups) < 2:
        return None
    groups.sort(key=_lowest)
    return [_group(equalities, inequalities, masks, group, width) for group in groups]


def _lowest(mask: int) -> int:
    return mask & -mask


def _group(
    equalities: tuple[Row, ...], inequalities: tuple[Row, ...], masks: list[int], group: int, width: int
) -> tuple[list[int], tuple[Row, ...], tuple[Row, ...]]:
    columns = [i for i in range(width) if group >> i & 1]
    pick = itemgetter(*columns, -1)
    chosen = [bool(mask & group) for mask in masks]
    equal = tuple(map(pick, compress(equalities, chosen)))
    return columns, equal, tuple(map(pick, compress(inequalities, chosen[len(equalities) :])))


def product(parts: Sequence[Spelled]) -> Spelling:
    """The parts, which share no visible variable, as one."""
    names, rows = aligned(*parts)
    if names and is_existential(names[0]):
        own = sum(map(is_existential, names))
        names = (*sorted([f"${i}" for i in range(own)]), *names[own:])
    equal: list[Row] = [r for p in rows for r in p[0]]
    unequal: list[Row] = [r for p in rows for r in p[1]]
    return Spelling(names, tuple(sorted(equal)), tuple(sorted(unequal)))
