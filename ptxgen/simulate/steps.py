"""From what an instruction computes to a step that binds its destinations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Compute, Reader, Site


def assigned(site: Site, compute: Compute) -> Step:
    """The step that writes what `compute` gives (an array, or a tuple in the order of the destinations), under the
    guard.
    """
    places = site.destinations()
    guard = site.guard()
    if len(places) == 1 and places[0] is not None:
        return _single(site, places[0], compute, guard)
    writers = [assign(site, place) for place in places]

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        values = compute(r)
        keep = guard(r) if guard is not None else None
        for write, value in zip(writers, values, strict=True):
            write(r, value, keep)

    return step


def _single(site: Site, place: int, compute: Compute, guard: Reader | None) -> Step:
    dtype = site.bank.dtypes[place]
    itemsize = dtype.itemsize
    if guard is None:

        def step(group: Group, batch: Batch) -> None:
            r = group.registers
            value = compute(r)
            r[place] = value.view(dtype) if value.itemsize == itemsize else fitted(value, dtype)

        return step
    write = assign(site, place)

    def guarded(group: Group, batch: Batch) -> None:
        r = group.registers
        write(r, compute(r), guard(r))

    return guarded


def assign(site: Site, place: int | None) -> Callable[[list[Any], Array, Array | None], None]:
    """A writer of one register: the value as its bits, extended to its width, where the guard holds."""
    if place is None:
        return lambda r, value, keep: None
    dtype = site.bank.dtypes[place]

    def write(r: list[Any], value: Array, keep: Array | None) -> None:
        bits = fitted(value, dtype)
        old = r[place]
        r[place] = bits if keep is None or old is None else np.where(keep, bits, old)

    return write


def fitted(value: Array, dtype: np.dtype[Any]) -> Array:
    """A value as the bits of a register; a narrower integer is extended by its own sign, a wider one cut."""
    if value.dtype == dtype:
        return value
    if value.dtype.itemsize == dtype.itemsize:
        return value.view(dtype)
    return value.astype(np.dtype(f"{'i' if value.dtype.kind == 'i' else 'u'}{dtype.itemsize}")).view(dtype)
