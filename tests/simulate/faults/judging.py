"""What a run says of a mutant: which kinds of finding tell of a fault, and at which lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
from attrs import define, field, frozen

from ptxgen.ir.flow import Flow, flow_of
from ptxgen.simulate import Report, simulator
from ptxgen.simulate.journal import Fault
from ptxgen.simulate.scheduler import LimitReached
from tests.simulate.faults.edits import Change, Kernel, Mutant, Subject
from tests.simulate.faults.hand import Case, Launch

RACES = frozenset({"race.shared", "race.global"})
COPIES = frozenset({"async.shared", "async.global", "async.leaked", "wgmma.in_flight"})
UNWRITTEN = frozenset({"uninitialised.shared", "uninitialised.global", "uninitialised.register"})
STUCK = frozenset({"deadlock"})
CLUSTER = frozenset({"cluster.early", "cluster.left", "cluster.barrier"})
PHASES = RACES | COPIES | STUCK | {"cluster.left", "mbarrier.count"}
KINDS: dict[Subject, frozenset[str]] = {
    Subject.BARRIER: RACES | STUCK | {"barrier.divergent", "mbarrier.unordered", "async.shared"},
    Subject.WARP_BARRIER: RACES,
    Subject.CLUSTER_BARRIER: RACES | STUCK | CLUSTER | {"mbarrier.unordered"},
    Subject.WAIT: RACES | COPIES | {"cluster.left"},
    Subject.COMMIT: RACES | COPIES,
    Subject.FENCE: RACES | {"proxy.shared", "proxy.global", "wgmma.fence", "wgmma.in_flight", "mbarrier.unordered"},
    Subject.INIT: frozenset({"mbarrier.missing"}),
    Subject.ARRIVAL: PHASES | {"mbarrier.transactions"},
    Subject.PARITY: PHASES,
    Subject.COUNT: PHASES,
    Subject.BYTES: STUCK | UNWRITTEN | {"mbarrier.transactions", "memory.bounds"},
    Subject.MASK: frozenset({"warp.divergent", "warp.mask"}),
    Subject.ALIGNMENT: frozenset({"memory.misaligned"}),
    Subject.PLACE: frozenset({"memory.bounds"}),
    Subject.WRITE: UNWRITTEN,
}
# Faults of arithmetic and of flow: they may break anything, or just compute something else.
PLAIN = frozenset({Subject.BOUND, Subject.GUARD})
# What may be wrong in the result alone: nothing is touched out of order by it.
SILENT = PLAIN | {Subject.WRITE, Subject.MASK}
# Found where the changed instruction itself runs.
AT = frozenset({Subject.ALIGNMENT, Subject.PLACE, Subject.MASK})
# The two parties of a race lie on both sides of what ordered them.
BETWEEN = frozenset({Subject.BARRIER, Subject.WARP_BARRIER})
SEEDS = (None, 1, 2, 3)


class Verdict(Enum):
    """What became of a fault."""

    FOUND = "found"
    WRONG = "wrong result"
    ENDLESS = "does not end"
    MISNAMED = "found as something else or elsewhere"
    UNTOLD = "wrong without a word"
    SURVIVES = "survives"


@define(eq=False)
class Paths:
    """Which instructions of a kernel may run before which."""

    flow: Flow
    behind: list[frozenset[int]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        blocks = self.flow.blocks
        self.behind = []
        for block in blocks:
            seen, pending = set[int](), list(block.successors)
            while pending:
                each = pending.pop()
                if each not in seen:
                    seen.add(each)
                    pending += blocks[each].successors
            self.behind.append(frozenset(seen))

    def leads(self, first: int, then: int) -> bool:
        """Whether some path has the one before the other, or they are the same."""
        here, there = self.flow.block_of(first), self.flow.block_of(then)
        return there in self.behind[here] or (here == there and first <= then)

    def linked(self, one: int, other: int) -> bool:
        return self.leads(one, other) or self.leads(other, one)


@frozen(eq=False)
class Outcome:
    """A verdict, and what was found that led to it."""

    verdict: Verdict
    seed: int | None = None
    findings: tuple[Fault, ...] = ()


@define(eq=False)
class Judge:
    """A case with its good runs: the results, and the limit that no run may reach."""

    case: Case
    kernel: Kernel
    paths: Paths
    wanted: list[tuple[Any, ...]]
    limits: list[int]
    ran: frozenset[int]

    @classmethod
    def of(cls, case: Case) -> Judge:
        """The case run as it is: no finding, and the results that it is to have."""
        kernel = Kernel.of(case.module, case.kernel)
        wanted, limits, ran = [], [], set[int]()
        for launch in case.launches:
            report, made = run(kernel.module, case, launch, None)
            report.raise_findings()
            for array, right in zip(made, launch.wanted, strict=True):
                assert right is None or np.array_equal(array, right)
            wanted.append(made)
            limits.append(4 * report.total.warps + 2000)
            ran |= {each.index for each in report.statements if each.count.warps}
        return cls(case, kernel, Paths(flow_of(kernel.function)), wanted, limits, frozenset(ran))

    def judge(self, mutant: Mutant) -> Outcome:
        """Run a mutant with all arguments, in the plain order, then in random ones, until something tells of it."""
        best = Outcome(Verdict.SURVIVES)
        for seed in SEEDS:
            for launch, wanted, limit in zip(self.case.launches, self.wanted, self.limits, strict=True):
                outcome = self._run(mutant, launch, wanted, seed, limit)
                if outcome.verdict in (Verdict.FOUND, Verdict.WRONG, Verdict.ENDLESS):
                    return outcome
                if best.verdict is Verdict.SURVIVES:
                    best = outcome
        return best

    def _run(self, mutant: Mutant, launch: Launch, wanted: tuple[Any, ...], seed: int | None, limit: int) -> Outcome:
        subject = mutant.change.subject
        try:
            report, made = run(mutant.module, self.case, launch, seed, limit)
        except LimitReached:
            return Outcome(Verdict.ENDLESS if subject in PLAIN | {Subject.WAIT} else Verdict.UNTOLD, seed)
        if any(self.tells(each, mutant) for each in report.findings):
            return Outcome(Verdict.FOUND, seed, report.findings)
        if report.findings:
            return Outcome(Verdict.MISNAMED, seed, report.findings)
        if all(map(np.array_equal, made, wanted)):
            return Outcome(Verdict.SURVIVES, seed)
        return Outcome(Verdict.WRONG if subject in SILENT else Verdict.UNTOLD, seed)

    def tells(self, finding: Fault, mutant: Mutant) -> bool:
        """Whether a finding is of a kind that the fault may have, and at a line that has to do with it."""
        subject, places = mutant.change.subject, mutant.change.places
        if subject not in PLAIN and finding.code not in KINDS[subject]:
            return False
        parties = [mutant.homes[each] for each in (finding.statement, finding.other)
                   if each is not None and 0 <= each < len(mutant.homes)]  # fmt: skip
        if subject in AT:
            return any(each in places for each in parties)
        if subject in BETWEEN and finding.code in RACES and len(parties) == 2:
            one, other = parties
            return any(
                (self.paths.leads(one, each) and self.paths.leads(each, other))
                or (self.paths.leads(other, each) and self.paths.leads(each, one))
                for each in places
            )
        return any(self.paths.linked(each, place) for each in parties for place in places)


def run(
    module: Any, case: Case, launch: Launch, seed: int | None, limit: int | None = None
) -> tuple[Report, tuple[Any, ...]]:
    """A run of a module in the place of the case's, and the arrays that it is judged by."""
    args, made = launch.make()
    report = simulator(module, case.kernel).run(
        grid=launch.grid, block=launch.block, args=args, cluster=launch.cluster, shared_bytes=launch.shared_bytes,
        seed=seed, limit=limit,
    )  # fmt: skip
    return report, made


__all__ = ["Change", "Iterable", "Iterator", "Judge", "Outcome", "Verdict", "cached_property", "run"]
