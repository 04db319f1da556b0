"""Functions without a body that device code may call: printing, assertions, the heap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

from ptxgen.ir import Call, Register, SymbolAddress
from ptxgen.simulate.accesses import WINDOWS
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.memory import WRITTEN
from ptxgen.simulate.printing import printed
from ptxgen.simulate.semantics.calls import placed
from ptxgen.simulate.semantics.control import parted
from ptxgen.simulate.signals import Outcome, Parted, Signal, Step
from ptxgen.simulate.site import Array, Reader, Site
from ptxgen.simulate.stack import Stack

_LONGEST_TEXT = 1 << 16


@frozen(eq=False)
class Visit:
    """The call of one thread: where it stands, and its arguments as numbers."""

    site: Site
    group: Group
    batch: Batch
    row: int
    lane: int
    arguments: tuple[int, ...]

    def bytes_at(self, address: int, size: int) -> bytes:
        """What stands at a generic address, as far as it was written."""
        name, start = next(
            ((name, address - window) for name, window in WINDOWS if 0 <= address - window < 1 << 32),
            ("global", address),
        )
        memory = self.batch.spaces[name]
        place = start - memory.base
        if memory.offsets is not None:
            offsets = memory.offsets[self.group.warps[self.row]]
            place += int(offsets if memory.offsets.ndim == 1 else offsets[self.lane])
        if place < 0:
            return b""
        written = memory.arena.shadow[place : place + size] == WRITTEN
        return memory.arena.data[place : place + (size if written.all() else int(written.argmin()))].tobytes()

    def text_at(self, address: int) -> str:
        """The string that stands at a generic address."""
        return self.bytes_at(address, _LONGEST_TEXT).partition(b"\0")[0].decode("utf-8", "replace")

    def fault(self, code: str, what: str) -> None:
        """Report this thread."""
        thread = self.batch.thread(self.group, self.row, self.lane)
        self.batch.journal.fault(code, self.site.index, lambda: what, thread=thread)


@frozen
class External:
    """A function by its arguments' widths in bytes and what it does for a thread: the result, or None to end it."""

    argument_bytes: tuple[int, ...]
    result_bytes: int
    visit: Callable[[Visit], int | None]


def _vprintf(visit: Visit) -> int:
    form, arguments = visit.arguments
    text, count = printed(
        visit.text_at(form), lambda offset, size: visit.bytes_at(arguments + offset, size).ljust(size, b"\0"),
        visit.text_at,
    )  # fmt: skip
    visit.batch.journal.printed.append(text)
    return count


def _assertfail(visit: Visit) -> None:
    message, file, line, function, _ = visit.arguments
    where = f"{visit.text_at(file)}:{line}: {visit.text_at(function)}"
    visit.fault("assert", f"says that an assertion does not hold, {where}: {visit.text_at(message)}")


def _malloc(visit: Visit) -> int:
    return visit.batch.heap.take(visit.arguments[0]) if visit.batch.heap is not None else 0


def _free(visit: Visit) -> int:
    (address,) = visit.arguments
    if visit.batch.heap is None or not visit.batch.heap.give_back(address):
        visit.fault("heap.free", f"frees {address:#x}, which malloc did not give or which was freed before")
    return 0


EXTERNALS: dict[str, External] = {
    "vprintf": External((8, 8), 4, _vprintf),
    "__assertfail": External((8, 8, 4, 8, 8), 0, _assertfail),
    "malloc": External((8,), 8, _malloc),
    "free": External((8,), 0, _free),
}


def external(site: Site, statement: Call, name: str) -> Step:
    """A call of one of these functions, thread after thread in the order of the lanes."""
    function = EXTERNALS[name]
    if len(statement.arguments) != len(function.argument_bytes):
        raise site.unsupported(f"{len(statement.arguments)} arguments for the {len(function.argument_bytes)} of {name}")
    guard, frame, after = site.guard(), site.bank.frame(), site.index + 1
    given = zip(statement.arguments, function.argument_bytes, strict=True)
    readers = [_reader(site, each, size) for each, size in given]
    result = statement.returns[0] if statement.returns else None

    def step(group: Group, batch: Batch) -> Outcome:
        lanes = group.active(guard(group.registers) if guard is not None else None)
        inside = group.part(group.lanes() if lanes is None else lanes, site.index)
        if inside is None:
            return None
        stack, base = Stack(inside, batch), int(group.registers[frame].flat[0])
        columns = [read(stack, base) for read in readers]
        threads = np.argwhere(inside.lanes()).tolist()
        results = [
            function.visit(Visit(site, inside, batch, row, lane, tuple(int(each[at]) for each in columns)))
            for at, (row, lane) in enumerate(threads)
        ]
        if any(each is None for each in results):
            return _end(group, batch, inside, after)
        values = np.array(results, f"u{function.result_bytes or 8}")
        if isinstance(result, SymbolAddress):
            stack.store_lanes(base + site.symbol(result.name) + result.offset, values)
        elif isinstance(result, Register):
            place = site.bank.place_of(result)
            group.registers[place] = placed(group, inside, place, values.astype(site.bank.dtypes[place]))
        return None

    return step


def _end(group: Group, batch: Batch, inside: Group, after: int) -> Outcome:
    """End the lanes that called; the rest goes on."""
    lanes = inside.lanes_of(group.warps)
    batch.present[group.warps] &= ~lanes
    rest = parted(group, ((group.lanes() & ~lanes, after),)).groups
    return Parted(rest) if rest else Signal.END


def _reader(site: Site, argument: Any, size: int) -> Callable[[Stack, int], Array]:
    """An argument of the live lanes as unsigned numbers of that width."""
    dtype = np.dtype(f"u{size}")
    if isinstance(argument, SymbolAddress):
        start = site.symbol(argument.name) + argument.offset
        return lambda stack, base: stack.load(base + start, dtype)
    read: Reader = site.scalar(argument, dtype)

    def lanes(stack: Stack, base: int) -> Array:
        group = stack.group
        values: Array = np.broadcast_to(read(group.registers), group.shape)[group.lanes()]
        return values

    return lanes
