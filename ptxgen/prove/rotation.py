"""Units that share every work item and take phases of a loop in rotation: in which steps, and whether each of them has
a turn of its own through all rounds of the loop."""

from __future__ import annotations

from collections.abc import Iterator

from polyhedral import Affine, Set, var
from ptxgen.errors import Finding
from ptxgen.order.atoms import Advance
from ptxgen.order.ops import Op
from ptxgen.order.synchronisation import Synchronisation, Synchronised, TurnUse
from ptxgen.prove.constants import finding
from ptxgen.prove.counters import misplaced, uneven_steps
from ptxgen.tile import WARPGROUP


def steps_of_phase(op: Op, use: TurnUse) -> Set:
    """All items, or all steps of the loops around the phase, as an op of it has them: what lies in a loop inside them
    is of a step whether it runs there or not."""
    if not use.loops:
        items = op.domain.dims[0]
        return Set((items,), tuple(dict.fromkeys(piece.split_on(items)[0] for piece in op.domain.pieces)))
    outer = op.time.loops[: use.depth]
    pieces = list(op.domain.pieces)
    for inner in op.time.loops[use.depth :]:
        pieces = [piece.split_on(inner)[1] for piece in pieces]
    return Set(outer, tuple(dict.fromkeys(pieces)))


def turns_of_steps(use: TurnUse) -> Affine:
    """The number of a unit's turn in a step: those of a step follow each other, those of the next step follow them."""
    step = var(use.loops[-1])
    return (step + var(use.counter) if use.counter else step) * use.units + var(WARPGROUP)


def rotation_faults(
    synchronised: Synchronised, use: TurnUse, own: list[Synchronisation], whole: Set
) -> Iterator[Finding]:
    """Ops of a phase that are not all in the same steps of one body, a loop that has rounds which nothing counts, and a
    counter that counts anything but its steps."""
    ops = [synchronised.ops[number] for number in use.ops]
    around = ops[0].time.place[: use.depth]
    for op in ops:
        here = op.time.loops[: use.depth] == use.loops and op.time.place[: use.depth] == around
        if not here or not steps_of_phase(op, use).equals(whole):
            text = f"{use.name}: {op} is not in the steps of {use.loops[-1]} that {ops[0]} is in"
            yield finding("turns", text, op.line)
    if bool(use.counter) != (use.depth > 1):
        yield finding("turns", f"{use.name}: {use.counter or 'nothing'} counts the rounds of {', '.join(use.loops)}")
    if use.counter:
        counts = [a for a in synchronised.atoms if a.role == use.role and _counts(a, use.counter)]
        for text in _wrong(use, [*ops, *own], counts, whole):
            yield finding("counter", f"the counter {use.counter} {text}")


def _counts(atom: Synchronisation, counter: str) -> bool:
    return isinstance(atom.atom, Advance) and atom.atom.counter == counter


def _wrong(use: TurnUse, uses: list[Op | Synchronisation], counts: list[Synchronisation], whole: Set) -> Iterator[str]:
    if len(counts) != 1:
        yield f"is advanced {len(counts)} times; the turns of {use.loops[-1]} want it once, behind that loop"
        return
    if any(counts[0].time.ahead):
        yield "is advanced in another round than its own"
    yield from misplaced(use.loops, uses, [], counts[0])
    yield from uneven_steps(whole, use.name, counts[0])
