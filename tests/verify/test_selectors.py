"""Numbers in vectors whose elements differ are judged one by one: the places of scales of a blocked product."""

from __future__ import annotations

import pytest

from isa.targets import target, version
from ptxgen.parse import parse
from ptxgen.verify import verify
from tests.oracles.ptxas import module, refused

NAME = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
FRAGMENTS = (
    "{%f32_0, %f32_1, %f32_2, %f32_3}, {%b32_0, %b32_1, %b32_2, %b32_3}, {%b32_4, %b32_5}, "
    "{%f32_4, %f32_5, %f32_6, %f32_7}"
)


@pytest.mark.parametrize(
    "selectors, words",
    [
        ("%b32_8, {2, 1}, %b32_9, {0, 3}", ""),
        ("%b32_8, {1, 1}, %b32_9, {0, 3}", "selector_a: operand byte wants one of 0, 2, got 1"),
        ("%b32_8, {2, 2}, %b32_9, {0, 3}", "selector_a: operand thread wants 0 to 1, got 2"),
        ("%b32_8, {2, 1}, %b32_9, {0, 4}", "selector_b: operand thread wants 0 to 3, got 4"),
    ],
)
def test_the_places_of_scales(selectors: str, words: str):
    text, first = module([f"{NAME} {FRAGMENTS}, {selectors};"], version("9.0"), target("sm_120a"))
    here = [each for each in verify(parse(text)) if each.origin is not None and each.origin.line == first]
    said = [each.message for each in here if each.code == "immediate.domain"]
    assert len(said) == bool(words)
    assert all(words in each for each in said)


@pytest.mark.parametrize(
    "statement, wanted",
    [
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%b64_39], {33};", "a b32 register, got the immediate 33"),
        (
            "red.global.add.noftz.v4.bf16x2 [%b64_39], {%b32_0, 7, %b32_2, %b32_3};",
            "bf16x2 register, got the immediate",
        ),
        ("st.global.v2.b32 [%b64_39], {%b32_0, 7};", ""),
        ("red.global.add.v2.f32 [%b64_39], {%f32_0, 0f3f800000};", ""),
    ],
)
def test_constants_in_vectors(statement: str, wanted: str):
    on = target("sm_90")
    text, first = module([statement], version("8.6"), on)
    here = [each for each in verify(parse(text)) if each.origin is not None and each.origin.line == first]
    said = [each.message for each in here if each.code == "operand.kind"]
    assert len(said) == bool(wanted) == len(refused([statement], version("8.6"), on))
    assert all(wanted in each for each in said)
