"""Atomic operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve

from isa.types import Type
from ptxgen.simulate import rounding
from ptxgen.simulate.accesses import Target, request_of, targets, watch
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.semantics.packed import packed, unpacked
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Reader, Site, value_dtype
from ptxgen.simulate.steps import assign

Update = Callable[[Array, Array, Array], Array]


def atom(site: Site) -> Step:
    """Read, modify, write; the old value comes back. Lanes at one address take turns in lane order."""
    return _atomic(site, 1, assign(site, site.destinations()[0]))


def red(site: Site) -> Step:
    """Modify memory without the old value."""
    return _atomic(site, 0, None)


def _atomic(site: Site, address: int, write: Callable[[list[Any], Array, Array | None], None] | None) -> Step:
    of = site.type(address + 1)
    if of.bits not in (16, 32, 64):
        raise site.unsupported(f"type .{of}")
    request = evolve(request_of(site, address, of.bytes), strong=True)
    stored = np.dtype(f"u{of.bytes}")
    update = _update(site, of)
    operand = site.read(address + 1, stored)
    swap = site.read(address + 2, stored) if site.has("cas") else operand
    guard = request.guard

    def step(group: Group, batch: Batch) -> None:
        old = np.zeros(group.shape, stored)
        for target in targets(request, group, batch, reads=True):
            _turns(target, group, update, (operand, swap), old, stored)
            watch(request, group, batch, target, None, writes=True)
        if write is not None:
            write(group.registers, old, guard(group.registers) if guard is not None else None)

    return step


def _turns(
    target: Target, group: Group, update: Update, operands: tuple[Reader, Reader], old: Array, stored: np.dtype[Any]
) -> None:
    """Apply the update address by address, round by round for lanes that share one."""
    mask = np.ones(group.shape, np.bool_) if target.mask is None else target.mask
    index = target.index[mask]
    first, second = (np.broadcast_to(operand(group.registers), group.shape)[mask] for operand in operands)
    order = np.argsort(index, kind="stable")
    sorted_index = index[order]
    starts = np.searchsorted(sorted_index, sorted_index)
    turn = np.empty(len(index), np.int64)
    turn[order] = np.arange(len(index)) - starts
    before = np.empty(len(index), stored)
    for now in range(int(turn.max()) + 1 if len(turn) else 0):
        at = np.flatnonzero(turn == now)
        before[at] = target.memory.arena.load(index[at], stored.itemsize)
        target.memory.arena.store(index[at], update(before[at], first[at], second[at]), stored.itemsize)
    old[mask] = before


def _update(site: Site, of: Type) -> Update:
    operation = str(site.instruction.form.words["op"])
    dtype = value_dtype(of)
    match operation:
        case "exch":
            return lambda old, a, b: a
        case "cas":
            return lambda old, a, b: np.where(old == a, b, old)
        case "and":
            return lambda old, a, b: old & a
        case "or":
            return lambda old, a, b: old | a
        case "xor":
            return lambda old, a, b: old ^ a
        case "inc":
            return lambda old, a, b: np.where(old >= a, np.zeros_like(old), old + old.dtype.type(1))
        case "dec":
            return lambda old, a, b: np.where((old == 0) | (old > a), a, old - old.dtype.type(1))
        case "min" | "max":
            choose = np.minimum if operation == "min" else np.maximum
            return lambda old, a, b: choose(old.view(dtype), a.view(dtype)).view(old.dtype)
        case "add" if of.name.startswith("bf16"):
            raise site.unsupported(f"type .{of}")
        case "add" if of.name == "f16x2":
            return lambda old, a, b: packed(_half_sum(unpacked(old), unpacked(a)))
        case "add" if of.name == "f16":
            return lambda old, a, b: _half_sum(old.view(np.float16), a.view(np.float16)).view(np.uint16)
        case "add" if of.name == "f32":
            return lambda old, a, b: rounding.add_f32(old.view(np.float32), a.view(np.float32)).view(np.uint32)
        case "add":
            return lambda old, a, b: (old.view(dtype) + a.view(dtype)).view(old.dtype)
    raise site.unsupported(f"operation .{operation}")


def _half_sum(a: Array, b: Array) -> Array:
    return rounding.f16_from_odd(a.astype(np.float64) + b.astype(np.float64))
