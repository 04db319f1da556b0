"""Products whose blocks share operands: plans, tile programs, and these with one thing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count

import numpy as np
from attrs import evolve

from ptxgen.derive import Derivation, derive
from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan
from ptxgen.plan import Fact, Plan, Stage, aligned, multiple
from ptxgen.tile import (
    Arrive,
    Copy,
    Counter,
    Expect,
    ForEachItem,
    Let,
    Loop,
    Node,
    Program,
    Sequence,
    Wait,
    When,
)
from ptxgen.tile.machine import MachineFault, run

TINY = MatmulTiling(i=64, j=16, k=16, warps=4, depth=3, isolate=False)
CLUSTERS = ((2, 1), (1, 2), (2, 2))
FACTS: tuple[Fact, ...] = (
    *(multiple(name, 8) for name in ("M", "N", "K", "lda", "ldb", "ldd")),
    *aligned("A", "B", "D", bytes=16),
)


def plan_of(cluster: tuple[int, int], layout: Layout = Layout.NN, tiling: MatmulTiling = TINY) -> Plan:
    spec = MatmulSpec(layout)
    return matmul_plan(matmul_compute(spec), spec, FACTS, evolve(tiling, cluster=cluster), "sm_90a")


def with_slices(plan: Plan, slices: int) -> Plan:
    """The plan with every box cut into so many slices."""
    return evolve(plan, steps=tuple(evolve(s, slices=slices) if isinstance(s, Stage) else s for s in plan.steps))


@cache
def derived(cluster: tuple[int, int], layout: Layout = Layout.NN, tiling: MatmulTiling = TINY) -> Derivation:
    """The plan carried out, once for all tests that ask for it."""
    return derive(plan_of(cluster, layout, tiling))


def memories(layout: Layout, m: int, n: int, k: int) -> tuple[dict[str, np.ndarray], dict[str, int], np.ndarray]:
    """Random operands, the sizes of a launch, and the product in float64."""
    chance = np.random.default_rng(m + n + k)
    a, b = chance.standard_normal((m, k)).astype(np.float16), chance.standard_normal((k, n)).astype(np.float16)
    held = {"A": np.ascontiguousarray(a.T if layout.a_transposed else a)}
    held["B"] = np.ascontiguousarray(b.T if layout.b_transposed else b)
    held["D"] = np.full((m, n), np.nan, np.float16)
    sizes = {"M": m, "N": n, "K": k, "lda": held["A"].shape[1], "ldb": held["B"].shape[1], "ldd": n}
    return held, sizes, a.astype(float) @ b.astype(float)


def on_machine(program: Program, m: int, n: int, k: int, seed: int | None = None, layout: Layout = Layout.NN) -> None:
    """Runs the program on the tile machine; what it gives is the product."""
    held, sizes, wanted = memories(layout, m, n, k)
    got = run(program, held, sizes, seed=seed).arrays["D"]
    assert np.abs(got - wanted).max(initial=0) < 3e-2


def faults(program: Program, sizes: tuple[tuple[int, int, int], ...]) -> set[str]:
    """The faults that the machine finds in some runs, a wrong product among them."""
    for m, n, k in sizes:
        for seed in (None, 1, 2, 3):
            try:
                on_machine(program, m, n, k, seed)
            except MachineFault as fault:
                return {fault.code}
            except AssertionError:
                return {"wrong"}
    return set()


def changed(program: Program, change: Callable[[Node], Iterator[Node]]) -> Iterator[tuple[Node, Program]]:
    """For each node and each change of it the program with that change, and the node."""
    for place, role in enumerate(program.roles):
        for position in count():
            node = nth(role.body, position)
            if node is None:
                break
            for other in change(node):
                body = replaced(role.body, count(), position, other)
                roles = (*program.roles[:place], evolve(role, body=body), *program.roles[place + 1 :])
                yield other, evolve(program, roles=roles)


def nth(body: Node, position: int) -> Node | None:
    found: list[Node] = []
    replaced(body, count(), position, body, found)
    return found[0] if found else None


def replaced(node: Node, counter: Iterator[int], position: int, other: Node, found: list[Node] | None = None) -> Node:
    """A tree with its leaf of that number exchanged."""
    match node:
        case Sequence(children):
            return Sequence(tuple(replaced(child, counter, position, other, found) for child in children))
        case Loop(body=body) | Let(body=body) | ForEachItem(body=body) | Counter(body=body):
            return evolve(node, body=replaced(body, counter, position, other, found))
        case When(conditions, then, otherwise):
            kept = replaced(then, counter, position, other, found)
            return When(conditions, kept, otherwise and replaced(otherwise, counter, position, other, found))
        case _:
            if next(counter) != position:
                return node
            if found is not None:
                found.append(node)
            return other


def other_numbers(node: Node) -> Iterator[Node]:
    """A mask, a count of bytes or a tile number changed in what concerns other blocks."""
    match node:
        case Arrive(to=to) if to:
            yield from (evolve(node, to=masks) for masks in other_masks(to))
        case Copy(masks=masks) if masks:
            yield from (evolve(node, masks=others) for others in other_masks(masks))
        case Expect(byte_count=byte_count):
            yield from (evolve(node, byte_count=byte_count + more) for more in (-256, 256))
        case Wait(rank=rank):
            yield from (evolve(node, rank=rank + more) for more in (-1, 1))
        case _:
            pass


def other_masks(masks: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """One block reaches one block less, or one more, or all reach themselves only."""
    for rank in range(len(masks)):
        for bit in range(len(masks)):
            yield tuple(mask ^ (1 << bit) if place == rank else mask for place, mask in enumerate(masks))
    alone = tuple(1 << rank for rank in range(len(masks)))
    if alone != masks:
        yield alone
