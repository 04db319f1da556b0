"""Maps and reductions on register tiles."""

from __future__ import annotations

from collections.abc import Callable

from isa.types import b16
from ptxgen.build import Value
from ptxgen.compute import Element, ReductionOp
from ptxgen.errors import UnsupportedError
from ptxgen.lower.context import Context
from ptxgen.lower.copies import Condition
from ptxgen.lower.expressions import Evaluator, choice_predicate, choices, widened_half
from ptxgen.lower.memory import Inside
from ptxgen.lower.operands import GlobalOperand, RegisterOperand, operand_reader, point_bounds
from ptxgen.lower.registers import Projection, constant_slot, held_values, value_coordinates
from ptxgen.lower.words import HalfReader, HalfWriter
from ptxgen.tile import LANE_BITS, Map, Outside, Reduce

JOIN = {ReductionOp.ADD: "add.rn.f32", ReductionOp.MAXIMUM: "max.f32"}
ALL_LANES = 0xFFFFFFFF
LAST_LANE = 31


def lower_map(context: Context, node: Map) -> None:
    """Computes the expression at every point and writes the target's registers."""
    buffer, box = node.target.buffer, node.iteration.distribution
    registers = context.tiles.slot(buffer, constant_slot(node.target, context.bindings))
    places = context.plan(node, lambda: held_values(node.target, box, Projection(node.target_dims)))
    if len(set(places)) != len(places):
        raise UnsupportedError(f"{node.op}: two points of the map write one element of {buffer.name}")
    evaluator = _evaluator(context, node)
    if buffer.element is Element.S32:
        raise UnsupportedError(f"{node.op}: the target {buffer.name} is s32; expressions give f16 or f32")
    writer = HalfWriter(context.k, registers, buffer.distribution.value_count)
    bounded = bool(node.iteration.guarded) and node.outside is Outside.ZERO
    limits, inside = point_bounds(context, node.iteration), Inside(context)
    for point, (place, coordinate) in enumerate(zip(places, value_coordinates(box), strict=True)):
        condition = inside.holds(limits.at(coordinate)) if bounded else None
        if buffer.element is Element.F16 and condition is None:
            writer.put(place, evaluator.half(node.expression, point))
            continue
        value = _bounded(context, evaluator.register(node.expression, point), condition, 0.0)
        if buffer.element is Element.F16:
            writer.put(place, context.k.cvt.rn.f16.f32(value, into=context.k.register(b16)))
        else:
            context.k.mov.f32(value, into=registers[place])
    writer.finish()


def _evaluator(context: Context, node: Map | Reduce) -> Evaluator:
    readers: list[RegisterOperand | GlobalOperand] = []
    evaluator = Evaluator(context.k, lambda index, point: readers[index].value(point))
    for index, operand in enumerate(node.operands):
        also = choice_predicate(context.k, evaluator, choices(node.expression, index))
        readers.append(operand_reader(context, operand, node.iteration, also))
    return evaluator


def lower_reduce(context: Context, node: Reduce) -> None:
    """Joins the values of a lane in ascending order, then the lanes by butterfly, then the target."""
    box = node.iteration.distribution
    join = context.k.function(JOIN[node.join])
    places = context.plan(node, lambda: held_values(node.target, box, Projection(node.target_dims)))
    distances = _distances(node)
    evaluator = _evaluator(context, node)
    totals: dict[int, Value] = {}
    limits, inside = point_bounds(context, node.iteration), Inside(context)
    for point, (place, coordinate) in enumerate(zip(places, value_coordinates(box), strict=True)):
        value = evaluator.register(node.expression, point)
        value = _bounded(context, value, inside.holds(limits.at(coordinate)), node.join.identity)
        totals[place] = join(totals[place], value) if place in totals else value
    for place in totals:
        for distance in distances:
            other = context.k.shfl.sync.bfly.b32(totals[place], distance, LAST_LANE, ALL_LANES)
            totals[place] = join(totals[place], other)
    _join_target(context, node, totals, join)


def _bounded(context: Context, value: Value, condition: Condition, beyond: float) -> Value:
    """`value` where the condition holds (None: always), else `beyond`."""
    if condition is None:
        return value
    if isinstance(condition, bool):
        constant: Value = context.k.mov.f32(beyond)
        return constant
    chosen: Value = context.k.selp.f32(value, beyond, condition)
    return chosen


def _distances(node: Reduce) -> tuple[int, ...]:
    """The distances between lanes that hold other points of the same target element, ascending."""
    box = node.iteration.distribution
    reduced = [dim for dim in range(box.rank) if dim not in node.target_dims]

    def joined(image: tuple[int, ...]) -> bool:
        return any(image[dim] for dim in reduced) and not any(image[dim] for dim in node.target_dims)

    if any(map(joined, box.warps)):
        raise UnsupportedError(f"{node.op}: the reduced dims are spread over warps; only lanes are joined here")
    return tuple(1 << bit for bit in range(LANE_BITS) if joined(box.lanes[bit]))


def _join_target(context: Context, node: Reduce, totals: dict[int, Value], join: Callable[..., Value]) -> None:
    k, buffer = context.k, node.target.buffer
    registers = context.tiles.slot(buffer, constant_slot(node.target, context.bindings))
    if buffer.element is Element.F32:
        for place, total in totals.items():
            join(registers[place], total, into=registers[place])
        return
    if buffer.element is not Element.F16:
        raise UnsupportedError(f"{node.op}: the target {buffer.name} is {buffer.element}; reductions give f16 or f32")
    reader, writer = HalfReader(k, registers), HalfWriter(k, registers, buffer.distribution.value_count)
    for place, total in totals.items():
        joined = join(widened_half(k, reader.half(place)), total)
        writer.put(place, k.cvt.rn.f16.f32(joined, into=k.register(b16)))
    writer.finish()
