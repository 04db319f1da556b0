"""Chained products whose warpgroups share every tile and take its products in rotation: small kernels, runs of them,
and in which order warpgroups come to their products there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from ptxgen.compute import Compute, f16, f32
from ptxgen.kernels import GeneratedKernel, chained_compute
from ptxgen.plan import (
    Fact,
    Plan,
    blocks,
    convert,
    fragments,
    role,
    shared,
    st,
    swizzle,
    tensor,
    warpgroups,
    wgmma,
)
from ptxgen.tile import WARPGROUP, Multiply, Node, Program
from ptxgen.tile.machine import launch
from ptxgen.tile.machine.walking import walk_tree
from tests.kernels import test_resident
from tests.kernels.test_boxed_kernels import given, made
from tests.kernels.test_resident import TERMS, Sizes

BOTH = ("AB", "PD")
RUNS: tuple[tuple[Sizes, int | None], ...] = (
    ({"M": 192, "J": 64, "N": 64}, None),
    ({"M": 128, "J": 200, "N": 136}, 1),
    ({"M": 136, "J": 0, "N": 64}, 2),
    ({"M": 264, "J": 328, "N": 8}, 3),
)
Seen = dict[str, list[tuple[int, int]]]


def planned(
    compute: Compute, facts: Iterable[Fact], over: str = "cta.j", turns: tuple[str, ...] = BOTH, **choices: Any
) -> Plan:
    """Chained products, A's tiles staying where the compute has few terms; `turns` in the loop `over`."""
    i, n, depth, workers = (choices.get(k, v) for k, v in (("i", 128), ("n", 64), ("depth", 2), ("workers", 1)))
    stays = compute.array("A").extents[1].is_constant
    plan = Plan(compute, "sm_90a").assume(*facts).tile("cta", i=i, j=64, n=n, **({} if stays else {"k": 64}))
    plan = plan.persist("cta", workers=workers) if workers else plan.place("cta", onto=blocks)
    plan = plan.cluster(i=choices["cluster"]) if "cluster" in choices else plan
    plan = plan.tile("group", i=64).place("group", onto=warpgroups)
    at = ("cta", "cta.j") if stays else ("cta.k", "cta.k")
    for name, where, slots in (("A", at[0], 1 if stays else depth), ("B", at[1], depth), ("D", "cta.j", 2)):
        plan = plan.stage(name, at=where, into=shared(slots, swizzle(128)), by=tensor)
    plan = plan.roles(load=role("A.shared", "B.shared", "D.shared", warps=4), math=role())
    plan = plan.multiply("AB", wgmma(64, f32), at="group", in_flight=choices.get("window", 0))
    plan = plan.stage("P", at="group", into=fragments(1), by=convert(f16))
    plan = plan.multiply("PD", wgmma(n, f32), at="group", a="registers")
    plan = plan.turns("math", over, *turns) if turns else plan
    return plan.drain("E", through=None, by=st(16))


@cache
def kernel(terms: int | None = TERMS, **choices: Any) -> GeneratedKernel:
    """The kernel of such a plan."""
    compute = chained_compute(f32, terms)
    sizes = {"M": 64, "J": 64, "N": 64} | ({} if terms else {"K": 64})
    return made(compute, lambda c, facts, _: planned(c, facts, **choices), given(compute, sizes))


def shown(program: Program, runs: Iterable[tuple[Sizes, int | None]] = RUNS) -> str:
    """The first fault in some runs, a wrong product among them; nothing where there is none."""
    return test_resident.shown(program, runs)


def watched(program: Program, sizes: Sizes, seed: int | None, patch: pytest.MonkeyPatch) -> Seen:
    """A run on the tile machine: for each product the steps in which warps come to it, in the order in which they do,
    each with the warpgroup. Every step counts once through all work items."""
    seen: Seen = {}

    def walked(body: Node, variables: dict[str, int], tiles: list[dict[str, int]]) -> Iterator[tuple[Any, Any]]:
        steps: dict[str, int] = {}
        for node, bound in walk_tree(body, variables, tiles):
            if isinstance(node, Multiply):
                steps[node.op] = steps.get(node.op, -1) + 1
                seen.setdefault(node.op, []).append((steps[node.op], variables[WARPGROUP]))
            yield node, bound

    with patch.context() as patched:
        patched.setattr(launch, "walk_tree", walked)
        test_resident.on_machine(program, sizes, seed)
    return seen


def in_rotation(seen: list[tuple[int, int]], units: int) -> bool:
    """Whether the four warps of each warpgroup come one group after the other, in every step in the same order, and the
    steps of each block one after the other."""
    size = 4 * units
    rounds = [seen[place : place + size] for place in range(0, len(seen), size)]
    steps = [first[0][0] for first in rounds]
    follows = all(later in (0, step + 1) for step, later in pairwise(steps))
    whole = [[(step, unit) for unit in range(units) for _ in range(4)] for step in steps]
    return follows and rounds == whole
