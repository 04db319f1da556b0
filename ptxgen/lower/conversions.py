"""Between the elements of tiles and the type that an expression calculates in."""

from __future__ import annotations

from isa.forms import resolve
from isa.targets import target
from isa.types import b16, b32
from ptxgen.build import Kernel, Value
from ptxgen.compute import Element
from ptxgen.errors import UnsupportedError
from ptxgen.lower.words import packed, unpacked

# The instruction that rounds an f32 to an element of at most 16 bits (PTX ISA, cvt); of two bytes the second is used.
ROUNDING: dict[Element, str] = {
    Element.F16: "cvt.rn.f16.f32",
    Element.BF16: "cvt.rn.bf16.f32",
    Element.E4M3: "cvt.rn.satfinite.e4m3x2.f32",
    Element.E5M2: "cvt.rn.satfinite.e5m2x2.f32",
    Element.S8: "cvt.rni.sat.s8.f32",
    Element.U8: "cvt.rni.sat.u8.f32",
}
PAIRED = (Element.E4M3, Element.E5M2)


WIDENING: dict[Element, str] = {
    Element.E4M3: "cvt.rn.f16x2.e4m3x2",
    Element.E5M2: "cvt.rn.f16x2.e5m2x2",
}


def check_conversion(op: str, instructions: dict[Element, str], element: Element, on: str) -> None:
    """UnsupportedError where a target has no instruction that an element needs."""
    name = instructions.get(element)
    if name is None:
        return
    availability = resolve(name).availability
    if availability.least_version(target(on)) is None:
        raise UnsupportedError(f"{op}: {on} has no {name}, which {element} needs: {availability}")


def widened_part(kernel: Kernel, part: Value, element: Element) -> Value:
    """An element of 16 or 8 bits, in the low end of a 16-bit register, as f32."""
    result: Value
    match element:
        case Element.F16:
            result = kernel.cvt.f32.f16(part)
        case Element.BF16:
            result = packed(kernel, kernel.register(b16, 0), part)
        case Element.E4M3 | Element.E5M2:
            halves = kernel.function(WIDENING[element])(part, into=kernel.register(b32))
            result = kernel.cvt.f32.f16(unpacked(kernel, halves)[0])
        case Element.S8 | Element.U8:
            result = kernel.function(f"cvt.rn.f32.{element}")(part)
        case _:
            raise UnsupportedError(f"{element} is no part of a register")
    return result


def narrowed_part(kernel: Kernel, value: Value, element: Element) -> Value:
    """An f32 rounded to an element of 16 or 8 bits, in the low end of a 16-bit register."""
    round_to, into = kernel.function(ROUNDING[element]), kernel.register(b16)
    result: Value = round_to(0.0, value, into=into) if element in PAIRED else round_to(value, into=into)
    return result


def widened_word(kernel: Kernel, word: Value, element: Element) -> Value:
    """An element that fills a register, as f32, or as f64 where it is one."""
    if element is Element.S32:
        result: Value = kernel.cvt.rn.f32.s32(word)
        return result
    return word


def in_arithmetic(kernel: Kernel, value: Value, element: Element, arithmetic: Element) -> Value:
    """The widened value of an element in the type that the expression calculates in."""
    if arithmetic is Element.F64 and element is not Element.F64:
        result: Value = kernel.cvt.f64.f32(value)
        return result
    return value


def as_single(kernel: Kernel, value: Value, arithmetic: Element) -> Value:
    """A value of an expression as f32, rounded to nearest even."""
    if arithmetic is Element.F64:
        result: Value = kernel.cvt.rn.f32.f64(value)
        return result
    return value
