"""What never ends, dies or faults is refused by itself: whatever comes behind it is judged as if it had not been."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from attrs import evolve

from ptxgen.emit import Listing
from ptxgen.errors import InternalError
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.runtime import Assembler, Cubin
from ptxgen.tune.apart import Apart, Tell, Unanswered
from ptxgen.tune.gate import Refusal, Stage, Timing
from ptxgen.tune.making import Made, Wanted
from ptxgen.tune.on_device import QUICK_TURNS, TURNS, OnGpu
from ptxgen.tune.tuner import Verdict
from tests.tune import stations
from tests.tune.spoiled import DIRECT, FACTS, SPEC, TARGET, device, good
from tests.tune.stations import Fake

SIZES = Sizes(1024, 1024, 1024)
DEADLINE = 5.0


def candidate(depth: int) -> Made:
    return Made(Wanted(SPEC, TARGET, evolve(DIRECT, depth=depth), FACTS), good(DIRECT).kept)


def assembled(depth: int) -> Made:
    """A candidate with machine code from elsewhere."""
    known = Assembler(Path("ptxas"), "12.9", (8, 8), frozenset((TARGET,)))
    return evolve(candidate(depth), cubin=Cubin(b"", TARGET, known, (), {}, Listing("", ()), ""))


def measured(*depths: int, candidate: Callable[[int], Made] = candidate) -> tuple[Verdict, ...]:
    """As `ptxgen tune` has it: in a process of an executor, which has one below it."""
    asking = OnGpu(device(), deadline=DEADLINE, station=Fake)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        made = tuple(map(candidate, depths))
        return pool.submit(asking.measure, SPEC, TARGET, SIZES, made).result(timeout=300)


REFUSED = {
    stations.HANGS: Refusal(Stage.LAUNCH, f"72 x 8 x 56: did not end in {DEADLINE:g} s", unended=True),
    stations.HANGS_AT_SHAPE: Refusal(Stage.LAUNCH, f"72 x 8 x 56: did not end in {DEADLINE:g} s", unended=True),
    stations.DIES: Refusal(Stage.LAUNCH, "72 x 8 x 56: the process that ran it ended (7)"),
    stations.DIES_IN_TURNS: Refusal(Stage.WORK, "72 x 8 x 56: the process that ran it ended (9)"),
    stations.FAULTS: Refusal(Stage.LAUNCH, "an illegal address"),
}


def test_what_hangs_and_what_faults_is_refused_alone() -> None:
    hung, faulty, fine = measured(stations.HANGS, stations.FAULTS, stations.GOOD)
    assert (hung, faulty) == (REFUSED[stations.HANGS], REFUSED[stations.FAULTS])
    assert isinstance(fine, Timing)
    assert str(hung) == "launch: 72 x 8 x 56: did not end in 5 s"


@pytest.mark.slow
def test_none_of_them_holds_up_or_spoils_another() -> None:
    order = (
        stations.GOOD, stations.HANGS, stations.FAULTS, stations.QUICKEST, stations.DIES, stations.HANGS_AT_SHAPE,
        stations.DIES_IN_TURNS,
    )  # fmt: skip
    found = dict(zip(order, measured(*order), strict=True))
    for depth in (stations.GOOD, stations.QUICKEST):
        verdict = found[depth]
        assert isinstance(verdict, Timing)
        assert verdict.microseconds == stations.TIMES[depth]
    assert {depth: found[depth] for depth in REFUSED} == REFUSED


@pytest.mark.slow
def test_whoever_may_be_the_best_was_timed_by_many_turns_and_looked_at() -> None:
    """The quickest cheats: what was far from it is near the best that is left."""
    cheat, good_one, slow = measured(stations.CHEATS, stations.GOOD, stations.SLOW)
    assert isinstance(cheat, Refusal)
    assert cheat.stage is Stage.WORK
    assert isinstance(good_one, Timing)
    assert isinstance(slow, Timing)
    assert (good_one.launches, slow.launches) == (TURNS, QUICK_TURNS)


def test_the_best_is_one_as_a_call_loads_it() -> None:
    """Machine code from elsewhere is quicker than what the driver's compiler makes, or refused only there."""
    order = (stations.GOOD, stations.SLOW_IN_CALLS, stations.REFUSED_IN_CALLS, stations.SLOW)
    good_one, slow_in_calls, refused, slow = measured(*order, candidate=assembled)
    assert refused == Refusal(Stage.BUILD, "the driver's compiler spills")
    assert [each.microseconds for each in (good_one, slow_in_calls, slow) if isinstance(each, Timing)] == [
        stations.TIMES[stations.GOOD], stations.IN_CALLS, stations.TIMES[stations.SLOW],
    ]  # fmt: skip
    assert isinstance(good_one, Timing)
    assert good_one.launches == TURNS


def test_what_else_the_machine_does_is_not_held_against_a_candidate() -> None:
    """Clocks that disagree for a while, and work of the host that takes longer than a launch may."""
    assert stations.HOST_WORK > DEADLINE
    disturbed, long = measured(stations.DISTURBED, stations.WORKS_LONG)
    assert isinstance(disturbed, Timing), disturbed
    assert isinstance(long, Timing), long


class Echo:
    """Answers what it is told to do."""

    def answer(self, question: Any, tell: Tell) -> Any:
        tell(f"about to {question}")
        match question:
            case "sleep":
                time.sleep(1e6)
            case "a nap":
                time.sleep(2.0)
            case "end":
                os._exit(3)
            case "mistake":
                raise ZeroDivisionError("a mistake of ours")
        return question, os.getpid()


def test_a_process_is_started_anew_and_says_where_it_stopped() -> None:
    apart = Apart(Echo)
    said, first = apart.ask("something", 60.0)
    assert said == "something"
    assert apart.ask("something", 60.0) == (said, first)
    with pytest.raises(Unanswered, match=r"did not end in 0\.5 s") as slept:
        apart.ask("sleep", 0.5)
    assert (slept.value.last, slept.value.seconds) == ("about to sleep", 0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    with pytest.raises(Unanswered, match="ended") as ended:
        apart.ask("end", 60.0)
    assert (ended.value.last, ended.value.seconds, ended.value.exit_code) == ("about to end", None, 3)
    assert apart.ask("something", 60.0)[1] != first
    with pytest.raises(InternalError, match="ZeroDivisionError: a mistake of ours"):
        apart.ask("mistake", 60.0)
    assert apart.starts == 3
    assert apart.process is None


def test_an_answer_to_a_question_that_was_interrupted_is_given_to_no_other() -> None:
    apart = Apart(Echo)
    _, first = apart.ask("something", 60.0)
    Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        apart.ask("a nap", 60.0)
    said, second = apart.ask("something", 60.0)
    assert said == "something"
    assert second != first
    apart.stop()
