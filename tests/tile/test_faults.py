"""Programs that are wrong: the machine names what happens, whatever the interleaving."""

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve

from polyhedral import const, var
from ptxgen.compute import Operand, ReductionOp, SourceLine, f16, f32
from ptxgen.tile import (
    Copy,
    Distribution,
    Fill,
    Iteration,
    Let,
    Loop,
    Map,
    MapOperand,
    Meet,
    Node,
    Outside,
    Program,
    Quotient,
    Reduce,
    Role,
    Sequence,
    SharedLayout,
    When,
)
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.mutants import Mutant, without_each_synchronisation
from tests.tile.programs import Matmul, cooperative, copying, held, here, kernel, memory, region, shared, transposing

SEEDS = [None, 0, 1, 2, 3, 4]
MATMUL = Matmul((32, 32, 8), (2, 2)).program()


def matmul_arrays(k: int) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    a, b = np.ones((32, k), np.float16), np.ones((k, 32), np.float16)
    arrays: dict[str, np.ndarray] = {
        "A": a,
        "B": b,
        "bias": np.zeros(32, np.float32),
        "D": np.zeros((32, 32), np.float32),
    }
    return arrays, {"M": 32, "N": 32, "K": k}


def transposing_arrays() -> tuple[dict[str, np.ndarray], dict[str, int]]:
    return {"X": np.ones((32, 32), np.float32), "Y": np.zeros((32, 32), np.float32)}, {"M": 32, "N": 32}


def rewritten(program: Program, change: Callable[[Node], Node]) -> Program:
    """The program with every leaf replaced by `change(leaf)`."""

    def walk(node: Node) -> Node:
        match node:
            case Sequence(children):
                return Sequence(tuple(map(walk, children)))
            case Loop(body=body) | Let(body=body):
                return evolve(node, body=walk(body))
            case When():
                return evolve(node, then=walk(node.then))
            case _:
                return change(node)

    roles = tuple(evolve(role, body=walk(role.body)) for role in program.roles)
    return evolve(program, roles=roles)


def test_each_meeting_is_removed_once() -> None:
    mutants = list(without_each_synchronisation(MATMUL))
    assert [(mutant.role, mutant.position) for mutant in mutants] == [("all", 0), ("all", 1)]
    assert all(mutant.program != MATMUL for mutant in mutants)
    assert all(len(list(without_each_synchronisation(mutant.program))) == 1 for mutant in mutants)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mutant", list(without_each_synchronisation(MATMUL)), ids=lambda mutant: str(mutant.position))
def test_a_matmul_without_one_of_its_meetings_is_a_fault(mutant: Mutant, seed: int | None) -> None:
    arrays, sizes = matmul_arrays(24)
    with pytest.raises(MachineFault):
        run(mutant.program, arrays, sizes, seed=seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_transposition_without_its_meeting_is_a_race_of_both_ops(seed: int | None) -> None:
    (mutant,) = without_each_synchronisation(transposing())
    arrays, sizes = transposing_arrays()
    with pytest.raises(MachineFault) as caught:
        run(mutant.program, arrays, sizes, seed=seed)
    assert caught.value.code in ("tile.race", "tile.uninitialised")
    if caught.value.code == "tile.race":
        for words in ("X.shared", "Y.registers", "warp 0 of all", "element (", "no meeting between"):
            assert words in str(caught.value)
        assert caught.value.findings[0].related[0][1] is not None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_ring_that_is_too_shallow_is_a_fault(seed: int | None) -> None:
    arrays, sizes = matmul_arrays(24)
    with pytest.raises(MachineFault):
        run(Matmul((32, 32, 8), (2, 2), depth=1).program(), arrays, sizes, seed=seed)


def test_a_deeper_ring_is_none() -> None:
    arrays, sizes = matmul_arrays(24)
    assert (run(Matmul((32, 32, 8), (2, 2), depth=3).program(), arrays, sizes).arrays["D"] == 24).all()


def test_a_tile_that_another_one_has_replaced_is_stale() -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Copy) and node.op == "A.shared":
            return evolve(node, destination=evolve(node.destination, rank=node.destination.rank + 2))
        return node

    arrays, sizes = matmul_arrays(8)
    with pytest.raises(MachineFault, match=r"tile 0 of A\.shared, but tile 2 is in its slot") as caught:
        run(rewritten(MATMUL, change), arrays, sizes)
    assert caught.value.code == "tile.stale"


def test_an_accumulator_without_a_start_is_uninitialised() -> None:
    program = rewritten(MATMUL, lambda node: Sequence(()) if isinstance(node, Fill) else node)
    arrays, sizes = matmul_arrays(8)
    with pytest.raises(MachineFault, match="part of C, which was never written") as caught:
        run(program, arrays, sizes)
    assert caught.value.code == "tile.uninitialised"


def test_a_copy_that_leaves_the_array_unguarded_is_out_of_bounds() -> None:
    arrays = {"X": np.ones((16, 20), np.float32), "Y": np.zeros((16, 20), np.float32)}
    with pytest.raises(MachineFault, match=r"element \(0, 20\) is outside X \[16, 20\]") as caught:
        run(copying(guarded=(0,)), arrays, {"M": 16, "N": 20, "ldx": 20})
    assert caught.value.code == "tile.bounds"
    line = caught.value.findings[0].origin
    assert line is not None
    assert line.file.endswith("programs.py")


@pytest.mark.parametrize(
    "n, ldx, words",
    [(18, 20, "lie only partly inside X"), (20, 22, "are not aligned neighbours in X")],
)
def test_an_access_of_several_elements_is_whole_and_aligned(n: int, ldx: int, words: str) -> None:
    arrays = {"X": np.ones((16, ldx), np.float32), "Y": np.zeros((16, n), np.float32)}
    with pytest.raises(MachineFault, match=words) as caught:
        run(copying(vector=4), arrays, {"M": 16, "N": n, "ldx": ldx})
    assert caught.value.code == "tile.vector"


def one_tile(warps: int, *body: Node) -> Program:
    """A program of one block over X and Y of 32 elements."""
    return kernel("one_tile", (), BUFFERS, warps, Sequence(body))


LINE = cooperative((32,), 0, 1, 1)
X, Y = (memory(name, f32, (const(32),), (const(1),)) for name in "XY")
TILE = held("X.registers", f32, LINE)
SCRAMBLED = shared("X.shared", f32, SharedLayout((32,), ((1, 4, 2, 8, 16),)), 1)
BUFFERS = (X, Y, TILE, SCRAMBLED)
ARRAYS = {"X": np.arange(32, dtype=np.float32), "Y": np.zeros(32, np.float32)}


def load(distribution: Distribution = LINE, vector: int = 1) -> Copy:
    return Copy("load", region(X, 0), region(TILE), distribution, vector, (), Outside.ZERO, here())


def store(distribution: Distribution = LINE) -> Copy:
    return Copy("store", region(TILE), region(Y, 0), distribution, 1, (), Outside.NEVER, here())


def test_replicas_store_once() -> None:
    report = run(one_tile(2, load(), store()), ARRAYS, {})
    assert np.array_equal(report.arrays["Y"], ARRAYS["X"])


@pytest.mark.parametrize("seed", SEEDS)
def test_replicas_that_differ_are_a_fault(seed: int | None) -> None:
    """A sum over elements of two warps, which only a way through shared memory would complete."""
    over_warps = Distribution((64,), (), LINE.lanes, ((32,),))
    mine, total = held("X.registers", f32, over_warps), held("total", f32, over_warps.project(()))
    out = held("Y.registers", f32, Distribution((1,), (), ((0,),) * 5, ((0,),)))
    x, y = memory("X", f32, (const(64),), (const(1),)), memory("Y", f32, (const(1),), (const(1),))
    over = Iteration(("i",), (const(0),), (const(64),), over_warps, ())
    once = Iteration(("u",), (const(0),), (const(1),), out.distribution, ())
    body = (
        Copy("load", region(x, 0), region(mine), over_warps, 1, (), Outside.ZERO, here()),
        Fill("start", region(total), 0.0, here()),
        Reduce(
            "total", ReductionOp.ADD, over, region(total), (), Operand(0), (MapOperand(region(mine), (0,), 1),), here()
        ),
        Map("out", once, region(out), (0,), Operand(0), (MapOperand(region(total), (), 1),), here()),
        Copy("store", region(out), region(y, 0), out.distribution, 1, (), Outside.NEVER, here()),
    )
    program = kernel("partial", (), (x, y, mine, total, out), 2, Sequence(body))
    with pytest.raises(MachineFault, match="stores other values to Y than a warp that is its replica") as caught:
        run(program, {"X": np.arange(64, dtype=np.float32), "Y": np.zeros(1, np.float32)}, {}, seed=seed)
    assert caught.value.code == "tile.replica"


def test_warps_that_write_the_same_element_without_being_replicas_race() -> None:
    both = Distribution((32,), (), LINE.lanes, ((1,),))
    mine = held("X.registers", f32, both)
    body = (
        Copy("load", region(X, 0), region(mine), both, 1, (), Outside.ZERO, here()),
        Copy("store", region(mine), region(Y, 0), both, 1, (), Outside.NEVER, here()),
    )
    program = kernel("twice", (), (X, Y, mine), 2, Sequence(body))
    with pytest.raises(MachineFault, match="written by store in warp 0 of all, block"):
        run(program, ARRAYS, {})


def test_blocks_that_write_the_same_element_race() -> None:
    program = copying()
    shifted = rewritten(
        program,
        lambda node: (
            evolve(node, destination=evolve(node.destination, origin=(const(0), var("cta.j") * 32)))
            if isinstance(node, Copy) and node.op == "Y"
            else node
        ),
    )
    arrays = {"X": np.ones((32, 32), np.float32), "Y": np.zeros((32, 32), np.float32)}
    with pytest.raises(MachineFault, match=r"written by Y in warp 0 of all, block \(0, 0\)"):
        run(shifted, arrays, {"M": 32, "N": 32, "ldx": 32})


def test_a_value_that_another_lane_holds_is_a_fault() -> None:
    turned = Distribution((32,), (), tuple(reversed(LINE.lanes)), LINE.warps)
    with pytest.raises(MachineFault, match=r"X.registers: element \(\d+\) is not held by lane") as caught:
        run(one_tile(2, load(), store(turned)), ARRAYS, {})
    assert caught.value.code == "tile.holder"


def test_an_access_to_scattered_shared_elements_is_a_fault() -> None:
    pairs = Distribution((32,), ((1,), (2,)), ((4,), (8,), (16,), (0,), (0,)), ((0,),))
    mine = held("X.registers", f32, pairs)
    body = (
        Copy("load", region(X, 0), region(mine), pairs, 4, (), Outside.ZERO, here()),
        Copy("put", region(mine), region(SCRAMBLED), pairs, 4, (), Outside.NEVER, here()),
    )
    with pytest.raises(MachineFault, match=r"4 elements of one access are not adjacent in X\.shared"):
        run(kernel("scattered", (), (X, mine, SCRAMBLED), 2, Sequence(body)), ARRAYS, {})


def test_a_copy_changes_no_element_type() -> None:
    half = held("X.registers", f16, LINE)
    body = Copy("load", region(X, 0), region(half), LINE, 1, (), Outside.ZERO, here())
    with pytest.raises(MachineFault, match="copies f32 to f16 unchanged"):
        run(kernel("narrowing", (), (X, half), 2, body), ARRAYS, {})


def test_a_variable_that_nothing_binds_is_named() -> None:
    body = Copy("load", region(X, var("t")), region(TILE), LINE, 1, (), Outside.ZERO, here())
    with pytest.raises(MachineFault, match="t needs t, which nothing binds here"):
        run(kernel("unbound", (), (X, TILE), 2, body), ARRAYS, {})


def test_a_barrier_belongs_to_one_role() -> None:
    program = one_tile(1, Meet(0, ()))
    other = Role("other", 1, Meet(0, ()))
    with pytest.raises(MachineFault, match="barrier 0 is used by all and by other"):
        run(evolve(program, roles=(*program.roles, other)), ARRAYS, {})


def test_two_roles_meet_apart_and_are_unordered_with_each_other() -> None:
    narrow = cooperative((32,), 0, 1, 0)
    mine = held("X.registers", f32, narrow)
    put = Copy("put", region(mine), region(SCRAMBLED), narrow, 1, (), Outside.NEVER, here())
    get = Copy("get", region(SCRAMBLED), region(mine), narrow, 1, (), Outside.NEVER, here())
    first = Sequence((Fill("f", region(mine), 1.0, here()), put, Meet(0, ())))
    second = Sequence((Meet(1, ()), Meet(1, ()), Meet(1, ()), Meet(1, ()), get))
    program = kernel("roles", (), (mine, SCRAMBLED), 1, first)
    with pytest.raises(MachineFault, match=r"get in warp 0 of other.* written by put in warp 0 of all"):
        run(evolve(program, roles=(*program.roles, Role("other", 1, second))), {}, {})


def test_a_loop_that_runs_no_times_writes_nothing() -> None:
    empty = Loop("t", (Quotient(const(1), 1),), (Quotient(const(0), 1),), 1, load())
    with pytest.raises(MachineFault, match="never written"):
        run(one_tile(2, empty, store()), ARRAYS, {})


def test_faults_carry_the_line() -> None:
    line = SourceLine("kernel.py", 7, "make")
    body = evolve(load(), line=line, source=region(X, 1))
    with pytest.raises(MachineFault) as caught:
        run(one_tile(2, body), ARRAYS, {})
    assert str(caught.value).startswith("kernel.py:7: load in warp 0 of all, block (): element (32)")
