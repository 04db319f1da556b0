"""Results of launches at the shape itself: rows of every set and tile beside float64, then whole results bit for bit.

The first kernel of each order of sums is judged by rows; those that add in the same order must leave the same bits in
every element of every set. Where they do not, rows in which they differ tell which of the two is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen
from numpy.typing import NDArray

from ptxgen.derive import SumOrder
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.launching.views import DTYPES
from ptxgen.kernels.matmul import Matmul
from ptxgen.testing import Bounded
from ptxgen.tune.cases import wanted
from ptxgen.tune.gate import Sample
from ptxgen.tune.measuring import Bench, outputs, poison_byte

MOST_TILES, DIFFERING_ROWS, STRIDE = 512, 16, 13
Bits = Mapping[str, NDArray[Any]]


@frozen
class Adding:
    """How a kernel adds: equal ones leave equal bits. Sums that are cut as the launch has blocks are cut by their
    number."""

    orders: tuple[SumOrder, ...]
    blocks: int | None

    @classmethod
    def of(cls, orders: tuple[SumOrder, ...], blocks: int) -> Adding:
        """The way of a launch of so many blocks."""
        return cls(orders, blocks if any(order.cut for order in orders) else None)


@frozen(eq=False)
class Reference:
    """A candidate whose rows were good, and all that it left in every set."""

    number: int
    left: tuple[Bits, ...] = field(repr=False)


@define(eq=False)
class Checker:
    """The results of a bench's sets, of which a row of each `tile_rows` is looked at, in one set after another."""

    here: Bench
    target: str
    tile_rows: int
    references: dict[Adding, Reference] = field(factory=dict, repr=False)
    truths: dict[tuple[SumOrder, ...], tuple[Mapping[str, Bounded], ...]] = field(factory=dict, repr=False)

    def check(self, number: int, adding: Adding) -> tuple[tuple[Sample, ...], int | None]:
        """What a candidate left in each set, and another candidate that this has shown to be wrong."""
        left = tuple(self.bits(arrays) for arrays in self.here.sets)
        known = self.references.get(adding)
        if known is None:
            return self._by_rows(number, adding, left), None
        differing = [_differing(*pair) for pair in zip(left, known.left, strict=True)]
        if not any(rows.size for rows, _ in differing):
            return tuple(Sample(self.unwritten(bits), 0.0) for bits in left), None
        mine, theirs = self._arbitrated(adding, left, known.left, [rows for rows, _ in differing])
        if mine <= 1.0 < theirs:
            del self.references[adding]
            return self._by_rows(number, adding, left), known.number
        return tuple(
            Sample(self.unwritten(bits), mine, count) for bits, (_, count) in zip(left, differing, strict=True)
        ), None

    def bits(self, arrays: Mapping[str, Any]) -> Bits:
        """The results of a set as whole numbers."""
        found = {}
        for name in outputs(self.here.spec):
            values = arrays[name].to_numpy()
            found[name] = values.view(f"u{values.itemsize}")
        return found

    def unwritten(self, bits: Bits) -> int:
        """Elements that are still poisoned; none where every byte may be a result."""
        stated, count = Matmul(self.here.spec).stated, 0
        for name, values in bits.items():
            byte = poison_byte(stated.array(name).element)
            if byte is not None:
                count += int((values == int.from_bytes(bytes([byte] * values.itemsize), "little")).sum())
        return count

    def _by_rows(self, number: int, adding: Adding, left: tuple[Bits, ...]) -> tuple[Sample, ...]:
        """A candidate judged by rows, and others by it from now on if it is good."""
        truth, rows = self._truth(adding.orders), rows_of(self.here.sizes, self.tile_rows, len(left))
        found = tuple(
            Sample(self.unwritten(bits), excess(bits, exact, chosen))
            for bits, exact, chosen in zip(left, truth, rows, strict=True)
        )
        if all(sample.excess <= 1.0 and not sample.unwritten for sample in found):
            self.references[adding] = Reference(number, left)
        return found

    def _arbitrated(
        self, adding: Adding, left: tuple[Bits, ...], known: tuple[Bits, ...], differing: Sequence[NDArray[Any]]
    ) -> tuple[float, float]:
        """How far either is from float64 where they differ."""
        mine, theirs = 0.0, 0.0
        for place, rows in enumerate(differing):
            chosen = [int(row) for row in rows[:: -(-len(rows) // DIFFERING_ROWS) or 1]]
            if chosen:
                exact = truth_of(self.here, place, self.target, adding.orders, chosen)
                mine = _larger(mine, excess(left[place], exact, chosen))
                theirs = _larger(theirs, excess(known[place], exact, chosen))
        return mine, theirs

    def _truth(self, orders: tuple[SumOrder, ...]) -> tuple[Mapping[str, Bounded], ...]:
        if orders not in self.truths:
            chosen = rows_of(self.here.sizes, self.tile_rows, len(self.here.sets))
            self.truths[orders] = tuple(
                truth_of(self.here, place, self.target, orders, rows) for place, rows in enumerate(chosen)
            )
        return self.truths[orders]


def rows_of(sizes: Sizes, tile_rows: int, sets: int) -> tuple[list[int], ...]:
    """The rows of each set that are looked at: of all sets together one of each `tile_rows` (of MOST_TILES such tiles
    at most), each at another place of its tile, and the last one; of each set one at least."""
    step = max(tile_rows, -(-sizes.m // MOST_TILES))
    tiles = -(-sizes.m // step)
    chosen: list[set[int]] = [set() for _ in range(sets)]
    for turn in range(max(tiles, sets)):
        tile = turn % tiles
        within = min(step, sizes.m - tile * step)
        chosen[turn % sets].add(tile * step + turn * STRIDE % within)
    chosen[-1].add(sizes.m - 1)
    return tuple(map(sorted, chosen))


def truth_of(
    here: Bench, place: int, target: str, orders: tuple[SumOrder, ...], rows: Sequence[int]
) -> Mapping[str, Bounded]:
    """What rows of a set must be."""
    stated = Matmul(here.spec).stated
    held: dict[str, NDArray[Any]] = {}
    for name, array in here.sets[place].items():
        if name in outputs(here.spec):
            continue
        values = array.to_numpy()
        for axis, extent in enumerate(stated.array(name).extents):
            values = np.take(values, rows, axis) if extent.names == ("M",) else values
        held[name] = np.ascontiguousarray(values)
    return wanted(here.spec, evolve(here.sizes, m=len(rows)), held, target, orders)


def excess(bits: Bits, exact: Mapping[str, Bounded], rows: Sequence[int]) -> float:
    """How far rows are from what they must be, in shares of what they may."""
    found = 0.0
    for name, bound in exact.items():
        values = np.ascontiguousarray(np.take(bits[name], rows, bits[name].ndim - 2))
        found = _larger(found, bound.excess(values.view(DTYPES[bound.element])))
    return found


def _larger(one: float, other: float) -> float:
    """The larger of two; what is no number is larger than all."""
    return max(one, other) if one == one and other == other else float("nan")


def _differing(one: Bits, other: Bits) -> tuple[NDArray[Any], int]:
    """The rows in which results differ, and in how many elements."""
    rows: list[NDArray[Any]] = []
    count = 0
    for name, bits in one.items():
        unlike = bits != other[name]
        count += int(unlike.sum())
        rows.append(np.nonzero(unlike.reshape(-1, *unlike.shape[-2:]).any(axis=(0, 2)))[0])
    return np.unique(np.concatenate(rows)), count
