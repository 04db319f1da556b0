"""Tile programs that contradict themselves otherwise than in their order: each edit is refused with its words, on its
line; what is derived passes."""

from __future__ import annotations

import itertools

import pytest
from attrs import evolve

from ptxgen.derive import derive
from ptxgen.errors import KernelError, Place
from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan
from ptxgen.kernels.launching.generated import build
from ptxgen.prove.declarations import contradictions
from ptxgen.tile import show
from ptxgen.tile.reading import read
from ptxgen.tile.rewriting import with_buffer
from tests.kernels.clusters import FACTS
from tests.prove.menu import AMPERE, Planned, menu, split

PLANS = dict(itertools.chain(menu(), split()))
DEEP = MatmulTiling(i=64, j=16, k=64, warps=4, depth=4, drain=16, isolate=False)
HOPPER = show(Planned("sm_90a", DEEP).derivation.program)
CHAINED = show(Planned("sm_90a", DEEP, promote=16).derivation.program)
STREAMED = show(PLANS["sm_90a, streamed"].derivation.program)
COPIED = show(Planned("sm_80", AMPERE).derivation.program)


@pytest.mark.parametrize("name", PLANS)
def test_what_is_derived_agrees_with_itself(name: str) -> None:
    program = PLANS[name].derivation.program
    assert contradictions(program) == ()
    assert contradictions(read(show(program))) == ()


# The text; what is exchanged, for what, how often at most; what is refused in these words; and on the line with these.
EDITS: dict[str, tuple[str, str, str, int, str, str]] = {
    "three warps": (
        *(HOPPER, "role math, 4 warps", "role math, 3 warps", 1),
        "role math has 3 warps from number 0 on, but AB is multiplied by warpgroups: it wants multiples of 4",
        "role math",
    ),
    "two warpgroups": (
        *(HOPPER, "role math, 4 warps", "role math, 8 warps", 1),
        *("role math has 8 warps, but AB, the sums of AB, is held by 4 warps", "role math"),
    ),
    "two warps of one": (
        *(COPIED, "role all, 1 warps", "role all, 2 warps", 1),
        *("role all has 2 warps, but AB, the sums of AB, is held by 1 warps", "role all"),
    ),
    "a narrower swizzle": (
        *(HOPPER, "over d1, d0, swizzled over 128 bytes", "over d1, d0, swizzled over 64 bytes", 1),
        *("A_shared_map swizzles over 64 bytes, but rows of A.shared lie together over 128 bytes", "A_shared_map"),
    ),
    "narrower boxes": (
        *(HOPPER, "in boxes of 64x64", "in boxes of 32x64", 1),
        *("A_shared_map has rows of 64 bytes in a box, wanted the 128 of its swizzle", "A_shared_map"),
    ),
    "a layout without a swizzle": (
        *(HOPPER, "d0: 72 144 288", "d0: 64 144 288", 1),
        *("A.shared has the offset 64, where the 128 bytes of A_shared_map want 72", "A_shared_map"),
    ),
    "a map of nothing": (
        *(HOPPER, "A_shared_map for A.shared", "A_shared_map for C.shared", 1),
        *("A_shared_map is for C.shared, wanted one of the copies in boxes: ", "A_shared_map"),
    ),
    "a quarter left out": (
        *(HOPPER, "1x1x4 of wgmma", "1x1x3 of wgmma", 9),
        *("AB: 3 of m64n16k16 take 0 .. 47 of A.shared along k, whose tile has 64; wanted parts that", "multiply"),
    ),
    "a quarter left out once": (
        *(HOPPER, "1x1x4 of wgmma", "1x1x3 of wgmma", 1),
        *("AB: 3 of m64n16k16 take 0 .. 47 of A.shared along k, whose tile has 64; wanted parts that", "multiply"),
    ),
    "a quarter too much": (
        *(HOPPER, "1x1x4 of wgmma", "1x1x5 of wgmma", 9),
        *("AB: 5 of m64n16k16 take 0 .. 79 of A.shared along k, whose tile has 64; wanted parts that", "multiply"),
    ),
    "a chain twice": (
        *(CHAINED, "[0, 16]", "[0, 0]", 9),
        *("take 32 .. 47 of A.shared along k, whose tile has 64; wanted parts that make up all of it", "[0, 32]"),
    ),
    "sums left out": (
        *(COPIED, "2x4x1 of m16n8k16", "1x4x1 of m16n8k16", 1),
        *("AB: 1 by 4 of m16n8k16 add up 16 values a lane of AB, which has 32", "1x4x1"),
    ),
    "strides of 8 bytes": (
        *(HOPPER, "lda % 8", "lda % 4", 1),
        "the strides lda of A are multiples of 8 bytes, but A_shared_map, a tensor map, wants lda % 8 == 0, 16 bytes",
        "lda %",
    ),
    "strides that are not told": (
        *(HOPPER, "  ldd % 8 == 0\n", "", 1),
        "the strides ldd of D are multiples of 2 bytes, but D_global_map, a tensor map, wants ldd % 8 == 0, 16 bytes",
        "D.global: copy",
    ),
    "an address of 2 bytes": (
        *(HOPPER, "aligned 16", "aligned 2", 1),
        *("A is aligned to 2 bytes, but A_shared_map, a tensor map, wants its address to be a multiple of 16", "A "),
    ),
    "rows that end inside of an access": (
        *(COPIED, "K % 8", "K % 4", 1),
        "rows of A have K elements, a multiple of 4, but A.shared, 8 elements at once, wants K % 8 == 0",
        "K %",
    ),
    "an access that is not aligned": (
        *(COPIED, "lda % 8", "lda % 2", 1),
        "the strides lda of A are multiples of 4 bytes, but A.shared, 8 elements at once, wants lda % 8 == 0, 16 bytes",
        "lda %",
    ),
    "shared bytes": (
        *(HOPPER, " shared bytes", "0 shared bytes", 1),
        *("shared bytes, not ", "program "),
    ),
    "warps": (*(HOPPER, ": 8 warps", ": 9 warps", 1), *("the program has 8 warps, not 9", "program ")),
    "bytes of a buffer": (
        *(HOPPER, "64x64 x 4, 32768 bytes", "64x64 x 4, 16384 bytes", 1),
        *("A.shared has 32768 bytes, not 16384: leave the number to what is declared", "A.shared "),
    ),
    "values of a buffer": (
        *(HOPPER, "x 1, 8 values a lane", "x 1, 4 values a lane", 1),
        *("AB has 8 values a lane, not 4", "AB "),
    ),
    "half of the slabs": (
        *(STREAMED, "floor((K + 15)/16) slabs", "floor((K + 31)/32) slabs", 1),
        "tiles have floor((K + 31)/32) slabs, but A.shared takes those of A along d1: wanted floor((K + 15)/16)",
        "streamed",
    ),
    "items that begin elsewhere": (
        *(STREAMED, "B[16*item.first + 16*t1", "B[8*item.first + 16*t1", 1),
        *("but B.shared takes those of B along d0: wanted floor((K + 7)/8)", "streamed"),
    ),
    "a workspace of halves": (
        *(STREAMED, "AB_sums: 1024 of f32", "AB_sums: 1024 of f16", 1),
        *("AB_sums has f16, wanted a workspace of that, got a parameter of f32", "AB_sums: "),
    ),
    "a workspace that nobody gives": (
        *(STREAMED, "  AB_sums        workspace  f32, aligned 256 bytes, written\n", "", 1),
        *("AB_sums has f32, wanted a workspace of that, got no parameter", "AB_sums: "),
    ),
    "a workspace that nothing measures": (
        *(STREAMED, "  AB_sums: 1024 of f32 a tile\n", "", 1),
        *("nothing tells what a tile of AB_sums has: wanted a workspace 'AB_sums: N of f32 a tile'", "AB_sums  "),
    ),
    "tiles of halves": (
        *(STREAMED, "AB_sums in global  f32", "AB_sums in global  f16", 1),
        *("tiles of AB_sums are of f16, but AB_sums has f32", "AB_sums: "),
    ),
    "flags of two bytes": (
        *(STREAMED, "AB_sums_turns: 1 of s32", "AB_sums_turns: 1 of f16", 1),
        *("AB_sums_turns has flags, wanted elements of 4 bytes, got f16", "AB_sums_turns: "),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", EDITS)
def test_a_contradiction_is_refused_on_its_line(what: str) -> None:
    text, old, new, count, words, place = EDITS[what]
    changed = text.replace(old, new, count)
    assert changed != text
    with pytest.raises(KernelError) as refused:
        build(read(changed, "mine.tile"))
    found = next((each for each in refused.value.findings if words in each.message), None)
    assert found is not None, str(refused.value)
    origin: Place | None = found.origin
    assert origin is not None
    assert place in changed.splitlines()[origin.line - 1]
    assert (origin.file, found.code.partition(".")[0]) == ("mine.tile", "declaration")


def test_extents_need_nothing_for_a_tensor_map() -> None:
    changed = read(HOPPER.replace("K % 8", "K % 4", 1))
    assert build(changed).entry.facts == changed.facts


def test_a_role_of_warpgroups_begins_where_a_warpgroup_does() -> None:
    program = read(HOPPER.replace("role load, 4 warps", "role load, 1 warps").replace(": 8 warps", ": 5 warps"))
    found = contradictions(evolve(program, roles=program.roles[::-1]))
    assert [each.message.partition(", but")[0] for each in found] == ["role math has 4 warps from number 1 on"]


def test_numbers_may_be_left_out_and_follow_what_is_rewritten() -> None:
    told = HOPPER.splitlines()[0]
    assert contradictions(read(HOPPER.replace(told, told.partition(":")[0] + ":"))) == ()
    assert contradictions(with_buffer(read(HOPPER), "A.shared", depth=5)) == ()


def test_plans_of_other_types_agree_with_themselves() -> None:
    for layout in Layout:
        spec = MatmulSpec(layout)
        for target, tiling in (("sm_70", None), ("sm_90a", DEEP)):
            plan = matmul_plan(matmul_compute(spec), spec, FACTS, tiling or MatmulTiling(), target)
            assert contradictions(derive(plan).program) == ()
