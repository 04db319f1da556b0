"""A transposition, a softmax and chained products by tensor copies on the tile machine: at every end of their rings, in
several interleavings, and without each of their waits, arrivals and fences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.kernels import chained_compute, softmax_compute, transpose_compute
from ptxgen.kernels.launching.binding import arrays_in_memory, bind
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.kernels.softmax import by_boxes as softmax_by_boxes
from ptxgen.kernels.transpose import by_boxes as transposed_by_boxes
from ptxgen.plan import Plan, blocks, st, warps
from ptxgen.tile import Counter as Counted
from ptxgen.tile import (
    Factor,
    Fill,
    ForEachItem,
    Let,
    Loop,
    Multiply,
    Node,
    Program,
    RegisterFence,
    Sequence,
    Space,
    When,
)
from ptxgen.tile.machine import MachineFault
from ptxgen.tile.machine import run as run_on_machine
from ptxgen.tile.mutants import without_each_synchronisation
from tests.kernels.test_boxed_kernels import given, made, small_chained

DEPTH = 2
Sizes = dict[str, int]


def small_transposition(compute: Any, facts: Any, target: str) -> Plan:
    return transposed_by_boxes(Plan(compute, target).assume(*facts), 64, DEPTH)


def small_softmax(compute: Any, facts: Any, target: str) -> Plan:
    plan = Plan(compute, target).assume(*facts).tile("cta", i=4, j=128).place("cta", onto=blocks, dims=("i",))
    plan = plan.tile("warp", i=1).place("warp", onto=warps)
    return softmax_by_boxes(plan, DEPTH).drain("Y", through=None, by=st(16))


def shallow_chained(compute: Any, facts: Any, target: str) -> Plan:
    return small_chained(compute, facts, target, depth=DEPTH)


KERNELS: dict[str, tuple[Any, Any, Sizes]] = {
    "transposition": (transpose_compute, small_transposition, {"M": 64, "N": 64}),
    "softmax": (softmax_compute, small_softmax, {"M": 8, "N": 256}),
    "chained": (chained_compute, shallow_chained, {"M": 64, "J": 64, "K": 64, "N": 64}),
}


@cache
def kernel_of(name: str) -> GeneratedKernel:
    compute, planner, sizes = KERNELS[name]
    return made(compute(), planner, given(compute(), sizes))


def wanted(name: str, arrays: dict[str, Any]) -> tuple[str, np.ndarray]:
    """The result's name and what numpy makes of it in float64."""
    match name:
        case "transposition":
            return "Y", arrays["X"].T.astype(float)
        case "softmax":
            x = np.exp(arrays["X"].astype(float) - arrays["X"].astype(float).max(axis=1, keepdims=True))
            return "Y", x / x.sum(axis=1, keepdims=True)
        case _:
            inner = (arrays["A"].astype(np.float32) @ arrays["B"].astype(np.float32)).astype(np.float16)
            return "E", inner.astype(float) @ arrays["D"].astype(float)


def runs(name: str, program: Program, sizes: Sizes, seed: int | None = None, workers: int | None = 2) -> None:
    """A run without a fault, near float64."""
    arrays = given(KERNELS[name][0](), sizes)
    known = dict(bind(arrays_in_memory(KERNELS[name][0]()), arrays).sizes)
    known.update({"lda": 64} if sizes.get("K") == 0 else {})
    memories = {n: np.ascontiguousarray(a) for n, a in arrays.items()}
    report = run_on_machine(program, memories, known, seed=seed, workers=workers)
    output, reference = wanted(name, arrays)
    got = report.arrays[output].astype(float)
    assert np.all(np.abs(got - reference) <= 4e-3 * (np.abs(reference) + np.sqrt(max(1, sizes.get("J", 1)))))


def ends(name: str) -> Iterator[Sizes]:
    """Slabs and tiles around the depth of the rings, ragged ones among them."""
    counts = (1, DEPTH - 1, DEPTH, DEPTH + 1, 2 * DEPTH + 1)
    match name:
        case "transposition":
            yield from ({"M": 64 * m, "N": 64 * n} for m, n in ((1, 1), (2, 1), (2, 3), (3, 5)))
            yield {"M": 72, "N": 136}
        case "softmax":
            yield from ({"M": 4 * rows, "N": 128 * n} for n in counts for rows in (1, 3))
            yield {"M": 5, "N": 136}
        case _:
            yield from ({"M": 64, "J": 64 * j, "K": 64 * k, "N": 64} for k in (0, *counts) for j in (1, 3))
            yield from ({"M": 72, "J": 64 * j, "K": 72, "N": 136} for j in counts)


@pytest.mark.parametrize("name", KERNELS)
def test_at_every_end_of_the_rings(name: str) -> None:
    program = kernel_of(name).program
    for number, sizes in enumerate(ends(name)):
        runs(name, program, sizes, seed=number or None, workers=1 + number % 3)


MUTANT_RUNS: dict[str, list[tuple[Sizes, int | None, int]]] = {
    "transposition": [({"M": 128, "N": 192}, None, 1), ({"M": 128, "N": 192}, 3, 2)],
    "softmax": [({"M": 4, "N": 640}, None, 1), ({"M": 8, "N": 384}, 1, 1)],
    "chained": [({"M": 64, "J": 192, "K": 200, "N": 136}, None, 1), ({"M": 64, "J": 200, "K": 64, "N": 64}, 1, 1)],
}


# What the machine does not show: it knows no proxy of reads; a fence stands before products of later steps since
# assemblers put one there that does not; what is awaited in the last step need not be awaited behind its loop.
HARMLESS = {
    "transposition": {"ProxyFence": 1},
    "softmax": {"ProxyFence": 3},
    "chained": {"RegisterFence": 1, "Retire": 1},
}


@pytest.mark.parametrize("name", KERNELS)
def test_what_every_wait_arrival_and_fence_is_for(name: str) -> None:
    program = kernel_of(name).program
    for sizes, seed, workers in MUTANT_RUNS[name]:
        runs(name, program, sizes, seed, workers)
    harmless: Counter[str] = Counter()
    for mutant in without_each_synchronisation(program):
        faults = set()
        for sizes, seed, workers in MUTANT_RUNS[name]:
            try:
                runs(name, mutant.program, sizes, seed, workers)
            except (MachineFault, AssertionError) as fault:
                faults.add(fault.code if isinstance(fault, MachineFault) else "wrong")
        if not faults:
            harmless[type(mutant.removed).__name__] += 1
    assert harmless == HARMLESS[name]


def told(mutated: Program) -> str:
    """What the machine says of chained products."""
    try:
        runs("chained", mutated, {"M": 64, "J": 192, "K": 64, "N": 64}, workers=1)
    except MachineFault as fault:
        return str(fault)
    return ""


def overwriting(node: Node) -> Node:
    """A tree in which operand A is filled anew directly behind each product that reads it from registers."""
    match node:
        case Sequence(children):
            return Sequence(tuple(map(overwriting, children)))
        case Multiply(a=Factor(region=region)) if region.buffer.space is Space.REGISTERS:
            return Sequence((node, Fill("P.fill", region, 0.0, node.line)))
        case Loop() | Let() | ForEachItem() | Counted():
            return evolve(node, body=overwriting(node.body))
        case When(conditions, then, otherwise):
            return When(conditions, overwriting(then), otherwise and overwriting(otherwise))
        case _:
            return node


def test_registers_that_a_product_reads_are_fenced_before_and_written_only_behind_it() -> None:
    program = kernel_of("chained").program
    (unfenced,) = (
        mutant.program
        for mutant in without_each_synchronisation(program)
        if isinstance(mutant.removed, RegisterFence) and any(c.source == "P" for c in mutant.removed.covers)
        and any(c.source == "PD.fill" for c in mutant.removed.covers)
    )  # fmt: skip
    assert "reads P, touched since the last register fence" in told(unfenced)
    roles = tuple(evolve(role, body=overwriting(role.body)) for role in program.roles)
    assert "writes P, and a product that reads it is not complete" in told(evolve(program, roles=roles))
