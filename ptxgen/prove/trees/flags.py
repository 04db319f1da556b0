"""Flags in memory by which blocks pass tiles on: whoever waits for a value gets it, from a block that has begun, and a
launch leaves the flags as it found them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ptxgen.errors import Finding, Place, Severity
from ptxgen.prove.trees.execution import Execution, Flag, Flagged

AT_LAUNCH = 0


def flag_faults(run: Execution) -> Iterator[Finding]:
    """What is wrong with each flag (code `synchronisation.passing`, `synchronisation.deadlock` for a value that nobody
    sets). A flag has one value after the other: what sets one is ordered behind what set the one before, and behind
    whoever waits for that."""
    for (flags, tile), flag in run.flags.items():
        name = f"{flags}{{{tile}}}"
        if tile not in run.tiles:
            for passed in (*flag.acquired, *flag.released):
                yield _finding("passing", f"block {passed.block} asks for {name}, a flag that is none", passed.line)
            continue
        for taken in flag.acquired:
            yield from _told_once(run, name, flag, taken)
        values = sorted(flag.released, key=lambda passed: run.happens.past[passed.event].bit_count())
        for first, second in pairwise(values):
            if not run.happens.ordered(first.event, second.event):
                text = f"{name} becomes {first.value} and {second.value}, and nothing tells what comes first"
                yield _finding("passing", text, second.line)
            yield from _missed(run, name, flag, first, second)
        if values and values[-1].value != AT_LAUNCH:
            text = f"{name} is {values[-1].value} when the launch ends, and was {AT_LAUNCH} when it began"
            yield _finding("passing", text, values[-1].line)


def _told_once(run: Execution, name: str, flag: Flag, taken: Flagged) -> Iterator[Finding]:
    """A value that is waited for comes once, from a block of a part before, or of a cluster before: those have begun,
    and end if those before them do."""
    where = f"{run.happens.events[taken.event].label}, for {name} to be {taken.value}"
    told = [passed for passed in flag.released if passed.value == taken.value]
    if taken.value == AT_LAUNCH:
        yield _finding("passing", f"{where}: that it is before anybody has passed the tile on", taken.line)
    elif not told:
        yield _finding("deadlock", f"{where}: no block passes the tile on so", taken.line)
    elif len(told) > 1:
        yield _finding("passing", f"{where}: {len(told)} blocks pass the tile on so", taken.line)
    elif _part(run, told[0]) >= _part(run, taken):
        order = "part by part" if run.program.grid.parts > 1 else "in the order of their numbers"
        text = f"waits for block {told[0].block}, which may not have begun: blocks begin {order}"
        yield _finding("passing", f"{where}: block {taken.block} {text}", taken.line)


def _part(run: Execution, found: Flagged) -> int:
    return found.block // run.program.grid.cluster


def _missed(run: Execution, name: str, flag: Flag, first: Flagged, second: Flagged) -> Iterator[Finding]:
    for taken in flag.acquired:
        if taken.value == first.value and not run.happens.ordered(taken.event, second.event):
            text = f"may miss that {name} is {first.value}: it may be {second.value} by then"
            yield _finding("passing", f"{run.happens.events[taken.event].label} {text}", taken.line)


def _finding(code: str, text: str, line: Place | None) -> Finding:
    return Finding(f"synchronisation.{code}", Severity.ERROR, text, line)
