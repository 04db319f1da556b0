"""The GPU of the process apart: candidates are loaded there, launched, timed and looked at."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from time import perf_counter
from typing import Any, assert_never

from attrs import define, evolve, field, frozen

from isa.targets import target as target_named
from ptxgen.derive import SumOrder
from ptxgen.errors import DriverError, InternalError, PtxgenError
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import Processor
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.plan import Fact
from ptxgen.runtime import DeviceArray, Graph, elapsed_ms
from ptxgen.tune.apart import Tell
from ptxgen.tune.cases import Case, sizes_around
from ptxgen.tune.checking import Adding, Checker
from ptxgen.tune.gate import Gate, Refusal, Stage, Timing, told
from ptxgen.tune.making import Made
from ptxgen.tune.measuring import Bench, bench, turns
from ptxgen.tune.questions import At, Checked, Finished, Gated, Looked, Question, Shape, Sound, Tried, Turned
from ptxgen.tune.subjects import OnDevice

CASES_KEPT, REPLAYS = 256, 10


@lru_cache(maxsize=CASES_KEPT)
def case_of(spec: MatmulSpec, target: str, sizes: Sizes, orders: tuple[SumOrder, ...], facts: tuple[Fact, ...]) -> Case:
    """A case, held with what it must give."""
    return Case(spec, target, sizes, orders, facts)


@frozen(eq=False)
class Held:
    """A candidate that was launched at the shape: it is loaded as long as its launches over all sets are; how it
    adds."""

    kernel: GeneratedKernel
    graph: Graph
    adding: Adding


@define(eq=False)
class Station:
    """Answers on device 0. What the driver or a launch refuses is a Refusal at the stage that was begun last."""

    shape: Shape | None = None
    here: Bench | None = None
    checker: Checker | None = None
    loaded: dict[int, GeneratedKernel] = field(factory=dict)
    held: dict[int, Held] = field(factory=dict)
    at: At = field(factory=lambda: At(Stage.BUILD))

    def answer(self, question: Question, tell: Tell) -> Any:
        """The answer to a question."""

        def begin(stage: Stage, what: str = "") -> None:
            self.at = At(stage, what)
            tell(self.at, self.at.seconds)

        try:
            match question:
                case Shape():
                    begin(Stage.LAUNCH, told(question.sizes))
                    return self.begun(question)
                case Gated(number=number, made=made):
                    return self.gated(number, made, begin)
                case Tried(number=number, made=made):
                    begin(Stage.BUILD)
                    kernel = self.kernel(number, made)
                    begin(Stage.LAUNCH, told(self.known.sizes))
                    return self.tried(number, made, kernel)
                case Turned(numbers=numbers, count=count):
                    begin(Stage.WORK, told(self.known.sizes))
                    sets = len(self.bench.sets)
                    return turns([self.held[number].graph for number in numbers], count, sets)
                case Finished(number=number, microseconds=microseconds):
                    begin(Stage.WORK, told(self.known.sizes))
                    return timed(self.bench, self.held[number].graph, microseconds, self.known.processor)
                case Looked(number=number, timing=timing):
                    begin(Stage.WORK, told(self.known.sizes))
                    return self.looked(number, timing)
                case Sound():
                    return sound()
                case _:
                    assert_never(question)
        except PtxgenError as error:
            what = f"{self.at.what}: " if self.at.what else ""
            return Refusal(self.at.stage, f"{what}{error}")

    @property
    def known(self) -> Shape:
        """The shape that was told."""
        if self.shape is None:
            raise InternalError("no shape was told")
        return self.shape

    @property
    def bench(self) -> Bench:
        """The operands of the shape."""
        if self.here is None:
            raise InternalError("no shape was told")
        return self.here

    @property
    def numerics(self) -> str:
        """The target whose arithmetic is known."""
        return target_named(self.known.target).name.rstrip("af")

    def begun(self, shape: Shape) -> None:
        """Operands for a shape, in the place of those of another."""
        self.held.clear()
        self.loaded.clear()
        self.here = self.checker = None
        self.shape = shape
        self.here = bench(shape.spec, shape.sizes, seed=shape.seed)
        self.checker = Checker(self.here, self.numerics, shape.tile_rows)

    def gated(self, number: int, made: Made, begin: Any) -> Refusal | None:
        """The stage of those that need no time that a candidate does not pass."""
        if made.doubts:
            return Refusal(Stage.PROOF, made.doubts[0])
        spec, facts = self.known.spec, made.wanted.facts
        around = sizes_around(made.wanted.tiling, facts, 2 if spec.batched else 1)
        cases = tuple(case_of(spec, self.numerics, sizes, made.orders, facts) for sizes in around)
        gate = Gate(spec, cases, self.known.processor, at=begin)
        begin(Stage.BUILD)
        self.loaded.pop(number, None)
        return gate.judge_results(OnDevice(made, self.kernel(number, made)))

    def kernel(self, number: int, made: Made) -> GeneratedKernel:
        """A candidate loaded, by the machine code that an assembler made of it elsewhere, else as a call loads it; it
        stays loaded as long as its shape is asked about."""
        if number not in self.loaded:
            kernel = made.kernel
            if made.cubin is not None:
                with suppress(DriverError):
                    kernel.take(made.cubin)
            kernel.on_device(0)
            self.loaded[number] = kernel
        return self.loaded[number]

    def tried(self, number: int, made: Made, kernel: GeneratedKernel) -> None:
        """Launches a candidate once over all sets, and holds it."""
        graph, blocks = self.bench.recorded(kernel)
        graph()
        graph.wait()
        self.held[number] = Held(kernel, graph, Adding.of(made.orders, blocks))

    def looked(self, number: int, timing: Timing) -> Checked:
        """What becomes of a candidate by its times and by what it left."""
        assert self.checker is not None
        samples, spoiled = self.checker.check(number, self.held[number].adding)
        whole = evolve(timing, samples=samples)
        gate = Gate(self.known.spec, (), self.known.processor)
        return Checked(gate.judge_time(whole) or whole, spoiled)


def sound() -> bool:
    """Whether the device still does as it is told: after a fault its driver refuses everything in this process."""
    try:
        DeviceArray.empty(1).fill(0)
    except DriverError:
        return False
    return True


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
