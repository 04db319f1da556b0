"""What caches are told: policies, and content that nobody wants any more."""

from __future__ import annotations

import numpy as np

from ptxgen.simulate.accesses import request_of, targets
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.memory import ALLOCATED
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Site
from ptxgen.simulate.steps import assigned

DISCARDED_BYTES = 128
_WORD_BYTES = 8
REFUSED_PREFIXES = {
    "multimem": "memory of several devices at once",
    "tex": "textures", "tld4": "textures", "txq": "textures", "istypep": "textures and surfaces",
    "suld": "surfaces", "sust": "surfaces", "sured": "surfaces", "suq": "surfaces",
    "tcgen05": "tensor memory",
}  # fmt: skip


def policy(site: Site) -> Step:
    """A cache policy, which is opaque: zero."""
    nothing = np.zeros((1, 1), np.uint64)
    return assigned(site, lambda r: nothing)


def discard(site: Site) -> Step:
    """The 128 bytes at an address count as never written."""
    request = request_of(site, 0, _WORD_BYTES)
    places = np.arange(0, DISCARDED_BYTES, _WORD_BYTES)

    def step(group: Group, batch: Batch) -> None:
        for target in targets(request, group, batch, reads=False):
            index: Array = target.index.ravel() if target.mask is None else target.index[target.mask]
            target.memory.arena.mark((index[:, None] + places).ravel(), _WORD_BYTES, ALLOCATED)

    return step
