"""What an expression reads: values of register tiles and of arrays in global memory, as it calculates."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from polyhedral import Affine
from ptxgen.build import Not, Value
from ptxgen.compute import Element
from ptxgen.errors import UnsupportedError
from ptxgen.lower.accesses import Access, global_accesses, row_of
from ptxgen.lower.addresses import GlobalBox
from ptxgen.lower.context import Context
from ptxgen.lower.conversions import in_arithmetic, widened_part, widened_word
from ptxgen.lower.copies import load, parts
from ptxgen.lower.memory import BoxBounds, Inside, Place
from ptxgen.lower.moving import Wanted
from ptxgen.lower.registers import Projection, constant_slot, held_values, register_type, value_coordinates
from ptxgen.lower.threads import ThreadMap, along
from ptxgen.lower.words import PartReader
from ptxgen.tile import Distribution, Iteration, Map, MapOperand, Reduce, Space


class RegisterOperand:
    """Reads a register tile at the points of an iteration."""

    def __init__(self, context: Context, operand: MapOperand, iteration: Iteration, arithmetic: Element) -> None:
        region = operand.region
        self._element = region.buffer.element
        self._arithmetic = arithmetic
        self._k = context.k
        self._registers = context.tiles.slot(region.buffer, constant_slot(region, context.bindings))
        self._places = context.plan(
            operand, lambda: held_values(region, iteration.distribution, Projection(operand.dims))
        )
        self._parts = PartReader(context.k, self._registers, self._element) if self._element.bits < 32 else None
        self._wide: dict[int, Value] = {}

    def value(self, point: int) -> Value:
        """The element at value index `point` of the iteration."""
        place = self._places[point]
        if place not in self._wide:
            wide = self._widened(place)
            self._wide[place] = in_arithmetic(self._k, wide, self._element, self._arithmetic)
        return self._wide[place]

    def raw(self, point: int) -> Value:
        """The register of an element that fills one, unchanged."""
        return self._registers[self._places[point]]

    def _widened(self, place: int) -> Value:
        if self._parts is not None:
            return widened_part(self._k, self._parts.part(place), self._element)
        return widened_word(self._k, self._registers[place], self._element)


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

    def __init__(
        self,
        context: Context,
        operand: MapOperand,
        iteration: Iteration,
        arithmetic: Element,
        also: Value | Not | None,
    ) -> None:
        self._arithmetic = arithmetic
        self._context = context
        self._operand = operand
        self._inside = Inside(context, also)
        self._box, self._bounds = operand_addresses(context, operand, iteration)
        self._plan = global_plan(context, operand, iteration)
        self._read: dict[int, list[Value]] = {}
        self._wide: dict[tuple[int, int], Value] = {}

    def value(self, point: int) -> Value:
        """The element at value index `point` of the iteration; zero where it is outside or `also` does not hold."""
        place = self._plan.of_point[point]
        if place not in self._wide:
            element = self._operand.region.buffer.element
            wide = self._widened(self.raw(point), element)
            self._wide[place] = in_arithmetic(self._context.k, wide, element, self._arithmetic)
        return self._wide[place]

    def raw(self, point: int) -> Value:
        """The element as it is read, of 16 or 8 bits in the low end of a 16-bit register."""
        number, place = self._plan.of_point[point]
        if number not in self._read:
            self._read[number] = self._loaded(self._plan.accesses[number])
        return self._read[number][place]

    def _loaded(self, access: Access) -> list[Value]:
        context, region = self._context, self._operand.region
        form, immediate = self._box.at(access.start)
        place, condition = Place(form, 0, immediate), self._inside.holds(self._bounds.at(access.start))
        element = region.buffer.element
        if element.bits < 32:
            return parts(context, region, len(access.elements), place, condition)
        words = tuple(context.k.register(register_type(element)) for _ in access.elements)
        load(context, region, words, place, condition)
        return list(words)

    def _widened(self, read: Value, element: Element) -> Value:
        k = self._context.k
        return widened_part(k, read, element) if element.bits < 32 else widened_word(k, read, element)


def operand_reader(
    context: Context, operand: MapOperand, iteration: Iteration, arithmetic: Element, also: Value | Not | None
) -> RegisterOperand | GlobalOperand:
    """The reader of an operand; `also` is a further condition of reads from memory."""
    match operand.region.buffer.space:
        case Space.REGISTERS:
            return RegisterOperand(context, operand, iteration, arithmetic)
        case Space.GLOBAL:
            return GlobalOperand(context, operand, iteration, arithmetic, also)
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
