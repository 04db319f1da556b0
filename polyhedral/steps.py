"""A level whose times all go in common steps: counted in steps, with the rest of the time as a level of its own."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from attrs import evolve

from polyhedral.affine import Affine
from polyhedral.shadows import Item
from polyhedral.statement import Option
from polyhedral.strides import Stride


def in_common_steps(level: int, width: int, items: Sequence[Item], strides: Sequence[Stride]) -> list[Item] | None:
    """The items with time g*T + r of `level` written as T at `level` and r at a new one after it, or None.

    g divides the strides of all items and their residues r are constants. It is None where g is 1, and where
    all have one residue and no dimension that would be a quotient of the time: then a step of the loop says it.
    """
    step = gcd(*(s.step for s in strides))
    if step <= 1 or not all(s.residue.is_constant for s in strides):
        return None
    rests = [s.residue.constant % step for s in strides]
    if len(set(rests)) == 1 and all(len(item.levels) == width for item in items):
        return None
    return [_in_steps(item, level, step, rest) for item, rest in zip(items, rests, strict=True)]


def _in_steps(item: Item, level: int, step: int, rest: int) -> Item:
    name = item.levels[level]
    value = {name: Affine(((name, step),), rest)}
    time = item.fixed[level]
    shadows = [s.substitute(value) for s in item.shadows]
    first = level + 1
    return evolve(
        item,
        system=item.system.substitute(value),
        levels=(*item.levels[:first], f"{name}%", *item.levels[first:]),
        fixed=(*item.fixed[:level], None if time is None else time // step, rest, *item.fixed[first:]),
        shadows=(*shadows[:first], shadows[level], *shadows[first:]),
        bindings=tuple((d, a.substitute(value)) for d, a in item.bindings),
        options=(*item.options[:first], Option.DEFAULT, *item.options[first:]) if item.options else (),
    )
