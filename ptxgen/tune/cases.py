"""What a candidate is asked to compute before it is timed: small products, whole and ragged, in guarded memory.

Arrays lie as badly as the facts that the candidate was made for allow: windows of wider ones, which hold what spoils a
sum, at addresses, pitches and sizes that are multiples of what the facts say and of no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from math import lcm, prod
from typing import Any

import numpy as np
from attrs import define, field, frozen
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from polyhedral import var
from ptxgen.compute import Array
from ptxgen.derive import SumOrder
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.tiles import MOST_DEPTH
from ptxgen.kernels.matmul import Matmul
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Aligned, Fact, Multiple
from ptxgen.testing import Bounded, bounded
from ptxgen.tune.measuring import SCALARS, drawn, outputs, shapes_of

UNIT, GUARD_ROWS = 8, 2
GUARD_BYTE = 0xA5
POISONS = (0xFF, 0x7F)
SPOILING_BYTE = 0xFF
"""Bytes that are NaN in every format of floats, and no drawn number in integers."""
INPUTS = ("first", "second")


@define(slots=False, frozen=True, eq=False)
class Guarded:
    """An array in the middle of memory that nobody may write: the window, and the memory around it."""

    memory: NDArray[np.uint8] = field(repr=False)
    window: NDArray[Any] = field(repr=False)

    @cached_property
    def outside(self) -> NDArray[np.bool_]:
        """Which bytes of the memory do not belong to the window."""
        free = np.ones(self.memory.shape, np.bool_)
        start = self.window.ctypes.data - self.memory.ctypes.data
        within = as_strided(free[start:], (*self.window.shape, self.window.itemsize), (*self.window.strides, 1))
        within[...] = False
        return free

    def poison(self, byte: int) -> None:
        """Fills the window with a byte, and everything around it with another."""
        self.memory[...] = np.where(self.outside, GUARD_BYTE, byte)

    def hold(self, array: NDArray[Any]) -> None:
        """Fills the window with an array, and everything around it with what spoils a sum."""
        self.memory[...] = SPOILING_BYTE
        self.window[...] = array

    def touched(self) -> int:
        """Bytes around the window that were written."""
        return int((self.memory[self.outside] != GUARD_BYTE).sum())

    def bits(self) -> NDArray[Any]:
        """The window's elements as whole numbers, copied."""
        return np.ascontiguousarray(self.window).view(f"u{self.window.itemsize}").copy()


@frozen
class Allowed:
    """What facts say of a name or an array: a multiple of how much it is, 1 where nothing is said."""

    facts: tuple[Fact, ...]

    def factor(self, name: str) -> int:
        """The multiple that a size or stride is."""
        return lcm(*(fact.factor for fact in self.facts if isinstance(fact, Multiple) and fact.value == var(name)))

    def bytes_of(self, array: str) -> int:
        """The multiple that the address of an array is."""
        return lcm(*(fact.byte_count for fact in self.facts if isinstance(fact, Aligned) and fact.array == array))

    def place(self, array: Array, shape: tuple[int, ...], dtype: np.dtype[Any], turn: int = 0) -> Guarded:
        """New memory for an array, its strides odd multiples of what they must be one of, and another one each `turn`,
        its address too."""
        stride, strides = shape[-1], []
        for extent, declared in zip(shape[-2::-1], array.strides[-2::-1], strict=True):
            factor = lcm(*map(self.factor, declared.names))
            stride = (stride // factor + 1 | 1) * factor + 2 * factor * turn
            strides.append(stride)
            stride *= extent
        return guarded(shape, dtype, tuple(reversed(strides)), max(dtype.itemsize, self.bytes_of(array.name)))


def guarded(shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...], byte_count: int) -> Guarded:
    """A window of that shape with these strides of all dimensions but the last, at an odd multiple of `byte_count`,
    with guarded rows before and behind."""
    whole = (strides[0] if strides else shape[0]) * (shape[0] if strides else 1) * dtype.itemsize
    ahead = GUARD_ROWS * max(strides[-1] if strides else shape[0], UNIT) * dtype.itemsize
    memory = np.zeros(2 * ahead + whole + 2 * byte_count, np.uint8)
    start = ahead + (byte_count - memory.ctypes.data - ahead) % (2 * byte_count)
    rows = memory[start : start + whole].view(dtype)
    for extent, below, stride in zip(shape, (*shape[1:-1], 1), strides, strict=False):
        rows = rows.reshape(*rows.shape[:-1], extent, stride)
        inner = strides[rows.ndim - 1] * below if rows.ndim - 1 < len(strides) else shape[-1]
        rows = rows[..., :inner]
    return Guarded(memory, rows)


@define(slots=False, frozen=True, eq=False)
class Case:
    """A product of given sizes with two different draws of its inputs, and what it must give."""

    spec: MatmulSpec
    target: str
    sizes: Sizes
    orders: tuple[SumOrder, ...] = field(repr=False)
    facts: tuple[Fact, ...] = field(repr=False)
    seed: int = 0

    @cached_property
    def inputs(self) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        """Both draws of every input, by name."""
        chance, stated, given = np.random.default_rng(self.seed), Matmul(self.spec).stated, {}
        for draw in INPUTS:
            given[draw] = {
                name: drawn(chance, shape, stated.array(name).element)
                for name, (shape, _) in shapes_of(self.spec, self.sizes).items()
                if name not in outputs(self.spec)
            }
        return given

    @cached_property
    def scalars(self) -> dict[str, float]:
        """The launch scalars."""
        return {scalar.name: SCALARS[scalar.name] for scalar in Matmul(self.spec).stated.scalars}

    @cached_property
    def wanted(self) -> Mapping[str, Mapping[str, Bounded]]:
        """The results of both draws in float64, with what rounding may do."""
        return {
            draw: wanted(self.spec, self.sizes, arrays, self.target, self.orders)
            for draw, arrays in self.inputs.items()
        }

    def placed(self) -> dict[str, Guarded]:
        """New guarded memory for every array."""
        allowed, stated = Allowed(self.facts), Matmul(self.spec).stated
        shapes = shapes_of(self.spec, self.sizes)
        return {
            name: allowed.place(stated.array(name), shape, dtype, turn)
            for turn, (name, (shape, dtype)) in enumerate(shapes.items())
        }


def wanted(
    spec: MatmulSpec,
    sizes: Sizes,
    arrays: Mapping[str, NDArray[Any]],
    target: str,
    orders: Iterable[SumOrder],
) -> dict[str, Bounded]:
    """The results of a product in float64 with their bounds."""
    stated = Matmul(spec).stated
    known = {"M": sizes.m, "N": sizes.n, "K": sizes.k, "batches": sizes.batches}
    for name, array in arrays.items():
        strides = stated.array(name).strides
        for stride, extent in zip(strides, _packed(array.shape), strict=True):
            known.update(dict.fromkeys(stride.names, extent))
    for name, (shape, _) in shapes_of(spec, sizes).items():
        if name not in arrays:
            for stride, extent in zip(stated.array(name).strides, _packed(shape), strict=True):
                known.update(dict.fromkeys(stride.names, extent))
    scalars = {scalar.name: SCALARS[scalar.name] for scalar in stated.scalars}
    found = bounded(stated, arrays, known, scalars, target=target, orders=orders)
    return {name: found[name] for name in outputs(spec)}


def _packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[place + 1 :]) for place in range(len(shape)))


def sizes_around(tiling: MatmulTiling, facts: tuple[Fact, ...], batches: int = 1) -> tuple[Sizes, ...]:
    """Sizes that show a tiling's edges: a whole tile with more slabs than a ring has slots, several tiles that end
    within one in each direction, as shortly behind its beginning as the facts allow, and as shortly before its end, and
    a product smaller than a tile. Tilings of equal extents have equal ones where facts are equal."""
    m, n, k = tiling.i * tiling.cluster[0], tiling.j * tiling.cluster[1], tiling.k
    of_m, of_n, of_k = map(Allowed(facts).factor, ("M", "N", "K"))
    slabs = max(MOST_DEPTH, tiling.depth)
    return (
        Sizes(m, n, k * (slabs + 1), batches),
        Sizes(m + of_m, n + of_n, k * slabs + of_k, batches),
        Sizes(2 * m - of_m, 2 * n - of_n, k * slabs - of_k, batches),
        Sizes(_short(of_m), _short(of_n), _short(of_k), batches),
    )


def _short(factor: int) -> int:
    """About UNIT: a multiple of a factor that is one of no larger power of two, where it is less than UNIT."""
    return factor if factor >= UNIT else UNIT - factor
