"""Blocks that stay: how a plan says it, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from ptxgen.derive import derive
from ptxgen.plan import Isolate, Persist, Plan, blocks, grouped, rows, sms
from ptxgen.tile import WorkList
from tests.derive.computes import matmul, softmax
from tests.plan.refusing import Refused, check_refused, wrong


def plain() -> Plan:
    return Plan(matmul(), "sm_90a").tile("cta", i=64, j=64, k=32)


REFUSED: Refused = {
    "no worker": (lambda: plain().persist("cta", workers=0), "a work list has one worker or more, got 0"),
    "workers by name": (
        lambda: plain().persist("cta", workers=wrong("sms")),
        "workers is sms or a count of blocks, got 'sms'",
    ),
    "half a worker": (lambda: plain().persist("cta", workers=wrong(1.5)), "a count of blocks, got 1.5"),
    "a truth": (lambda: plain().persist("cta", workers=True), "a work list has one worker or more, got True"),
    "a raster by name": (
        lambda: plain().persist("cta", raster=wrong("rows")),
        "raster is rows, grouped(count) or hilbert(side), got 'rows'",
    ),
    "a dim that is summed": (
        lambda: plain().persist("cta", dims=("i", "k")),
        "cta.k cannot be placed onto blocks: its sum is not declared to be joined across them",
    ),
    "nothing parallel": (
        lambda: Plan(matmul(), "sm_90a").tile("cta", k=32).persist("cta"),
        "level 'cta' has no dim to deal: all are summed away",
    ),
    "no such level": (lambda: plain().persist("group"), "no level 'group'; tiled levels are cta"),
    "placed already": (lambda: plain().place("cta", onto=blocks).persist("cta"), "level 'cta' is placed already"),
    "persisted already": (lambda: plain().persist("cta").place("cta", onto=blocks), "level 'cta' is placed already"),
    "full tiles apart": (
        lambda: plain().isolate("cta").persist("cta"),
        "isolate(cta) gives full tiles a program of their own, but blocks that stay run one for all",
    ),
    "full tiles apart afterwards": (
        lambda: plain().persist("cta", raster=grouped(4), workers=7).isolate("cta"),
        "where blocks stay: persist(cta, raster=grouped(4), workers=7, dims=(i, j))",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_on_its_own_line(name: str) -> None:
    check_refused(*REFUSED[name], __file__)


def test_a_plan_prints_what_was_asked_and_what_it_changes() -> None:
    step = plain().persist("cta", raster=grouped(8)).steps[-1]
    assert isinstance(step, Persist)
    assert str(step) == "persist(cta, raster=grouped(8), workers=sms, dims=(i, j))"
    assert str(plain().persist("cta", workers=3, dims=("j",)).steps[-1]) == (
        "persist(cta, raster=rows, workers=3, dims=(j,))"
    )
    text = str(plain().persist("cta"))
    assert "C: cta.i, cta.j, cta.k, i<64, j<64, k<32  ->  cta.i@blocks, cta.j@blocks, cta.k, i<64, j<64, k<32" in text


@pytest.mark.parametrize(("workers", "bound"), [(sms, None), (5, 5)])
def test_the_grid_says_how_many_walk_in_which_order(workers: Any, bound: int | None) -> None:
    steps = [step for step in softmax().steps if not isinstance(step, Isolate)]
    plan = Plan(softmax().compute, "sm_70", steps=tuple(steps[:2])).persist("cta", raster=rows, workers=workers)
    plan = Plan(plan.compute, plan.target, steps=(*plan.steps, *steps[3:]))
    grid = derive(plan).program.grid
    assert grid.work_list == WorkList(bound)
    assert [dim.variable for dim in grid.dims] == ["cta.i"]
    assert derive(softmax()).program.grid.work_list is None
