"""What an expression reads: values of register tiles and of arrays in global memory, as f32."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from isa.types import f32, s32
from polyhedral import Affine
from ptxgen.build import Not, Value
from ptxgen.compute import Element
from ptxgen.errors import UnsupportedError
from ptxgen.lower.accesses import Access, global_accesses, row_of
from ptxgen.lower.addresses import GlobalBox
from ptxgen.lower.context import Context
from ptxgen.lower.copies import halves, load
from ptxgen.lower.expressions import widened_half
from ptxgen.lower.memory import BoxBounds, Inside, Place
from ptxgen.lower.moving import Wanted
from ptxgen.lower.registers import Projection, constant_slot, held_values, value_coordinates
from ptxgen.lower.threads import ThreadMap, along
from ptxgen.lower.words import HalfReader
from ptxgen.tile import Distribution, Iteration, Map, MapOperand, Reduce, Space


class RegisterOperand:
    """Reads a register tile at the points of an iteration."""

    def __init__(self, context: Context, operand: MapOperand, iteration: Iteration) -> None:
        region = operand.region
        self._element = region.buffer.element
        self._k = context.k
        self._registers = context.tiles.slot(region.buffer, constant_slot(region, context.bindings))
        self._places = context.plan(
            operand, lambda: held_values(region, iteration.distribution, Projection(operand.dims))
        )
        self._halves = HalfReader(context.k, self._registers)
        self._wide: dict[int, Value] = {}

    def value(self, point: int) -> Value:
        """The element at value index `point` of the iteration."""
        place = self._places[point]
        if self._element is Element.F32:
            return self._registers[place]
        if place not in self._wide:
            self._wide[place] = self._widened(place)
        return self._wide[place]

    def _widened(self, place: int) -> Value:
        if self._element is Element.F16:
            return widened_half(self._k, self._halves.half(place))
        result: Value = self._k.cvt.rn.f32.s32(self._registers[place])
        return result


@frozen
class GlobalPlan:
    """The accesses that read an operand in global memory, and for each point its access and place in it."""

    accesses: tuple[Access, ...]
    of_point: tuple[tuple[int, int], ...]
    threads: tuple[ThreadMap, ...]


def global_plan(context: Context, operand: MapOperand, iteration: Iteration) -> GlobalPlan:
    """The plan of an operand in global memory, made once."""
    return context.plan(operand, lambda: _global_plan(operand, iteration.distribution))


def _global_plan(operand: MapOperand, box: Distribution) -> GlobalPlan:
    projection, buffer = Projection(operand.dims), operand.region.buffer
    coordinates = list(map(projection.of, value_coordinates(box)))
    threads = tuple(ThreadMap() if dim is None else along(box, dim) for dim in operand.dims)
    row = row_of(operand.region)
    accesses = global_accesses(coordinates, operand.vector, buffer, 0 if row is None else threads[row].mask, row)
    places = {
        element: (number, place)
        for number, access in enumerate(accesses)
        for place, element in enumerate(access.elements)
    }
    return GlobalPlan(accesses, tuple(places[coordinate] for coordinate in coordinates), threads)


def operand_addresses(context: Context, operand: MapOperand, iteration: Iteration) -> tuple[GlobalBox, BoxBounds]:
    """The addresses of an operand's elements, and their bounds along the guarded dims of the iteration."""
    threads = global_plan(context, operand, iteration).threads
    left = {
        place: remaining_extent(context, iteration, dim)
        for place, dim in enumerate(operand.dims)
        if dim is not None and dim in iteration.guarded
    }
    box = GlobalBox(operand.region, threads, context.bindings)
    return box, BoxBounds(left, threads, row_of(operand.region))


def remaining_extent(context: Context, iteration: Iteration, dim: int) -> Affine:
    """What remains of the iteration's extent along a dim from its origin on."""
    return context.resolved(iteration.extents[dim] - iteration.origin[dim])


def point_bounds(context: Context, iteration: Iteration) -> BoxBounds:
    """The bounds under which a point of the iteration is inside its extents."""
    threads = [along(iteration.distribution, dim) for dim in range(iteration.distribution.rank)]
    return BoxBounds({dim: remaining_extent(context, iteration, dim) for dim in iteration.guarded}, threads, None)


class GlobalOperand:
    """Reads an array in global memory at the points of an iteration, each access once, when first needed."""

    def __init__(self, context: Context, operand: MapOperand, iteration: Iteration, also: Value | Not | None) -> None:
        self._context = context
        self._operand = operand
        self._inside = Inside(context, also)
        self._box, self._bounds = operand_addresses(context, operand, iteration)
        self._plan = global_plan(context, operand, iteration)
        self._read: dict[int, list[Value]] = {}
        self._wide: dict[tuple[int, int], Value] = {}

    def value(self, point: int) -> Value:
        """The element at value index `point` of the iteration; zero where it is outside or `also` does not hold."""
        number, place = self._plan.of_point[point]
        if number not in self._read:
            self._read[number] = self._loaded(self._plan.accesses[number])
        if (number, place) not in self._wide:
            self._wide[number, place] = self._widened(self._read[number][place])
        return self._wide[number, place]

    def _loaded(self, access: Access) -> list[Value]:
        context, region = self._context, self._operand.region
        form, immediate = self._box.at(access.start)
        place, condition = Place(form, 0, immediate), self._inside.holds(self._bounds.at(access.start))
        if region.buffer.element is Element.F16:
            return halves(context, region, len(access.elements), place, condition)
        kind = f32 if region.buffer.element is Element.F32 else s32
        words = tuple(context.k.register(kind) for _ in access.elements)
        load(context, region, words, place, condition)
        return list(words)

    def _widened(self, read: Value) -> Value:
        k = self._context.k
        match self._operand.region.buffer.element:
            case Element.F32:
                return read
            case Element.F16:
                return widened_half(k, read)
            case Element.S32:
                result: Value = k.cvt.rn.f32.s32(read)
                return result


def operand_reader(
    context: Context, operand: MapOperand, iteration: Iteration, also: Value | Not | None
) -> RegisterOperand | GlobalOperand:
    """The reader of an operand; `also` is a further condition of reads from memory."""
    match operand.region.buffer.space:
        case Space.REGISTERS:
            return RegisterOperand(context, operand, iteration)
        case Space.GLOBAL:
            return GlobalOperand(context, operand, iteration, also)
        case Space.SHARED:
            raise UnsupportedError(f"{operand.region.buffer.name}: an expression reads registers or global memory")


def point_wanted(context: Context, node: Map | Reduce) -> Iterator[Wanted]:
    """The forms that a loop around a Map or Reduce prepares."""
    iteration = node.iteration
    for operand in node.operands:
        if operand.region.buffer.space is Space.GLOBAL:
            box, bounds = operand_addresses(context, operand, iteration)
            for access in global_plan(context, operand, iteration).accesses:
                yield box.at(access.start)[0], 0
                yield from (bound.wanted for bound in bounds.at(access.start))
    if isinstance(node, Reduce) and iteration.guarded:
        limits = point_bounds(context, iteration)
        for coordinate in value_coordinates(iteration.distribution):
            yield from (bound.wanted for bound in limits.at(coordinate))
