"""What the user holds while writing a kernel: registers, addresses, symbols and labels.

Handles are not IR nodes: each knows its kernel, and none can be taken for a Python value by mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from attrs import frozen

from ptxgen.build.blame import fail
from ptxgen.ir import Address, LabelName, Register, Space, Special, SymbolAddress

if TYPE_CHECKING:
    from isa.types import Type
    from ptxgen.build.draft import Draft
    from ptxgen.build.registers import Pool


class Value:
    """A register of a kernel. `value + 16` is an address 16 bytes on, `~value` the negation of a predicate.

    It has no truth, order, equality, length or elements in Python: each raises KernelError on the user's line.
    It is made empty and filled by who makes it, `handle_of` or the code of an instruction: kernels have thousands of
    registers, and making one through an `__init__` takes three times as long.
    """

    __slots__ = ("node", "pool")
    node: Register
    pool: Pool

    @property
    def type(self) -> Type:
        """The type of the register."""
        return self.pool.type

    @property
    def kernel(self) -> Draft:
        """The kernel that the register belongs to."""
        return self.pool.kernel

    def __repr__(self) -> str:
        return f"<{self.type.name} register {self.node.name}>"

    def __add__(self, byte_offset: int) -> Offset:
        if type(byte_offset) is not int:
            fail("register.operator", f"{self!r} + {byte_offset!r}: + takes a byte offset known now; a sum is k.add")
        return Offset(self.pool.kernel, Address(self.node, byte_offset), self.pool)

    __radd__ = __add__

    def __sub__(self, byte_offset: int) -> Offset:
        return self + -byte_offset

    def __invert__(self) -> Not:
        if self.type.name != "pred":
            fail("register.operator", f"~{self!r}: only a predicate can be negated; write k.not_ for the bits")
        return Not(self)

    def __bool__(self) -> NoReturn:
        fail("register.truth", f"{self!r} has no truth while the kernel is written; use k.when, k.guard or k.selp")

    def __iter__(self) -> NoReturn:
        fail("register.iteration", f"{self!r} is one register and cannot be iterated over or unpacked")

    def __contains__(self, item: object) -> NoReturn:
        fail("register.iteration", f"{self!r} is one register and contains nothing")

    def __eq__(self, other: object) -> NoReturn:
        fail("register.comparison", f"{self!r} cannot be compared while the kernel is written; use k.setp")

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = object.__hash__


def handle_of(pool: Pool, node: Register) -> Value:
    """The handle of a register that belongs to a pool's kernel and has its type."""
    made = Value()
    made.pool, made.node = pool, node
    return made


class Not:
    """A predicate taken with the opposite truth, as `~p` makes it; `~~p` is `p`."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __invert__(self) -> Value:
        return self.value

    def __repr__(self) -> str:
        return f"~{self.value!r}"

    def __bool__(self) -> NoReturn:
        fail("register.truth", f"{self!r} has no truth while the kernel is written; use k.when, k.guard or k.selp")


class Offset:
    """An address: a register or symbol and a byte offset. `kernel` is None for a symbol of the module."""

    __slots__ = ("address", "kernel", "pool")

    def __init__(self, kernel: Draft | None, address: Address, pool: Pool | None = None) -> None:
        self.kernel = kernel
        self.address = address
        self.pool = pool

    def __add__(self, byte_offset: int) -> Offset:
        if type(byte_offset) is not int:
            fail("register.operator", f"{self!r} + {byte_offset!r}: + takes a byte offset known now")
        return Offset(self.kernel, Address(self.address.base, self.address.offset + byte_offset), self.pool)

    __radd__ = __add__

    def __sub__(self, byte_offset: int) -> Offset:
        return self + -byte_offset

    def __repr__(self) -> str:
        return f"<address {self.address.text}>"


@frozen(eq=False, repr=False)
class Symbol:
    """A variable or array parameter by name. In an address slot it stands for `[name]`, elsewhere for its address.

    `shape` is () for a scalar; `size_bytes` is 0 where the launch decides; `kernel` is None for a module's variable.
    """

    name: str
    type: Type
    space: Space
    shape: tuple[int | None, ...]
    kernel: Draft | None
    size_bytes: int

    def __add__(self, byte_offset: int) -> Offset:
        if type(byte_offset) is not int:
            fail("register.operator", f"{self!r} + {byte_offset!r}: + takes a byte offset known now")
        return Offset(self.kernel, Address(SymbolAddress(self.name), byte_offset))

    __radd__ = __add__

    def __sub__(self, byte_offset: int) -> Offset:
        return self + -byte_offset

    def __repr__(self) -> str:
        return f"<{self.space.value} {self.type.name} {self.name}>"


class Label:
    """A place to branch to, `k.bra(label)`; `label.place()` puts it before the next statement, exactly once."""

    __slots__ = ("_place", "kernel", "node", "placed")

    def __init__(self, kernel: Draft, node: LabelName, place: Callable[[Label], None]) -> None:
        self.kernel = kernel
        self.node = node
        self.placed = False
        self._place = place

    def place(self) -> Label:
        """Puts the label here; the same label, so that `top = k.label().place()` reads well."""
        if self.placed:
            fail("label.duplicate", f"label {self.node.name} already has a place")
        self._place(self)
        self.placed = True
        return self

    def __repr__(self) -> str:
        return f"<label {self.node.name}>"


@frozen(repr=False)
class SpecialRegister:
    """A special register whose value changes while the kernel runs (`clock64`): read it with `k.mov`."""

    node: Special
    type: Type

    def __repr__(self) -> str:
        return f"<special register {self.node.text}>"


class _SinkType:
    """The destination `_`: `into=sink` where the value is not wanted."""

    def __repr__(self) -> str:
        return "sink"


sink: Any = _SinkType()
