"""The step that makes clusters of blocks, and slices of boxes that they have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ptxgen.errors import PlanError
from ptxgen.plan import Plan, blocks, cp_async, shared, swizzle, tensor
from tests.derive.computes import matmul


def tiled() -> Plan:
    return Plan(matmul(), "sm_90a").tile("cta", i=64, j=64, k=64)


def dealt() -> Plan:
    return tiled().place("cta", onto=blocks)


def wrong(value: object) -> Any:
    return value


REFUSED: dict[str, tuple[Callable[[], Plan], str]] = {
    "before the blocks": (
        lambda: tiled().cluster(i=2),
        "dims dealt to blocks are none: place a level onto blocks first",
    ),
    "a loop": (lambda: dealt().cluster(k=2), r"cluster\(k=2\): dims dealt to blocks are i, j"),
    "an unknown dim": (lambda: dealt().cluster(x=2), r"cluster\(x=2\): dims dealt to blocks are i, j"),
    "no number": (lambda: dealt().cluster(i=wrong("2")), "the extent of i is a whole number of blocks, got '2'"),
    "nothing": (lambda: dealt().cluster(i=0), r"cluster\(i=0\): an extent is 1 or more"),
    "one block": (lambda: dealt().cluster(i=1, j=1), "a cluster has 2 to 8 blocks, got 1"),
    "no dim": (lambda: dealt().cluster(), "a cluster has 2 to 8 blocks, got 1"),
    "too many": (lambda: dealt().cluster(i=4, j=4), "a cluster has 2 to 8 blocks, got 16"),
    "twice": (lambda: dealt().cluster(i=2).cluster(j=2), "a cluster is given already"),
    "slices of three": (
        lambda: dealt().stage("A", at="cta.k", into=shared(2, swizzle(128)), by=tensor, slices=3),
        "A.shared: slices is a power of two, got 3",
    ),
    "slices of lanes": (
        lambda: dealt().stage("A", at="cta.k", into=shared(2), by=cp_async(16), slices=2),
        r"A.shared: boxes are cut into slices that are copied by tensor, not by cp_async\(vector=16\)",
    ),
    "no whole slice": (
        lambda: dealt().stage("A", at="cta.k", into=shared(2), by=tensor, slices=wrong(1.5)),
        "slices is a whole number of blocks, got 1.5",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_on_its_own_line(name: str) -> None:
    make, words = REFUSED[name]
    with pytest.raises(PlanError, match=words) as caught:
        make()
    assert "test_clusters.py" in str(caught.value)


def test_blocks_that_stay_form_clusters_too() -> None:
    plan = tiled().persist("cta").cluster(i=2)
    assert [str(step) for step in plan.steps[1:]] == [
        "persist(cta, raster=rows, workers=sms, dims=(i, j))",
        "cluster(i=2)",
    ]
    with pytest.raises(PlanError, match=r"cluster\(k=2\): dims dealt to blocks are i, j"):
        tiled().persist("cta").cluster(k=2)


def test_steps_print_as_they_are_called() -> None:
    plan = dealt().cluster(i=2, j=1).stage("B", at="cta.k", into=shared(2, swizzle(128)), by=tensor, slices=2)
    assert [str(step) for step in plan.steps[2:]] == [
        "cluster(i=2, j=1)",
        "stage(B, at=cta.k, into=shared(depth=2, layout=swizzle(128)), by=tensor, slices=2)",
    ]
