"""Which tilings a product can be planned with on a target, and what they take of a multiprocessor."""

from __future__ import annotations

from attrs import evolve

from isa.limits import limits
from isa.targets import target as target_named
from ptxgen.compute import e4m3, e5m2
from ptxgen.kernels.products.case import Case
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.drain import BARRIERS_BYTES, DEPTH
from ptxgen.kernels.products.epilogue import Residual
from ptxgen.kernels.products.groups import groups_multiply
from ptxgen.kernels.products.needs import failures
from ptxgen.kernels.products.rings import LEAST_SPAN_BYTES, MOST_SPAN_BYTES, row_spans
from ptxgen.kernels.products.roles import ROLE_REGISTERS, loading_warps
from ptxgen.kernels.products.split import joins_in_cluster, slices_tiles
from ptxgen.kernels.products.tiling import GROUP_ROWS, MatmulTiling
from ptxgen.tile import is_power

HELD_BESIDE_SUMS, HELD_BY_BOXED, COPY_BYTES = 56, 24, 16
MOST_REGISTERS, WARPS_OF_GROUP = 255, 4


def is_legal(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> bool:
    """Whether a tiling can be derived for arguments that suit it, and says nothing that would not be carried out: what
    each choice needs is there, warps have a copy of each slab for every thread, pieces of results divide their tiles,
    rings and pieces fit shared memory, and sums fit registers."""
    case = Case.of(spec, target, tiling)
    by_groups, length = case.by_groups, tiling.k * spec.input.byte_count
    if tiling.fits_warpgroups and not by_groups and groups_multiply(spec, target):
        return False
    if by_groups and length > MOST_SPAN_BYTES and not (is_power(tiling.i) and is_power(tiling.j)):
        return False
    if not (by_groups or tiling.boxed) and min(bytes_of_slabs(spec, tiling)) < COPY_BYTES * 32 * tiling.warps:
        return False
    if by_groups and min(row_spans(spec, tiling).values()) < LEAST_SPAN_BYTES:
        return False
    if tiling.drain and slices_tiles(spec, tiling, target):
        return False
    if by_groups and tiling.swap and tiling.drain % GROUP_ROWS:
        return False
    room = limits(target_named(target)).shared_bytes_per_cta
    held = shared_bytes(spec, tiling, tiling.depth, by_groups=by_groups)
    if held > room and by_groups and pieces_lie_over(spec, tiling, room):
        held = shared_bytes(spec, evolve(tiling, drain=0), tiling.depth, by_groups=True)
    if max(held, _joining_bytes(spec, target, tiling)) > room:
        return False
    if registers_of(spec, tiling, by_groups=by_groups) > _most_registers(target, tiling, by_groups=by_groups):
        return False
    cut = tiling.j if by_groups else tiling.warp_tile[0]
    return not (tiling.drain and cut % tiling.drain) and next(failures(case), None) is None


def _joining_bytes(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> int:
    """The shared memory of a block whose neighbours read its partial sums there, which lie over a ring that holds them;
    0 where none do."""
    if tiling.split == 1 or not joins_in_cluster(spec, tiling, target):
        return 0
    rings = [tiling.depth * each for each in bytes_of_slabs(spec, tiling)]
    partial = tiling.i * tiling.j * spec.summed.byte_count
    return sum(rings) + BARRIERS_BYTES + (0 if max(rings) >= partial else partial)


def _most_registers(target: str, tiling: MatmulTiling, *, by_groups: bool) -> int:
    """The registers that a thread of a block alone on its multiprocessor may hold, a quarter of which has its own."""
    _, budget = ROLE_REGISTERS.get(tiling.warps // 4, (None, None))
    beside = loading_warps(tiling, target, by_groups=by_groups)
    if budget and beside == WARPS_OF_GROUP:
        return budget
    warps = -(-(tiling.warps + beside) // WARPS_OF_GROUP) * WARPS_OF_GROUP
    return min(MOST_REGISTERS, limits(target_named(target)).registers_per_sm // (32 * warps) // 8 * 8)


def shared_bytes(spec: MatmulSpec, tiling: MatmulTiling, depth: int, *, by_groups: bool) -> int:
    """The shared memory of a block with rings of so many slabs, pieces of results and barriers. Warps' pieces may lie
    over A's ring."""
    of_a, of_b = bytes_of_slabs(spec, tiling)
    rings = depth * (of_a + of_b) + BARRIERS_BYTES
    if not tiling.drain:
        return rings
    if by_groups:
        read = [piece.element.byte_count for piece in spec.epilogue if isinstance(piece, Residual) and tiling.piecewise]
        brought = tiling.i * tiling.drain * tiling.residual_depth * sum(read)
        return rings + _piece_elements(tiling) * tiling.drain_depth * sum(_widths(spec)) + brought
    rows = DEPTH * tiling.i // tiling.warp_tile[0] * tiling.drain
    pieces = (rows * tiling.j * width for width in _widths(spec))
    return rings + sum(piece for piece in pieces if piece > depth * of_a)


def pieces_lie_over(spec: MatmulSpec, tiling: MatmulTiling, room: int) -> bool:
    """Whether pieces of warpgroups' one result find no room beside the rings but over A's, which nobody fills again as
    a block ends."""
    (of_a, of_b), widths = bytes_of_slabs(spec, tiling), _widths(spec)
    if tiling.workers is not None or tiling.turns or tiling.residual_depth or len(widths) > 1:
        return False
    own = tiling.drain_depth * tiling.i * tiling.drain * widths[0]
    left = room - tiling.depth * (of_a + of_b) - BARRIERS_BYTES
    return left < own and tiling.drain_depth * _piece_elements(tiling) * widths[0] <= tiling.depth * of_a


def _piece_elements(tiling: MatmulTiling) -> int:
    """The elements that all warpgroups of a block have in a piece."""
    beside = tiling.warps // WARPS_OF_GROUP if tiling.swap else tiling.units
    return tiling.i * beside * tiling.drain


def _widths(spec: MatmulSpec) -> list[int]:
    """The bytes of an element of each result."""
    return [each.byte_count for each in spec.results]


def bytes_of_slabs(spec: MatmulSpec, tiling: MatmulTiling) -> tuple[int, int]:
    """The bytes of a slab of A and of B."""
    of_a, of_b = (tiling.k * element.byte_count for element in spec.inputs)
    return of_a * tiling.i, of_b * tiling.j


def registers_of(spec: MatmulSpec, tiling: MatmulTiling, *, by_groups: bool) -> int:
    """About how many registers a thread holds: its sums, and for warps the fragments of two steps, beside addresses, of
    which there are few where boxes are brought. Where warps multiply e4m3 and e5m2, ptxas unpacks both steps' fragments
    to f16 (seen in its code for sm_90)."""
    words = spec.summed.bits // 32 if spec.summed.bits >= 32 else 1
    twice = 2 if spec.promote else 1
    if by_groups:
        return HELD_BESIDE_SUMS + twice * words * sums_of(tiling, groups=True) // 128
    rows, columns = tiling.warp_tile
    fragments = tiling.fragment_depth * (rows + columns) * 32 * spec.input.byte_count // 128 // 2
    unpacked = 4 * fragments if spec.input in (e4m3, e5m2) else 0
    beside = HELD_BY_BOXED if tiling.boxed else HELD_BESIDE_SUMS
    return beside + twice * words * rows * columns // 32 + fragments + unpacked


def sums_of(tiling: MatmulTiling, groups: bool) -> int:
    """The elements of the result that a warpgroup holds, or a warp."""
    if groups:
        return tiling.group_rows * (tiling.i if tiling.swap else tiling.j)
    rows, columns = tiling.warp_tile
    return rows * columns
