"""Which product of warpgroups carries out a tiling, or why none does, whatever the arrays are."""

from __future__ import annotations

from functools import cache

from attrs import frozen

from ptxgen.kernels.products.alignment import UNIT_BYTES
from ptxgen.kernels.products.compute import Grouping, MatmulSpec
from ptxgen.kernels.products.epilogue import Axis
from ptxgen.kernels.products.generations import warpgroup_product
from ptxgen.kernels.products.rings import LEAST_SPAN_BYTES, row_spans
from ptxgen.kernels.products.tiling import COLUMN_STEP, MOST_COLUMNS, MatmulTiling
from ptxgen.plan import MatrixInstruction


@frozen
class Denial:
    """Why no warpgroups multiply, and what would let them."""

    why: str
    serves: str

    def __str__(self) -> str:
        return self.why


@cache
def denial(spec: MatmulSpec, target: str) -> Denial | None:
    """Why warpgroups of a target carry out no tiling of a product at all; None where they carry out some."""
    left, right = spec.inputs
    if warpgroup_product(target, MOST_COLUMNS, left, spec.accumulate, right) is None:
        elsewhere = "an input type and a target that have some, as f16 on sm_90a"
        return Denial(f"{target} has no products of warpgroups for {left}", elsewhere)
    if any(total.along is Axis.COLUMNS for total in spec.totals):
        return Denial("sums over the rows of a column would cross the warps of a warpgroup", "no column_sum")
    together = {"A": not spec.layout.a_transposed, "B": spec.layout.b_transposed}
    for name, along_k in together.items():
        if left.bits != 16 and not along_k:
            why = f"{name} does not lie together along k, as wgmma needs it of {left}"
            return Denial(why, "the layout nt")
    for name in along_groups(spec):
        begins = f"{name} lies together along groups, which begin anywhere"
        return Denial(f"{begins}, not at a multiple of {UNIT_BYTES} bytes for a tensor map", "another layout")
    return None


def along_groups(spec: MatmulSpec) -> tuple[str, ...]:
    """The operands that lie together along the dim that comes in groups."""
    match spec.grouped:
        case None:
            return ()
        case Grouping.ROWS:
            return ("A",) if spec.layout.a_transposed else ()
        case Grouping.TERMS:
            along = (("A", not spec.layout.a_transposed), ("B", spec.layout.b_transposed))
            return tuple(name for name, lies in along if lies)


def groups_multiply(spec: MatmulSpec, target: str) -> bool:
    """Whether warpgroups of a target carry out some tiling of a product."""
    return denial(spec, target) is None


def group_product(spec: MatmulSpec, tiling: MatmulTiling, target: str) -> MatrixInstruction | Denial:
    """The product of a warpgroup that carries out a tiling where the arrays suit it, or why there is none."""
    denied = denial(spec, target)
    if denied is not None:
        return denied
    if tiling.swap and any(total.along is Axis.ROWS for total in spec.totals):
        why = "with swap, sums over the columns of a row would cross the warps of a warpgroup"
        return Denial(why, "swap=False, or no row_sum")
    if tiling.boxed:
        return Denial("warps are asked for, which have their slabs brought as boxes", "boxed=False")
    if not tiling.fits_warpgroups:
        along, across = ("columns", "rows") if tiling.swap else ("rows", "columns")
        each = f"{tiling.group_rows} {along} for each four warps"
        why = f"a tile of {tiling.i}x{tiling.j} on {tiling.warps} warps is none of {each}"
        return Denial(
            why, f"a multiple of 64 {along} for each, and a multiple of {COLUMN_STEP} {across} up to {MOST_COLUMNS}"
        )
    left, right = spec.inputs[::-1] if tiling.swap else spec.inputs
    across_count = tiling.i if tiling.swap else tiling.j
    product = warpgroup_product(target, across_count, left, spec.accumulate, right)
    if product is None:
        why = f"{target} has no products of warpgroups for {spec.input} with n={across_count}"
        return Denial(why, f"n={MOST_COLUMNS} or another that it has")
    if tiling.k < product.k:
        return Denial(f"a tile of {tiling.k} along k is less than the {product.k} of wgmma", f"k={product.k} or more")
    for name, span in row_spans(spec, tiling).items():
        if span < LEAST_SPAN_BYTES:
            why = f"rows of {name}'s tile are spans of {span} bytes, a swizzle spans {LEAST_SPAN_BYTES} at least"
            return Denial(why, f"rows of a multiple of {LEAST_SPAN_BYTES} bytes")
    return product
