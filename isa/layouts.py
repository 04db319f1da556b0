"""Which lane holds what after `ldmatrix`, before `stmatrix`, in `wgmma`, and between registers and tensor memory.

The maps are `Fragment`s, linear over F2 like those of `mma`; a warpgroup has seven lane bits. Sources: manual, and the
layouts of CuTe that the tests hold them against.
"""

from __future__ import annotations

from functools import cache

from isa.derive import shape_of
from isa.fragments import Fragment, Place
from isa.types import type_named

_GROUP_ROWS: tuple[Place, ...] = ((0, 1, 0), (0, 2, 0), (0, 4, 0))
_GROUP_COLUMNS: tuple[Place, ...] = ((0, 0, 1), (0, 0, 2), (0, 0, 4))
_WARP_ROWS: tuple[Place, ...] = ((0, 16, 0), (0, 32, 0))


def _doubling(first: Place, count: int) -> tuple[Place, ...]:
    """`first` and its doubles, enough of them to count to `count`."""
    steps = (count - 1).bit_length()
    return tuple((first[0] << step, first[1] << step, first[2] << step) for step in range(steps))


_Lanes = tuple[int, int, tuple[Place, ...], tuple[Place, ...]]
_TWO_ROWS: tuple[Place, ...] = ((0, 2, 0), (0, 4, 0))
_MATRICES: dict[tuple[str, bool], _Lanes] = {
    ("m8n8", False): (8, 8, ((0, 0, 2), (0, 0, 4), *_GROUP_ROWS), ((0, 0, 1),)),
    ("m8n8", True): (8, 8, (*_TWO_ROWS, *_GROUP_COLUMNS), ((0, 1, 0),)),
    ("m8n16", False): (8, 16, ((0, 0, 4), (0, 0, 8), *_GROUP_ROWS), ((0, 0, 1), (0, 0, 2))),
    ("m16n16", True): (16, 16, ((0, 4, 0), (0, 8, 0), *_GROUP_COLUMNS), ((0, 1, 0), (0, 2, 0), (0, 0, 8))),
    ("m16n8", True): (8, 16, (*_TWO_ROWS, *_GROUP_COLUMNS), ((0, 1, 0), (0, 0, 8))),
}


@cache
def matrix_layout(shape: str, number: int, *, transposed: bool = False) -> Fragment:
    """The (matrix, row, column) in shared memory of each element of `ldmatrix` or `stmatrix`.

    `shape` is m8n8 (elements of 16 bits), m16n16 or m8n16 (bytes, also those unpacked from 4 or 6 bits) of `ldmatrix`,
    or m16n8 of `stmatrix`, whose 8 rows of 16 bytes in memory are columns of the matrix; the 16 by 16 one and m16n8 are
    always transposed. `number` of matrices is 1, 2 or 4. ValueError for what no instruction has.
    """
    always = shape in ("m16n16", "m16n8")
    if number not in (1, 2, 4) or (shape == "m16n16" and number == 4) or (always and not transposed):
        raise ValueError(f"no matrices x{number} of shape {shape}{'' if transposed else ' that is not transposed'}")
    tiles = _doubling((1, 0, 0), number)
    if (shape, transposed) not in _MATRICES:
        raise ValueError(f"no matrices of shape {shape}{' transposed' if transposed else ''}")
    rows, columns, lanes, values = _MATRICES[shape, transposed]
    return Fragment(rows, columns, number, 2 if shape == "m8n8" else 4, lanes, (*values, *tiles))


@cache
def warpgroup_layout(shape: str, operand: str, element: str) -> Fragment:
    """The (0, row, column) of each value of A in registers (`"a"`) or of the accumulator (`"d"`) of `wgmma`.

    The lane is the thread's number in its warpgroup, 0 to 127; ValueError for what the instruction does not have.
    """
    rows, columns, depth = shape_of(shape)
    bits = type_named(element).bits
    if rows != 64 or columns % 8 or not 8 <= columns <= 256 or operand not in ("a", "d"):
        raise ValueError(f"wgmma has no operand {operand!r} of shape {shape} in registers")
    if operand == "d":
        values = ((0, 0, 1), (0, 8, 0), *_doubling((0, 0, 8), columns // 8))
        lanes = ((0, 0, 2), (0, 0, 4), *_GROUP_ROWS, *_WARP_ROWS)
        return Fragment(64, columns, 1, max(1, 32 // bits), lanes, values, columns // 2)
    if bits > 32 or depth * bits != 256:
        raise ValueError(f"wgmma multiplies 256 bits of {element} along K, not {shape}")
    packed = 32 // bits
    inner = _doubling((0, 0, 1), packed)
    lanes = ((0, 0, packed), (0, 0, 2 * packed), *_GROUP_ROWS, *_WARP_ROWS)
    return Fragment(64, depth, 1, packed, lanes, (*inner, (0, 8, 0), (0, 0, 4 * packed)))


_TENSOR_MEMORY: dict[str, _Lanes] = {
    "32x32b": (32, 1, (*_GROUP_ROWS, (0, 8, 0), (0, 16, 0)), ()),
    "16x64b": (16, 2, ((0, 8, 0), (0, 0, 1), *_GROUP_ROWS), ()),
    "16x128b": (16, 4, ((0, 0, 1), (0, 0, 2), *_GROUP_ROWS), ((0, 8, 0),)),
    "16x256b": (16, 8, ((0, 0, 2), (0, 0, 4), *_GROUP_ROWS), ((0, 0, 1), (0, 8, 0))),
    "16x32bx2": (16, 1, (*_GROUP_ROWS, (0, 8, 0), (1, 0, 0)), ()),
}


@cache
def tensor_memory_layout(shape: str, number: int) -> Fragment:
    """The (half, lane, column) of tensor memory behind each register of `tcgen05.ld` and `st`, from the address given.

    Every cell has 32 bits. `half` is 1 for what 16x32bx2 takes at its second column offset, else 0. `number` is the
    repetition, 1 to 128 and at most 128 registers. ValueError for what the instructions do not have.
    """
    if shape not in _TENSOR_MEMORY:
        raise ValueError(f"tensor memory is moved as {', '.join(_TENSOR_MEMORY)}, not {shape}")
    rows, columns, lanes, values = _TENSOR_MEMORY[shape]
    if number < 1 or number & (number - 1) or number << len(values) > 128:
        raise ValueError(f"{shape} is repeated a power of two times, up to {128 >> len(values)}, not {number}")
    repeated = (*values, *_doubling((0, 0, columns), number))
    return Fragment(rows, columns * number, 2 if shape == "16x32bx2" else 1, 1, lanes, repeated)
