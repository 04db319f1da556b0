"""What a run writes down: findings, and counts per instruction."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from attrs import define, evolve, field, frozen
from numpy.typing import NDArray

from ptxgen.errors import Finding, Severity
from ptxgen.ir import Instruction
from ptxgen.simulate.traffic import GlobalTraffic, SharedTraffic

Array: TypeAlias = NDArray[Any]


class Check(Enum):
    """What a run looks for. Bounds and alignment are always checked."""

    RACES = "race"
    UNINITIALISED_MEMORY = "uninitialised.memory"
    UNINITIALISED_REGISTERS = "uninitialised.register"
    TRAFFIC = "traffic"


ALL_CHECKS: frozenset[Check] = frozenset(Check)
NO_CHECKS: frozenset[Check] = frozenset()


@frozen
class Fault(Finding):
    """A finding of a run: the instruction by its place in the kernel from 0 and its text, the first thread concerned
    (its CTA and itself, each x, y, z), the address it used, and how often it happened. `other` is the place of another
    instruction concerned, such as the earlier one of a race."""

    statement: int = -1
    text: str = ""
    cta: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    address: int | None = None
    count: int = 1
    other: int | None = None


@define(eq=False)
class Journal:
    """Findings, each kind once per instruction, and what each instruction cost."""

    instructions: tuple[Instruction, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    warps_per_cta: int
    checks: frozenset[Check]
    cluster: tuple[int, int, int] = (1, 1, 1)
    faults: dict[tuple[str, int], Fault] = field(factory=dict)
    shared: dict[int, SharedTraffic] = field(factory=dict)
    global_: dict[int, GlobalTraffic] = field(factory=dict)
    warps: Array = field(init=False)
    lanes: Array = field(init=False)
    scheduled: int = 0
    printed: list[str] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.warps = np.zeros(len(self.instructions) + 1, np.int64)
        self.lanes = np.zeros(len(self.instructions) + 1, np.int64)

    def executed(self, start: int, stop: int, census: tuple[int, int]) -> None:
        """Instructions `start` to `stop` ran for so many warps and live lanes."""
        self.warps[start:stop] += census[0]
        self.lanes[start:stop] += census[1]
        self.scheduled += census[0] * (stop - start)

    def fault(
        self,
        code: str,
        index: int,
        message: Callable[[], str],
        *,
        thread: int | None = None,
        address: int | None = None,
        count: int = 1,
        related: int | None = None,
    ) -> None:
        """Note a finding at instruction `index`; `thread` is its number in the grid, `related` another instruction."""
        known = self.faults.get((code, index))
        if known is not None:
            self.faults[(code, index)] = evolve(known, count=known.count + count)
            return
        instruction = self.instructions[index] if index < len(self.instructions) else None
        cta, place = self.place(thread) if thread is not None else (None, None)
        what = message()
        text = str(instruction) if instruction is not None else "the end of the kernel"
        where = "" if thread is None else f"; thread {place} of CTA {cta}"
        others = () if related is None else (self._related(related),)
        self.faults[(code, index)] = Fault(
            code, Severity.ERROR, f"{text} {what}{where}", instruction.origin if instruction is not None else None,
            None, others, index, text, cta, place, address, count, related,
        )  # fmt: skip

    def _related(self, index: int) -> tuple[str, Any]:
        instruction = self.instructions[index]
        return f"the other access: {instruction} (statement {index})", instruction.origin

    def place(self, thread: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """The CTA and the thread, each (x, y, z), of a thread's number in the grid, which counts whole warps, and CTAs
        cluster by cluster.
        """
        warp, lane = divmod(thread, 32)
        cta, column = divmod(warp, self.warps_per_cta)
        return cta_of(cta, self.grid, self.cluster), spread(column * 32 + lane, self.block)


def cta_of(number: int, grid: tuple[int, int, int], cluster: tuple[int, int, int]) -> tuple[int, int, int]:
    """The (x, y, z) of a CTA's number in the grid, which counts cluster by cluster."""
    nx, ny, nz = cluster
    cluster_number, rank = divmod(number, nx * ny * nz)
    x, y, z = spread(cluster_number, (grid[0] // nx, grid[1] // ny, grid[2] // nz))
    own = spread(rank, cluster)
    return x * nx + own[0], y * ny + own[1], z * nz + own[2]


def spread(number: int, extents: tuple[int, int, int]) -> tuple[int, int, int]:
    """A linear number as (x, y, z), x fastest."""
    rest, x = divmod(number, extents[0])
    z, y = divmod(rest, extents[1])
    return x, y, z
