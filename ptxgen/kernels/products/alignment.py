"""What the facts of a plan show of how an array lies in memory."""

from __future__ import annotations

from ptxgen.compute import segmented_place
from ptxgen.derive.facts import Facts
from ptxgen.kernels.products.generations import copies_tensors
from ptxgen.plan import Plan

UNIT_BYTES, LEAST_COPY_BYTES = 16, 4


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


def unmapped(plan: Plan, name: str) -> str:
    """Why the facts do not show of an operand what a tensor map needs, an address and strides of whole 16 bytes; "" if
    they do."""
    known = shown_bytes(plan, name)
    if not known:
        return f"no dimension of {name} lies together in memory"
    wanted = f"a multiple of {UNIT_BYTES} bytes for a tensor map"
    if segmented_place(plan.compute, name) == plan.compute.array(name).contiguous_dimension:
        return f"{name} lies together along groups, which begin anywhere, not at {wanted}"
    return "" if known == UNIT_BYTES else f"{name} begins and steps by multiples of {known} bytes, not {wanted}"


def copies_words(plan: Plan, name: str) -> bool:
    """Whether the facts show aligned neighbours of 4 bytes in an operand, which `cp.async` needs; else its tiles go
    through registers."""
    array = plan.compute.array(name)
    place, width = array.contiguous_dimension, array.element.byte_count
    if place is None or segmented_place(plan.compute, name) == place:
        return False
    values = [stride for stride in array.strides if not stride.is_constant]
    count = Facts.of(plan).vector(name, width, (*values, array.extents[place]), max(1, LEAST_COPY_BYTES // width))
    return count * width >= LEAST_COPY_BYTES
