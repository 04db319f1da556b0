"""On what a tiling's choices depend: of its target, its product and its other choices."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from isa.limits import limits
from isa.targets import target as target_named
from ptxgen.compute import f16, s32
from ptxgen.kernels.products.case import Case, Condition, stated
from ptxgen.kernels.products.compute import Grouping
from ptxgen.kernels.products.epilogue import Residual
from ptxgen.kernels.products.generations import copies_tensors, has_overlapping_launches
from ptxgen.kernels.products.groups import Denial, along_groups
from ptxgen.kernels.products.rings import LEAST_SPAN_BYTES, MOST_SPAN_BYTES, least_span
from ptxgen.kernels.products.split import IN_CLUSTERS, MOST_BLOCKS, joins_in_cluster
from ptxgen.kernels.products.tiling import WARP_COUNTS
from ptxgen.tile import is_power

MOST_PARTS = 64
WARP_LANES, WARPS_OF_GROUP = 32, 4


def by(extents: Iterable[int]) -> str:
    """Extents as they are told."""
    return "x".join(map(str, extents))


def held_registers(case: Case) -> int:
    """The registers of a thread that its sums take, and by warps, which finish whole tiles, a result beside them."""
    tiling, spec = case.tiling, case.spec
    rows, columns = tiling.warp_tile
    if case.by_groups:
        rows, columns = tiling.group_rows // WARPS_OF_GROUP, tiling.i if tiling.swap else tiling.j
    bits = spec.summed.bits + (0 if case.by_groups else max(element.bits for element in spec.results))
    return rows * columns * bits // (32 * WARP_LANES)


def registers_of_a_thread(case: Case) -> int:
    """The most registers that a thread of the target has."""
    return limits(target_named(case.target)).registers_per_thread


def _rows_cut(case: Case) -> str:
    """How many rows of terms there are where they are longer than swizzled spans and no power of two; else ""."""
    tiling, layout = case.tiling, case.spec.layout
    if not case.by_groups or tiling.k * case.spec.input.byte_count <= MOST_SPAN_BYTES:
        return ""
    rows = [tiling.i] * (not layout.a_transposed) + [tiling.j] * layout.b_transposed
    return " and ".join(f"{count} rows" for count in rows if not is_power(count))


def _joins_in_cluster(case: Case) -> bool:
    return joins_in_cluster(case.spec, case.tiling, case.target)


BY_GROUPS = Condition(
    lambda case: case.by_groups,
    lambda case: f"only warpgroups do that, but {case.product}",
    lambda case: case.product.serves if isinstance(case.product, Denial) else "",
)
BY_WARPS = stated(
    lambda case: not case.by_groups,
    "warpgroups multiply from shared memory, they hold no fragments",
    "2, or a tile for warps",
)
KNOWN_WARPS = Condition(
    lambda case: case.tiling.warps in WARP_COUNTS and (case.tiling.warps != WARP_COUNTS[-1] or case.by_groups),
    lambda case: (
        f"a product on {case.tiling.warps} warps is one of warpgroups, but {case.product}"
        if case.tiling.warps in WARP_COUNTS
        else f"a product runs on {', '.join(map(str, WARP_COUNTS))} warps"
    ),
    lambda case: "one of " + ", ".join(str(count) for count in WARP_COUNTS[:-1]),
)
POWER_FOR_WARPS = {
    name: stated(
        lambda case, name=name: case.by_groups or is_power(getattr(case.tiling, name)),  # type: ignore[misc]
        "tiles that are dealt to warps have powers of two as extents",
        "powers of two",
    )
    for name in ("i", "j", "k")
}
FILLED_WARPS = Condition(
    lambda case: (
        case.by_groups or all(own >= least for own, least in zip(case.tiling.warp_tile, case.least_tile, strict=True))
    ),
    lambda case: (
        f"a warp has {by(case.tiling.warp_tile)} of a tile of {case.tiling.i}x{case.tiling.j}, and multiplies "
        f"{by(case.least_tile)} at once"
    ),
    lambda case: "a larger tile, or fewer",
)
HELD_BY_THREADS = Condition(
    lambda case: held_registers(case) <= registers_of_a_thread(case),
    lambda case: (
        f"sums and results of a tile of {case.tiling.i}x{case.tiling.j} take {held_registers(case)} registers of a "
        f"thread, which has {registers_of_a_thread(case)}"
    ),
    lambda case: "a smaller tile, or more",
)
WHOLE_STEPS = Condition(
    lambda case: case.tiling.k % case.step == 0,
    lambda case: f"an instruction multiplies {case.step} terms",
    lambda case: f"a multiple of {case.step}",
)
WHOLE_CHAINS = Condition(
    lambda case: not case.spec.promote or case.tiling.k % case.spec.promote == 0,
    lambda case: f"sums are promoted in chains of {case.spec.promote} terms",
    lambda case: f"a multiple of {case.spec.promote}",
)
ROWS_IN_COLUMNS = Condition(
    lambda case: not _rows_cut(case),
    lambda case: (
        f"rows of {case.tiling.k} terms are cut after {MOST_SPAN_BYTES} bytes, and the parts of {_rows_cut(case)} "
        f"do not lie behind each other"
    ),
    lambda case: f"{MOST_SPAN_BYTES // case.spec.input.byte_count}, or powers of two",
)
FRAGMENTS_DIVIDE = Condition(
    lambda case: case.tiling.k // case.step % case.tiling.fragment_depth == 0,
    lambda case: f"a slab of {case.tiling.k} terms is {case.tiling.k // case.step} steps of {case.step}",
    lambda case: "a divisor of these",
)
CHAINS_OF_PASSING_BLOCKS = stated(
    lambda case: not (case.spec.promote and case.by_groups),
    "chains that warpgroups promote are for blocks of one tile each",
    "workers=None",
)
UNGROUPED = stated(
    lambda case: case.spec.grouped is None,
    "blocks that share a tile or its operands would have different groups",
    "its default",
)
FEW_IN_CLUSTER = Condition(
    lambda case: prod(case.tiling.cluster) <= MOST_BLOCKS,
    lambda case: f"a cluster has at most {MOST_BLOCKS} blocks, this one {prod(case.tiling.cluster)}",
    lambda case: "fewer rows or columns",
)
OVERLAPPING = Condition(
    lambda case: has_overlapping_launches(case.target),
    lambda case: f"{case.target} has no launches that overlap",
    lambda case: "False, or sm_90 and later",
)
STAYING = stated(
    lambda case: case.tiling.workers is not None, "blocks that come and go have one tile each", "workers=sms beside it"
)
SEVERAL_GROUPS = stated(lambda case: case.tiling.units > 1, "one warpgroup has nobody to take turns with", "warps=8")
NO_GROUPS_OF_TERMS = stated(
    lambda case: case.spec.grouped is not Grouping.TERMS, "sums of groups have no equal count of slabs", "False"
)
RESULTS_LEAVE_BOXED = stated(
    lambda case: case.tiling.evict[2] is None or bool(case.tiling.drain),
    "results leave from registers, by no copy that tells the cache of them",
    "a drain beside it, or None for the results",
)
COPYING = Condition(
    lambda case: copies_tensors(case.target),
    lambda case: f"{case.target} copies no boxes of tensors",
    lambda case: "False, or sm_90 and later",
)
MAPPED = Condition(
    lambda case: not along_groups(case.spec),
    lambda case: f"{along_groups(case.spec)[0]} lies together along groups, which no tensor map describes",
    lambda case: "False, or another layout",
)
LONG_ROWS = Condition(
    lambda case: least_span(case.spec, case.tiling) >= LEAST_SPAN_BYTES,
    lambda case: f"a tile has rows of {least_span(case.spec, case.tiling)} bytes, a box {LEAST_SPAN_BYTES} at least",
    lambda case: "False, or larger extents",
)
DRAINED = stated(
    lambda case: bool(case.tiling.drain), "results leave from registers, not in pieces", "drain=64 beside it"
)
NO_TOTALS = stated(
    lambda case: not case.spec.totals, "an epilogue with sums over rows or columns is finished in whole tiles", "False"
)
PIECEWISE = stated(
    lambda case: case.tiling.piecewise,
    "residuals are brought where results are finished in pieces",
    "piecewise=True beside it",
)
WITH_RESIDUAL = stated(
    lambda case: any(isinstance(piece, Residual) for piece in case.spec.epilogue), "the epilogue has no residual", "0"
)
UNSWAPPED = stated(lambda case: not case.tiling.swap, "with swap threads load residuals themselves", "0, or swap=False")
FEW_PARTS = stated(lambda case: case.tiling.split <= MOST_PARTS, f"a sum has at most {MOST_PARTS} parts", "fewer parts")
NO_TURNS = stated(
    lambda case: not case.tiling.turns,
    "warpgroups that take tiles in turn do not share a sum so far",
    "turns=False",
)
COMING_AND_GOING = stated(
    lambda case: case.tiling.workers is None,
    "blocks that stay and walk the tiles do not share a sum so far",
    "workers=None",
)
NO_INTEGERS = stated(
    lambda case: case.spec.summed is not s32, "parts are joined in f32, the sums are integers", "its default"
)
UNROUNDED_PARTS = stated(
    lambda case: case.spec.summed is not f16 or _joins_in_cluster(case),
    "sums in f16 that are passed on through memory would be rounded by each block",
    f"sums in f32, or {', '.join(map(str, IN_CLUSTERS))} parts on a target with clusters, of tiles of powers of two",
)
SUMS_OF_TILES = Condition(
    lambda case: not case.spec.totals or case.spec.parts is not None,
    lambda case: (
        f"blocks that share a sum pass on one tile, but {', '.join(map(str, case.spec.totals))} of all that there is "
        f"would have each of them walk whole rows or columns of tiles"
    ),
    lambda case: f"partial sums of tiles, as Matmul does: MatmulSpec(parts={case.tiling.warp_tile})",
)
PASSING_ON = Condition(
    lambda case: case.tiling.stream or (case.tiling.split > 1 and not _joins_in_cluster(case)),
    lambda case: (
        f"{case.tiling.split} parts of a tile are neighbours in a cluster, which begin together"
        if case.tiling.split > 1
        else "blocks that pass no sum on through memory wait for no other"
    ),
    lambda case: "False, or split=3 or stream=True beside it",
)
ONE_BY_ONE = stated(
    lambda case: case.tiling.cluster == (1, 1),
    "blocks take tickets one by one, those of a cluster begin together",
    "False, or cluster=(1, 1)",
)
ONE_CUT = stated(lambda case: case.tiling.split == 1, "a sum is cut one way or the other", "split=1")
SHARING = stated(
    lambda case: case.tiling.workers is not None,
    "blocks that stay share the slabs of all tiles",
    "workers=sms beside it",
)
UNROUNDED_SLABS = stated(
    lambda case: case.spec.summed is not f16,
    "sums in f16 that are passed on through memory would be rounded by each block",
    "sums in f32",
)
