"""The address operand and the condition of one access, wherever it stands: in a loop moving registers serve it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from polyhedral import Affine
from ptxgen.build import Not, Offset, Value
from ptxgen.lower.addresses import GlobalForm, RemainingForm, SharedForm
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.bases import global_base, remaining, shared_base
from ptxgen.lower.context import Context
from ptxgen.lower.moving import MovingCount, MovingPointer, MovingSlot, Wanted
from ptxgen.lower.threads import ThreadMap
from ptxgen.tile import Coordinate


@frozen
class Place:
    """Where an access goes: a form of address, the slot of a shared one, and an immediate in bytes."""

    form: GlobalForm | SharedForm
    slot: int
    byte_offset: int

    @property
    def wanted(self) -> Wanted:
        """What a loop prepares for it."""
        return self.form, self.slot


@frozen
class Bound:
    """The condition that an element is inside the array along one dimension: more than `beyond` elements remain."""

    form: RemainingForm
    beyond: int

    @property
    def wanted(self) -> Wanted:
        """What a loop prepares for it."""
        return self.form, 0


def address(context: Context, place: Place) -> Offset:
    """The address operand of an access."""
    form = place.form
    moving = context.moving.get(form)
    match form:
        case GlobalForm():
            if isinstance(moving, MovingPointer):
                return moving.register + (moving.byte_offset + place.byte_offset)
            return global_base(context, form) + place.byte_offset
        case SharedForm():
            if isinstance(moving, MovingSlot):
                moving.bring(context.k, place.slot)
                return moving.register + place.byte_offset
            known = place.slot * form.slot_bytes if form.rank.is_constant else 0
            return shared_base(context, form, place.slot) + (known + place.byte_offset)


class BoxBounds:
    """The bounds of elements of a box: `left` gives what remains of each guarded dimension from the box's origin, over
    symbols, and `threads` the threads' coordinates. Dimension `fastest` is asked last."""

    def __init__(self, left: Mapping[int, Affine], threads: Sequence[ThreadMap], fastest: int | None) -> None:
        self._left = left
        self._threads = threads
        self._order = sorted(left, key=lambda dimension: (dimension == fastest, dimension))
        self._known: dict[tuple[int, int], Bound] = {}
        self._forms: dict[tuple[int, ThreadMap], RemainingForm] = {}

    def at(self, inside: Coordinate) -> tuple[Bound, ...]:
        """The bounds of the element `inside` the box."""
        known = self._known
        return tuple([known.get((each, inside[each])) or self._bound(each, inside[each]) for each in self._order])

    def _bound(self, dimension: int, coordinate: int) -> Bound:
        threads, beyond = self._threads[dimension].flipped(coordinate)
        form = self._forms.get((dimension, threads))
        if form is None:
            form = self._forms[dimension, threads] = RemainingForm(self._left[dimension], threads)
        found = self._known[dimension, coordinate] = Bound(form, beyond)
        return found


class Inside:
    """Predicates that bounds and a further condition hold, for accesses that follow each other.

    What an access asks in common with the one before it is not asked again; older answers are not kept, since predicate
    registers are few.
    """

    def __init__(self, context: Context, also: Value | Not | None = None) -> None:
        self._context = context
        self._also = also
        self._last: list[tuple[Bound, Value | Not | bool | None]] = []
        self._left: dict[RemainingForm, Number] = {}

    def holds(self, bounds: Sequence[Bound]) -> Value | Not | bool | None:
        """The predicate; None where there is nothing to ask, False where one bound never holds."""
        same = 0
        for (last, _), bound in zip(self._last, bounds, strict=False):
            if last is not bound:
                break
            same += 1
        del self._last[same:]
        predicate = self._last[-1][1] if self._last else self._also
        for bound in bounds[same:]:
            predicate = self._joined(bound, predicate)
            self._last.append((bound, predicate))
        return predicate

    def _joined(self, bound: Bound, predicate: Value | Not | bool | None) -> Value | Not | bool | None:
        left = self._left.get(bound.form)
        if left is None:
            left = self._left[bound.form] = _left(self._context, bound.form)
        if isinstance(predicate, bool) or (isinstance(left, int) and left <= bound.beyond):
            return False
        if isinstance(left, int):
            return predicate
        if predicate is None:
            asked: Value = self._context.k.function("setp.gt.s32")(left, bound.beyond)
        else:
            asked = self._context.k.function("setp.gt.and.s32")(left, bound.beyond, predicate)
        return asked


def _left(context: Context, form: RemainingForm) -> Number:
    moving = context.moving.get(form)
    return moving.register if isinstance(moving, MovingCount) else remaining(context, form)
