"""What lowering knows while it writes a kernel: names in scope, values already computed, registers of tiles."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from attrs import frozen

from polyhedral import Affine, const, var
from ptxgen.build import Kernel, Symbol, Value
from ptxgen.compute import SourceLine
from ptxgen.errors import UnsupportedError
from ptxgen.ir import Origin
from ptxgen.lower.arithmetic import Arithmetic, Number
from ptxgen.lower.pool import SharedPool
from ptxgen.lower.registers import RegisterFile
from ptxgen.lower.threads import ThreadMap
from ptxgen.tile import LANE_BITS, ParameterKind, Program

Made = TypeVar("Made")


def origin_of(line: SourceLine) -> Origin:
    """A line of the user's plan or statement as the origin of instructions."""
    return Origin(line.file, line.line, line.function)


@frozen
class RoleThreads:
    """The threads that run a role: its warps, the first of them, and whether other roles share the block."""

    first_warp: int
    warps: int
    alone: bool


class Context:
    """The state of lowering one role. Names of the tile program are bound to affine expressions over symbols; a symbol
    is a parameter or stands for a register. `moving` are the moving addresses of the innermost loop, by form; `ticket`
    holds the number of a block that took one as it began."""

    def __init__(
        self,
        kernel: Kernel,
        program: Program,
        pool: SharedPool,
        shared: Symbol | None,
        threads: RoleThreads,
        ticket: Value | None = None,
    ) -> None:
        self.k = kernel
        self.program = program
        self.pool = pool
        self.shared = shared
        self.threads = threads
        self.ticket = ticket
        self.narrow = Arithmetic(kernel, 32)
        self.wide = Arithmetic(kernel, 64)
        self.tiles = RegisterFile(kernel)
        self.counters: dict[str, Value] = {}
        self._kinds = {parameter.name: parameter.kind for parameter in program.parameters}
        self._symbols: dict[str, Value] = {}
        self._bindings: dict[str, Affine] = {}
        self.moving: dict[Hashable, Any] = {}
        self._known: dict[Hashable, Any] = {}
        self._computed: list[Hashable] = []
        self._plans: dict[Hashable, Any] = {}

    @contextmanager
    def attributed(self, line: SourceLine) -> Iterator[None]:
        """Instructions written inside come from that line of the user's."""
        with self.k.attributed(origin_of(line)):
            yield

    @contextmanager
    def frame(self, moving: dict[Hashable, Any] | None = None) -> Iterator[None]:
        """What is computed inside is forgotten behind; `moving` makes it the body of a loop."""
        outside, before = self.moving, self._computed
        self._computed = list[Hashable]()
        if moving is not None:
            self.moving = moving
        yield
        for key in self._computed:
            del self._known[key]
        self.moving, self._computed = outside, before

    @contextmanager
    def bound(self, name: str, value: Affine) -> Iterator[None]:
        """Inside, the tile program's variable `name` is `value`, an expression over symbols."""
        before = self._bindings.get(name)
        self._bindings[name] = value
        yield
        if before is None:
            del self._bindings[name]
        else:
            self._bindings[name] = before

    def rebind(self, name: str, value: Affine) -> None:
        """From here on the variable `name`, which is in scope, is `value`."""
        self._bindings[name] = value

    @property
    def bindings(self) -> Mapping[str, Affine]:
        """The tile program's variables that are in scope."""
        return self._bindings

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` gives, computed where it is first asked for and kept while that place dominates."""
        found: Made | None = self._known.get(key)
        if found is None:
            found = self._known[key] = make()
            self._computed.append(key)
        return found

    def plan(self, node: object, make: Callable[[], Made]) -> Made:
        """What `make` gives for a node of the program, made once."""
        return self.alike(id(node), make)

    def alike(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` gives for all nodes that have `key` in common, made once."""
        if key not in self._plans:
            self._plans[key] = make()
        found: Made = self._plans[key]
        return found

    def symbol(self, name: str, register: Value) -> Affine:
        """A new symbol that stands for an s32 register, as an expression."""
        fresh = f"{name}'{len(self._symbols)}"
        self._symbols[fresh] = register
        return var(fresh)

    def resolved(self, affine: Affine) -> Affine:
        """An expression of the tile program over symbols."""
        return affine.substitute(self._bindings)

    def expression(self, number: Number, name: str) -> Affine:
        """A number as an expression: a constant, or a new symbol called after `name`."""
        return const(number) if isinstance(number, int) else self.symbol(name, number)

    def integer(self, affine: Affine) -> Number:
        """The s32 value of an expression over symbols; UnsupportedError where a 64-bit stride occurs in it."""
        return self.once(("s32", affine), lambda: self._sum(self.narrow, affine, self._narrow_symbol))

    def wide_integer(self, affine: Affine) -> Number:
        """The s64 value of an expression over symbols."""
        return self.once(("s64", affine), lambda: self._sum(self.wide, affine, self._wide_symbol))

    def has(self, affine: Affine) -> bool:
        """Whether every name of an expression over symbols has a value here."""
        return all(name in self._symbols or name in self._kinds for name in affine.names)

    def is_wide(self, affine: Affine) -> bool:
        """Whether a 64-bit stride occurs in an expression over symbols."""
        return any(self._kinds.get(name) is ParameterKind.STRIDE for name in affine.names)

    def _sum(self, arithmetic: Arithmetic, affine: Affine, value_of: Callable[[str], Value]) -> Number:
        total: Number = 0
        for name, coefficient in affine.terms:
            total = arithmetic.multiply_add(value_of(name), coefficient, total)
        return arithmetic.add(total, affine.constant)

    def _narrow_symbol(self, name: str) -> Value:
        if name in self._symbols:
            return self._symbols[name]
        match self._kinds.get(name):
            case ParameterKind.SIZE:
                size: Value = self.k.args[name]
                return size
            case None:
                raise UnsupportedError(f"{self.program.name}: {name!r} is neither a parameter nor a variable in scope")
            case kind:
                raise UnsupportedError(f"{self.program.name}: {name!r} is a {kind.value} and cannot stand in an index")

    def _wide_symbol(self, name: str) -> Value:
        if self._kinds.get(name) is ParameterKind.STRIDE:
            stride: Value = self.k.args[name]
            return stride
        return self.once(("widened", name), lambda: self.widened(self._narrow_symbol(name)))

    def divided(self, number: Number, divisor: Number) -> tuple[Number, Number]:
        """Quotient and remainder of 32-bit numbers that are not negative."""
        if isinstance(number, int) and isinstance(divisor, int):
            return divmod(number, divisor)
        if isinstance(divisor, int) and divisor == 1:
            return number, 0
        quotient: Value = self.k.div.u32(number, divisor)
        return quotient, self.narrow.subtract(number, self.narrow.multiply(quotient, divisor))

    def widened(self, value: Value) -> Value:
        """An s32 value as s64."""
        result: Value = self.k.cvt.s64.s32(value)
        return result

    def thread_number(self) -> Value:
        """The number of the thread within its role."""
        first = self.threads.first_warp << LANE_BITS
        thread: Value = self.k.tid.x
        return self.once(("thread",), lambda: self.k.sub.s32(thread, first)) if first else thread

    def thread_value(self, map: ThreadMap) -> Number:
        """The value of a thread map."""
        if not map.mask:
            return map.flip
        return self.once(map, lambda: self._thread_value(map))

    def _thread_value(self, map: ThreadMap) -> Value:
        k = self.k
        if map.flip:
            plain = self.thread_value(ThreadMap(map.images))
            flipped: Value = k.xor.b32(plain, map.flip)
            return flipped
        total: Value | None = None
        for mask, shift in map.terms():
            term = self._field(mask)
            if shift:
                term = k.shl.b32(term, shift) if shift > 0 else k.shr.u32(term, -shift)
            total = term if total is None else k.xor.b32(total, term)
        assert total is not None
        return total

    def _field(self, mask: int) -> Value:
        def select() -> Value:
            field: Value = self.k.and_.b32(self.thread_number(), mask)
            return field

        return self.once(("field", mask), select)
