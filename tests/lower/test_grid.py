"""Block numbers to tile indices, and integer arithmetic, on the simulator against Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from isa.types import s32
from polyhedral import var
from ptxgen.build import Module, pointer
from ptxgen.lower.arithmetic import Arithmetic
from ptxgen.lower.context import Context, RoleThreads
from ptxgen.lower.grid import tile_indices
from ptxgen.lower.pool import SharedPool
from ptxgen.lower.threads import ThreadMap
from ptxgen.simulate import simulate
from ptxgen.tile import Grid, GridDim, Parameter, ParameterKind, Program, Quotient, Raster

SIZES = tuple(Parameter(name, ParameterKind.SIZE) for name in "ZMN")


def order(counts: tuple[int, ...], group: int):
    """The tiles in the order of the blocks, straight from the definition of the raster."""
    *outer, rows, columns = (1, 1, *counts)
    for above in itertools.product(*map(range, outer)):
        for first in range(0, rows, group):
            band = range(first, min(first + group, rows))
            for column, row in itertools.product(range(columns), band):
                yield (*above, row, column)[-len(counts) :]


@pytest.mark.parametrize("counts", [(7,), (5, 3), (1, 6), (9, 1), (2, 5, 3), (3, 4, 4)])
@pytest.mark.parametrize("group", [1, 2, 3, 8])
def test_every_tile_is_one_block_in_the_order_of_the_raster(counts, group) -> None:
    names = "ZMN"[-len(counts) :]
    grid = Grid(tuple(GridDim(f"cta.{name}", Quotient(var(name) + 1, 2)) for name in names), Raster(group))
    program = Program("kernel", "sm_70", SIZES, (), grid, (), ())
    module = Module("sm_70")
    with module.kernel("kernel", Z=s32, M=s32, N=s32, out=pointer(s32)) as k:
        context = Context(k, program, SharedPool({}, {}, 0, 16), None, RoleThreads(0, 1, True))
        with tile_indices(context, grid):
            out = k.mad.wide.u32(k.ctaid.x, 4 * len(counts), k.cvta.to.global_.u64(k.args.out))
            for place, name in enumerate(names):
                index = context.narrow.value(context.integer(context.resolved(var(f"cta.{name}"))))
                k.st.global_.b32(out + 4 * place, index)
    blocks = int(np.prod(counts))
    found = np.full((blocks, len(counts)), -1, np.int32)
    sizes = dict(zip(names, (2 * count - count % 2 for count in counts), strict=True))
    given = {"Z": 0, "M": 0, "N": 0, **sizes, "out": found}
    simulate(module.build(), grid=blocks, block=1, args=given).raise_findings()
    expected = list(order(counts, group))
    if group > 1 and len(counts) == 1:
        expected = [(n,) for n in range(counts[0])]
    assert [tuple(map(int, row)) for row in found] == expected
    assert len(set(expected)) == blocks


def test_clusters_cover_all_tiles_and_fill_up_beside_them() -> None:
    """Blocks of a cluster follow each other; bands of tiles are bands of clusters as high."""
    for counts, cluster, group in itertools.product(((5, 3), (4, 4), (1, 1)), ((2, 1), (1, 2), (2, 2), (4, 2)), (1, 4)):
        dims = zip("MN", cluster, strict=True)
        grid = Grid(tuple(GridDim(f"cta.{n}", Quotient(var(n) + 1, 2), c) for n, c in dims), Raster(group))
        program = Program("kernel", "sm_90", SIZES, (), grid, (), ())
        module = Module("sm_90")
        with module.kernel("kernel", Z=s32, M=s32, N=s32, out=pointer(s32)) as k:
            k.directive("reqnctapercluster", grid.cluster, 1, 1)
            context = Context(k, program, SharedPool({}, {}, 0, 16), None, RoleThreads(0, 1, True))
            with tile_indices(context, grid):
                out = k.mad.wide.u32(k.ctaid.x, 16, k.cvta.to.global_.u64(k.args.out))
                ranks = [var(f"cta.{n}.rank") * 1 for n, c in zip("MN", cluster, strict=True) if c > 1]
                for place, index in enumerate((var("cta.M"), var("cta.N"), *ranks)):
                    k.st.global_.b32(out + 4 * place, context.narrow.value(context.integer(context.resolved(index))))
        wide = tuple(-(-count // size) for count, size in zip(counts, cluster, strict=True))
        blocks = int(np.prod(wide)) * grid.cluster
        found = np.full((blocks, 4), -1, np.int32)
        sizes = {"Z": 0, **dict(zip("MN", (2 * count for count in counts), strict=True))}
        simulate(module.build(), grid=blocks, block=1, args={**sizes, "out": found}).raise_findings()
        expected = [
            (row * cluster[0] + i, column * cluster[1] + j)
            for row, column in order(wide, max(1, group // cluster[0]))
            for i, j in itertools.product(range(cluster[0]), range(cluster[1]))
        ]
        assert [tuple(map(int, line[:2])) for line in found] == expected
        assert set(itertools.product(*map(range, counts))) <= set(expected)
        for line, (i, j) in zip(found, expected, strict=True):
            own = [at % size for at, size in zip((i, j), cluster, strict=True) if size > 1]
            assert list(line[2 : 2 + len(own)]) == own


@pytest.mark.parametrize("bits", [32, 64])
def test_integer_arithmetic_agrees_with_python(bits) -> None:
    numbers = np.array([*range(-20, 21), -1000, 1000], np.int32 if bits == 32 else np.int64)
    divisors = (1, 2, 3, 5, 8, 12)

    def results(a: Arithmetic, x):
        found = []
        for d in divisors:
            found += [a.floor_quotient(x, d), a.remainder(x, d), a.multiply(x, d), a.multiply(-d, x)]
        found += [a.add(x, 0), a.add(5, x), a.subtract(x, x), a.subtract(0, x), a.subtract(7, x), a.subtract(x, 7)]
        found += [a.multiply_add(x, x, 3), a.multiply_add(x, -1, x), a.multiply_add(x, 0, 9), a.multiply_add(2, 3, x)]
        return [*found, a.minimum(x, 4), a.maximum(x, -4)]

    module = Module("sm_70")
    kind = f"s{bits}"
    with module.kernel("kernel", x=pointer(s32), out=pointer(s32)) as k:
        a = Arithmetic(k, bits)
        x = k.emit(f"ld.global.{kind}", k.mad.wide.u32(k.tid.x, bits // 8, k.cvta.to.global_.u64(k.args.x)))
        made = results(a, x)
        out = k.mad.wide.u32(k.tid.x, bits // 8 * len(made), k.cvta.to.global_.u64(k.args.out))
        for place, value in enumerate(made):
            k.emit(f"st.global.b{bits}", out + place * bits // 8, a.value(value))
    found = np.zeros((len(numbers), len(made)), numbers.dtype)
    simulate(module.build(), grid=1, block=len(numbers), args=[numbers, found]).raise_findings()
    python = Arithmetic(k, bits)
    for number, row in zip(numbers, found, strict=True):
        assert results(python, int(number)) == row.tolist()


def test_thread_maps_agree_with_their_definition() -> None:
    maps = [
        ThreadMap((1, 2, 4, 8, 16, 32)),
        ThreadMap((8, 0, 5, 1, 64, 2), 3),
        ThreadMap((0,) * 6, 9),
        ThreadMap((6, 6, 1, 3, 7, 128)),
    ]
    assert maps[0].flipped(21) == (ThreadMap(maps[0].images, 21), 0)
    assert maps[1].flipped(21) == (ThreadMap(maps[1].images, 3 ^ 5), 16)
    module = Module("sm_70")
    with module.kernel("kernel", out=pointer(s32)) as k:
        program = Program("kernel", "sm_70", (), (), Grid((), Raster()), (), ())
        context = Context(k, program, SharedPool({}, {}, 0, 16), None, RoleThreads(0, 2, True))
        out = k.mad.wide.u32(k.tid.x, 4 * len(maps), k.cvta.to.global_.u64(k.args.out))
        for place, each in enumerate(maps):
            k.st.global_.b32(out + 4 * place, context.narrow.value(context.thread_value(each)))
    found = np.zeros((64, len(maps)), np.int32)
    simulate(module.build(), grid=1, block=64, args=[found]).raise_findings()
    for thread, row in enumerate(found):
        for each, value in zip(maps, row, strict=True):
            expected = each.flip
            for bit, image in enumerate(each.images):
                expected ^= image if thread >> bit & 1 else 0
            assert value == expected
