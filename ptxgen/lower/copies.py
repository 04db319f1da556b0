"""Copies between registers and memory, and between registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

from attrs import frozen

from isa.types import b16, b32
from ptxgen.build import Not, Value
from ptxgen.compute import Element
from ptxgen.errors import UnsupportedError
from ptxgen.lower.accesses import Access, box_offset, global_accesses, row_of, shared_accesses, shared_images
from ptxgen.lower.addresses import GlobalBox, SharedBox, SharedForm
from ptxgen.lower.bases import first_replica
from ptxgen.lower.context import Context
from ptxgen.lower.memory import Bound, BoxBounds, Inside, Place, address
from ptxgen.lower.moving import Wanted
from ptxgen.lower.registers import (
    constant_origin,
    constant_slot,
    fixed_origin,
    held_values,
    identity,
    value_coordinates,
)
from ptxgen.lower.threads import ThreadMap, along, replicas
from ptxgen.lower.words import PartReader, PartWriter, joined, whole_registers
from ptxgen.tile import Copy, Distribution, Region, Space, zero

_MEMORY = (Space.GLOBAL, Space.SHARED)
Condition: TypeAlias = Value | Not | bool | None


@frozen
class CopyPlan:
    """What a copy does, whatever the loop it stands in: the register and the memory side, the accesses, and for each
    access the value indices of the register buffer in order of the memory."""

    registers: Region
    memory: Region
    accesses: tuple[Access, ...]
    values: tuple[tuple[int, ...], ...]


def lower_copy(context: Context, copy: Copy) -> None:
    """Moves every element of the box by loads, stores or moves; see `Copy`. UnsupportedError for what no instruction
    sequence here does."""
    if copy.source.buffer.element is not copy.destination.buffer.element:
        raise UnsupportedError(
            f"{copy.op}: a copy keeps the element type, {copy.source.buffer.element} is not "
            f"{copy.destination.buffer.element}"
        )
    if copy.source.buffer.space in _MEMORY:
        _load(context, copy, planned(context, copy))
    elif copy.destination.buffer.space in _MEMORY:
        _store(context, copy, planned(context, copy))
    else:
        _rename(context, copy)


def planned(context: Context, copy: Copy) -> CopyPlan:
    """The plan of a copy between registers and memory, made once."""
    return context.plan(copy, lambda: _planned(context, copy))


def _planned(context: Context, copy: Copy) -> CopyPlan:
    sides = copy.source, copy.destination
    registers = [side for side in sides if side.buffer.space is Space.REGISTERS]
    if len(registers) != 1:
        spaces = " and ".join(side.buffer.space.value for side in sides)
        raise UnsupportedError(f"{copy.op}: one side of a copy is registers, not {spaces}")
    memory = sides[1] if registers[0] is sides[0] else sides[0]
    held, box = registers[0], copy.distribution
    alike = held.buffer.name, constant_origin(held), memory.buffer.name, _first_offset(memory) % copy.vector
    moves = context.alike((*alike, box, copy.vector), lambda: _moves(held, memory, box, copy.vector))
    return CopyPlan(held, memory, *moves)


def _first_offset(memory: Region) -> int:
    """Where the box of a shared tile starts, in elements. What lies further in the box is joined by XOR, so the lowest
    bits alone decide which elements are neighbours in which order."""
    origin = fixed_origin(memory)
    return box_offset(memory.buffer.layout, origin, zero(len(origin))) if memory.buffer.space is Space.SHARED else 0


def _moves(
    held: Region, memory: Region, box: Distribution, vector: int
) -> tuple[tuple[Access, ...], tuple[tuple[int, ...], ...]]:
    """The accesses of a copy, and for each of them the value indices of the register buffer."""
    coordinates = value_coordinates(box)
    places = dict(zip(coordinates, held_values(held, box, identity(box.rank)), strict=True))
    accesses = box_accesses(memory, box, coordinates, vector)
    return accesses, tuple(tuple([places[element] for element in access.elements]) for access in accesses)


def box_accesses(
    memory: Region, box: Distribution, coordinates: Sequence[tuple[int, ...]], vector: int
) -> tuple[Access, ...]:
    """The accesses to a global or shared region that move the elements at `coordinates` of a box."""
    if memory.buffer.space is Space.SHARED:
        mask = _shared_threads(memory, box).mask // memory.buffer.element.byte_count
        return shared_accesses(coordinates, vector, memory.buffer, mask, fixed_origin(memory))
    row = row_of(memory)
    mask = 0 if row is None else along(box, row).mask
    return global_accesses(coordinates, vector, memory.buffer, mask, row)


def _shared_threads(memory: Region, box: Distribution) -> ThreadMap:
    width = memory.buffer.element.byte_count
    return ThreadMap(tuple(image * width for image in shared_images(memory.buffer.layout, box)))


def copy_places(context: Context, copy: Copy) -> Iterator[tuple[Place, tuple[Bound, ...]]]:
    """For each access of a copy, where it goes and under which bounds, in terms of the names in scope now."""
    plan = planned(context, copy)
    if plan.memory.buffer.space is Space.SHARED:
        blocks = tuple(mask.bit_length() - 1 for mask in copy.masks)
        for place in shared_places(context, plan.memory, copy.distribution, plan.accesses, blocks):
            yield place, ()
    else:
        yield from global_places(context, plan.memory, copy.distribution, copy.guarded, plan.accesses)


def shared_places(
    context: Context,
    memory: Region,
    box: Distribution,
    accesses: Sequence[Access],
    blocks: tuple[int, ...] = (),
) -> Iterator[Place]:
    """Where each access to a box of a shared tile goes; with `blocks` to that of another block of the cluster."""
    buffer, origin = memory.buffer, fixed_origin(memory)
    threads = context.alike((buffer.name, box), lambda: _shared_threads(memory, box))
    inside, start = SharedBox(memory, box.shape, threads, context.bindings, blocks), context.pool.offsets[buffer.name]
    for access in accesses:
        form, immediate = inside.at(box_offset(buffer.layout, origin, access.start) * buffer.element.byte_count)
        yield Place(form, inside.slot, immediate + start)


def global_places(
    context: Context, memory: Region, box: Distribution, guarded: Sequence[int], accesses: Sequence[Access]
) -> Iterator[tuple[Place, tuple[Bound, ...]]]:
    """Where each access to a box of an array goes, and under which bounds."""
    maps = tuple(along(box, dimension) for dimension in range(box.rank))
    inside, limits = GlobalBox(memory, maps, context.bindings), box_bounds(context, memory, maps, guarded)
    for access in accesses:
        form, immediate = inside.at(access.start)
        yield Place(form, 0, immediate), limits.at(access.start)


def box_bounds(context: Context, memory: Region, maps: tuple[ThreadMap, ...], guarded: Sequence[int]) -> BoxBounds:
    """The bounds of a box of a global array along its guarded dimensions."""
    extents = memory.buffer.in_memory.reach
    left = {dimension: context.resolved(extents[dimension] - memory.origin[dimension]) for dimension in guarded}
    return BoxBounds(left, maps, row_of(memory))


def copy_wanted(context: Context, copy: Copy) -> Iterator[Wanted]:
    """The forms that a loop around a copy prepares."""
    if _touches_memory(copy):
        for place, limits in copy_places(context, copy):
            yield place.wanted
            yield from (bound.wanted for bound in limits)


def _touches_memory(copy: Copy) -> bool:
    return copy.source.buffer.space in _MEMORY or copy.destination.buffer.space in _MEMORY


def _load(context: Context, copy: Copy, plan: CopyPlan) -> None:
    k, element = context.k, copy.source.buffer.element
    registers = context.tiles.slot(plan.registers.buffer, constant_slot(plan.registers, context.bindings))
    writer = PartWriter(k, registers, plan.registers.buffer.distribution.value_count, element)
    inside = Inside(context)
    for values, (place, limits) in zip(plan.values, copy_places(context, copy), strict=True):
        whole, condition = whole_registers(values, element), inside.holds(limits)
        if whole is not None:
            load(context, plan.memory, tuple(registers[index] for index in whole), place, condition)
        else:
            for value, part in zip(values, parts(context, plan.memory, len(values), place, condition), strict=True):
                writer.put(value, part)
    writer.finish()


def parts(context: Context, memory: Region, count: int, place: Place, condition: Condition) -> list[Value]:
    """`count` elements of 16 or 8 bits in registers of their own, zero where the condition does not hold."""
    k, element = context.k, memory.buffer.element
    if count == 1:
        part = k.register(b16)
        load(context, memory, (part,), place, condition, count)
        return [part]
    bits = count * element.bits
    words = tuple(k.register(b32) for _ in range(bits // 32)) or (k.register(b16),)
    load(context, memory, words, place, condition, count)
    reader = PartReader(k, words, element)
    return [reader.part(value) for value in range(count)]


def load(
    context: Context, memory: Region, into: tuple[Value, ...], place: Place, condition: Condition, count: int = 0
) -> None:
    """One load into registers that follow each other in memory, zero where the condition does not hold; of `count`
    elements where they are fewer bits than the registers."""
    k = context.k
    if condition is not None:
        zero = k.function(f"mov.b{into[0].type.bits}")
        for register in into:
            zero(0, into=register)
    if condition is False:
        return
    width = _width(into, memory.buffer.element, count)
    far = isinstance(place.form, SharedForm) and place.form.blocks
    space = "shared::cluster" if far else memory.buffer.space.value
    fetch, where = k.function(f"ld.{space}.{width}"), address(context, place)
    with _under(context, condition):
        fetch(where, into=into if len(into) > 1 else into[0])


def _store(context: Context, copy: Copy, plan: CopyPlan) -> None:
    k, element = context.k, copy.source.buffer.element
    registers = context.tiles.slot(plan.registers.buffer, constant_slot(plan.registers, context.bindings))
    reader = PartReader(k, registers, element) if element.bits < 32 else None
    copies = replicas(copy.distribution)
    inside = Inside(context, first_replica(context, copies) if copies else None)
    space = plan.memory.buffer.space.value
    for values, (place, limits) in zip(plan.values, copy_places(context, copy), strict=True):
        whole = whole_registers(values, element)
        if whole is not None:
            source = tuple(registers[index] for index in whole)
        else:
            assert reader is not None
            source = joined(k, [reader.part(value) for value in values], element)
        condition = inside.holds(limits)
        if condition is not False:
            width = _width(source, element, len(values))
            put, where = k.function(f"st.{space}.{width}"), address(context, place)
            with _under(context, condition):
                put(where, source if len(source) > 1 else source[0])


def _under(context: Context, condition: Condition) -> AbstractContextManager[object]:
    return context.k.guard(condition) if isinstance(condition, (Value, Not)) else nullcontext()


def _width(registers: tuple[Value, ...], element: Element, count: int = 0) -> str:
    """The vector and width of an access by these registers; `count` elements, if they are fewer bits than those."""
    vector = f"v{len(registers)}." if len(registers) > 1 else ""
    bits = registers[0].type.bits
    return f"{vector}b{min(bits, count * element.bits) if count else bits}"


def _rename(context: Context, copy: Copy) -> None:
    box = copy.distribution
    source = context.tiles.slot(copy.source.buffer, constant_slot(copy.source, context.bindings))
    target = context.tiles.slot(copy.destination.buffer, constant_slot(copy.destination, context.bindings))
    read = held_values(copy.source, box, identity(box.rank))
    written = held_values(copy.destination, box, identity(box.rank))
    element = copy.source.buffer.element
    if element.bits >= 32:
        move = context.k.function(f"mov.b{element.bits}")
        for value, place in dict(zip(written, read, strict=True)).items():
            move(source[place], into=target[value])
        return
    count = copy.destination.buffer.distribution.value_count
    reader, writer = PartReader(context.k, source, element), PartWriter(context.k, target, count, element)
    for value, place in dict(zip(written, read, strict=True)).items():
        writer.put(value, reader.part(place))
    writer.finish()
