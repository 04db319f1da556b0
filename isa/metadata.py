"""Which lane and bits hold the indices of a sparse A of `mma.sp` and the scales of blocks of a scaled `mma`.

Sources: manual, sparse matrix storage, sparsity selector and block scaling; the tests hold the maps against CuTe's
layouts. A warp of a warpgroup holds the indices of its 16 rows as one of `mma.sp` does.
"""

from __future__ import annotations

from functools import cache

from attrs import frozen

from isa.derive import shape_of
from isa.types import Type, type_named

_REGISTER_BITS = 32
_ROWS = 16


@frozen
class Metadata:
    """Indices of the non-zero elements of A in `rows` of `chunks` each, `indices` for a chunk of `width` elements.

    An index has `index_bits` and tells which `kept_together` neighbours of its chunk an element, or a pair of them,
    is. Of four lanes `lanes` hold indices, those that the selector, 0 to `selectors` - 1, chooses. `halved` registers
    hold two rows, those that are not, one.
    """

    rows: int
    chunks: int
    width: int
    indices: int
    index_bits: int
    kept_together: int
    lanes: int
    halved: bool

    @property
    def selectors(self) -> int:
        """How many groups of lanes there are to choose from."""
        return 4 // self.lanes

    @property
    def held(self) -> int:
        """Indices that a register holds."""
        return _REGISTER_BITS // self.index_bits

    def holds(self, lane: int, selector: int = 0) -> bool:
        """True if the register of the lane is read with this selector."""
        return lane % 4 // self.lanes == selector

    def place(self, lane: int, index: int, selector: int = 0) -> tuple[int, int, int]:
        """The (row, chunk, which of the chunk's indices) of the index at `index_bits` * `index` of a lane's register.

        ValueError for a lane that the selector does not choose.
        """
        if not self.holds(lane, selector) or not 0 <= index < self.held:
            raise ValueError(f"lane {lane} has no index {index} where the selector is {selector}")
        within, group = lane % self.lanes, lane // 4
        if self.halved:
            half = self.held // 2
            row, place = group + 8 * (index // half), within * half + index % half
        else:
            row, place = group + 8 * (within % 2), within // 2 * self.held + index
        return row, place // self.indices, place % self.indices

    def holder(self, row: int, chunk: int, which: int, selector: int = 0) -> tuple[int, int]:
        """The inverse of `place`: the (lane, index) that holds an index."""
        place, upper = chunk * self.indices + which, row // 8
        if self.halved:
            within, index = divmod(place, self.held // 2)
            index += upper * self.held // 2
        else:
            later, index = divmod(place, self.held)
            within = 2 * later + upper
        return row % 8 * 4 + selector * self.lanes + within, index

    @property
    def kept(self) -> int:
        """Elements of a row that are not left out: half of them."""
        return self.chunks * self.width // 2

    def column(self, kept: int, bits: int) -> int:
        """The column of element number `kept` of those kept of a row, whose chunk has these four bits of indices."""
        chunk, place = divmod(kept, self.width // 2)
        which, neighbour = divmod(place, self.kept_together)
        index = bits >> which * self.index_bits & (1 << self.index_bits) - 1
        position = index >> 3 if self.indices == 1 else index
        return chunk * self.width + position * self.kept_together + neighbour

    def meaningful(self, bits: int, ordered: bool) -> bool:
        """Whether four bits tell of different places, in rising order where `ordered`; a lone index has two values."""
        if self.indices == 1:
            return bits in _LONE_INDICES
        first, second = bits & 3, bits >> 2
        return first < second if ordered else first != second


_LONE_INDICES = (0b0100, 0b1110)


@cache
def metadata(shape: str, element: str) -> Metadata:
    """The indices of A of `mma.sp`, or of a warp's 16 rows of `wgmma.mma_async.sp`, in a shape (`"m16n8k32"`).

    ValueError for elements that no sparse instruction has.
    """
    _, _, depth = shape_of(shape)
    of_type = type_named(element)
    width, indices, index_bits, together = _chunk(of_type)
    chunks = depth // width
    lanes = _ROWS * chunks * indices * index_bits // _REGISTER_BITS // 8
    if depth % width or lanes not in (1, 2, 4):
        raise ValueError(f"no sparse A of {element} in {shape}")
    return Metadata(_ROWS, chunks, width, indices, index_bits, together, lanes, halved=of_type.bits >= 16)


def _chunk(of_type: Type) -> tuple[int, int, int, int]:
    """Elements of a chunk, indices for it, bits of an index, and the neighbours that an index keeps."""
    match of_type.bits:
        case 32:
            return 2, 1, 4, 1
        case 16 | 8 | 6:
            return 4, 2, 2, 1
        case 4 if of_type.integer:
            return 8, 2, 2, 2
        case 4:
            return 4, 2, 2, 1
        case _:
            raise ValueError(f"no sparse A of {of_type}")


@frozen
class Scales:
    """Scales of blocks of A's rows (`operand` "a") or of B's columns ("b"), bytes of one 32-bit register a lane.

    `blocks` is the number of scales of a row or column: 1, 2 or 4 for `scale_vec::1X`, `2X` and `4X`. Which lanes are
    read and from which byte on, the operands thread-id (`threads` of them) and byte-id (one of `bytes`) say.
    """

    operand: str
    blocks: int

    def __attrs_post_init__(self) -> None:
        if self.operand not in ("a", "b") or self.blocks not in (1, 2, 4):
            raise ValueError(f"no scales of {self.operand!r} with {self.blocks} a row")

    @property
    def extent(self) -> int:
        """Rows of A or columns of B."""
        return _ROWS if self.operand == "a" else 8

    @property
    def threads(self) -> int:
        """The values of thread-id, from 0 on: it chooses two lanes of four for A, one for B."""
        return 2 if self.operand == "a" else 4

    @property
    def bytes(self) -> tuple[int, ...]:
        """The values of byte-id: where the scales may begin."""
        return tuple(range(0, 4, self.blocks))

    def holder(self, line: int, block: int, thread_id: int = 0, byte_id: int = 0) -> tuple[int, int]:
        """The (lane, byte) that holds the scale of a block of a row of A or a column of B."""
        quad = 2 * thread_id + line // 8 if self.operand == "a" else thread_id
        return line % 8 * 4 + quad, byte_id + block

    def place(self, lane: int, byte: int, thread_id: int = 0, byte_id: int = 0) -> tuple[int, int]:
        """The inverse of `holder`: the (row or column, block); ValueError for what is not read."""
        group, quad = divmod(lane, 4)
        chosen = quad // 2 if self.operand == "a" else quad
        if chosen != thread_id or not 0 <= byte - byte_id < self.blocks:
            raise ValueError(f"byte {byte} of lane {lane} is not read with thread-id {thread_id}, byte-id {byte_id}")
        return group + (8 * (quad % 2) if self.operand == "a" else 0), byte - byte_id
