"""Stores in the background on the tile machine: programs written by hand, right and wrong, with numpy as judge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve

from isa.mechanisms import GroupKind
from polyhedral import const, var
from ptxgen.compute import f16, f32
from ptxgen.tile import (
    Carrier,
    Commit,
    Copy,
    Distribution,
    GridDim,
    Meet,
    Node,
    Outside,
    Program,
    ProxyFence,
    Retire,
    Sequence,
    SharedLayout,
    matrix_rows,
    show,
)
from ptxgen.tile.machine import MachineFault, run
from tests.tile.programs import cooperative, held, here, kernel, memory, region, shared, tiles

M, N = var("M"), var("N")
BULK = GroupKind.BULK
SEEDS = [None, 0, 1, 2, 3, 4, 5, 6, 7]
PIECES = 4
ROWS = cooperative((16, 32), 1, 2, 2)
LINEAR = SharedLayout.linear((16, 32), 1)
BOX = Distribution(
    (16, 32), tuple([(0, 1 << b) for b in range(5)] + [(1 << b, 0) for b in range(4)]), ((0, 0),) * 5, ()
)
X, Y = memory("X", f16, (M, N), (N, const(1))), memory("Y", f16, (M, N), (N, const(1)))
HELD = held("X.registers", f16, ROWS, PIECES)
ROW, COLUMN = var("cta.i") * (16 * PIECES), var("cta.j") * 32


def put(ring: object, number: int) -> Copy:
    source, target = region(HELD, rank=number), region(ring, rank=number)  # type: ignore[arg-type]
    return Copy("Y.shared", source, target, ROWS, 2, (), Outside.NEVER, here())


def store(ring: object, number: int) -> Copy:
    target = region(Y, ROW + 16 * number, COLUMN)
    source = region(ring, rank=number)  # type: ignore[arg-type]
    return Copy("Y", source, target, BOX, 1, (0, 1), Outside.NEVER, here(), Carrier.TENSOR)


def program(depth: int = 2, change: Callable[[list[Node]], list[Node]] = list) -> Program:
    """Y = X by four warps, four pieces of 16x32 a block through a ring: one meeting a piece."""
    ring = shared("Y.shared", f16, LINEAR, depth)
    body: list[Node] = [
        Copy("X.registers", region(X, ROW + 16 * n, COLUMN), region(HELD, rank=n), ROWS, 2, (0, 1), Outside.ANY, here())
        for n in range(PIECES)
    ]
    for number in range(PIECES):
        early: list[Node] = [Retire(BULK, max(0, depth - 2), (), reads_only=True)] if number >= depth - 1 else []
        free: list[Node] = [Retire(BULK, 0, (), reads_only=True), Meet(0, ())] if depth == 1 and number else []
        steps: list[Node] = [put(ring, number), ProxyFence(()), *(early if depth > 1 else []), Meet(0, ())]
        body += [*free, *steps, store(ring, number), Commit(BULK)]
    body.append(Retire(BULK, 0, ()))
    grid = (GridDim("cta.i", tiles(M, 16 * PIECES)), GridDim("cta.j", tiles(N, 32)))
    return kernel("storing", grid, (X, Y, HELD, ring), 4, Sequence(tuple(change(body))))


def outcome(made: Program, seed: int | None = None, size: tuple[int, int] = (70, 40)) -> np.ndarray:
    x = np.random.default_rng(3).standard_normal(size).astype(np.float16)
    report = run(made, {"X": x, "Y": np.full(size, np.nan, np.float16)}, dict(zip("MN", size, strict=True)), seed=seed)
    assert np.array_equal(report.arrays["Y"], x)
    return x


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_pieces_arrive_in_any_interleaving_and_stay_inside_the_array(depth: int, seed: int | None) -> None:
    outcome(program(depth), seed)
    outcome(program(depth), seed, (1, 2))


def without(*kinds: type[Node], keep: int = 0) -> Callable[[list[Node]], list[Node]]:
    """The body without the nodes of some kinds, but for the first `keep` of them."""

    def change(body: list[Node]) -> list[Node]:
        found = [node for node in body if isinstance(node, kinds)]
        return [node for node in body if not isinstance(node, kinds) or any(node is kept for kept in found[:keep])]

    return change


def last_waits_for_reads(body: list[Node]) -> list[Node]:
    assert isinstance(body[-1], Retire)
    return [*body[:-1], evolve(body[-1], reads_only=True)]


def one_more_is_pending(body: list[Node]) -> list[Node]:
    return [evolve(n, pending=n.pending + 1) if isinstance(n, Retire) and n.reads_only else n for n in body]


WRONG: dict[str, tuple[Callable[[list[Node]], list[Node]], set[str]]] = {
    "no fence": (without(ProxyFence), {"tile.proxy"}),
    "a fence too few": (without(ProxyFence, keep=3), {"tile.proxy"}),
    "no meeting": (without(Meet), {"tile.race", "tile.uninitialised", "tile.stale", "tile.proxy"}),
    "no commit": (without(Commit), {"tile.stale", "tile.inflight", "tile.race"}),
    "no wait": (without(Retire), {"tile.stale", "tile.inflight", "tile.race"}),
    "no wait at the end": (lambda body: body[:-1], {"tile.inflight"}),
    "the end waits for reads alone": (last_waits_for_reads, {"tile.inflight"}),
    "one more pending": (one_more_is_pending, {"tile.stale", "tile.race"}),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", WRONG)
def test_what_is_missing_is_a_fault_in_every_interleaving(name: str, seed: int | None) -> None:
    change, codes = WRONG[name]
    with pytest.raises(MachineFault) as caught:
        outcome(program(2, change), seed)
    assert caught.value.code in codes


def test_a_slot_filled_while_a_store_reads_it_is_a_fault_that_names_the_store() -> None:
    with pytest.raises(MachineFault, match=r"Y in warp 0 of all.*reads Y.shared where its tile is not, or no longer"):
        outcome(program(1, lambda body: [n for n in body if not isinstance(n, Retire) or not n.reads_only]))


def lying_over(meets: bool) -> Program:
    """Y = X through one ring, and Y again through a ring of f32 over it, which is as large."""
    ring = shared("Y.shared", f16, LINEAR, 2)
    over = evolve(shared("Z.shared", f32, SharedLayout.linear((16, 16), 0), 2), alias="Y.shared")
    wide = cooperative((16, 16), 1, 1, 2)
    z, given = memory("Z", f32, (const(16), const(16)), (const(16), const(1))), held("Z.registers", f32, wide)
    taken = held("Z.rows", f32, wide)
    back = held("Y.rows", f16, ROWS)
    body: list[Node] = [
        Copy("X.registers", region(X, 0, 0), region(HELD), ROWS, 2, (0, 1), Outside.ANY, here()),
        Copy("Z.registers", region(z, 0, 0), region(given), wide, 1, (), Outside.ANY, here()),
        put(ring, 0),
        Meet(0, ()),
        Copy("Y.rows", region(ring), region(back), ROWS, 2, (), Outside.ANY, here()),
        Copy("Y", region(back), region(Y, 0, 0), ROWS, 2, (0, 1), Outside.NEVER, here()),
        *([Meet(0, ())] if meets else []),
        Copy("Z.shared", region(given), region(over), wide, 1, (), Outside.NEVER, here()),
        Copy("Z.rows", region(over), region(taken), wide, 1, (), Outside.ANY, here()),
    ]
    return kernel("over", (), (X, Y, HELD, ring, z, given, over, taken, back), 4, Sequence(tuple(body)))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_ring_over_another_one_is_filled_behind_its_last_use(seed: int | None) -> None:
    x = np.ones((16, 32), np.float16)
    arrays: dict[str, np.ndarray] = {"X": x, "Y": 0 * x, "Z": np.ones((16, 16), np.float32)}
    assert (run(lying_over(True), arrays, {"M": 16, "N": 32}, seed=seed).arrays["Y"] == 1).all()
    with pytest.raises(MachineFault) as caught:
        run(lying_over(False), arrays, {"M": 16, "N": 32}, seed=seed)
    assert caught.value.code in ("tile.race", "tile.stale", "tile.uninitialised")


def test_what_was_overwritten_is_not_there_any_more() -> None:
    made = lying_over(True)
    (role,) = made.roles
    assert isinstance(role.body, Sequence)
    again = next(n for n in role.body.children if isinstance(n, Copy) and n.op == "Y.rows")
    late = evolve(made, roles=(evolve(role, body=Sequence((*role.body.children, Meet(0, ()), again))),))
    arrays: dict[str, np.ndarray] = {n: np.ones((16, 32), np.float16) for n in "XY"} | {
        "Z": np.ones((16, 16), np.float32)
    }
    with pytest.raises(MachineFault) as caught:
        run(late, arrays, {"M": 16, "N": 32})
    assert caught.value.code == "tile.uninitialised"


def test_matrices_are_put_as_they_are_fetched() -> None:
    """`stmatrix` is the way back of `ldmatrix`: lane l has word l mod 4 of row l div 4 of each matrix."""
    quads = Distribution(
        (16, 32), ((0, 1), (8, 0), (0, 8)), ((0, 2), (0, 4), (1, 0), (2, 0), (4, 0)), ((0, 16), (0, 0))
    )
    rows = matrix_rows(quads, 2, 1, 4)
    assert rows is not None
    ring, source = shared("Y.shared", f16, LINEAR, 1), held("X.registers", f16, quads)
    back = held("Y.rows", f16, ROWS)

    def made(reach: object) -> Program:
        body: list[Node] = [
            Copy("X.registers", region(X, 0, 0), region(source), quads, 2, (), Outside.ANY, here()),
            Copy("Y.shared", region(source), region(ring), quads, 8, (), Outside.NEVER, here(), Carrier.MATRIX, reach),  # type: ignore[arg-type]
            Meet(0, ()),
            Copy("Y.rows", region(ring), region(back), ROWS, 2, (), Outside.ANY, here()),
            Copy("Y", region(back), region(Y, 0, 0), ROWS, 2, (), Outside.NEVER, here()),
        ]
        return kernel("matrices", (), (X, Y, source, ring, back), 4, Sequence(tuple(body)))

    outcome(made(rows), size=(16, 32))
    turned = evolve(rows, reach=evolve(rows.reach, lanes=tuple(reversed(rows.reach.lanes))))
    with pytest.raises(MachineFault, match="matrices have other elements for each lane"):
        outcome(made(turned), size=(16, 32))


def test_the_printer_shows_fences_reads_and_what_lies_over_what() -> None:
    text = show(program())
    assert "proxy fence" in text
    assert "retire cp.async.bulk reads, pending 0" in text
    assert "16x16 x 2, 2048 bytes, over Y.shared" in show(lying_over(True))
    assert f"{4 * 16 * 32} shared bytes" in show(lying_over(True))
