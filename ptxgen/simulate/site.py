"""One instruction while it is decoded: its operands as readers over the registers of a group."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field, frozen
from numpy.typing import DTypeLike, NDArray

from isa.operands import OperandSlot
from isa.special import special
from isa.types import Kind, Type
from ptxgen.errors import UnsupportedError
from ptxgen.ir import (
    Float,
    Instruction,
    Int,
    Negated,
    Operand,
    Register,
    Special,
    SymbolAddress,
)  # fmt: skip
from ptxgen.ir.access import signature_of
from ptxgen.simulate.specials import supported

Array: TypeAlias = NDArray[Any]
Registers: TypeAlias = list[Array]
Reader: TypeAlias = Callable[[Registers], Array]
Compute: TypeAlias = Callable[[Registers], Any]

_FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}
_SIGNED = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
_UNSIGNED = {1: np.bool_, 4: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64, 128: np.complex128}


def storage_dtype(of: Type) -> np.dtype[Any]:
    """How a register of that type is kept: bool for predicates, complex for 128 bits, else unsigned of its width."""
    if of.bits not in _UNSIGNED:
        raise UnsupportedError(f"the simulator has no registers of type .{of}")
    return np.dtype(_UNSIGNED[of.bits])


def value_dtype(of: Type) -> np.dtype[Any]:
    """How the values of that type are computed with; packed and special floats stay bits."""
    if of.kind is Kind.FLOAT and of.name in ("f16", "f32", "f64"):
        return np.dtype(_FLOATS[of.bits])
    if of.kind is Kind.SIGNED:
        return np.dtype(_SIGNED[of.bits])
    return storage_dtype(of)


@define(eq=False)
class Bank:
    """The numbering of a kernel's registers, special registers and constants in the list of a group.

    `symbols` are the addresses of variables by name, and the offsets of parameters in their block of `parameter_bytes`.
    `stacked` are the variables whose places count from the frame of the function, whose start stands at `frame_place`;
    `ranked` those in shared memory of a CTA whose rank in its cluster is part of the address: its bits stand at
    `rank_place`. `initial` holds the constants, by place, `parameters` the offset and type to fill a place with.
    `chance` draws the results of approximate instructions.
    """

    symbols: dict[str, int] = field(factory=dict)
    parameter_bytes: int = 0
    places: dict[Register, int] = field(factory=dict)
    specials: dict[str, int] = field(factory=dict)
    initial: dict[int, Array] = field(factory=dict)
    dtypes: list[np.dtype[Any]] = field(factory=list)
    parameters: dict[int, tuple[int, np.dtype[Any]]] = field(factory=dict)
    carry_place: int | None = None
    frame_place: int | None = None
    stack_place: int | None = None
    chance: np.random.Generator | None = None
    stacked: frozenset[str] = frozenset()
    ranked: frozenset[str] = frozenset()
    rank_place: int | None = None
    _constants: dict[tuple[str, bytes], int] = field(factory=dict)
    _known: dict[int, tuple[Register, int]] = field(factory=dict)

    def place_of(self, register: Register) -> int:
        """The place of a register."""
        known = self._known.get(id(register))
        if known is not None:
            return known[1]
        if register not in self.places:
            self.places[register] = self._new(storage_dtype(register.type))
        self._known[id(register)] = register, self.places[register]
        return self.places[register]

    def special_place(self, name: str) -> int:
        """The place of a special register, filled at the start of a batch."""
        if name not in self.specials:
            if not supported(name):
                raise UnsupportedError(f"special register %{name}")
            self.specials[name] = self._new(storage_dtype(special(name).type))
        return self.specials[name]

    def constant(self, value: Any, dtype: DTypeLike) -> int:
        """The place of a constant, one value for all lanes."""
        array = np.full((1, 1), value, dtype)
        key = (array.dtype.str, array.tobytes())
        if key not in self._constants:
            self._constants[key] = self._new(array.dtype)
            self.initial[self._constants[key]] = array
        return self._constants[key]

    def parameter(self, offset: int, dtype: np.dtype[Any]) -> int:
        """The place of a value in the parameter block, filled at a launch; the same for all lanes."""
        place = self._new(dtype)
        self.parameters[place] = (offset, dtype)
        return place

    def flags(self) -> int:
        """A new place for a truth value per lane."""
        return self._new(np.dtype(np.bool_))

    def frame(self) -> int:
        """The place of the address in local memory where the frame of the running function starts; 0 in the kernel."""
        if self.frame_place is None:
            self.frame_place = self._new(np.dtype(np.int64))
            self.initial[self.frame_place] = np.zeros((1, 1), np.int64)
        return self.frame_place

    def stack(self, top: int = 0) -> int:
        """The place of the address in local memory down to which the stack of `alloca` reaches, `top` at first."""
        if self.stack_place is None:
            self.stack_place = self._new(np.dtype(np.int64))
            self.initial[self.stack_place] = np.full((1, 1), top, np.int64)
        return self.stack_place

    def rank(self) -> int:
        """The place of the CTA's rank in its cluster where it stands in addresses of shared memory."""
        if self.rank_place is None:
            self.rank_place = self._new(np.dtype(np.int64))
        return self.rank_place

    def carry(self) -> int:
        """The place of the carry flag of extended-precision arithmetic, which starts as 0."""
        if self.carry_place is None:
            self.carry_place = self._new(np.dtype(np.bool_))
            self.initial[self.carry_place] = np.zeros((1, 1), np.bool_)
        return self.carry_place

    def _new(self, dtype: np.dtype[Any]) -> int:
        self.dtypes.append(dtype)
        return len(self.dtypes) - 1


@frozen(eq=False)
class Site:
    """An instruction at its place in the kernel, with the slots its operands stand in."""

    instruction: Instruction
    index: int
    bank: Bank
    slots: tuple[OperandSlot, ...]
    words: frozenset[str]

    @property
    def opcode(self) -> str:
        return self.instruction.form.opcode

    @property
    def operands(self) -> tuple[Operand, ...]:
        return self.instruction.operands

    def has(self, *words: str) -> bool:
        """True if one of the words stands in the instruction's name."""
        return not self.words.isdisjoint(words)

    def type(self, index: int) -> Type:
        """The type of an operand's slot."""
        found = self.slots[index].type
        if found is None:
            raise self.unsupported(f"operand {self.slots[index].name} has no type")
        return found

    def unsupported(self, why: str = "") -> UnsupportedError:
        """The error that says that the simulator does not run this instruction."""
        return UnsupportedError(f"{self.instruction.form.name}" + (f": {why}" if why else ""))

    def read(self, index: int, dtype: DTypeLike | None = None) -> Reader:
        """The reader of an operand; as the slot's type computes, or viewed or narrowed to `dtype`."""
        operand = self.operands[index]
        if isinstance(operand, tuple):
            raise self.unsupported(f"operand {self.slots[index].name} is a vector")
        return self.scalar(operand, value_dtype(self.type(index)) if dtype is None else np.dtype(dtype))

    def vector(self, index: int, dtype: DTypeLike | None = None) -> list[Reader]:
        """The readers of a vector operand's parts, one for a scalar."""
        operand = self.operands[index]
        parts = operand if isinstance(operand, tuple) else (operand,)
        wanted = value_dtype(self.type(index)) if dtype is None else np.dtype(dtype)
        return [self.scalar(part, wanted) for part in parts]

    def scalar(self, operand: Operand, dtype: np.dtype[Any]) -> Reader:
        """The reader of one operand as `dtype`."""
        match operand:
            case Register():
                return _viewed(self.bank.place_of(operand), storage_dtype(operand.type), dtype)
            case Negated(register=register):
                place = self.bank.place_of(register)
                return lambda r: ~r[place]
            case Special(name=name):
                return _viewed(self.bank.special_place(name), storage_dtype(special(name).type), dtype)
            case Int(value=value):
                return itemgetter(self.bank.constant(_wrapped(value, dtype), dtype))
            case Float(bits=bits, type=of):
                return itemgetter(self.bank.constant(_float(bits, of, dtype), dtype))
            case SymbolAddress(name=name, offset=offset) if name in self.bank.stacked:
                frame, start = self.bank.frame(), self.symbol(name) + offset
                return lambda r: (r[frame] + start).astype(dtype)
            case SymbolAddress(name=name, offset=offset) if name in self.bank.ranked:
                rank, start = self.bank.rank(), self.symbol(name) + offset
                return lambda r: (r[rank] + start).astype(dtype)
            case SymbolAddress(name=name, offset=offset):
                return itemgetter(self.bank.constant(_wrapped(self.symbol(name) + offset, dtype), dtype))
            case _:
                raise self.unsupported(f"operand of kind {type(operand).__name__}")

    def symbol(self, name: str) -> int:
        """The address of a variable by name."""
        if name not in self.bank.symbols:
            raise self.unsupported(f"no variable {name}")
        return self.bank.symbols[name]

    def destinations(self) -> list[int | None]:
        """The places that the instruction writes, in order, vectors spread; None for a sink."""
        places: list[int | None] = []
        for slot, operand in zip(self.slots, self.operands, strict=True):
            if slot.written:
                parts = operand if isinstance(operand, tuple) else (operand,)
                places += [self.bank.place_of(part) if isinstance(part, Register) else None for part in parts]
        return places

    def guard(self) -> Reader | None:
        """The reader of the guard's truth per lane; None without a guard."""
        guard = self.instruction.guard
        if guard is None:
            return None
        place = self.bank.place_of(guard.register)
        return (lambda r: ~r[place]) if guard.negated else itemgetter(place)


def site_of(instruction: Instruction, index: int, bank: Bank) -> Site:
    """The site of an instruction; UnsupportedError where its operands fit no signature."""
    signature = signature_of(instruction.form, instruction.operands)
    if signature is None:
        raise UnsupportedError(f"{instruction.form.name} takes no {len(instruction.operands)} operands")
    return Site(instruction, index, bank, signature.slots, frozenset(instruction.form.words.values()))


def _viewed(place: int, stored: np.dtype[Any], wanted: np.dtype[Any]) -> Reader:
    if stored == wanted:
        return itemgetter(place)
    if stored.itemsize == wanted.itemsize:
        return lambda r: r[place].view(wanted)
    unsigned = np.dtype(f"u{wanted.itemsize}")
    return lambda r: r[place].astype(unsigned).view(wanted)


def _wrapped(value: int, dtype: np.dtype[Any]) -> Any:
    if dtype == np.bool_:
        return bool(value)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return np.array(value & ((1 << 8 * dtype.itemsize) - 1), unsigned).view(dtype)[()]


def _float(bits: int, of: Type, dtype: np.dtype[Any]) -> Any:
    value = np.array(bits, _UNSIGNED[of.bits]).view(_FLOATS[of.bits])
    if dtype.kind == "f":
        return value.astype(dtype)[()]
    return value.astype(np.dtype(f"f{dtype.itemsize}")).view(dtype)[()]
