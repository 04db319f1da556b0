"""Which of a product's kernels a launch takes, and why: what its arguments allow, and what kept it from a wider one."""

from __future__ import annotations

from attrs import frozen

from ptxgen.compute import Array, segmented_place
from ptxgen.kernels.launching.binding import WIDEST_ACCESS_BYTES, Bound, arrays_in_memory, is_reached
from ptxgen.kernels.products.by_warpgroups import by_warpgroups
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.generations import has_warpgroups
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Assume, MatrixInstruction, MultiplyBy, Plan, Stage, Transport

OPERANDS = ("A", "B")


@frozen
class Reach:
    """What one access of an array may move: `byte_count` bytes, and what holds it below 16, each with its value."""

    array: str
    byte_count: int
    limits: tuple[str, ...]

    def __str__(self) -> str:
        why = f", held by {' and '.join(self.limits)}" if self.limits else ""
        return f"{self.array} {self.byte_count} bytes an access{why}"


@frozen
class Variant:
    """The kernel of a launch: the instruction that multiplies, why it is no product of warpgroups where the target has
    those ("" where it is one, or the target has none), what carries each operand, and the reach of every array."""

    instruction: MatrixInstruction
    narrower: str
    carriers: tuple[tuple[str, Transport], ...]
    reaches: tuple[Reach, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """What is told of it, a line each."""
        fed = " and ".join(f"{name} by {transport.value}" for name, transport in self.carriers)
        chosen = f"{self.instruction}, {fed}"
        lines = [f"{chosen}; not by warpgroups: {self.narrower}" if self.narrower else chosen]
        return (*lines, *map(str, self.reaches))

    def __str__(self) -> str:
        return "\n".join(self.reasons)


def variant_of(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling, bound: Bound) -> Variant:
    """The variant that a product's plan is, for the arguments that its facts came from."""
    (multiplied,) = (step for step in plan.steps if isinstance(step, MultiplyBy))
    wider = "" if multiplied.instruction.warpgroup else _narrower(plan, spec, tiling)
    carriers = tuple((name, _carrier(plan, name)) for name in OPERANDS)
    reached = (array for array in arrays_in_memory(plan.compute) if is_reached(plan.compute, array))
    reaches = tuple(_anywhere(plan, array) or reach_of(array, bound) for array in reached)
    return Variant(multiplied.instruction, wider, carriers, reaches)


def _anywhere(plan: Plan, array: Array) -> Reach | None:
    """The reach of an array of which groups lie together, wherever they begin; None of others."""
    place = segmented_place(plan.compute, array.name)
    anywhere = place is not None and place == array.contiguous_dimension
    return Reach(array.name, array.element.byte_count, ("groups that begin anywhere",)) if anywhere else None


def _narrower(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling) -> str:
    if not has_warpgroups(plan.target):
        return ""
    assumed = tuple(step for step in plan.steps if isinstance(step, Assume))
    found = by_warpgroups(Plan(plan.compute, plan.target, steps=assumed), spec, tiling)
    return found if isinstance(found, str) else ""


def _carrier(plan: Plan, name: str) -> Transport:
    """What brings an operand's tiles from memory."""
    return next(step.by.transport for step in plan.steps if isinstance(step, Stage) and step.array == name)


def reach_of(array: Array, bound: Bound) -> Reach:
    """The bytes that one access of an array may move with these arguments, and what keeps it from more: an address or a
    stride that is no multiple of more, or an extent along which an edge would cut it."""
    view, width = bound.views[array.name], array.element.byte_count
    place = array.contiguous_dimension
    if place is None:
        return Reach(array.name, width, ("elements that lie apart",))
    steps = [(f"{stride} = {stride.evaluate(bound.sizes)}", stride.evaluate(bound.sizes) * width)
             for stride in array.strides if not stride.is_constant]  # fmt: skip
    extent = array.extents[place]
    steps.append((f"{extent} = {extent.evaluate(bound.sizes)}", extent.evaluate(bound.sizes) * width))
    if not view.is_empty:
        steps.append((f"an address of {view.address:#x}", view.address))
    count = WIDEST_ACCESS_BYTES
    while count > width and any(value % count for _, value in steps):
        count //= 2
    limits = tuple(told for told, value in steps if count < WIDEST_ACCESS_BYTES and value % (2 * count))
    return Reach(array.name, count, limits)
