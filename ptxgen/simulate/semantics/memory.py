"""Loads, stores and parameters."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np

from isa.types import Kind
from ptxgen.ir import Address, SymbolAddress
from ptxgen.simulate.accesses import Target, request_of, targets, watch
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Site, value_dtype
from ptxgen.simulate.steps import assign, assigned

_KEPT: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128, 32: "V32"}


def load(site: Site) -> Step:
    """A register, or the registers of a vector, from memory."""
    if (site.instruction.form.words.get("space") or "").startswith("param") and not _stacked(site, 1):
        return _parameter(site)
    of = site.type(0)
    count = max(site.slots[0].count, 1)
    dtype = np.dtype(_KEPT[of.bytes])
    seen = value_dtype(of) if of.kind is Kind.SIGNED else dtype
    request = request_of(site, 1, of.bytes * count)
    places = site.destinations()
    writers = [assign(site, place) for place in places]
    guard = request.guard

    def step(group: Group, batch: Batch) -> None:
        parts: list[Array] | None = None
        for target in targets(request, group, batch, reads=True):
            read = target.memory.arena.load(target.index, request.width_bytes)
            if request.strength is not None and batch.lateness is not None and target.memory.name == "global":
                now = batch.journal.scheduled
                read = batch.lateness.seen(read, target.index, group.warps, request.width_bytes, now)
            raw = _parts(read, dtype, count)
            watch(request, group, batch, target, None, writes=False)
            parts = raw if parts is None else _joined(raw, parts, target)
        if parts is None:
            parts = [np.zeros((1, 1), dtype)] * count
        keep = guard(group.registers) if guard is not None else None
        for write, part in zip(writers, parts, strict=True):
            write(group.registers, part.view(seen), keep)

    return step


def _stacked(site: Site, operand: int) -> bool:
    """Whether an address names a variable in the frame of a function."""
    address = site.operands[operand]
    return isinstance(address, Address) and (
        isinstance(address.base, SymbolAddress) and address.base.name in site.bank.stacked
    )


def _parts(raw: Array, dtype: np.dtype[Any], count: int) -> list[Array]:
    if count == 1:
        return [raw]
    split = np.ascontiguousarray(np.moveaxis(raw.view(dtype).reshape(*raw.shape, count), -1, 0))
    return list(split)


def _joined(new: list[Array], old: list[Array], target: Target) -> list[Array]:
    mask = target.mask
    return new if mask is None else [np.where(mask, a, b) for a, b in zip(new, old, strict=True)]


def _parameter(site: Site) -> Step:
    """A parameter, the same for all lanes."""
    address = site.operands[1]
    if not isinstance(address, Address) or not isinstance(address.base, SymbolAddress):
        raise site.unsupported("a parameter by a register address")
    of = site.type(0)
    start = site.symbol(address.base.name) + address.base.offset + address.offset
    count = max(site.slots[0].count, 1)
    if not 0 <= start <= site.bank.parameter_bytes - of.bytes * count:
        raise site.unsupported(f"reads past the end of parameter {address.base.name}")
    places = [site.bank.parameter(start + place * of.bytes, value_dtype(of)) for place in range(count)]
    return assigned(site, itemgetter(*places))


def store(site: Site) -> Step:
    """A register, or the registers of a vector, to memory."""
    if (site.instruction.form.words.get("space") or "").startswith("param") and not _stacked(site, 0):
        raise site.unsupported("a parameter by a register address")
    of = site.type(1)
    count = max(site.slots[1].count, 1)
    dtype = np.dtype(_KEPT[of.bytes])
    request = request_of(site, 0, of.bytes * count)
    sources = site.vector(1, dtype)
    width = request.width_bytes
    wide = np.dtype(_KEPT[width])

    def step(group: Group, batch: Batch) -> None:
        for target in targets(request, group, batch, reads=False):
            values = np.empty((*group.shape, count), dtype)
            for place, source in enumerate(sources):
                values[..., place] = source(group.registers)
            whole = values.view(wide)[..., 0]
            mask = target.mask
            index = target.index.ravel() if mask is None else target.index[mask]
            flat = values.reshape(-1, count) if mask is None else values[mask]
            if request.strength is not None and batch.lateness is not None and target.memory.name == "global":
                _hold(batch, group, target, index, width)
            target.memory.arena.store(index, whole.ravel() if mask is None else whole[mask], width)
            watch(request, group, batch, target, flat, writes=True)

    return step


def _hold(batch: Batch, group: Group, target: Target, index: Array, width: int) -> None:
    """A strong store to global memory may be seen late by other CTAs."""
    shape = target.index.shape
    rows = np.nonzero(np.ones(shape, np.bool_) if target.mask is None else target.mask)[0]
    if batch.lateness is not None:
        batch.lateness.hold(target.memory.arena.data, index, group.warps[rows], width, batch.journal.scheduled)
