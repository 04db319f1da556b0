"""The tiling that a product is planned with where nobody asks for another."""

from __future__ import annotations

from attrs import evolve

from isa.limits import limits
from isa.targets import target as target_named
from ptxgen.compute import e4m3, e5m2, f64
from ptxgen.kernels.products.by_warps import by_warps_instead, copied_instead
from ptxgen.kernels.products.compute import Layout, MatmulSpec
from ptxgen.kernels.products.drain import BARRIERS_BYTES, SPANS
from ptxgen.kernels.products.epilogue import Beta, Bias, Keep, Residual
from ptxgen.kernels.products.generations import copies_tensors, generation_of, has_warpgroups, moves_registers
from ptxgen.kernels.products.groups import along_groups, groups_multiply
from ptxgen.kernels.products.rings import SLAB_BYTES, has_room_for_two, ring_bytes
from ptxgen.kernels.products.stated_kinds import check_kind
from ptxgen.kernels.products.tiling import MOST_COLUMNS, MatmulTiling
from ptxgen.plan import grouped, sms

GROUP_SLAB_BYTES = 128
UNPACKING = (9, 10)
BOXED_DEPTH = 3


def default_tiling(spec: MatmulSpec, target: str = "sm_70") -> MatmulTiling:
    """128x128 with 64 bytes along k on 4 warps; on 8 where a thread of 4 may have to hold more than its registers, as
    ptxas counts them: the result in 32 bits, row or column sums, chains beside their total, or operands of the
    epilogue: any matrix or three vectors beside sums of 32 bits, two matrices, or one with two vectors, beside sums in
    f16. Four matrices and sums over rows or columns are too many for 8 warps too: tiles of 64 rows; f64 takes 64x64.

    From Ampere on 128x256 on 8 warps, three slabs ahead, warpgroups with 128 bytes along k; half the columns where much
    is held (by warpgroups: more than one matrix beside results of 16 bits), and on 4 warps where a multiprocessor has
    room for two such blocks, of which one multiplies while the other waits; their results leave through shared memory
    in pieces of 32 rows. Where the target copies tensors and warps can give registers away, they keep the 128x256 and
    have slabs of 128 bytes brought as boxes. A slab is as long as a chain at least. Blocks of warpgroups stay and walk
    the tiles in bands of 16, their launches overlap, and their results leave through shared memory in pieces of 64
    columns, a second output finished piece by piece, since beside whole tiles of it activations find too few registers;
    not so where chains are promoted. Where a product denies warpgroups on their target, it is what warps carry out of
    that.
    """
    check_kind("default_tiling", "spec", spec, MatmulSpec, "a MatmulSpec")
    found = _by_registers(spec, target)
    by_groups = has_warpgroups(target) and found.fits_warpgroups
    boxed = not by_groups and found.j == MOST_COLUMNS and copies_tensors(target) and moves_registers(target)
    if boxed:
        found = evolve(found, boxed=True, drain=32)
    elif not by_groups and found.j == MOST_COLUMNS and has_room_for_two(found, spec, target):
        found = evolve(found, j=128, warps=4, drain=32)
    if by_groups and not spec.promote:
        if _finishes_wide(spec):
            found = evolve(found, i=128, j=256, warps=8)
        kept = any(isinstance(piece, Keep) for piece in spec.epilogue) and not spec.totals
        found = evolve(found, workers=sms, raster=grouped(16), drain=64, overlap=True, piecewise=kept)
    grouped_bytes = GROUP_SLAB_BYTES if by_groups or boxed else SLAB_BYTES
    generation = generation_of(target, spec.input, spec.accumulate, spec.b_input)
    k = max(grouped_bytes // spec.input.byte_count, generation.step, spec.promote or 0)
    depth = found.depth if k * spec.input.byte_count <= GROUP_SLAB_BYTES else 2
    found = evolve(found, k=k, depth=depth)
    if by_groups and not groups_multiply(spec, target):
        return _draining(by_warps_instead(found, spec, generation), spec, target)
    if not boxed:
        return _draining(found, spec, target)
    found = evolve(found, depth=_boxed_depth(found, spec, target))
    return copied_instead(found, spec, generation, target) if along_groups(spec) else found


def _draining(tiling: MatmulTiling, spec: MatmulSpec, target: str) -> MatmulTiling:
    """A tiling without pieces of results where no tensor copy stores results of their types."""
    by_groups = groups_multiply(spec, target) and tiling.fits_warpgroups
    stored = SPANS.keys() & set(spec.results) or not by_groups
    return tiling if stored else evolve(tiling, drain=0, piecewise=False)


def _boxed_depth(tiling: MatmulTiling, spec: MatmulSpec, target: str) -> int:
    """The slabs that one block of a multiprocessor holds, three at most, which are enough ahead for warps."""
    _, ring = ring_bytes(spec, evolve(tiling, depth=1))
    return max(1, min(BOXED_DEPTH, (limits(target_named(target)).shared_bytes_per_cta - BARRIERS_BYTES) // ring))


def _finishes_wide(spec: MatmulSpec) -> bool:
    """Whether warpgroups finish 256 columns at once within their registers, as ptxas counts them: results of 16 bits
    with one matrix beside them at most."""
    matrices = sum(isinstance(piece, (Beta, Residual, Keep)) for piece in spec.epilogue)
    return spec.output.bits == 16 and spec.input.bits == 16 and matrices <= 1 and not spec.totals


def unpacks(spec: MatmulSpec, target: str) -> bool:
    """Whether a product of bytes is taken apart into products of halves, which take registers: so assemblers do on
    sm_90 and sm_100, but for products of warpgroups, which want both operands together along k."""
    along_k = spec.layout is Layout.NT and has_warpgroups(target)
    return spec.input in (e4m3, e5m2) and target_named(target).number // 10 in UNPACKING and not along_k


def _by_registers(spec: MatmulSpec, target: str) -> MatmulTiling:
    matrices = sum(isinstance(piece, (Beta, Residual, Keep)) for piece in spec.epilogue)
    vectors = sum(isinstance(piece, Bias) for piece in spec.epilogue)
    held = (3 * matrices + vectors > 2) if spec.summed.bits == 32 else (2 * matrices + vectors > 3)
    eight = bool(spec.output.bits >= 32 or spec.totals or held or spec.promote or unpacks(spec, target))
    past = generation_of(target, spec.input, spec.accumulate, spec.b_input).past_registers
    if spec.accumulate is f64:
        return MatmulTiling(i=64, j=64, depth=4, isolate=False)
    if matrices + len(spec.totals) > 3:
        return MatmulTiling(i=64, warps=8, depth=4 if past else 2)
    if past:
        return MatmulTiling(j=128 if eight else 256, warps=8, depth=4, isolate=False)
    return MatmulTiling(warps=8 if eight else 4)
