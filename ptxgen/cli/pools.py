"""Processes that make and measure kernels, ended with what they were started for, whatever ends it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Any

from ptxgen.runtime import device_count
from ptxgen.tune.apart import interrupts_held
from ptxgen.tune.taking import VISIBLE, take_device, visible


@contextmanager
def makers(count: int | None) -> Iterator[Executor]:
    """Processes that make kernels: so many, or one for each core that this process may use."""
    with _pool(count or cores()) as pool:
        yield pool


@contextmanager
def gpus() -> Iterator[Executor]:
    """A process for each GPU that this one may use."""
    names, count = get_context("spawn").Queue(), device_count()
    for name in visible(count, os.environ.get(VISIBLE)):
        names.put(name)
    with _pool(max(1, count), _take, names) as pool:
        yield pool


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _pool(count: int, initializer: Callable[..., None] | None = None, *arguments: Any) -> Iterator[Executor]:
    """A pool that carries out what it was given; where the block ends by an exception, only what is begun, and where
    that is an interrupt, not even what those do that measure. Interrupts are for this process, and for those that let
    them through: all are started here, each with nothing to do, since a pool starts one when it has no idle one."""
    pool = ProcessPoolExecutor(count, get_context("spawn"), initializer, arguments)
    with interrupts_held():
        for _ in range(count):
            pool.submit(int)
    try:
        yield pool
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            for child in active_children():
                _interrupt(child)
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _interrupt(child: Any) -> None:
    if os.name == "posix":
        os.kill(child.pid, signal.SIGINT)
    else:
        child.terminate()


def _take(names: Any) -> None:
    """Takes a GPU; ends at an interrupt, also of whatever is measured, without a word."""
    signal.signal(signal.SIGINT, _end)
    take_device(names)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)
