"""Programs in which two blocks store to the same elements, and nothing tells which comes first: the tile machine shows
the race, the judge of trees refuses it."""

from __future__ import annotations

import pytest
from attrs import evolve

from ptxgen.prove.trees import check_program
from ptxgen.tile import Program, When, show
from ptxgen.tile.reading import read
from ptxgen.tile.rewriting import replaced, spots
from tests.prove.menu import BOXED, HOPPER, PAIR, Planned

PLAIN = Planned("sm_90a", HOPPER)
PARTS = Planned("sm_90a", evolve(HOPPER, split=3))
SHARED = Planned("sm_90a", evolve(HOPPER, workers=2, stream=True))
PAIRS = Planned("sm_90a", evolve(HOPPER, cluster=(1, 2)))
TURNS = Planned("sm_90a", evolve(PAIR, i=64, workers=1, turns=True, drain=16))


def exchanged(planned: Planned, old: str, new: str) -> Program:
    text = show(planned.derivation.program)
    assert old in text
    return read(text.replace(old, new))


def always(planned: Planned, condition: str) -> Program:
    """The program that does in every block what it does where a condition holds."""
    program = planned.derivation.program
    found = [(spot, node) for spot, node in spots(program) if isinstance(node, When) and condition in show(node)]
    (spot, node), *_ = (pair for pair in found if "copy D[" in show(pair[1]))
    assert isinstance(node, When)
    return replaced(program, spot, node.then)


RACES = {
    "the columns of another tile": (PLAIN, exchanged(PLAIN, "copy D[64*cta.i, 16*cta.j]", "copy D[64*cta.i, 0]")),
    "half a tile on": (PLAIN, exchanged(PLAIN, "copy D[64*cta.i, 16*cta.j]", "copy D[64*cta.i, 8*cta.j]")),
    "of a cluster": (PAIRS, exchanged(PAIRS, "copy D[64*cta.i, 16*cta.j]", "copy D[64*cta.i, 8*cta.j]")),
    "every part": (PARTS, always(PARTS, "k.part")),
    "an item that goes on": (SHARED, always(SHARED, "leaving")),
    "pieces of tiles in turn": (TURNS, exchanged(TURNS, "copy D[64*cta.i, 16*cta.j]", "copy D[64*cta.i, 0]")),
}


@pytest.mark.parametrize("name", RACES)
def test_elements_that_two_blocks_store_are_told_on_the_line_of_the_store(name: str) -> None:
    planned, program = RACES[name]
    (finding, *_) = check_program(program).findings
    assert finding.code in ("synchronisation.memory", "synchronisation.covered")
    assert "D" in finding.message
    assert finding.origin is not None
    assert planned.faults(program, [4], tiles=3) == "tile.race"


@pytest.mark.parametrize("planned", [PLAIN, PARTS, SHARED, PAIRS, TURNS], ids=range(5))
def test_tiles_of_their_own_are_stored(planned: Planned) -> None:
    assert check_program(planned.derivation.program).accepted


def test_the_next_block_is_named() -> None:
    (finding,) = check_program(RACES["half a tile on"][1]).findings
    assert "stores to elements of D that the next block along cta.j stores to" in finding.message


@pytest.mark.parametrize("planned", [PLAIN, Planned("sm_90", evolve(BOXED, drain=16, workers=1))], ids=range(2))
def test_a_tile_that_the_grid_has_no_longer_is_told(planned: Planned) -> None:
    text = show(planned.derivation.program)
    line = next(each for each in text.splitlines(keepends=True) if each.startswith("  cta.i = 0 .. "))
    (finding, *_) = check_program(read(text.replace(line, ""))).findings
    assert "cta.i in " in finding.message
    assert finding.code == "synchronisation.control"
