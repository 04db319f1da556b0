"""Descriptors of `wgmma` and `tcgen05`: matrices in shared memory and the shape and types of a product, as bits.

Each is a value that checks itself when made, gives its `bits`, and is made again from bits by `of`. Addresses, offsets
and strides are in bytes. Source: manual, matrix descriptor formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

from attrs import frozen

_ADDRESS_BITS = 18


class InvalidDescriptor(ValueError):
    """A field of a descriptor has a value that its bits cannot hold or the tensor core does not take."""


class Swizzle(Enum):
    """How units of rows are permuted, 16 bytes or what the name says; `span` is the width in bytes of what is permuted.

    With FLIPPED the halves of each 16 bytes change places in every second row too.
    """

    NONE = 0
    BYTES_32 = 32
    BYTES_64 = 64
    BYTES_128 = 128
    BYTES_128_BY_32 = 129
    BYTES_128_BY_32_FLIPPED = 130
    BYTES_128_BY_64 = 131

    @property
    def span(self) -> int:
        """The bytes of a row within which units change places; 0 where none does."""
        return min(self.value, 128)

    @property
    def unit(self) -> int:
        """The bytes that stay together."""
        return {129: 32, 130: 32, 131: 64}.get(self.value, 16)

    @property
    def repeat(self) -> int:
        """The bytes after which the pattern repeats; 16 without a pattern."""
        return self.span * 8 or 16

    def place(self, address: int) -> int:
        """Where the byte that a plain layout has at `address` lies; the unit moves by the row's number, bits 7 up."""
        if self is Swizzle.NONE:
            return address
        row = (address >> 7) % (self.span // self.unit)
        flipped = 8 if self is Swizzle.BYTES_128_BY_32_FLIPPED and row & 1 else 0
        return address ^ row * self.unit ^ flipped


_WARPGROUP_CODES = {Swizzle.NONE: 0, Swizzle.BYTES_128: 1, Swizzle.BYTES_64: 2, Swizzle.BYTES_32: 3}
_TENSOR_CORE_CODES = {
    Swizzle.NONE: 0, Swizzle.BYTES_128_BY_32: 1, Swizzle.BYTES_128: 2, Swizzle.BYTES_64: 4, Swizzle.BYTES_32: 6,
}  # fmt: skip


def _packed(what: str, value: int) -> int:
    if value % 16 or not 0 <= value < 1 << _ADDRESS_BITS:
        raise InvalidDescriptor(f"{what} must be a multiple of 16 below {1 << _ADDRESS_BITS}, not {value}")
    return value >> 4


def _bits_of(bits: int, low: int, width: int) -> int:
    return bits >> low & ((1 << width) - 1)


def _known(what: str, word: object, codes: Mapping[Any, int]) -> int:
    if word not in codes:
        raise InvalidDescriptor(f"{what} must be one of {', '.join(str(each) for each in codes)}, not {word}")
    return codes[word]


def _named(what: str, code: int, codes: Mapping[Any, int]) -> Any:
    for word, value in codes.items():
        if value == code:
            return word
    raise InvalidDescriptor(f"{what} has no meaning for {code}")


@frozen
class SharedMatrix:
    """A matrix in shared memory as `wgmma` reads it.

    `leading_bytes` and `stride_bytes` are the two distances of the canonical layouts; `base_offset` is 0 where the
    pattern of the swizzle starts at a multiple of its repeat, else bits 7 to 9 of its start.
    """

    start: int
    leading_bytes: int
    stride_bytes: int
    swizzle: Swizzle = Swizzle.NONE
    base_offset: int = 0

    def __attrs_post_init__(self) -> None:
        self.bits  # noqa: B018

    @property
    def bits(self) -> int:
        """The 64 bits."""
        return _matrix_bits(self, _WARPGROUP_CODES) | _WARPGROUP_CODES[self.swizzle] << 62

    @classmethod
    def of(cls, bits: int) -> SharedMatrix:
        """The matrix that 64 bits describe."""
        swizzle = _named("the swizzle", _bits_of(bits, 62, 2), _WARPGROUP_CODES)
        start, leading, stride = (_bits_of(bits, low, 14) << 4 for low in (0, 16, 32))
        return _exact(cls(start, leading, stride, swizzle, _bits_of(bits, 49, 3)), bits)

    def advanced(self, by_bytes: int) -> SharedMatrix:
        """The same matrix further on, as the steps along K need."""
        return SharedMatrix(
            self.start + by_bytes, self.leading_bytes, self.stride_bytes, self.swizzle, self.base_offset
        )

    def __str__(self) -> str:
        return _told(self)


@frozen
class TensorCoreMatrix:
    """A matrix in shared memory as `tcgen05.mma` and `tcgen05.cp` read it.

    As `SharedMatrix`; with `absolute` the leading distance is an address (for 48 bytes of K in a row, with the plain
    swizzle of 128 bytes only).
    """

    start: int
    leading_bytes: int
    stride_bytes: int
    swizzle: Swizzle = Swizzle.NONE
    base_offset: int = 0
    absolute: bool = False

    def __attrs_post_init__(self) -> None:
        if self.absolute and (self.swizzle is not Swizzle.BYTES_128 or self.base_offset):
            raise InvalidDescriptor("an absolute leading address needs the swizzle of 128 bytes and no base offset")
        self.bits  # noqa: B018

    @property
    def bits(self) -> int:
        """The 64 bits, with the fixed 1 at bit 46."""
        placed = _matrix_bits(self, _TENSOR_CORE_CODES)
        return placed | 1 << 46 | self.absolute << 52 | _TENSOR_CORE_CODES[self.swizzle] << 61

    @classmethod
    def of(cls, bits: int) -> TensorCoreMatrix:
        """The matrix that 64 bits describe."""
        swizzle = _named("the swizzle", _bits_of(bits, 61, 3), _TENSOR_CORE_CODES)
        start, leading, stride = (_bits_of(bits, low, 14) << 4 for low in (0, 16, 32))
        base, absolute = _bits_of(bits, 49, 3), bool(_bits_of(bits, 52, 1))
        return _exact(cls(start, leading, stride, swizzle, base, absolute), bits)

    def advanced(self, by_bytes: int) -> TensorCoreMatrix:
        """The same matrix further on, as the steps along K need."""
        return TensorCoreMatrix(
            self.start + by_bytes, self.leading_bytes, self.stride_bytes, self.swizzle, self.base_offset, self.absolute
        )

    def __str__(self) -> str:
        return _told(self)


def _matrix_bits(matrix: SharedMatrix | TensorCoreMatrix, codes: Mapping[Swizzle, int]) -> int:
    _known("the swizzle", matrix.swizzle, codes)
    if not 0 <= matrix.base_offset < 8:
        raise InvalidDescriptor(f"the base offset must be from 0 to 7, not {matrix.base_offset}")
    start = _packed("the start", matrix.start)
    leading = _packed("the leading dimension offset", matrix.leading_bytes)
    stride = _packed("the stride dimension offset", matrix.stride_bytes)
    return start | leading << 16 | stride << 32 | matrix.base_offset << 49


_Matrix = TypeVar("_Matrix", SharedMatrix, TensorCoreMatrix)


def _exact(made: _Matrix, bits: int) -> _Matrix:
    if made.bits != bits:
        raise InvalidDescriptor(f"{bits:#018x} has bits that must be zero: {made.bits ^ bits:#x}")
    return made


def _told(matrix: SharedMatrix | TensorCoreMatrix) -> str:
    return (
        f"{matrix.bits:#018x}: at {matrix.start}, leading {matrix.leading_bytes} bytes, stride {matrix.stride_bytes} "
        f"bytes, swizzle {matrix.swizzle.name.lower()}, base offset {matrix.base_offset}"
    )


_F8F6F4 = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
_ELEMENTS: dict[str, dict[str, int]] = {
    "f16": {"f16": 0, "bf16": 1},
    "tf32": {"tf32": 2},
    "f8f6f4": _F8F6F4,
    "i8": {"u8": 0, "s8": 1},
    "mxf8f6f4": _F8F6F4,
    "mxf4": {"e2m1": 1},
    "mxf4nvf4": {"e2m1": 1},
}
_RESULTS: dict[str, dict[str, int]] = {
    "f16": {"f16": 0, "f32": 1}, "tf32": {"f32": 1}, "f8f6f4": {"f16": 0, "f32": 1}, "i8": {"s32": 2},
}  # fmt: skip
_SCALES: dict[str, dict[str, int]] = {
    "mxf8f6f4": {"ue8m0": 1}, "mxf4": {"ue8m0": 1}, "mxf4nvf4": {"ue4m3": 0, "ue8m0": 1},
}  # fmt: skip
SHIFTS = (0, 8, 16, 32)


@frozen
class Product:
    """The instruction descriptor of `tcgen05.mma` for the kinds f16, tf32, f8f6f4 and i8 (without scaled blocks).

    `rows` and `columns` are M and N; `transpose_a` means A is M-major, `transpose_b` means B is N-major; `shift` is the
    greatest shift of the weight-stationary form.
    """

    kind: str
    rows: int
    columns: int
    result: str
    a: str
    b: str
    negate_a: bool = False
    negate_b: bool = False
    transpose_a: bool = False
    transpose_b: bool = False
    saturate: bool = False
    sparse: bool = False
    selector: int = 0
    shift: int = 0

    def __attrs_post_init__(self) -> None:
        if self.kind not in _RESULTS:
            raise InvalidDescriptor(f"the kind must be one of {', '.join(_RESULTS)}, not {self.kind}")
        if self.kind == "i8" and (self.negate_a or self.negate_b):
            raise InvalidDescriptor("integers cannot be negated")
        if self.saturate and self.kind != "i8":
            raise InvalidDescriptor(f"only integers saturate, not kind {self.kind}")
        if self.selector and not (self.sparse and 0 <= self.selector < 4):
            raise InvalidDescriptor(f"the selector must be from 0 to 3 and needs a sparse A, not {self.selector}")
        _checked_extents(self.rows, self.columns, (32, 64, 128, 256))
        self.bits  # noqa: B018

    @property
    def bits(self) -> int:
        """The 32 bits."""
        elements = _ELEMENTS[self.kind]
        return (
            self.selector
            | self.sparse << 2
            | self.saturate << 3
            | _known("the result type", self.result, _RESULTS[self.kind]) << 4
            | _known("the type of A", self.a, elements) << 7
            | _known("the type of B", self.b, elements) << 10
            | _signs(self)
            | self.columns >> 3 << 17
            | self.rows >> 4 << 24
            | _known("the shift", self.shift, {each: code for code, each in enumerate(SHIFTS)}) << 30
        )

    @classmethod
    def of(cls, kind: str, bits: int) -> Product:
        """The product that 32 bits describe for a kind (the bits do not tell it)."""
        if kind not in _RESULTS:
            raise InvalidDescriptor(f"the kind must be one of {', '.join(_RESULTS)}, not {kind}")
        elements = _ELEMENTS[kind]
        made = cls(
            kind,
            _bits_of(bits, 24, 5) << 4,
            _bits_of(bits, 17, 6) << 3,
            _named("the result type", _bits_of(bits, 4, 2), _RESULTS[kind]),
            _named("the type of A", _bits_of(bits, 7, 3), elements),
            _named("the type of B", _bits_of(bits, 10, 3), elements),
            negate_a=bool(_bits_of(bits, 13, 1)),
            negate_b=bool(_bits_of(bits, 14, 1)),
            transpose_a=bool(_bits_of(bits, 15, 1)),
            transpose_b=bool(_bits_of(bits, 16, 1)),
            saturate=bool(_bits_of(bits, 3, 1)),
            sparse=bool(_bits_of(bits, 2, 1)),
            selector=_bits_of(bits, 0, 2),
            shift=SHIFTS[_bits_of(bits, 30, 2)],
        )
        if made.bits != bits:
            raise InvalidDescriptor(f"{bits:#010x} has bits that must be zero: {made.bits ^ bits:#x}")
        return made

    def __str__(self) -> str:
        return f"{self.bits:#010x}: {self.kind} {self.rows}x{self.columns} {self.result} = {self.a} * {self.b}"


@frozen
class ScaledProduct:
    """The instruction descriptor of `tcgen05.mma` for the kinds mxf8f6f4, mxf4 and mxf4nvf4, which scale blocks.

    The result is f32. `a_scale_id` and `b_scale_id` choose the byte of a 32-bit cell where the factors start (0 or 2
    for the four-bit kinds); `long_k` asks for K of 96 instead of 64.
    """

    kind: str
    rows: int
    columns: int
    a: str
    b: str
    scale: str
    a_scale_id: int = 0
    b_scale_id: int = 0
    negate_a: bool = False
    negate_b: bool = False
    transpose_a: bool = False
    transpose_b: bool = False
    sparse: bool = False
    long_k: bool = False

    def __attrs_post_init__(self) -> None:
        if self.kind not in _SCALES:
            raise InvalidDescriptor(f"the kind must be one of {', '.join(_SCALES)}, not {self.kind}")
        four_bits = self.kind != "mxf8f6f4"
        if four_bits and (self.transpose_a or self.transpose_b):
            raise InvalidDescriptor(f"kind {self.kind} transposes nothing")
        if self.long_k and (not four_bits or self.sparse):
            raise InvalidDescriptor("K of 96 is for dense matrices of the four-bit kinds")
        for name, chosen in (("A", self.a_scale_id), ("B", self.b_scale_id)):
            if chosen not in ((0, 2) if four_bits else (0, 1, 2, 3)):
                raise InvalidDescriptor(f"kind {self.kind} has no scale id {chosen} of {name}")
        _checked_extents(self.rows, self.columns, (128, 256))
        self.bits  # noqa: B018

    @property
    def bits(self) -> int:
        """The 32 bits."""
        elements = _ELEMENTS[self.kind]
        return (
            self.sparse << 2
            | self.b_scale_id << 4
            | _known("the type of A", self.a, elements) << 7
            | _known("the type of B", self.b, elements) << 10
            | _signs(self)
            | self.columns >> 3 << 17
            | _known("the type of the scales", self.scale, _SCALES[self.kind]) << 23
            | self.rows >> 7 << 27
            | self.a_scale_id << 29
            | self.long_k << 31
        )

    def __str__(self) -> str:
        return f"{self.bits:#010x}: {self.kind} {self.rows}x{self.columns} f32 = {self.a} * {self.b}, {self.scale}"


def _signs(product: Product | ScaledProduct) -> int:
    return product.negate_a << 13 | product.negate_b << 14 | product.transpose_a << 15 | product.transpose_b << 16


def _checked_extents(rows: int, columns: int, allowed: tuple[int, ...]) -> None:
    if rows not in allowed:
        raise InvalidDescriptor(f"M must be one of {', '.join(map(str, allowed))}, not {rows}")
    if columns % 8 or not 8 <= columns <= 256:
        raise InvalidDescriptor(f"N must be a multiple of 8 from 8 to 256, not {columns}")
