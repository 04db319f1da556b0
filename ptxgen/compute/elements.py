"""Element types of arrays and expressions: what a number is, not which register holds it."""

from enum import Enum


class ElementKind(Enum):
    """How the bits of an element are read."""

    FLOAT = "float"
    SIGNED = "signed"
    UNSIGNED = "unsigned"

    __hash__ = object.__hash__


class Element(Enum):
    """A number format, with its width in bits (names of the PTX ISA; integers are two's complement).

    TF32 lies in memory as an f32 whose low 13 bits nobody reads; E4M3 has no infinity, its largest number is 448.
    """

    F16 = ("f16", 16, ElementKind.FLOAT)
    BF16 = ("bf16", 16, ElementKind.FLOAT)
    TF32 = ("tf32", 32, ElementKind.FLOAT)
    F32 = ("f32", 32, ElementKind.FLOAT)
    F64 = ("f64", 64, ElementKind.FLOAT)
    E4M3 = ("e4m3", 8, ElementKind.FLOAT)
    E5M2 = ("e5m2", 8, ElementKind.FLOAT)
    S8 = ("s8", 8, ElementKind.SIGNED)
    U8 = ("u8", 8, ElementKind.UNSIGNED)
    S32 = ("s32", 32, ElementKind.SIGNED)

    def __init__(self, label: str, bits: int, kind: ElementKind) -> None:
        self.label = label
        self.bits = bits
        self.kind = kind

    @property
    def byte_count(self) -> int:
        """Bytes of one element in memory."""
        return self.bits // 8

    @property
    def is_integer(self) -> bool:
        """Whether it is a whole number."""
        return self.kind is not ElementKind.FLOAT

    def __str__(self) -> str:
        return self.label


f16 = Element.F16
bf16 = Element.BF16
tf32 = Element.TF32
f32 = Element.F32
f64 = Element.F64
e4m3 = Element.E4M3
e5m2 = Element.E5M2
s8 = Element.S8
u8 = Element.U8
s32 = Element.S32
