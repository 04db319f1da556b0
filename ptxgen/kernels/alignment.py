"""What the facts of a plan show of how an array lies in memory."""

from __future__ import annotations

from ptxgen.compute import segmented_place
from ptxgen.derive.facts import Facts
from ptxgen.kernels.generations import copies_tensors
from ptxgen.plan import Plan

UNIT_BYTES = 16


def fits_boxes(plan: Plan, *names: str) -> bool:
    """Whether the target copies tensors and the facts show of these arrays what their maps need."""
    return copies_tensors(plan.target) and all(shown_bytes(plan, name) == UNIT_BYTES for name in names)


def shown_bytes(plan: Plan, name: str, *, rows: bool = False) -> int:
    """The bytes, up to 16, of which the address and the strides of an array are shown to be multiples, and with `rows`
    the extent of its rows; 0 where no dimension of it lies together, and one element where segments lie together, which
    begin anywhere."""
    array = plan.compute.array(name)
    width, place = array.element.byte_count, array.contiguous_dimension
    if place is None:
        return 0
    if segmented_place(plan.compute, name) == place:
        return width
    values = [stride for stride in array.strides if not stride.is_constant] + ([array.extents[place]] if rows else [])
    return width * Facts.of(plan).vector(name, width, values, max(1, UNIT_BYTES // width))
