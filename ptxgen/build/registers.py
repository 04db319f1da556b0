"""Fresh registers: one numbered family of names per register type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, count
from typing import TYPE_CHECKING

from isa.types import Kind, Type, bits_type, of_width
from ptxgen.build.handles import Value
from ptxgen.ir import Register, Registers
from ptxgen.ir.operands import numbered

if TYPE_CHECKING:
    from ptxgen.build.draft import Draft

_PREFIXES = {
    "pred": "%p", "b8": "%rc", "u8": "%uc", "s8": "%sc", "b16": "%rs", "b32": "%r", "b64": "%rd", "b128": "%rq",
    "u16": "%us", "u32": "%u", "u64": "%ud", "s16": "%ss", "s32": "%s", "s64": "%sd", "f16": "%h", "f16x2": "%hh",
    "f32": "%f", "f64": "%fd",
}  # fmt: skip
_INTERNED: dict[Type, dict[int, list[Register]]] = {}
_AT_ONCE = 16


def register_type(type_: Type) -> Type:
    """The type of a register for a value of `type_`: itself, 32 bits for 8-bit ones, untyped where none has it."""
    if type_.register and type_.bits != 8:
        return type_
    if type_.bits < 16:
        return of_width(type_.kind, 32) if type_.integer or type_.kind is Kind.BITS else bits_type(16)
    return bits_type(type_.bits)


def fresh_type(type_: Type, accepts: frozenset[Type]) -> Type:
    """The type of a fresh register for a written operand of `type_`, which takes registers of the types `accepts`.

    That of `register_type`, but 8 bits where the instruction writes nothing wider.
    """
    wanted = register_type(type_)
    if wanted in accepts or not accepts:
        return wanted
    return type_ if type_ in accepts else bits_type(8)


def has_registers(type_: Type) -> bool:
    """True if fresh registers of this type exist."""
    return type_.name in _PREFIXES


def prefix_of(type_: Type) -> str:
    """The letters before the number in the names of registers of a type: `%r` for b32."""
    return _PREFIXES[type_.name]


def forget() -> None:
    """Drops the nodes that kernels share, so that the next kernel's registers are made anew."""
    _INTERNED.clear()


class Pool:
    """The registers of one type in one kernel, numbered from 0. Nodes are shared by kernels.

    `take` makes the next one's handle; `next_node` is its node alone, for those who make the handle themselves.
    """

    __slots__ = ("_used", "kernel", "next_node", "take", "type")

    def __init__(self, kernel: Draft, type_: Type) -> None:
        self.kernel = kernel
        self.type = type_
        self._used: int | None = None
        nodes = chain.from_iterable(self._batches())
        self.next_node: Callable[[], Register] = nodes.__next__
        self.take: Callable[[], Value] = self._values(nodes).__next__

    def _batches(self) -> Iterator[list[Register]]:
        batches = _INTERNED.setdefault(self.type, {})
        for number in count(0, _AT_ONCE):
            if number not in batches:
                made = numbered(prefix_of(self.type), range(number, number + _AT_ONCE), self.type)
                batches.setdefault(number, made)
            yield batches[number]

    def _values(self, nodes: Iterator[Register]) -> Iterator[Value]:
        for node in nodes:
            made = Value()
            made.pool, made.node = self, node
            yield made

    def used(self) -> int:
        """How many registers were taken, told by the number of one more; the kernel must be finished."""
        if self._used is None:
            self._used = int(self.take().node.name.removeprefix(prefix_of(self.type)))
        return self._used

    def declaration(self) -> Registers:
        """The `.reg` statement of the registers taken; the kernel must be finished."""
        return Registers(self.type, prefix_of(self.type), self.used())
