"""What a statement leaves in registers as the operand of a warpgroup's product: the same registers by another name."""

from __future__ import annotations

from isa.fragments import Fragment
from isa.layouts import warpgroup_layout
from ptxgen.derive.draft import Draft
from ptxgen.derive.operands import Product
from ptxgen.derive.placement import Axis, operand_distribution
from ptxgen.derive.staging import Chain
from ptxgen.errors import PlanError
from ptxgen.tile import LANE_BITS, Buffer, Coordinate, Distribution


def group_distribution(
    shape: tuple[int, ...],
    dims: tuple[int, int],
    piece: Fragment,
    sides: tuple[Axis, Axis],
    groups: tuple[Coordinate, ...],
) -> Distribution:
    """A tile of registers as a warpgroup's instruction has it: its thread number is a lane's, then the two low bits of
    the warp's; `groups` are what the other bits move."""
    spread = operand_distribution(shape, dims, piece, *sides, groups)
    lanes, in_group = spread.lanes[:LANE_BITS], spread.lanes[LANE_BITS:]
    return Distribution(spread.shape, spread.values, lanes, (*in_group, *spread.warps))


def renamed(draft: Draft, work: Product, sides: tuple[Axis, Axis, Axis]) -> Buffer:
    """The registers of operand A. PlanError where no step says that they are fragments, nothing has filled them, or
    their threads hold other elements than the instruction takes from each."""
    access, instruction = work.a, work.step.instruction
    array = draft.space.compute.array(access.array)
    if Chain.of(draft, array.name).converted is None:
        raise PlanError(
            f"{work.statement.name} reads {array.name} from registers: stage({array.name}, into=fragments(1), "
            f"by=convert({array.element})) is missing",
            line=work.step.line,
        )
    held = draft.held(array.name)
    if held is None:
        raise PlanError(f"{work.statement.name} reads {array.name} before anything fills it", line=work.step.line)
    piece = warpgroup_layout(instruction.name, "a", instruction.input.label)
    dims = (access.dims.index(work.m), access.dims.index(work.k))
    groups = draft.space.warp_images(work.statement, access.dims)[2:]
    wanted = group_distribution(held.shape, dims, piece, (sides[0], sides[2]), groups)
    same = (held.distribution.lanes, held.distribution.warps) == (wanted.lanes, wanted.warps)
    if not same or set(held.distribution.values) != set(wanted.values):
        raise PlanError(
            f"{instruction} takes other elements of {array.name} from each thread than it holds ({held.distribution} "
            f"instead of {wanted}): only what is laid out as the sums of a product of the same width is renamed",
            line=work.step.line,
        )
    return held
