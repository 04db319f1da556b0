"""Shared memory that threads write as usual, beside what products of warpgroups read through the other proxy."""

from __future__ import annotations

from ptxgen.tile import Carrier, Copy, HandWritten, Leaf, Multiply, Ordering, Program, Region, Space
from ptxgen.tile.trees import ends_of

APART = "ptxgen: allow proxy.fence"


def keeps_proxies_apart(program: Program) -> bool:
    """Whether threads write buffers in shared memory of which nothing is read through the asynchronous proxy, beside
    products of warpgroups. No fence is wanted between the two, but descriptors tell nobody who reads the text which of
    the pool's bytes a product reads."""
    leaves = [n for role in program.roles for n in ends_of(role.body) if not isinstance(n, Ordering)]
    multiplied = {_lies_in(region) for leaf in leaves for region in _multiplied(leaf)}
    stored = {_lies_in(each.source) for each in leaves if isinstance(each, Copy) and each.carrier is Carrier.TENSOR}
    written = {_lies_in(region) for leaf in leaves for region in _written(leaf)}
    return bool(multiplied) and not written <= multiplied | stored


def _lies_in(region: Region) -> str:
    """The buffer that a region's begins with: another one where it lies over that."""
    return region.buffer.alias or region.buffer.name


def _multiplied(leaf: Leaf) -> list[Region]:
    """What a product of warpgroups reads from shared memory."""
    if not isinstance(leaf, Multiply) or not leaf.row.warpgroup:
        return []
    return [each.region for each in (leaf.a, leaf.b) if each.region.buffer.space is Space.SHARED]


def _written(leaf: Leaf) -> list[Region]:
    """What a leaf writes in shared memory as threads do."""
    match leaf:
        case Copy(destination=destination, carrier=carrier) if carrier is not Carrier.TENSOR:
            written: tuple[Region, ...] = (destination,)
        case HandWritten(writes=written):
            pass
        case _:
            written = ()
    return [region for region in written if region.buffer.space is Space.SHARED]
