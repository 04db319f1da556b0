"""Room on a thread's stack of a size known only as it runs. It grows down from the end of local memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxgen.ir import Int
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.functions import STACK_BYTES
from ptxgen.simulate.group import Group
from ptxgen.simulate.memory import ALLOCATED
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Site
from ptxgen.simulate.steps import assign

_ALIGNMENT = 8


def alloca(site: Site) -> Step:
    """The address in local memory of so many bytes, which nothing has written, until the function returns."""
    size, top = site.read(1, np.int64), site.bank.stack()
    given = site.operands[2] if len(site.operands) > 2 else None
    alignment = given.value if isinstance(given, Int) else _ALIGNMENT
    write, guard = assign(site, site.destinations()[0]), site.guard()

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        keep = guard(r) if guard is not None else None
        place = (r[top] - size(r)) & np.int64(-alignment)
        least = batch.spaces["local"].size_bytes - STACK_BYTES
        active = group.active(keep)
        lanes = group.lanes() if active is None else active
        short = lanes & np.broadcast_to(place < least, group.shape)
        if short.any():
            row, lane = map(int, np.argwhere(short)[0])
            thread, count = batch.thread(group, row, lane), int(short.sum())
            what = "wants more room than the stack has left"
            batch.journal.fault("stack.overflow", site.index, lambda: what, thread=thread, count=count)
            place = np.maximum(place, least)
        _clear(group, batch, lanes, place, size(r))
        write(r, place.view(np.uint64), keep)
        _move(r, top, place, keep)

    return step


def _clear(group: Group, batch: Batch, lanes: Array, place: Array, size: Array) -> None:
    """The bytes of each lane count as never written."""
    memory = batch.spaces["local"]
    if memory.offsets is None:
        return
    starts = (np.broadcast_to(place, group.shape) + memory.offsets[group.warps])[lanes]
    sizes = np.minimum(np.broadcast_to(size, group.shape)[lanes], STACK_BYTES)
    number = np.arange(int(sizes.max(initial=0)))
    memory.arena.shadow[(starts[:, None] + number)[number < sizes[:, None]]] = ALLOCATED


def _move(r: list[Any], top: int, value: Array, keep: Array | None) -> None:
    r[top] = value if keep is None else np.where(keep, value, r[top])


def stacksave(site: Site) -> Step:
    """The top of the stack, for `stackrestore`."""
    top, write, guard = site.bank.stack(), assign(site, site.destinations()[0]), site.guard()

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        write(r, r[top].view(np.uint64), guard(r) if guard is not None else None)

    return step


def stackrestore(site: Site) -> Step:
    """Give back what was taken since the top of the stack stood there."""
    top, saved, guard = site.bank.stack(), site.read(0, np.uint64), site.guard()

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        _move(r, top, saved(r).view(np.int64), guard(r) if guard is not None else None)

    return step
