"""Tiles along Hilbert's curve, on the simulator against the curve as its grammar draws it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from isa.types import s32
from polyhedral import const, var
from ptxgen.build import Module, pointer
from ptxgen.lower.context import Context, RoleThreads
from ptxgen.lower.grid import tile_indices
from ptxgen.lower.pool import SharedPool
from ptxgen.simulate import simulate
from ptxgen.tile import Grid, GridDim, Parameter, ParameterKind, Program, Quotient, Raster
from ptxgen.tile.machine.rasters import in_order

SIZES = tuple(Parameter(name, ParameterKind.SIZE) for name in "ZMN")
Place = tuple[int, ...]


def drawn(side: int) -> list[tuple[int, int]]:
    """The curve by its grammar, A -> +BF-AFA-FB+ and B -> -AF+BFB+FA-, as (column, row) from the first corner on; +
    turns left and - right, and the first step goes along the diagonal's other side where the order is odd."""
    word = "A"
    for _ in range(side.bit_length() - 1):
        word = "".join({"A": "+BF-AFA-FB+", "B": "-AF+BFB+FA-"}.get(letter, letter) for letter in word)
    place, step, found = (0, 0), (1, 0), [(0, 0)]
    for letter in word:
        if letter == "+":
            step = (-step[1], step[0])
        elif letter == "-":
            step = (step[1], -step[0])
        elif letter == "F":
            place = (place[0] + step[0], place[1] + step[1])
            found.append(place)
    return found if found[-1][1] == 0 else [(row, column) for column, row in found]


def squares(rows: int, columns: int, side: int) -> list[Place]:
    """All tiles, straight from the definition of the raster."""
    found: list[Place] = []
    for band, top in enumerate(range(0, rows, side)):
        height = min(side, rows - top)
        places: list[Place] = []
        for left in range(0, columns, side):
            width = min(side, columns - left)
            whole = (height, width) == (side, side)
            inside = drawn(side) if whole else list(itertools.product(range(width), range(height)))
            places += [(top + row, left + column) for column, row in inside]
        found += [(row, columns - 1 - column) if band % 2 else (row, column) for row, column in places]
    return found


def on_device(counts: tuple[int, ...], raster: Raster, cluster: tuple[int, ...] = ()) -> list[Place]:
    """The tile of each block, as a kernel computes it."""
    names, beside = "ZMN"[-len(counts) :], cluster or (1,) * len(counts)
    dims = zip(names, beside, strict=True)
    grid = Grid(tuple(GridDim(f"cta.{n}", Quotient(var(n) + 1, 2), c) for n, c in dims), raster)
    program = Program("kernel", "sm_90", SIZES, (), grid, (), ())
    module = Module("sm_90")
    with module.kernel("kernel", Z=s32, M=s32, N=s32, out=pointer(s32)) as k:
        if cluster:
            k.directive("reqnctapercluster", grid.cluster, 1, 1)
        context = Context(k, program, SharedPool({}, {}, 0, 16), None, RoleThreads(0, 1, True))
        with tile_indices(context, grid):
            out = k.mad.wide.u32(k.ctaid.x, 4 * len(counts), k.cvta.to.global_.u64(k.args.out))
            for place, name in enumerate(names):
                index = context.narrow.value(context.integer(context.resolved(var(f"cta.{name}"))))
                k.st.global_.b32(out + 4 * place, index)
    blocks = int(np.prod([-(-count // size) * size for count, size in zip(counts, beside, strict=True)]))
    found = np.full((blocks, len(counts)), -1, np.int32)
    sizes = dict(zip(names, (2 * count - count % 2 for count in counts), strict=True))
    given = [sizes.get(name, 0) for name in "ZMN"]
    simulate(module.build(), grid=blocks, block=1, args=(*given, found)).raise_findings()
    return [tuple(map(int, row)) for row in found]


@pytest.mark.parametrize("side", [2, 4, 8, 16])
@pytest.mark.parametrize("counts", [(16, 16), (1, 1), (5, 3), (9, 20), (33, 17), (1, 40), (40, 1)], ids=str)
def test_every_tile_is_one_block_along_the_curve(counts: tuple[int, int], side: int) -> None:
    found = on_device(counts, Raster(side, True))
    assert found == squares(counts[0], counts[1], side)
    assert sorted(found) == list(itertools.product(*map(range, counts)))
    assert in_order(list(counts), Raster(side, True)) == found


def test_every_rectangle_is_covered_once() -> None:
    for rows, columns, side in itertools.product(range(1, 20), range(1, 20), (2, 4, 8)):
        found = in_order([rows, columns], Raster(side, True))
        assert found == squares(rows, columns, side)
        assert len(set(found)) == len(found) == rows * columns


@pytest.mark.slow
def test_every_rectangle_is_covered_once_on_the_device() -> None:
    for rows, columns, side in itertools.product(range(1, 12), range(1, 12), (2, 4, 8)):
        assert on_device((rows, columns), Raster(side, True)) == squares(rows, columns, side)


@pytest.mark.parametrize("side", [2, 4, 8, 16])
def test_neighbours_in_time_are_neighbours(side: int) -> None:
    """Within a square and from a square to the next one."""
    for rows, columns in ((side, 4 * side), (2 * side, 2 * side)):
        found = in_order([rows, columns], Raster(side, True))
        ends = {columns * side - 1} if rows > side else set()
        for number, (first, second) in enumerate(itertools.pairwise(found)):
            apart = abs(first[0] - second[0]) + abs(first[1] - second[1])
            assert apart == (1 if number not in ends else side), (first, second)


def test_batches_are_planes_one_after_the_other() -> None:
    found = on_device((3, 9, 6), Raster(4, True))
    assert found == [(plane, *place) for plane in range(3) for place in squares(9, 6, 4)]
    assert in_order([3, 9, 6], Raster(4, True)) == found
    assert on_device((7,), Raster(4, True)) == [(n,) for n in range(7)]


@pytest.mark.parametrize("cluster", [(2, 1), (1, 2), (3, 1), (2, 2)], ids=str)
def test_clusters_follow_the_curve(cluster: tuple[int, int]) -> None:
    """A square is as many tiles high as one without clusters, or the next smaller power of two of clusters."""
    counts = (20, 18)
    wide = tuple(-(-count // size) for count, size in zip(counts, cluster, strict=True))
    side = {1: 8, 2: 4, 3: 2}[cluster[0]]
    expected = [
        (row * cluster[0] + i, column * cluster[1] + j)
        for row, column in squares(wide[0], wide[1], side)
        for i, j in itertools.product(range(cluster[0]), range(cluster[1]))
    ]
    assert on_device(counts, Raster(8, True), cluster) == expected


def test_constant_sizes() -> None:
    """Counts that are known while the kernel is written."""
    dims = tuple(GridDim(f"cta.{n}", Quotient(const(c), 1)) for n, c in (("M", 9), ("N", 20)))
    grid = Grid(dims, Raster(4, True))
    module = Module("sm_90")
    with module.kernel("kernel", out=pointer(s32)) as k:
        context = Context(k, Program("kernel", "sm_90", (), (), grid, (), ()), SharedPool({}, {}, 0, 16), None,
                          RoleThreads(0, 1, True))  # fmt: skip
        with tile_indices(context, grid):
            out = k.mad.wide.u32(k.ctaid.x, 8, k.cvta.to.global_.u64(k.args.out))
            for place, name in enumerate("MN"):
                index = context.narrow.value(context.integer(context.resolved(var(f"cta.{name}"))))
                k.st.global_.b32(out + 4 * place, index)
    found = np.full((180, 2), -1, np.int32)
    simulate(module.build(), grid=180, block=1, args={"out": found}).raise_findings()
    assert [tuple(map(int, row)) for row in found] == squares(9, 20, 4)
