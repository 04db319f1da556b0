"""How the elements of an access lie in registers: whole registers where they can be renamed, halves where not."""

from __future__ import annotations

from collections.abc import Sequence

from isa.types import b16, b32
from ptxgen.build import Kernel, Value
from ptxgen.compute import Element
from ptxgen.lower.registers import values_per_register


def whole_registers(places: Sequence[int], element: Element) -> tuple[int, ...] | None:
    """The registers, by index, that hold exactly the elements of value index `places` in this order; None where an
    element is not at its place in a register."""
    per_register = values_per_register(element)
    if len(places) % per_register:
        return None
    found = []
    for start in range(0, len(places), per_register):
        first = places[start]
        if first % per_register or tuple(places[start : start + per_register]) != tuple(
            range(first, first + per_register)
        ):
            return None
        found.append(first // per_register)
    return tuple(found)


def unpacked(kernel: Kernel, word: Value) -> tuple[Value, Value]:
    """The low and high half of a register."""
    halves = kernel.register(b16), kernel.register(b16)
    kernel.mov.b32(word, into=halves)
    return halves


def packed(kernel: Kernel, low: Value, high: Value, into: Value | None = None) -> Value:
    """The register of two halves."""
    word = kernel.register(b32) if into is None else into
    kernel.mov.b32((low, high), into=word)
    return word


class HalfReader:
    """The halves of packed registers, each register unpacked once."""

    def __init__(self, kernel: Kernel, registers: Sequence[Value]) -> None:
        self._k = kernel
        self._registers = registers
        self._halves: dict[int, tuple[Value, Value]] = {}

    def half(self, value: int) -> Value:
        """The 16 bits of a value index."""
        register = value // 2
        if register not in self._halves:
            self._halves[register] = unpacked(self._k, self._registers[register])
        return self._halves[register][value % 2]


class HalfWriter:
    """Fills packed registers half by half; a register is written once both of its halves are there."""

    def __init__(self, kernel: Kernel, registers: Sequence[Value], value_count: int) -> None:
        self._k = kernel
        self._registers = registers
        self._value_count = value_count
        self._waiting: dict[int, Value] = {}

    def put(self, value: int, half: Value) -> None:
        """Gives the 16 bits of a value index."""
        partner = value ^ 1
        if partner >= self._value_count:
            packed(self._k, half, self._k.register(b16, 0), into=self._registers[value // 2])
        elif partner in self._waiting:
            other = self._waiting.pop(partner)
            low, high = (half, other) if partner > value else (other, half)
            packed(self._k, low, high, into=self._registers[value // 2])
        else:
            self._waiting[value] = half

    def finish(self) -> None:
        """Writes registers of which one half came; the other half keeps its bits."""
        for value, half in self._waiting.items():
            register = self._registers[value // 2]
            low, high = unpacked(self._k, register)
            packed(self._k, *((half, high) if value % 2 == 0 else (low, half)), into=register)
        self._waiting = {}
