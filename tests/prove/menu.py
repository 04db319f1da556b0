"""Plans of all generations that synchronise: products with one block a tile and with blocks that stay, in clusters and
alone, from registers and drained, in one chain and in several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import evolve, frozen

from ptxgen.derive import Derivation, derive
from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan
from ptxgen.kernels.products.epilogue import Residual
from ptxgen.plan import aligned, multiple, sms
from ptxgen.tile import Program
from ptxgen.tile.machine import MachineFault, run
from tests.kernels.clusters import FACTS, memories

TURING = MatmulTiling(i=32, j=32, k=32, warps=1, isolate=False)
AMPERE = MatmulTiling(i=32, j=32, k=32, warps=1, depth=3, isolate=False)
BOXED = MatmulTiling(i=32, j=32, k=32, warps=1, depth=3, isolate=False, boxed=True)
HOPPER = MatmulTiling(i=64, j=16, k=16, warps=4, depth=3, isolate=False)
PAIR = MatmulTiling(i=128, j=16, k=16, warps=8, depth=3, isolate=False)


@frozen
class Planned:
    """A product with a plan that has a name; `tile` are the rows, columns and terms of a block's step."""

    target: str
    tiling: MatmulTiling
    promote: int | None = None
    layout: Layout = Layout.NN
    residual: bool = False

    @property
    def derivation(self) -> Derivation:
        spec = MatmulSpec(self.layout, promote=self.promote, epilogue=(Residual(),) if self.residual else ())
        facts = (*FACTS, multiple("ldr", 8), *aligned("R", bytes=16)) if self.residual else FACTS
        return derive(matmul_plan(matmul_compute(spec), spec, facts, self.tiling, self.target))

    @property
    def slab_counts(self) -> list[int]:
        """0, 1, S - 1, S, S + 1 and 2S + 1; of sums in parts so many a part, and one more or less in all."""
        depth, parts = self.tiling.depth, self.tiling.split
        shared = {parts - 1, parts + 1, parts * (depth + 1) - 1} if parts > 1 else set[int]()
        return sorted(shared | {parts * slabs for slabs in (0, 1, depth - 1, depth, depth + 1, 2 * depth + 1)})

    def run(self, program: Program, slabs: int, tiles: int, seed: int | None = None) -> bytes:
        """So many tiles of so many slabs by one worker, or one cluster of blocks; the result, held against float64."""
        rows, columns = self.tiling.i * self.tiling.cluster[0], self.tiling.j * self.tiling.cluster[1] * tiles
        k = max(0, self.tiling.k * slabs - (8 if slabs else 0))
        arrays, sizes, wanted = memories(self.layout, rows - 8, columns, k)
        if self.residual:
            arrays["R"] = np.random.default_rng(slabs).standard_normal(wanted.shape).astype(np.float16)
            sizes["ldr"], wanted = columns, wanted + arrays["R"]
        walked = program.grid.work_list is not None
        left = run(program, arrays, sizes, seed=seed, workers=program.grid.cluster if walked else None).arrays["D"]
        assert (np.abs(left - wanted) <= 3e-2 + np.abs(wanted) / 1024).all(), "the product is another one"
        return left.tobytes()

    def faults(self, program: Program, slabs: list[int], tiles: int) -> str:
        """The first fault, or nothing."""
        for count in slabs:
            for seed in (None, count):
                try:
                    self.run(program, count, tiles, seed)
                except MachineFault as fault:
                    return fault.code
        return ""


def menu() -> Iterator[tuple[str, Planned]]:
    """Each plan with what is told apart by it."""

    def tiled(base: MatmulTiling, **others: Any) -> MatmulTiling:
        return evolve(base, **others)

    yield "sm_75", Planned("sm_75", TURING)
    yield "sm_75, one slab", Planned("sm_75", tiled(TURING, depth=1, prefetch=False))
    yield "sm_75, drained, full tiles apart", Planned("sm_75", tiled(TURING, drain=16, isolate=True))
    yield "sm_75, walking", Planned("sm_75", tiled(TURING, workers=1))
    yield "sm_80, 3 slabs", Planned("sm_80", AMPERE)
    yield "sm_80, 4 slabs, walking", Planned("sm_80", tiled(AMPERE, depth=4, workers=1))
    yield "sm_80, drained, walking", Planned("sm_80", tiled(AMPERE, drain=16, workers=sms))
    yield "sm_80, chains", Planned("sm_80", AMPERE, promote=32)
    yield "sm_90, boxed", Planned("sm_90", BOXED)
    yield "sm_90, boxed, 2 warps, one slab", Planned("sm_90", tiled(BOXED, j=64, warps=2, depth=1))
    yield "sm_90, boxed, drained, walking", Planned("sm_90", tiled(BOXED, drain=16, workers=1))
    yield "sm_90a, 3 slabs", Planned("sm_90a", HOPPER)
    yield "sm_90a, 2 slabs, none in flight", Planned("sm_90a", tiled(HOPPER, depth=2, prefetch=False))
    yield "sm_90a, two warpgroups", Planned("sm_90a", PAIR)
    yield "sm_90a, walking", Planned("sm_90a", tiled(HOPPER, workers=sms))
    yield "sm_90a, two warpgroups, walking, drained", Planned("sm_90a", tiled(PAIR, workers=sms, drain=16))
    yield "sm_90a, drained", Planned("sm_90a", tiled(HOPPER, drain=16))
    yield "sm_90a, cluster of 2x1", Planned("sm_90a", tiled(HOPPER, cluster=(2, 1)))
    yield "sm_90a, cluster of 1x2, drained", Planned("sm_90a", tiled(HOPPER, cluster=(1, 2), drain=16))
    yield "sm_90a, cluster of 2x1, two warpgroups", Planned("sm_90a", tiled(PAIR, cluster=(2, 1)))
    yield "sm_90a, chains", Planned("sm_90a", HOPPER, promote=16)
    yield "sm_90a, walking clusters of 2x1", Planned("sm_90a", tiled(HOPPER, workers=2, cluster=(2, 1)))
    yield "sm_90a, in turns", Planned("sm_90a", tiled(PAIR, i=64, workers=1, turns=True))
    yield "sm_90a, streamed", Planned("sm_90a", tiled(HOPPER, workers=2, stream=True))
    yield "sm_80, streamed", Planned("sm_80", tiled(AMPERE, workers=2, stream=True))
    yield "sm_90a, in turns, drained", Planned("sm_90a", tiled(PAIR, i=64, workers=1, turns=True, drain=16))
    cut = tiled(HOPPER, j=32, workers=1, drain=16, piecewise=True)
    yield "sm_90a, in pieces", Planned("sm_90a", cut)
    brought = tiled(cut, residual_depth=2, depth=2)
    yield "sm_90a, in pieces, residuals brought ahead", Planned("sm_90a", brought, residual=True)
    turned = tiled(brought, warps=8, turns=True)
    yield "sm_90a, in turns, residuals brought ahead", Planned("sm_90a", turned, residual=True)


def split() -> Iterator[tuple[str, Planned]]:
    """Plans whose blocks share a sum: joined in a cluster, or passed on through memory."""

    def tiled(base: MatmulTiling, **others: Any) -> MatmulTiling:
        return evolve(base, **others)

    yield "sm_90a, 2 parts in a cluster", Planned("sm_90a", tiled(HOPPER, split=2))
    yield "sm_90a, 4 parts in a cluster", Planned("sm_90a", tiled(HOPPER, split=4))
    yield "sm_90a, 2 parts in a cluster of 2x2x1", Planned("sm_90a", tiled(HOPPER, split=2, cluster=(2, 1)))
    yield "sm_90, 2 parts in a cluster", Planned("sm_90", tiled(AMPERE, split=2))
    yield "sm_90a, 3 parts through memory", Planned("sm_90a", tiled(HOPPER, split=3))
    yield "sm_90a, 3 parts through memory, two warpgroups", Planned("sm_90a", tiled(PAIR, split=3))
    yield "sm_90a, 3 parts through memory, drained", Planned("sm_90a", tiled(HOPPER, split=3, drain=16))
    yield "sm_80, 2 parts through memory", Planned("sm_80", tiled(AMPERE, split=2))
