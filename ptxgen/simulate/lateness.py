"""Strong writes that other CTAs see late, as the memory model lets them, until a fence says otherwise.

In a random order a relaxed or volatile write to global memory may stay unseen by strong reads of other CTAs for a
while: until its CTA passes a fence that reaches beyond it, or releases. Strong accesses do not race, so a fence that is
missing between them is no finding: what it does is that a result is wrong in some order.
"""

from __future__ import annotations

import random
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

_LONGEST = 512


@frozen(eq=False)
class Held:
    """Bytes of the arena that a CTA of the batch has written, sorted, what they held before, and until when others see
    that, in warp-instructions of the run."""

    cta: int
    places: Array
    before: Array
    until: int


@define(eq=False)
class Lateness:
    """What is held back in a batch whose CTAs have `warps_per_cta` warps."""

    chance: random.Random
    warps_per_cta: int
    held: list[Held] = field(factory=list)

    def hold(self, data: Array, index: Array, warps: Array, width: int, now: int) -> None:
        """Before a strong write of lanes of these warps to `index` in the arena's `data`: now and then hold it back."""
        places = (index[:, None] + np.arange(width)).ravel()
        self.held = [each for each in self.held if not np.isin(each.places, places).any()]
        owners = np.repeat(warps // self.warps_per_cta, width)
        for cta in np.unique(owners).tolist():
            if self.chance.random() < 0.5:
                own = np.unique(places[owners == cta])
                self.held.append(Held(cta, own, data[own].copy(), now + self.chance.randrange(_LONGEST)))

    def seen(self, values: Array, index: Array, warps: Array, width: int, now: int) -> Array:
        """What lanes of these warps read for `values` at `index`, [warps, 32] both."""
        self.held = [each for each in self.held if each.until > now]
        if not self.held:
            return values
        made = np.ascontiguousarray(values)
        parts = made.view(np.uint8).reshape(*made.shape, width).copy()
        places = index[..., None] + np.arange(width)
        for each in self.held:
            at = np.minimum(np.searchsorted(each.places, places), len(each.places) - 1)
            late = (each.places[at] == places) & (warps // self.warps_per_cta != each.cta)[:, None, None]
            parts = np.where(late, each.before[at], parts)
        return np.ascontiguousarray(parts).view(made.dtype)[..., 0]

    def show(self, warps: Array) -> None:
        """The CTAs of these warps pass a fence or release: what they have written is seen by all."""
        ctas = set((warps // self.warps_per_cta).tolist())
        self.held = [each for each in self.held if each.cta not in ctas]
