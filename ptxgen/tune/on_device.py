"""Candidates of a shape gated and timed on the GPU of this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from isa.targets import target as target_named
from ptxgen.derive import SumOrder
from ptxgen.errors import DriverError, LaunchError, PtxgenError
from ptxgen.kernels.generated import GeneratedKernel
from ptxgen.kernels.matmul import Matmul
from ptxgen.kernels.matmul_compute import MatmulSpec
from ptxgen.kernels.matmul_menu import Sizes
from ptxgen.kernels.processors import Processor
from ptxgen.kernels.views import DTYPES
from ptxgen.plan import Fact
from ptxgen.runtime import Graph, elapsed_ms
from ptxgen.testing import Bounded
from ptxgen.tune.cases import Case, sizes_around, wanted
from ptxgen.tune.gate import Gate, Refusal, Sample, Stage, Timing
from ptxgen.tune.making import Made
from ptxgen.tune.measuring import POISON_BYTE, Bench, bench, outputs, turns
from ptxgen.tune.subjects import OnDevice
from ptxgen.tune.tuner import Verdict

QUICK_TURNS, TURNS, NEAR = 3, 15, 1.25
SAMPLED_ROWS, CASES_KEPT = 16, 256
REPLAYS = 10
Truth = tuple[Mapping[str, Bounded], ...]


@lru_cache(maxsize=CASES_KEPT)
def case_of(spec: MatmulSpec, target: str, sizes: Sizes, orders: tuple[SumOrder, ...], facts: tuple[Fact, ...]) -> Case:
    """A case, held with what it must give."""
    return Case(spec, target, sizes, orders, facts)


@frozen
class OnGpu:
    """Gates and times on device 0 of the process: first every stage that needs no time, then a few turns of all that
    passed, then many of those not far from the best, whose times pass the gate too."""

    processor: Processor
    turns: int = TURNS
    seed: int = 0

    def measure(self, spec: MatmulSpec, target: str, sizes: Sizes, made: Sequence[Made]) -> tuple[Verdict, ...]:
        """What becomes of each candidate."""
        found: dict[int, Verdict] = {}
        here = bench(spec, sizes, seed=self.seed)
        graphs: dict[int, Graph] = {}
        for number, each in enumerate(made):
            verdict = self.gated(spec, target, sizes, each)
            if isinstance(verdict, Refusal):
                found[number] = verdict
                continue
            try:
                graphs[number] = here.graph(verdict)
            except (DriverError, LaunchError) as error:
                found[number] = Refusal(Stage.LAUNCH, str(error))
        quick = dict(zip(graphs, turns(tuple(graphs.values()), QUICK_TURNS, len(here.sets)), strict=True))
        least = min(quick.values(), default=0.0)
        final = [number for number in graphs if quick[number] <= NEAR * least]
        slow = [number for number in graphs if number not in final]
        times = dict(zip(final, turns([graphs[n] for n in final], self.turns, len(here.sets)), strict=True))
        truth: Truth | None = None
        for number in (*final, *slow):
            micro = times.get(number, quick[number])
            timing = timed(here, graphs[number], micro, self.processor)
            if number in times:
                truth = truth or truths(here, target, made[number].orders)
                timing = evolve(timing, samples=tuple(samples(here, truth)))
            gate = Gate(spec, (), self.processor)
            found[number] = gate.judge_time(timing) or timing
        return tuple(found[number] for number in range(len(made)))

    def gated(self, spec: MatmulSpec, target: str, sizes: Sizes, made: Made) -> Refusal | GeneratedKernel:
        """The kernel on the device, or the stage that it does not pass."""
        if made.doubts:
            return Refusal(Stage.PROOF, made.doubts[0])
        kernel = made.kernel
        numerics = target_named(target).name.rstrip("af")
        cases = tuple(
            case_of(spec, numerics, each, made.orders, made.wanted.facts)
            for each in sizes_around(made.wanted.tiling, made.wanted.facts, 2 if spec.batched else 1)
        )
        try:
            if made.cubin is not None:
                kernel.take(made.cubin)
            refused = Gate(spec, cases, self.processor).judge_results(OnDevice(made, kernel))
        except PtxgenError as error:
            return Refusal(Stage.BUILD, str(error))
        return refused or kernel


def timed(here: Bench, graph: Graph, micro: float, processor: Processor) -> Timing:
    """A time with what events and the host's clock saw of the same replays, over poisoned results."""

    def replays() -> None:
        for _ in range(REPLAYS):
            graph()

    here.poison()
    begun = perf_counter()
    (spanned,) = elapsed_ms(replays, repeats=1, warmups=0, stream=graph.stream, device=here.device)
    wall = 1e6 * (perf_counter() - begun)
    cold = here.byte_count > 2 * processor.l2_bytes
    return Timing(here.sizes, micro, REPLAYS * len(here.sets), 1e3 * spanned, wall, cold)


def places(rows: int) -> list[int]:
    """The rows that are sampled, the first and the last among them."""
    return sorted({int(place) for place in np.linspace(0, rows - 1, SAMPLED_ROWS)})


def truths(here: Bench, target: str, orders: tuple[SumOrder, ...]) -> Truth:
    """What sampled rows of the first set and of the last must be."""
    rows = places(here.sizes.m)
    stated, found = Matmul(here.spec).stated, []
    for arrays in (here.sets[0], here.sets[-1]):
        held: dict[str, NDArray[Any]] = {}
        for name, array in arrays.items():
            if name in outputs(here.spec):
                continue
            values = array.to_numpy()
            for axis, extent in enumerate(stated.array(name).extents):
                values = np.take(values, rows, axis) if extent.names == ("M",) else values
            held[name] = np.ascontiguousarray(values)
        sizes = evolve(here.sizes, m=len(rows))
        found.append(wanted(here.spec, sizes, held, target_named(target).name.rstrip("af"), orders))
    return tuple(found)


def samples(here: Bench, truth: Truth) -> Iterator[Sample]:
    """What replays over poisoned results left, in the first set and in the last."""
    rows = places(here.sizes.m)
    for arrays, exact in zip((here.sets[0], here.sets[-1]), truth, strict=True):
        unwritten, excess = 0, 0.0
        for name, bound in exact.items():
            values = arrays[name].to_numpy()
            poison = int.from_bytes(bytes([POISON_BYTE] * values.itemsize), "little")
            unwritten += int((values.view(f"u{values.itemsize}") == poison).sum())
            excess = max(excess, bound.excess(np.take(values, rows, values.ndim - 2).astype(DTYPES[bound.element])))
        yield Sample(unwritten, excess)
