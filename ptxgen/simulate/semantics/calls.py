"""Calls: the lanes of a group go on in a function, each caller's registers kept for when they come back."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, field, frozen

from ptxgen.ir import Call, Parameter, Register, SymbolAddress
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.functions import STACK_BYTES, Body
from ptxgen.simulate.group import Frame, Group
from ptxgen.simulate.semantics.control import parted
from ptxgen.simulate.signals import Outcome, Parted, Signal, Step
from ptxgen.simulate.site import Array, Bank, Reader, Site, storage_dtype
from ptxgen.simulate.stack import Stack


@define(eq=False)
class Callee:
    """A function as decoded: its bank for names, its address as a number, the index of its first instruction."""

    body: Body
    bank: Bank
    address: int
    start: int = 0


def call(site: Site, statement: Call, frame_bytes: int, callees: dict[str, Callee]) -> Step:
    """The lanes where the guard holds go on in the function; those of an indirect call in the one that each names."""
    guard, after = site.guard(), site.index + 1
    direct = statement.target.name if isinstance(statement.target, SymbolAddress) else None
    address_of = None if direct is not None else site.scalar(statement.target, np.dtype(np.int64))
    entries = [
        _Entry(site, statement, _readers(site, statement, each.body.function.parameters), each, frame_bytes)
        for name, each in callees.items()
        if name == direct or (direct is None and _fits(statement, each))
    ]
    if not entries:
        raise site.unsupported(f"no function {direct}" if direct else "no function that takes such arguments")

    def step(group: Group, batch: Batch) -> Outcome:
        lanes = group.active(guard(group.registers) if guard is not None else None)
        lanes = group.lanes() if lanes is None else lanes
        groups: list[Group | None] = [group.part(group.lanes() & ~lanes, after)]
        if address_of is None:
            groups.append(entries[0].enter(lanes, group, batch))
        else:
            address = np.broadcast_to(address_of(group.registers), group.shape)
            for entry in entries:
                here = lanes & (address == entry.callee.address)
                groups.append(entry.enter(here, group, batch))
                lanes = lanes & ~here
            _lose(site, lanes, group, batch, "call.target", "calls an address where no function of this kind is")
        going = tuple(each for each in groups if each is not None)
        return Parted(going) if going else Signal.END

    return step


def _fits(statement: Call, callee: Callee) -> bool:
    function = callee.body.function
    return len(function.parameters) == len(statement.arguments) and len(function.returns) == len(statement.returns)


def _readers(site: Site, statement: Call, parameters: tuple[Parameter, ...]) -> tuple[Reader | None, ...]:
    """The readers of the arguments that are values; None for variables, whose bytes are copied."""
    if len(statement.arguments) != len(parameters):
        raise site.unsupported(f"{len(statement.arguments)} arguments for {len(parameters)} parameters")
    return tuple(
        None if isinstance(argument, SymbolAddress) else site.scalar(argument, storage_dtype(parameter.type))
        for argument, parameter in zip(statement.arguments, parameters, strict=True)
    )


def _lose(site: Site, lanes: Array, group: Group, batch: Batch, code: str, what: str) -> None:
    """Report lanes that cannot be called for, and end them."""
    if not lanes.any():
        return
    row, lane = map(int, np.argwhere(lanes)[0])
    thread, count = batch.thread(group, row, lane), int(lanes.sum())
    batch.journal.fault(code, site.index, lambda: f"{what}; these lanes end", thread=thread, count=count)
    batch.present[group.warps] &= ~lanes


@frozen(eq=False)
class _Entry:
    """A call of one function: what it passes and takes back. `places` are those of its parameters in registers."""

    site: Site
    statement: Call
    readers: tuple[Reader | None, ...]
    callee: Callee
    frame_bytes: int
    places: dict[str, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        function = self.callee.body.function
        of_registers = (each for each in (*function.parameters, *function.returns) if each.register)
        places = {each.name: self.callee.bank.place_of(Register(each.name, each.type)) for each in of_registers}
        object.__setattr__(self, "places", places)

    def enter(self, lanes: Array, group: Group, batch: Batch) -> Group | None:
        """The group of these lanes at the function's start, with their arguments passed; None without lanes."""
        inside, caller = group.part(lanes, self.callee.start), group.part(lanes, self.site.index + 1)
        if inside is None or caller is None:
            return None
        function, size = self.callee.body.function, self.callee.body.frame.size_bytes
        base = int(group.registers[self.site.bank.frame()].flat[0])
        above = base + self.frame_bytes
        reserved = 0 if self.site.bank.stack_place is None else STACK_BYTES
        if above + size > batch.spaces["local"].size_bytes - reserved:
            what = f"calls {function.name} with no stack left in local memory"
            _lose(self.site, lanes, group, batch, "stack.overflow", what)
            return None
        stack = Stack(inside, batch)
        stack.clear(above, size)
        for argument, read, parameter in zip(self.statement.arguments, self.readers, function.parameters, strict=True):
            self._pass(argument, read, parameter, stack, base, above)
        inside.registers[self.site.bank.frame()] = np.full((1, 1), above, np.int64)
        inside.frames = (*group.frames, Return(self.site.index, base, caller, self, above))
        return inside

    def _pass(
        self, argument: Any, read: Reader | None, parameter: Parameter, stack: Stack, base: int, above: int
    ) -> None:
        r = stack.group.registers
        if parameter.register and read is not None:
            r[self.places[parameter.name]] = read(r)
            return
        target = above + self.callee.body.frame.offsets[parameter.name]
        if isinstance(argument, SymbolAddress):
            stack.move(base + self.site.symbol(argument.name) + argument.offset, target, parameter.size_bytes)
        elif read is not None:
            stack.store(target, read(r))

    def take(self, back: Group, caller: Group, batch: Batch, base: int, above: int) -> None:
        """Give the caller's group what the group that comes back returns."""
        stack = Stack(back, batch)
        for result, parameter in zip(self.statement.returns, self.callee.body.function.returns, strict=True):
            if isinstance(result, SymbolAddress):
                target = base + self.site.symbol(result.name) + result.offset
                stack.move(above + self.callee.body.frame.offsets[parameter.name], target, parameter.size_bytes)
            elif isinstance(result, Register):
                place = self.site.bank.place_of(result)
                dtype = self.site.bank.dtypes[place]
                if parameter.register:
                    found = back.registers[self.places[parameter.name]]
                    values = np.broadcast_to(found, back.shape)[back.lanes()].astype(dtype)
                else:
                    values = stack.load(above + self.callee.body.frame.offsets[parameter.name], dtype)
                caller.registers[place] = placed(caller, back, place, values)


@frozen(eq=False)
class Return(Frame):
    """A call as the function's `ret` needs it: the entry that it came by, and where the function's frame starts."""

    entry: _Entry
    above: int

    def with_caller(self, caller: Group) -> Return:
        """The same call for other lanes."""
        return Return(self.site, self.base, caller, self.entry, self.above)


def placed(group: Group, back: Group, place: int, values: Array) -> Array:
    """A register of `group` with the values [lanes] of the live lanes of `back`, whose warps it has all."""
    old = group.registers[place]
    made = np.zeros(group.shape, values.dtype) if old is None else np.array(np.broadcast_to(old, group.shape))
    rows, lanes = np.nonzero(back.lanes())
    made[np.searchsorted(group.warps, back.warps)[rows], lanes] = values
    return made


def back(site: Site) -> Step:
    """`ret` in a function: the lanes where the guard holds go back to the call."""
    guard = site.guard()

    def step(group: Group, batch: Batch) -> Outcome:
        lanes = group.active(guard(group.registers) if guard is not None else None)
        return come_back(group, batch, group.lanes() if lanes is None else lanes, site.index + 1)

    return step


def come_back(group: Group, batch: Batch, lanes: Array, after: int) -> Outcome:
    """Send these lanes back to their call with what they return; the rest goes on."""
    gone = group.part(lanes, after)
    if gone is None:
        return None
    frame = gone.frames[-1]
    caller = frame.caller.part(gone.lanes_of(frame.caller.warps), frame.caller.pc)
    rest = parted(group, ((group.lanes() & ~lanes, after),)).groups
    if caller is None or not isinstance(frame, Return):
        return Parted(rest)
    caller.last_turn = group.last_turn
    frame.entry.take(gone, caller, batch, frame.base, frame.above)
    return Parted((*rest, caller))
