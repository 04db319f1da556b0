"""Distributions: which lane holds which element of a tile, for coalesced copies and for matrix operands."""

from __future__ import annotations

from functools import partial

from attrs import frozen

from isa.fragments import Fragment, fragment
from ptxgen.compute import Element
from ptxgen.tile import (
    LANE_BITS,
    Coordinate,
    Distribution,
    MatrixOrder,
    bit_count,
    coordinate_bits,
    granule,
    is_power,
    zero,
)

LINE_BYTES = 128
SECTOR_BYTES = 32
UNIT_BYTES = 16
WORD_BYTES = 4


def unit(rank: int, dimension: int, amount: int) -> Coordinate:
    """The coordinate with `amount` along one dimension."""
    return tuple(amount if place == dimension else 0 for place in range(rank))


def coalesced(
    shape: tuple[int, ...],
    contiguous: int,
    element_bytes: int,
    vector: int,
    warp_bits: int,
    *,
    whole_rows: bool = False,
) -> Distribution:
    """A tile dealt to all warps of a block so that a request reads whole sectors.

    A lane holds `vector` neighbours; lanes follow along the contiguous dimension over one 128-byte line, or one 32-byte
    sector where the tile's rows are shorter than a line: the rest of a row is then an immediate displacement. With
    `whole_rows` they follow along shorter rows too, as copies past the registers want: what one request fetches then
    goes to few lines of shared memory. Rows go to the other lanes, then to warps, what is left to values.
    """
    rank = len(shape)
    row = [unit(rank, contiguous, 1 << bit) for bit in range(bit_count(shape[contiguous]))]
    others = [
        unit(rank, place, 1 << bit)
        for place in reversed(range(rank))
        if place != contiguous
        for bit in range(bit_count(shape[place]))
    ]
    own = row[: bit_count(vector)]
    long = whole_rows or shape[contiguous] * element_bytes >= LINE_BYTES
    reach = LINE_BYTES if long else SECTOR_BYTES
    across = row[len(own) : max(len(own), bit_count(max(1, reach // element_bytes)))]
    later = row[len(own) + len(across) :]
    slots = LANE_BITS + warp_bits
    dealt = [*across, *others, *later][:slots]
    kept = [image for image in (*later, *others) if image not in dealt]
    dealt += [zero(rank)] * (slots - len(dealt))
    return Distribution(shape, (*own, *kept), tuple(dealt[:LANE_BITS]), tuple(dealt[LANE_BITS:]))


def within_warps(
    shape: tuple[int, ...],
    contiguous: int,
    element_bytes: int,
    vector: int,
    warp_images: tuple[Coordinate, ...],
) -> Distribution:
    """A tile whose division among warps is given: each part is dealt to its lanes as `coalesced` does."""
    taken = {image for image in warp_images if any(image)}
    part = tuple(extent >> sum(1 for image in taken if image[place]) for place, extent in enumerate(shape))
    inner = coalesced(part, contiguous, element_bytes, min(vector, part[contiguous]), 0)
    return Distribution(shape, inner.values, inner.lanes, warp_images)


def by_matrices(
    shape: tuple[int, ...], contiguous: int, element_bytes: int, warp_images: tuple[Coordinate, ...]
) -> Distribution:
    """A tile whose division among warps is given, each part dealt to lanes as `ldmatrix` and `stmatrix` move it: a lane
    holds a word of neighbours along `contiguous`, four lanes a row of 16 bytes, eight such rows a matrix; what is left
    are values. Dimensions that are too short for a matrix leave copies."""
    rank = len(shape)
    taken = {image for image in warp_images if any(image)}
    part = [extent >> sum(1 for image in taken if image[place]) for place, extent in enumerate(shape)]
    row = [unit(rank, contiguous, 1 << bit) for bit in range(bit_count(part[contiguous]))]
    others = [
        unit(rank, place, 1 << bit)
        for place in reversed(range(rank))
        if place != contiguous
        for bit in range(bit_count(part[place]))
    ]
    word, unit_bits = bit_count(max(1, WORD_BYTES // element_bytes)), bit_count(max(1, UNIT_BYTES // element_bytes))
    across, down = row[word:unit_bits], others[: LANE_BITS - (unit_bits - word)]
    lanes = [*across, *down]
    lanes += [zero(rank)] * (LANE_BITS - len(lanes))
    rest = [image for image in (*row[unit_bits:], *others) if image not in lanes]
    return Distribution(shape, (*row[:word], *rest), tuple(lanes), warp_images)


@frozen
class Axis:
    """One dimension of a warp's product: the positions that the bits of the instruction's own index move, those of its
    parallel products (Volta's quad pairs) and those of its repeats."""

    own: tuple[int, ...]
    groups: tuple[int, ...]
    repeats: tuple[int, ...]
    repeat_count: int


def axis(extent: int, own: int, groups: int = 1) -> Axis:
    """A dimension of a warp's product of `extent`, made of instructions of `own` with `groups` parallel products.

    With groups and repeats, the first repeat lies beside the instruction's low bits, so that one 128-bit access of a
    lane serves two instructions: rows 0-3 and 4-7 of a lane's eight belong to different ones (CUTLASS's interleaving of
    32x32x4). ValueError, which says what is wanted, where the extent is smaller than one instruction, no multiple of
    it, or several instructions whose own extent is no power of two.
    """
    own_bits, group_bits, count = coordinate_bits(own), bit_count(groups), extent // (own * groups)
    if not count or extent % (own * groups):
        raise ValueError(f"{'a multiple of' if count else 'at least'} {own * groups}")
    if count > 1 and not is_power(own):
        raise ValueError(f"exactly {own}, no power of two,")
    positions = [1 << bit for bit in range(coordinate_bits(extent))]
    if not group_bits or count == 1:
        end = own_bits + group_bits
        return Axis(tuple(positions[:own_bits]), tuple(positions[own_bits:end]), tuple(positions[end:]), count)
    low, middle = own_bits - 1, own_bits + group_bits
    return Axis(
        (*positions[:low], positions[middle]),
        tuple(positions[own_bits:middle]),
        (positions[low], *positions[middle + 1 :]),
        count,
    )


def operand_distribution(
    shape: tuple[int, ...],
    dims: tuple[int, int],
    piece: Fragment,
    rows: Axis,
    columns: Axis,
    warp_images: tuple[Coordinate, ...],
) -> Distribution:
    """The distribution of a tile of `shape` whose dimensions `dims` are the rows and columns of operand `piece`.

    Value bits are the fragment's own, then the repeats along rows, then along columns; those that move granules of an
    extent that is no power of two come last, as cropping wants them. Bit 0 of a fragment's tile
    number is a group of m, bit 1 one of n; an operand without that dimension (its axis has no groups) holds copies.
    """
    rank = len(shape)
    group_images = [unit(rank, dims[0], p) for p in rows.groups or (0,)]
    group_images += [unit(rank, dims[1], p) for p in columns.groups or (0,)]

    def image(place: tuple[int, int, int]) -> Coordinate:
        tile, row, column = place
        parts = [moved for bit, moved in enumerate(group_images) if piece.tiles > 1 and tile >> bit & 1]
        parts += [unit(rank, dims[0], p) for bit, p in enumerate(rows.own) if row >> bit & 1]
        parts += [unit(rank, dims[1], p) for bit, p in enumerate(columns.own) if column >> bit & 1]
        return tuple(map(sum, zip(*parts, strict=True))) if parts else zero(rank)

    repeats = [unit(rank, dims[0], p) for p in rows.repeats] + [unit(rank, dims[1], p) for p in columns.repeats]
    values = sorted((*map(image, piece.value_bits), *repeats), key=partial(_moves_granules, shape))
    return Distribution(shape, tuple(values), tuple(map(image, piece.lane_bits)), warp_images)


def _moves_granules(shape: tuple[int, ...], image: Coordinate) -> bool:
    return any(at >= granule(extent) for at, extent in zip(image, shape, strict=True) if not is_power(extent))


def fragment_of(name: str, operand: str, element: Element, order: MatrixOrder | None) -> Fragment:
    """The instruction's map of one operand (isa.fragments), `order` for operands that have a choice."""
    return fragment(name, operand, element.label, order.value if order else "")
