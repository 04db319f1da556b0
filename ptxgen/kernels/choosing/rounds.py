"""How the tiles of a product, or parts of them, fall into rounds of the blocks that run at once."""

from __future__ import annotations

from math import ceil

from attrs import frozen

from ptxgen.kernels.choosing.legal import registers_of, shared_bytes
from ptxgen.kernels.choosing.work import Product
from ptxgen.kernels.products.roles import ROLE_REGISTERS, loading_warps
from ptxgen.kernels.products.split import joins_in_cluster
from ptxgen.kernels.products.tiling import MatmulTiling

REGISTER_UNIT, KEPT_BYTES, MOST_REGISTERS = 8, 1024, 255
BLOCKS_OF_TILE = 2


@frozen
class Round:
    """So many rounds alike: the blocks of a multiprocessor and of all, and the slabs of each block."""

    count: int
    beside: int
    active: int
    slabs: int


@frozen
class Rounds:
    """All rounds of a product: `tiles` whole ones, of each `parts` for blocks of their own, in `usable` multiprocessors
    that whole clusters reach, since those of a part beyond its last whole cluster are idle. `longer`: what a block's
    share of streamed tiles is beside one tile, one at least, 0 where none are streamed."""

    tiles: int
    parts: int
    usable: int
    each: tuple[Round, ...]
    longer: float = 0.0

    @property
    def blocks(self) -> int:
        """Tiles, or parts of them."""
        return self.tiles * self.parts

    @property
    def active(self) -> int:
        """The blocks of the first round."""
        return self.each[0].active


def rounds_of(product: Product, tiling: MatmulTiling, beside: int) -> Rounds:
    """The rounds of a tiling of which so many blocks are on a multiprocessor at once."""
    (rows, columns), sizes, row = tiling.cluster, product.sizes, product.processor
    down, across = ceil(ceil(sizes.m / tiling.i) / rows) * rows, ceil(ceil(sizes.n / tiling.j) / columns) * columns
    tiles, count = sizes.batches * down * across, rows * columns
    slabs = ceil(sizes.k / tiling.k)
    if tiling.split > 1 and joins_in_cluster(product.spec, tiling, product.target):
        count *= tiling.split
    usable = row.sms if count <= 2 else row.sms_in_fours // count * count
    if tiling.stream:
        return _streamed(tiles, slabs, usable, beside)
    full, rest = divmod(tiles * tiling.split, usable * beside)
    slabs = ceil(slabs / tiling.split)
    found = (Round(full, beside, usable * beside, slabs),) if full else ()
    last = (Round(1, ceil(rest / usable), rest, slabs),) if rest else ()
    return Rounds(tiles, tiling.split, usable, (*found, *last))


def _streamed(tiles: int, slabs: int, usable: int, beside: int) -> Rounds:
    """The rounds of blocks that share the slabs of the tiles of the last whole round and of what is beyond it."""
    blocks = min(usable * beside, BLOCKS_OF_TILE * tiles, tiles * slabs)
    together, rest = ceil(blocks / usable), tiles % blocks
    streamed = min(tiles, blocks + rest) if rest else 0
    found = [Round(1, together, blocks, ceil(streamed * slabs / blocks))] if streamed else []
    whole = (tiles - streamed) // blocks
    found += [Round(whole, together, blocks, slabs)] if whole else []
    return Rounds(tiles, 1, usable, tuple(found), max(1.0, streamed / blocks) if streamed else 0.0)


def beside_of(product: Product, tiling: MatmulTiling, *, by_groups: bool) -> int:
    """The blocks that a multiprocessor holds at once, by shared memory, registers and warps; of a block whose
    warpgroups take tiles in turn, those."""
    if tiling.turns:
        return tiling.units
    room = product.room
    warps = tiling.warps + loading_warps(tiling, product.target, by_groups=by_groups)
    held = shared_bytes(product.spec, tiling, tiling.depth, by_groups=by_groups)
    by_shared = room.shared_bytes_per_sm // (held + KEPT_BYTES)
    if by_shared <= 1:
        return 1
    registers = _registers(product, tiling, warps, by_groups=by_groups)
    return max(1, min(by_shared, room.registers_per_sm // (registers * 32 * warps), room.warps_per_sm // warps))


def _registers(product: Product, tiling: MatmulTiling, warps: int, *, by_groups: bool) -> int:
    if warps % 4 == 0 and warps > tiling.warps and tiling.warps // 4 in ROLE_REGISTERS:
        return product.room.registers_per_sm // (32 * warps) // REGISTER_UNIT * REGISTER_UNIT
    held = registers_of(product.spec, tiling, by_groups=by_groups)
    return min(MOST_REGISTERS, -(-held // REGISTER_UNIT) * REGISTER_UNIT)
