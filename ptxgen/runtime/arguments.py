"""The parameter block of a launch: each argument as the bytes that the kernel reads."""

from __future__ import annotations

import ctypes
import operator
import struct
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from isa.types import Kind
from ptxgen.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isa.types import Type
    from ptxgen.ir import Parameter

FLOAT_CODES = {"f16": "<e", "f32": "<f", "f64": "<d"}
WORD_BYTES = 8


@frozen
class ArgumentBlock:
    """The arguments of a launch in host memory: `data` as the kernel sees them, the address of each for the driver, and
    `words`, the same memory as numbers of 64 bits, which may be set: at a quarter of what a ctypes object takes.

    `data` is laid out like the parameters: in order, each at the next multiple of its alignment.
    """

    data: Any = field(repr=False)
    addresses: Any = field(repr=False)
    words: memoryview = field(repr=False)

    @property
    def pointer(self) -> int:
        """The address of the array of addresses, what `cuLaunchKernel` takes as kernelParams; 0 without parameters."""
        return ctypes.addressof(self.addresses) if len(self.addresses) else 0


def byte_offsets(parameters: Sequence[Parameter]) -> tuple[tuple[int, ...], int]:
    """Where each parameter begins in the block, and the size of the block, in bytes."""
    offsets, end = [], 0
    for each in parameters:
        begin = -(-end // each.align_bytes) * each.align_bytes
        offsets.append(begin)
        end = begin + each.size_bytes
    return tuple(offsets), end


def pack(kernel: str, parameters: Sequence[Parameter], arguments: Sequence[Any]) -> ArgumentBlock:
    """The block for these arguments, addresses already integers; LaunchError lists every one that does not fit."""
    check_count(kernel, parameters, arguments)
    offsets, size = byte_offsets(parameters)
    block = bytearray(-(-max(size, 1) // WORD_BYTES) * WORD_BYTES)
    wrong = []
    for number, (parameter, offset, value) in enumerate(zip(parameters, offsets, arguments, strict=True), 1):
        try:
            encoded = encode(parameter, value)
        except LaunchError as error:
            wrong.append(f"argument {number} ({parameter.name}, .{parameter.type}{extents(parameter)}) {error}")
        else:
            block[offset : offset + len(encoded)] = encoded
    if wrong:
        raise LaunchError("\n  ".join([f"kernel {kernel}: arguments that do not fit", *wrong]))
    data = (ctypes.c_char * len(block)).from_buffer(block)
    base = ctypes.addressof(data)
    addresses = (ctypes.c_void_p * len(offsets))(*(base + offset for offset in offsets))
    return ArgumentBlock(data, addresses, memoryview(block).cast("Q"))


def check_count(kernel: str, parameters: Sequence[Parameter], arguments: Sequence[Any]) -> None:
    """LaunchError that lists the parameters unless there is one argument for each."""
    if len(arguments) != len(parameters):
        wanted = ", ".join(f"{each.name}: .{each.type}{extents(each)}" for each in parameters) or "none"
        raise LaunchError(f"kernel {kernel} takes {len(parameters)} arguments ({wanted}), got {len(arguments)}")


def extents(parameter: Parameter) -> str:
    """`[128]` behind the type of an array parameter."""
    return "".join(f"[{extent}]" for extent in parameter.shape)


def takes_address(parameter: Parameter) -> bool:
    """True for a parameter that can hold the address of an array: a scalar of 64 bits that is no float."""
    return not parameter.shape and parameter.type.bits == 64 and parameter.type.kind is not Kind.FLOAT


def encode(parameter: Parameter, value: Any) -> bytes:
    """An argument as bytes, little-endian, as many as the parameter has; LaunchError says what was wanted and came.

    Integers must lie in the range of the type; floats are rounded to nearest, even on ties; a parameter of untyped bits
    takes an integer of either sign or a value with exactly its bytes; an array takes exactly its bytes.
    """
    type_ = parameter.type
    if parameter.shape:
        return exact_bytes(value, parameter.size_bytes)
    if type_.kind is Kind.FLOAT and type_.lanes == 1:
        return encode_float(type_, value)
    if not is_integer(value) and not type_.integer:
        return exact_bytes(value, type_.bytes)
    return encode_integer(type_, value, pointer=parameter.pointer is not None)


def is_integer(value: Any) -> bool:
    """True for integers of Python and numpy; truth values are none."""
    return hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_, np.ndarray))


def encode_float(type_: Type, value: Any) -> bytes:
    """A real number in f16, f32 or f64."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, np.floating, np.integer)):
        raise LaunchError(f"wants a number, got {shown(value)}")
    code = FLOAT_CODES.get(type_.name)
    if code is None:
        raise LaunchError(f"has a type that no argument can be given for: .{type_}")
    try:
        return struct.pack(code, float(value))
    except OverflowError:
        raise LaunchError(f"wants a number that {type_} can hold, got {shown(value)}") from None


def encode_integer(type_: Type, value: Any, *, pointer: bool) -> bytes:
    """An integer in two's complement; untyped bits take what fits signed or unsigned."""
    least = 0 if type_.kind is Kind.UNSIGNED else -(1 << type_.bits - 1)
    most = (1 << type_.bits - (type_.kind is Kind.SIGNED)) - 1
    wanted = "an array in device memory, a numpy array or an address" if pointer else f"an integer {least} to {most}"
    if not is_integer(value) or not least <= operator.index(value) <= most:
        raise LaunchError(f"wants {wanted}, got {shown(value)}")
    return (operator.index(value) & (1 << type_.bits) - 1).to_bytes(type_.bytes, "little")


def exact_bytes(value: Any, size: int) -> bytes:
    """The bytes behind a bytes-like object or a numpy value, which are exactly `size`."""
    if isinstance(value, (np.generic, np.ndarray)):
        content = value.tobytes()
    else:
        try:
            content = bytes(memoryview(value).cast("B"))
        except TypeError:
            raise LaunchError(f"wants {size} bytes, got {shown(value)}") from None
    if len(content) != size:
        raise LaunchError(f"wants {size} bytes, got {len(content)} ({type(value).__name__})")
    return content


def shown(value: Any) -> str:
    """A value for an error: numbers as they are, of anything else the type and shape."""
    if isinstance(value, (int, float)):
        return f"{value!r} ({type(value).__name__})"
    shape = getattr(value, "shape", None)
    return f"{type(value).__name__} of shape {tuple(shape)}" if shape else type(value).__name__
