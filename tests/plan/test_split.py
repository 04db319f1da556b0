"""The split of a sum: what is printed, what is proved, and what is refused on the guilty line."""

from __future__ import annotations

import pytest

from polyhedral import Affine, const, var
from ptxgen.plan import Deal, Plan, blocks, misdealt, shared, swizzle, tensor
from tests.plan.refusing import Refused, check_refused, wrong
from tests.plan.sums import maximum, product, tiled


def dealt() -> Plan:
    return tiled().place("cta", onto=blocks)


@pytest.mark.parametrize("parts", (2, 4, 8))
@pytest.mark.parametrize("extent", (var("K"), const(0), const(100)), ids=str)
def test_every_term_is_in_one_part(extent: Affine, parts: int) -> None:
    assert misdealt(Deal("k", extent, 32, parts, 32)) == ""


FLAWS = {
    "a term is lost": (Deal("k", var("K"), 32, 4, 31), "term k = 31 is in no part"),
    "a term is counted twice": (Deal("k", var("K"), 32, 4, 33), "term k = 32 is in part 0 and in part 1"),
    "slabs overlap": (Deal("k", const(100), 32, 2, 64), "is in part 0 and in part 1"),
}


@pytest.mark.parametrize("name", FLAWS)
def test_parts_that_are_another_sum(name: str) -> None:
    deal, words = FLAWS[name]
    assert words in misdealt(deal)


def test_the_plan_prints_before_and_after() -> None:
    text = str(dealt().split("k", parts=4))
    assert "split(k, parts=4, join=ordered, through=shared(depth=1, layout=free))" in text
    assert "->  cta.i@blocks, cta.j@blocks, cta.k.part@blocks, cta.k, i<64, j<64, k<32" in text
    assert "->  AB.partial[p, i, j] = sum[k: floor((k)/32) mod 4 = p] (A[i, k] * B[k, j])" in text
    assert "AB[i, j] = sum[p] AB.partial[p, i, j]    in f32, p ascending" in text


REFUSED: Refused = {
    "no dim": (lambda: dealt().split(wrong(1), parts=2), "dim is the name of a dim, got 1"),
    "no number": (lambda: dealt().split("k", parts=wrong("2")), "parts is a whole number of blocks, got '2'"),
    "no join": (lambda: dealt().split("k", parts=2, join=wrong("ordered")), "join is ordered, got 'ordered'"),
    "one part": (lambda: dealt().split("k", parts=1), "parts are 2, 4 or 8, the blocks of a cluster, got 1"),
    "three parts": (lambda: dealt().split("k", parts=3), "parts are 2, 4 or 8, the blocks of a cluster, got 3"),
    "too many": (lambda: dealt().split("k", parts=16), "a cluster has at most 8"),
    "beside a cluster": (
        lambda: dealt().cluster(i=2).split("k", parts=8),
        "the blocks of a cluster, 2 of which take other tiles, got 8",
    ),
    "a cluster beside it": (
        lambda: dealt().split("k", parts=8).cluster(i=2),
        "a cluster has 2 to 8 blocks, got 2 for each of 8 parts of a sum",
    ),
    "twice": (lambda: dealt().split("k", parts=2).split("k", parts=2), "a sum is split already"),
    "a dim of several": (lambda: dealt().split("i", parts=2), "one statement sums over i alone, and no other has it"),
    "an unknown dim": (lambda: dealt().split("x", parts=2), "no statement has it"),
    "no sum": (lambda: maximum().place("cta", onto=blocks).split("k", parts=2), "partial sums are added, m is no sum"),
    "before the blocks": (lambda: tiled().split("k", parts=2), "place a level onto blocks first"),
    "not tiled": (
        lambda: product().tile("cta", i=64).split("k", parts=2),
        "no level tiles k, whose tiles are dealt to the parts",
    ),
    "blocks that stay": (
        lambda: tiled().persist("cta").split("k", parts=2),
        "blocks that stay and walk the tiles",
    ),
    "a swizzle": (lambda: dealt().split("k", 2, through=shared(1, swizzle(128))), "in one tile without conflicts"),
    "no ring below": (lambda: dealt().split("k", 2, through=shared(1, alias="A.shared")), "no ring 'A.shared' to lie"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_on_its_own_line(name: str) -> None:
    check_refused(*REFUSED[name], __file__)


def test_it_lies_over_a_staged_ring() -> None:
    plan = dealt().stage("B", at="cta.k", into=shared(2, swizzle(128)), by=tensor)
    over = plan.split("k", parts=2, through=shared(1, alias="B.shared"))
    assert "through=shared(depth=1, layout=free, alias=B.shared)" in str(over.steps[-1])
