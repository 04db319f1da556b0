"""The tilings that a product of given sizes may be planned with on a target, all of them legal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product

from attrs import evolve, frozen

from isa.limits import limits
from isa.targets import target as target_named
from ptxgen.kernels.epilogue import Residual
from ptxgen.kernels.generations import copies_tensors, generation_of, has_overlapping_launches
from ptxgen.kernels.matmul_case import Case
from ptxgen.kernels.matmul_compute import Grouping, MatmulSpec
from ptxgen.kernels.matmul_defaults import default_tiling
from ptxgen.kernels.matmul_drain import BARRIERS_BYTES, DEPTH
from ptxgen.kernels.matmul_groups import groups_multiply
from ptxgen.kernels.matmul_needs import failures
from ptxgen.kernels.matmul_rings import MOST_SPAN_BYTES
from ptxgen.kernels.matmul_roles import ROLE_REGISTERS, loading_warps
from ptxgen.kernels.matmul_tiling import GROUP_ROWS, MatmulTiling
from ptxgen.plan import grouped, sms
from ptxgen.tile import is_power

GROUP_BLOCKS = (
    (128, 256),
    (192, 192),
    (192, 160),
    (128, 192),
    (192, 128),
    (128, 160),
    (128, 128),
    (192, 96),
    (128, 96),
    (128, 64),
    (128, 32),
    (64, 256),
    (64, 128),
    (64, 64),
    (64, 32),
    (64, 16),
)
SWAPPED_BLOCKS = ((16, 128), (16, 64), (32, 128), (32, 64), (64, 128))
TURNED_BLOCKS = ((64, 256), (64, 192), (64, 128))
FEW_ROWS, TURNS = 128, 2
GROUP_SLABS = (128, 256)
WARP_BLOCKS = (
    (128, 256, 8), (128, 128, 8), (128, 128, 4), (128, 64, 4), (64, 128, 4), (64, 64, 4), (64, 32, 2), (32, 64, 2),
    (64, 256, 8), (256, 64, 8), (32, 256, 8), (32, 128, 4), (32, 32, 1),
)  # fmt: skip
BOXED_BLOCKS = ((128, 256, 8), (128, 128, 8), (128, 64, 4), (64, 128, 4), (64, 64, 4), (64, 256, 8), (32, 128, 4))
WARP_SLABS, BOXED_SLABS = (32, 64, 128), (64, 128)
MOST_DEPTH, DEPTH_OF_ONE = 8, 2
RASTERS = (grouped(4), grouped(8), grouped(16))
MIDDLE = RASTERS[1]
CLUSTERS = ((2, 1), (1, 2), (4, 1), (1, 4), (2, 2))
STAYING_CLUSTERS = ((2, 1), (1, 2), (2, 2))
GROUP_DRAINS, WARP_DRAINS = (64, 32, 0), (0, 32)
HELD_BESIDE_SUMS, HELD_BY_BOXED, COPY_BYTES = 56, 24, 16
MOST_REGISTERS, WARPS_OF_GROUP = 255, 4


@frozen
class Sizes:
    """The rows, columns and length of the sums of a product, and how many of them there are."""

    m: int
    n: int
    k: int
    batches: int = 1

    @classmethod
    def of(cls, spec: MatmulSpec, known: Mapping[str, int]) -> Sizes:
        """Those of a launch; of groups as if all were of one length, which memory alone knows."""
        m, n, k, batches = (known.get(name, 1) for name in ("M", "N", "K", "batches"))
        groups = known.get("groups", 1)
        match spec.grouped:
            case None:
                return cls(m, n, k, batches)
            case Grouping.ROWS:
                return cls(-(-m // max(1, groups)), n, k, groups)
            case Grouping.TERMS:
                return cls(m, n, -(-k // max(1, groups)), groups)


def menu_for(spec: MatmulSpec, target: str, sizes: Sizes) -> tuple[MatmulTiling, ...]:
    """Legal tilings for a product of these sizes, the default one first, in a fixed order and each once. Tiles that are
    mostly beyond the arrays are left out where smaller ones are there, and so are those of which a thread would hold
    more sums than of the default one, which leaves room for the operands of the epilogue."""
    first = (each for each in (default_tiling(spec, target),) if is_legal(spec, target, each))
    legal = (each for each in standing(spec, target, sizes) if is_legal(spec, target, each))
    return tuple(dict.fromkeys((*first, *(walked for each in legal for walked in walks(spec, target, each)))))


def standing(spec: MatmulSpec, target: str, sizes: Sizes) -> Iterator[MatmulTiling]:
    """The tilings of the menu in its order, legal or not, but for how their blocks walk the tiles and gather."""
    groups = groups_multiply(spec, target)
    most = _sums(default_tiling(spec, target), groups)
    offered = _by_warpgroups(spec, target, sizes) if groups else _by_warps(spec, target, sizes)
    return (each for each in offered if _sums(each, groups) <= most)


def walks(spec: MatmulSpec, target: str, base: MatmulTiling) -> Iterator[MatmulTiling]:
    """The ways to walk the tiles of one of `standing`, all legal if it is: by blocks that come and go or that stay,
    alone or, where no groups have tiles of their own, in clusters."""
    if not groups_multiply(spec, target):
        yield from (evolve(base, raster=raster) for raster in RASTERS)
        return
    if not base.turns:
        yield base
    if not spec.promote:
        yield from (evolve(base, raster=raster, workers=sms) for raster in RASTERS)
        yield from (evolve(base, workers=sms, cluster=cluster) for cluster in STAYING_CLUSTERS if not spec.grouped)
    if not base.turns and not spec.grouped:
        yield from (evolve(base, cluster=cluster) for cluster in CLUSTERS)


def _sums(tiling: MatmulTiling, groups: bool) -> int:
    """The elements of the result that a warpgroup holds, or a warp."""
    if groups:
        return tiling.group_rows * (tiling.i if tiling.swap else tiling.j)
    rows, columns = tiling.warp_tile
    return rows * columns


def is_legal(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> bool:
    """Whether a tiling can be derived for arguments that suit it, and says nothing that would not be carried out: what
    each choice needs is there, warps have a copy of each slab for every thread, pieces of results divide their tiles,
    rings and pieces fit shared memory beside each other, and sums fit registers."""
    case = Case.of(spec, target, tiling)
    by_groups, length = case.by_groups, tiling.k * spec.input.byte_count
    if tiling.fits_warpgroups and not by_groups and groups_multiply(spec, target):
        return False
    if by_groups and length > MOST_SPAN_BYTES and not (is_power(tiling.i) and is_power(tiling.j)):
        return False
    if not (by_groups or tiling.boxed) and min(_bytes_of_slabs(spec, tiling)) < COPY_BYTES * 32 * tiling.warps:
        return False
    room = limits(target_named(target)).shared_bytes_per_cta
    if shared_bytes(spec, tiling, tiling.depth, by_groups=by_groups) > room:
        return False
    if registers_of(spec, tiling, by_groups=by_groups) > _most_registers(target, tiling, by_groups=by_groups):
        return False
    cut = tiling.j if by_groups else tiling.warp_tile[0]
    return not (tiling.drain and cut % tiling.drain) and next(failures(case), None) is None


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
    of_a, of_b = _bytes_of_slabs(spec, tiling)
    rings = depth * (of_a + of_b) + BARRIERS_BYTES
    if not tiling.drain:
        return rings
    if by_groups:
        column = tiling.i * tiling.units * tiling.drain
        read = [piece.element.byte_count for piece in spec.epilogue if isinstance(piece, Residual) and tiling.piecewise]
        held = tiling.drain_depth * sum(each.byte_count for each in spec.results) + tiling.residual_depth * sum(read)
        return rings + column * held
    rows = DEPTH * tiling.i // tiling.warp_tile[0] * tiling.drain
    pieces = (rows * tiling.j * each.byte_count for each in spec.results)
    return rings + sum(piece for piece in pieces if piece > depth * of_a)


def _bytes_of_slabs(spec: MatmulSpec, tiling: MatmulTiling) -> tuple[int, int]:
    """The bytes of a slab of A and of B."""
    of_a, of_b = (tiling.k * element.byte_count for element in spec.inputs)
    return of_a * tiling.i, of_b * tiling.j


def registers_of(spec: MatmulSpec, tiling: MatmulTiling, *, by_groups: bool) -> int:
    """About how many registers a thread holds: its sums, and for warps the fragments of two steps, beside addresses, of
    which there are few where boxes are brought."""
    words = spec.summed.bits // 32 if spec.summed.bits >= 32 else 1
    twice = 2 if spec.promote else 1
    if by_groups:
        return HELD_BESIDE_SUMS + twice * words * _sums(tiling, groups=True) // 128
    rows, columns = tiling.warp_tile
    fragments = tiling.fragment_depth * (rows + columns) * 32 * spec.input.byte_count // 128 // 2
    beside = HELD_BY_BOXED if tiling.boxed else HELD_BESIDE_SUMS
    return beside + twice * words * rows * columns // 32 + fragments


def _by_warpgroups(spec: MatmulSpec, target: str, sizes: Sizes) -> Iterator[MatmulTiling]:
    width, overlap = spec.input.byte_count, has_overlapping_launches(target)
    found = [(i, j, i, False, False) for i, j in GROUP_BLOCKS if _fits(sizes, i, j, GROUP_ROWS)]
    if sizes.m <= FEW_ROWS:
        found += [(i, j, j, True, False) for i, j in SWAPPED_BLOCKS if _fits(sizes, i, j, SWAPPED_BLOCKS[0][0])]
    found += [(i, j, TURNS * i, False, True) for i, j in TURNED_BLOCKS if _fits(sizes, i, j, GROUP_ROWS)]
    for (i, j, along, swap, turns), slab, drain in product(found, GROUP_SLABS, GROUP_DRAINS):
        tiled = partial(
            MatmulTiling, i, j, slab // width, warps=along // GROUP_ROWS * 4, isolate=False, drain=drain, swap=swap,
            overlap=overlap, turns=turns, raster=MIDDLE,
        )  # fmt: skip
        yield from (tiled(depth=depth) for depth in _depths(spec, target, tiled()))


def _by_warps(spec: MatmulSpec, target: str, sizes: Sizes) -> Iterator[MatmulTiling]:
    width = spec.input.byte_count
    step = generation_of(target, spec.input, spec.accumulate, spec.b_input).step
    blocks = [each for each in WARP_BLOCKS if _fits(sizes, each[0], each[1], 32)]
    for (i, j, count), slab, drain in product(blocks, WARP_SLABS, WARP_DRAINS):
        tiled = partial(
            MatmulTiling, i, j, max(step, slab // width), warps=count, isolate=False, drain=drain, raster=MIDDLE
        )
        yield from (tiled(depth=depth) for depth in _depths(spec, target, tiled()))
    if copies_tensors(target):
        yield from _boxed(spec, target, sizes)


def _boxed(spec: MatmulSpec, target: str, sizes: Sizes) -> Iterator[MatmulTiling]:
    """Tilings whose slabs are brought to warps as boxes."""
    overlap = has_overlapping_launches(target)
    blocks = [each for each in BOXED_BLOCKS if _fits(sizes, each[0], each[1], 32)]
    for (i, j, count), slab, drain in product(blocks, BOXED_SLABS, WARP_DRAINS):
        tiled = partial(
            MatmulTiling, i, j, slab // spec.input.byte_count, warps=count, isolate=False, drain=drain, raster=MIDDLE,
            overlap=overlap, boxed=True,
        )  # fmt: skip
        yield from (tiled(depth=depth) for depth in _depths(spec, target, tiled()))


def _fits(sizes: Sizes, i: int, j: int, least: int) -> bool:
    """Whether a tile is no more than twice as long as the product, or as short as tiles get."""
    return (i <= max(least, 2 * sizes.m - 1) or i == least) and (j <= max(32, 2 * sizes.n - 1))


def _depths(spec: MatmulSpec, target: str, tiling: MatmulTiling) -> list[int]:
    """The slabs that a block alone on its multiprocessor has room for, and those that leave room for a second block;
    none where not even two fit."""
    by_groups = groups_multiply(spec, target) and tiling.fits_warpgroups
    if not by_groups and not generation_of(target, spec.input, spec.accumulate, spec.b_input).past_registers:
        return [DEPTH_OF_ONE]
    room = limits(target_named(target))
    most = (room.shared_bytes_per_cta, room.shared_bytes_per_sm // 2 - 2 * BARRIERS_BYTES)
    if by_groups:
        slab, rest = sum(_bytes_of_slabs(spec, tiling)), shared_bytes(spec, tiling, 0, by_groups=True)
        found = {min(MOST_DEPTH, (each - rest) // slab) for each in most}
    else:
        found = {_deepest(spec, tiling, each) for each in most}
    return sorted((depth for depth in found if depth > 1), reverse=True)


def _deepest(spec: MatmulSpec, tiling: MatmulTiling, most: int) -> int:
    """The longest rings of a block of warps in so many bytes of shared memory."""
    held = range(MOST_DEPTH, 0, -1)
    return next((depth for depth in held if shared_bytes(spec, tiling, depth, by_groups=False) <= most), 0)
