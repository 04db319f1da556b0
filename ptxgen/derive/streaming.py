"""What only some items of a streamed work list do: those that go on in the next block, have begun in the one before, or
end in this one.

Proofs see that on domains. The scan, which would take the loop over items apart for it, sees all items, and what only
some of them do stands under its conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from polyhedral import Affine, Constraint, Set, System, var
from ptxgen.errors import InternalError, PlanError
from ptxgen.plan import IntoShared, Plan, Shift, Stage, Transport, stream_step
from ptxgen.tile import JOINING, LEAVING, Node, Sequence, When

TOLD = (LEAVING, JOINING)


class MixedSteps(InternalError):
    """What only some items do is not told of the items alone, but also of their steps."""


def of_some_items(domain: Set, node: Node) -> tuple[Set, Node]:
    """A domain without what a block is told of its items, and the node under the conditions that this leaves out.
    MixedSteps where those are not of the items alone."""
    if not set(TOLD) & set(domain.params):
        return domain, node
    every = [piece.project_out(*TOLD) for piece in domain.pieces]
    whole = Set(domain.dims, tuple(dict.fromkeys(every)))
    if any(not Set(domain.dims, (each,)).equals(whole) for each in every):
        raise MixedSteps(f"{domain}: its pieces are of different steps and of different items")
    found: Node | None = None
    for piece, each in zip(domain.pieces, every, strict=True):
        found = _under(piece, each, node, found)
    assert found is not None
    return Set(domain.dims, (every[0],)), found


def mixed(plan: Plan, found: MixedSteps) -> PlanError | MixedSteps:
    """The error of steps that are not the same for all items: the plan's fault where operands that are prefetched come
    to shared memory in two ways, of which an item that goes on in another block prefetches other slabs; else ours."""
    stages = [step for step in plan.steps if isinstance(step, Stage) and isinstance(step.into, IntoShared)]
    past = [step.op for step in stages if step.by.transport is Transport.CP_ASYNC]
    through = [step.op for step in stages if step.by.transport is Transport.ST]
    shifts = [s for s in plan.steps if isinstance(s, Shift) and set(s.ops) & {*past, *through}]
    stream = stream_step(plan.steps)
    if stream is None or not past or not through or not shifts:
        return found
    text = (
        f"{shifts[-1]}: {stream} wants operands that are prefetched to come to shared memory in one way, but "
        f"{', '.join(past)} by cp_async and {', '.join(through)} through registers: copy all by cp_async, or all "
        "through registers, or shift none of them"
    )
    return PlanError(text, line=shifts[-1].line)


def _under(piece: System, whole: System, node: Node, otherwise: Node | None) -> Node:
    conditions = piece.gist(whole & _known()).conditions
    if not conditions:
        return node
    plain = [condition for condition in conditions if isinstance(condition, Constraint)]
    if len(plain) < len(conditions):
        raise InternalError(f"{piece}: the items that have it are told by a congruence")
    return When(tuple(plain), node, otherwise)


def _known() -> System:
    return System.of(var(LEAVING) >= 0, var(LEAVING) <= 1)


def together(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Neighbours under the same conditions under one."""
    found: list[Node] = []
    for node in nodes:
        last = found[-1] if found else None
        match last, node:
            case When(first, then, None), When(second, more, None) if first == second:
                found[-1] = When(first, Sequence((then, more)))
            case _:
                found.append(node)
    return tuple(found)


def with_conditions(
    node: Node, values: Mapping[str, Affine], leaf: Callable[[Node, Mapping[str, Affine]], Node]
) -> Node:
    """A leaf, or leaves under conditions, with loop dims replaced by what the scan bound them to."""
    match node:
        case When(conditions, then, otherwise):
            chosen = tuple(condition.substitute(values) for condition in conditions)
            other = otherwise and with_conditions(otherwise, values, leaf)
            return When(chosen, with_conditions(then, values, leaf), other)
        case Sequence(children):
            return Sequence(tuple(with_conditions(child, values, leaf) for child in children))
        case _:
            return leaf(node, values)
