"""Fragments of a warp as matrices, prepared for the tensor cores."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from isa.fragments import Fragment
from ptxgen.simulate.group import Group
from ptxgen.simulate.tensor import Halves, halves

Array: TypeAlias = NDArray[Any]
_RECENT = 64


@frozen(eq=False)
class Shuffle:
    """How the registers of an operand become a matrix: reshape to bits, transpose, reshape to [rows, columns, -1].

    `order` puts the row bits, the column bits, the warps and the tile bits in this order; every bit of a lane or value
    number is an axis of two, because the maps send each bit to one bit of one coordinate.
    """

    bits: tuple[int, ...]
    order: tuple[int, ...]
    rows: int
    columns: int

    def matrix(self, registers: Array, warps: int) -> Array:
        """[values, warps, 32, per register] as [rows, columns, warps * tiles]."""
        shape = tuple(warps if extent < 0 else extent for extent in self.bits)
        return np.ascontiguousarray(registers.reshape(shape).transpose(self.order)).reshape(self.rows, self.columns, -1)

    def registers(self, matrix: Array, warps: int) -> Array:
        """The inverse of `matrix`, contiguous, in the order of its axes before the reshape to bits."""
        shape = tuple(warps if extent < 0 else extent for extent in self.bits)
        turned = matrix.reshape(tuple(shape[axis] for axis in self.order))
        return np.ascontiguousarray(turned.transpose(np.argsort(self.order)))


@cache
def shuffle_of(map_: Fragment) -> Shuffle:
    """The shuffle of a fragment whose registers stand as [registers, warps, 32, values per register]."""
    inner = map_.values_per_register.bit_length() - 1
    value_bits = list(map_.value_bits)
    axes = [*reversed(value_bits[inner:]), None, *reversed(map_.lane_bits), *reversed(value_bits[:inner])]
    rows = _axes(axes, 1)
    columns = _axes(axes, 2)
    tiles = _axes(axes, 0)
    order = (*rows, *columns, axes.index(None), *tiles)
    bits = tuple(-1 if axis is None else 2 for axis in axes)
    return Shuffle(bits, order, 1 << len(rows), 1 << len(columns))


def _axes(axes: list[Any], coordinate: int) -> list[int]:
    """The axes that carry bits of a coordinate, the most significant first."""
    own = [index for index, place in enumerate(axes) if place is not None and place[coordinate]]
    return sorted(own, key=lambda index: -axes[index][coordinate])


@define(eq=False)
class Fragments:
    """Prepared A and B operands of the latest products, by the identity of their registers: fragments are used
    repeatedly.
    """

    recent: dict[tuple[int, ...], tuple[tuple[Array, ...], Halves]] = field(factory=dict)

    def prepared(self, shuffle: Shuffle, registers: tuple[Array, ...], group: Group, inner_first: bool) -> Halves:
        """The operand as [k, rows or columns, -1]; `inner_first` for B, whose rows are k already."""
        key = (id(shuffle), len(group.warps), *map(id, registers))
        found = self.recent.get(key)
        if found is not None:
            return found[1]
        matrix = shuffle.matrix(stacked(registers, group).view(np.float16), len(group.warps))
        made = halves(matrix if inner_first else np.ascontiguousarray(matrix.swapaxes(0, 1)))
        if len(self.recent) >= _RECENT:
            del self.recent[next(iter(self.recent))]
        self.recent[key] = (registers, made)
        return made


def stacked(registers: tuple[Array, ...], group: Group) -> Array:
    """The registers of an operand as one array [registers, warps, 32]."""
    whole = np.empty((len(registers), *group.shape), registers[0].dtype)
    for place, register in enumerate(registers):
        whole[place] = register
    return whole
