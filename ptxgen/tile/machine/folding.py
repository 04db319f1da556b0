"""The order in which a reduction joins what the lanes of a warp hold."""

from __future__ import annotations

import numpy as np

from ptxgen.compute import BinaryOp
from ptxgen.tile.cropping import Coordinate
from ptxgen.tile.distribution import Distribution
from ptxgen.tile.machine.arithmetic import binary
from ptxgen.tile.machine.geometry import LANES, Index, StrayError
from ptxgen.tile.machine.numbers import Floats


def fold(values: Floats, distribution: Distribution, kept: tuple[int, ...], join: BinaryOp) -> Floats:
    """`values` (by lane, then value index) joined over the dims not `kept`: a lane's values in ascending order, then
    lanes by butterfly over distance 1, 2, 4, ... The result is ordered like the points of the projection to `kept`."""
    reduced, left = split(distribution.values, kept)
    table = values.reshape(LANES, distribution.value_count)
    stay, joined = (held(bits, distribution.value_count) for bits in (left, reduced))
    if stay[-1] | joined[-1] >= distribution.value_count:
        raise StrayError("tile.shape", "a lane holds other values of one kept coordinate than of another")
    with np.errstate(all="ignore"):
        total = table[:, stay]
        for index in joined[1:]:
            total = binary(join, total, table[:, stay | index])
        for bit in split(distribution.lanes, kept)[0]:
            total = binary(join, total, total[np.arange(LANES) ^ 1 << bit])
    return total.ravel()


def split(basis: tuple[Coordinate, ...], kept: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """The bits that move along dropped dims only, and those that move along kept ones. A bit that moves nothing is in
    neither; one that moves both ways must be the only one to reach its place along the kept dims."""
    reduced: list[int] = []
    left: list[int] = []
    for bit, image in enumerate(basis):
        stays = any(image[place] for place in kept)
        goes = any(step for place, step in enumerate(image) if place not in kept)
        twins = [other for other in basis if all(other[place] == image[place] for place in kept)]
        if stays and goes and len(twins) > 1:
            raise StrayError("tile.shape", f"bit {bit} with image {image} moves along kept and reduced dims at once")
        if stays or goes:
            (left if stays else reduced).append(bit)
    return reduced, left


def held(bits: list[int], count: int) -> Index:
    """The numbers below `count` that have no other bits than these, ascending."""
    spread_out = (spread(index, bits) for index in range(1 << len(bits)))
    return np.array([index for index in spread_out if index < count])


def spread(index: int, bits: list[int]) -> int:
    """`index` with its bit b moved to bit bits[b]."""
    return sum((index >> place & 1) << bit for place, bit in enumerate(bits))
