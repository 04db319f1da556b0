"""Tilings of every kind for one product, for whoever tries them all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from attrs import evolve

from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import BlockOrder, grouped


def menu() -> Iterator[MatmulTiling]:
    """Other tilings that a product may be planned with, each different from the default in one or two choices."""
    base = MatmulTiling()
    for i, j in product((64, 128), repeat=2):
        yield evolve(base, i=i, j=j)
    for k in (16, 64):
        yield evolve(base, i=64, j=64, k=k)
    for count in (1, 2, 8):
        yield evolve(base, i=64, j=64, warps=count)
    yield evolve(base, warps=8)
    yield evolve(base, depth=1)
    yield evolve(base, depth=1, prefetch=False)
    yield evolve(base, prefetch=False)
    yield evolve(base, fragment_depth=1)
    yield evolve(base, isolate=False)
    yield evolve(base, raster=BlockOrder(1))
    yield evolve(base, raster=grouped(2))
    yield evolve(base, i=64, j=64, k=16, warps=1)
    yield evolve(base, i=64, k=16, warps=2, fragment_depth=1)
    yield evolve(base, j=64, k=16, depth=1, isolate=False)
    yield evolve(base, i=64, j=64, k=16, warps=8, isolate=False)
    yield evolve(base, i=128, j=64, k=64, warps=4, raster=BlockOrder(1))
    yield evolve(base, i=32, j=64, warps=2)
    yield evolve(base, i=64, j=32, warps=1, depth=1)
    yield evolve(base, i=128, j=128, k=16, warps=8, raster=grouped(4))
    yield evolve(base, i=32, j=32, warps=1, prefetch=False)
    yield evolve(base, i=256, j=64, warps=8)
    yield evolve(base, i=64, j=128, k=64, warps=4, prefetch=False)
    yield evolve(base, drain=32)
    yield evolve(base, i=64, j=64, k=16, warps=1, depth=1, isolate=False, drain=32)
