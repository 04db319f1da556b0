"""The step that tells caches of an op: how a plan says it, and what it refuses."""

from __future__ import annotations

import pytest

from ptxgen.plan import Plan, blocks, cp_async, evict_first, evict_last, shared, st, stmatrix, swizzle, tensor
from tests.derive.computes import matmul
from tests.plan.refusing import Refused, check_refused, wrong


def staged() -> Plan:
    plan = Plan(matmul(), "sm_90a").tile("cta", i=64, j=64, k=64).place("cta", onto=blocks)
    plan = plan.stage("A", at="cta.k", into=shared(3, swizzle(128)), by=tensor)
    return plan.stage("B", at="cta.k", into=shared(3), by=cp_async(16))


def drained() -> Plan:
    return staged().drain("D", shared(2, swizzle(128)), tensor, {"j": 64}, stmatrix(4))


REFUSED: Refused = {
    "nothing told": (lambda: staged().hint("A.shared"), "hint(A.shared) says nothing: name ops, and l2= or map_early"),
    "nobody told": (lambda: staged().hint(l2=evict_first), "hint(l2=evict_first) says nothing: name ops"),
    "no such op": (lambda: staged().hint("C.shared", l2=evict_last), "no op 'C.shared'; there are A.shared, B.shared"),
    "a way out that is not there": (lambda: staged().hint("D.global", l2=evict_last), "no op 'D.global'"),
    "copied by lanes": (
        lambda: staged().hint("B.shared", l2=evict_last),
        "hint: B.shared goes by cp_async; what is copied by tensor takes hints",
    ),
    "stored by lanes": (
        lambda: staged().drain("D", None, st(16)).hint("D.global", map_early=True),
        "hint: D.global goes by st; what is copied by tensor takes hints",
    ),
    "a word": (lambda: staged().hint("A.shared", l2=wrong("first")), "l2 is evict_first or evict_last, got 'first'"),
    "a number": (lambda: staged().hint("A.shared", map_early=wrong(1)), "map_early is True or False, got 1"),
    "told twice": (
        lambda: staged().hint("A.shared", l2=evict_first).hint("A.shared", l2=evict_last),
        "A.shared is told already: hint(A.shared, l2=evict_first)",
    ),
    "fetched twice": (
        lambda: staged().hint("A.shared", map_early=True).hint("A.shared", l2=evict_last, map_early=True),
        "A.shared is told already: hint(A.shared, map_early=True)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_on_its_own_line(name: str) -> None:
    check_refused(*REFUSED[name], __file__)


def test_it_prints_as_it_is_called() -> None:
    plan = drained().hint("A.shared", "D.global", l2=evict_last, map_early=True)
    assert str(plan.steps[-1]) == "hint(A.shared, D.global, l2=evict_last, map_early=True)"
    plan = drained().hint("A.shared", l2=evict_last).hint("A.shared", map_early=True).hint("D.global", l2=evict_first)
    assert [str(step) for step in plan.steps[-3:]] == [
        "hint(A.shared, l2=evict_last)",
        "hint(A.shared, map_early=True)",
        "hint(D.global, l2=evict_first)",
    ]
