"""Extended precision: sums and differences with the carry flag of the thread."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.semantics.integers import mul
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Compute, Site
from ptxgen.simulate.steps import assign

_WITH_CARRY = frozenset({"addc", "subc", "madc"})


def carried(site: Site) -> Step:
    """`add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`: `.cc` writes the flag, the names in `c` read it."""
    flag = site.bank.carry()
    compute = _sum(site, flag, reads=site.opcode in _WITH_CARRY)
    write = assign(site, site.destinations()[0])
    guard, keeps = site.guard(), site.has("cc")

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        value, carry = compute(r)
        keep = guard(r) if guard is not None else None
        write(r, value, keep)
        if keeps:
            r[flag] = carry if keep is None else np.where(keep, carry, r[flag])

    return step


def _sum(site: Site, flag: int, reads: bool) -> Compute:
    """(result, carry) of a + b + carry, or of a - b - 1 + carry on unsigned words.

    A difference leaves the carry of a + ~b + 1, which is set where nothing was borrowed: so compiled divisions of 128
    bits, which read it by `addc` after `subc.cc`, have it.
    """
    bits = site.type(0).bits
    unsigned: Any = np.dtype(f"u{bits // 8}").type
    product = mul(site) if site.opcode in ("mad", "madc") else site.read(1, unsigned)
    addend = site.read(3 if site.opcode in ("mad", "madc") else 2, unsigned)
    difference = site.opcode in ("sub", "subc")

    def compute(r: list[Array]) -> tuple[Array, Array]:
        a, b = product(r).view(unsigned), addend(r)
        if difference:
            borrowed = (~r[flag]).astype(unsigned) if reads else unsigned(0)
            first = a - b
            return first - borrowed, ~((a < b) | (first < borrowed))
        incoming = r[flag].astype(unsigned) if reads else unsigned(0)
        first = a + b
        second = first + incoming
        return second, (first < a) | (second < first)

    return compute
