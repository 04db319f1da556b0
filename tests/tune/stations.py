"""A device that is none, for the process apart: candidates sleep, end the process, or bring a fault, by their rings."""

from __future__ import annotations

import os
import time
from typing import Any

from attrs import define, field

from ptxgen.tune.apart import Tell
from ptxgen.tune.gate import Refusal, Stage, Timing, disagreements
from ptxgen.tune.making import Made
from ptxgen.tune.questions import At, Checked, Finished, Gated, Looked, Question, Shape, Sound, Tried, Turned

GOOD, QUICKEST, HANGS, DIES, FAULTS, HANGS_AT_SHAPE, DIES_IN_TURNS, CHEATS, SLOW = range(2, 11)
SLOW_IN_CALLS, REFUSED_IN_CALLS, DISTURBED, WORKS_LONG = range(11, 15)
TIMES = {
    GOOD: 100.0, QUICKEST: 99.0, CHEATS: 70.0, SLOW: 200.0, SLOW_IN_CALLS: 80.0, REFUSED_IN_CALLS: 75.0,
    DISTURBED: 100.0, WORKS_LONG: 100.0,
}  # fmt: skip
IN_CALLS, DISTURBANCES, HOST_WORK = 110.0, 3, 8.0


@define
class Fake:
    """Candidates by the slots of their rings; after a fault it refuses everything. Their launches are as many as the
    turns that they were timed by last. Some are other ones as the driver's compiler makes them, without machine code
    from elsewhere; of some the clocks disagree at first, and some the host looks at for long."""

    shape: Shape | None = None
    faulty: bool = False
    held: dict[int, int] = field(factory=dict)
    turns: dict[int, int] = field(factory=dict)
    times: dict[int, float] = field(factory=dict)
    disturbances: int = DISTURBANCES

    def answer(self, question: Question, tell: Tell) -> Any:
        if isinstance(question, Sound):
            return not self.faulty
        tell(At(Stage.WORK if isinstance(question, (Turned, Finished, Looked)) else Stage.LAUNCH, "72 x 8 x 56"))
        if self.faulty:
            return Refusal(Stage.LAUNCH, "the context is gone")
        match question:
            case Shape():
                self.shape, self.held = question, {}
            case Gated(made=made):
                if made.wanted.tiling.depth == WORKS_LONG:
                    tell(At(Stage.REFERENCE, "72 x 8 x 56"), HOST_WORK + 60.0)
                    time.sleep(HOST_WORK)
                return self.gated(made)
            case Tried(number=number, made=made):
                if made.wanted.tiling.depth == HANGS_AT_SHAPE:
                    time.sleep(1e6)
                depth = self.held[number] = made.wanted.tiling.depth
                in_calls = depth == SLOW_IN_CALLS and made.cubin is None
                self.times[number] = IN_CALLS if in_calls else TIMES.get(depth, 0.0)
            case Turned(numbers=numbers, count=count):
                self.turns.update(dict.fromkeys(numbers, count))
                if DIES_IN_TURNS in [self.held[number] for number in numbers]:
                    os._exit(9)
                return tuple(self.times[number] for number in numbers)
            case Finished(number=number, microseconds=micro):
                assert self.shape is not None
                assert self.times[number] == micro
                count, spanned = self.turns[number], micro
                if self.held[number] == DISTURBED and self.disturbances:
                    self.disturbances -= 1
                    spanned = 2 * micro
                return Timing(self.shape.sizes, micro, count, count * spanned, count * spanned, cold=True)
            case Looked(number=number, timing=timing):
                bad = "left poison" if self.held[number] == CHEATS else next(disagreements(timing), "")
                return Checked(Refusal(Stage.WORK, bad) if bad else timing)
        return None

    def gated(self, made: Made) -> Refusal | None:
        match made.wanted.tiling.depth:
            case depth if depth == HANGS:
                time.sleep(1e6)
            case depth if depth == DIES:
                os._exit(7)
            case depth if depth == REFUSED_IN_CALLS and made.cubin is None:
                return Refusal(Stage.BUILD, "the driver's compiler spills")
            case depth if depth == FAULTS:
                self.faulty = True
                return Refusal(Stage.LAUNCH, "an illegal address")
        return None
