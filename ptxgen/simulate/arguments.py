"""The arguments of a launch: arrays at device addresses, numbers in the parameter block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isa.tensor_maps import MAP_ALIGNMENT, MAP_BYTES, TensorMap
from isa.types import Kind
from ptxgen.errors import LaunchError
from ptxgen.ir import Function, Parameter
from ptxgen.simulate.layout import parameter_offsets
from ptxgen.simulate.memory import GLOBAL_BASE, GlobalMemory, Unwritten, place

Array: TypeAlias = NDArray[Any]
Argument: TypeAlias = "Array | Unwritten | tuple[Array | Unwritten, int | TensorMap] | int | float | bytes | np.generic"

_FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}


def bind(
    function: Function, args: Sequence[Argument] | Mapping[str, Argument], variable_bytes: int, heap_bytes: int = 0
) -> tuple[GlobalMemory, bytes]:
    """Global memory with the arrays in it, and the parameter block; `variable_bytes` are kept for the module's
    variables, `heap_bytes` for what device code allocates.

    LaunchError names the parameter, what it wants and what came.
    """
    values = _ordered(function, args)
    arrays: list[Array | Unwritten] = []
    for value in values:
        held = value[0] if isinstance(value, tuple) else value
        if isinstance(held, (np.ndarray, Unwritten)):
            arrays.append(held)
    memory = place(arrays, variable_bytes, heap_bytes)
    offsets = parameter_offsets(function)
    block = bytearray(max((offsets[each.name] + each.size_bytes for each in function.parameters), default=0))
    for parameter, value in zip(function.parameters, values, strict=True):
        start = offsets[parameter.name]
        block[start : start + parameter.size_bytes] = _encoded(function, parameter, value, memory)
    return memory, bytes(block)


def _ordered(function: Function, args: Sequence[Argument] | Mapping[str, Argument]) -> list[Argument]:
    names = [parameter.name for parameter in function.parameters]
    if isinstance(args, Mapping):
        if set(args) != set(names):
            missing, extra = sorted(set(names) - set(args)), sorted(set(args) - set(names))
            raise LaunchError(f"{function.name} takes {', '.join(names)}; missing {missing}, unknown {extra}")
        return [args[name] for name in names]
    if len(args) != len(names):
        raise LaunchError(f"{function.name} takes {len(names)} arguments ({', '.join(names)}), got {len(args)}")
    return list(args)


def _encoded(function: Function, parameter: Parameter, value: Argument, memory: GlobalMemory) -> bytes:
    where = f"argument {parameter.name} of {function.name}"
    size = parameter.size_bytes
    if isinstance(value, tuple):
        array, offset = value
        if isinstance(offset, TensorMap):
            return _map(where, parameter, array, memory, offset)
        return _address(where, parameter, array, memory, int(offset))
    if isinstance(value, (np.ndarray, Unwritten)):
        return _address(where, parameter, value, memory, 0)
    if isinstance(value, (bytes, bytearray)):
        if len(value) != size:
            raise LaunchError(f"{where} takes {size} bytes, got {len(value)}")
        return bytes(value)
    if parameter.shape:
        raise LaunchError(f"{where} is an array of {size} bytes and takes bytes, got {value!r}")
    return _scalar(where, parameter, value)


def _map(where: str, parameter: Parameter, value: Array | Unwritten, memory: GlobalMemory, given: TensorMap) -> bytes:
    if parameter.size_bytes != MAP_BYTES or parameter.align_bytes < MAP_ALIGNMENT:
        raise LaunchError(
            f"{where} is to hold a tensor map: {MAP_BYTES} bytes aligned to {MAP_ALIGNMENT}, but has "
            f"{parameter.size_bytes} aligned to {parameter.align_bytes}"
        )
    return given.encode(memory.address_of(value.array if isinstance(value, Unwritten) else value))


def _address(where: str, parameter: Parameter, value: Array | Unwritten, memory: GlobalMemory, offset: int) -> bytes:
    if parameter.size_bytes != 8 or parameter.type.kind is Kind.FLOAT:
        raise LaunchError(f"{where} has type .{parameter.type}, which holds no address; got an array")
    array = value.array if isinstance(value, Unwritten) else value
    address = memory.address_of(array) + offset
    aligned = parameter.pointer.align if parameter.pointer is not None and parameter.pointer.align else 1
    if (address - GLOBAL_BASE) % aligned:
        raise LaunchError(f"{where} wants an address aligned to {aligned} bytes, got offset {offset}")
    return address.to_bytes(8, "little")


def _scalar(where: str, parameter: Parameter, value: Any) -> bytes:
    bits = parameter.type.bits
    if parameter.type.kind is Kind.FLOAT and bits in _FLOATS:
        return np.array(value, _FLOATS[bits]).tobytes()
    if isinstance(value, np.generic) and value.dtype.kind == "f" and value.dtype.itemsize * 8 == bits:
        return value.tobytes()
    if isinstance(value, (float, np.floating)):
        if parameter.type.kind is Kind.BITS and bits in _FLOATS:
            return np.array(value, _FLOATS[bits]).tobytes()
        raise LaunchError(f"{where} is a .{parameter.type}, got {value!r}")
    number = int(value)
    lowest = -(1 << bits - 1) if parameter.type.kind is not Kind.UNSIGNED else 0
    highest = (1 << bits - (parameter.type.kind is Kind.SIGNED)) - 1
    if not lowest <= number <= highest:
        raise LaunchError(f"{where} is a .{parameter.type} and cannot hold {number}")
    return (number & ((1 << bits) - 1)).to_bytes(bits // 8, "little")
