"""What a run says of a mutant: which kinds of finding tell of a fault, and at which lines."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from attrs import define, field, frozen

from ptxgen.ir.flow import Flow, flow_of
from ptxgen.simulate import Report, Simulator, simulator
from ptxgen.simulate.journal import Fault
from ptxgen.simulate.scheduler import LimitReached
from tests.simulate.faults.edits import VARIABLE, Kernel, Mutant, Subject
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
    Subject.WAIT: RACES | COPIES | {"cluster.left", "mbarrier.count"},
    Subject.COMMIT: RACES | COPIES,
    Subject.FENCE: RACES | {"proxy.shared", "proxy.global", "wgmma.fence", "wgmma.in_flight", "mbarrier.unordered"},
    Subject.INIT: frozenset({"mbarrier.missing"}),
    Subject.ARRIVAL: PHASES | {"mbarrier.transactions"},
    Subject.PARITY: PHASES,
    Subject.COUNT: PHASES,
    Subject.BYTES: STUCK | UNWRITTEN | {"mbarrier.transactions", "memory.bounds", "async.leaked"},
    Subject.MASK: STUCK | {"warp.divergent", "warp.mask", "memory.bounds"},
    Subject.ALIGNMENT: frozenset({"memory.misaligned"}),
    Subject.PLACE: frozenset({"memory.bounds"}),
    Subject.WRITE: UNWRITTEN | STUCK | RACES | {"memory.bounds", "async.shared"},
}
# Faults of arithmetic and of flow: they may break anything, or just compute something else.
PLAIN = frozenset({Subject.BOUND, Subject.GUARD})
# What may be wrong in the result alone: nothing is touched out of order by it.
SILENT = PLAIN | {Subject.WRITE}
# What orders strong accesses, which never race: in some random order a value comes too late.
LATE = frozenset({Subject.FENCE})
# What may leave others asking forever for what never comes.
STALLING = PLAIN | frozenset(subject for subject, codes in KINDS.items() if codes & STUCK) | {Subject.WAIT}
# Found where the changed instruction itself runs.
AT = frozenset({Subject.ALIGNMENT, Subject.PLACE, Subject.MASK})
# Told where another thread, perhaps of another role, waits or reads in vain, or has left work behind.
ELSEWHERE = STUCK | UNWRITTEN | {"cluster.left", "async.leaked"}
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
        """Whether a thread may run both."""
        return self.leads(one, other) or self.leads(other, one)


@frozen(eq=False)
class Outcome:
    """A verdict, and what was found that led to it."""

    verdict: Verdict
    seed: int | None = None
    findings: tuple[Fault, ...] = ()


@define(eq=False)
class Judge:
    """A case with its good runs: the results, the limits that no run may reach, the lanes that ran each instruction."""

    case: Case
    kernel: Kernel
    paths: Paths
    wanted: list[tuple[Any, ...]]
    limits: list[int]
    counts: list[tuple[int, ...]]

    @property
    def ran(self) -> frozenset[int]:
        """The instructions that some thread has run."""
        return frozenset(place for lanes in self.counts for place, count in enumerate(lanes) if count)

    @classmethod
    def of(cls, case: Case) -> Judge:
        """The case run as it is: no finding, and the results that it is to have."""
        kernel = Kernel.of(case.module, case.kernel)
        decoded = simulator(kernel.module, case.kernel)
        wanted, limits, counts = [], [], list[tuple[int, ...]]()
        for launch in case.launches:
            report, made = run(decoded, launch, None)
            report.raise_findings()
            for array, right in zip(made, launch.wanted, strict=True):
                assert right is None or equal(array, right)
            wanted.append(made)
            limits.append(4 * report.total.warps + 2000)
            counts.append(tuple(each.count.lanes for each in report.statements))
        return cls(case, kernel, Paths(flow_of(kernel.function)), wanted, limits, counts)

    def judge(self, mutant: Mutant) -> Outcome:
        """Run a mutant with all arguments, in the plain order, then in random ones, until something tells of it.

        Bounds do not depend on the order. What only comes too late does so in few.
        """
        best = Outcome(Verdict.SURVIVES)
        decoded = simulator(mutant.module, self.case.kernel)
        for seed in seeds_for(mutant.change.subject):
            for launch, wanted, limit in zip(self.case.launches, self.wanted, self.limits, strict=True):
                outcome = self._run(mutant, decoded, launch, wanted, seed, limit)
                if outcome.verdict in (Verdict.FOUND, Verdict.WRONG, Verdict.ENDLESS):
                    return outcome
                if best.verdict is Verdict.SURVIVES:
                    best = outcome
        return best

    def _run(
        self, mutant: Mutant, decoded: Simulator, launch: Launch, wanted: tuple[Any, ...], seed: int | None, limit: int
    ) -> Outcome:
        subject = mutant.change.subject
        try:
            report, made = run(decoded, launch, seed, limit)
        except LimitReached as reached:
            report, made = reached.report, None
        if any(self.tells(each, mutant) for each in report.findings):
            return Outcome(Verdict.FOUND, seed, report.findings)
        if report.findings:
            return Outcome(Verdict.MISNAMED, seed, report.findings)
        if made is None:
            return Outcome(Verdict.ENDLESS if subject in STALLING else Verdict.UNTOLD, seed)
        if all(map(equal, made, wanted)):
            return Outcome(Verdict.SURVIVES, seed)
        told = subject in SILENT or (subject in LATE and seed is not None)
        return Outcome(Verdict.WRONG if told else Verdict.UNTOLD, seed)

    def tells(self, finding: Fault, mutant: Mutant) -> bool:
        """Whether a finding is of a kind that the fault may have, and at a line that has to do with it."""
        subject, places = mutant.change.subject, mutant.change.places
        if subject not in PLAIN and finding.code not in KINDS[subject]:
            return False
        parties = [mutant.homes[each] for each in (finding.statement, finding.other)
                   if each is not None and 0 <= each < len(mutant.homes)]  # fmt: skip
        if subject in AT and finding.code not in STUCK and mutant.change.how != VARIABLE:
            return any(each in places for each in parties)
        if subject in BETWEEN and finding.code in RACES and len(parties) == 2:
            one, other = parties
            if not self.paths.linked(one, other):
                return any(self.paths.linked(each, place) for each in parties for place in places)
            return any(
                (self.paths.leads(one, each) and self.paths.leads(each, other))
                or (self.paths.leads(other, each) and self.paths.leads(each, one))
                for each in places
            )
        if finding.code in ELSEWHERE:
            return True
        return any(self.paths.linked(each, place) for each in parties for place in places)


def equal(made: Any, wanted: Any) -> bool:
    """Whether two results are the same, NaN included."""
    return bool(np.array_equal(made, wanted, equal_nan=made.dtype.kind == "f"))


def seeds_for(subject: Subject) -> tuple[int | None, ...]:
    """The orders that faults of a kind are tried in."""
    if subject in PLAIN:
        return SEEDS[:1]
    return (None, *range(40)) if subject in LATE else SEEDS


def run(
    decoded: Simulator, launch: Launch, seed: int | None, limit: int | None = None
) -> tuple[Report, tuple[Any, ...]]:
    """A run of a kernel, and the arrays that it is judged by."""
    args, made = launch.make()
    report = decoded.run(
        grid=launch.grid, block=launch.block, args=args, cluster=launch.cluster, shared_bytes=launch.shared_bytes,
        seed=seed, limit=limit,
    )  # fmt: skip
    return report, made
