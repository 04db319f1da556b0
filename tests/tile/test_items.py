"""Blocks that walk a work list, on the tile machine and as text."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from polyhedral import Affine, const, var
from ptxgen.compute import f32
from ptxgen.tile import (
    Advance,
    Copy,
    Counter,
    ForEachItem,
    Grid,
    GridDim,
    Loop,
    Meet,
    Node,
    Outside,
    Program,
    Quotient,
    Raster,
    Sequence,
    WorkList,
    show,
)
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.mutants import without_each_synchronisation
from tests.tile.programs import cooperative, held, here, kernel, memory, region, transposing

SEEDS = (None, 0, 1, 2)


def walked(workers: int | None, *, meets: bool = True) -> Program:
    """The transposing copy by blocks that take several tiles; they meet before a tile's buffer is filled anew."""
    program = transposing()
    body = Sequence((program.roles[0].body, Meet(0, ()))) if meets else program.roles[0].body
    grid = evolve(program.grid, work_list=WorkList(workers))
    return evolve(program, grid=grid, roles=(evolve(program.roles[0], body=ForEachItem("q", body)),))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("asked", "blocks"), [(1, 1), (2, 2), (5, 5), (6, 6), (40, 6)])
def test_every_tile_is_taken_once_by_no_more_blocks_than_tiles(asked: int, blocks: int, seed: int | None) -> None:
    x = np.random.default_rng(0).standard_normal((70, 33)).astype(np.float32)
    arrays = {"X": x, "Y": np.full((33, 70), np.nan, np.float32)}
    for program, workers in ((walked(asked), None), (walked(None), asked)):
        report = run(program, arrays, {"M": 70, "N": 33}, seed=seed, workers=workers)
        assert np.array_equal(report.arrays["Y"], x.T)
        assert report.blocks == blocks
        assert report.meetings == 12


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tile_s_buffer_filled_anew_without_a_meeting_is_a_race(seed: int | None) -> None:
    arrays = {"X": np.ones((70, 33), np.float32), "Y": np.zeros((33, 70), np.float32)}
    run(walked(6, meets=False), arrays, {"M": 70, "N": 33}, seed=seed)
    with pytest.raises(MachineFault) as caught:
        run(walked(1, meets=False), arrays, {"M": 70, "N": 33}, seed=seed)
    assert caught.value.code == "tile.race"


STEPS = var("K")
LINE = cooperative((32,), 0, 1, 0)
X, Y = memory("X", f32, (STEPS * 32,), (const(1),)), memory("Y", f32, (STEPS * 32 * 3,), (const(1),))
TILE = held("X.registers", f32, LINE)


def counting(by: Affine, *, where: str = "item") -> Program:
    """Three items, each of which copies all lines of X behind those that the items before it have copied: where they go
    is counted, since no affine expression of item and step says it."""
    step, past = var("t"), var("past")
    copies = Sequence(
        (
            Copy("load", region(X, step * 32), region(TILE), LINE, 1, (), Outside.ZERO, here()),
            Copy("store", region(TILE), region(Y, (past + step) * 32), LINE, 1, (), Outside.NEVER, here()),
        )
    )
    loop = Loop("t", (Quotient(const(0), 1),), (Quotient(STEPS - 1, 1),), 1, copies)
    advance = Advance("past", Quotient(by, 1))
    body: Node = ForEachItem("q", Sequence((loop, advance)))
    if where == "behind":
        body = Sequence((ForEachItem("q", loop), advance))
    program = kernel("counting", (), (X, Y, TILE), 1, Counter("past", body))
    grid = Grid((GridDim("cta.i", Quotient(const(3), 1)),), Raster(), WorkList(1))
    return evolve(program, grid=grid)


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_a_counter_goes_on_from_item_to_item(steps: int) -> None:
    x = np.random.default_rng(1).standard_normal(32 * steps).astype(np.float32)
    arrays = {"X": x, "Y": np.full(96 * steps, np.nan, np.float32)}
    report = run(counting(STEPS), arrays, {"K": steps})
    assert np.array_equal(report.arrays["Y"], np.tile(x, 3))
    for wrong in (counting(STEPS - 1), counting(STEPS, where="behind")):
        if steps:
            assert not np.array_equal(run(wrong, arrays, {"K": steps}).arrays["Y"], np.tile(x, 3))


def test_an_advance_of_what_nobody_counts_is_a_fault() -> None:
    program = counting(STEPS)
    body = program.roles[0].body
    assert isinstance(body, Counter)
    alone = evolve(program, roles=(evolve(program.roles[0], body=Sequence((Advance("past", Quotient(const(1), 1)),))),))
    with pytest.raises(MachineFault, match="past is advanced, which nothing counts here"):
        run(alone, {}, {"K": 1})


def test_an_advance_is_among_what_may_be_missing() -> None:
    mutants = list(without_each_synchronisation(counting(STEPS)))
    assert [type(mutant.removed) for mutant in mutants] == [Advance]
    assert "advance" not in show(mutants[0].program)


def test_the_text_says_who_walks_and_what_is_counted() -> None:
    lines = show(counting(STEPS)).splitlines()
    assert "  walked by 1 blocks: of W number w takes tiles w, w + W, ..." in lines
    assert lines[-6:-4] == ["  count past from 0:", "    for each item, number q:"]
    assert lines[-1] == "      advance past by K"
    assert "  walked by as many blocks as run at once: of W number w takes tiles w, w + W, ..." in show(
        walked(None)
    ).split("\n")


@pytest.mark.parametrize(
    ("group", "order"),
    [(1, [0, 1, 2, 3, 4, 5, 6, 7, 8]), (2, [0, 3, 1, 4, 2, 5, 6, 7, 8]), (4, [0, 3, 6, 1, 4, 7, 2, 5, 8])],
)
def test_items_come_in_the_order_of_the_raster(group: int, order: list[int]) -> None:
    """Each item writes the line of its tile behind the lines that are written already."""
    line = region(X, (var("cta.i") * 3 + var("cta.j")) * 32)
    body = Sequence(
        (
            Copy("load", line, region(TILE), LINE, 1, (), Outside.ZERO, here()),
            Copy("store", region(TILE), region(Y, var("past") * 32), LINE, 1, (), Outside.NEVER, here()),
            Advance("past", Quotient(const(1), 1)),
        )
    )
    dims = tuple(GridDim(f"cta.{name}", Quotient(const(3), 1)) for name in "ij")
    program = kernel("ordered", (), (X, Y, TILE), 1, Counter("past", ForEachItem("q", body)))
    program = evolve(program, grid=Grid(dims, Raster(group), WorkList(1)))
    x = np.repeat(np.arange(9, dtype=np.float32), 32)
    report = run(program, {"X": x, "Y": np.zeros(32 * 27, np.float32)}, {"K": 9})
    assert report.arrays["Y"][: 32 * 9 : 32].tolist() == order
