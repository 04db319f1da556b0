"""Bank conflicts and sectors on known patterns, and against counting by hand."""

import numpy as np
import pytest

from isa.types import b32, u32
from ptxgen.build import Module, pointer
from ptxgen.simulate import GlobalTraffic, SharedTraffic, simulate
from ptxgen.simulate.traffic import count_global, count_shared


def by_hand(offsets: list[int], active: list[bool], width: int) -> tuple[int, int]:
    """(passes, phases with a lane) of one warp, from the description of the banks."""
    per_phase = min(32, 128 // width)
    passes = phases = 0
    for first in range(0, 32, per_phase):
        words: dict[int, set[int]] = {}
        for lane in range(first, first + per_phase):
            if active[lane]:
                for word in range(offsets[lane] // 4, (offsets[lane] + width - 1) // 4 + 1):
                    words.setdefault(word % 32, set()).add(word)
        passes += max(map(len, words.values()), default=0)
        phases += bool(words)
    return passes, phases


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_shared_passes(width):
    rng = np.random.default_rng(width)
    for trial in range(40):
        spread = int(rng.choice([2, 8, 64, 1024]))
        offsets = rng.integers(0, spread, (3, 32)) * width
        mask = None if trial % 2 else rng.random((3, 32)) < 0.6
        traffic = SharedTraffic()
        count_shared(traffic, offsets, mask, width)
        active = np.ones((3, 32), bool) if mask is None else mask
        wanted = [by_hand(row.tolist(), use.tolist(), width) for row, use in zip(offsets, active, strict=True)]
        assert (traffic.passes, traffic.least) == tuple(map(sum, zip(*wanted, strict=True)))
        assert traffic.requests == int(active.any(axis=1).sum())


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_sectors(width):
    rng = np.random.default_rng(width)
    for trial in range(40):
        addresses = rng.integers(0, int(rng.choice([4, 40, 4000])), (2, 32)) * width + (1 << 40)
        mask = None if trial % 2 else rng.random((2, 32)) < 0.6
        traffic = GlobalTraffic()
        count_global(traffic, addresses, mask, width)
        rows = [
            row if mask is None else row[use]
            for row, use in zip(addresses, mask if mask is not None else addresses, strict=True)
        ]
        assert traffic.sectors == sum(len(set((row // 32).tolist())) for row in rows)
        assert traffic.bytes == sum(len(set(row.tolist())) for row in rows) * width


def strided(stride_words: int) -> Module:
    """Each thread stores to, then loads, a word of shared memory at its stride."""
    module = Module("sm_70")
    with module.kernel("strided", out=pointer(u32)) as k:
        tile = k.mov.u32(k.shared(b32, 32 * 33))
        place = k.mad.lo.u32(k.tid.x, 4 * stride_words, tile)
        k.st.shared.b32(place, k.tid.x)
        k.st.global_.b32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4 * stride_words)), k.ld.shared.b32(place))
    return module


@pytest.mark.parametrize("stride, ways", [(1, 1), (2, 2), (3, 1), (4, 4), (16, 16), (32, 32), (33, 1)])
def test_strides(stride, ways):
    out = np.zeros(32 * 33, np.uint32)
    report = simulate(strided(stride).build(), grid=1, block=32, args=(out,)).raise_findings()
    assert [site.shared.passes for site in report.shared_sites] == [ways, ways]
    assert report.conflicts == 2 * (ways - 1)
    (site,) = report.global_sites
    assert site.global_.sectors == min(32, 4 * stride)
    text = str(report)
    assert f"at worst {ways}-way" in text
    assert "st.shared.b32" in text
