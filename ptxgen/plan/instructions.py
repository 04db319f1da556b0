"""The words for matrix instructions: shapes as the PTX ISA names them, with the types that each multiplies.

Which targets have them is asked when a plan is derived. TypeError or ValueError, where the word is written, names what
it wants and what came.
"""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field, frozen

from ptxgen.compute import Element

_HALVES = (Element.F16, Element.BF16)
_BYTES = (Element.E4M3, Element.E5M2)
_INTEGERS = (Element.S8, Element.U8)
# What an instruction that multiplies a type may keep its sums in (PTX ISA, mma and wgmma, data types).
SUMS: dict[Element, tuple[Element, ...]] = {
    Element.F16: (Element.F16, Element.F32),
    Element.BF16: (Element.F32,),
    Element.TF32: (Element.F32,),
    Element.F64: (Element.F64,),
    Element.E4M3: (Element.F16, Element.F32),
    Element.E5M2: (Element.F16, Element.F32),
    Element.S8: (Element.S32,),
    Element.U8: (Element.S32,),
}
# What the dense shapes of a warp multiply.
FACTORS: dict[str, tuple[Element, ...]] = {
    "m8n8k4": (Element.F16, Element.F64),
    "m8n8k16": _INTEGERS,
    "m16n8k4": (Element.TF32, Element.F64),
    "m16n8k8": (*_HALVES, Element.TF32, Element.F64),
    "m16n8k16": (*_HALVES, Element.F64, *_INTEGERS, *_BYTES),
    "m16n8k32": (*_INTEGERS, *_BYTES),
}
WARPGROUP_BITS = 256
WARPGROUP_COLUMNS = range(8, 257, 8)
WARPGROUP_FACTORS = (*_HALVES, Element.TF32, *_BYTES, *_INTEGERS)


def _extent(instance: Any, attribute: Attribute[int], value: object) -> None:
    what = f"{type(instance).__name__}: {attribute.name}"
    if type(value) is not int:
        raise TypeError(f"{what} is a whole number of at least 1, got {value!r}")
    if value < 1:
        raise ValueError(f"{what} is at least 1, got {value}")


def _element(instance: Any, attribute: Attribute[Element], value: object) -> None:
    if not isinstance(value, Element):
        raise TypeError(f"{type(instance).__name__}: {attribute.name} is an element type, got {value!r}")


@frozen
class MatrixInstruction:
    """A multiplication instruction: shape and element types, checked against the target's rows when derived. `input` is
    the type of A, `b_input` that of B. One of a `warpgroup` reads its operands from shared memory."""

    name: str
    m: int = field(validator=_extent)
    n: int = field(validator=_extent)
    k: int = field(validator=_extent)
    input: Element = field(validator=_element)
    accumulate: Element = field(validator=_element)
    warpgroup: bool = False
    b_input: Element = field(validator=_element, kw_only=True)

    @b_input.default
    def _same(self) -> Element:
        return self.input

    @property
    def orders(self) -> bool:
        """Whether its operands may lie either way, as only Volta's do."""
        return self.name == "m8n8k4" and self.input is Element.F16

    def __str__(self) -> str:
        shape = f"wgmma(n={self.n}, " if self.warpgroup else f"{self.name}("
        other = f", b_input={self.b_input}" if self.b_input is not self.input else ""
        return f"{shape}accumulate={self.accumulate}, input={self.input}{other})"


def m8n8k4(accumulate: Element, input: Element = Element.F16) -> MatrixInstruction:
    """Volta's quad-pair multiplication of f16, four 8x8x4 products a warp (PTX ISA, mma.sync.aligned.m8n8k4), or one
    8x8x4 product of f64 (sm_80 and later)."""
    return _warp_product("m8n8k4", accumulate, input)


def m8n8k16(accumulate: Element, input: Element = Element.S8, b_input: Element | None = None) -> MatrixInstruction:
    """Turing's 8x8x16 product of s8 or u8 (sm_75 and later)."""
    return _warp_product("m8n8k16", accumulate, input, b_input)


def m16n8k4(accumulate: Element, input: Element = Element.TF32) -> MatrixInstruction:
    """A 16x8x4 product of tf32 (sm_80 and later) or f64 (sm_90 and later)."""
    return _warp_product("m16n8k4", accumulate, input)


def m16n8k8(accumulate: Element, input: Element = Element.F16) -> MatrixInstruction:
    """A 16x8x8 product of f16 (sm_75 and later), bf16 or tf32 (sm_80), or f64 (sm_90)."""
    return _warp_product("m16n8k8", accumulate, input)


def m16n8k16(accumulate: Element, input: Element = Element.F16, b_input: Element | None = None) -> MatrixInstruction:
    """A 16x8x16 product of f16, bf16, s8 or u8 (sm_80 and later), e4m3 or e5m2 (sm_89), or f64 (sm_90)."""
    return _warp_product("m16n8k16", accumulate, input, b_input)


def m16n8k32(accumulate: Element, input: Element = Element.S8, b_input: Element | None = None) -> MatrixInstruction:
    """A 16x8x32 product of s8 or u8 (sm_80 and later), e4m3 or e5m2 (sm_89)."""
    return _warp_product("m16n8k32", accumulate, input, b_input)


def wgmma(
    n: int, accumulate: Element, input: Element = Element.F16, b_input: Element | None = None
) -> MatrixInstruction:
    """Hopper's multiplication of a warpgroup: a 64 x n product, 32 bytes along k, with both operands in shared memory
    (PTX ISA, wgmma.mma_async; sm_90a). `n` is a multiple of 8 from 8 to 256. Operands of other than 16 bits lie
    together along k there."""
    if type(n) is not int or n not in WARPGROUP_COLUMNS:
        raise ValueError(f"wgmma: n is a multiple of 8 from 8 to 256, got {n!r}")
    other = _checked("wgmma", WARPGROUP_FACTORS, accumulate, input, b_input)
    k = WARPGROUP_BITS // input.bits
    return MatrixInstruction(f"m64n{n}k{k}", 64, n, k, input, accumulate, warpgroup=True, b_input=other)


def _warp_product(name: str, accumulate: Element, input: Element, b_input: Element | None = None) -> MatrixInstruction:
    other = _checked(name, FACTORS[name], accumulate, input, b_input)
    m, n, k = (int(extent) for extent in name.replace("m", " ").replace("n", " ").replace("k", " ").split())
    return MatrixInstruction(name, m, n, k, input, accumulate, b_input=other)


def _checked(
    name: str, factors: tuple[Element, ...], accumulate: Element, input: Element, b_input: Element | None
) -> Element:
    """The type of B; ValueError where the instruction does not multiply or accumulate these types."""
    if input not in factors:
        raise ValueError(f"{name} multiplies {_either(factors)}, got {input}")
    other = input if b_input is None else b_input
    mixed = next((kinds for kinds in (_BYTES, _INTEGERS) if input in kinds), (input,))
    if other not in mixed:
        raise ValueError(f"{name} multiplies {input} by {_either(mixed)}, got {other}")
    if accumulate not in SUMS[input]:
        raise ValueError(f"{name} accumulates {_either(SUMS[input])}, got {accumulate}")
    return other


def _either(elements: tuple[Element, ...]) -> str:
    labels = [element.label for element in elements]
    return " or ".join(([", ".join(labels[:-1])] if labels[1:] else []) + labels[-1:])
