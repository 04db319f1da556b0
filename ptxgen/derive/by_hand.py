"""Ops that are written by hand: the code of a `by_hand` step in place of the derived leaf, with what it declares."""

from __future__ import annotations

from attrs import evolve

from isa.mechanisms import AT_ISSUE, Completion, Group, GroupKind, IssuedBy, Mechanism, Proxy
from ptxgen.derive.draft import Body, Draft
from ptxgen.derive.staging import check_instruction
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op, Touch, TouchKind
from ptxgen.plan import ByHand, Completes, Issued
from ptxgen.tile import Code, Copy, Distribution, HandWritten, Map, Node, Region, Space

ISSUERS = {Issued.LANE: IssuedBy.LANE, Issued.WARP: IssuedBy.WARP}
COMPLETIONS: dict[Completes, Completion] = {
    Completes.AT_ISSUE: AT_ISSUE,
    Completes.LANE_GROUP: Group(GroupKind.CP_ASYNC, IssuedBy.LANE),
}


def written_by_hand(draft: Draft) -> None:
    """Exchanges the leaves of the ops that `by_hand` steps name; PlanError where there is none, or it is no copy or map
    that code can stand in for."""
    for step in draft.space.plan.steps:
        if isinstance(step, ByHand):
            if step.completes is Completes.LANE_GROUP:
                check_instruction(draft, "cp.async.ca.shared.global", step)
            found = [_exchanged(body, step) for root in draft.roots.values() for body in _bodies(root)]
            if not any(found):
                raise PlanError(f"by_hand({step.op}): the plan derives no such op", line=step.line)


def _bodies(body: Body) -> list[Body]:
    inner = [found for item in body.items if isinstance(item, Body) for found in _bodies(item)]
    return [body, *inner]


def _exchanged(body: Body, step: ByHand) -> bool:
    places = [n for n, item in enumerate(body.items) if isinstance(item, Op) and item.name == step.op]
    for place in places:
        op = body.items[place]
        assert isinstance(op, Op)
        body.items[place] = _by_hand(op, step, body)
    return bool(places)


def _by_hand(op: Op, step: ByHand, body: Body) -> Op:
    """The op with the code in it, and as touches what the step declares."""
    distribution, regions = _touched(op.node, step)
    beside = [(own.node, touch) for own in body.items if isinstance(own, Op) for touch in own.touches]
    reads = tuple(_region(name, regions, beside, step) for name in step.reads)
    writes = tuple(_region(name, regions, beside, step) for name in step.writes)
    if step.completes is Completes.LANE_GROUP:
        _check_group(step, reads, writes)
    memory = [any(r.buffer.space is not Space.REGISTERS for r in found) for found in (reads, writes)]
    proxies = [Proxy.GENERIC if some else None for some in memory]
    mechanism = Mechanism(proxies[0], proxies[1], ISSUERS[step.issued], COMPLETIONS[step.completes])
    code = Code(step.code.__name__, step.code, step.model)
    node = HandWritten(op.name, code, reads, writes, distribution, mechanism, step.line)
    touches = tuple(
        Touch(region.buffer, kind, region.rank)
        for kind, found in ((TouchKind.READ, reads), (TouchKind.WRITE, writes))
        for region in found
    )
    return evolve(op, node=node, mechanism=mechanism, touches=touches, line=step.line)


def _check_group(step: ByHand, reads: tuple[Region, ...], writes: tuple[Region, ...]) -> None:
    """PlanError where code that completes in groups of `cp.async` declares what no such copy touches."""
    for region, space in (*((read, Space.GLOBAL) for read in reads), *((write, Space.SHARED) for write in writes)):
        if region.buffer.space is not space:
            name, own = region.buffer.name, region.buffer.space.value
            text = f"by_hand({step.op}): groups of cp.async copy global to shared memory, {name} is in {own}"
            raise PlanError(text, line=step.line)


def _touched(node: Node, step: ByHand) -> tuple[Distribution, dict[str, Region]]:
    """Who holds what of a leaf's box, and its regions of that box by buffer."""
    match node:
        case Copy(masks=()) if node.ring == "":
            return node.distribution, {side.buffer.name: side for side in (node.source, node.destination)}
        case Map(iteration=iteration):
            whole = tuple(range(len(iteration.dims)))
            operands = {o.region.buffer.name: o.region for o in node.operands if o.dims == whole}
            return iteration.distribution, {**operands, node.target.buffer.name: node.target}
        case _:
            what = type(node).__name__.lower()
            raise PlanError(f"by_hand({step.op}): code stands in for copies and maps, not for a {what}", line=step.line)


def _region(name: str, regions: dict[str, Region], beside: list[tuple[Node, Touch]], step: ByHand) -> Region:
    """The region of a buffer that the leaf uses; of another one the tile that its neighbours in the loop use."""
    if name in regions:
        return regions[name]
    for node, touch in beside:
        if touch.buffer.name == name and isinstance(node, Copy):
            return next(side for side in (node.source, node.destination) if side.buffer.name == name)
    known = ", ".join(dict.fromkeys((*regions, *(touch.buffer.name for _, touch in beside))))
    raise PlanError(f"by_hand({step.op}): no tile of {name!r} is at hand there; there are {known}", line=step.line)
