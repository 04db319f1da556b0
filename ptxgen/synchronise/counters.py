"""Counters that go on from round to round of a ring's loops: where each role moves them on, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polyhedral import FloorDiv, Set
from ptxgen.errors import UnsupportedError
from ptxgen.order.atoms import Advance
from ptxgen.order.nest import Body, Nest, Path
from ptxgen.order.ops import Op, Time
from ptxgen.order.synchronisation import RingUse, Synchronisation
from ptxgen.synchronise.rings import RingAtoms


def advances(uses: Iterable[RingUse], ops: tuple[Op, ...], places: Nest) -> Iterator[RingAtoms]:
    """Directly behind its loop, each role that uses a ring moves the ring's counter on by the steps of the loop; once
    where several rings share it, and not where no round comes behind."""
    seen: set[tuple[Body, str]] = set()
    found = tuple(use for use in uses if use.counter)
    last: dict[tuple[str, str], Path] = {}
    for use in found:
        for number in (*use.writers, *use.readers):
            key = ops[number].role, use.counter
            last[key] = max(last.get(key, ()), places.paths[number])
    for use in found:
        for number in (*use.writers, *use.readers):
            op, path = ops[number], places.paths[number]
            ends = len(path) == 1 and path == last[op.role, use.counter]
            if not ends and (Body(op.role, path), use.counter) not in seen:
                seen.add((Body(op.role, path), use.counter))
                behind = places.positions[number][len(path) - 1] + 1
                yield RingAtoms(Body(op.role, path[:-1]), behind, (_advance(use, op),))


def _advance(use: RingUse, op: Op) -> Synchronisation:
    outer = op.time.loops[:-1]
    whole = Set(outer, tuple(dict.fromkeys(piece.split_on(use.loop)[1] for piece in op.domain.pieces)))
    atom = Advance(use.counter, steps_of(op, use.loop))
    return Synchronisation(op.role, atom, whole, Time(outer, (0,) * len(outer), ()), ())


def steps_of(op: Op, loop: str) -> FloorDiv:
    """How many steps a loop has in one round. UnsupportedError unless it counts from 0 to one bound."""
    return steps_in(op.domain, loop, op)


def steps_in(domain: Set, loop: str, op: Op) -> FloorDiv:
    """The same of a domain in which `op` runs."""
    if len(domain.pieces) == 1:
        lower, upper = domain.bounds(loop)
        if len(lower) == len(upper) == 1 and lower[0][0].is_constant and lower[0][0].constant == 0:
            last, divisor = upper[0]
            return FloorDiv(last + divisor, divisor)
    raise UnsupportedError(f"{op} ({op.line}) runs in {loop} over {domain}; roles count on where a loop has one bound")
