"""The picture of a shared-memory request shows what the derived layout does."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from attrs import evolve

from ptxgen.derive import derive
from ptxgen.tile import Copy, SharedLayout, Space
from ptxgen.tile.picture import bank_picture, request_words
from tests.derive.computes import volta

PICTURE = Path(__file__).parents[1] / "golden" / "volta-banks.svg"
DERIVED = "A fragment load of 32 lanes from the derived layout of A"
LINEAR = "The same load if the rows of A lay one after the other"


def fragment_load() -> Copy:
    ops = derive(volta()).parts[0].ops
    return next(
        op.node
        for op in ops
        if isinstance(op.node, Copy) and op.node.op == "A.fragments" and op.node.source.buffer.space is Space.SHARED
    )


def in_rows(copy: Copy) -> Copy:
    """The same load from a tile in plain row order."""
    ring = copy.source.buffer
    return evolve(copy, source=evolve(copy.source, buffer=evolve(ring, placement=SharedLayout.linear(ring.shape, 1))))


def picture() -> str:
    return bank_picture([(DERIVED, fragment_load()), (LINEAR, in_rows(fragment_load()))])


def test_no_bank_twice_in_a_phase() -> None:
    words = request_words(fragment_load())
    assert len(words) == 2 * 32
    assert len({(word.phase, word.bank) for word in words}) == len(words)


def test_plain_rows_meet_in_four_banks() -> None:
    words = request_words(in_rows(fragment_load()))
    assert {word.bank for word in words} == {2, 3, 18, 19}


def test_the_readme_shows_the_layout_that_is_derived() -> None:
    ET.fromstring(picture())
    assert PICTURE.read_text() == picture()
