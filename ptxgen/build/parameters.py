"""Parameter types beside the scalar ones: pointers and arrays."""

from __future__ import annotations

from attrs import frozen

from isa.types import Kind, Type, u32, u64
from ptxgen.build.blame import fail, failure
from ptxgen.ir import Parameter, PointerFacts, Space


@frozen
class PointerType:
    """A pointer to elements of a type in a space; `align` in bytes is what the caller promises of the address."""

    type: Type
    space: Space | None
    align: int | None


@frozen
class ArrayType:
    """A parameter of `count` elements passed by value, such as a tensor map: `array(b8, 128, align=64)`."""

    type: Type
    count: int
    align: int | None


def pointer(type: Type, *, space: str = "global", align: int | None = None) -> PointerType:
    """A pointer parameter; the kernel sees a u64 register with the address.

    `align` in bytes is a power of two, written into the parameter's declaration. The space `"generic"` promises none.
    KernelError for an unknown space.
    """
    spaces = (Space.GLOBAL, Space.SHARED, Space.LOCAL, Space.CONST)
    known: dict[str, Space | None] = {**{each.value: each for each in spaces}, "generic": None}
    if space not in known:
        fail("parameter.space", f"a pointer's space is one of {', '.join(known)}, not {space!r}")
    check_align(align)
    return PointerType(type, known[space], align)


def array(type: Type, count: int, *, align: int | None = None) -> ArrayType:
    """An array parameter of `count` elements, passed by value; the kernel reads it with `k.ld.param`."""
    if type.bits < 8 or count < 1:
        fail("parameter.type", f"an array parameter has at least one element of at least 8 bits, not {count} of {type}")
    check_align(align)
    return ArrayType(type, count, align)


def check_align(align: int | None) -> None:
    """KernelError unless the alignment in bytes is a power of two or None."""
    if align is not None and (align < 1 or align & (align - 1)):
        fail("alignment", f"an alignment is a power of two in bytes, not {align}")


def parameter_of(name: str, type_: object, address_size: int) -> Parameter:
    """The IR parameter of a name and what the user gave as its type."""
    match type_:
        case Type() if type_.kind is not Kind.PREDICATE and type_.bits >= 8 and type_.register:
            return Parameter(name, type_)
        case PointerType(space=space, align=align):
            return Parameter(name, u64 if address_size == 64 else u32, pointer=PointerFacts(space, align))
        case Parameter() if type_.name == name:
            return type_
        case ArrayType(type=element, count=count, align=align):
            return Parameter(name, element, (count,), align)
        case _:
            raise failure(
                "parameter.type",
                f"parameter {name} wants a type such as u32, pointer(f32) or array(b8, 128), got {type_!r}",
            )
