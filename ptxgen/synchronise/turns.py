"""Turns: units of a role that take work items in rotation, or share them and take a phase of each step of a loop in
rotation, go through it one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from polyhedral import Affine, Set, var
from ptxgen.errors import UnsupportedError
from ptxgen.order.atoms import PassTurn, TakeTurn
from ptxgen.order.nest import Body, Nest
from ptxgen.order.ops import Op, Time
from ptxgen.order.synchronisation import Synchronisation, TurnUse, numbered
from ptxgen.order.threads import SEVERAL, Rotation, Threads
from ptxgen.synchronise.rotation import counted_in_loop, steps_around
from ptxgen.tile import WARPGROUP

PARTS = ("", ".shared", ".rows", ".global")
LANES = 32


@frozen(eq=False)
class TurnAtoms:
    """What a phase puts into a body: `take` at gap `before`, behind all that is waited for there, `passed` at gap
    `behind`, before all else but what closes the phase's groups."""

    body: Body
    before: int
    behind: int
    take: Synchronisation
    passed: Synchronisation


def turn_uses(
    asked: Iterable[Rotation], ops: tuple[Op, ...], threads: Mapping[str, Threads], places: Nest
) -> tuple[TurnUse, ...]:
    """The phases that are asked for, each with all ops of its statement but the filling of its sums, which no other
    unit has to wait for. A turn is passed on by each warp, since one thread alone does not know how far the others are.
    """
    found: list[TurnUse] = []
    for rotation in asked:
        who = threads.get(rotation.role, SEVERAL)
        warps = max(1, who.threads // who.units // LANES)
        for phase in rotation.phases:
            names = {phase + part for part in PARTS}
            own = tuple(n for n, op in enumerate(ops) if op.role == rotation.role and op.name in names)
            if not own:
                names_there = ", ".join(op.name for op in ops if op.role == rotation.role)
                raise UnsupportedError(f"turns of {phase}: {rotation.role} has no op of it; there are {names_there}")
            use = TurnUse(f"turns of {phase}", rotation.role, who.units, own, warps)
            found.append(counted_in_loop(use, rotation, ops, places) if rotation.over else use)
    return tuple(found)


def turn_atoms(uses: Iterable[TurnUse], ops: tuple[Op, ...], places: Nest) -> Iterator[TurnAtoms]:
    """Directly before the first op of a phase the unit takes the turn that the one before has passed on, directly
    behind the last one it passes it on. With as many slots as units each slot is filled by one unit alone, and whoever
    waits for it has waited there for the turn before."""
    for use in uses:
        first = ops[use.ops[0]]
        time, whole, turn = _of_steps(use, first) if use.loops else _of_items(first)
        positions = [places.positions[number][use.depth] for number in use.ops]
        take = Synchronisation(use.role, TakeTurn(use.name), whole, time, (), turn + use.units - 1)
        passed = Synchronisation(use.role, PassTurn(use.name), whole, time, (), turn)
        body = Body(use.role, places.paths[use.ops[0]][: use.depth])
        yield TurnAtoms(body, min(positions), max(positions) + 1, take, passed)


def _of_items(first: Op) -> tuple[Time, Set, Affine]:
    """When a unit takes its turn in its item, in which items, and which turn that is."""
    items = first.time.loops[0]
    whole = Set((items,), tuple(dict.fromkeys(piece.split_on(items)[0] for piece in first.domain.pieces)))
    return Time((items,), (0,), ()), whole, var(items)


def _of_steps(use: TurnUse, first: Op) -> tuple[Time, Set, Affine]:
    """The same of units that share every item: in each step of a loop each of them has a turn."""
    time = Time(use.loops, first.time.ahead[: use.depth], ())
    return time, steps_around(first, use.depth), numbered(use.loops[-1], use.counter) * use.units + var(WARPGROUP)
