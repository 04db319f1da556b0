"""`st.async` and `red.async`: stores and reductions into shared memory of the cluster that end at an mbarrier there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.simulate.accesses import address_reader
from ptxgen.simulate.asynchronous.operations import Issue, Landing, Operation
from ptxgen.simulate.asynchronous.runs import (
    Run,
    check_destination,
    check_source,
    deliver,
    note_remote,
    shared_run,
    write_now,
)
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.semantics.copy_starts import Combine, barrier_at, issuers
from ptxgen.simulate.semantics.mbarrier_users import place_of_slot
from ptxgen.simulate.semantics.reductions import combine
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Site


def store(site: Site) -> Step:
    """One operation for each lane: its value, or its vector, to an address of the cluster."""
    words = site.instruction.form.words
    if "mmio" in words.values():
        raise site.unsupported("stores to memory of a device")
    place = place_of_slot(site, "b")
    of = site.type(place)
    if of.bits not in (32, 64):
        raise site.unsupported(f"type .{of}")
    values = site.vector(place, np.dtype(f"u{of.bytes}"))
    size = of.bytes * len(values)
    combining = combine(str(words["op"]), str(words["type"])) if site.opcode == "red.async" else None
    lanes = issuers(site)
    address, mbar = address_reader(site, place_of_slot(site, "a")), address_reader(site, place_of_slot(site, "mbar"))

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        to, bars = address(r), mbar(r)
        parts = [np.broadcast_to(each(r), group.shape) for each in values]
        for lane, issue in lanes(group, batch):
            content = np.array([part[lane.row, lane.lane] for part in parts]).view(np.uint8)
            run = shared_run(
                batch, issue, lane.value(to), size, what="stores to shared memory", remote=True, align=size
            )
            if run is not None:
                _start(batch, issue, run, lane.value(bars), content, combining)

    return step


def _start(batch: Batch, issue: Issue, run: Run, bar: int, content: Array, combining: Combine | None) -> None:
    barrier = barrier_at(batch, issue, bar)
    if barrier is None:
        return
    if int(run.index[0]) // run.memory.stride != barrier.cta:
        what = "ends at an mbarrier of another CTA than the one that it writes to"
        batch.journal.fault("mbarrier.missing", issue.site, lambda: what, thread=issue.thread)
    if combining is None:
        check_destination(batch, issue, run)
        run.owe()
    else:
        check_source(batch, issue, run)

    def write() -> list[tuple[int, int]]:
        new = content.reshape(-1, run.width)
        if combining is None:
            done = deliver(batch, issue, run, barrier.engine, new)
        else:
            done = write_now(batch, issue, run, barrier.engine, combining(run.fetch(), new), atomic=True)
        note_remote(batch, issue, run, done)
        return [done]

    landing = Landing(barrier, content.size, barrier.phase)
    far = issue.warp // batch.warps_per_cta != barrier.cta
    batch.engines.start(Operation(issue, lambda: None, write, (landing,), far=far))


MAKERS: dict[str, Callable[[Site], Any]] = {"st.async": store, "red.async": store}
