"""How a block begins and ends: nobody reaches it before its barriers are there, nor once it may have gone, and nothing
is under way when a thread ends."""

from __future__ import annotations

from collections.abc import Iterator

from isa.mechanisms import Group, GroupKind
from ptxgen.errors import Finding, Severity
from ptxgen.prove.trees.accesses import mechanism_of
from ptxgen.prove.trees.execution import Execution, Member, performs
from ptxgen.prove.trees.tracing import Step
from ptxgen.tile import Arrive, Copy, Covered, Ordering, RequirementKind


def end_faults(run: Execution) -> Iterator[Finding]:
    """What comes too early or too late at a block or a thread."""
    for member in run.members:
        for number, step in enumerate(run.steps[member.role, member.block]):
            if performs(member, step.node):
                yield from _remote(run, member, number, step)
                yield from _under_way(run, member, number, step)


def _remote(run: Execution, member: Member, number: int, step: Step) -> Iterator[Finding]:
    match step.node:
        case Arrive(to=masks) | Copy(masks=masks) if masks:
            event = run.issued[member][number]
        case _:
            return
    for block in run.reached(masks, member.block):
        if block == member.block:
            continue
        name = run.happens.events[event].label
        if not run.happens.ordered(run.begun[block], event):
            text = f"{name} reaches block {block}, whose barriers may not be there yet: all threads meet first"
            yield Finding("synchronisation.enter", Severity.ERROR, text, step.node.line)
        done = run.completed[block, member, number].done if isinstance(step.node, Copy) else event
        ends = (run.ends[other] for other in run.members_in(block))
        if not any(run.happens.ordered(done, end) for end in ends):
            text = f"{name} may reach block {block} when it has left: a wait of the block for it is wanted"
            yield Finding("synchronisation.leave", Severity.ERROR, text, step.node.line)


def _under_way(run: Execution, member: Member, number: int, step: Step) -> Iterator[Finding]:
    node = step.node
    if isinstance(node, Ordering):
        return
    completes = mechanism_of(node).completes
    if not isinstance(completes, Group) or completes.kind is GroupKind.WGMMA:
        return
    done = run.completed[member.block, member, number].done
    if not run.happens.ordered(done, run.ends[member]):
        written = next(access.region.buffer.name for access in step.touched if access.writes)
        covered = Covered(RequirementKind.REWRITE, node.op, "leave", 0, written)
        text = f"{covered}: {member.role} may end before {node.op} is complete"
        yield Finding("synchronisation.covered", Severity.ERROR, text, node.line)
