"""Plans whose blocks stay and walk the tiles: the same statements through the same derivation, on the tile machine
against the programs of a block for each tile, bit for bit, and against float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import ComputeBuilder, ReductionOp, f16, f32, relu
from ptxgen.derive import derive
from ptxgen.derive.budgets import most_registers
from ptxgen.plan import Isolate, Onto, Persist, Place, Plan, Step, Workers, sms
from ptxgen.tile import (
    Advance,
    Arrive,
    Commit,
    Expect,
    Meet,
    Program,
    RegisterFence,
    RequirementKind,
    Retire,
    Sequence,
    Wait,
    show,
)
from ptxgen.tile.machine import MachineFault, MachineReport, run
from ptxgen.tile.machine.walking import ends_of
from ptxgen.tile.mutants import Mutant, without_each_synchronisation
from tests.derive.computes import ampere, chained, halves, hopper, softmax, transpose, up, volta
from tests.derive.test_derived_programs import matmul_case

Case = tuple[dict[str, np.ndarray], dict[str, int]]


def persisted(plan: Plan, workers: int | Workers = sms) -> Plan:
    """The plan with blocks that stay, full tiles not apart."""
    steps: list[Step] = []
    for step in plan.steps:
        match step:
            case Place(level, Onto.BLOCKS, raster, dims, line):
                steps.append(Persist(level, Onto.BLOCKS, raster, dims, line, workers))
            case Isolate():
                pass
            case _:
                steps.append(step)
    return evolve(plan, steps=tuple(steps))


def matmul_sizes(layout: str, *shape: int) -> Case:
    arrays, sizes, _ = matmul_case(layout, *shape)
    return arrays, sizes


def row_sizes(m: int, n: int) -> Case:
    x = np.zeros((m, up(n)), np.float16)
    x[:, :n] = halves(np.random.default_rng(1), m, n)
    return {"X": x, "Y": np.zeros_like(x)}, {"M": m, "N": n, "ldx": up(n), "ldy": up(n)}


def transposed_sizes(m: int, n: int) -> Case:
    x = halves(np.random.default_rng(2), m, up(n))
    return {"X": x, "Y": np.zeros((n, up(m)), np.float16)}, {"M": m, "N": n, "ldx": up(n), "ldy": up(m)}


def chained_sizes(m: int, n: int, k: int, width: int) -> Case:
    rng = np.random.default_rng(4)
    a, b, d = halves(rng, m, k), halves(rng, k, n), halves(rng, n, width)
    sizes = {"M": m, "N": n, "K": k, "L": width, "lda": k, "ldb": n, "ldd": width, "ldf": width}
    return {"A": a, "B": b, "D": d, "F": np.zeros((m, width), np.float32)}, sizes


def small_hopper(depth: int = 3, in_flight: int = 1) -> Plan:
    return hopper(depth=depth, in_flight=in_flight, tile=(64, 16, 64))


CASES: dict[str, tuple[Callable[[], Plan], Case]] = {
    "volta": (volta, matmul_sizes("nn", 130, 140, 40)),
    "ampere": (lambda: ampere(tile=(64, 64, 32)), matmul_sizes("nn", 72, 72, 72)),
    "hopper": (small_hopper, matmul_sizes("nt", 72, 40, 136)),
    "softmax": (softmax, row_sizes(9, 300)),
    "transpose": (transpose, transposed_sizes(70, 200)),
    "chained": (chained, chained_sizes(66, 70, 36, 24)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_those_of_a_block_for_each_tile(name: str) -> None:
    make, (arrays, sizes) = CASES[name]
    alone = run(derive(make()).program, arrays, sizes)
    program = derive(persisted(make())).program
    for workers, seed in ((1, None), (2, 1)):
        found = run(program, arrays, sizes, workers=workers, seed=seed)
        assert found.blocks == workers
        for array in arrays:
            assert found.arrays[array].tobytes() == alone.arrays[array].tobytes(), array


def run_hopper(program: Program, slabs: int, tiles: int, seed: int | None = None) -> tuple[MachineReport, np.ndarray]:
    """One block with so many tiles of so many slabs, the last one not full; and the result in float64."""
    k = max(0, 64 * slabs - 8)
    arrays, sizes, reference = matmul_case("nt", 64, 16 * tiles, k)
    return run(program, arrays, sizes, workers=1, seed=seed), reference


def check(program: Program, slabs: int, tiles: int, seed: int | None) -> None:
    report, reference = run_hopper(program, slabs, tiles, seed)
    got = report.arrays["D"].astype(float)
    assert report.blocks == 1
    assert np.all(np.abs(got - reference) <= 2e-3 * (np.abs(reference) + 1) + 1e-4 * 64 * slabs)


@pytest.mark.parametrize("tiles", [1, 2, 3])
@pytest.mark.parametrize(("depth", "in_flight"), [(1, 0), (2, 1), (3, 0), (3, 1), (4, 2)])
def test_every_slab_count_and_tile_count(depth: int, in_flight: int, tiles: int) -> None:
    program = derive(persisted(small_hopper(depth, in_flight))).program
    for slabs in sorted({0, 1, depth - 1, depth, depth + 1, 2 * depth + 1}):
        check(program, slabs, tiles, seed=tiles if slabs == depth else None)


FAULTS = {"tile.race", "tile.stale", "tile.deadlock", "tile.inflight", "tile.barrier", "tile.fence"}
MUTANTS = list(without_each_synchronisation(derive(persisted(small_hopper())).program))


def faults_of(program: Program, tiles: int) -> set[str]:
    """The first fault with one of several slab counts; none where there is none."""
    for slabs, seed in ((4, None), (1, None), (7, 3), (3, None)):
        try:
            run_hopper(program, slabs, tiles, seed)
        except MachineFault as fault:
            return {fault.code}
    return set()


def is_second_fence(mutant: Mutant) -> bool:
    """The fence before products that follow others: it is there for the assembler, registers are ordered without it."""
    return isinstance(mutant.removed, RegisterFence) and mutant.position > 1


@pytest.mark.parametrize(
    "mutant", [m for m in MUTANTS if not is_second_fence(m)], ids=lambda m: f"{m.role}{m.position}"
)
def test_each_derived_atom_is_needed_on_the_machine(mutant: Mutant) -> None:
    found = faults_of(mutant.program, 3)
    assert found
    assert found <= FAULTS


def test_what_only_several_tiles_need() -> None:
    """A block with one tile ends before anybody asks for the last slots again, and counts from nothing."""
    alone = [(m.role, type(m.removed)) for m in MUTANTS if not is_second_fence(m) and not faults_of(m.program, 1)]
    assert alone == [("math", Arrive), ("math", Advance), ("load", Advance)]


def test_what_synchronises_an_item() -> None:
    program = derive(persisted(small_hopper())).program
    kinds = {role.name: [type(n) for n in ends_of(role.body) if isinstance(n, SYNCHRONISING)] for role in program.roles}
    first = [Wait, RegisterFence, Commit]
    steady = [Wait, RegisterFence, Commit, Retire, Arrive]
    assert kinds == {"math": [*first, *steady, Retire, Arrive, Advance], "load": [Wait, Expect, Advance]}
    for make, meetings in ((volta, 1), (lambda: ampere(tile=(64, 64, 32)), 1), (softmax, 0), (transpose, 1)):
        plain, walking = (show(derive(evolve_plan(make())).program) for evolve_plan in (without_isolation, persisted))
        assert walking.count("meet 0") - plain.count("meet 0") == meetings


SYNCHRONISING = (Wait, RegisterFence, Commit, Retire, Arrive, Expect, Advance, Meet)


def without_isolation(plan: Plan) -> Plan:
    return evolve(plan, steps=tuple(step for step in plan.steps if not isinstance(step, Isolate)))


def test_loads_run_ahead_into_the_next_tile() -> None:
    """All three tiles of one slab are loaded before the first product is allowed to run."""
    program = derive(persisted(small_hopper())).program
    math, load = program.roles
    arrays, sizes, _ = matmul_case("nt", 64, 48, 64)
    idle = evolve(math, body=Sequence(()))
    with pytest.raises(MachineFault) as caught:
        run(evolve(program, roles=(idle, load)), arrays, sizes, workers=1)
    assert caught.value.code == "tile.inflight"
    assert "is never waited for" in str(caught.value)
    arrays, sizes, _ = matmul_case("nt", 64, 64, 64)
    with pytest.raises(MachineFault, match=r"warp 0 of load waits for empty 0 of A.shared\+B.shared \(tile 3\)"):
        run(evolve(program, roles=(idle, load)), arrays, sizes, workers=1)


def fixed_depth(k: int) -> Plan:
    """D = relu(A @ B) with a sum of `k` products, which the kernel knows."""
    c = ComputeBuilder("fixed")
    i, j, inner = c.dims(i="M", j="N", k=k)
    a, b = c.input("A", f16, (i, inner), ("lda", 1)), c.input("B", f16, (inner, j), (1, "ldb"))
    product, d = c.local("C", f32, (i, j)), c.output("D", f16, (i, j), ("ldd", 1))
    c.reduce(ReductionOp.ADD, product[i, j], a[i, inner] * b[inner, j], (i, j, inner), (inner,))
    c.define(d[i, j], relu(product[i, j]), (i, j))
    return persisted(hopper(c.build(), depth=3, tile=(64, 16, 64)))


@pytest.mark.parametrize("slabs", [1, 2, 3, 4])
def test_a_ring_deeper_than_an_item_is_long(slabs: int) -> None:
    """No item fills a slot twice, yet the next one does."""
    part = derive(fixed_depth(64 * slabs))
    assert {r.distance for r in part.parts[0].requirements if r.kind is RequirementKind.REUSE and not r.own} == {3}
    for tiles in (1, 3, 5):
        arrays, sizes, _ = matmul_case("nt", 64, 16 * tiles, 64 * slabs)
        wanted = np.maximum(arrays["A"].astype(float) @ arrays["B"].T.astype(float), 0)
        del arrays["bias"], sizes["K"]
        report = run(part.program, arrays, sizes, workers=1)
        assert np.abs(report.arrays["D"] - wanted).max() < 2e-2


@pytest.mark.parametrize("name", CASES)
def test_registers_are_held_as_long_as_by_a_block_for_each_tile(name: str) -> None:
    make, _ = CASES[name]
    alone, walked = (derive(plan).parts[-1].ops for plan in (without_isolation(make()), persisted(make())))
    assert {buffer.name for buffer in most_registers(walked)} == {buffer.name for buffer in most_registers(alone)}
