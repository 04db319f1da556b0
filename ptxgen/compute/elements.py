"""Element types of arrays and expressions: what a number is, not which register holds it."""

from enum import Enum


class Element(Enum):
    """A number format, with its width in bits (IEEE 754 names; s32 is two's complement)."""

    F16 = ("f16", 16)
    F32 = ("f32", 32)
    S32 = ("s32", 32)

    def __init__(self, label: str, bits: int) -> None:
        self.label = label
        self.bits = bits

    @property
    def byte_count(self) -> int:
        """Bytes of one element in memory."""
        return self.bits // 8

    def __str__(self) -> str:
        return self.label


f16 = Element.F16
f32 = Element.F32
s32 = Element.S32
