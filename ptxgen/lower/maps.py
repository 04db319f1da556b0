"""Maps and reductions on register tiles."""

from __future__ import annotations

from collections.abc import Callable

from ptxgen.build import Value
from ptxgen.compute import Element, Operand, ReductionOp
from ptxgen.errors import UnsupportedError
from ptxgen.lower.context import Context
from ptxgen.lower.conversions import (
    ROUNDING,
    WIDENING,
    as_single,
    check_conversion,
    narrowed_part,
    widened_part,
)
from ptxgen.lower.copies import Condition
from ptxgen.lower.expressions import Evaluator, choice_predicate, choices
from ptxgen.lower.memory import Inside
from ptxgen.lower.operands import GlobalOperand, RegisterOperand, operand_reader, point_bounds
from ptxgen.lower.registers import Projection, constant_slot, held_values, value_coordinates
from ptxgen.lower.words import PartReader, PartWriter
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
    if buffer.element is Element.S32:
        _pass_integers(context, node, registers, places)
        return
    check_conversion(node.op, ROUNDING, buffer.element, context.program.target)
    evaluator = _evaluator(context, node)
    writer = PartWriter(context.k, registers, buffer.distribution.value_count, buffer.element)
    bounded = bool(node.iteration.guarded) and node.outside is Outside.ZERO
    limits, inside = point_bounds(context, node.iteration), Inside(context)
    for point, (place, coordinate) in enumerate(zip(places, value_coordinates(box), strict=True)):
        condition = inside.holds(limits.at(coordinate)) if bounded else None
        if buffer.element.bits < 32 and condition is None:
            writer.put(place, evaluator.part(node.expression, point, buffer.element))
            continue
        arithmetic = arithmetic_of(node)
        value = _bounded(context, evaluator.register(node.expression, point), condition, 0.0, arithmetic)
        if buffer.element.bits < 32:
            writer.put(place, narrowed_part(context.k, as_single(context.k, value, arithmetic), buffer.element))
        elif buffer.element is arithmetic:
            context.k.function(f"mov.{arithmetic}")(value, into=registers[place])
        else:
            context.k.cvt.rn.f32.f64(value, into=registers[place])
    writer.finish()


def arithmetic_of(node: Map | Reduce) -> Element:
    """The type in which a node calculates: f64 where it reads or fills one, else f32."""
    elements = [node.target.buffer.element, *(operand.region.buffer.element for operand in node.operands)]
    return Element.F64 if Element.F64 in elements else Element.F32


def _pass_integers(context: Context, node: Map, registers: tuple[Value, ...], places: tuple[int, ...]) -> None:
    """The elements of one s32 operand, as they are."""
    match node.expression:
        case Operand(index) if node.operands[index].region.buffer.element is Element.S32:
            reader = operand_reader(context, node.operands[index], node.iteration, Element.F32, None)
        case _:
            name = node.target.buffer.name
            raise UnsupportedError(f"{node.op}: the target {name} is s32; it takes another s32, no arithmetic in f32")
    for point, place in enumerate(places):
        context.k.mov.b32(reader.raw(point), into=registers[place])


def _evaluator(context: Context, node: Map | Reduce) -> Evaluator:
    arithmetic = arithmetic_of(node)
    readers: list[RegisterOperand | GlobalOperand] = []
    evaluator = Evaluator(context.k, lambda index, point: readers[index].value(point), arithmetic)
    for index, operand in enumerate(node.operands):
        check_conversion(node.op, WIDENING, operand.region.buffer.element, context.program.target)
        also = choice_predicate(context.k, evaluator, choices(node.expression, index))
        readers.append(operand_reader(context, operand, node.iteration, arithmetic, also))
    return evaluator


def lower_reduce(context: Context, node: Reduce) -> None:
    """Joins the values of a lane in ascending order, then the lanes by butterfly, then the target."""
    box = node.iteration.distribution
    if arithmetic_of(node) is not Element.F32:
        raise UnsupportedError(f"{node.op}: lanes are joined in f32, {node.op} calculates in {arithmetic_of(node)}")
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


def _bounded(
    context: Context, value: Value, condition: Condition, beyond: float, arithmetic: Element = Element.F32
) -> Value:
    """`value` where the condition holds (None: always), else `beyond`."""
    if condition is None:
        return value
    if isinstance(condition, bool):
        constant: Value = context.k.function(f"mov.{arithmetic}")(beyond)
        return constant
    chosen: Value = context.k.function(f"selp.{arithmetic}")(value, beyond, condition)
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
    if buffer.element.bits >= 32:
        raise UnsupportedError(f"{node.op}: the target {buffer.name} is {buffer.element}; reductions give f32 or less")
    reader = PartReader(k, registers, buffer.element)
    writer = PartWriter(k, registers, buffer.distribution.value_count, buffer.element)
    for place, total in totals.items():
        joined = join(widened_part(k, reader.part(place), buffer.element), total)
        writer.put(place, narrowed_part(k, joined, buffer.element))
    writer.finish()
