"""The gate that every candidate passes before its time counts: stages in a fixed order, each refusal with its stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ptxgen.errors import PtxgenError
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import Processor
from ptxgen.kernels.launching.views import DTYPES
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.testing import Bounded
from ptxgen.tune.cases import INPUTS, POISONS, Case

SPILLED_BYTES = 64
CLOCKS_AGREE, TIMES_AGREE = 1.05, 1.25
LEAST_WALL_US, WALL_MOST = 200.0, 2.0
FIRST, SECOND = INPUTS


class Stage(Enum):
    """What is asked of a candidate, in this order.

    PROOF: the checker proves what synchronises it. BUILD: it is assembled, nothing asynchronous is taken back, hardly a
    register spills. LAUNCH: it runs without a fault. WRITTEN: of poisoned results every element. REFERENCE: within the
    rounding of float64, ragged shapes too. GUARDS: nothing beside its results. REPEATS: the same bits again. FRESH: of
    changed inputs the results change with them. FLOOR: no time below what the device can do. WORK: the launches that
    were timed did the work, and took what events and the host saw of them.
    """

    PROOF = "proof"
    BUILD = "build"
    LAUNCH = "launch"
    WRITTEN = "written"
    REFERENCE = "reference"
    GUARDS = "guards"
    REPEATS = "repeats"
    FRESH = "fresh"
    FLOOR = "floor"
    WORK = "work"


@frozen
class Refusal:
    """The stage that a candidate does not pass, and why; `unended` where it held the device until its time was over."""

    stage: Stage
    reason: str
    unended: bool = False

    def __str__(self) -> str:
        return f"{self.stage.value}: {self.reason}"


@frozen
class Built:
    """What an assembler made: bytes spilled, and its notes of asynchronous work that it takes back."""

    spills: int = 0
    notes: tuple[str, ...] = ()


@frozen(eq=False)
class Sample:
    """The results of a launch that was timed: elements that are still poisoned in all of them, how far a part of them
    is from float64 in shares of its bound, and how many elements have other bits than those of another kernel that adds
    in the same order."""

    unwritten: int
    excess: float
    differing: int = 0


@frozen(eq=False)
class Timing:
    """The microseconds of one launch; then of so many launches one behind the other, over results that were poisoned,
    the microseconds that events around all of them saw and those that the host saw, whether memory had to be read for
    each, and samples of what they left."""

    sizes: Sizes
    microseconds: float
    launches: int
    spanned_microseconds: float
    wall_microseconds: float
    cold: bool
    samples: tuple[Sample, ...] = field(repr=False, default=())


class Subject(Protocol):
    """A candidate as the gate sees it, on the simulator or a device alike."""

    def proof(self) -> tuple[str, ...]:
        """What its checker finds; nothing where it is proved."""

    def build(self) -> Built:
        """What an assembler makes of it; AssemblerError or DriverError where it is refused."""

    def launch(self, arrays: Mapping[str, NDArray[Any]], scalars: Mapping[str, float]) -> None:
        """Runs it on these arrays, results in place; PtxgenError for a fault. A result lies in a larger array, its
        `base`, of which everything else must stay."""

    def timed(self) -> Timing | None:
        """How long it takes, asked last; None where nothing is timed."""


@frozen(eq=False)
class Run:
    """What launches of a case left: of the first inputs, of a repetition over another poison, and of the second inputs
    over what was there."""

    case: Case
    results: Mapping[str, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]
    touched: Mapping[str, int]
    inputs_kept: bool


@frozen(eq=False)
class Gate:
    """The gate for candidates of a product: the cases that they are run on, and the device whose floor counts."""

    spec: MatmulSpec
    cases: tuple[Case, ...] = field(repr=False)
    processor: Processor
    repeats: int = 2
    spilled_bytes: int = SPILLED_BYTES
    at: Callable[[Stage, str], None] = field(default=lambda stage, what: None, repr=False)
    """Is told of each stage before a candidate is asked for it, and of which case."""

    def judge(self, subject: Subject) -> Refusal | Timing | None:
        """The first stage that the candidate does not pass; else its time, None where nothing is timed."""
        refused = self.judge_results(subject)
        if refused is not None:
            return refused
        timing = subject.timed()
        return timing if timing is None else self.judge_time(timing) or timing

    def judge_results(self, subject: Subject) -> Refusal | None:
        """The first stage that a candidate does not pass before it is timed."""
        try:
            refused = self._before(subject)
        except PtxgenError as error:
            return Refusal(Stage.BUILD, str(error))
        if refused is not None:
            return refused
        runs = []
        for case in self.cases:
            self.at(Stage.LAUNCH, told(case.sizes))
            try:
                runs.append(run(subject, case, self.repeats))
            except PtxgenError as error:
                return Refusal(Stage.LAUNCH, f"{told(case.sizes)}: {error}")
        return next(self._looked(runs), None)

    def _looked(self, runs: Sequence[Run]) -> Iterator[Refusal]:
        for stage, look in LOOKS:
            for each in runs:
                self.at(stage, told(each.case.sizes))
                yield from (Refusal(stage, f"{told(each.case.sizes)}: {reason}") for reason in look(each))

    def judge_time(self, timing: Timing) -> Refusal | None:
        """The stage that a time does not pass."""
        faults = timing_faults(timing, self.spec, self.processor)
        return next((Refusal(stage, reason) for stage, reason in faults), None)

    def _before(self, subject: Subject) -> Refusal | None:
        self.at(Stage.PROOF, "")
        findings = subject.proof()
        if findings:
            return Refusal(Stage.PROOF, findings[0])
        self.at(Stage.BUILD, "")
        built = subject.build()
        if built.notes:
            return Refusal(Stage.BUILD, built.notes[0])
        if built.spills > self.spilled_bytes:
            return Refusal(Stage.BUILD, f"{built.spills} bytes spilled, at most {self.spilled_bytes} may be")
        return None


def told(sizes: Sizes) -> str:
    """Sizes as text."""
    return f"{sizes.m} x {sizes.n} x {sizes.k}" + (f", {sizes.batches} of them" if sizes.batches > 1 else "")


def run(subject: Subject, case: Case, repeats: int = 2) -> Run:
    """The launches of a case. What the launch raises is raised."""
    placed = case.placed()
    results = {name: each for name, each in placed.items() if name not in case.inputs[FIRST]}
    inputs = {name: each for name, each in placed.items() if name not in results}
    left: dict[str, list[NDArray[Any]]] = {name: [] for name in results}
    touched, kept = dict.fromkeys(results, 0), True

    def once() -> bool:
        before = {name: each.memory.copy() for name, each in inputs.items()}
        subject.launch({name: each.window for name, each in placed.items()}, case.scalars)
        for name, each in results.items():
            left[name].append(each.bits())
            touched[name] += each.touched()
        return all(np.array_equal(inputs[name].memory, memory) for name, memory in before.items())

    for name, each in inputs.items():
        each.hold(case.inputs[FIRST][name])
    for turn in range(repeats):
        for each in results.values():
            each.poison(POISONS[min(turn, 1)])
        kept &= once()
    for name, each in inputs.items():
        each.hold(case.inputs[SECOND][name])
    kept &= once()
    return Run(case, {name: (bits[0], _another(bits[:-1]), bits[-1]) for name, bits in left.items()}, touched, kept)


def _another(bits: list[NDArray[Any]]) -> NDArray[Any]:
    """The first repetition that differs from the first launch, else the last."""
    return next((each for each in bits[1:] if (each != bits[0]).any()), bits[-1])


def unwritten(found: Run) -> Iterator[str]:
    """Elements that hold the poison of both launches."""
    for name, (one, other, _) in found.results.items():
        patterns = [int.from_bytes(bytes([byte] * one.itemsize), "little") for byte in POISONS]
        count = int(((one == patterns[0]) & (other == patterns[1])).sum())
        if count:
            yield f"{count} of {one.size} elements of {name} were never written"


def wrong(found: Run) -> Iterator[str]:
    """Results of the first inputs beyond what rounding explains."""
    for name, (one, _, _) in found.results.items():
        yield from _beyond(name, one, found.case.wanted[FIRST][name])


def strayed(found: Run) -> Iterator[str]:
    """Writes beside the results, or to inputs."""
    for name, count in found.touched.items():
        if count:
            yield f"{count} bytes around {name} were written"
    if not found.inputs_kept:
        yield "an input was written"


def unlike(found: Run) -> Iterator[str]:
    """Bits that differ between launches of the same inputs."""
    for name, (one, other, _) in found.results.items():
        count = int((one != other).sum())
        if count:
            yield f"{count} of {one.size} elements of {name} have other bits the next time"


def stale(found: Run) -> Iterator[str]:
    """Results of other inputs that are not theirs."""
    for name, (_, other, last) in found.results.items():
        same = int((last == other).sum())
        for reason in _beyond(name, last, found.case.wanted[SECOND][name]):
            yield f"after the inputs changed, {reason} ({same} elements as before)"


LOOKS: tuple[tuple[Stage, Callable[[Run], Iterator[str]]], ...] = (
    (Stage.WRITTEN, unwritten), (Stage.REFERENCE, wrong), (Stage.GUARDS, strayed), (Stage.REPEATS, unlike),
    (Stage.FRESH, stale),
)  # fmt: skip


def _beyond(name: str, bits: NDArray[Any], truth: Bounded) -> Iterator[str]:
    excess = truth.excess(bits.view(DTYPES[truth.element]))
    if not excess <= 1.0:
        yield f"{name} is {excess:.3g} times as far from float64 as rounding explains"


def timing_faults(timing: Timing, spec: MatmulSpec, processor: Processor) -> Iterator[tuple[Stage, str]]:
    """A time that no device of this kind could have reached, or that the launches did not take, or in which they did
    not do their work."""
    sizes, micro = timing.sizes, timing.microseconds
    count = sizes.batches
    flops = 2.0 * sizes.m * sizes.n * sizes.k * count
    moved = count * (
        (sizes.m * spec.inputs[0].byte_count + sizes.n * spec.inputs[1].byte_count) * sizes.k
        + sizes.m * sizes.n * spec.output.byte_count
    )
    floor = processor.floor(spec.input, flops, moved if timing.cold else 0.0)
    if not micro >= floor:
        yield (
            Stage.FLOOR,
            f"{micro:.2f} us for {told(sizes)}, which no {processor.name} does in less than {floor:.2f} us",
        )
    yield from ((Stage.WORK, reason) for reason in disagreements(timing))
    for number, sample in enumerate(timing.samples):
        if sample.unwritten:
            yield Stage.WORK, f"timed launch {number} left {sample.unwritten} elements unwritten"
        if not sample.excess <= 1.0:
            yield (
                Stage.WORK,
                f"timed launch {number} is {sample.excess:.3g} times as far from float64 as rounding explains",
            )
        if sample.differing:
            yield (
                Stage.WORK,
                f"{sample.differing} elements of timed launch {number} have other bits than sums in the same order",
            )


def disagreements(timing: Timing) -> Iterator[str]:
    """Where the clocks of the device and of the host, and the time of one launch, do not tell of the same launches."""
    count, micro = timing.launches, timing.microseconds
    spanned, wall = timing.spanned_microseconds, timing.wall_microseconds
    if not spanned <= wall * CLOCKS_AGREE:
        yield f"events saw {spanned:.1f} us between {count} launches that took {wall:.1f} us of the host's clock"
    if wall > LEAST_WALL_US and wall > WALL_MOST * spanned:
        yield f"the host saw {wall:.1f} us for {count} launches, events {spanned:.1f} us"
    if not max(micro * count, spanned) <= TIMES_AGREE * min(micro * count, spanned):
        yield f"{count} launches that were said to take {micro:.2f} us took {spanned:.1f} us one behind the other"
