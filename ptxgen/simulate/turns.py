"""Lanes that update the same places of memory one after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ptxgen.simulate.memory import Arena

Array: TypeAlias = NDArray[Any]
Update: TypeAlias = Callable[[Array, Array, Array], Array]

_FEW = 6


@frozen(eq=False)
class Law:
    """What is known of an update: `joins`, that operand after operand can be joined beforehand (sums of integers,
    extremes, logic, exchanges); `adds`, the float type in which it adds, rounding in between; `swaps`, that it swaps
    where memory equals the first operand."""

    joins: bool = False
    adds: Any = None
    swaps: bool = False


def in_turn(arena: Arena, index: Array, operands: tuple[Array, Array], update: Update, law: Law) -> Array:
    """Update the places at byte indices by the operands (flat arrays), equal indices in their order; the old values."""
    first, second = operands
    order = np.argsort(index, kind="stable")
    places = index[order]
    heads = np.empty(len(places), np.bool_)
    heads[:1] = True
    np.not_equal(places[1:], places[:-1], out=heads[1:])
    starts = np.flatnonzero(heads)
    lengths = np.diff(np.append(starts, len(places)))
    a, b = first[order], second[order]
    before = np.empty(len(places), first.dtype)
    longest = int(lengths.max()) if len(lengths) else 0
    if law.joins and longest > _FEW:
        _joined(arena, places, (starts, lengths), a, update, before, longest)
    else:
        alone = np.ones(len(starts), np.bool_)
        if longest > _FEW and (law.adds is not None or law.swaps):
            for number in np.flatnonzero(lengths > _FEW).tolist():
                part = slice(int(starts[number]), int(starts[number] + lengths[number]))
                done = _swapped if law.swaps else _added
                alone[number] = not done(arena, int(places[part.start]), a[part], b[part], before[part], law)
        _rounds(arena, places, (starts[alone], lengths[alone]), (a, b), update, before)
    old = np.empty(len(index), first.dtype)
    old[order] = before
    return old


def _rounds(
    arena: Arena, places: Array, runs: tuple[Array, Array], operands: tuple[Array, Array], update: Update, before: Array
) -> None:
    """The n-th of each run in round n."""
    starts, lengths = runs
    width = before.dtype.itemsize
    for now in range(int(lengths.max()) if len(lengths) else 0):
        at = starts[lengths > now] + now
        before[at] = arena.load(places[at], width)
        arena.store(places[at], update(before[at], operands[0][at], operands[1][at]), width)


def _joined(
    arena: Arena, places: Array, runs: tuple[Array, Array], a: Array, update: Update, before: Array, longest: int
) -> None:
    """All of a run at once: prefixes of its operands by doubling, then joined to what stood in memory."""
    starts, lengths = runs
    width = before.dtype.itemsize
    number = np.arange(len(a)) - np.repeat(starts, lengths)
    prefix = a.copy()
    step = 1
    while step < longest:
        at = np.flatnonzero(number >= step)
        prefix[at] = update(prefix[at - step], prefix[at], prefix[at])
        step *= 2
    stood = arena.load(places[starts], width)
    whole = np.repeat(stood, lengths)
    before[starts] = stood
    later = np.flatnonzero(number > 0)
    before[later] = update(whole[later], prefix[later - 1], prefix[later - 1])
    ends = starts + lengths - 1
    arena.store(places[starts], update(stood, prefix[ends], prefix[ends]), width)


def _added(arena: Arena, place: int, a: Array, b: Array, before: Array, law: Law) -> bool:
    """A run of sums that round in between; False where a NaN or a subnormal wants more care."""
    width = a.dtype.itemsize
    stood = arena.load(np.array([place]), width)
    values = np.concatenate([stood, a]).view(law.adds)
    if (np.abs(values[values != 0]) < np.finfo(law.adds).smallest_normal).any():
        return False
    sums = np.add.accumulate(values)
    if np.isnan(sums).any() or (np.abs(sums[sums != 0]) < np.finfo(law.adds).smallest_normal).any():
        return False
    bits = sums.view(a.dtype)
    before[:] = bits[:-1]
    arena.store(np.array([place]), bits[-1:], width)
    return True


def _swapped(arena: Arena, place: int, a: Array, b: Array, before: Array, law: Law) -> bool:
    """A run of swaps with equal operands, of which the first decides; False where the operands differ."""
    if not ((a == a[0]).all() and (b == b[0]).all()):
        return False
    width = a.dtype.itemsize
    stood = arena.load(np.array([place]), width)
    swaps = stood[0] == a[0]
    before[:] = b[0] if swaps else stood[0]
    before[0] = stood[0]
    if swaps:
        arena.store(np.array([place]), b[:1], width)
    return True
