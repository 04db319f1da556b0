"""Candidates of a shape gated and timed on the GPU of this process, by a process apart that launches them.

None of them can hold up what follows: each has a deadline, behind which, as after a fault, the process that launched it
is ended and another one goes on with the rest. They are launched by the machine code that an assembler made of them
elsewhere, many at a time; of the best the driver's compiler makes its own, as it does in a call, and that is gated and
timed anew, until the best is one whose statement is of what a call runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from attrs import define, evolve, field, frozen

from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import Processor
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.tune.apart import Answering, Apart, Unanswered
from ptxgen.tune.gate import Refusal, Stage, Timing, disagreements
from ptxgen.tune.making import Made
from ptxgen.tune.questions import (
    HOST_SECONDS,
    At,
    Checked,
    Finished,
    Gated,
    Looked,
    Question,
    Shape,
    Sound,
    Tried,
    Turned,
)
from ptxgen.tune.station import Station
from ptxgen.tune.tuner import Verdict

QUICK_TURNS, TURNS, NEAR, ALIKE = 3, 15, 1.25, 1.03
DEADLINE, SOUND_SECONDS = 30.0, 30.0
CLOCK_TRIES = 5
LEAST_ROWS = 16
SPOILED = "its rows that were looked at are good, others are not, as one shows that adds in the same order"


@cache
def process_for(station: Callable[[], Answering]) -> Apart:
    """The process of a kind of station, one for each process that asks."""
    return Apart(station)


@frozen
class OnGpu:
    """Gates and times on device 0 of this process, in a process below it: first every stage that needs no time, then a
    launch at the shape itself, a few turns of all that passed, and many of those not far from the best; of all the
    results are looked at; then the same of the best as a call loads it. A candidate that holds the device longer than
    `deadline` seconds at one of these is refused there. `station` answers in the process below, so this one must be
    allowed to have some (of Dask's workers those whose `distributed.worker.daemon` is false)."""

    processor: Processor
    turns: int = TURNS
    seed: int = 0
    deadline: float = DEADLINE
    station: Callable[[], Answering] = Station

    def measure(self, spec: MatmulSpec, target: str, sizes: Sizes, made: Sequence[Made]) -> tuple[Verdict, ...]:
        """What becomes of each candidate."""
        rows = min((each.wanted.tiling.i for each in made), default=LEAST_ROWS)
        shape = Shape(spec, target, sizes, self.processor, max(LEAST_ROWS, rows), self.seed)
        apart = process_for(self.station)
        with apart.turn:
            return Session(self, apart, shape, list(made)).verdicts()


@define(eq=False)
class Session:
    """The candidates of a shape, and what is known of them so far; what the process apart holds of them."""

    asking: OnGpu
    apart: Apart
    shape: Shape
    made: list[Made]
    found: dict[int, Verdict] = field(factory=dict)
    held: set[int] = field(factory=set)
    begun_at: int | None = None

    def verdicts(self) -> tuple[Verdict, ...]:
        """What becomes of each, one after another."""
        for number in range(len(self.made)):
            self.gate(number)
        self.hold(self.open())
        quick = self.timed(self.open(), QUICK_TURNS)
        while near := self._near(quick):
            for number, micro in self.timed(near, self.asking.turns).items():
                self.finish(number, micro)
        for number in self.open():
            self.finish(number, quick[number])
        while (best := self.best()) is not None and self.made[best].cubin is not None:
            self.confirm(best)
        return tuple(self.found[number] for number in range(len(self.made)))

    def gate(self, number: int) -> None:
        """Asks a candidate for every stage that needs no time."""
        if number not in self.found and self.begin():
            refused = self.ask(Gated(number, self.made[number]), self.asking.deadline)
            if isinstance(refused, Refusal):
                self.found[number] = refused

    def best(self) -> int | None:
        """The quickest of those that are good."""
        good = {number: verdict for number, verdict in self.found.items() if isinstance(verdict, Timing)}
        return min(good, key=lambda number: good[number].microseconds, default=None)

    def confirm(self, number: int) -> None:
        """Judges a candidate anew, as a call loads it, and in the same turns those that are as quick."""
        known = {each: verdict.microseconds for each, verdict in self.found.items() if isinstance(verdict, Timing)}
        alike = [each for each in known if known[each] <= ALIKE * known[number]]
        self.made[number] = evolve(self.made[number], cubin=None)
        self.held.discard(number)
        for each in alike:
            del self.found[each]
        self.gate(number)
        for each, micro in self.timed(alike, self.asking.turns).items():
            self.finish(each, micro)

    def open(self) -> tuple[int, ...]:
        """Those of which nothing is settled yet."""
        return tuple(number for number in range(len(self.made)) if number not in self.found)

    def _near(self, quick: dict[int, float]) -> tuple[int, ...]:
        """Those not far from the quickest that is not refused, of which nothing is settled yet."""
        good = [number for number in quick if not isinstance(self.found.get(number), Refusal)]
        least = min((quick[number] for number in good), default=0.0)
        return tuple(number for number in good if number not in self.found and quick[number] <= NEAR * least)

    def finish(self, number: int, micro: float) -> None:
        """Settles what becomes of a candidate by what its launches leave."""
        answer = self.finished(number, micro)
        if answer is None:
            return
        if not isinstance(answer, Refusal):
            answer = self.ask(Looked(number, answer), HOST_SECONDS)
        if isinstance(answer, Refusal):
            self.found[number] = answer
            return
        assert isinstance(answer, Checked)
        self.found[number] = answer.verdict
        if answer.spoiled is not None:
            self.found[answer.spoiled] = Refusal(Stage.WORK, SPOILED)

    def finished(self, number: int, micro: float) -> Timing | Refusal | None:
        """The time of a candidate with what the clocks saw of its launches, anew where somebody else's work was between
        them, so that they disagree; None where it is refused on the way."""
        answer = self._finished(number, micro)
        for _ in range(CLOCK_TRIES - 1):
            if not isinstance(answer, Timing) or not any(disagreements(answer)):
                break
            micro = self.timed((number,), self.asking.turns).get(number, micro)
            answer = self._finished(number, micro)
        return answer

    def _finished(self, number: int, micro: float) -> Timing | Refusal | None:
        self.hold((number,))
        if number in self.found:
            return None
        answer: Timing | Refusal = self.ask(Finished(number, micro), self.asking.deadline)
        return answer

    def timed(self, numbers: Iterable[int], count: int) -> dict[int, float]:
        """The microseconds of each that is not refused: of turns together, and where they do not end, of each alone."""
        wanted = tuple(numbers)
        self.hold(wanted)
        here = tuple(number for number in wanted if number not in self.found)
        if not here:
            return {}
        answer = self.ask(Turned(here, count), self.asking.deadline * len(here))
        if not isinstance(answer, Refusal):
            return dict(zip(here, answer, strict=True))
        if len(here) == 1:
            self.found[here[0]] = answer
            return {}
        return {number: micro for each in here for number, micro in self.timed((each,), count).items()}

    def hold(self, numbers: Iterable[int]) -> None:
        """Has the process hold these and the shape, but for those that are refused on the way."""
        wanted = tuple(numbers)
        while missing := [each for each in wanted if self._lacks(each) and each not in self.found]:
            number = missing[0]
            if not self.begin():
                return
            refused = self.ask(Tried(number, self.made[number]), self.asking.deadline)
            if isinstance(refused, Refusal):
                self.found[number] = refused
            else:
                self.held.add(number)

    def _lacks(self, number: int) -> bool:
        return self.begun_at != self.apart.starts or self.apart.process is None or number not in self.held

    def begin(self) -> bool:
        """Tells the process of the shape where it does not know it; False where that cannot be, and all that are open
        are refused."""
        if self.begun_at == self.apart.starts and self.apart.process is not None:
            return True
        self.held.clear()
        refused = self.ask(self.shape, HOST_SECONDS)
        if isinstance(refused, Refusal):
            self.found.update(dict.fromkeys(self.open(), refused))
            return False
        self.begun_at = self.apart.starts
        return True

    def ask(self, question: Question, seconds: float) -> Any:
        """The answer, or why there is none. A process whose device no longer does as it is told is ended."""
        try:
            answer = self.apart.ask(question, seconds)
        except Unanswered as error:
            self.apart.stop()
            at = error.last if isinstance(error.last, At) else At(Stage.LAUNCH)
            what = f"{at.what}: " if at.what else ""
            return Refusal(at.stage, f"{what}{error}", unended=error.seconds is not None)
        if isinstance(answer, Refusal) and not self._sound_after(answer):
            self.apart.stop()
        return answer

    def _sound_after(self, refused: Refusal) -> bool:
        """Whether the process can go on: not where a candidate wrote beside its results, for nobody knows where."""
        if refused.stage is Stage.GUARDS:
            return False
        try:
            return bool(self.apart.ask(Sound(), SOUND_SECONDS))
        except Unanswered:
            return False
