"""Blocks that walk a work list, and counters that go on, on the simulator against Python."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from isa.types import s32
from polyhedral import const, var
from ptxgen.build import Module, pointer
from ptxgen.lower.context import Context, RoleThreads
from ptxgen.lower.items import lower_advance, lower_counter, lower_items, period
from ptxgen.lower.pool import SharedPool
from ptxgen.simulate import simulate
from ptxgen.tile import (
    Advance,
    Counter,
    ForEachItem,
    Grid,
    GridDim,
    Node,
    Parameter,
    ParameterKind,
    Program,
    Quotient,
    Raster,
    Ring,
    Sequence,
    WorkList,
)
from tests.lower.test_grid import order

SIZES = tuple(Parameter(name, ParameterKind.SIZE) for name in "ZMN")


def program_of(counts: tuple[int, ...], group: int, depths: tuple[int, ...] = ()) -> Program:
    dims = tuple(GridDim(f"cta.{name}", Quotient(var(name) + 1, 2)) for name in "ZMN"[-len(counts) :])
    program = Program("kernel", "sm_90", SIZES, (), Grid(dims, Raster(group), WorkList()), (), ())
    return evolve(program, rings=tuple(Ring(f"ring {depth}", depth, 16, 1) for depth in depths))


def items_taken(counts: tuple[int, ...], group: int, workers: int, by: int, depths: tuple[int, ...]) -> np.ndarray:
    """What each block writes for each of its items: the item's number, a counter that goes on by `by`, the indices."""
    program, places = program_of(counts, group, depths), len(counts) + 2
    tiles = int(np.prod(counts))
    each = -(-tiles // workers)
    found = np.full((workers, each, places), -1, np.int32)
    module = Module("sm_90")
    with module.kernel("kernel", Z=s32, M=s32, N=s32, out=pointer(s32)) as k:
        context = Context(k, program, SharedPool({}, {}, 0, 16), None, RoleThreads(0, 1, True))
        start = k.mad.wide.u32(k.ctaid.x, 4 * each * places, k.cvta.to.global_.u64(k.args.out))

        def lower_node(context: Context, node: Node) -> None:
            match node:
                case ForEachItem():
                    lower_items(context, node, lower_node)
                case Advance():
                    lower_advance(context, node)
                case Sequence(children):
                    for child in children:
                        lower_node(context, child)
                    return
            if not isinstance(node, Advance):
                return
            row = k.mad.wide.u32(context.narrow.value(context.integer(context.resolved(var("q")))), 4 * places, start)
            for place, name in enumerate(("q", "past", *(dim.variable for dim in program.grid.dims))):
                value = context.narrow.value(context.integer(context.resolved(var(name))))
                k.st.global_.b32(row + 4 * place, value)

        advance = Advance("past", Quotient(const(2 * by + 1), 2))
        lower_counter(context, Counter("past", ForEachItem("q", Sequence((advance,)))), lower_node)
    sizes = dict(zip("ZMN"[-len(counts) :], (2 * count - count % 2 for count in counts), strict=True))
    simulate(
        module.build(), grid=workers, block=1, args={"Z": 0, "M": 0, "N": 0, **sizes, "out": found}
    ).raise_findings()
    return found


@pytest.mark.parametrize("counts", [(7,), (5, 3), (1, 6), (9, 1), (2, 5, 3), (3, 4, 4)])
@pytest.mark.parametrize("group", [1, 2, 8])
@pytest.mark.parametrize("share", [1, 2, 5, None])
def test_the_work_list_is_a_bijection(counts: tuple[int, ...], group: int, share: int | None) -> None:
    tiles = int(np.prod(counts))
    workers = min(share or tiles, tiles)
    found = items_taken(counts, group, workers, 7, (3, 4))
    expected = list(order(counts, group)) if len(counts) > 1 else [(n,) for n in range(counts[0])]
    taken = []
    for worker, rows in enumerate(found.tolist()):
        own = [row for row in rows if row[0] >= 0]
        assert [row[0] for row in own] == list(range(len(own)))
        assert [tuple(row[2:]) for row in own] == expected[worker::workers]
        assert [row[1] for row in own] == [7 * (number + 1) % 24 for number in range(len(own))]
        taken += [tuple(row[2:]) for row in own]
    assert sorted(taken) == sorted(expected)


@pytest.mark.parametrize(("depths", "after"), [((), 1), ((3,), 6), ((4,), 8), ((3, 4), 24), ((2, 7), 28)])
def test_slots_and_parities_repeat_after_the_period(depths: tuple[int, ...], after: int) -> None:
    program = program_of((2, 2), 1, depths)
    assert period(program) == after
    for depth in depths:
        for rank in range(3 * after):
            assert (rank % depth, rank // depth % 2) == (rank % after % depth, rank % after // depth % 2)
