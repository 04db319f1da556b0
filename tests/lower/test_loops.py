"""Loops, conditions and rings: which tiles are visited, in which slot they lie."""

from __future__ import annotations

import numpy as np
import pytest

from polyhedral import const, var
from ptxgen.compute import f16, f32
from ptxgen.tile import Let, Loop, Meet, Node, Outside, Quotient, Sequence, SharedLayout, When
from tests.lower.programs import array, at, copy, program, registers, row_major, run, shared, text

HELD = row_major((8, 16), 4)
SOURCE, TARGET = array("A", f32, ("M", 16), ("lda", 1)), array("D", f32, ("M", 16), ("ldd", 1))
TILE = registers("A.registers", f32, HELD)
ROWS = 8 * 40


def one(value) -> Quotient:
    return Quotient(const(value) if isinstance(value, int) else value, 1)


def moved(index, guarded=False):
    """The 8 rows number `index` go from A to D."""
    origin, limits = (index * 8, 0), ((0,) if guarded else ())
    return Sequence(
        (
            copy(at(SOURCE, *origin), at(TILE), HELD, 4, limits, Outside.ZERO),
            copy(at(TILE), at(TARGET, *origin), HELD, 4, limits),
        )
    )


def visited(body, *more_parameters, rows=ROWS, **sizes) -> list[int]:
    """The numbers of the row blocks that a body copied."""
    whole = array("S", f32, more_parameters or (1,), (1,) * max(1, len(more_parameters)))
    made = program((SOURCE, TARGET, whole), (), body, TILE)
    a = np.random.default_rng(0).standard_normal((rows, 16)).astype(np.float32)
    d = np.zeros((rows, 20), np.float32)
    run(made, {"A": a, "D": d, "S": np.zeros(1, np.float32), "M": rows, "lda": 16, "ldd": 20, **sizes})
    full = np.zeros_like(a)
    found = [block for block in range(-(-rows // 8)) if d[8 * block : 8 * block + 8, :16].any()]
    for block in found:
        full[8 * block : 8 * block + 8] = a[8 * block : 8 * block + 8]
    assert (d[:, :16] == full).all()
    return found


X, Y, N, P = var("x"), var("y"), var("N"), var("P")
BOUNDS = [
    ((one(0),), (one(N - 1),), 1),
    ((one(0),), (Quotient(N, 3), Quotient(P * 2 + 1, 4)), 1),
    ((one(3), one(N - 6)), (one(P),), 2),
    ((Quotient(N - 9, 4), one(0)), (Quotient(-N + 30, 7), one(12)), 3),
    ((one(2),), (one(4),), 1),
    ((one(2),), (one(1),), 1),
    ((one(N),), (one(N + 3),), 2),
    ((one(N),), (one(N),), 1),
]


@pytest.mark.parametrize("lower, upper, step", BOUNDS)
@pytest.mark.parametrize("n, p", [(0, 0), (1, 5), (7, 9), (13, 3)])
def test_a_loop_visits_exactly_its_range(lower, upper, step, n, p) -> None:
    sizes = {"N": n, "P": p}
    first = max(q.numerator.evaluate(sizes) // q.divisor for q in lower)
    last = min(q.numerator.evaluate(sizes) // q.divisor for q in upper)
    assert visited(Loop("x", lower, upper, step, moved(X)), "N", "P", **sizes) == list(range(first, last + 1, step))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_nested_loops_and_quotients_inside(n) -> None:
    inner = Loop("y", (one(X),), (Quotient(X * 3 + 4, 2),), 1, moved(X * 8 + Y))
    expected = sorted({8 * x + y for x in range(n + 1) for y in range(x, (3 * x + 4) // 2 + 1)})
    assert visited(Loop("x", (one(0),), (one(N),), 1, inner), "N", N=n) == expected
    body = Let("q", Quotient(X * 5 - 7, 3), When((var("q") >= 0,), moved(var("q")), moved(X + 20)))
    chosen = sorted({q if q >= 0 else x + 20 for x in range(n + 1) for q in [(5 * x - 7) // 3]})
    assert visited(Loop("x", (one(0),), (one(N),), 1, body), "N", N=n) == chosen


def test_the_same_variable_binds_anew_in_each_loop() -> None:
    body = Sequence(
        (
            Loop("x", (one(0),), (one(1),), 1, moved(X)),
            Let("x", one(N), moved(X)),
            Loop("x", (one(8),), (one(N + 6),), 1, moved(X)),
        )
    )
    assert visited(body, "N", N=4) == [0, 1, 4, 8, 9, 10]


@pytest.mark.parametrize("n, expected", [(2, [5]), (3, [1]), (4, [9])])
def test_conditions_known_now_leave_one_side(n, expected) -> None:
    known = When((const(n) - 3 >= 0, (const(n) - 3).equals(0)), moved(const(1)), moved(const(5)))
    late = When((N - 4 >= 0, (N - 4).equals(0)), moved(const(9)), known)
    assert visited(late, "N", N=n) == expected
    assert text(program((SOURCE, TARGET), (), known, TILE)).count("bra") == 0


def test_rows_beyond_the_edge_are_left_alone_inside_a_loop() -> None:
    body = Loop("x", (one(0),), (Quotient(var("M") + 7, 8),), 1, moved(X, guarded=True))
    assert visited(body, rows=37) == [0, 1, 2, 3, 4]


def test_moving_addresses_cost_one_addition_each() -> None:
    body = Loop("x", (one(0),), (one(N - 1),), 1, moved(X))
    ptx = text(program((SOURCE, TARGET, array("S", f32, ("N",), (1,))), (), body, TILE))
    inside = ptx.split("$loop")[1].split("bra $loop")[0]
    opcodes = [line.split()[0].split(".")[0] for line in inside.splitlines()[1:] if line.strip() and ":" not in line]
    assert sorted(opcodes) == ["@%p1", "add", "add", "add", "ld", "setp", "st"]


def ring(depth: int, ahead: int, guarded: bool, rows: int = 8):
    """A pipeline through a ring: slab t + ahead is put while slab t is fetched; slabs are 8 x 16."""
    layout = SharedLayout((8, 16), ((16 ^ 4, 32 ^ 8, 64), (1, 2, 4, 8)))
    tile = shared("A.shared", f32, layout, depth)
    other = registers("A.other", f32, row_major((8, 16), 2))
    last = N - 1

    def put(index):
        return Sequence(
            (copy(at(SOURCE, index * 8, 0), at(TILE), HELD, 4), copy(at(TILE), at(tile, rank=index), HELD, 4))
        )

    def get(index):
        held = other.distribution
        return Sequence(
            (
                copy(at(tile, rank=index), at(other), held, 2),
                copy(at(other), at(TARGET, index * 8, 0), held, 2),
            )
        )

    early = Sequence(tuple(When((last - n >= 0,), put(const(n))) for n in range(ahead)))
    fill = When((last - X - ahead >= 0,), put(X + ahead)) if guarded else put(X + ahead)
    steady = Sequence((Meet(0, ()), get(X), Meet(0, ()), fill))
    if guarded:
        rounds: Node = Loop("x", (one(0),), (one(last),), 1, steady)
    else:
        drain = Loop("x", (one(0), one(last - ahead + 1)), (one(last),), 1, Sequence((Meet(0, ()), get(X))))
        rounds = Sequence((Loop("x", (one(0),), (one(last - ahead),), 1, steady), drain))
    return program((SOURCE, TARGET, array("S", f32, ("N",), (1,))), (), Sequence((early, rounds)), TILE, tile, other)


@pytest.mark.parametrize("depth, ahead", [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 3), (5, 2)])
@pytest.mark.parametrize("guarded", [False, True])
def test_rings_of_any_depth(depth, ahead, guarded) -> None:
    made = ring(depth, ahead, guarded)
    for slabs in (0, 1, depth - 1, depth, depth + 1, 2 * depth + 3):
        a = np.random.default_rng(slabs).standard_normal((max(1, slabs) * 8, 16)).astype(np.float32)
        d = np.zeros((max(1, slabs) * 8, 16), np.float32)
        run(made, {"A": a, "D": d, "S": np.zeros(1, np.float32), "M": 8 * slabs, "lda": 16, "ldd": 16, "N": slabs})
        assert (d[: slabs * 8] == a[: slabs * 8]).all()
        assert slabs or not d.any()


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("n", [0, 1])
def test_a_side_that_moves_on_in_the_ring_leaves_the_rest_where_it_was(depth, n) -> None:
    """Slabs 0 to 1 lie in the ring; each round reads its own slab, and in rounds below N the next one before that."""
    tile, other = shared("A.shared", f32, SharedLayout.linear((8, 16), 1), depth), registers("A.other", f32, HELD)

    def get(rank, block):
        return Sequence(
            (copy(at(tile, rank=rank), at(other), HELD, 4), copy(at(other), at(TARGET, block * 8, 0), HELD, 4))
        )

    fills = [
        Sequence((copy(at(SOURCE, 8 * slab, 0), at(TILE), HELD, 4), copy(at(TILE), at(tile, rank=slab), HELD, 4)))
        for slab in range(2)
    ]
    rounds = Loop(
        "x", (one(0),), (one(var("M") - 2),), 1,
        Sequence((When((N - X - 1 >= 0,), get(X + 1, X + 4), get(X, X + 4)), get(X, X))),
    )  # fmt: skip
    made = program(
        (SOURCE, TARGET, array("S", f32, ("N",), (1,))), (), Sequence((*fills, Meet(0, ()), rounds)), TILE, tile, other
    )
    a, d = np.random.default_rng(2).standard_normal((16, 16)).astype(np.float32), np.zeros((48, 16), np.float32)
    run(made, {"A": a, "D": d, "S": np.zeros(1, np.float32), "M": 3, "lda": 16, "ldd": 16, "N": n})
    assert (d[:16] == a).all()
    assert (d[32:40] == a[8 * n : 8 * n + 8]).all()
    assert (d[40:48] == a[8:]).all()


def test_two_slots_are_changed_by_one_instruction() -> None:
    ptx = text(ring(2, 1, False))
    steady = ptx.split("$loop")[1]
    assert steady.count("xor.b32") == 2
    assert "setp.ge.u32" not in steady


def test_halves_move_inside_loops() -> None:
    """Elements of 16 bits one by one: halves are packed into registers in each round."""
    held = row_major((8, 16), 4)
    source, target = array("A", f16, ("M", 16), ("lda", 1)), array("D", f16, ("M", 16), (1, "M"))
    tile = registers("A.registers", f16, held)
    body = Loop(
        "x", (one(0),), (one(N - 1),), 1,
        Sequence((copy(at(source, X * 8, 0), at(tile), held, 1), copy(at(tile), at(target, X * 8, 0), held, 1))),
    )  # fmt: skip
    made = program((source, target, array("S", f32, ("N",), (1,))), (), body, tile, alignment=2)
    a, d = np.random.default_rng(1).standard_normal((24, 17)).astype(np.float16), np.zeros((16, 24), np.float16)
    run(made, {"A": a, "D": d, "S": np.zeros(1, np.float32), "M": 24, "lda": 17, "N": 3})
    assert (d == a[:, :16].T).all()


def test_an_inner_loop_that_asks_for_the_outer_counter_gets_it() -> None:
    """The outer loop walks along rows, where a moving address could close it, but its counter bounds the inner loop."""
    source, target = array("A", f32, ("M", "K"), ("lda", 1)), array("D", f32, ("M", "K"), ("ldd", 1))

    def block(row, column):
        return Sequence(
            (
                copy(at(source, row * 8, column * 16), at(TILE), HELD, 4),
                copy(at(TILE), at(target, row * 8, column * 16), HELD, 4),
            )
        )

    body = Loop(
        "x", (one(0),), (one(2),), 1,
        Sequence((block(const(0), X), Loop("y", (one(1),), (one(X),), 1, block(Y, X)))),
    )  # fmt: skip
    a, d = np.random.default_rng(4).standard_normal((24, 48)).astype(np.float32), np.zeros((24, 48), np.float32)
    run(program((source, target), (), body, TILE), {"A": a, "D": d, "M": 24, "K": 48, "lda": 48, "ldd": 48})
    blocks = np.kron(np.triu(np.ones((3, 3), bool)), np.ones((8, 16), bool))
    assert (d == np.where(blocks, a, 0)).all()
