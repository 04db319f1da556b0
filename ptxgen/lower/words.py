"""How the elements of an access lie in registers: whole registers where they can be renamed, parts where not.

A part is one element of 16 or 8 bits in a 16-bit register, in its low end.
"""

from __future__ import annotations

from collections.abc import Sequence

from isa.types import b16, b32
from ptxgen.build import Kernel, Value
from ptxgen.compute import Element
from ptxgen.lower.registers import values_per_register

BYTE_BITS = 8
BYTE_MASK = 0xFF


def whole_registers(places: Sequence[int], element: Element) -> tuple[int, ...] | None:
    """The registers, by index, that hold exactly the elements of value index `places` in this order; None where an
    element is not at its place in a register."""
    per_register = values_per_register(element)
    if per_register == 1:
        return tuple(places)
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


def joined_bytes(kernel: Kernel, low: Value, high: Value) -> Value:
    """The half of two bytes, whose upper bits may be anything."""
    first, second = kernel.and_.b16(low, BYTE_MASK), kernel.shl.b16(high, BYTE_BITS)
    half: Value = kernel.or_.b16(first, second)
    return half


def joined(kernel: Kernel, parts: Sequence[Value], element: Element) -> tuple[Value, ...]:
    """The registers of an access that moves these parts: of 32 bits, or one of 16 bits where they are fewer."""
    if element.bits == BYTE_BITS:
        if len(parts) == 1:
            return (parts[0],)
        parts = [joined_bytes(kernel, low, high) for low, high in zip(parts[::2], parts[1::2], strict=True)]
    if len(parts) == 1:
        return (parts[0],)
    return tuple(packed(kernel, low, high) for low, high in zip(parts[::2], parts[1::2], strict=True))


class PartReader:
    """The parts of packed registers, each register and half unpacked once."""

    def __init__(self, kernel: Kernel, registers: Sequence[Value], element: Element) -> None:
        self._k = kernel
        self._registers = registers
        self._per_half = 16 // element.bits
        self._halves: dict[int, tuple[Value, Value]] = {}
        self._bytes: dict[int, tuple[Value, Value]] = {}

    def part(self, value: int) -> Value:
        """The bits of a value index."""
        if self._per_half == 1:
            return self._half(value)
        half, place = divmod(value, 2)
        if half not in self._bytes:
            both = self._half(half)
            self._bytes[half] = both, self._k.shr.b16(both, BYTE_BITS)
        return self._bytes[half][place]

    def _half(self, number: int) -> Value:
        register, place = divmod(number, 2)
        if self._registers[register].type.bits == 16:
            return self._registers[register]
        if register not in self._halves:
            self._halves[register] = unpacked(self._k, self._registers[register])
        return self._halves[register][place]


class PartWriter:
    """Fills packed registers part by part; a register is written once all of its parts are there."""

    def __init__(self, kernel: Kernel, registers: Sequence[Value], value_count: int, element: Element) -> None:
        self._k = kernel
        self._registers = registers
        self._element = element
        self._per_register = values_per_register(element)
        self._value_count = value_count
        self._waiting: dict[int, dict[int, Value]] = {}

    def put(self, value: int, part: Value) -> None:
        """Gives the bits of a value index."""
        register, place = divmod(value, self._per_register)
        parts = self._waiting.setdefault(register, {})
        parts[place] = part
        wanted = min(self._per_register, self._value_count - register * self._per_register)
        if len(parts) == wanted:
            self._write(register, self._waiting.pop(register))

    def finish(self) -> None:
        """Writes registers of which some parts came; the others keep their bits."""
        for register, parts in self._waiting.items():
            reader = PartReader(self._k, (self._registers[register],), self._element)
            kept = {place: reader.part(place) for place in range(self._per_register) if place not in parts}
            self._write(register, {**kept, **parts})
        self._waiting = {}

    def _write(self, register: int, parts: dict[int, Value]) -> None:
        zero = self._k.register(b16, 0) if len(parts) < self._per_register else None
        ordered = [parts.get(place, zero) for place in range(self._per_register)]
        halves = [part for part in ordered if part is not None]
        if self._element.bits == BYTE_BITS:
            halves = [joined_bytes(self._k, low, high) for low, high in zip(halves[::2], halves[1::2], strict=True)]
        low, high = halves
        packed(self._k, low, high, into=self._registers[register])
