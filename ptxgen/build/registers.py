"""Fresh registers: one numbered family of names per register type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from isa.types import Kind, Type, bits_type, of_width
from ptxgen.build.handles import Value
from ptxgen.ir import Register, Registers

if TYPE_CHECKING:
    from ptxgen.build.kernel import Kernel

_PREFIXES = {
    "pred": "%p", "b8": "%rc", "b16": "%rs", "b32": "%r", "b64": "%rd", "b128": "%rq", "u16": "%us", "u32": "%u",
    "u64": "%ud", "s16": "%ss", "s32": "%s", "s64": "%sd", "f16": "%h", "f16x2": "%hh", "f32": "%f", "f64": "%fd",
}  # fmt: skip
_INTERNED: dict[Type, list[Register]] = {}


def register_type(type_: Type) -> Type:
    """The type of a register for a value of `type_`: itself, 32 bits for 8-bit ones, untyped where none has it."""
    if type_.register and type_.bits != 8:
        return type_
    if type_.bits < 16:
        return of_width(type_.kind, 32) if type_.integer or type_.kind is Kind.BITS else bits_type(16)
    return bits_type(type_.bits)


def prefix_of(type_: Type) -> str:
    """The letters before the number in the names of registers of a type: `%r` for b32."""
    return _PREFIXES[type_.name]


class Pool:
    """The registers of one type in one kernel. `take` makes the next; nodes are shared between kernels."""

    __slots__ = ("_nodes", "count", "kernel", "take", "type")

    def __init__(self, kernel: Kernel, type_: Type) -> None:
        self.kernel = kernel
        self.type = type_
        self.count = 0
        self._nodes = _INTERNED.setdefault(type_, [])
        self.take = self._taker()

    def _taker(self) -> Callable[[], Value]:
        nodes, kernel, type_, prefix = self._nodes, self.kernel, self.type, prefix_of(self.type)

        def take() -> Value:
            number = self.count
            self.count = number + 1
            if number == len(nodes):
                nodes.extend([Register(f"{prefix}{each}", type_) for each in range(number, number + 16)])
            return Value(kernel, type_, nodes[number])

        return take

    def declaration(self) -> Registers:
        """The `.reg` statement of the registers taken so far."""
        return Registers(self.type, prefix_of(self.type), self.count)
