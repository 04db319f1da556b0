"""Registers that move with a loop: addresses initialised before it and advanced in its body, never recomputed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias, assert_never

from attrs import define, frozen

from isa.types import s32, s64
from polyhedral import Affine
from ptxgen.build import Kernel, Value
from ptxgen.lower.addresses import Form, GlobalForm, RemainingForm, SharedForm
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.bases import global_base, remaining, shared_base, shared_start
from ptxgen.lower.context import Context


@frozen
class MovingPointer:
    """A global address: `register` plus `byte_offset`; `step_bytes` further after each round."""

    register: Value
    byte_offset: int
    step_bytes: Number

    def finish_round(self, context: Context) -> None:
        """Moves it to the next round."""
        if not (isinstance(self.step_bytes, int) and self.step_bytes == 0):
            context.k.add.s64(self.register, self.step_bytes, into=self.register)


@frozen
class MovingCount:
    """Elements left to the end of an array, `step` fewer after each round."""

    register: Value
    step: int

    def finish_round(self, context: Context) -> None:
        """Moves it to the next round."""
        if self.step:
            context.k.sub.s32(self.register, self.step, into=self.register)


@define
class MovingSlot:
    """A shared address that stands at the slot of the tile `slot` places behind its form's rank.

    At the start of each round it stands at `first`; a round moves the rank on by `advance`. `other` holds the bits in
    which its two addresses differ where the depth is 2, else `end` is the address behind the ring's last slot.
    """

    register: Value
    depth: int
    slot_bytes: int
    first: int
    advance: int
    other: Value | None
    end: Value | None
    slot: int

    def bring(self, kernel: Kernel, slot: int) -> None:
        """Moves the register to the tile `slot` places behind the rank of this round."""
        distance = (slot - self.slot) % self.depth
        self.slot = slot % self.depth
        if distance == 0:
            return
        if self.other is not None:
            kernel.xor.b32(self.register, self.other, into=self.register)
            return
        assert self.end is not None
        kernel.add.s32(self.register, distance * self.slot_bytes, into=self.register)
        with kernel.guard(kernel.setp.ge.u32(self.register, self.end)):
            kernel.sub.s32(self.register, self.depth * self.slot_bytes, into=self.register)

    def finish_round(self, context: Context) -> None:
        """Brings it where the next round starts."""
        self.bring(context.k, self.first + self.advance)
        self.slot = self.first


Moving: TypeAlias = MovingPointer | MovingCount | MovingSlot
Wanted: TypeAlias = tuple[Form, int]


def start(context: Context, wanted: Iterable[Wanted], symbol: str, step: int, lower: Affine) -> dict[Hashable, Moving]:
    """The moving registers of a loop whose `symbol` starts at `lower` and grows by `step`, by form.

    `wanted` are the forms that the body uses with the slot of each; what does not depend on the symbol is computed now
    and kept, so that the body finds it.
    """
    moving: dict[Hashable, Moving] = {}
    for form, slot in wanted:
        if form in moving:
            continue
        if symbol in form.names():
            moving[form] = _started(context, form, slot, symbol, step, lower)
        else:
            _kept(context, form, slot)
    return moving


def _kept(context: Context, form: Form, slot: int) -> None:
    match form:
        case GlobalForm():
            global_base(context, form)
        case SharedForm():
            shared_base(context, form, slot)
        case RemainingForm():
            remaining(context, form)
        case _:
            assert_never(form)


def _started(context: Context, form: Form, slot: int, symbol: str, step: int, lower: Affine) -> Moving:
    values = {symbol: lower}
    match form:
        case GlobalForm():
            first, byte_offset = form.at(values)
            register = context.k.register(s64, global_base(context, first))
            return MovingPointer(register, byte_offset, context.wide_integer(form.advance(symbol, step)))
        case SharedForm():
            return _started_slot(context, form, slot, form.advance(symbol, step), form.at(values))
        case RemainingForm():
            register = context.k.register(s32, remaining(context, form.at(values)))
            return MovingCount(register, -form.extent.coefficient(symbol) * step)
        case _:
            assert_never(form)


def _started_slot(
    context: Context, form: SharedForm, slot: int, advance: int, first: tuple[SharedForm, int]
) -> MovingSlot:
    at_lower, further = first
    address = _slot_address(context, at_lower, slot + further)
    register = context.k.register(s32, address)
    other, end = None, None
    if form.depth == 2:
        other = context.k.xor.b32(address, _slot_address(context, at_lower, slot + further + 1))
    else:
        end = context.narrow.value(context.narrow.add(shared_start(context, form), form.depth * form.slot_bytes))
    return MovingSlot(register, form.depth, form.slot_bytes, slot, advance, other, end, slot)


def _slot_address(context: Context, form: SharedForm, slot: int) -> Value:
    known = slot % form.depth * form.slot_bytes if form.rank.is_constant else 0
    return context.narrow.value(context.narrow.add(shared_base(context, form, slot), known))
