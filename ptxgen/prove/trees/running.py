"""What each representative thread of a run does, event by event, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field

from isa.mechanisms import Group, GroupKind, IssuedBy, Transaction
from ptxgen.errors import InternalError
from ptxgen.prove.trees.accesses import mechanism_of
from ptxgen.prove.trees.execution import Done, Execution, Flag, Flagged, Member, depth_of, performs
from ptxgen.prove.trees.tracing import Step
from ptxgen.tile import (
    Acquire,
    Arrive,
    ClusterArrive,
    ClusterWait,
    Commit,
    Copy,
    Expect,
    Leaf,
    Meet,
    Ordering,
    Program,
    ProxyFence,
    RegisterFence,
    Release,
    Retire,
    Side,
    Synchronisation,
    Wait,
)


def executed(program: Program, steps: Mapping[tuple[str, int], tuple[Step, ...]]) -> Execution:
    """The run in which each role of each block takes these steps; not yet closed."""
    run = Execution(program, steps)
    starts = _starts(run)
    for member in run.members:
        _Thread(run, member, starts[member.block]).follow()
    for (first, number), phase in run.gathered.items():
        for member, end in run.ends.items():
            if member.block in run.together(first) and run.arrivals[member] <= number:
                run.happens.order(end, phase)
    for flag in run.flags.values():
        for taken in flag.acquired:
            for passed in (passed for passed in flag.released if passed.value == taken.value):
                run.happens.order(passed.event, taken.event)
    return run


def _starts(run: Execution) -> dict[int, int]:
    """When each block's threads begin: behind the initialisation of its barriers, or of all of the cluster."""
    for block in run.blocks:
        run.begun[block] = run.happens.add(f"barriers of block {block} initialised")
    starts, arrived = dict(run.begun), 0
    for node in run.program.enter:
        for block in run.blocks:
            if isinstance(node, ClusterArrive):
                run.happens.order(starts[block], run.gathering(block, arrived))
            elif isinstance(node, ClusterWait) and arrived:
                starts[block] = run.happens.add("threads begin", None, run.gathering(block, arrived - 1))
        arrived += isinstance(node, ClusterArrive)
    return starts


@define(eq=False)
class _Thread:
    """One thread on its way."""

    run: Execution
    member: Member
    last: int
    open: dict[GroupKind, list[Done]] = field(factory=dict)
    groups: dict[GroupKind, list[list[Done]]] = field(factory=dict)
    meetings: int = 0
    arrived: int = 0

    def follow(self) -> None:
        happens, member = self.run.happens, self.member
        self.arrived = sum(isinstance(node, ClusterArrive) for node in self.run.program.enter)
        for number, step in enumerate(self.run.steps[member.role, member.block]):
            if performs(member, step.node):
                self.run.reached_at.setdefault(member, {})[number] = self.last
                self.last = self.take(number, step)
                self.run.issued.setdefault(member, {})[number] = self.last
        self.run.ends[member] = happens.add(f"{member.role}{self.run.where(member.block)} ends", None, self.last)
        self.run.arrivals[member] = self.arrived

    def take(self, number: int, step: Step) -> int:
        """The event of a step, behind the one before."""
        happens, run, member = self.run.happens, self.run, self.member
        node = step.node
        if isinstance(node, Meet):
            return self.meet(node)
        if not isinstance(node, Ordering):
            event = happens.add(f"{node.op}{run.where(member.block)}", node.line, self.last)
            self.issue(number, step, node, event)
            return event
        waits = isinstance(node, Wait | ClusterWait | Acquire)
        event = happens.add(f"{_name(node)}{run.where(member.block)}", node.line, self.last, waits=waits)
        match node:
            case Commit(kind):
                self.groups.setdefault(kind, []).append(self.open.pop(kind, []))
            case Retire(kind, pending, _, reads_only):
                own = self.groups.get(kind, [])
                for done in (done for group in own[: max(0, len(own) - pending)] for done in group):
                    happens.order(done.read if reads_only else done.done, event)
            case Wait(ring, side):
                rank = step.rank_of(member.unit)
                free = rank - depth_of(run.program, ring) if side is Side.EMPTY else rank
                if free >= 0 or side is Side.FULL:
                    happens.order(run.phase(ring, side, member.block, free), event)
            case Arrive(ring, to=to):
                for block in run.reached(to, member.block):
                    happens.order(event, run.phase(ring, Side.EMPTY, block, step.rank_of(member.unit)))
            case Expect(ring):
                happens.order(event, run.phase(ring, Side.FULL, member.block, step.rank))
            case ProxyFence() | RegisterFence():
                run.fences.setdefault((member, type(node)), []).append((number, event))
            case _:
                self.between_blocks(step, node, event)
        return event

    def between_blocks(self, step: Step, node: Synchronisation, event: int) -> None:
        """What a thread tells other blocks, or is told by them."""
        run, member = self.run, self.member
        match node:
            case ClusterArrive():
                run.happens.order(event, run.gathering(member.block, self.arrived))
                self.arrived += 1
            case ClusterWait() if self.arrived:
                run.happens.order(run.gathering(member.block, self.arrived - 1), event)
            case Acquire(flags) | Release(flags):
                flag = run.flags.setdefault((flags, step.flagged), Flag())
                found = Flagged(event, member.block, step.rank, node.line)
                (flag.acquired if isinstance(node, Acquire) else flag.released).append(found)
            case _:
                pass

    def meet(self, node: Meet) -> int:
        key = (self.member.role, self.member.block, self.meetings)
        self.meetings += 1
        if key not in self.run.joins:
            self.run.joins[key] = self.run.happens.add(f"meet {node.barrier}{self.run.where(key[1])}", node.line)
        self.run.happens.order(self.last, self.run.joins[key])
        return self.run.joins[key]

    def issue(self, number: int, step: Step, leaf: Leaf, event: int) -> None:
        """What a leaf has under way when it is issued."""
        run, member = self.run, self.member
        match mechanism_of(leaf).completes:
            case Group(kind=kind, owner=owner):
                done = self.group(number, leaf, event, collective=owner is IssuedBy.WARPGROUP)
                self.open.setdefault(kind, []).append(done)
                run.completed[member.block, member, number] = done
            case Transaction():
                if not isinstance(leaf, Copy):
                    raise InternalError(f"{leaf.op}: nothing but copies lands on the barriers of a ring")
                for block in run.reached(leaf.masks, member.block):
                    landed = run.happens.add(f"{leaf.op}{run.where(block)} lands", leaf.line, event)
                    run.completed[block, member, number] = Done(landed, landed)
                    if leaf.ring:
                        rank = step.number(leaf.destination.rank)
                        run.happens.order(landed, run.phase(leaf.ring, Side.FULL, block, rank))
            case _:
                masks = leaf.masks if isinstance(leaf, Copy) else ()
                for block in {member.block, *run.reached(masks, member.block)}:
                    run.completed[block, member, number] = Done(event, event)

    def group(self, number: int, leaf: Leaf, event: int, *, collective: bool) -> Done:
        """The completion of what a thread, or with others of its warpgroup, has issued."""
        run, member = self.run, self.member
        owner = Member(member.role, member.block, member.unit, first=True) if collective else member
        if (owner, number) not in run.shared:
            read = run.happens.add(f"{leaf.op} has read", leaf.line)
            run.shared[owner, number] = Done(read, run.happens.add(f"{leaf.op} is complete", leaf.line, read))
        run.happens.order(event, run.shared[owner, number].read)
        return run.shared[owner, number]


def _name(node: Synchronisation) -> str:
    match node:
        case Wait(ring, side, rank):
            return f"wait {ring}{{{rank}}} {side.value}"
        case RegisterFence():
            return "register fence"
        case ProxyFence():
            return "proxy fence"
        case Arrive(ring, rank):
            return f"arrive {ring}{{{rank}}} empty"
        case Expect(ring, rank):
            return f"expect {ring}{{{rank}}}"
        case Retire(kind, pending):
            return f"retire {kind.value}, pending {pending}"
        case Commit(kind):
            return f"commit {kind.value}"
        case ClusterArrive():
            return "arrive at the cluster's barrier"
        case ClusterWait():
            return "wait for the cluster's barrier"
        case Acquire(flags, value):
            return f"acquire {flags} at {value}"
        case Release(flags, value):
            return f"release {flags} as {value}"
        case _:
            return type(node).__name__
