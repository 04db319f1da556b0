"""Video instructions: arithmetic on bytes and half-words picked out of registers, one or several at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isa.types import Kind, Type
from ptxgen.ir import Component, Minus, Operand, Register
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Compute, Reader, Site
from ptxgen.simulate.steps import assign

Operation = Callable[[Any, Any], Any]

_FULL = np.int64(0xFFFFFFFF)
_COMPARISONS: dict[str, Operation] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def _average(a: Array, b: Array) -> Array:
    total = a + b
    halved: Array = (total + (total >= 0)) >> 1
    return halved


_OPERATIONS: dict[str, Operation] = {
    "vadd": np.add, "vsub": np.subtract, "vabsdiff": lambda a, b: np.abs(a - b), "vmin": np.minimum,
    "vmax": np.maximum, "vavrg": _average,
}  # fmt: skip
VIDEO = frozenset(
    {"vshl", "vshr", "vmad", *(f"{name}{count}" for name in (*_OPERATIONS, "vset") for count in ("", "2", "4"))}
) - {"vavrg"}


def video(site: Site) -> Step:
    """An instruction of this kind; values are kept as int64 until they are cut to the register (manual, `vadd`)."""
    compute = _parallel(site) if site.opcode[-1] in "24" else _product(site) if site.opcode == "vmad" else _scalar(site)
    destination = site.operands[0]
    base = destination.base if isinstance(destination, Component) else destination
    write = assign(site, site.bank.place_of(base) if isinstance(base, Register) else None)
    guard = site.guard()

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        result = (compute(r) & _FULL).astype(np.uint32)
        write(r, result, guard(r) if guard is not None else None)

    return step


def _signed(of: Type) -> bool:
    return of.kind is Kind.SIGNED


def _part(operand: Operand) -> str:
    """The selector of an operand, empty without one."""
    base = operand.base if isinstance(operand, Minus) else operand
    return base.part if isinstance(base, Component) else ""


def _word(site: Site, index: int) -> Reader:
    """A whole operand as uint32, whatever is selected of it and whatever its sign."""
    operand = site.operands[index]
    while isinstance(operand, (Minus, Component)):
        operand = operand.base
    if isinstance(operand, tuple):
        raise site.unsupported(f"operand {site.slots[index].name} is a vector")
    return site.scalar(operand, np.dtype(np.uint32))


def _extended(word: Array, shift: int, bits: int, signed: bool) -> Array:
    """Bits of a word as int64, extended by their own sign or by zeros."""
    field = (word.astype(np.int64) >> shift) & ((1 << bits) - 1)
    return (field ^ (1 << bits - 1)) - (1 << bits - 1) if signed else field


def _place(part: str) -> tuple[int, int]:
    """The first bit and the width of `b0` to `b3`, `h0` and `h1`; a whole word without a selector."""
    if not part:
        return 0, 32
    bits = 8 if part[0] == "b" else 16
    return bits * int(part[1]), bits


def _source(site: Site, index: int) -> Reader:
    shift, bits = _place(_part(site.operands[index]))
    read, signed = _word(site, index), _signed(site.type(index))
    return lambda r: _extended(read(r), shift, bits, signed)


def _clamped(value: Array, bits: int, signed: bool) -> Array:
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return np.clip(value, least, most)


def _scalar(site: Site) -> Compute:
    """One part of each source, perhaps clamped, then combined with c or put into a part of it.

    The value has 64 bits up to the end, as in the integer instructions that ptxas makes of it and not as in the manual:
    sums and differences, and saturated shifts, come to the second operation as their low word with its sign, all else
    whole. The second operation compares as the destination's type says, `vset` as that of a.
    """
    a, b = _source(site, 1), _source(site, 2)
    operation = _operation(site)
    c = _word(site, 3) if len(site.slots) > 3 else None
    second = str(site.instruction.form.words.get("op2", ""))
    start, bits = _place(_part(site.operands[0]))
    signed = _signed(site.type(1 if site.opcode == "vset" else 0))
    shifted = site.opcode in ("vshl", "vshr")
    clamp = _saturation(shifted, bits, signed) if site.has("sat") else _whole
    words = site.opcode in ("vadd", "vsub") or (shifted and site.has("sat"))

    def compute(r: list[Array]) -> Array:
        value = clamp(operation(a(r), b(r)).astype(np.int64))
        if c is None:
            return value
        if second:
            left = _extended(value, 0, 32, True) if words else value
            return _combined(second, left, _extended(c(r), 0, 32, signed), signed)
        mask = ((1 << bits) - 1) << start
        return (c(r).astype(np.int64) & ~mask) | ((value << start) & mask)

    return compute


def _whole(value: Array) -> Array:
    return value


def _saturation(shifted: bool, bits: int, signed: bool) -> Callable[[Array], Array]:
    """`.sat` as ptxas has it.

    A shifted value counts with 34 bits and is clamped to 32 even if a part is written. For a part any other value
    counts as unsigned, so that a negative one becomes the greatest. For a whole unsigned word only what is negative is
    clamped.
    """
    most = (1 << bits - signed) - 1
    if shifted:
        return lambda value: _clamped(_extended(value, 0, 34, True), 32, signed)
    if bits < 32:
        return lambda value: np.where(value < 0, np.int64(most), np.minimum(value, most))
    if signed:
        return lambda value: _clamped(value, 32, True)
    return lambda value: np.maximum(value, 0)


def _combined(name: str, value: Array, c: Array, signed: bool) -> Array:
    """The second operation on 64-bit words; their order is that of signed or of unsigned numbers."""
    if name == "add":
        return value + c
    ordered = np.dtype(np.int64 if signed else np.uint64)
    function = np.minimum if name == "min" else np.maximum
    chosen: Array = function(value.astype(ordered), c.astype(ordered)).astype(np.int64)
    return chosen


def _operation(site: Site) -> Operation:
    name = site.opcode.rstrip("24")
    if name == "vset":
        return _COMPARISONS[str(site.instruction.form.words["cmp"])]
    if name not in ("vshl", "vshr"):
        return _OPERATIONS[name]
    wraps, shift = site.has("wrap"), np.left_shift if name == "vshl" else np.right_shift
    return lambda a, b: shift(a, b & 31 if wraps else np.minimum(b, 32))


def _product(site: Site) -> Compute:
    """`vmad`: a * b + c with signs, or plus one, in 64 bits; shifted right by the scale.

    As ptxas has it whole words are signed whatever their type, parts and saturation follow the types, and without any
    sign the sum is shifted as an unsigned number.
    """
    a, b, c = _factor(site, 1), _factor(site, 2), _word(site, 3)
    minus = [isinstance(operand, Minus) for operand in site.operands]
    crossed, more = minus[1] != minus[2], site.has("po")
    signed = _signed(site.type(1)) or _signed(site.type(2)) or crossed or minus[3]
    scale = next((int(word[3:]) for word in ("shr7", "shr15") if site.has(word)), 0)
    ordered = np.dtype(np.int64 if signed else np.uint64)
    saturated = site.has("sat")

    def compute(r: list[Array]) -> Array:
        product, addend = a(r) * b(r), _extended(c(r), 0, 32, True)
        total = (-product if crossed else product) + (-addend if minus[3] and not crossed else addend) + int(more)
        result: Array = (total.astype(ordered) >> ordered.type(scale)).astype(np.int64)
        return _clamped(result, 32, signed) if saturated else result

    return compute


def _factor(site: Site, index: int) -> Reader:
    shift, bits = _place(_part(site.operands[index]))
    read, signed = _word(site, index), bits == 32 or _signed(site.type(index))
    return lambda r: _extended(read(r), shift, bits, signed)


def _parallel(site: Site) -> Compute:
    """Two half-words or four bytes at once, any of both sources; those of the mask are merged into c or added to it."""
    count = int(site.opcode[-1])
    bits = 32 // count
    first, second = (_lanes(site, index, count) for index in (1, 2))
    c, operation = _word(site, 3), _operation(site)
    chosen = _part(site.operands[0])
    mask = [not chosen or str(lane) in chosen[1:] for lane in range(count)]
    signed, saturated, added = _signed(site.type(0)), site.has("sat"), site.has("add")

    def compute(r: list[Array]) -> Array:
        result = c(r).astype(np.int64)
        for lane in (lane for lane in range(count) if mask[lane]):
            value: Array = operation(first[lane](r), second[lane](r)).astype(np.int64)
            value = _clamped(value, bits, signed) if saturated else value
            field = ((1 << bits) - 1) << bits * lane
            result = result + value if added else (result & ~field) | ((value << bits * lane) & field)
        return result

    return compute


def _lanes(site: Site, index: int, count: int) -> list[Reader]:
    """The readers of a source's lanes, the low one first: by default those of its own register."""
    picked = _part(site.operands[index])[:0:-1] or "".join(str(lane + count * (index - 1)) for lane in range(count))
    bits, signed = 32 // count, _signed(site.type(index))
    words = [_word(site, 1), _word(site, 2)]

    def lane(pick: int) -> Reader:
        read, shift = words[pick // count], bits * (pick % count)
        return lambda r: _extended(read(r), shift, bits, signed)

    return [lane(int(pick)) for pick in picked]
