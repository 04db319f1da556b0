"""Turns: units of a role that take work items in rotation go through a phase of them one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from polyhedral import Set, var
from ptxgen.order.atoms import PassTurn, TakeTurn
from ptxgen.order.nest import Body, Nest
from ptxgen.order.ops import Op, Time
from ptxgen.order.synchronisation import Synchronisation, TurnUse
from ptxgen.order.threads import SEVERAL, Rotation, Threads

PARTS = ("", ".shared", ".rows", ".global")
LANES = 32


@frozen(eq=False)
class TurnAtoms:
    """What a phase puts into the body of an item: `take` last at gap `before`, `passed` first at gap `behind`."""

    body: Body
    before: int
    behind: int
    take: Synchronisation
    passed: Synchronisation


def turn_uses(asked: Iterable[Rotation], ops: tuple[Op, ...], threads: Mapping[str, Threads]) -> tuple[TurnUse, ...]:
    """The phases that are asked for, each with all ops of its statement but the filling of its sums, which no other
    unit has to wait for. A turn is passed on by each warp, since one thread alone does not know how far the others are.
    """
    found: list[TurnUse] = []
    for rotation in asked:
        who = threads.get(rotation.role, SEVERAL)
        for phase in rotation.phases:
            names = {phase + part for part in PARTS}
            own = tuple(n for n, op in enumerate(ops) if op.role == rotation.role and op.name in names)
            count = max(1, who.together.threads // LANES)
            found.append(TurnUse(f"turns of {phase}", rotation.role, who.units, own, count))
    return tuple(found)


def turn_atoms(uses: Iterable[TurnUse], ops: tuple[Op, ...], places: Nest) -> Iterator[TurnAtoms]:
    """Directly before the first op of a phase the unit takes the turn that the item before has passed on, directly
    behind the last one it passes it on. With as many slots as units each slot is filled by one unit alone, and whoever
    waits for it has waited there for the turn before."""
    for use in uses:
        first = ops[use.ops[0]]
        items = first.time.loops[0]
        whole = Set((items,), tuple(dict.fromkeys(piece.split_on(items)[0] for piece in first.domain.pieces)))
        time = Time((items,), (0,), ())
        positions = [places.positions[number][1] for number in use.ops]
        take = Synchronisation(use.role, TakeTurn(use.name), whole, time, (), var(items) + use.units - 1)
        passed = Synchronisation(use.role, PassTurn(use.name), whole, time, (), var(items))
        body = Body(use.role, places.paths[use.ops[0]][:1])
        yield TurnAtoms(body, min(positions), max(positions) + 1, take, passed)
