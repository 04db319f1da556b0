"""What an instruction takes: the operand slots of its signatures."""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from isa.availability import Availability
from isa.types import Type


class Role(Enum):
    """What the instruction does with the operand."""

    READ = "read"
    WRITE = "write"
    BOTH = "both"

    __hash__ = object.__hash__


class OperandKind(Enum):
    """What may stand in the slot."""

    REGISTER = "register"
    VALUE = "register or immediate"
    PREDICATE = "predicate"
    VECTOR = "vector"
    ADDRESS = "address"
    COORDINATE = "tensor coordinate"
    BRACKET = "bracket of operands"
    IMMEDIATE = "immediate"
    LABEL = "label"
    SYMBOL = "symbol"
    SPECIAL = "special register"
    SINK = "sink"

    __hash__ = object.__hash__


@frozen
class OneOf:
    """Immediates that may be one of a few values."""

    values: tuple[int, ...]

    def holds(self, value: int) -> bool:
        """True if `value` is in the domain."""
        return value in self.values

    def __str__(self) -> str:
        return "one of " + ", ".join(str(value) for value in self.values)


@frozen
class Range:
    """Immediates from `low` through `high` in steps."""

    low: int
    high: int
    step: int = 1

    def holds(self, value: int) -> bool:
        """True if `value` is in the domain."""
        return self.low <= value <= self.high and (value - self.low) % self.step == 0

    def __str__(self) -> str:
        steps = f" in steps of {self.step}" if self.step > 1 else ""
        return f"{self.low} to {self.high}{steps}"


@frozen
class PowerOfTwo:
    """Immediates that are powers of two from `low` through `high`."""

    low: int
    high: int

    def holds(self, value: int) -> bool:
        """True if `value` is in the domain."""
        return self.low <= value <= self.high and value & (value - 1) == 0

    def __str__(self) -> str:
        return f"a power of two from {self.low} to {self.high}"


Domain = OneOf | Range | PowerOfTwo


@frozen(cache_hash=True)
class OperandSlot:
    """One operand of one signature.

    `type` is that of a value or of each element of a vector; None for labels, symbols and addresses.
    `count` is the number of elements of a VECTOR, else 1. `accepts` are the register types that may stand here
    (for an address: of its base register). `domain` bounds an immediate. A `joined` slot is written behind `|`
    of the slot before it, `sink` allows `_`, `negatable` allows `!p`, `special` a special register,
    `symbol` the address of a variable, `immediates` a constant (in a vector: as an element), `minus` a sign `-a`.
    `selectors` are the parts of a register that may be named (`a.b0`), and must be if `partial`. A COORDINATE is
    `[base, {c0, c1}]` with `count` elements of `type`; with `sampler` a second handle stands between:
    `[base, sampler, {c0, c1}]`. A BRACKET is `[a, b, {c0, c1}]`, whose `parts` are slots, as those of a VECTOR are
    where its elements differ. A SINK is `_` and nothing
    else. `unified` tells where an address may be marked `[a].unified`; None: nowhere.
    """

    name: str
    role: Role
    kind: OperandKind
    type: Type | None = None
    count: int = 1
    accepts: frozenset[Type] = frozenset()
    domain: Domain | None = None
    negatable: bool = False
    sink: bool = False
    joined: bool = False
    special: bool = False
    symbol: bool = False
    immediates: bool = False
    minus: bool = False
    selectors: tuple[str, ...] = ()
    partial: bool = False
    sampler: bool = False
    unified: Availability | None = None
    parts: tuple[OperandSlot, ...] = ()

    @property
    def written(self) -> bool:
        """True if the instruction writes it."""
        return self.role is not Role.READ

    @property
    def read(self) -> bool:
        """True if the instruction reads it."""
        return self.role is not Role.WRITE

    def __str__(self) -> str:
        """As the manual would print it: `{d0, d1}`, `[a]`, `p`."""
        if self.kind is OperandKind.VECTOR:
            return "{" + ", ".join(f"{self.name}{index}" for index in range(self.count)) + "}"
        if self.kind is OperandKind.SINK:
            return "_"
        if self.kind is OperandKind.ADDRESS:
            return f"[{self.name}]" + ("{.unified}" if self.unified else "")
        if self.kind is OperandKind.COORDINATE:
            handles = "a, b" if self.sampler else "a"
            return f"[{handles}, {{" + ", ".join(f"{self.name}{index}" for index in range(self.count)) + "}]"
        if self.kind is OperandKind.BRACKET:
            return "[" + ", ".join(map(str, self.parts)) + "]"
        if self.selectors or self.minus:
            return f"{'{-}' * self.minus}{self.name}{'.part' if self.partial else '{.part}' if self.selectors else ''}"
        return f"{{!}}{self.name}" if self.negatable else self.name


@frozen(cache_hash=True)
class Signature:
    """The operands of one way to write an instruction, in the manual's order."""

    slots: tuple[OperandSlot, ...]

    def __str__(self) -> str:
        text = ""
        for slot in self.slots:
            text += ("" if not text else "|" if slot.joined else ", ") + str(slot)
        return text
