"""Copies by instructions of their own: `cp.async` from global to shared memory, `ldmatrix` from shared memory and
`stmatrix` to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

from attrs import frozen

from ptxgen.build import Not, Value
from ptxgen.errors import UnsupportedError
from ptxgen.lower.accesses import Access
from ptxgen.lower.bases import first_replica
from ptxgen.lower.context import Context
from ptxgen.lower.copies import box_accesses, global_places, shared_places
from ptxgen.lower.memory import Bound, Inside, Place, address
from ptxgen.lower.moving import Wanted
from ptxgen.lower.registers import constant_slot, held_values, identity, value_coordinates
from ptxgen.lower.threads import replicas
from ptxgen.lower.words import whole_registers
from ptxgen.tile import Carrier, Copy, MatrixRows, Region, Space

CACHED_AT_L2_BYTES = 16


@frozen
class LanePlan:
    """The accesses of a lane's copy, one of global memory with each of shared memory."""

    read: tuple[Access, ...]
    written: tuple[Access, ...]


def lower_lane_copy(context: Context, copy: Copy) -> None:
    """Every element from global to shared memory by `cp.async`, zero where it is outside the array."""
    plan = context.plan(copy, lambda: _lane_plan(copy))
    size = copy.vector * copy.source.buffer.element.byte_count
    name = f"cp.async.{'cg' if size == CACHED_AT_L2_BYTES else 'ca'}.shared.global"
    put, inside = context.k.function(name), Inside(context)
    copies = replicas(copy.distribution)
    first = first_replica(context, copies) if copies else None
    for place, (source, limits) in _lane_places(context, copy, plan):
        condition = inside.holds(limits)
        where = address(context, place), address(context, source), size
        held = () if condition is None else (_held(context, condition, size),)
        with nullcontext() if first is None else context.k.guard(first):
            put(*where, *held)


def _held(context: Context, condition: Value | Not | bool, size: int) -> Value | int:
    """The bytes to read: all, or none where the condition does not hold."""
    if isinstance(condition, bool):
        return size if condition else 0
    if isinstance(condition, Not):
        count: Value = context.k.selp.b32(0, size, condition.value)
    else:
        count = context.k.selp.b32(size, 0, condition)
    return count


def _lane_plan(copy: Copy) -> LanePlan:
    spaces = copy.source.buffer.space, copy.destination.buffer.space
    if spaces != (Space.GLOBAL, Space.SHARED):
        raise UnsupportedError(
            f"{copy.op}: cp.async copies global to shared memory, not {spaces[0].value} to {spaces[1].value}"
        )
    box, coordinates = copy.distribution, value_coordinates(copy.distribution)
    read = box_accesses(copy.source, box, coordinates, copy.vector)
    written = box_accesses(copy.destination, box, coordinates, copy.vector)
    if [access.elements for access in read] != [access.elements for access in written]:
        raise UnsupportedError(
            f"{copy.op}: neighbours in {copy.source.buffer.name} are not neighbours in {copy.destination.buffer.name}"
        )
    return LanePlan(read, written)


def _lane_places(
    context: Context, copy: Copy, plan: LanePlan
) -> Iterator[tuple[Place, tuple[Place, tuple[Bound, ...]]]]:
    """Where each access goes in shared memory; where it comes from, and under which bounds."""
    box = copy.distribution
    to = shared_places(context, copy.destination, box, plan.written)
    return zip(to, global_places(context, copy.source, box, copy.guarded, plan.read), strict=True)


@frozen
class MatrixPlan:
    """The instructions of a copy by matrices: who points at what, and the access and the registers of each."""

    rows: MatrixRows
    shared: Region
    accesses: tuple[Access, ...]
    registers: tuple[tuple[int, ...], ...]


def lower_matrix_copy(context: Context, copy: Copy) -> None:
    """Every element from shared memory to registers by `ldmatrix`, or the other way by `stmatrix`."""
    plan = context.plan(copy, lambda: _matrix_plan(copy))
    loads = copy.source.buffer.space is Space.SHARED
    side = copy.destination if loads else copy.source
    registers = context.tiles.slot(side.buffer, constant_slot(side, context.bindings))
    transposed = ".trans" if plan.rows.transposed else ""
    name = "ldmatrix" if loads else "stmatrix"
    move = context.k.function(f"{name}.sync.aligned.m8n8.x{plan.rows.matrices}{transposed}.shared.b16")
    places = shared_places(context, plan.shared, plan.rows.reach, plan.accesses)
    for own, place in zip(plan.registers, places, strict=True):
        words = tuple(registers[number] for number in own)
        if loads:
            move(address(context, place), into=words)
        else:
            move(address(context, place), words)


def _matrix_plan(copy: Copy) -> MatrixPlan:
    shared, held = copy.source, copy.destination
    if shared.buffer.space is not Space.SHARED:
        shared, held = held, shared
    rows = copy.rows
    if shared.buffer.space is not Space.SHARED or held.buffer.space is not Space.REGISTERS or rows is None:
        raise UnsupportedError(f"{copy.op}: matrices move between shared memory and registers, by rows of 16 bytes")
    accesses = box_accesses(shared, rows.reach, value_coordinates(rows.reach), copy.vector)
    values = held_values(held, copy.distribution, identity(copy.distribution.rank))
    words = whole_registers(values, shared.buffer.element)
    if words is None or len(words) % len(accesses):
        raise UnsupportedError(f"{copy.op}: the elements of a matrix are not in whole registers of {held.buffer.name}")
    each = len(words) // len(accesses)
    return MatrixPlan(rows, shared, accesses, tuple(words[n : n + each] for n in range(0, len(words), each)))


def transfer_wanted(context: Context, copy: Copy) -> Iterator[Wanted]:
    """The forms that a loop around such a copy prepares."""
    if copy.carrier is Carrier.MATRIX:
        plan = context.plan(copy, lambda: _matrix_plan(copy))
        for place in shared_places(context, plan.shared, plan.rows.reach, plan.accesses):
            yield place.wanted
        return
    for place, (source, limits) in _lane_places(context, copy, context.plan(copy, lambda: _lane_plan(copy))):
        yield place.wanted
        yield source.wanted
        yield from (bound.wanted for bound in limits)
