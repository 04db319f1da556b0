"""Derived tile programs of four statements, run on the tile machine and judged by numpy in float64."""

from __future__ import annotations

import numpy as np
import pytest

from ptxgen.derive import derive
from ptxgen.order.synchronisation import Synchronised
from ptxgen.prove.proof import check_meetings
from ptxgen.tile import Arrive, Commit, Expect, Meet, RegisterFence, Retire, Wait
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.mutants import without_each_synchronisation
from tests.derive.computes import ampere, chained, halves, hopper, matmul, softmax, transpose, up, volta

Arrays = dict[str, np.ndarray]


def matmul_case(layout: str, m: int, n: int, k: int) -> tuple[Arrays, dict[str, int], np.ndarray]:
    rng = np.random.default_rng(m + 7 * n + 31 * k)
    a, b = halves(rng, m, k), halves(rng, k, n)
    bias = rng.standard_normal(n).astype(np.float32)
    held_a = np.zeros((m, up(k)) if layout[0] == "n" else (max(k, 1), up(m)), np.float16)
    held_b = np.zeros((max(k, 1), up(n)) if layout[1] == "n" else (n, up(k)), np.float16)
    if k:
        (held_a if layout[0] == "n" else held_a.T)[:m, :k] = a
        (held_b if layout[1] == "n" else held_b.T)[:k, :n] = b
    d = np.full((m, up(n)), np.nan, np.float16)
    sizes = {"M": m, "N": n, "K": k, "lda": held_a.shape[1], "ldb": held_b.shape[1], "ldd": up(n)}
    reference = np.maximum(a.astype(float) @ b.astype(float) + bias, 0)
    return {"A": held_a, "B": held_b, "bias": bias, "D": d}, sizes, reference


def check_matmul(program: object, layout: str, m: int, n: int, k: int, seed: int | None = None) -> None:
    arrays, sizes, reference = matmul_case(layout, m, n, k)
    report = run(program, arrays, sizes, seed=seed)  # type: ignore[arg-type]
    got = report.arrays["D"][:, :n].astype(float)
    assert np.all(np.abs(got - reference) <= 2e-3 * (np.abs(reference) + 1) + 1e-4 * k)
    assert np.isnan(report.arrays["D"][:, n:]).all()


EDGES = [(1, 1, 1), (128, 128, 64), (127, 129, 33), (129, 127, 31), (128, 128, 32), (8, 8, 0), (130, 5, 97)]


@pytest.mark.parametrize("shape", EDGES, ids=str)
def test_matmul(shape: tuple[int, int, int]) -> None:
    check_matmul(derive(volta()).program, "nn", *shape)


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_matmul_layouts(layout: str) -> None:
    check_matmul(derive(volta(matmul(layout))).program, layout, 130, 140, 70, seed=3)


@pytest.mark.parametrize("slabs", range(5))
def test_matmul_at_every_end_of_the_pipeline(slabs: int) -> None:
    check_matmul(derive(volta()).program, "nn", 16, 16, 32 * slabs)


@pytest.mark.parametrize("shape", [(5, 300), (4, 256), (3, 8), (9, 1024)], ids=str)
def test_softmax(shape: tuple[int, int]) -> None:
    m, n = shape
    x = np.zeros((m, up(n)), np.float16)
    x[:, :n] = halves(np.random.default_rng(1), m, n)
    report = run(
        derive(softmax()).program, {"X": x, "Y": np.empty_like(x)}, {"M": m, "N": n, "ldx": up(n), "ldy": up(n)}
    )
    wanted = np.exp(x[:, :n].astype(float))
    wanted /= wanted.sum(1, keepdims=True)
    assert np.abs(report.arrays["Y"][:, :n] - wanted).max() < 2e-4


@pytest.mark.parametrize("shape", [(64, 64), (70, 90), (1, 200)], ids=str)
def test_transpose(shape: tuple[int, int]) -> None:
    m, n = shape
    x = halves(np.random.default_rng(2), m, up(n))
    y = np.full((n, up(m)), np.nan, np.float16)
    report = run(derive(transpose()).program, {"X": x, "Y": y}, {"M": m, "N": n, "ldx": up(n), "ldy": up(m)})
    assert np.array_equal(report.arrays["Y"][:, :m], x[:, :n].T)


def chained_case(m: int, n: int, k: int, l: int) -> tuple[Arrays, dict[str, int], np.ndarray]:  # noqa: E741
    rng = np.random.default_rng(3)
    a, b, d = halves(rng, m, k), halves(rng, k, n), halves(rng, n, l)
    inner = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    sizes = {"M": m, "N": n, "K": k, "L": l, "lda": k, "ldb": n, "ldd": l, "ldf": l}
    arrays = {"A": a, "B": b, "D": d, "F": np.full((m, l), np.nan, np.float32)}
    return arrays, sizes, inner.astype(float) @ d.astype(float)


@pytest.mark.parametrize("shape", [(64, 64, 32, 64), (70, 130, 50, 64), (64, 64, 0, 64), (33, 200, 64, 128)], ids=str)
def test_chained_products(shape: tuple[int, int, int, int]) -> None:
    arrays, sizes, reference = chained_case(*shape)
    report = run(derive(chained()).program, arrays, sizes)
    assert np.abs(report.arrays["F"] - reference).max() <= 1e-5 * max(1.0, np.abs(reference).max()) * (1 + shape[1])


def test_softmax_needs_no_meeting_and_the_others_the_fewest() -> None:
    counts = {
        "softmax": sum(len(part.synchronised.meetings) for part in derive(softmax()).parts[:1]),
        "transpose": len(derive(transpose()).parts[0].synchronised.meetings),
        "matmul": len(derive(volta()).parts[0].synchronised.meetings),
        "ampere": len(derive(ampere()).parts[0].synchronised.meetings),
    }
    assert counts == {"softmax": 0, "transpose": 1, "matmul": 1, "ampere": 1}


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("depth", [2, 4])
def test_copies_past_the_registers_at_every_end_of_the_pipeline(layout: str, depth: int) -> None:
    program = derive(ampere(matmul(layout), depth, (64, 64, 32))).program
    for slabs in range(2 * depth + 2):
        check_matmul(program, layout, 72, 56, 32 * slabs, seed=slabs)
        check_matmul(program, layout, 64, 128, 32 * slabs + 8)


def faults(program: object, arrays: Arrays, sizes: dict[str, int]) -> str:
    try:
        run(program, arrays, sizes)  # type: ignore[arg-type]
    except MachineFault as fault:
        return fault.code
    return "none"


def runs_of(name: str) -> list[tuple[Arrays, dict[str, int]]]:
    """Runs that together reach every branch of the program `name`."""
    if name == "transpose":
        x = halves(np.random.default_rng(5), 70, 64)
        return [({"X": x, "Y": np.zeros((64, 72), np.float16)}, {"M": 70, "N": 64, "ldx": 64, "ldy": 72})]
    if name == "ampere":
        sizes = ((m, n, k) for m, n in ((64, 64), (40, 56)) for k in (24, 48, 64, 96, 128, 176))
        return [matmul_case("nn", m, n, k)[:2] for m, n, k in sizes]
    if name == "chained":
        return [chained_case(64, 130, k, 64)[:2] for k in (80, 0)]
    return [
        matmul_case("nn", m, n, k)[:2] for m, n, k in ((128, 128, 96), (128, 128, 16), (100, 90, 80), (128, 128, 80))
    ]


PLANS = {
    "transpose": transpose,
    "chained": chained,
    "matmul": volta,
    "ampere": lambda: ampere(depth=3, tile=(64, 64, 32)),
}
FAULTS = {Meet: {"tile.race"}, Retire: {"tile.stale"}, Commit: {"tile.stale"}}
RING_FAULTS = {
    Wait: {"tile.race", "tile.stale"},
    Expect: {"tile.deadlock"},
    Arrive: {"tile.deadlock"},
    Commit: {"tile.race", "tile.stale"},
    Retire: {"tile.stale"},
    RegisterFence: {"tile.fence"},
}


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize(("depth", "window"), [(2, 0), (2, 1), (4, 2)])
def test_boxes_and_warpgroups_at_every_end_of_the_ring(layout: str, depth: int, window: int) -> None:
    program = derive(hopper(matmul(layout), depth, window, (64, 64, 64))).program
    for slabs in (0, 1, depth - 1, depth, depth + 1, 2 * depth + 1):
        check_matmul(program, layout, 72, 56, 64 * slabs, seed=slabs)
        check_matmul(program, layout, 64, 64, 64 * slabs + 8)


def test_every_wait_arrival_and_fence_of_the_ring_is_needed() -> None:
    """But for the last arrivals, behind the loop: nobody waits for them, since a block has one tile. The fence of later
    steps orders nothing new either: it stands there since assemblers put one there that does not."""
    derived = derive(hopper(matmul("nt"), 3, 1, (64, 64, 64)))
    runs = [matmul_case("nt", m, n, k)[:2] for m, n in ((64, 64), (40, 48)) for k in (64, 192, 448)]
    assert all(faults(derived.program, *case) == "none" for case in runs)
    harmless = []
    for mutant in without_each_synchronisation(derived.program):
        found = {faults(mutant.program, *case) for case in runs} - {"none"}
        assert found <= RING_FAULTS[type(mutant.removed)]
        harmless += [] if found else [type(mutant.removed)]
    assert harmless == [RegisterFence, Arrive] * 2


@pytest.mark.parametrize("name", list(PLANS))
def test_every_meeting_commit_and_wait_is_needed(name: str) -> None:
    derived = derive(PLANS[name]())
    runs = runs_of(name)
    assert all(faults(derived.program, *case) == "none" for case in runs)
    mutants = list(without_each_synchronisation(derived.program))
    assert mutants
    for mutant in mutants:
        assert {faults(mutant.program, *case) for case in runs} - {"none"} == FAULTS[type(mutant.removed)]


@pytest.mark.parametrize("name", ["transpose", "chained"])
def test_the_checker_refuses_every_plan_without_one_of_its_atoms(name: str) -> None:
    """Products are changed in every way in `tests/prove/test_every_atom.py`."""
    derived = derive(PLANS[name]())
    for part in derived.parts:
        assert part.verdict.accepted
        for missing in part.synchronised.atoms:
            kept = tuple(meeting for meeting in part.synchronised.atoms if meeting is not missing)
            verdict = check_meetings(Synchronised(part.synchronised.ops, kept), part.requirements)
            assert "synchronisation.covered" in verdict.codes
