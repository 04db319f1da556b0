"""Units that take work items, or phases of a loop, in rotation: whether the turns that are passed on order a phase of
one item before that of the next, and the uses of a ring with it.

In rounds, each of which gives every unit one item, all of it is translation by constants: unit u has item number
`units` * r + u in round r, and the turn that it waits for lies in the slot of one unit alone. So the rounds are judged
like any other program, a role for each unit and a ring of one slot for each slot. Where units share every item a round
is a step of the loop, and the turns there are numbered as the items are else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from isa.mechanisms import REGISTERS, IssuedBy
from polyhedral import Affine, Set, var
from ptxgen.errors import Finding
from ptxgen.order.atoms import (
    Arrive,
    AtomProgram,
    Issue,
    Obligation,
    PassTurn,
    Placed,
    Ring,
    RoleBody,
    Side,
    TakeTurn,
    Turn,
    Wait,
)
from ptxgen.order.ops import Op
from ptxgen.order.requirement import EventKind
from ptxgen.order.synchronisation import Synchronisation, Synchronised, TurnUse
from ptxgen.order.threads import SEVERAL, Threads
from ptxgen.prove.checker import check
from ptxgen.prove.constants import finding
from ptxgen.prove.parts import Part
from ptxgen.prove.rotation import rotation_faults, steps_of_phase, turns_of_steps

ITEM_DEPTH = 1


def turn_faults(synchronised: Synchronised, threads: Mapping[str, Threads], *, needless: bool) -> Iterator[Finding]:
    """Turns that do not order their phase, or are not taken and passed on once for each item, or step (code
    `synchronisation.turns`, and those of `check`)."""
    for use in synchronised.turns:
        own, first = _atoms(synchronised, use), synchronised.ops[use.ops[0]]
        whole, around = steps_of_phase(first, use), first.time.place[: use.depth]
        each = "step" if use.loops else "item"
        for atom in own:
            placed = len(atom.time.place) == use.depth + 1 and atom.time.place[: use.depth] == around
            if not placed or atom.time.loops != whole.dims or not atom.domain.equals(whole):
                yield finding("turns", f"{atom.atom} by {atom.role} is not done once for every {each}")
            elif not _number(atom, use, whole).is_constant:
                yield finding("turns", f"{atom.atom} by {atom.role} is for turn {atom.rank}, which no {each} has")
        strays = tuple(rotation_faults(synchronised, use, own, whole)) if use.loops else ()
        yield from strays
        if not strays and all(_number(atom, use, whole).is_constant for atom in own):
            yield from check(rounds(synchronised, use, threads), needless=needless).findings


def _number(atom: Synchronisation, use: TurnUse, whole: Set) -> Affine:
    """How far the number of a turn is from that of the item, or of the step and unit."""
    return atom.rank - (turns_of_steps(use) if use.loops else var(whole.dims[0]))


def rounds(synchronised: Synchronised, use: TurnUse, threads: Mapping[str, Threads]) -> AtomProgram:
    """The units of a role side by side, round by round: what each does for its item is ordered behind the unit before
    it, and the first unit's behind the last unit's of the round before."""
    who, ops = threads.get(use.role, SEVERAL), _ops(synchronised, use)
    each = who.threads // who.units
    sides = _sides(synchronised, use)
    roles: list[RoleBody] = []
    for unit in range(use.units):
        placed = [(op.time.place[use.depth], _issued(op, use, unit)) for op in ops]
        placed += [(a.time.place[use.depth], _in_round(a, use, unit, sides)) for a in _atoms(synchronised, use)]
        body = tuple(atom for _, atom in sorted(placed, key=lambda found: found[0]))
        roles.append(RoleBody(f"{use.role}, unit {unit}", 1, each, body))
    rings = tuple(
        Ring(_slot(use, slot), 1, use.count * (side is Side.FULL), use.count * (side is Side.EMPTY))
        for slot, side in sorted(sides.items())
    )
    return AtomProgram(tuple(roles), rings, tuple(_asked(synchronised, use)))


def _sides(synchronised: Synchronised, use: TurnUse) -> dict[int, Side]:
    """What the turn in each slot is to the unit that waits for it: something of the same round, FULL, or what the slot
    had in the round before, EMPTY."""
    found = dict.fromkeys(range(use.units), Side.EMPTY)
    for atom in _atoms(synchronised, use):
        if isinstance(atom.atom, TakeTurn):
            numbers = (unit + _offset(atom, use) for unit in range(use.units))
            found |= {n % use.units: Side.FULL if n >= use.units else Side.EMPTY for n in numbers}
    return found


def _issued(op: Op, use: TurnUse, unit: int) -> Placed:
    return Placed(Issue(_named(str(op), unit), REGISTERS), op.time.ahead[use.depth - 1])


def _in_round(atom: Synchronisation, use: TurnUse, unit: int, sides: Mapping[int, Side]) -> Placed:
    """What a unit does in a round: turn number n is that of round n div `units` in its slot, and who takes it waits for
    the one before."""
    rounds, place = divmod(unit + _offset(atom, use), use.units)
    slot, side = _slot(use, place), sides[place]
    rounds += atom.time.ahead[-1]
    if isinstance(atom.atom, TakeTurn):
        return Placed(Wait(slot, side), rounds - 1 if side is Side.FULL else rounds)
    return Placed(Arrive(slot, side, IssuedBy.WARP), rounds)


def _slot(use: TurnUse, slot: int) -> str:
    return f"{use.name}, slot {slot}"


def _offset(atom: Synchronisation, use: TurnUse) -> int:
    """The constant that the number of a turn is away by."""
    return (atom.rank - turns_of_steps(use)).constant if use.loops else atom.rank.constant


def _asked(synchronised: Synchronised, use: TurnUse) -> Iterator[Obligation]:
    for unit in range(use.units):
        after, rounds_later = (unit + 1) % use.units, int(unit + 1 == use.units)
        for first in _ops(synchronised, use):
            for second in _ops(synchronised, use):
                label = f"{use.name}: {first} of unit {unit} before {second} of unit {after}"
                ends = _named(str(first), unit), EventKind.ISSUE, _named(str(second), after)
                yield Obligation(*ends, rounds_later, label)


def _ops(synchronised: Synchronised, use: TurnUse) -> list[Op]:
    return [synchronised.ops[number] for number in use.ops]


def _named(op: str, unit: int) -> str:
    return f"{op} of unit {unit}"


def _atoms(synchronised: Synchronised, use: TurnUse) -> list[Synchronisation]:
    return [a for a in synchronised.atoms if isinstance(a.atom, TakeTurn | PassTurn) and a.atom.turns == use.name]


def turns_between(synchronised: Synchronised, part: Part, role: RoleBody) -> Iterator[Turn]:
    """The order between the last step of an item and the first step of the next one that a turn gives, where all waits
    of the role for its rings stand between taking and passing it."""
    steps = [n for n, placed in enumerate(role.body) if isinstance(placed.atom, Wait | Issue) and not placed.ahead]
    if not role.alternates or not steps:
        return
    loops = [key[1] for key in part.keys if key[0] == role.name]
    for use in synchronised.turns:
        own = _atoms(synchronised, use)
        takes = [a.time.place[ITEM_DEPTH] for a in own if isinstance(a.atom, TakeTurn)]
        passes = [a.time.place[ITEM_DEPTH] for a in own if isinstance(a.atom, PassTurn)]
        if use.role != role.name or not takes or not passes:
            continue
        if all(len(path) > ITEM_DEPTH and min(takes) < path[ITEM_DEPTH][0] < max(passes) for path in loops):
            yield Turn(role.name, steps[-1], steps[0])
