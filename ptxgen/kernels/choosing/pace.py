"""The times of a product's parts by a tiling, in microseconds, told without running it.

A multiprocessor works off its tiles in rounds, one for each time that all blocks which run at once take a tile. In a
round slabs are multiplied (as fast as the tensor cores and shared memory allow) and brought (as fast as the L2 cache
gives them, a multiprocessor takes them and the ring hides their latency), and results leave. In clusters a slab is
there later, for all its blocks, which costs where slabs are waited for, and where tiles are taken in turn, whose one
ring all of a cluster's warpgroups wait at. Blocks that stay have slabs of the next tile brought while results leave;
blocks side by side, and warpgroups that take tiles in turn, multiply while others end. Slabs of these are brought as
evenly as they are multiplied, neither in the other's way; results straight from their registers do not leave beside
products. The whole is no shorter than the power of the device allows, which it evens out over many rounds, and than
its bytes take from and to memory.
"""

from __future__ import annotations

from math import ceil

from attrs import frozen

from ptxgen.kernels.choosing.ends import Ends, ends_of
from ptxgen.kernels.choosing.rounds import Round, Rounds, beside_of, rounds_of
from ptxgen.kernels.choosing.work import BYTES_PER_US, Product
from ptxgen.kernels.products.tiling import GROUP_ROWS, MatmulTiling

FLOPS_PER_US = 1e6
ROWS_OF_ZEROS = 3.5
MEETING, MEETING_IN_ROUNDS = 2.5, 4.0
READ_AGAIN, READ_AGAIN_APART = 0.5, 1.1
ALONE = (1, 1)


def met(one: float, other: float, meeting: float = MEETING) -> float:
    """How long two things take that go on together and are in each other's way now and then, the less the more
    `meeting` is."""
    return float((one**meeting + other**meeting) ** (1 / meeting))


@frozen
class Slab:
    """What a slab of one block takes: of the `tensor` cores, `shared` memory and `filling` of its multiprocessor, of
    the L2 cache and, by itself, the `power` of the device, and to come to all blocks of a cluster, which are `apart`.
    """

    tensor: float
    shared: float
    filling: float
    power: float
    l2: float
    apart: float = 0.0

    def multiplied(self, beside: int) -> float:
        """What it takes to multiply the slabs of so many blocks of a multiprocessor."""
        return beside * max(self.tensor, self.shared)

    def brought(self, beside: int, active: int) -> float:
        """What it takes to bring them, and those of so many of the device."""
        return max(beside * self.filling, active * self.l2) + self.apart


@frozen
class Spent:
    """A round: all slabs `multiplied`, with results that left `ended`, all slabs `brought` and results taken, and all
    slabs as their `latency` allows; whether it goes on `evenly`."""

    multiplied: float
    ended: float
    brought: float
    latency: float
    evenly: bool

    @property
    def whole(self) -> float:
        """All of it, as what is brought goes on beside the rest."""
        if self.evenly:
            return max(self.ended, self.brought, self.latency)
        return max(met(self.ended, self.brought, MEETING_IN_ROUNDS), self.latency)


@frozen
class Pace:
    """The times of a tiling's parts: `beside` blocks are on a multiprocessor at once (warpgroups that take tiles in
    turn), in `rounds`; what a `slab` of a block takes, and what the `ends` of its tiles."""

    product: Product
    tiling: MatmulTiling
    by_groups: bool
    beside: int
    rounds: Rounds
    ends: Ends
    slab: Slab

    def walked(self, tiling: MatmulTiling) -> Pace:
        """The pace of the same tile where other blocks walk the tiles."""
        rounds, slab, ends = self.rounds, self.slab, self.ends
        if tiling.cluster != self.tiling.cluster:
            rounds = rounds_of(self.product, tiling, self.beside)
            slab = _slab(self.product, tiling, by_groups=self.by_groups)
            ends = ends_of(self.product, tiling, rounds)
        return Pace(self.product, tiling, self.by_groups, self.beside, rounds, ends, slab)

    @property
    def microseconds(self) -> float:
        """All of it."""
        return self.beginning + met(self.powered(self.inside(self.worked_off())), self.memory)

    def inside(self, worked: tuple[tuple[int, Spent], ...]) -> float:
        """What the rounds take where power is no matter."""
        return sum(count * each.whole for count, each in worked) + self.tail

    def powered(self, inside: float) -> float:
        """What they take with the power that there is."""
        return met(inside, self.power, MEETING_IN_ROUNDS)

    @property
    def power(self) -> float:
        """What all products take as the power of the device allows them."""
        return self.rounds.tiles * ceil(self.product.sizes.k / self.tiling.k) * self.slab.power

    def worked_off(self) -> tuple[tuple[int, Spent], ...]:
        """Rounds alike: how many, and what each takes."""
        found: list[tuple[int, Spent]] = []
        for each in self.rounds.each:
            again = each.count if found else each.count - 1
            if not found:
                found.append((1, self.spent(each, first=True)))
            if again:
                found.append((again, self.spent(each, first=False)))
        return tuple(found)

    def spent(self, of: Round, *, first: bool) -> Spent:
        """What a round takes. Each block multiplies its share of the time and then ends, while others multiply. Where
        blocks stay, slabs are brought meanwhile but for the first round; others begin anew."""
        beside, active, ends = of.beside, of.active, self.ends
        each, brought = self.slab.multiplied(beside), self.slab.brought(beside, active)
        lost = of.slabs * self.lost(beside)
        multiplied = of.slabs * each + lost
        latency = of.slabs * self.latency(beside, max(each, brought)) + lost
        waited = max(of.slabs * brought + lost, latency)
        stays = self.tiling.workers is not None
        own = (multiplied if stays and not first else max(multiplied, waited)) / beside + ends.end
        if not stays and not first:
            own += self.product.processor.block
        left = beside * ends.leaving + (multiplied if self.takes_turns(beside) and not self.tiling.drain else 0.0)
        ended = max(multiplied, left, own)
        return Spent(multiplied, ended, self.brought(of) + lost, latency, self.takes_turns(beside))

    def takes_turns(self, beside: int) -> bool:
        """Whether the warpgroups of a block that have a tile each take turns with others."""
        return self.tiling.turns and beside > 1

    def brought(self, of: Round) -> float:
        """What it takes to bring the slabs of a round, while results pass the L2 cache too."""
        slab, filled = self.slab, of.beside * self.slab.filling
        taken = of.active * (of.slabs * slab.l2 + self.ends.taken)
        return max(of.slabs * filled, taken) + of.slabs * slab.apart

    def latency(self, beside: int, slowest: float) -> float:
        """What a slab takes at least where the ring is too short for its copies to be there in time."""
        fetch = self.product.processor.fetch
        if self.by_groups or self.tiling.boxed:
            return (self._in_turn(beside) * fetch + self.slab.apart + 2 * slowest) / self.tiling.depth
        return (fetch + slowest) / max(1, self.tiling.depth - 1)

    def lost(self, beside: int) -> float:
        """What is lost at each slab."""
        row = self.product.processor
        if not self.by_groups:
            return row.boxed_slab if self.tiling.boxed else row.warp_slab
        apart = self.tiling.units * self.slab.apart if self.tiling.turns else 0.0
        return self._in_turn(beside) * (row.slab * (self.tiling.group_rows // GROUP_ROWS) + apart)

    def _in_turn(self, beside: int) -> int:
        return beside if self.tiling.turns else 1

    @property
    def tail(self) -> float:
        """What the last of several blocks side by side takes to end, and what blocks wait that pass sums on."""
        return self.ends.once + (self.ends.end if self.rounds.each[0].beside > 1 else 0.0)

    @property
    def beginning(self) -> float:
        """Launch, and the first slab, which is there as a whole before anything is multiplied."""
        row, first = self.product.processor, self.rounds.each[0]
        meeting = row.cluster if self.tiling.cluster != ALONE else 0.0
        walking = 0.0 if self.tiling.workers is None else row.walk
        return row.launch + row.fetch + self.slab.brought(first.beside, first.active) + meeting + walking

    @property
    def memory(self) -> float:
        """What the bytes take that cross the memory's pins: operands once, again for each round whose blocks see more
        than the cache holds, and results. Half of what is seen again is held, but where blocks take tiles in turn and
        share rows, which come apart from those that share columns with them."""
        product, sizes, row = self.product, self.product.sizes, self.product.processor
        once = product.operand_bytes
        if once <= row.l2_bytes // 2:
            return product.least_memory
        blocks, parts = self.rounds.blocks, self.rounds.parts
        most = min(blocks, self.rounds.usable * self.beside)
        tiles = min(most, self.rounds.tiles)
        down = min(ceil(sizes.m / self.tiling.i), max(1, self.tiling.raster.group))
        seen = (down * self.tiling.i + ceil(tiles / down) * self.tiling.j) * sizes.k * product.width
        again = blocks / most * min(seen * (most / tiles) / parts, once)
        share = READ_AGAIN_APART if self.tiling.turns and self.tiling.cluster[1] > 1 else READ_AGAIN
        return product.least_memory + max(0.0, share * again - once) / (row.memory_rate * BYTES_PER_US)


def pace_of(product: Product, tiling: MatmulTiling) -> Pace:
    """The pace of a tiling for arguments of which the facts allow what it asks for."""
    by_groups = product.has_groups and tiling.fits_warpgroups
    beside = beside_of(product, tiling, by_groups=by_groups)
    rounds = rounds_of(product, tiling, beside)
    ends, slab = ends_of(product, tiling, rounds), _slab(product, tiling, by_groups=by_groups)
    return Pace(product, tiling, by_groups, beside, rounds, ends, slab)


def _slab(product: Product, tiling: MatmulTiling, *, by_groups: bool) -> Slab:
    """What a slab of a block takes."""
    row, sizes, length = product.processor, product.sizes, tiling.k * product.width
    (rows, columns), (of_a, of_b) = tiling.cluster, product.lines
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
        l2=(down * of_a.shared(columns, row) + across * of_b.shared(rows, row)) * length / (row.l2_rate * BYTES_PER_US),
        apart=row.cluster_slab if tiling.cluster != ALONE else 0.0,
    )
