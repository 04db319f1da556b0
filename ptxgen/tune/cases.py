"""What a candidate is asked to compute before it is timed: small products, whole and ragged, in guarded memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from attrs import define, field
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ptxgen.derive import SumOrder
from ptxgen.kernels.matmul import Matmul
from ptxgen.kernels.matmul_compute import MatmulSpec
from ptxgen.kernels.matmul_menu import Sizes
from ptxgen.kernels.matmul_tiles import MOST_DEPTH
from ptxgen.kernels.matmul_tiling import MatmulTiling
from ptxgen.testing import Bounded, bounded
from ptxgen.tune.measuring import SCALARS, drawn, outputs, shapes_of

UNIT = 8
GUARD_ROWS, GUARD_COLUMNS, ALIGNED_BYTES = 2, 8, 64
GUARD_BYTE = 0xA5
POISONS = (0xFF, 0x7F)
INPUTS = ("first", "second")


@define(slots=False, frozen=True, eq=False)
class Guarded:
    """A result in the middle of memory that nobody may write: the window, and the memory around it."""

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

    def touched(self) -> int:
        """Bytes around the window that were written."""
        return int((self.memory[self.outside] != GUARD_BYTE).sum())

    def bits(self) -> NDArray[Any]:
        """The window's elements as whole numbers, copied."""
        return np.ascontiguousarray(self.window).view(f"u{self.window.itemsize}").copy()


def guarded(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Guarded:
    """A window of that shape whose rows lie apart and aligned, with guarded rows before and behind."""
    *above, columns = shape
    pitch = -(-columns // UNIT) * UNIT + GUARD_COLUMNS
    ahead = GUARD_ROWS * pitch * dtype.itemsize
    inside = prod(above) * pitch * dtype.itemsize
    memory = np.zeros(2 * ahead + inside + ALIGNED_BYTES, np.uint8)
    start = ahead + -(memory.ctypes.data + ahead) % ALIGNED_BYTES
    rows = memory[start : start + inside].view(dtype).reshape(*above, pitch)
    return Guarded(memory, rows[..., :columns])


@define(slots=False, frozen=True, eq=False)
class Case:
    """A product of given sizes with two different draws of its inputs, and what it must give."""

    spec: MatmulSpec
    target: str
    sizes: Sizes
    orders: tuple[SumOrder, ...] = field(repr=False)
    seed: int = 0

    @cached_property
    def inputs(self) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        """Both draws of every input, by name."""
        chance, given = np.random.default_rng(self.seed), {}
        for draw in INPUTS:
            given[draw] = {
                name: drawn(chance, shape, dtype)
                for name, (shape, dtype) in shapes_of(self.spec, self.sizes).items()
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

    def results(self) -> dict[str, Guarded]:
        """New guarded memory for every result."""
        shapes = shapes_of(self.spec, self.sizes)
        return {name: guarded(*shapes[name]) for name in outputs(self.spec)}


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


def sizes_around(tiling: MatmulTiling, batches: int = 1) -> tuple[Sizes, ...]:
    """Sizes that show a tiling's edges: a whole tile with more slabs than a ring has slots, several tiles that end
    within one in each direction, and a product smaller than a tile. Tilings of equal extents have equal ones."""
    m, n, k = tiling.i * tiling.cluster[0], tiling.j * tiling.cluster[1], tiling.k
    slabs = max(MOST_DEPTH, tiling.depth)
    return (
        Sizes(m, n, k * (slabs + 1), batches),
        Sizes(m + UNIT, n + UNIT, k * slabs + UNIT, batches),
        Sizes(UNIT, UNIT, UNIT, batches),
    )
