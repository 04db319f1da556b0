"""The times of a product's parts by a tiling, in microseconds, told without running it.

A multiprocessor works off its tiles in rounds, one for each time that all blocks which run at once take a tile. In a
round slabs are multiplied (as fast as the tensor cores, shared memory and the power of the device allow) and brought
(as fast as the L2 cache gives them, a multiprocessor takes them and the ring hides their latency), and results leave.
Blocks that stay have slabs of the next tile brought while results leave; blocks side by side, and warpgroups that take
tiles in turn, multiply while others end. The whole is no shorter than its bytes take from and to memory.
"""

from __future__ import annotations

from math import ceil

from attrs import frozen

from isa.limits import Limits, limits
from isa.targets import target as target_named
from ptxgen.kernels.epilogue import Beta, Bias, Keep, Residual
from ptxgen.kernels.matmul_compute import MatmulSpec
from ptxgen.kernels.matmul_groups import groups_multiply
from ptxgen.kernels.matmul_menu import Sizes, registers_of, shared_bytes
from ptxgen.kernels.matmul_roles import ROLE_REGISTERS, loading_warps
from ptxgen.kernels.matmul_tiling import GROUP_ROWS, MatmulTiling
from ptxgen.kernels.processors import Processor

BYTES_PER_US = 1e6
FLOPS_PER_US = 1e6
REGISTER_UNIT, KEPT_BYTES = 8, 1024
LINE_BYTES, ROWS_OF_ZEROS = 128, 3.5
MEETING = 4.0
ALONE = (1, 1)


def met(one: float, other: float) -> float:
    """How long two things take that go on together and are in each other's way now and then."""
    return float((one**MEETING + other**MEETING) ** (1 / MEETING))


@frozen
class Product:
    """A product on a device, and what holds of it by any tiling: the bytes of an operand's element and of a result's,
    with what that is joined with and kept in, the operations of a clock, the lines of the cache that are read for each
    of A's and of B's (more than one where rows begin within them), the bytes of the operands and the least time that
    memory takes."""

    sizes: Sizes
    spec: MatmulSpec
    target: str
    processor: Processor
    room: Limits
    has_groups: bool
    width: int
    result_bytes: int
    peak: float
    lines: tuple[float, float]
    operand_bytes: int
    least_memory: float


def product_of(spec: MatmulSpec, target: str, sizes: Sizes, row: Processor) -> Product:
    """The product of such arrays."""
    width = spec.input.byte_count
    lying = (
        sizes.m if spec.layout.a_transposed else sizes.k,
        sizes.k if spec.layout.b_transposed else sizes.n,
    )
    of_a, of_b = (1.0 if along * width % LINE_BYTES == 0 else row.lines_cut for along in lying)
    joined = sum(each.element.byte_count for each in spec.epilogue if isinstance(each, (Beta, Residual)))
    kept = sum(each.element.byte_count for each in spec.epilogue if isinstance(each, Keep))
    bias = sum(each.element.byte_count for each in spec.epilogue if isinstance(each, Bias))
    operands = (sizes.m + sizes.n) * sizes.k * width * sizes.batches
    written = spec.output.byte_count + kept
    moved = sizes.m * sizes.n * sizes.batches * (joined + written / row.write_share) + sizes.n * bias
    return Product(
        sizes=sizes,
        spec=spec,
        target=target,
        processor=row,
        room=limits(target_named(target)),
        has_groups=groups_multiply(spec, target),
        width=width,
        result_bytes=written + joined,
        peak=row.flops(spec.input),
        lines=(of_a, of_b),
        operand_bytes=operands,
        least_memory=(operands + moved) / (row.memory_rate * BYTES_PER_US),
    )


@frozen
class Slab:
    """What a slab of one block takes: of the `tensor` cores, `shared` memory and `filling` of its multiprocessor, and
    of the `power` and the L2 cache of the device."""

    tensor: float
    shared: float
    filling: float
    power: float
    l2: float

    def multiplied(self, beside: int, active: int) -> float:
        """What it takes to multiply the slabs of so many blocks of a multiprocessor and of the device."""
        return max(beside * self.tensor, beside * self.shared, active * self.power)

    def brought(self, beside: int, active: int) -> float:
        """What it takes to bring them."""
        return max(beside * self.filling, active * self.l2)


@frozen
class Round:
    """A round: all slabs `multiplied`, with results that left `ended`, all slabs `brought` and results taken."""

    multiplied: float
    ended: float
    brought: float

    @property
    def whole(self) -> float:
        """All of it, as what is brought goes on beside the rest."""
        return met(self.ended, self.brought)


@frozen
class Pace:
    """The times of a tiling's parts: `beside` blocks are on a multiprocessor at once (warpgroups that take tiles in
    turn), `usable` multiprocessors are reached by whole clusters; `rounds` are those alike, how many, and the blocks of
    a multiprocessor and of all in each. The results of a tile leave a multiprocessor in `leaving`, are there at the
    `end`, and keep the L2 cache for `taken`."""

    product: Product
    tiling: MatmulTiling
    by_groups: bool
    slabs: int
    beside: int
    leaving: float
    end: float
    taken: float
    tiles: int
    usable: int
    rounds: tuple[tuple[int, int, int], ...]
    slab: Slab

    def walked(self, tiling: MatmulTiling) -> Pace:
        """The pace of the same tile where other blocks walk the tiles."""
        tiles, usable, rounds, slab = self.tiles, self.usable, self.rounds, self.slab
        if tiling.cluster != self.tiling.cluster:
            tiles, usable, rounds = _rounds(self.product, tiling, self.beside)
            slab = _slab(self.product, tiling, by_groups=self.by_groups)
        return Pace(
            self.product, tiling, self.by_groups, self.slabs, self.beside, self.leaving, self.end, self.taken,
            tiles, usable, rounds, slab,
        )  # fmt: skip

    @property
    def microseconds(self) -> float:
        """All of it."""
        return self.beginning + met(self.inside(self.worked_off()), self.memory)

    def inside(self, worked: tuple[tuple[int, Round], ...]) -> float:
        """What the rounds take."""
        return sum(count * each.whole for count, each in worked) + self.tail

    def worked_off(self) -> tuple[tuple[int, Round], ...]:
        """Rounds alike: how many, and what each takes."""
        found: list[tuple[int, Round]] = []
        for count, beside, active in self.rounds:
            again = count if found else count - 1
            if not found:
                found.append((1, self.round(beside, active, first=True)))
            if again:
                found.append((again, self.round(beside, active, first=False)))
        return tuple(found)

    def round(self, beside: int, active: int, *, first: bool) -> Round:
        """A round of so many blocks. Each multiplies its share of the time and then ends, while others multiply. Where
        blocks stay, slabs are brought meanwhile but for the first round; others begin anew."""
        each, brought = self.slab.multiplied(beside, active), self.slab.brought(beside, active)
        lost = self.lost(beside)
        multiplied = self.slabs * (each + lost)
        waited = self.slabs * (max(brought, self.latency(beside, max(each, brought))) + lost)
        stays = self.tiling.workers is not None
        own = (multiplied if stays and not first else max(multiplied, waited)) / beside + self.end
        if not stays and not first:
            own += self.product.processor.block
        return Round(multiplied, max(multiplied, beside * self.leaving, own), waited + active * self.taken)

    def latency(self, beside: int, slowest: float) -> float:
        """What a slab takes at least where the ring is too short for its copies to be there in time."""
        fetch = self.product.processor.fetch
        if self.by_groups or self.tiling.boxed:
            return (self._in_turn(beside) * fetch + 2 * slowest) / self.tiling.depth
        return (fetch + slowest) / max(1, self.tiling.depth - 1)

    def lost(self, beside: int) -> float:
        """What is lost at each slab."""
        row = self.product.processor
        if not self.by_groups:
            return row.boxed_slab if self.tiling.boxed else row.warp_slab
        return row.slab * self._in_turn(beside) + (row.cluster_slab if self.tiling.cluster != ALONE else 0.0)

    def _in_turn(self, beside: int) -> int:
        return beside if self.tiling.turns else 1

    @property
    def tail(self) -> float:
        """What the last of several blocks side by side takes to end."""
        return self.end if self.rounds[0][1] > 1 else 0.0

    @property
    def beginning(self) -> float:
        """Launch, and the first slab, which is there as a whole before anything is multiplied."""
        row = self.product.processor
        meeting = row.cluster if self.tiling.cluster != ALONE else 0.0
        walking = 0.0 if self.tiling.workers is None else row.walk
        _, beside, active = self.rounds[0]
        return row.launch + row.fetch + self.slab.brought(beside, active) + meeting + walking

    @property
    def memory(self) -> float:
        """What the bytes take that cross the memory's pins: operands once, again for each round whose blocks see more
        than the cache holds, and results."""
        product, sizes, row = self.product, self.product.sizes, self.product.processor
        once = product.operand_bytes
        if once <= row.l2_bytes // 2:
            return product.least_memory
        most = min(self.tiles, self.usable * self.beside)
        down = min(ceil(sizes.m / self.tiling.i), max(1, self.tiling.raster.group))
        seen = (down * self.tiling.i + ceil(most / down) * self.tiling.j) * sizes.k * product.width
        again = self.tiles / most * min(seen, once)
        return product.least_memory + max(0.0, again / 2 - once) / (row.memory_rate * BYTES_PER_US)


def pace_of(product: Product, tiling: MatmulTiling) -> Pace:
    """The pace of a tiling for arguments of which the facts allow what it asks for."""
    by_groups = product.has_groups and tiling.fits_warpgroups
    row = product.processor
    beside = _beside(product, tiling, by_groups=by_groups)
    tiles, usable, rounds = _rounds(product, tiling, beside)
    result = tiling.i * tiling.j * product.result_bytes
    leaving = result / (row.out_bytes if tiling.drain else row.direct_bytes) / row.clocks
    pieces = ceil(tiling.j / tiling.drain) if tiling.drain else 0
    return Pace(
        product=product,
        tiling=tiling,
        by_groups=by_groups,
        slabs=ceil(product.sizes.k / tiling.k),
        beside=beside,
        leaving=leaving,
        end=row.tile + pieces * row.piece + leaving,
        taken=result / (row.l2_rate * BYTES_PER_US),
        tiles=tiles,
        usable=usable,
        rounds=rounds,
        slab=_slab(product, tiling, by_groups=by_groups),
    )


def _rounds(product: Product, tiling: MatmulTiling, beside: int) -> tuple[int, int, tuple[tuple[int, int, int], ...]]:
    """Tiles of the result, whole clusters of them; the multiprocessors that whole clusters reach, since those of a part
    beyond its last whole cluster are idle; and the rounds."""
    (rows, columns), sizes, row = tiling.cluster, product.sizes, product.processor
    down, across = ceil(ceil(sizes.m / tiling.i) / rows) * rows, ceil(ceil(sizes.n / tiling.j) / columns) * columns
    tiles, count = sizes.batches * down * across, rows * columns
    usable = row.sms if count <= 2 else row.sms_in_fours // count * count
    full, rest = divmod(tiles, usable * beside)
    found = ((full, beside, usable * beside),) if full else ()
    return tiles, usable, (*found, *(((1, ceil(rest / usable), rest),) if rest else ()))


def _beside(product: Product, tiling: MatmulTiling, *, by_groups: bool) -> int:
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
    return min(255, -(-held // REGISTER_UNIT) * REGISTER_UNIT)


def _slab(product: Product, tiling: MatmulTiling, *, by_groups: bool) -> Slab:
    """What a slab of a block takes."""
    row, sizes, length = product.processor, product.sizes, tiling.k * product.width
    (rows, columns), (lines_a, lines_b) = tiling.cluster, product.lines
    worked = 2 * tiling.i * tiling.j * tiling.k
    down, across = min(tiling.i, sizes.m), min(tiling.j, sizes.n)
    beyond = (tiling.i - down) / columns + (tiling.j - across) / rows
    share = 1.0 if by_groups else row.share_of_boxed if tiling.boxed else row.share_of_warps
    if by_groups:
        products = tiling.warps // 4 // tiling.units * (tiling.group_rows // GROUP_ROWS)
        read = products * (GROUP_ROWS + (tiling.i if tiling.swap else tiling.j))
    else:
        read = tiling.warps * sum(tiling.warp_tile)
    return Slab(
        tensor=worked / (product.peak * share) / row.clocks,
        shared=read * length / row.shared_bytes / row.clocks,
        filling=(down + across + ROWS_OF_ZEROS * beyond) * length / row.fill_bytes / row.clocks,
        power=worked / (row.sustained * product.peak / row.flops_per_clock * FLOPS_PER_US),
        l2=(down / columns * lines_a + across / rows * lines_b) * length / (row.l2_rate * BYTES_PER_US),
    )
