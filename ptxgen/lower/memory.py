"""The address operand and the condition of one access, wherever it stands: in a loop moving registers serve it."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from ptxgen.build import Not, Offset, Value
from ptxgen.lower.addresses import GlobalForm, RemainingForm, SharedForm
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.bases import global_base, remaining, shared_base
from ptxgen.lower.context import Context
from ptxgen.lower.moving import MovingCount, MovingPointer, MovingSlot, Wanted


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


def inside(context: Context, bounds: Iterable[Bound], also: Value | Not | None = None) -> Value | Not | bool | None:
    """The predicate that the bounds and `also` hold; None where there is nothing to ask, False where one never holds."""
    predicate = also
    for bound in bounds:
        left = _left(context, bound.form)
        if isinstance(left, int):
            if left <= bound.beyond:
                return False
        elif predicate is None:
            predicate = context.k.setp.gt.s32(left, bound.beyond)
        else:
            predicate = context.k.setp.gt.and_.s32(left, bound.beyond, predicate)
    return predicate


def _left(context: Context, form: RemainingForm) -> Number:
    moving = context.moving.get(form)
    return moving.register if isinstance(moving, MovingCount) else remaining(context, form)
