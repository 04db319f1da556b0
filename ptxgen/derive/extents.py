"""Which extents a plan's tiles may have, and whether the target has the instruction that multiplies them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from isa.forms import UnknownInstruction, resolve
from isa.targets import target as target_named
from ptxgen.derive.draft import Draft
from ptxgen.derive.operands import Product
from ptxgen.derive.space import IndexSpace
from ptxgen.errors import PlanError
from ptxgen.tile import CroppingError, MultiplyRow, is_power


@contextmanager
def croppable(space: IndexSpace) -> Iterator[None]:
    """Inside, a tile that cannot be cropped to its extents is a PlanError on the line of the step that asks for them.

    Warps and lanes deal tiles out by bits, so extents that are no powers of two are for plans whose products
    warpgroups carry out; there they crop what a lane holds, the warpgroups, or what lies last in shared memory.
    """
    odd = [(tile, dim, size) for tile in space.levels for dim, size in tile.extents if not is_power(size)]
    if odd and not space.grouped:
        tile, dim, size = odd[0]
        raise PlanError(
            f"tile({tile.level!r}): {dim}={size} is no power of two, as tiles are that are dealt to warps; others are "
            "for products of warpgroups",
            line=tile.line,
        )
    try:
        yield
    except CroppingError as error:
        shown = ", ".join(f"{dim}={size}" for _, dim, size in odd)
        line = odd[0][0].line if odd else None
        raise PlanError(f"a plan with tiles of {shown}: {error}", line=line) from None


def check_row(draft: Draft, work: Product, row: MultiplyRow) -> None:
    """The target has the instruction; PlanError with what it is there for where not."""
    target = target_named(draft.space.plan.target)
    try:
        availability = resolve(row.instruction).availability
    except UnknownInstruction as error:
        raise PlanError(f"{work.step.instruction}: {error}", line=work.step.line) from None
    if availability.least_version(target) is None:
        found = f"{target} has no {row.instruction}, which needs {availability}"
        raise PlanError(f"{work.step.instruction}: {found}", line=work.step.line)
