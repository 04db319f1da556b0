"""Tensor maps: what the tensor copies know of a tensor in global memory, as values and as their 128 bytes.

The places of the fields are those that ptxas writes to for `tensormap.replace`; those that the instruction has no field
for (the L2 promotion, `im2col`) too are where a driver puts them, which the tests on a device say byte for byte.
"""

from __future__ import annotations

from enum import Enum

from attrs import evolve, field, frozen

from isa.descriptors import InvalidDescriptor, Swizzle

MAP_BYTES = 128
NOTED_BYTES = (*range(64, 68), *range(72, 76))
MAP_ALIGNMENT = 64
MOST_DIMENSIONS = 5


@frozen(eq=False)
class Element:
    """A type of a tensor's elements: its word in PTX, its number in `tensormap.replace` and in the driver, its code in
    the map, the bits of an element in global memory, and those that it takes in shared memory, gaps included.

    Copies change two kinds (seen of an H200): what comes from a tensor of `tf32` is rounded to tf32, to the nearest and
    ties to even, subnormals kept and every NaN one; sums in a tensor that `flushes` take subnormals as zeros and give
    zeros for them. Else words are copied as they are, and sums are those of `sums_as`.
    """

    name: str
    number: int
    driver: int
    code: int
    bits: int
    shared_bits: int
    tf32: bool = False
    flushes: bool = False

    @property
    def sums_as(self) -> str:
        """The type by whose arithmetic copies combine elements."""
        return "f32" if self.tf32 or self.flushes else self.name

    @property
    def bytes(self) -> int:
        """Bytes of an element in global memory; 0 where several share one."""
        return self.bits // 8

    @property
    def packed(self) -> bool:
        """Whether 16 elements of 4 or 6 bits stand together."""
        return "x16" in self.name

    def __str__(self) -> str:
        return self.name


_ELEMENTS = tuple(
    Element(*row)
    for row in (
        ("u8", 0, 0, 0, 8, 8), ("u16", 1, 1, 1, 16, 16), ("u32", 2, 2, 2, 32, 32), ("s32", 3, 3, 3, 32, 32),
        ("u64", 4, 4, 4, 64, 64), ("s64", 5, 5, 5, 64, 64), ("f16", 6, 6, 6, 16, 16), ("f32", 7, 7, 7, 32, 32),
        ("f32.ftz", 8, 10, 8, 32, 32, False, True), ("f64", 9, 8, 9, 64, 64), ("bf16", 10, 9, 10, 16, 16),
        ("tf32", 11, 11, 7, 32, 32, True), ("tf32.ftz", 12, 12, 8, 32, 32, True, True),
        ("b4x16", 13, 13, 11, 4, 4), ("b4x16_p64", 14, 14, 12, 4, 8), ("b6x16_p32", 15, 15, 13, 6, 8),
    )
)  # fmt: skip
_ROW_OF_GAPS = 128
ELEMENTS: dict[str, Element] = {each.name: each for each in _ELEMENTS}


class Interleave(Enum):
    """The bytes of a slice of channels that lie together; the channels of a tensor are then cut into slices.

    An index of the first dimension of an interleaved tensor is a slice, in the coordinates and in the box too; so it is
    the width, and which slice of the channels is meant is the last dimension but one: width, height, depth, slices,
    images. A copy takes one slice of the channels, whatever the box says in that dimension (all seen of an H200).
    """

    NONE = 0
    BYTES_16 = 16
    BYTES_32 = 32


_INTERLEAVES = tuple(Interleave)
_SWIZZLES = (Swizzle.NONE, Swizzle.BYTES_32, Swizzle.BYTES_64, Swizzle.BYTES_128)
_PROMOTIONS = (0, 64, 128, 256)
_CORNER_BITS = {3: 16, 4: 8, 5: 5}


@frozen
class Im2col:
    """How a tensor (channels, width, height, depth, images) is read pixel by pixel.

    The pixels are those of the bounding box, from `lower` to the last of the tensor plus `upper` (one number for each
    spatial dimension, width first), and a copy takes `pixels` of them in order, images last.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    pixels: int


@frozen
class TensorMap:
    """A tensor in global memory and the boxes that copies take of it; its address is given when it becomes bytes.

    `dims` are elements (slices, if the tensor is interleaved), the contiguous dimension first; `strides` bytes from one
    index to the next of each other dimension; `box` the elements that a copy walks over in each, every
    `element_strides`-th of them taken (in the first only if the tensor is interleaved). With `im2col` the box is the
    number of channels alone. `promotion` is the size in bytes of what L2 fetches, 0 for none; `nan_fill` says that
    elements outside the tensor are a NaN instead of zero: 0x7FF7 in each 16 bits, whatever float it is (seen of an
    H200).
    """

    element: str
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...] = ()
    interleave: Interleave = Interleave.NONE
    swizzle: Swizzle = Swizzle.NONE
    promotion: int = 0
    nan_fill: bool = False
    im2col: Im2col | None = field(default=None)

    def __attrs_post_init__(self) -> None:
        if not self.element_strides:
            object.__setattr__(self, "element_strides", (1,) * len(self.dims))
        _check(self)

    @property
    def rank(self) -> int:
        """Dimensions."""
        return len(self.dims)

    @property
    def element_bytes(self) -> int:
        """Bytes of an element in global memory."""
        return ELEMENTS[self.element].bytes

    @property
    def first_stride(self) -> int:
        """Bytes from one index to the next of the first dimension: an element's, or an interleaved tensor's slice's."""
        return self.interleave.value or self.element_bytes

    @property
    def box_elements(self) -> tuple[int, ...]:
        """Elements (slices, if the tensor is interleaved) that a copy of a box takes in each dimension."""
        taken = tuple(-(-extent // step) for extent, step in zip(self.box, self.steps, strict=False))
        if self.interleave is Interleave.NONE:
            return taken
        return (1,) if self.im2col else (*taken[:-2], 1, taken[-1])

    @property
    def steps(self) -> tuple[int, ...]:
        """The element strides that count: the first is ignored unless the tensor is interleaved."""
        first = 1 if self.interleave is Interleave.NONE else self.element_strides[0]
        return (first, *self.element_strides[1:])

    @property
    def box_bytes(self) -> int:
        """Bytes that a copy brings to shared memory, what lies outside the tensor included."""
        count = self.im2col.pixels if self.im2col else 1
        for extent in self.box_elements:
            count *= extent
        return count * (8 * self.interleave.value or ELEMENTS[self.element].shared_bits) // 8

    @property
    def _driver_bytes(self) -> int:
        """What the driver notes as the bytes of a box: it rounds down where elements are left out, and counts a slice
        of an interleaved tensor as one element.
        """
        count = self.im2col.pixels if self.im2col else 1
        for extent, step in zip(self.box, self.element_strides, strict=False):
            count *= extent // step
        return count * self.element_bytes

    def encode(self, address: int) -> bytes:
        """The 128 bytes of the map of a tensor at an address, those that a driver makes (seen of 580 on an H200): the
        copies read the first 64, in the others the driver notes the size of a box and the alignment that it wants."""
        element = ELEMENTS[self.element]
        aligned = 32 if self.interleave is Interleave.BYTES_32 or element.shared_bits > element.bits else 16
        if address % aligned or not 0 <= address < 1 << 57:
            raise InvalidDescriptor(f"a tensor starts at a multiple of {aligned}, not at {address:#x}")
        words = [0] * 32
        words[0], words[1] = address & 0xFFFFFFFF, address >> 32
        words[2] = _head(self)
        for place, stride in enumerate(self.strides):
            words[3 + place] = stride >> 4 & 0xFFFFFFFF
            words[7] |= (stride >> 36) << 4 * place
        for place, extent in enumerate(self.dims):
            words[8 + place] = extent - 1
        for place, step in enumerate(self.element_strides):
            words[13] |= step - 1 << 3 * place
        words[13] |= self.box[0] - 1 << 24
        if self.im2col is None:
            for place, extent in enumerate(self.box[1:]):
                words[14] |= extent - 1 << 8 * place
        else:
            words[14] = _corner(self.im2col.lower, self.rank) | _corner(self.im2col.upper, self.rank) << 16
            words[15] = self.im2col.pixels - 1
        words[16], words[18] = self._driver_bytes & 0xFFFFFFFF, self.swizzle.repeat
        return b"".join(word.to_bytes(4, "little") for word in words)

    def __str__(self) -> str:
        pixels = f", im2col of {self.im2col.pixels} pixels" if self.im2col else ""
        return (
            f"{self.element} tensor of {'x'.join(map(str, self.dims))}, strides {self.strides} bytes, box "
            f"{'x'.join(map(str, self.box))}{pixels}, swizzle {self.swizzle.name.lower()}, interleave "
            f"{self.interleave.value}"
        )


_ATOMS = (
    Swizzle.BYTES_128, Swizzle.BYTES_128_BY_32, Swizzle.BYTES_128_BY_32_FLIPPED, Swizzle.BYTES_128_BY_64,
)  # fmt: skip
_ATOM_SHIFT = 19
_TF32_BIT, _NEVER_MIND = 1 << 16, 1 << 21
_IM2COL_BIT, _PROMOTION_SHIFT = 1 << 0, 17


def _head(made: TensorMap) -> int:
    element = ELEMENTS[made.element]
    atom = _ATOMS.index(made.swizzle) if made.swizzle in _ATOMS else 0
    swizzle = Swizzle.BYTES_128 if atom else made.swizzle
    return (
        (_IM2COL_BIT if made.im2col else 0)
        | made.rank - 1 << 4
        | element.code << 7
        | _INTERLEAVES.index(made.interleave) << 11
        | _SWIZZLES.index(swizzle) << 13
        | made.nan_fill << 15
        | (_TF32_BIT if element.tf32 else 0)
        | _PROMOTIONS.index(made.promotion) << _PROMOTION_SHIFT
        | atom << _ATOM_SHIFT
    )


def _corner(values: tuple[int, ...], rank: int) -> int:
    bits = _CORNER_BITS[rank]
    return sum((value & ((1 << bits) - 1)) << bits * place for place, value in enumerate(values))


def decode(content: bytes) -> tuple[TensorMap, int]:
    """The map that 128 bytes hold, and the address of its tensor; InvalidDescriptor for bits of no known meaning.

    What a driver notes for itself is passed over: `tensormap.replace` leaves it as it was.
    """
    if len(content) != MAP_BYTES:
        raise InvalidDescriptor(f"a tensor map has {MAP_BYTES} bytes, not {len(content)}")
    words = [int.from_bytes(content[start : start + 4], "little") for start in range(0, MAP_BYTES, 4)]
    head = words[2] & ~_NEVER_MIND
    rank = (head >> 4 & 7) + 1
    if rank > MOST_DIMENSIONS:
        raise InvalidDescriptor(f"a tensor has at most {MOST_DIMENSIONS} dimensions, not {rank}")
    tiled = not head & _IM2COL_BIT
    boxes = [words[13] >> 24, *(words[14] >> 8 * place & 255 for place in range(4))]
    made = TensorMap(
        _element(head),
        tuple(words[8 + place] + 1 for place in range(rank)),
        tuple(words[3 + place] << 4 | (words[7] >> 4 * place & 15) << 36 for place in range(rank - 1)),
        tuple(extent + 1 for extent in boxes[: rank if tiled else 1]),
        tuple((words[13] >> 3 * place & 7) + 1 for place in range(rank)),
        _interleave(head),
        _swizzle(head),
        _PROMOTIONS[head >> _PROMOTION_SHIFT & 3],
        bool(head >> 15 & 1),
        None if tiled else _im2col(words, rank),
    )
    address = words[0] | words[1] << 32
    known = bytearray(made.encode(address))
    known[10] |= content[10] & (_NEVER_MIND >> 16)
    for place in NOTED_BYTES:
        known[place] = content[place]
    if bytes(known) != content:
        different = ", ".join(f"{place:#x}" for place in range(MAP_BYTES) if known[place] != content[place])
        raise InvalidDescriptor(f"a tensor map with bits of no known meaning in the bytes {different}")
    return made, address


def _element(head: int) -> str:
    code, tf32 = head >> 7 & 15, bool(head & _TF32_BIT)
    for element in _ELEMENTS:
        if (element.code, element.tf32) == (code, tf32):
            return element.name
    raise InvalidDescriptor(f"no element type has the code {code}")


def _interleave(head: int) -> Interleave:
    code = head >> 11 & 3
    if code == len(_INTERLEAVES):
        raise InvalidDescriptor(f"no interleave has the code {code}")
    return _INTERLEAVES[code]


def _swizzle(head: int) -> Swizzle:
    found = _SWIZZLES[head >> 13 & 3]
    return _ATOMS[head >> _ATOM_SHIFT & 3] if found is Swizzle.BYTES_128 else found


def _im2col(words: list[int], rank: int) -> Im2col:
    if rank not in _CORNER_BITS:
        raise InvalidDescriptor(f"im2col takes tensors of 3 to 5 dimensions, not {rank}")
    bits = _CORNER_BITS[rank]

    def corner(packed: int) -> tuple[int, ...]:
        values = (packed >> bits * place & ((1 << bits) - 1) for place in range(rank - 2))
        return tuple(value - (value >> bits - 1 << bits) for value in values)

    return Im2col(corner(words[14] & 0xFFFF), corner(words[14] >> 16), words[15] + 1)


def _check(made: TensorMap) -> None:
    element = ELEMENTS.get(made.element)
    if element is None:
        raise InvalidDescriptor(f"the element type must be one of {', '.join(ELEMENTS)}, not {made.element}")
    if not 1 <= made.rank <= MOST_DIMENSIONS:
        raise InvalidDescriptor(f"a tensor has 1 to {MOST_DIMENSIONS} dimensions, not {made.rank}")
    least = 3 if made.interleave is not Interleave.NONE or made.im2col else 1
    if made.rank < least:
        raise InvalidDescriptor(f"interleaved and im2col tensors have at least 3 dimensions, not {made.rank}")
    boxes = 1 if made.im2col else made.rank
    for what, values, count in (("strides", made.strides, made.rank - 1), ("box", made.box, boxes),
                                ("element_strides", made.element_strides, made.rank)):  # fmt: skip
        if len(values) != count:
            raise InvalidDescriptor(f"{what} of {made.rank} dimensions are {count} numbers, not {len(values)}")
    _check_extents(made)
    _check_layout(made, element)
    if made.im2col:
        _check_im2col(made.im2col, made.rank)


def _check_extents(made: TensorMap) -> None:
    aligned = 32 if made.interleave is Interleave.BYTES_32 else 16
    for what, values, least, most, multiple in (
        ("a dimension", made.dims, 1, 1 << 32, 1),
        ("a stride", made.strides, 0, (1 << 40) - 1, aligned),
        ("an extent of the box", made.box, 1, 256, 1),
        ("an element stride", made.element_strides, 1, 8, 1),
    ):
        for value in values:
            if not least <= value <= most or value % multiple:
                multiples = f" and a multiple of {multiple}" if multiple > 1 else ""
                raise InvalidDescriptor(f"{what} must be from {least} to {most}{multiples}, not {value}")


def _check_layout(made: TensorMap, element: Element) -> None:
    row = made.box_elements[0] * element.bits // 8
    if made.promotion not in _PROMOTIONS:
        raise InvalidDescriptor(f"the L2 promotion must be one of {_PROMOTIONS}, not {made.promotion}")
    if made.interleave is Interleave.NONE and not element.packed and row % 16:
        raise InvalidDescriptor(f"a row of the box must be a multiple of 16 bytes, not {row}")
    if element.packed:
        _check_packed(made, element)
    if made.interleave is Interleave.BYTES_32 and made.swizzle is not Swizzle.BYTES_32:
        raise InvalidDescriptor(f"an interleave of 32 bytes needs the swizzle of 32, not {made.swizzle.name.lower()}")
    span = made.swizzle.span
    if span and made.interleave is Interleave.NONE and row > span:
        raise InvalidDescriptor(f"a row of the box must fit the {span} bytes of the swizzle, not have {row}")
    if made.nan_fill and "f" not in element.name:
        raise InvalidDescriptor(f"only floats are filled with NaN, not {element}")


def _check_packed(made: TensorMap, element: Element) -> None:
    """What the types of 4 and 6 bits want; those that leave gaps in shared memory want rows of 128 elements."""
    gaps = element.shared_bits > element.bits
    multiple = _ROW_OF_GAPS if gaps else 2
    if made.dims[0] % multiple:
        raise InvalidDescriptor(
            f"the first dimension of {element} must be a multiple of {multiple}, not {made.dims[0]}"
        )
    if gaps and (made.box[0] != _ROW_OF_GAPS or any(stride % 32 for stride in made.strides)):
        raise InvalidDescriptor(f"{element} wants rows of {_ROW_OF_GAPS} in the box and strides of 32 bytes")


def _check_im2col(pixels: Im2col, rank: int) -> None:
    bound = 1 << _CORNER_BITS[rank] - 1
    for corner in (pixels.lower, pixels.upper):
        if len(corner) != rank - 2 or any(not -bound <= each < bound for each in corner):
            raise InvalidDescriptor(f"a corner is {rank - 2} numbers from {-bound} to {bound - 1}, not {corner}")
    if not 1 <= pixels.pixels <= 1024:
        raise InvalidDescriptor(f"a copy takes 1 to 1024 pixels, not {pixels.pixels}")


def tiled(
    element: str, shape: tuple[int, ...], box: tuple[int, ...], *, pitch_bytes: tuple[int, ...] | None = None,
    swizzle: Swizzle = Swizzle.NONE, nan_fill: bool = False, promotion: int = 0,
) -> TensorMap:  # fmt: skip
    """The map of a row-major tensor, `shape` and `box` with the contiguous dimension last as numpy has them.

    `pitch_bytes` are the strides of all dimensions but the last, by default those of a tensor without gaps.
    """
    dims = shape[::-1]
    strides, bits = [], ELEMENTS[element].bits if element in ELEMENTS else 8
    for extent in dims[:-1]:
        bits *= extent
        strides.append(bits // 8)
    given = tuple(strides) if pitch_bytes is None else pitch_bytes[::-1]
    made = TensorMap(element, dims, given, box[::-1])
    return evolve(made, swizzle=swizzle, nan_fill=nan_fill, promotion=promotion)
