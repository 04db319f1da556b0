"""The search: candidates by the model, made in parallel, gated and timed, the best kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from typing import Protocol

from attrs import field, frozen

from ptxgen.kernels.matmul_choice import ranked
from ptxgen.kernels.matmul_compute import MatmulSpec
from ptxgen.kernels.matmul_cost import Estimate
from ptxgen.kernels.matmul_menu import Sizes
from ptxgen.kernels.matmul_plan import MatmulTiling, default_tiling
from ptxgen.kernels.processors import Processor
from ptxgen.tune.calibration import facts_for
from ptxgen.tune.gate import Refusal, Timing
from ptxgen.tune.keeping import Best, Kept
from ptxgen.tune.making import Made, Wanted, make
from ptxgen.tune.tilings import plain

CUT, OF_A_BLOCK = 1.6, 4
Verdict = Refusal | Timing


class Measurer(Protocol):
    """Gates and times the candidates of one shape together, in whatever process an executor gives it: it is sent there,
    so it can be pickled."""

    def measure(self, spec: MatmulSpec, target: str, sizes: Sizes, made: Sequence[Made]) -> tuple[Verdict, ...]:
        """What becomes of each candidate."""


@frozen
class Trial:
    """A candidate, what the model expects of it, and what became of it."""

    estimate: Estimate
    verdict: Verdict = field(repr=False)

    @property
    def tiling(self) -> MatmulTiling:
        """The candidate."""
        return self.estimate.tiling

    @property
    def microseconds(self) -> float | None:
        """Its time; None where it was refused."""
        return self.verdict.microseconds if isinstance(self.verdict, Timing) else None


@frozen
class Tuning:
    """What was found for a shape: every candidate, those that the model likes best first."""

    sizes: Sizes
    trials: tuple[Trial, ...] = field(repr=False)

    @property
    def best(self) -> Trial | None:
        """The quickest that is good; None where none is."""
        good = [trial for trial in self.trials if trial.microseconds is not None]
        return min(good, key=lambda trial: trial.microseconds or 0.0, default=None)

    @property
    def pick(self) -> Trial:
        """What the model would have taken without running anything."""
        return min(self.trials, key=lambda trial: trial.estimate.microseconds)


@frozen(eq=False)
class Tuner:
    """A search on one kind of device: `processor` is its row, `kept` what was found before (None: nothing is kept),
    `count` how many candidates of a shape are made. `makers` make kernels, `measurers` gate and time them: any
    executors, the same one perhaps. `make` is what they are sent to make one."""

    processor: Processor
    measurer: Measurer
    makers: Executor
    measurers: Executor
    kept: Kept | None = None
    count: int = 24
    tell: Callable[[str, Sizes, int], None] = lambda what, sizes, number: None
    make: Callable[[Wanted], Made] = make

    def tune(self, spec: MatmulSpec, target: str, shapes: Iterable[Sizes]) -> Iterator[Tuning]:
        """What is found for each shape, as soon as it is found. `tell` hears of each step: "made" and "measured" with
        the shape and how many candidates that were."""
        asked = {sizes: self.candidates(spec, target, sizes) for sizes in dict.fromkeys(shapes)}
        making: dict[Wanted, Future[Made]] = {}
        for sizes, found in asked.items():
            for each in found:
                wanted = Wanted(spec, target, each.tiling, facts_for(spec, sizes, each.tiling, target))
                if wanted not in making:
                    making[wanted] = self.makers.submit(self.make, wanted)
        measuring: dict[Future[tuple[Verdict, ...]], tuple[Sizes, tuple[Estimate, ...]]] = {}
        for sizes, found in asked.items():
            made = []
            for each in found:
                wanted = Wanted(spec, target, each.tiling, facts_for(spec, sizes, each.tiling, target))
                made.append(making[wanted].result())
                self.tell("made", sizes, 1)
            future = self.measurers.submit(self.measurer.measure, spec, target, sizes, tuple(made))
            measuring[future] = (sizes, found)
        for future in as_completed(measuring):
            sizes, found = measuring[future]
            tuning = Tuning(sizes, tuple(map(Trial, found, future.result())))
            self.tell("measured", sizes, len(found))
            if self.kept is not None and tuning.best is not None and tuning.best.microseconds is not None:
                self.kept.keep(spec, target, Best(sizes, tuning.best.tiling, tuning.best.microseconds))
            yield tuning

    def candidates(self, spec: MatmulSpec, target: str, sizes: Sizes) -> tuple[Estimate, ...]:
        """The candidates of a shape: the default one, what is kept of the shape most like it with its neighbours, which
        differ in one choice, and the rest as the model ranks them, so long as it expects no more than CUT times the
        best, few of any one block."""
        order = ranked(spec, target, sizes, self.processor)
        by_tiling = {each.tiling: each for each in order}
        near = None if self.kept is None else self.kept.nearest(spec, target, sizes)
        taken = [by_tiling[tiling] for tiling in (default_tiling(spec, target),) if tiling in by_tiling]
        taken.append(order[0])
        if near is not None:
            taken += [each for each in order if differences(near.tiling, each.tiling) == 0]
            taken += [each for each in order if differences(near.tiling, each.tiling) == 1][: self.count // 3]
        blocks: dict[tuple[int, int, int], int] = {}
        for each in order:
            block = (each.tiling.i, each.tiling.j, each.tiling.k)
            blocks[block] = blocks.get(block, 0) + 1
            if blocks[block] <= OF_A_BLOCK and each.microseconds <= CUT * order[0].microseconds:
                taken.append(each)
        return tuple(dict.fromkeys(taken))[: self.count]


def differences(one: MatmulTiling, other: MatmulTiling) -> int:
    """In how many choices two tilings differ; a count of warps goes with the extent that it serves."""
    told, against = plain(one), plain(other)
    differing = {name for name in told if told[name] != against[name]}
    if {"i", "warps"} <= differing:
        differing -= {"warps"}
    return len(differing)
