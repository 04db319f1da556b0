"""Matrix products of a warp on the tensor cores, from the fragment maps and the numerics record of `isa`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from attrs import define, field, frozen

from isa.fragments import Fragment, fragment
from isa.numerics import Numerics, UnsettledNumerics, numerics
from isa.targets import Target
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.semantics.warps import meeting
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Reader, Site
from ptxgen.simulate.steps import assign
from ptxgen.simulate.tensor import Halves, dot, halves

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


def mma(site: Site, target: Target, fragments: Fragments) -> Step:
    """D = A * B + C of f16 inputs; blocks of the record's length are chained in ascending k, rounded in between."""
    words = site.instruction.form.words
    shape = str(words["shape"])
    if words["atype"] != "f16" or words["btype"] != "f16":
        raise site.unsupported(f"inputs of type .{words['atype']}")
    record = _record(site, target, shape)
    a_map = fragment(shape, "a", "f16", str(words["alayout"]))
    b_map = fragment(shape, "b", "f16", str(words["blayout"]))
    c_map, d_map = fragment(shape, "c", str(words["ctype"])), fragment(shape, "d", str(words["dtype"]))
    a_shuffle, b_shuffle, c_shuffle, d_shuffle = map(shuffle_of, (a_map, b_map, c_map, d_map))
    readers = [_vector(site, index) for index in (1, 2, 3)]
    writers = [assign(site, place) for place in site.destinations()]
    guard = site.guard()
    c_type = np.float32 if words["ctype"] == "f32" else np.float16
    to_f16 = words["dtype"] == "f16"

    def then(group: Group, batch: Batch) -> None:
        r = group.registers
        a_registers, b_registers, c_registers = (tuple(reader(r) for reader in each) for each in readers)
        a = fragments.prepared(a_shuffle, a_registers, group, False)
        b = fragments.prepared(b_shuffle, b_registers, group, True)
        c = c_shuffle.matrix(stacked(c_registers, group).view(c_type), len(group.warps))
        d = _chained(a, b, c, record, to_f16)
        results = d_shuffle.registers(d, len(group.warps)).reshape(d_map.registers, *group.shape, -1)
        bits = results.view(np.uint32)[..., 0]
        keep = guard(r) if guard is not None else None
        for write, value in zip(writers, bits, strict=True):
            write(r, value, keep)

    return meeting(site, None, then)


def _record(site: Site, target: Target, shape: str) -> Numerics:
    try:
        return numerics(target, "mma", shape, "f16")
    except UnsettledNumerics as error:
        raise site.unsupported(str(error)) from error


def _vector(site: Site, index: int) -> list[Reader]:
    return site.vector(index, np.uint32)


def _chained(a: Halves, b: Halves, c: Array, record: Numerics, to_f16: bool) -> Array:
    depth = a.values.shape[0]
    for start in range(0, depth, record.block):
        block = slice(start, start + record.block)
        left = Halves(a.values[block, :, None], a.exponents[block, :, None], a.finite)
        right = Halves(b.values[block, None], b.exponents[block, None], b.finite)
        c = dot(left, right, c, record.fraction_bits, to_f16)
    return c
