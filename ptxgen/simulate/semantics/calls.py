"""Calls: the lanes of a group run a function to its end, each call for itself, and come back."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, frozen

from ptxgen.ir import Call, Parameter, Register, SymbolAddress
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.functions import Body
from ptxgen.simulate.group import Group
from ptxgen.simulate.memory import ALLOCATED, WRITTEN
from ptxgen.simulate.signals import Outcome, Signal, Step
from ptxgen.simulate.site import Array, Bank, Reader, Site, storage_dtype


@define(eq=False)
class Callee:
    """A function as decoded: its bank for names, its address as a number, the index of its first instruction."""

    body: Body
    bank: Bank
    address: int
    start: int = 0


def call(site: Site, statement: Call, frame_bytes: int, callees: dict[str, Callee]) -> Step:
    """Run the function for the lanes where the guard holds; then go on with what has come back."""
    guard = site.guard()
    direct = statement.target.name if isinstance(statement.target, SymbolAddress) else None
    address_of = None if direct is not None else site.scalar(statement.target, np.dtype(np.int64))

    some_callee = callees[direct] if direct is not None else next(iter(callees.values()))
    readers = _readers(site, statement, some_callee.body.function.parameters)

    def step(group: Group, batch: Batch) -> Outcome:
        lanes = group.active(guard(group.registers) if guard is not None else None)
        lanes = group.lanes() if lanes is None else lanes
        if address_of is None:
            wanted = {direct: lanes}
        else:
            address = np.broadcast_to(address_of(group.registers), group.shape)
            wanted = {name: lanes & (address == each.address) for name, each in callees.items()}
        for name, some in wanted.items():
            if some.any() and name is not None:
                _Activation(site, statement, readers, callees[name], frame_bytes, group, batch).run(some)
        left = group.lanes() & batch.present[group.warps]
        if not left.any():
            return Signal.END
        if not np.array_equal(left, group.lanes()):
            group.keep(left)
        return None

    return step


def _readers(site: Site, statement: Call, parameters: tuple[Parameter, ...]) -> tuple[Reader | None, ...]:
    """The readers of the arguments that are values; None for variables, whose bytes are copied."""
    if len(statement.arguments) != len(parameters):
        raise site.unsupported(f"{len(statement.arguments)} arguments for {len(parameters)} parameters")
    return tuple(
        None if isinstance(argument, SymbolAddress) else site.scalar(argument, storage_dtype(parameter.type))
        for argument, parameter in zip(statement.arguments, parameters, strict=True)
    )


@frozen(eq=False)
class _Activation:
    """One call of a group."""

    site: Site
    statement: Call
    readers: tuple[Reader | None, ...]
    callee: Callee
    frame_bytes: int
    group: Group
    batch: Batch

    @property
    def base(self) -> int:
        """Where the caller's frame starts in local memory."""
        return int(self.group.registers[self.site.bank.frame()].flat[0])

    @property
    def above(self) -> int:
        """Where the function's frame starts."""
        return self.base + self.frame_bytes

    def run(self, lanes: Array) -> None:
        """Pass the arguments, run the function, take the results."""
        inside = self.group.part(lanes, self.callee.start)
        if inside is None or self.batch.enter is None:
            return
        size = self.callee.body.frame.size_bytes
        if self.above + size > self.batch.spaces["local"].size_bytes:
            self._overflow(inside)
            return
        function = self.callee.body.function
        stack = _Stack(inside, self.batch)
        stack.clear(self.above, size)
        passed = zip(self.statement.arguments, self.readers, function.parameters, strict=True)
        for argument, read, parameter in passed:
            self._pass(argument, read, parameter, stack)
        inside.registers[self.site.bank.frame()] = np.full((1, 1), self.above, np.int64)
        self.batch.returned.append([])
        self.batch.enter(inside)
        for back in self.batch.returned.pop():
            for result, parameter in zip(self.statement.returns, function.returns, strict=True):
                self._take(result, parameter, back)

    def _overflow(self, inside: Group) -> None:
        row, lane = map(int, np.argwhere(inside.lanes())[0])
        what = f"calls {self.callee.body.function.name} with no stack left in local memory; these lanes end"
        thread, count = self.batch.thread(inside, row, lane), inside.census()[1]
        self.batch.journal.fault("stack.overflow", self.site.index, lambda: what, thread=thread, count=count)
        self.batch.present[inside.warps] &= ~inside.lanes()

    def _pass(self, argument: Any, read: Reader | None, parameter: Parameter, stack: _Stack) -> None:
        r = stack.group.registers
        if parameter.register and read is not None:
            r[self.callee.bank.place_of(Register(parameter.name, parameter.type))] = read(r)
            return
        target = self.above + self.callee.body.frame.offsets[parameter.name]
        if isinstance(argument, SymbolAddress):
            source = self.base + self.site.symbol(argument.name) + argument.offset
            stack.move(source, target, parameter.size_bytes)
        elif read is not None:
            stack.store(target, read(r))

    def _take(self, result: Any, parameter: Parameter, back: Group) -> None:
        stack = _Stack(back, self.batch)
        if isinstance(result, SymbolAddress):
            source = self.above + self.callee.body.frame.offsets[parameter.name]
            target = self.base + self.site.symbol(result.name) + result.offset
            stack.move(source, target, parameter.size_bytes)
        elif isinstance(result, Register):
            place = self.site.bank.place_of(result)
            dtype = self.site.bank.dtypes[place]
            if parameter.register:
                found = back.registers[self.callee.bank.place_of(Register(parameter.name, parameter.type))]
                values = np.broadcast_to(found, back.shape)[back.lanes()].astype(dtype)
            else:
                values = stack.load(self.above + self.callee.body.frame.offsets[parameter.name], dtype)
            self.group.registers[place] = _placed(self.group, back, place, values)


def _placed(group: Group, back: Group, place: int, values: Array) -> Array:
    """The register of the caller with the values of the lanes that came back."""
    old = group.registers[place]
    made = np.zeros(group.shape, values.dtype) if old is None else np.array(np.broadcast_to(old, group.shape))
    rows, lanes = np.nonzero(back.lanes())
    made[np.searchsorted(group.warps, back.warps)[rows], lanes] = values
    return made


@frozen(eq=False)
class _Stack:
    """The local memory of the lanes of a group, by address."""

    group: Group
    batch: Batch

    def index(self, address: int, size: int) -> Array:
        """Byte places of `size` bytes at an address: [live lanes, size]."""
        offsets = self.batch.spaces["local"].offsets
        if offsets is None or not size:
            return np.zeros((0, size), np.int64)
        lanes = offsets[self.group.warps][self.group.lanes()]
        return lanes[:, None] + (address + np.arange(size))

    def clear(self, address: int, size: int) -> None:
        """Make bytes count as never written."""
        self.batch.spaces["local"].arena.shadow[self.index(address, size)] = ALLOCATED

    def move(self, source: int, target: int, size: int) -> None:
        """Copy bytes and whether they were written."""
        arena = self.batch.spaces["local"].arena
        taken, put = self.index(source, size), self.index(target, size)
        arena.data[put], arena.shadow[put] = arena.data[taken], arena.shadow[taken]

    def store(self, address: int, value: Array) -> None:
        """Write an array [warps, 32]."""
        arena = self.batch.spaces["local"].arena
        bits = np.ascontiguousarray(np.broadcast_to(value, self.group.shape)[self.group.lanes()])
        place = self.index(address, bits.itemsize)
        arena.data[place] = bits.view(np.uint8).reshape(len(bits), -1)
        arena.shadow[place] = WRITTEN

    def load(self, address: int, dtype: np.dtype[Any]) -> Array:
        """Read values of the live lanes."""
        found = self.batch.spaces["local"].arena.data[self.index(address, dtype.itemsize)]
        values: Array = np.ascontiguousarray(found).view(dtype)[:, 0]
        return values


def back(site: Site) -> Step:
    """`ret` in a function: the lanes where the guard holds go back to the call."""
    guard = site.guard()

    def step(group: Group, batch: Batch) -> Outcome:
        lanes = group.active(guard(group.registers) if guard is not None else None)
        return come_back(group, batch, group.lanes() if lanes is None else lanes, site.index + 1)

    return step


def come_back(group: Group, batch: Batch, lanes: Array, after: int) -> Outcome:
    """Hand these lanes to the call that runs; the rest goes on."""
    gone = group.part(lanes, after)
    if gone is None:
        return None
    batch.returned[-1].append(gone)
    left = group.lanes() & ~lanes
    if not left.any():
        return Signal.END
    group.keep(left)
    return None
