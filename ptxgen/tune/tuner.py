"""The search: candidates by the model and steps from the best, made in parallel, gated and timed, the best kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from typing import Any, Protocol

from attrs import evolve, field, frozen

from ptxgen.kernels.choosing.choice import ranked
from ptxgen.kernels.choosing.cost import Estimate, estimate
from ptxgen.kernels.choosing.legal import is_legal
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import Processor
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.defaults import default_tiling
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.tune.calibration import facts_for
from ptxgen.tune.gate import Refusal, Timing
from ptxgen.tune.keeping import Best, Kept
from ptxgen.tune.making import Made, Wanted, make
from ptxgen.tune.steps import differences, one_step_from, unlike

CUT, STEPS = 1.6, 3
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
    """What was found for a shape: every candidate."""

    sizes: Sizes
    trials: tuple[Trial, ...] = field(repr=False)

    @property
    def best(self) -> Trial | None:
        """The quickest that is good; None where none is."""
        good = [trial for trial in self.trials if trial.microseconds is not None]
        return min(good, key=lambda trial: trial.microseconds or 0.0, default=None)

    def followed_by(self, later: Tuning) -> Tuning:
        """Both searches of a shape as one; what was measured in both as it was later."""
        again = {trial.tiling for trial in later.trials}
        return Tuning(self.sizes, (*(trial for trial in self.trials if trial.tiling not in again), *later.trials))

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
        """What is found for each shape: candidates of all shapes first, then those that are a step from the best of
        each, which is measured again with them. The best is kept as soon as it was measured, so that whatever ends a
        search leaves what it had found. `tell` hears of it: "made" and "measured" with the shape and how many
        candidates that were. What an executor raises is raised, and what it has not begun is cancelled. ValueError
        for a shape of which there is nothing to multiply."""
        shapes = tuple(shapes)
        for sizes in shapes:
            if min(sizes.m, sizes.n, sizes.k, sizes.batches) < 1:
                raise ValueError(f"a shape that is tuned has sizes of at least 1, got {sizes}")
        orders = {sizes: ranked(spec, target, sizes, self.processor) for sizes in dict.fromkeys(shapes)}
        asked = {sizes: self.candidates(spec, target, sizes, order) for sizes, order in orders.items()}
        making: dict[Wanted, Future[Made]] = {}
        first = {found.sizes: self._keep(spec, target, found) for found in self._measured(spec, target, asked, making)}
        steps = {sizes: self.steps(spec, target, found, orders[sizes]) for sizes, found in first.items()}
        further = {sizes: found for sizes, found in steps.items() if found}
        for sizes in first.keys() - further.keys():
            yield first[sizes]
        for found in self._measured(spec, target, further, making):
            yield self._keep(spec, target, first[found.sizes].followed_by(found))

    def _measured(
        self,
        spec: MatmulSpec,
        target: str,
        asked: Mapping[Sizes, tuple[Estimate, ...]],
        making: dict[Wanted, Future[Made]],
    ) -> Iterator[Tuning]:
        """The candidates of each shape made and measured; what is in `making` is not made again."""
        wanted = {
            sizes: [Wanted(spec, target, each.tiling, facts_for(spec, sizes, each.tiling, target)) for each in found]
            for sizes, found in asked.items()
        }
        new = dict.fromkeys(each for found in wanted.values() for each in found if each not in making)
        making.update((each, self.makers.submit(self.make, each)) for each in new)
        measuring: dict[Future[tuple[Verdict, ...]], Sizes] = {}
        try:
            for sizes, found in wanted.items():
                made = []
                for each in found:
                    made.append(making[each].result())
                    if each in new:
                        self.tell("made", sizes, 1)
                measuring[self.measurers.submit(self.measurer.measure, spec, target, sizes, tuple(made))] = sizes
                for done in [future for future in measuring if future.done()]:
                    yield self._found(measuring.pop(done), asked, done)
            for done in as_completed(measuring):
                yield self._found(measuring[done], asked, done)
        finally:
            begun: tuple[Future[Any], ...] = (*making.values(), *measuring)
            for future in begun:
                future.cancel()

    def _found(
        self, sizes: Sizes, asked: Mapping[Sizes, tuple[Estimate, ...]], done: Future[tuple[Verdict, ...]]
    ) -> Tuning:
        """The candidates of a shape, measured; ValueError where the measurer does not tell of each."""
        self.tell("measured", sizes, len(asked[sizes]))
        verdicts = done.result()
        if len(verdicts) != len(asked[sizes]):
            raise ValueError(f"{sizes} has {len(asked[sizes])} candidates, the measurer told of {len(verdicts)}")
        return Tuning(sizes, tuple(map(Trial, asked[sizes], verdicts)))

    def _keep(self, spec: MatmulSpec, target: str, found: Tuning) -> Tuning:
        """Keeps the best, unless one is kept for the shape that was not measured again beside it."""
        best = found.best
        if self.kept is not None and best is not None and best.microseconds is not None:
            facts = facts_for(spec, found.sizes, best.tiling, target)
            earlier = self.kept.exact(spec, target, found.sizes, facts)
            if earlier is None or any(trial.tiling == earlier.tiling for trial in found.trials):
                self.kept.keep(spec, target, Best(found.sizes, best.tiling, best.microseconds), facts)
        return found

    def candidates(
        self, spec: MatmulSpec, target: str, sizes: Sizes, order: Sequence[Estimate]
    ) -> tuple[Estimate, ...]:
        """The candidates of a shape, of which the model has an order, but for a share STEPS that is left for steps from
        the best of them: the default one, the model's first, what is kept of the shape most like it with what is a step
        from that, and the rest as the model ranks them, so long as it expects no more than CUT times the best, first
        those that are unlike each other and what was taken before."""
        near = None if self.kept is None else self.kept.nearest(spec, target, sizes)
        taken = [each for each in order if each.tiling == default_tiling(spec, target)]
        taken.append(order[0])
        if near is not None:
            if is_legal(spec, target, near.tiling):
                taken.append(estimate(spec, target, sizes, near.tiling, self.processor))
            taken += [each for each in order if differences(near.tiling, each.tiling) == 0]
            taken += [*one_step_from(near.tiling, order)][: self.count // STEPS]
        close = [each for each in (*taken, *order) if each.microseconds <= CUT * order[0].microseconds]
        return tuple(dict.fromkeys((*taken, *unlike(close), *close)))[: self.count - self.count // STEPS]

    def steps(self, spec: MatmulSpec, target: str, found: Tuning, order: Sequence[Estimate]) -> tuple[Estimate, ...]:
        """The best of what was measured, and as many others a step from it as are left to be made, as the model ranks
        them, or with rings half as long, which the menu may not offer; each once, nothing where there are none."""
        best = found.best
        if best is None:
            return ()
        half = evolve(best.tiling, depth=max(2, best.tiling.depth // 2))
        offered = {each.tiling: each for each in (*order, estimate(spec, target, found.sizes, half, self.processor))}
        known = {trial.tiling for trial in found.trials}
        near = [each for each in one_step_from(best.tiling, offered.values()) if each.tiling not in known]
        steps = near[: self.count - len(known)]
        return (best.estimate, *steps) if steps else ()
