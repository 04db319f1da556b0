"""Units that share every work item and take phases of a loop in rotation: which body that is in, and how its steps are
numbered through all rounds of the loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import evolve

from polyhedral import Set
from ptxgen.errors import UnsupportedError
from ptxgen.order.atoms import Advance
from ptxgen.order.nest import Body, Nest
from ptxgen.order.ops import Op, Time
from ptxgen.order.synchronisation import Synchronisation, TurnUse
from ptxgen.order.threads import Rotation
from ptxgen.synchronise.counters import steps_in
from ptxgen.synchronise.rings import RingAtoms


def counted_in_loop(use: TurnUse, rotation: Rotation, ops: tuple[Op, ...], places: Nest) -> TurnUse:
    """A phase in the body of the loop `over` that it is taken in rotation in, whose steps are counted."""
    loops = ops[use.ops[0]].time.loops[: _depth_of(rotation, use, ops, places)]
    return evolve(use, loops=loops, counter=_counter_of(ops, use.ops[0], len(loops), places))


def _depth_of(rotation: Rotation, use: TurnUse, ops: tuple[Op, ...], places: Nest) -> int:
    """How many loops are around the body of the loop `over` in which a phase's ops stand. UnsupportedError unless all
    of them stand in that body or in loops inside it, in the same steps and equally early."""
    first = ops[use.ops[0]]
    if rotation.over not in first.time.loops:
        inside = ", ".join(first.time.loops) or "no loop"
        raise UnsupportedError(f"turns over {rotation.over}: {first} ({first.line}) runs in {inside}")
    depth = first.time.loops.index(rotation.over) + 1
    for number in use.ops[1:]:
        other = ops[number]
        together = places.paths[number][:depth] == places.paths[use.ops[0]][:depth]
        if not together or other.time.ahead[:depth] != first.time.ahead[:depth]:
            raise UnsupportedError(
                f"{use.name} over {rotation.over}: {first} ({first.line}) and {other} ({other.line}) are not in "
                f"one body, equally early: no turn goes around both"
            )
        if not steps_around(other, depth).equals(steps_around(first, depth)):
            raise UnsupportedError(
                f"{use.name} over {rotation.over}: {first} ({first.line}) and {other} ({other.line}) do not run "
                f"in the same steps: a turn is taken in all of them"
            )
    return depth


def steps_around(op: Op, depth: int) -> Set:
    """The steps of the outer `depth` loops around an op; of loops inside them each may run no step at all."""
    pieces = op.domain.pieces
    for loop in op.time.loops[depth:]:
        pieces = tuple(piece.split_on(loop)[1] for piece in pieces)
    return Set(op.time.loops[:depth], tuple(dict.fromkeys(pieces)))


def _counter_of(ops: tuple[Op, ...], number: int, depth: int, places: Nest) -> str:
    """What counts the steps of a loop through all its rounds: the counter of a ring that the role uses in this loop and
    in no other, else one of its own; none for a loop that has one round."""
    if depth == 1:
        return ""
    op, path = ops[number], places.paths[number][:depth]
    loop = op.time.loops[depth - 1]
    of_rings = f"{loop}.past"
    users = [
        places.paths[n]
        for n, other in enumerate(ops)
        if other.role == op.role and any(touch.counter == of_rings for touch in other.touches)
    ]
    return of_rings if users and all(other == path for other in users) else f"{loop}.turned"


def turn_advances(uses: Iterable[TurnUse], ops: tuple[Op, ...], places: Nest) -> Iterator[RingAtoms]:
    """Directly behind the loop in which phases are taken in rotation, the role moves their own counter on."""
    seen = {(op.role, touch.counter) for op in ops for touch in op.touches}
    for use in uses:
        if use.counter and (use.role, use.counter) not in seen:
            seen.add((use.role, use.counter))
            number, outer = use.ops[0], use.loops[:-1]
            steps = steps_around(ops[number], use.depth)
            whole = Set(outer, tuple(dict.fromkeys(piece.split_on(use.loops[-1])[1] for piece in steps.pieces)))
            atom = Advance(use.counter, steps_in(steps, use.loops[-1], ops[number]))
            time = Time(outer, (0,) * len(outer), ())
            body = Body(use.role, places.paths[number][: use.depth - 1])
            behind = places.positions[number][use.depth - 1] + 1
            yield RingAtoms(body, behind, (Synchronisation(use.role, atom, whole, time, ()),))
