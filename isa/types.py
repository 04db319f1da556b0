"""The types of PTX and which registers an operand of each type takes."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import field, frozen


class Kind(Enum):
    """How the bits of a value are read."""

    BITS = "bits"
    UNSIGNED = "unsigned"
    SIGNED = "signed"
    FLOAT = "float"
    PREDICATE = "predicate"

    __hash__ = object.__hash__


@frozen(eq=False)
class Type:
    """A PTX type. `accepts` are the register types that an operand of this type takes; there is one object per type.

    `register` tells whether `.reg` may declare it. A packed type (`f16x2`) has `lanes` elements.
    """

    name: str
    bits: int
    kind: Kind
    register: bool = True
    lanes: int = 1
    accepts: frozenset[Type] = field(init=False, repr=False, factory=frozenset)

    @property
    def bytes(self) -> int:
        """Size in bytes; a predicate and sub-byte types have none and give 0."""
        return self.bits // 8

    @property
    def integer(self) -> bool:
        """True for signed and unsigned types."""
        return self.kind is Kind.UNSIGNED or self.kind is Kind.SIGNED

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return type_named, (self.name,)

    def __copy__(self) -> Type:
        return self

    def __deepcopy__(self, memo: object) -> Type:
        return self


class UnknownType(LookupError):
    """No PTX type has this name."""


pred = Type("pred", 1, Kind.PREDICATE)
b8 = Type("b8", 8, Kind.BITS)
b16 = Type("b16", 16, Kind.BITS)
b32 = Type("b32", 32, Kind.BITS)
b64 = Type("b64", 64, Kind.BITS)
b128 = Type("b128", 128, Kind.BITS)
u8 = Type("u8", 8, Kind.UNSIGNED)
u16 = Type("u16", 16, Kind.UNSIGNED)
u32 = Type("u32", 32, Kind.UNSIGNED)
u64 = Type("u64", 64, Kind.UNSIGNED)
s8 = Type("s8", 8, Kind.SIGNED)
s16 = Type("s16", 16, Kind.SIGNED)
s32 = Type("s32", 32, Kind.SIGNED)
s64 = Type("s64", 64, Kind.SIGNED)
f16 = Type("f16", 16, Kind.FLOAT)
f16x2 = Type("f16x2", 32, Kind.FLOAT, lanes=2)
f32 = Type("f32", 32, Kind.FLOAT)
f64 = Type("f64", 64, Kind.FLOAT)
bf16 = Type("bf16", 16, Kind.FLOAT, register=False)
bf16x2 = Type("bf16x2", 32, Kind.FLOAT, register=False, lanes=2)
tf32 = Type("tf32", 32, Kind.FLOAT, register=False)
e4m3 = Type("e4m3", 8, Kind.FLOAT, register=False)
e5m2 = Type("e5m2", 8, Kind.FLOAT, register=False)
e2m3 = Type("e2m3", 6, Kind.FLOAT, register=False)
e3m2 = Type("e3m2", 6, Kind.FLOAT, register=False)
e2m1 = Type("e2m1", 4, Kind.FLOAT, register=False)
ue8m0 = Type("ue8m0", 8, Kind.FLOAT, register=False)
ue4m3 = Type("ue4m3", 8, Kind.FLOAT, register=False)
e2m3x2 = Type("e2m3x2", 16, Kind.FLOAT, register=False, lanes=2)
e3m2x2 = Type("e3m2x2", 16, Kind.FLOAT, register=False, lanes=2)
e2m1x2 = Type("e2m1x2", 8, Kind.FLOAT, register=False, lanes=2)
ue8m0x2 = Type("ue8m0x2", 16, Kind.FLOAT, register=False, lanes=2)
ue5m3x2 = Type("ue5m3x2", 16, Kind.FLOAT, register=False, lanes=2)
s2f6x2 = Type("s2f6x2", 16, Kind.FLOAT, register=False, lanes=2)
e4m3x4 = Type("e4m3x4", 32, Kind.FLOAT, register=False, lanes=4)
e5m2x4 = Type("e5m2x4", 32, Kind.FLOAT, register=False, lanes=4)
e2m3x4 = Type("e2m3x4", 32, Kind.FLOAT, register=False, lanes=4)
e3m2x4 = Type("e3m2x4", 32, Kind.FLOAT, register=False, lanes=4)
e2m1x4 = Type("e2m1x4", 16, Kind.FLOAT, register=False, lanes=4)
f32x2 = Type("f32x2", 64, Kind.FLOAT, register=False, lanes=2)
e4m3x2 = Type("e4m3x2", 16, Kind.FLOAT, register=False, lanes=2)
e5m2x2 = Type("e5m2x2", 16, Kind.FLOAT, register=False, lanes=2)
u16x2 = Type("u16x2", 32, Kind.UNSIGNED, register=False, lanes=2)
s16x2 = Type("s16x2", 32, Kind.SIGNED, register=False, lanes=2)
u8x4 = Type("u8x4", 32, Kind.UNSIGNED, register=False, lanes=4)
s8x4 = Type("s8x4", 32, Kind.SIGNED, register=False, lanes=4)
u4 = Type("u4", 4, Kind.UNSIGNED, register=False)
s4 = Type("s4", 4, Kind.SIGNED, register=False)
b1 = Type("b1", 1, Kind.BITS, register=False)
texref = Type("texref", 64, Kind.BITS, register=False)
samplerref = Type("samplerref", 64, Kind.BITS, register=False)
surfref = Type("surfref", 64, Kind.BITS, register=False)

TYPES: tuple[Type, ...] = (
    pred, b8, b16, b32, b64, b128, u8, u16, u32, u64, s8, s16, s32, s64, f16, f16x2, f32, f64,
    bf16, bf16x2, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, ue8m0, ue4m3, e4m3x2, e5m2x2, e2m3x2, e3m2x2, e2m1x2, ue8m0x2,
    ue5m3x2, s2f6x2, e4m3x4, e5m2x4, e2m3x4, e3m2x4, e2m1x4, f32x2, u16x2, s16x2, u8x4, s8x4, u4, s4, b1, texref,
    samplerref, surfref,
)  # fmt: skip
REGISTER_TYPES: tuple[Type, ...] = tuple(each for each in TYPES if each.register)
_BY_NAME = {each.name: each for each in TYPES}
_BITS_OF = {8: b8, 16: b16, 32: b32, 64: b64, 128: b128}
_UNSIGNED_OF = {8: u8, 16: u16, 32: u32, 64: u64}
_SIGNED_OF = {8: s8, 16: s16, 32: s32, 64: s64}


def type_named(name: str) -> Type:
    """The type object of that name (`"f32"`); UnknownType lists the known ones."""
    found = _BY_NAME.get(name)
    if found is None:
        raise UnknownType(f"no PTX type is called {name!r}; known: {' '.join(_BY_NAME)}")
    return found


def bits_type(bits: int) -> Type:
    """The untyped register type of a width in bits (8, 16, 32, 64 or 128)."""
    return _BITS_OF[bits]


def of_width(kind: Kind, bits: int) -> Type:
    """The integer or bits type of a kind and a width in bits: `of_width(Kind.SIGNED, 64)` is `s64`."""
    if kind is Kind.UNSIGNED:
        return _UNSIGNED_OF[bits]
    return _SIGNED_OF[bits] if kind is Kind.SIGNED else _BITS_OF[bits]


def accepted_by(wanted: Type) -> frozenset[Type]:
    """The register types an operand of type `wanted` takes in an instruction that converts nothing.

    Same size; untyped with anything; signed with unsigned; floats and packed values only with themselves or untyped
    (manual, operand type checking). Types that no register can have take the untyped one.
    """
    same = [each for each in REGISTER_TYPES if each.bits == wanted.bits and each.kind is not Kind.PREDICATE]
    if wanted.kind is Kind.PREDICATE:
        return frozenset({wanted})
    if wanted.kind is Kind.BITS:
        return frozenset(same)
    if wanted.integer and wanted.lanes == 1:
        return frozenset(each for each in same if each.kind is not Kind.FLOAT)
    return frozenset(each for each in same if each is wanted or each.kind is Kind.BITS)


def wider(wanted: Type) -> frozenset[Type]:
    """The register types that hold a value of type `wanted` in `ld`, `st` and `cvt`: they may be wider.

    Untyped values fit any wider register, integers any wider integer or untyped one, floats untyped ones; formats that
    no register has (`bf16`, `tf32`, `e4m3x2`) want exactly their width.
    """
    if wanted.kind is Kind.FLOAT and not wanted.register:
        return wanted.accepts
    larger = [each for each in REGISTER_TYPES if wanted.bits < each.bits <= 64]
    if wanted.integer:
        larger = [each for each in larger if each.kind is not Kind.FLOAT]
    if wanted.kind is Kind.FLOAT:
        larger = [each for each in larger if each.kind is Kind.BITS]
    return wanted.accepts if wanted.kind is Kind.PREDICATE else wanted.accepts.union(larger)


for _each in TYPES:
    object.__setattr__(_each, "accepts", accepted_by(_each))
