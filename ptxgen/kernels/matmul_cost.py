"""How long a product takes by a tiling, told without running it.

A multiprocessor works off its tiles in rounds, one for each time that all blocks which run at once take a tile. A
round is a slab after the other, each as long as the slowest of what it asks for (products of the tensor cores, reads of
shared memory, bytes from the L2 cache, latency of copies where the ring is too short), and an end in which results
leave. The whole is no shorter than its bytes take from memory and than the power of the device allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from math import ceil

from attrs import define, frozen

from isa.limits import Limits, limits
from isa.targets import target as target_named
from ptxgen.kernels.epilogue import Beta, Bias, Keep, Residual
from ptxgen.kernels.generations import has_warpgroups
from ptxgen.kernels.matmul_compute import MatmulSpec
from ptxgen.kernels.matmul_menu import Sizes, registers_of, shared_bytes
from ptxgen.kernels.matmul_plan import GROUP_ROWS, ROLE_REGISTERS, MatmulTiling, loading_warps
from ptxgen.kernels.processors import Processor

BYTES_PER_US = 1e6
FLOPS_PER_US = 1e6
REGISTER_UNIT, KEPT_BYTES = 8, 1024
LINE_BYTES, LINES_CUT, ROWS_OF_ZEROS = 128, 2.0, 3.5
MEETING = 4.0


class Bound(Enum):
    """What a product waits for."""

    TENSOR = "products of the tensor cores"
    SHARED = "reads of shared memory"
    L2 = "bytes from the L2 cache"
    FILLING = "bytes into a multiprocessor"
    LATENCY = "latency of copies"
    RESULTS = "ends of tiles, where results leave"
    BEGINNING = "launch and first copies"
    MEMORY = "bytes of the memory"
    POWER = "power of the device"


@frozen
class Estimate:
    """The microseconds of a product, the share of each bound in them, and how its tiles fall into rounds."""

    microseconds: float
    shares: tuple[tuple[Bound, float], ...]
    tiles: int
    at_once: int
    rounds: int
    tiling: MatmulTiling

    @property
    def dominant(self) -> Bound:
        """The bound that takes most."""
        return max(self.shares, key=lambda share: share[1])[0]

    def __str__(self) -> str:
        return f"{self.microseconds:.1f} us, mostly {self.dominant.value}: {self.tiling}"


def estimate(spec: MatmulSpec, target: str, sizes: Sizes, tiling: MatmulTiling, processor: Processor) -> Estimate:
    """The estimate for arguments of which the facts allow what the tiling asks for."""
    return Pace(spec, target, sizes, tiling, processor).whole


def explain(found: Estimate, sizes: Sizes) -> str:
    """An estimate in lines: what each bound takes, and the tiles."""
    lines = [
        f"{sizes.m} x {sizes.n} x {sizes.k}: {found.microseconds:.1f} us by {found.tiling}",
        f"  {found.tiles} tiles, {found.at_once} at once, {found.rounds} rounds; mostly {found.dominant.value}",
    ]
    return "\n".join([*lines, *(f"  {micro:9.2f} us  {bound.value}" for bound, micro in found.shares)])


@define(slots=False, frozen=True)
class Pace:
    """The times of a tiling's parts, in microseconds."""

    spec: MatmulSpec
    target: str
    sizes: Sizes
    tiling: MatmulTiling
    processor: Processor

    @cached_property
    def by_groups(self) -> bool:
        """Whether warpgroups multiply."""
        return has_warpgroups(self.target) and self.tiling.fits_warpgroups

    @cached_property
    def tiles(self) -> int:
        """Tiles of the result, whole clusters of them."""
        rows, columns = self.tiling.cluster
        down = ceil(ceil(self.sizes.m / self.tiling.i) / rows) * rows
        return self.sizes.batches * down * ceil(ceil(self.sizes.n / self.tiling.j) / columns) * columns

    @cached_property
    def slabs(self) -> int:
        """Slabs of a tile."""
        return ceil(self.sizes.k / self.tiling.k)

    @cached_property
    def beside(self) -> int:
        """Blocks that a multiprocessor holds at once, by shared memory, registers and warps; of a block whose
        warpgroups take tiles in turn, those."""
        if self.tiling.turns:
            return self.tiling.units
        room = limits(target_named(self.target))
        warps = self.tiling.warps + loading_warps(self.tiling, self.target)
        held = shared_bytes(self.spec, self.tiling, by_groups=self.by_groups)
        by_shared = room.shared_bytes_per_sm // (held + KEPT_BYTES)
        return max(
            1,
            min(
                by_shared,
                room.registers_per_sm // (self._registers(room, warps) * 32 * warps),
                room.warps_per_sm // warps,
            ),
        )

    def _registers(self, room: Limits, warps: int) -> int:
        if warps % 4 == 0 and warps > self.tiling.warps and self.tiling.warps // 4 in ROLE_REGISTERS:
            return room.registers_per_sm // (32 * warps) // REGISTER_UNIT * REGISTER_UNIT
        return min(
            255, -(-registers_of(self.spec, self.tiling, by_groups=self.by_groups) // REGISTER_UNIT) * REGISTER_UNIT
        )

    @cached_property
    def usable(self) -> int:
        """Multiprocessors that whole clusters reach; those of a part beyond its last whole cluster are idle."""
        count = self.tiling.cluster[0] * self.tiling.cluster[1]
        return self.processor.sms if count <= 2 else self.processor.sms_in_fours // count * count

    def slab(self, beside: int, active: int) -> Iterator[tuple[Bound, float]]:
        """What a slab of each of `beside` blocks of a multiprocessor takes, where `active` blocks are at work."""
        tiling, clocks = self.tiling, self.processor.clocks
        width = self.spec.input.byte_count
        flops = self.processor.flops(self.spec.input) * (1 if self.by_groups else self._share_of_warps)
        worked = 2 * tiling.i * tiling.j * tiling.k
        power = self.processor.sustained * self.processor.flops(self.spec.input) / self.processor.flops_per_clock
        rows, columns = tiling.cluster
        down, across = min(tiling.i, self.sizes.m), min(tiling.j, self.sizes.n)
        brought = (down / columns * self._lines("A") + across / rows * self._lines("B")) * tiling.k * width
        beyond = (tiling.i - down) / columns + (tiling.j - across) / rows
        filled = down + across + ROWS_OF_ZEROS * beyond
        found = {
            Bound.TENSOR: beside * worked / flops / clocks,
            Bound.POWER: active * worked / (power * FLOPS_PER_US),
            Bound.SHARED: beside * self._read_bytes / self.processor.shared_bytes / clocks,
            Bound.L2: active * brought / (self.processor.l2_rate * BYTES_PER_US),
            Bound.FILLING: beside * filled * tiling.k * width / self.processor.fill_bytes / clocks,
        }
        yield from found.items()
        if self.by_groups or tiling.boxed:
            in_turn = beside if tiling.turns else 1
            yield Bound.LATENCY, (in_turn * self.processor.fetch + 2 * max(found.values())) / tiling.depth
        else:
            yield Bound.LATENCY, (self.processor.fetch + max(found.values())) / max(1, tiling.depth - 1)

    @cached_property
    def _share_of_warps(self) -> float:
        """The share of the tensor rate that warps reach, more where they copy nothing themselves."""
        return self.processor.share_of_boxed if self.tiling.boxed else self.processor.share_of_warps

    @cached_property
    def _lost(self) -> float:
        """What each slab costs beside what it asks for."""
        row = self.processor
        return row.slab if self.by_groups else row.boxed_slab if self.tiling.boxed else row.warp_slab

    def _lines(self, name: str) -> float:
        """Lines of the cache that are read for each one of an operand's, two where its rows begin within them."""
        along_k = self.spec.layout.b_transposed if name == "B" else not self.spec.layout.a_transposed
        across = self.sizes.m if name == "A" else self.sizes.n
        width = self.spec.input.byte_count
        return 1.0 if (self.sizes.k if along_k else across) * width % LINE_BYTES == 0 else LINES_CUT

    @cached_property
    def _read_bytes(self) -> float:
        """Bytes of shared memory that the products of one slab read."""
        tiling, width = self.tiling, self.spec.input.byte_count
        if self.by_groups:
            across = tiling.i if tiling.swap else tiling.j
            return tiling.warps // 4 // tiling.units * (GROUP_ROWS + across) * tiling.k * width
        rows, columns = tiling.warp_tile
        return tiling.warps * (rows + columns) * tiling.k * width

    @cached_property
    def end(self) -> float:
        """What it takes until the results of a tile have left."""
        spec, row = self.spec, self.processor
        written = spec.output.byte_count + sum(
            piece.element.byte_count for piece in spec.epilogue if isinstance(piece, (Beta, Keep, Residual))
        )
        rate = row.out_bytes if self.tiling.drain else row.direct_bytes
        return row.tile + self.tiling.i * self.tiling.j * written / rate / row.clocks

    def round(self, beside: int, active: int) -> dict[Bound, float]:
        """What a round of so many blocks takes, under the bound that each part of it has. Of tiles that are taken in
        turn one ends while the others are multiplied."""
        bounds = dict(self.slab(beside, active))
        slowest = max(bounds, key=lambda bound: bounds[bound])
        in_turn = beside if self.tiling.turns else 1
        lost = self._lost * in_turn
        share = self.processor.share_in_turn if self.tiling.turns else 1.0
        multiplied = self.slabs * (bounds[slowest] / share + lost)
        hidden = multiplied / beside
        if self.tiling.turns:
            return {slowest: multiplied, Bound.RESULTS: beside * max(0.0, self.end - hidden)}
        return {slowest: multiplied, Bound.RESULTS: self.end + (beside - 1) * max(0.0, self.end - hidden)}

    @cached_property
    def rounds(self) -> tuple[tuple[int, int, int], ...]:
        """Rounds alike: how many, and the blocks of a multiprocessor and of all in each."""
        most = self.usable * self.beside
        full, rest = divmod(self.tiles, most)
        found = [(full, self.beside, most)] if full else []
        return (*found, *([(1, ceil(rest / self.usable), rest)] if rest else []))

    @cached_property
    def memory(self) -> float:
        """What the bytes take that cross the memory's pins: operands once, again for each round whose blocks see more
        than the cache holds, and results."""
        sizes, width = self.sizes, self.spec.input.byte_count
        once = (sizes.m + sizes.n) * sizes.k * width * sizes.batches
        most = min(self.tiles, self.usable * self.beside)
        down = min(ceil(sizes.m / self.tiling.i), max(1, self.tiling.raster.group))
        across = ceil(most / down)
        seen = (down * self.tiling.i + across * self.tiling.j) * sizes.k * width
        again = self.tiles / most * min(seen, once)
        brought = once if once <= self.processor.l2_bytes // 2 else max(once, again / 2)
        out = sizes.m * sizes.n * sizes.batches * self.spec.output.byte_count
        beside = sum(
            sizes.m * sizes.n * sizes.batches * piece.element.byte_count
            for piece in self.spec.epilogue
            if isinstance(piece, (Beta, Keep, Residual))
        )
        bias = sum(sizes.n * piece.element.byte_count for piece in self.spec.epilogue if isinstance(piece, Bias))
        return (brought + out + beside + bias) / (self.processor.memory_rate * BYTES_PER_US)

    @cached_property
    def beginning(self) -> float:
        """Launch, and the first slab, which is there as a whole before anything is multiplied; blocks that do not stay
        begin again in each round."""
        row = self.processor
        again = sum(count for count, _, _ in self.rounds) - 1 if self.tiling.workers is None else 0
        met = row.cluster if self.tiling.cluster != (1, 1) else 0.0
        _, beside, active = self.rounds[0]
        bounds = dict(self.slab(beside, active))
        first = max(bounds[Bound.FILLING], bounds[Bound.L2])
        return row.launch + row.fetch + first + met + again * row.block

    @cached_property
    def whole(self) -> Estimate:
        """The estimate."""
        shares: dict[Bound, float] = {Bound.BEGINNING: self.beginning}
        for count, beside, active in self.rounds:
            for bound, micro in self.round(beside, active).items():
                shares[bound] = shares.get(bound, 0.0) + count * micro
        if self.tiling.turns:
            shares[Bound.RESULTS] = shares.get(Bound.RESULTS, 0.0) + self.end
        inside = sum(shares.values()) - self.beginning
        together = (inside**MEETING + self.memory**MEETING) ** (1 / MEETING)
        if self.memory > inside:
            shares = {Bound.BEGINNING: self.beginning, Bound.MEMORY: together}
        else:
            shares[Bound.MEMORY] = together - inside
        return Estimate(
            self.beginning + together,
            tuple(shares.items()),
            self.tiles,
            min(self.tiles, self.usable * self.beside),
            sum(count for count, _, _ in self.rounds),
            self.tiling,
        )
