"""Which instruction moves a tile, and how much of it at once."""

from __future__ import annotations

from enum import Enum

from attrs import Attribute, field, frozen

from ptxgen.compute import Element
from ptxgen.plan.checked import instance_of, whole

WIDEST_ACCESS_BYTES = 16


class Transport(Enum):
    """Which instruction moves the tile. CP_ASYNC: from global to shared memory past the registers; LDMATRIX: from
    shared memory to fragments, a matrix of 8 rows of 16 bytes at a time; STMATRIX: the way back; TENSOR: a box of an
    array to shared memory, or back, by one thread; CONVERT: none, what a statement left in registers is the operand."""

    LD = "ld"
    ST = "st"
    CP_ASYNC = "cp_async"
    LDMATRIX = "ldmatrix"
    STMATRIX = "stmatrix"
    TENSOR = "tensor"
    CONVERT = "convert"


_ACCESS_BYTES: dict[Transport, tuple[int, ...]] = {
    Transport.LD: (1, 2, 4, 8, 16),
    Transport.ST: (1, 2, 4, 8, 16),
    Transport.CP_ASYNC: (4, 8, 16),
    Transport.LDMATRIX: (16,),
    Transport.STMATRIX: (16,),
    Transport.TENSOR: (16,),
    Transport.CONVERT: (4,),
}
_MATRICES = (1, 2, 4)
_BY_MATRICES = (Transport.LDMATRIX, Transport.STMATRIX)


def _access_bytes(instance: By, attribute: Attribute[int], value: int) -> None:
    whole(instance, attribute, value)
    _one_of(instance, "an access moves", value, _ACCESS_BYTES[instance.transport], " bytes")


def _matrices(instance: By, attribute: Attribute[int], value: int) -> None:
    whole(instance, attribute, value)
    _one_of(instance, "one instruction moves", value, _MATRICES, " matrices")


def _one_of(instance: By, what: str, value: int, allowed: tuple[int, ...], unit: str) -> None:
    if value not in allowed:
        wanted = " or ".join(
            (", ".join(map(str, allowed[:-1])), str(allowed[-1])) if allowed[1:] else map(str, allowed)
        )
        raise ValueError(f"{instance.transport.value}: {what} {wanted}{unit}, got {value}")


@frozen
class By:
    """A transport with the most bytes that one access may move; for `ldmatrix` and `stmatrix` the most matrices of an
    instruction, for `convert` the type that registers hold."""

    transport: Transport = field(validator=instance_of(Transport, "a Transport"))
    vector_bytes: int = field(validator=_access_bytes)
    matrices: int = field(default=1, validator=_matrices)
    element: Element | None = field(
        default=None, validator=instance_of((Element, type(None)), "an element type such as f16")
    )

    def __str__(self) -> str:
        if self.transport is Transport.TENSOR:
            return "tensor"
        if self.transport is Transport.CONVERT:
            return f"convert({self.element})"
        most = f"matrices={self.matrices}" if self.transport in _BY_MATRICES else f"vector={self.vector_bytes}"
        return f"{self.transport.value}({most})"


def ld(vector: int = 16) -> By:
    """By loads of at most `vector` bytes: 1, 2, 4, 8 or 16."""
    return By(Transport.LD, vector)


def st(vector: int = 16) -> By:
    """By stores of at most `vector` bytes: 1, 2, 4, 8 or 16."""
    return By(Transport.ST, vector)


def cp_async(vector: int = 16) -> By:
    """By asynchronous copies of at most `vector` bytes, 4, 8 or 16, which fill zeros outside the array (PTX ISA,
    cp.async; sm_80 and later)."""
    return By(Transport.CP_ASYNC, vector)


def ldmatrix(matrices: int = 4) -> By:
    """By loads of at most 1, 2 or 4 matrices of 8 rows of 16 bytes at once (PTX ISA, ldmatrix; sm_75 and later)."""
    return By(Transport.LDMATRIX, 16, matrices)


def stmatrix(matrices: int = 4) -> By:
    """By stores of at most 1, 2 or 4 matrices of 8 rows of 16 bytes at once (PTX ISA, stmatrix; sm_90 and later)."""
    return By(Transport.STMATRIX, 16, matrices)


def convert(element: Element) -> By:
    """By no copy: the registers in which a statement left its result, rounded to `element`, are the fragments."""
    return By(Transport.CONVERT, 4, element=element)


tensor = By(Transport.TENSOR, 16)
