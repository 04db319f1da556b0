"""Blocks that take their work as they begin, by ticket, so that each waits for such as have begun before it alone."""

from __future__ import annotations

from math import prod

from ptxgen.compute import Element
from ptxgen.derive.passing import workspace_name
from ptxgen.derive.space import IndexSpace
from ptxgen.errors import PlanError
from ptxgen.plan import IntoWorkspace, Split, Stream
from ptxgen.tile import Workspace, tickets_name


def asking(space: IndexSpace) -> Split | Stream | None:
    """The step that asks for tickets."""
    if space.stream is not None:
        return space.stream if space.stream.tickets else None
    step = space.split
    asked = step is not None and isinstance(step.through, IntoWorkspace) and step.through.tickets
    return step if asked else None


def tickets_of(space: IndexSpace) -> str:
    """The workspace whose counter blocks take their numbers from; nothing where they have them from the launch."""
    if asking(space) is None:
        return ""
    return tickets_name(workspace_name(space.compute.statements[0].target.array))


def ticket_workspaces(space: IndexSpace) -> tuple[Workspace, ...]:
    """That workspace: the next ticket, which is the first one again behind the last."""
    name = tickets_of(space)
    return (Workspace(name, Element.S32, 1, zeroed=True, single=True),) if name else ()


def check_tickets(space: IndexSpace) -> None:
    """PlanError where blocks of a cluster, which begin together and have neighbouring numbers, are to take tickets."""
    step, together = asking(space), prod(space.cluster_axes.values())
    if step is not None and together > 1:
        text = f"{step}: blocks take tickets one by one, but {together} blocks of a cluster have theirs together"
        raise PlanError(f"{text}; leave the cluster or the tickets", line=step.line)
