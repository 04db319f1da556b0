"""Counters that go on across the items of a work list: where each role moves them on, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polyhedral import FloorDiv, Set
from ptxgen.errors import UnsupportedError
from ptxgen.order.atoms import Advance
from ptxgen.order.nest import Body, Nest
from ptxgen.order.ops import Op, Time
from ptxgen.order.synchronisation import RingUse, Synchronisation
from ptxgen.synchronise.rings import RingAtoms


def advances(uses: Iterable[RingUse], ops: tuple[Op, ...], places: Nest) -> Iterator[RingAtoms]:
    """Behind everything else of an item, each role that uses a ring moves the ring's counter on by the steps of its
    loop; once where several rings share it."""
    seen: set[tuple[str, str]] = set()
    for use in uses:
        for number in (*use.writers, *use.readers):
            op = ops[number]
            if use.counter and (op.role, use.counter) not in seen:
                seen.add((op.role, use.counter))
                body = Body(op.role, places.paths[number][:1])
                yield RingAtoms(body, len(places.items[body]), (_advance(use, op),))


def _advance(use: RingUse, op: Op) -> Synchronisation:
    items = op.time.loops[0]
    whole = Set((items,), tuple(dict.fromkeys(piece.split_on(items)[0] for piece in op.domain.pieces)))
    atom = Advance(use.counter, steps_of(op, use.loop))
    return Synchronisation(op.role, atom, whole, Time((items,), (0,), ()), ())


def steps_of(op: Op, loop: str) -> FloorDiv:
    """How many steps a loop has in one item. UnsupportedError unless it counts from 0 to one bound."""
    if len(op.domain.pieces) == 1:
        lower, upper = op.domain.bounds(loop)
        if len(lower) == len(upper) == 1 and lower[0][0].is_constant and lower[0][0].constant == 0:
            last, divisor = upper[0]
            return FloorDiv(last + divisor, divisor)
    raise UnsupportedError(
        f"{op} ({op.line}) runs in {loop} over {op.domain}; roles count on across items where a loop has one bound"
    )
