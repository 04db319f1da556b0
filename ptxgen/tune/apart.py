"""Questions to a process apart, each with a deadline: it is started anew where one was not answered.

A kernel that never ends holds whoever waits for it, and after a fault a driver refuses everything in its process, so
nobody who is to go on may launch what nobody has tried.
"""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import RLock
from time import monotonic
from typing import Any, Protocol

from attrs import define, field, frozen

from ptxgen.errors import InternalError, PtxgenError

START_SECONDS, END_SECONDS = 300.0, 60.0


class Tell(Protocol):
    """Is told what is begun, and in how many seconds it ends at the latest where that is not as the question has it."""

    def __call__(self, what: Any, seconds: float | None = None) -> None: ...


class Answering(Protocol):
    """What answers questions in a process apart; made there."""

    def answer(self, question: Any, tell: Tell) -> Any:
        """The answer, which can be pickled; `tell` is told what is begun, for who must know where it stopped."""


class Unanswered(PtxgenError):
    """A question that was not answered: because `seconds` had passed, or the process had ended by itself (None, with
    its `exit_code`). `last` is what it told last, None where it told nothing."""

    def __init__(self, last: Any, seconds: float | None, exit_code: int | None = None) -> None:
        self.last, self.seconds, self.exit_code = last, seconds, exit_code
        how = f"the process that ran it ended ({exit_code})" if seconds is None else f"did not end in {seconds:g} s"
        super().__init__(how)


@frozen
class Told:
    """What is begun, and the seconds that it may take; None: those of the question."""

    what: Any
    seconds: float | None = None


@frozen
class Answered:
    """An answer; `fault` is the trace of what nobody expected."""

    value: Any = None
    fault: str = ""


@define(eq=False)
class Apart:
    """A process for questions, started for the first one and ended with this one's; `starts` counts how often it was.
    Who asks several that belong together holds `turn` meanwhile."""

    make: Callable[[], Answering]
    starts: int = 0
    turn: Any = field(factory=RLock, repr=False)
    process: Any = field(default=None, repr=False)
    pipe: Connection | None = field(default=None, repr=False)

    def ask(self, question: Any, seconds: float) -> Any:
        """The answer; whatever is begun meanwhile has so many seconds. Unanswered where none came in time, or none will
        come: then the process is gone, as behind an interrupt, so that nobody takes an answer to this question for one
        to the next."""
        try:
            if self.process is None:
                self._start()
            assert self.pipe is not None
            try:
                self.pipe.send(question)
            except OSError:
                raise Unanswered(None, None, self.stop()) from None
            return self._answer(seconds)
        except (KeyboardInterrupt, SystemExit):
            self.stop()
            raise

    def stop(self) -> int | None:
        """Ends the process, if need be by force; its exit code. InternalError where it cannot be ended."""
        process, self.process = self.process, None
        if self.pipe is not None:
            self.pipe.close()
            self.pipe = None
        if process is None:
            return None
        process.kill()
        process.join(END_SECONDS)
        if process.exitcode is None:
            raise InternalError(f"process {process.pid} cannot be ended: what it launched holds the device")
        return int(process.exitcode)

    def _start(self) -> None:
        context = get_context("spawn")
        self.pipe, below = context.Pipe()
        self.process = context.Process(target=serve, args=(self.make, below), daemon=True)
        with interrupts_held():
            self.process.start()
        below.close()
        self.starts += 1
        self._answer(START_SECONDS)

    def _answer(self, seconds: float) -> Any:
        last, allowed, end = None, seconds, monotonic() + seconds
        while True:
            assert self.pipe is not None
            try:
                if not self.pipe.poll(max(0.0, end - monotonic())):
                    self.stop()
                    raise Unanswered(last, allowed)
                message = self.pipe.recv()
            except (EOFError, OSError):
                self.process.join(END_SECONDS)
                raise Unanswered(last, None, self.stop()) from None
            match message:
                case Told(what=what, seconds=own):
                    last, allowed = what, seconds if own is None else own
                    end = monotonic() + allowed
                case Answered(value=value, fault=""):
                    return value
                case Answered(fault=fault):
                    self.stop()
                    raise InternalError(f"in the process apart: {fault.splitlines()[-1]}\n{fault}")


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Within, an interrupt waits; processes that are started here are sent none, until they let them through."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(make: Callable[[], Answering], pipe: Connection) -> None:
    """What the process does: it answers, until nobody is there to ask. An interrupt is for whoever asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        held = make()
        pipe.send(Answered())
        while True:
            pipe.send(Answered(held.answer(pipe.recv(), lambda what, seconds=None: pipe.send(Told(what, seconds)))))
    except (EOFError, BrokenPipeError):
        return
    except Exception:
        pipe.send(Answered(fault=traceback.format_exc()))
