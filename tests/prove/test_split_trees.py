"""Tile programs whose blocks share a sum, edited in one place in every way: what the judge of trees accepts runs on the
tile machine at every count of slabs, in several interleavings."""

from __future__ import annotations

import pytest

from ptxgen.prove.trees import check_program
from ptxgen.tile import Program, show
from ptxgen.tile.reading import read
from tests.prove.edits import edits
from tests.prove.menu import Planned, split
from tests.prove.test_trees import refused, without

SPLIT = dict(split())
QUICK = ("sm_90a, 2 parts in a cluster", "sm_90, 2 parts in a cluster", "sm_90a, 3 parts through memory")


def shown(planned: Planned, program: Program) -> str:
    """What is wrong with an edited program on the machine, nothing where it is harmless."""
    try:
        return planned.faults(program, planned.slab_counts, 1)
    except AssertionError:
        return "wrong"


def outcomes(name: str, every: int) -> dict[str, int]:
    """How many edits are refused by the judge or harmless on the machine; that it is one of both is asserted."""
    planned, counts = SPLIT[name], {"refused": 0, "harmless": 0}
    for edit in list(edits(planned.derivation.program))[::every]:
        verdict = check_program(edit.program)
        if verdict.accepted:
            assert not shown(planned, edit.program), f"{name}: {edit} is accepted, and the machine shows a fault"
        counts["harmless" if verdict.accepted else "refused"] += 1
    return counts


@pytest.mark.parametrize("name", SPLIT)
def test_what_is_derived_is_read_again_and_accepted(name: str) -> None:
    program = SPLIT[name].derivation.program
    assert read(show(program)) == program
    assert check_program(program).accepted


@pytest.mark.parametrize("name", QUICK)
def test_a_sample_of_edits(name: str) -> None:
    counts = outcomes(name, every=13)
    assert counts["refused"] > 2 * counts["harmless"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SPLIT)
def test_every_edit_is_refused_or_harmless(name: str) -> None:
    counts = outcomes(name, every=1)
    print(f"{name:45} {counts}")
    assert counts["refused"] > 2 * counts["harmless"]


JOINED = show(SPLIT["sm_90a, 2 parts in a cluster"].derivation.program)
PASSED = show(SPLIT["sm_90a, 3 parts through memory"].derivation.program)
ARRIVAL, WAIT = "arrive at the cluster's barrier", "wait for the cluster's barrier"
FLOW = "flow AB.parts -> AB.part (AB.parts, distance 0)"
LEFT = "flow AB_sums -> AB.before"


def backwards() -> str:
    """Each part waits for the one behind it, whose block begins later."""
    text = PASSED.replace("when cta.k.part >= 1:", "X").replace("when 1 >= cta.k.part:", "when cta.k.part >= 1:")
    text = text.replace("X", "when 1 >= cta.k.part:").replace("when cta.k.part == 2:", "when cta.k.part == 0:")
    return text.replace("turns at cta.k.part", "turns at 2 - cta.k.part").replace(
        "as cta.k.part + 1", "as 3 - cta.k.part"
    )


def reading(blocks: str) -> str:
    """The first block reads the tiles of others."""
    return JOINED.replace("in blocks 0: 0;", f"in blocks 0: {blocks};", 1)


def at(corner: str) -> str:
    """What is read of the workspace begins elsewhere."""
    return PASSED.replace("AB_sums[64*tile, 0],", f"AB_sums[{corner}, 0],", 1)


def awaiting(value: str) -> str:
    """Another value of the flag is waited for."""
    return PASSED.replace("turns at cta.k.part", f"turns at {value}")


HARMFUL = {
    "no arrival": (without(JOINED, ARRIVAL, 2), "gathering", "has not arrived", WAIT),
    "no wait": (without(JOINED, WAIT, 2), "gathering", "twice before it waits", ARRIVAL),
    "no last wait": (without(JOINED, WAIT, 2, 1), "leave", "when it has left", "copy AB.part{1}"),
    "no barrier": (without(without(JOINED, ARRIVAL, 2), WAIT, 2), "covered", FLOW, "copy AB.part{0}"),
    "a block too many": (reading("0 1"), "reach", "of 2", "part{0}"),
    "a block that is none": (reading("2"), "reach", "ranks [0, 2]", "part{0}"),
    "who loads comes too": (
        JOINED.replace("thread elected", f"thread elected\n  {ARRIVAL}\n  {WAIT}"), "deadlock", "the cluster's", WAIT,
    ),
    "no acquisition": (without(PASSED, "acquire", 2), "passing", "nothing tells what comes first", "as cta"),
    "another value": (awaiting("cta.k.part + 3"), "deadlock", "no block", "acq"),
    "the value at the launch": (awaiting("cta.k.part - 1"), "passing", "", "acq"),
    "not put back": (without(PASSED, "release AB_sums_turns as 0", 2), "passing", "is 2 when the", "as cta"),
    "not passed on": (without(PASSED, "release AB_sums_turns as cta", 2), "deadlock", "no block passes", "acquire"),
    "passed on too early": (without(PASSED, "meet 0", 2, 1), "covered", LEFT, "copy AB.before"),
    "taken too early": (without(PASSED, "meet 0", 2), "covered", LEFT, "copy AB.before"),
    "one value twice": (PASSED.replace("as cta.k.part + 1", "as 1"), "deadlock", "a ring of waits", "acquire"),
    "no such flags": (PASSED.replace("acquire AB_sums_turns", "acquire others"), "passing", "is called others", "acq"),
    "beyond the tile": (at("64*tile + 1"), "memory", "leaves", "before"),
    "the next tile": (at("64*tile + 64"), "memory", "leaves", "before"),
    "a tile of another": (at("64*cta.i"), "memory", "known", "before"),
    "as many parts as there are not": (PASSED.replace("3 parts", "2 parts"), "passing", "2 parts", ""),
    "blocks that begin later": (backwards(), "passing", "may not have begun", "acquire"),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_changes_are_refused_on_their_line(name: str) -> None:
    text, code, words, guilty = HARMFUL[name]
    assert text not in (JOINED, PASSED)
    if not guilty:
        found = check_program(read(text)).findings[0]
        assert (found.code.removeprefix("synchronisation."), words in found.message) == (code, True)
        return
    code_found, message, line = refused(text)
    assert (code_found, words in message) == (code, True), message
    assert guilty in text.splitlines()[line - 1]
