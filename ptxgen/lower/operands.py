"""What an expression reads: values of register tiles and of arrays in global memory, as f32."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from isa.types import f32, s32
from ptxgen.build import Not, Value
from ptxgen.compute import Element
from ptxgen.errors import UnsupportedError
from ptxgen.lower.accesses import Access, global_accesses, row_of
from ptxgen.lower.addresses import RemainingForm, global_form
from ptxgen.lower.context import Context
from ptxgen.lower.copies import load, loaded_halves
from ptxgen.lower.expressions import widened_half
from ptxgen.lower.memory import Bound, Place
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


def operand_place(context: Context, operand: MapOperand, plan: GlobalPlan, access: Access) -> Place:
    """Where an access to an operand goes."""
    form, immediate = global_form(operand.region, plan.threads, access.start, context.bindings)
    return Place(form, 0, immediate)


def operand_bounds(
    context: Context, operand: MapOperand, iteration: Iteration, plan: GlobalPlan, access: Access
) -> tuple[Bound, ...]:
    """The bounds of an access along the guarded dims of the iteration by which the operand is indexed."""
    made = []
    for place, dim in enumerate(operand.dims):
        if dim is not None and dim in iteration.guarded:
            threads, beyond = plan.threads[place].flipped(access.start[place])
            made.append(Bound(remaining_form(context, iteration, dim, threads), beyond))
    return tuple(made)


def remaining_form(context: Context, iteration: Iteration, dim: int, threads: ThreadMap) -> RemainingForm:
    """How much of the iteration's extent along a dim remains from a thread's coordinate."""
    return RemainingForm(context.resolved(iteration.extents[dim] - iteration.origin[dim]), threads)


def point_bounds(context: Context, iteration: Iteration, point: int) -> tuple[Bound, ...]:
    """The bounds under which value index `point` of the iteration is inside its extents."""
    coordinate = value_coordinates(iteration.distribution)[point]
    made = []
    for dim in iteration.guarded:
        threads, beyond = along(iteration.distribution, dim).flipped(coordinate[dim])
        made.append(Bound(remaining_form(context, iteration, dim, threads), beyond))
    return tuple(made)


class GlobalOperand:
    """Reads an array in global memory at the points of an iteration, each access once, when first needed."""

    def __init__(self, context: Context, operand: MapOperand, iteration: Iteration, also: Value | Not | None) -> None:
        self._context = context
        self._operand = operand
        self._iteration = iteration
        self._also = also
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
        context, operand = self._context, self._operand
        region = operand.region
        place = operand_place(context, operand, self._plan, access)
        limits = operand_bounds(context, operand, self._iteration, self._plan, access)
        if region.buffer.element is Element.F16:
            return loaded_halves(context, region, len(access.elements), place, limits, self._also)
        kind = f32 if region.buffer.element is Element.F32 else s32
        words = tuple(context.k.register(kind) for _ in access.elements)
        load(context, region, words, place, limits, self._also)
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
            plan = global_plan(context, operand, iteration)
            for access in plan.accesses:
                yield operand_place(context, operand, plan, access).wanted
                yield from (b.wanted for b in operand_bounds(context, operand, iteration, plan, access))
    if isinstance(node, Reduce) and iteration.guarded:
        for point in range(iteration.distribution.value_count):
            yield from (bound.wanted for bound in point_bounds(context, iteration, point))
