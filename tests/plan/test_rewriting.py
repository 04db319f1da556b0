"""Rewrites of sums: what is printed, what is proved, and what is refused on the guilty line."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from polyhedral import const, var
from ptxgen.compute import f16, f32
from ptxgen.errors import PlanError
from ptxgen.kernels import MatmulSpec, matmul_compute
from ptxgen.plan import Chains, Plan, blocks, flaw, hybrid, warpgroups, wgmma

HALVES = MatmulSpec(accumulate=f16, promote=64, output=f32)
RULE = hybrid("AB", every=64)


def plan(spec: MatmulSpec = HALVES) -> Plan:
    return Plan(matmul_compute(spec), "sm_90a")


@pytest.mark.parametrize("length", (1, 16, 64))
def test_chains_that_are_the_same_sum(length: int) -> None:
    assert flaw(Chains("k", var("K"), length, length)) == ""
    assert flaw(Chains("k", const(100), length, length)) == ""


FLAWS = {
    "a term is lost": (Chains("k", var("K"), 64, 63), "term k = 63 is in no chain"),
    "a term is counted twice": (Chains("k", var("K"), 64, 65), "chain 0 has the term 64, the later chain 1 64"),
    "chains overlap": (Chains("k", var("K"), 32, 64), "the later chain 1 32"),
    "the first terms are lost": (Chains("k", const(10), 64, 8), "term k = 8 is in no chain"),
}


@pytest.mark.parametrize("name", FLAWS)
def test_chains_that_are_another_sum(name: str) -> None:
    chains, words = FLAWS[name]
    assert words in flaw(chains)


def test_the_plan_prints_before_and_after() -> None:
    text = str(plan().rewrite(RULE))
    assert "rewrite(hybrid(AB, every=64))" in text
    assert "AB[i, j] = sum[k] (A[i, k] * B[k, j])" in text
    assert re.search(r"->  AB\.chain\[i, j, floor\(\(?k\)?/64\)\] = sum\[k\]", text)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "no statement": (lambda: plan().rewrite(hybrid("X", every=64)), "X"),
    "no sum": (lambda: plan().rewrite(hybrid("D", every=64)), "D is no sum over one dim"),
    "no rule": (lambda: plan().rewrite("AB"), "a rule is hybrid"),  # type: ignore[arg-type]
    "twice": (lambda: plan().rewrite(RULE).rewrite(hybrid("AB", every=32)), "AB is rewritten already"),
    "after tiles": (lambda: plan().tile("cta", i=64).rewrite(RULE), "rewrite before tile"),
    "a total in halves": (lambda: plan(MatmulSpec(accumulate=f16)).rewrite(RULE), "AB is a local array of f16"),
    "in flight": (
        lambda: grouped_plan().multiply("AB", wgmma(64, f16), at="group", in_flight=1),
        "chains that are read at every step: none in flight",
    ),
}


def grouped_plan() -> Plan:
    tiled = plan().rewrite(RULE).tile("cta", i=64, j=64, k=64).place("cta", onto=blocks)
    return tiled.tile("group", i=64).place("group", onto=warpgroups)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    case, words = REFUSED[name]
    with pytest.raises(PlanError, match=words) as caught:
        case()
    assert caught.value.line is not None
    assert caught.value.line.file == __file__
