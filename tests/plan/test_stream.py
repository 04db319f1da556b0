"""Sums whose slabs blocks share: what is printed, what is proved, and what is refused on the guilty line."""

from __future__ import annotations

import pytest

from polyhedral import Affine, const, var
from ptxgen.compute import f16, f32
from ptxgen.plan import Cutting, Plan, Stream, blocks, miscut, role, shared, sms, swizzle, tensor, warpgroups, wgmma
from tests.plan.refusing import Refused, check_refused, wrong
from tests.plan.sums import maximum, product, tiled


def walked() -> Plan:
    return tiled().persist("cta", workers=sms)


@pytest.mark.parametrize("slab", (16, 32, 96))
@pytest.mark.parametrize("extent", (var("K"), const(0), const(100)), ids=str)
def test_every_term_is_in_one_part_wherever_the_cuts_are(extent: Affine, slab: int) -> None:
    assert miscut(Cutting("k", extent, slab, slab)) == ""


FLAWS = {
    "a term is lost": (Cutting("k", var("K"), 32, 31), "term k = 31 is in no slab"),
    "a term is counted twice": (Cutting("k", var("K"), 32, 33), "has the term 32 again behind slab 0"),
    "slabs overlap": (Cutting("k", const(100), 32, 64), "behind slab"),
}


@pytest.mark.parametrize("name", FLAWS)
def test_parts_that_are_another_sum(name: str) -> None:
    cutting, words = FLAWS[name]
    assert words in miscut(cutting)


def test_the_plan_prints_before_and_after() -> None:
    text = str(walked().stream("k"))
    assert "stream(k, join=ordered)" in text
    assert "AB: cta.i@blocks, cta.j@blocks, cta.k, i<64, j<64, k<32  ->  " in text
    assert "->  cta.i@blocks, cta.j@blocks, cta.k of the item, i<64, j<64, k<32" in text
    assert "->  AB.partial[p, i, j] = sum[k: 32*cut[p] <= k < 32*cut[p + 1]] (A[i, k] * B[k, j])" in text
    assert "AB[i, j] = sum[p] AB.partial[p, i, j]    in f32, p ascending, cuts where the slabs of a block end" in text


def grouped_units() -> Plan:
    plan = walked().tile("group", i=64).place("group", onto=warpgroups)
    for name in ("A", "B"):
        plan = plan.stage(name, at="cta.k", into=shared(2, swizzle(64)), by=tensor)
    plan = plan.roles(load=role("A.shared", "B.shared", warps=4), math=role(warpgroups=2))
    return plan.multiply("AB", wgmma(64, f32, f16), at="group")


REFUSED: Refused = {
    "no dim": (lambda: walked().stream(wrong(1)), "dim is the name of a dim, got 1"),
    "no join": (lambda: walked().stream("k", join=wrong("ordered")), "join is ordered, got 'ordered'"),
    "twice": (lambda: walked().stream("k").stream("k"), "a sum is split already"),
    "split already": (lambda: tiled().place("cta", onto=blocks).split("k", 2).stream("k"), "a sum is split already"),
    "split behind it": (lambda: walked().stream("k").split("k", parts=2), "a sum is split already"),
    "a dim of several": (lambda: walked().stream("i"), "one statement sums over i alone, and no other has it"),
    "an unknown dim": (lambda: walked().stream("x"), "no statement has it"),
    "no sum": (lambda: maximum().persist("cta").stream("k"), "partial sums are added, m is no sum"),
    "blocks of one tile": (lambda: tiled().place("cta", onto=blocks).stream("k"), "persist a level first"),
    "not tiled": (
        lambda: product().tile("cta", i=64).persist("cta").stream("k"),
        "no level tiles k, whose tiles are dealt to the parts",
    ),
    "turns behind it": (
        lambda: grouped_units().stream("k").turns("math", "cta", "AB", split_items=True),
        "units that take whole items in turn have no parts of a sum",
    ),
    "turns before it": (
        lambda: grouped_units().turns("math", "cta", "AB", split_items=True).stream("k"),
        "deals whole items to units",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_on_its_own_line(name: str) -> None:
    check_refused(*REFUSED[name], __file__)


def test_it_is_a_step_of_the_plan() -> None:
    assert isinstance(walked().stream("k").steps[-1], Stream)
