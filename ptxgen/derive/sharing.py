"""Boxes that blocks of a cluster have in common: who shares them, and who brings which part of them to whom."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from attrs import frozen

from polyhedral import Affine, const, var
from ptxgen.derive.space import IndexSpace
from ptxgen.errors import PlanError
from ptxgen.order.clusters import Masks
from ptxgen.plan import Stage
from ptxgen.tile import SharedLayout, coordinate_bits, granule, rank_name

PATTERN_ROWS = 8

Coordinates = tuple[int, ...]


@frozen
class Sharing:
    """Block c brings part `number` of `shares` of a box to the blocks in `masks[c]`, cut along `dimension`."""

    masks: Masks
    shares: int
    dimension: int
    number: Affine


def fibres(space: IndexSpace, origin: Iterable[Affine]) -> Masks:
    """The fibres of an access over the cluster: for each block those whose boxes start where its own does, as their
    tiles lie beside each other. Blocks are numbered with the last dim of the grid fastest."""
    corners = tuple(origin)
    places = coordinates(space)

    def apart(first: Coordinates, second: Coordinates) -> bool:
        moved = [(space.block_variable(d), b - a) for d, a, b in zip(space.clustered, first, second, strict=True)]
        return any(sum(corner.coefficient(name) * steps for name, steps in moved) for corner in corners)

    return tuple(sum(1 << rank for rank, other in enumerate(places) if not apart(place, other)) for place in places)


def coordinates(space: IndexSpace) -> tuple[Coordinates, ...]:
    """The coordinates of a cluster's blocks in the order of their ranks."""
    return tuple(product(*(range(size) for size in space.clustered.values())))


def sharing(
    space: IndexSpace, step: Stage, origin: Iterable[Affine], layout: SharedLayout, tile: Tile
) -> Sharing | None:
    """How the blocks of a cluster bring a box that they have in common; None where each has its own.

    As many of those who share it bring a part as the step says, or all where the box divides, else one of them.
    PlanError where the step asks for more parts than that.
    """
    shared = fibres(space, origin)
    members = {mask.bit_count() for mask in shared}
    if members == {1}:
        return None
    count = min(members)
    if step.slices is None:
        cut = tile.cut(layout, count) if len(members) == 1 else None
        shares, dimension = (count, cut) if cut is not None else (1, 0)
    else:
        cut = tile.cut(layout, step.slices)
        if step.slices > count or cut is None:
            raise PlanError(
                f"{step.op}: {count} blocks of the cluster share a box of {'x'.join(map(str, tile.shape))}, which "
                f"{'they' if cut is not None else 'the swizzle'} cannot divide into {step.slices} slices",
                line=step.line,
            )
        shares, dimension = step.slices, cut
    numbers = tuple((mask & (1 << rank) - 1).bit_count() for rank, mask in enumerate(shared))
    masks = tuple(mask if number < shares else 0 for mask, number in zip(shared, numbers, strict=True))
    return Sharing(masks, shares, dimension, _affine(space, step, numbers) if shares > 1 else const(0))


def _affine(space: IndexSpace, step: Stage, numbers: tuple[int, ...]) -> Affine:
    """The number of a block among those that share its box, as an expression of its place in the cluster."""
    places = coordinates(space)
    found = const(0)
    for dim, size in space.clustered.items():
        beside = tuple(int(other == dim) for other in space.clustered)
        if size > 1:
            found = found + var(rank_name(space.block_variable(dim))) * numbers[places.index(beside)]
    for place, number in zip(places, numbers, strict=True):
        names = (rank_name(space.block_variable(dim)) for dim in space.clustered)
        if found.evaluate(dict(zip(names, place, strict=True))) != number:
            raise PlanError(
                f"{step.op}: the blocks of the cluster that share a box are not numbered by an affine function of "
                f"their place; slices=1 lets one of them bring it",
                line=step.line,
            )
    return found


@frozen
class Tile:
    """A box of `shape` whose dimension `contiguous` lies together in memory, in rows of `row` elements each."""

    shape: tuple[int, ...]
    contiguous: int
    row: int

    def cut(self, layout: SharedLayout, parts: int) -> int | None:
        """The dimension along which the box is cut into so many parts with the fewest copies, each of whole patterns of
        the swizzle that lie one behind the other; None where there is none."""
        if parts & (parts - 1):
            return None
        fits = [place for place in range(len(self.shape)) if self._fits(layout, place, parts)]
        return min(fits, key=lambda place: self._copies(place, parts), default=None)

    def _copies(self, place: int, parts: int) -> int:
        along = self.shape[self.contiguous] // (parts if place == self.contiguous else 1)
        return along // self.row

    def _fits(self, layout: SharedLayout, place: int, parts: int) -> bool:
        extent = self.shape[place] // parts
        if extent < 1 or self.shape[place] % parts or (place == self.contiguous and extent % self.row):
            return False
        images = layout.offsets[place]
        bits = coordinate_bits(granule(extent))
        inner, outer = images[:bits], images[bits:]
        others = [image for d, own in enumerate(layout.offsets) if d != place for image in own]
        used = 0
        for image in (*inner, *others):
            used |= image
        steps = all(image == outer[0] << bit for bit, image in enumerate(outer))
        apart = all(not image & used for image in outer)
        whole = all(image % (PATTERN_ROWS * self.row) == 0 for image in outer)
        return steps and apart and whole
