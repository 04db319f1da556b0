"""How long a product takes by a tiling, told without running it, and what it waits for (`pace.py`)."""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.pace import Pace, met, pace_of
from ptxgen.kernels.choosing.processors import Processor
from ptxgen.kernels.choosing.work import product_of
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.tiling import MatmulTiling


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
    return estimate_of(pace_of(product_of(spec, target, sizes, processor), tiling))


def explain(found: Estimate, sizes: Sizes) -> str:
    """An estimate in lines: what each bound takes, and the tiles."""
    lines = [
        f"{sizes.m} x {sizes.n} x {sizes.k}: {found.microseconds:.1f} us by {found.tiling}",
        f"  {found.tiles} tiles, {found.at_once} at once, {found.rounds} rounds; mostly {found.dominant.value}",
    ]
    return "\n".join([*lines, *(f"  {micro:9.2f} us  {bound.value}" for bound, micro in found.shares)])


def estimate_of(pace: Pace) -> Estimate:
    """What a pace comes to, and of each round what is slower alone with what that does not hide."""
    worked, beginning, rounds = pace.worked_off(), pace.beginning, pace.rounds
    inside, (multiplying, bringing) = pace.inside(worked), waiting(pace)
    bounds = (Bound.BEGINNING, multiplying, bringing, Bound.LATENCY, Bound.RESULTS, Bound.MEMORY)
    shares = dict.fromkeys(bounds, 0.0)
    for count, each in worked:
        if each.whole == each.latency or each.brought > each.ended:
            shares[Bound.LATENCY if each.whole == each.latency else bringing] += count * each.whole
            continue
        shares[multiplying] += count * each.multiplied
        shares[Bound.RESULTS] += count * (each.ended - each.multiplied)
        shares[bringing] += count * (each.whole - each.ended)
    shares[Bound.RESULTS] += pace.tail
    powered = pace.powered(inside)
    together = met(powered, pace.memory)
    if pace.memory > powered:
        shares = {Bound.BEGINNING: 0.0, Bound.MEMORY: together}
    elif pace.power > inside:
        shares = {Bound.BEGINNING: 0.0, Bound.POWER: powered, Bound.MEMORY: together - powered}
    else:
        shares |= {Bound.POWER: powered - inside, Bound.MEMORY: together - powered}
    shares[Bound.BEGINNING] = beginning
    return Estimate(
        microseconds=beginning + together,
        shares=tuple(shares.items()),
        tiles=rounds.blocks,
        at_once=min(rounds.blocks, rounds.usable * pace.beside),
        rounds=sum(each.count for each in rounds.each),
        tiling=pace.tiling,
    )


def waiting(pace: Pace) -> tuple[Bound, Bound]:
    """What multiplying waits for in the first round, and bringing."""
    slab, first = pace.slab, pace.rounds.each[0]
    beside, active = first.beside, first.active
    multiplied = {
        Bound.TENSOR: beside * slab.tensor,
        Bound.SHARED: beside * slab.shared,
    }
    brought = {Bound.L2: active * slab.l2, Bound.FILLING: beside * slab.filling}
    return max(multiplied, key=lambda each: multiplied[each]), max(brought, key=lambda each: brought[each])
