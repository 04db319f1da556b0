"""Atomic operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve

from isa.types import Kind, Type
from ptxgen.errors import UnsupportedError
from ptxgen.simulate import rounding
from ptxgen.simulate.accesses import Target, request_of, targets, watch
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.formats import FORMATS, decoded, encoded
from ptxgen.simulate.group import Group
from ptxgen.simulate.semantics.packed import packed, unpacked
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Reader, Site, storage_dtype, value_dtype
from ptxgen.simulate.steps import assign
from ptxgen.simulate.turns import Law, Update, in_turn

Writer = Callable[[list[Any], Array, "Array | None"], None] | None


def atom(site: Site) -> Step:
    """Read, modify, write; the old value comes back. Lanes at one address take turns in lane order."""
    return _atomic(site, 1, [assign(site, place) for place in site.destinations()])


def red(site: Site) -> Step:
    """Modify memory without the old value."""
    return _atomic(site, 0, [None] * len(site.vector(1, np.uint64)))


def _atomic(site: Site, address: int, writers: list[Writer]) -> Step:
    """One update per element; those of a vector are atomic each for itself (manual)."""
    of = site.type(address + 1)
    stored = storage_dtype(of)
    update = update_of(str(site.instruction.form.words["op"]), of)
    operands = site.vector(address + 1, stored)
    swap = site.read(address + 2, stored) if site.has("cas") else None
    first = request_of(site, address, of.bytes)
    requests = [evolve(first, address=_moved(first.address, of.bytes * place)) for place in range(len(operands))]
    law = law_of(str(site.instruction.form.words["op"]), of)
    flushes = of.name == "f32" and site.has("add") and not site.has("noftz")

    def step(group: Group, batch: Batch) -> None:
        for request, operand, write in zip(requests, operands, writers, strict=True):
            old = np.zeros(group.shape, stored)
            for target in targets(request, group, batch, reads=True):
                chosen = _flushing(update) if flushes and target.memory.name == "global" else update
                _turns(target, group, chosen, (operand, swap or operand), old, law)
                watch(request, group, batch, target, None, writes=True)
            if write is not None:
                write(group.registers, old, request.guard(group.registers) if request.guard is not None else None)

    return step


def _moved(address: Reader, by: int) -> Reader:
    return address if by == 0 else (lambda r: address(r) + by)


def _flushing(update: Update) -> Update:
    """Sums of f32 in global memory flush subnormals, those in shared memory do not (manual, `atom`)."""

    def flushed(bits: Array) -> Array:
        return rounding.flush_f32(bits.view(np.float32)).view(np.uint32)

    return lambda old, a, b: flushed(update(flushed(old), flushed(a), b))


def _turns(target: Target, group: Group, update: Update, operands: tuple[Reader, Reader], old: Array, law: Law) -> None:
    """Apply the update address by address, lane after lane for those that share one."""
    mask = np.ones(group.shape, np.bool_) if target.mask is None else target.mask
    first, second = (np.broadcast_to(operand(group.registers), group.shape)[mask] for operand in operands)
    old[mask] = in_turn(target.memory.arena, target.index[mask], (first, second), update, law)


_JOINED = frozenset({"exch", "and", "or", "xor", "min", "max"})


def law_of(operation: str, of: Type) -> Law:
    plain = of.lanes == 1 and of.bits in (32, 64)
    if operation == "cas":
        return Law(swaps=of.bits <= 64)
    if operation == "add" and of.name in ("f32", "f64"):
        return Law(adds=value_dtype(of))
    return Law(joins=plain and of.kind is not Kind.FLOAT and operation in (*_JOINED, "add"))


def update_of(operation: str, of: Type) -> Update:
    """What an operation makes of the bits in memory and those of its operands; UnsupportedError for one that is not."""
    dtype = value_dtype(of)
    if of.name in ("f16", "bf16", "f16x2", "bf16x2"):
        return _of_halves(_HALF_OPERATIONS[operation], of)
    match operation:
        case "exch":
            return lambda old, a, b: a
        case "cas" if of.bits == 128:
            return lambda old, a, b: np.where((unpacked(old, np.uint64) == unpacked(a, np.uint64)).all(axis=-1), b, old)
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
        case "add" if of.name == "f32":
            return lambda old, a, b: rounding.add_f32(old.view(np.float32), a.view(np.float32)).view(np.uint32)
        case "add":
            return lambda old, a, b: (old.view(dtype) + a.view(dtype)).view(old.dtype)
    raise UnsupportedError(f"operation .{operation}")


_HALF_OPERATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "add": rounding.odd_sum, "min": np.fmin, "max": np.fmax,
}  # fmt: skip


def _of_halves(function: Callable[[Array, Array], Array], of: Type) -> Update:
    """A function of float64 arrays on the elements of a 16-bit format."""
    form = FORMATS[of.name.removesuffix("x2")]

    def update(old: Array, a: Array, b: Array) -> Array:
        x, y = (decoded(unpacked(each, np.uint16), form) for each in (old, a))
        return packed(encoded(function(x, y), form), old.dtype)

    return update
