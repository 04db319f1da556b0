"""From ops and meetings with times to the loops of the tile program: one scan for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from attrs import evolve, frozen

import polyhedral as poly
from isa.mechanisms import IssuedBy
from polyhedral import Affine, Constraint, FloorDiv, Set, System, const, var
from ptxgen import tile
from ptxgen.derive.streaming import of_some_items, together, with_conditions
from ptxgen.errors import InternalError
from ptxgen.order import atoms
from ptxgen.order.atoms import FenceKind
from ptxgen.order.ops import Op, Time
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.tile import (
    Acquire,
    Advance,
    Arrive,
    Arriving,
    ClusterArrive,
    ClusterWait,
    Commit,
    Expect,
    Let,
    Loop,
    Meet,
    Node,
    ProxyFence,
    Quotient,
    Region,
    RegisterFence,
    Release,
    Retire,
    Sequence,
    Side,
    Wait,
    When,
    turns_name,
)
from ptxgen.tile.regions import rewritten
from ptxgen.tile.trees import flattened, ordered


@frozen
class Run:
    """Neighbours in one body with the same domain and shift: scanned as one statement."""

    time: Time
    domain: Set
    nodes: tuple[Node, ...]


def scan_program(synchronised: Synchronised, role: str, context: System) -> Node:
    """The tree of a role: every op and atom of it at its time."""
    runs = _runs(synchronised, role)
    depth = max((len(run.time.loops) for run in runs), default=0)
    statements = [poly.Statement(number, run.domain, _schedule(run.time, depth)) for number, run in enumerate(runs)]
    names = [name for level in range(depth) for name in (f"place{level}", f"t{level}")] + [f"place{depth}"]
    tree = poly.scan(statements, context, names=names)
    return flattened(_converted(tree, runs))


def _runs(synchronised: Synchronised, role: str) -> list[Run]:
    everything: list[Op | Synchronisation] = [*synchronised.ops, *synchronised.atoms]
    items = [item for item in everything if item.role == role]
    items.sort(key=lambda item: item.time.place)
    runs: list[Run] = []
    for item in items:
        if isinstance(item, Op) and item.leaves:
            continue
        node = _synchronising(item) if isinstance(item, Synchronisation) else item.node
        domain, node = of_some_items(item.domain, node)
        last = runs[-1] if runs else None
        if last and _neighbours(last.time, item.time) and last.domain == domain:
            runs[-1] = Run(item.time, last.domain, (*last.nodes, node))
        else:
            runs.append(Run(item.time, domain, (node,)))
    return [evolve(run, nodes=together(run.nodes)) for run in runs]


def _synchronising(item: Synchronisation) -> tile.Synchronisation:
    covers = ordered(item.covers)
    match item.atom:
        case atoms.Join(barrier=barrier):
            return Meet(barrier, covers)
        case atoms.Commit(kind=kind):
            return Commit(kind)
        case atoms.Retire(kind=kind, pending=pending, reads_only=reads_only):
            return Retire(kind, pending, covers, reads_only)
        case atoms.Wait(ring=ring, side=side):
            return Wait(ring, Side(side.value), item.rank, covers)
        case atoms.Arrive(ring=ring, by=by, to=to):
            arriving = Arriving.WARP if by is IssuedBy.WARP else Arriving.WARPGROUP
            return Arrive(ring, item.rank, arriving, covers, to)
        case atoms.Expect(ring=ring, byte_count=count):
            return Expect(ring, item.rank, count, covers)
        case atoms.Fence(kind=FenceKind.PROXY):
            return ProxyFence(covers)
        case atoms.Fence():
            return RegisterFence(covers)
        case atoms.Acquire(workspace=workspace, once=True):
            return Acquire(turns_name(workspace), const(1), covers, item.rank)
        case atoms.Release(workspace=workspace, last=last, once=True):
            return Release(turns_name(workspace), const(0 if last else 1), covers, item.rank)
        case atoms.Acquire(workspace=workspace):
            return Acquire(turns_name(workspace), item.rank, covers)
        case atoms.Release(workspace=workspace):
            return Release(turns_name(workspace), item.rank, covers)
        case atoms.ClusterArrive():
            return ClusterArrive(covers)
        case atoms.ClusterWait():
            return ClusterWait(covers)
        case atoms.TakeTurn(turns=turns):
            return Wait(turns, Side.EMPTY, item.rank, covers)
        case atoms.PassTurn(turns=turns):
            return Arrive(turns, item.rank, Arriving.WARP, covers)
        case atoms.Advance(counter=counter, by=by):
            return Advance(counter, _quotient(by))


def _neighbours(first: Time, second: Time) -> bool:
    return (first.loops, first.ahead, first.place[:-1]) == (second.loops, second.ahead, second.place[:-1])


def _schedule(time: Time, depth: int) -> tuple[Affine, ...]:
    entries: list[Affine] = [const(time.place[0])]
    for loop, ahead, place in zip(time.loops, time.ahead, time.place[1:], strict=True):
        entries += [var(loop) - ahead, const(place)]
    return (*entries, *([const(0)] * (2 * depth + 1 - len(entries))))


def _converted(tree: poly.Node, runs: list[Run]) -> Node:
    match tree:
        case poly.Loop(name, lower, upper, step, body):
            return Loop(name, tuple(map(_lower, lower)), tuple(map(_upper, upper)), step, _converted(body, runs))
        case poly.Let(name, value, body):
            return Let(name, _quotient(value), _converted(body, runs))
        case poly.Guard(conditions, body):
            return When(tuple(map(_condition, conditions)), _converted(body, runs))
        case poly.Block(children):
            return Sequence(tuple(_converted(child, runs) for child in children))
        case poly.Leaf(payload, bindings):
            assert isinstance(payload, int)
            return _leaf(runs[payload].nodes, bindings)
        case _:
            assert_never(tree)


def _leaf(nodes: tuple[Node, ...], bindings: Iterable[tuple[str, Affine | FloorDiv]]) -> Node:
    values: dict[str, Affine] = {}
    lets: list[tuple[str, FloorDiv]] = []
    for name, value in bindings:
        match value:
            case FloorDiv():
                lets.append((name, value))
            case _:
                values[name] = value
    result: Node = Sequence(tuple(with_conditions(node, values, substituted) for node in nodes))
    for name, quotient in reversed(lets):
        result = Let(name, _quotient(quotient), result)
    return result


def _condition(condition: poly.Condition) -> Constraint:
    if isinstance(condition, Constraint):
        return condition
    raise InternalError(
        f"a scan of tile ops gave the congruence {condition}: loops of steps other than one are not planned"
    )


def _lower(term: poly.Term) -> Quotient:
    _check_scale(term)
    return Quotient(term.affine + (term.divisor - 1) + term.offset * term.divisor, term.divisor)


def _upper(term: poly.Term) -> Quotient:
    _check_scale(term)
    return Quotient(term.affine + term.offset * term.divisor, term.divisor)


def _check_scale(term: poly.Term) -> None:
    if term.scale != 1:
        raise InternalError(
            f"a scan of tile ops gave the strided bound {term}: loops of steps other than one are not planned"
        )


def _quotient(value: Affine | FloorDiv) -> Quotient:
    return Quotient(value.affine, value.divisor) if isinstance(value, FloorDiv) else Quotient(value, 1)


def substituted(node: Node, values: Mapping[str, Affine]) -> Node:
    """A leaf with the loop dims of its op replaced by what the scan bound them to."""

    def affine(found: Affine) -> Affine:
        return found.substitute(values)

    def region(found: Region) -> Region:
        return Region(found.buffer, affine(found.rank), tuple(map(affine, found.origin)))

    return rewritten(node, region, affine) if values else node
