"""`setmaxnreg`: warps give registers back to their CTA, or wait for more."""

from __future__ import annotations

import numpy as np

from isa.limits import KIB
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Site

REGISTERS_PER_CTA = 64 * KIB


def setmaxnreg(site: Site) -> Step:
    """Change the registers of each thread of a warp; more than the CTA has for all warps that asked are a deadlock.

    What the others hold is not known, so only those count that have asked.
    """
    wanted = site.read(0, np.int64)
    more = site.has("inc")

    def step(group: Group, batch: Batch) -> None:
        count = int(np.broadcast_to(wanted(group.registers), group.shape)[0, 0])
        held = batch.engines.held
        for row, warp in enumerate(group.warps.tolist()):
            before = held.get(warp)
            if before is not None and (before > count if more else before < count):
                what = f"asks for {count} registers, but has {before}"
                batch.journal.fault("setmaxnreg.direction", site.index, lambda what=what: what,  # type: ignore[misc]
                                    thread=batch.thread(group, row, 0))  # fmt: skip
            held[warp] = count
        _judge(site, group, batch)

    return step


def _judge(site: Site, group: Group, batch: Batch) -> None:
    for cta in np.unique(group.warps // batch.warps_per_cta).tolist():
        span = range(cta * batch.warps_per_cta, (cta + 1) * batch.warps_per_cta)
        total = LANES * sum(batch.engines.held.get(warp, 0) for warp in span)
        if total > REGISTERS_PER_CTA:
            what = f"raises the registers of the CTA to {total}, more than {REGISTERS_PER_CTA}: it waits forever"
            row = int((group.warps // batch.warps_per_cta == cta).argmax())
            batch.journal.fault("deadlock", site.index, lambda what=what: what,  # type: ignore[misc]
                                thread=batch.thread(group, row, 0))  # fmt: skip
