"""Tile programs whose blocks share the slabs of all tiles, edited in one place in every way: what the judge of trees
accepts runs on the tile machine at every count of slabs and tiles, in several interleavings."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import pairwise, product
from typing import Any

import pytest
from attrs import evolve, frozen

from ptxgen.kernels import MatmulTiling
from ptxgen.prove.trees import check_program
from ptxgen.prove.trees.shares import Share, most_workers, shares
from ptxgen.prove.trees.streams import slabs_of, streamed_cases
from ptxgen.tile import ITEM_FIRST, ITEM_SLABS, JOINING, LEAVING, Program, show
from ptxgen.tile.machine.streaming import shares as taken
from ptxgen.tile.reading import read
from ptxgen.tile.rewriting import with_buffer, with_ring
from tests.prove.edits import edits
from tests.prove.menu import AMPERE, HOPPER, PAIR, TURING, Planned
from tests.prove.test_trees import refused, without


@frozen
class Streamed(Planned):
    """A product whose tiles are shared: run with one to five, so that blocks leave a part, join one, and do both."""

    def shown(self, program: Program) -> str:
        """What is wrong with an edited program on the machine, nothing where it is harmless."""
        for tiles in (1, 2, 5):
            try:
                fault = self.faults(program, self.slab_counts, tiles)
            except AssertionError:
                return "wrong"
            if fault:
                return fault
        return ""


def streamed(target: str, tiling: MatmulTiling, workers: int, **others: Any) -> Streamed:
    return Streamed(target, evolve(tiling, workers=workers, stream=True, **others))


STREAMED = {
    "sm_90a": streamed("sm_90a", HOPPER, 3),
    "sm_90a, two warpgroups, drained": streamed("sm_90a", PAIR, 2, drain=16),
    "sm_90a, clusters of 2x1": streamed("sm_90a", HOPPER, 6, cluster=(2, 1)),
    "sm_90a, 48 columns": streamed("sm_90a", HOPPER, 3, j=48),
    "sm_80": streamed("sm_80", AMPERE, 3),
    "sm_80, drained": streamed("sm_80", AMPERE, 2, drain=16),
    "sm_90, boxed": streamed("sm_90", AMPERE, 3, boxed=True),
    "sm_75": streamed("sm_75", TURING, 3),
}
QUICK = {"sm_90a": 13, "sm_80": 31, "sm_75": 17}


def outcomes(name: str, every: int) -> dict[str, int]:
    """How many edits are refused by the judge or harmless on the machine; that it is one of both is asserted."""
    planned, counts = STREAMED[name], {"refused": 0, "harmless": 0}
    for edit in list(edits(planned.derivation.program))[::every]:
        verdict = check_program(edit.program)
        if verdict.accepted:
            fault = planned.shown(edit.program)
            assert not fault, f"{name}: {edit} is accepted, and the machine shows {fault}"
        counts["harmless" if verdict.accepted else "refused"] += 1
    return counts


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in STREAMED])
def test_what_is_derived_is_read_again_and_accepted(name: str) -> None:
    program = STREAMED[name].derivation.program
    assert slabs_of(program) is not None
    assert read(show(program)) == program
    verdict = check_program(program)
    assert verdict.accepted, str(verdict)


@pytest.mark.parametrize("name", QUICK)
def test_a_sample_of_edits(name: str) -> None:
    assert outcomes(name, QUICK[name])["refused"]


@pytest.mark.slow
@pytest.mark.parametrize("name", STREAMED)
def test_every_edit_is_refused_or_harmless(name: str) -> None:
    counts = outcomes(name, every=1)
    print(f"{name:45} {counts}")
    assert counts["refused"] > 2 * counts["harmless"]


def test_meetings_of_other_items_beside_each_other_are_kept() -> None:
    """One before pieces of what a block stores, one behind what it leaves: the steady state needs but one of the two,
    and no item has both."""
    tiling = evolve(HOPPER, j=32, workers=3, stream=True, drain=16, piecewise=True)
    planned = Streamed("sm_90a", tiling, residual=True)
    program = planned.derivation.program
    assert check_program(program).accepted
    for tiles, slabs in ((1, 3), (2, 1), (5, 4)):
        for seed in (None, slabs):
            planned.run(program, slabs, tiles, seed)


LAUNCHES = [(t, s, w) for t, s in product(range(1, 13), range(7)) for w in range(1, most_workers(t, s) + 1)]


def test_the_machine_deals_slabs_out_alike() -> None:
    """Two readings of what a work list says, which share no code."""
    for tiles, slabs, workers in LAUNCHES:
        both = zip(shares(tiles, slabs, workers), taken(tiles, slabs, workers), strict=True)
        for block, (own, other) in enumerate(both):
            told = own.told(block, workers)
            assert [(part.first, part.slabs) for part in own.parts] == [(i.first, i.slabs) for i in other.items]
            assert (told[LEAVING], told[JOINING]) == (other.leaving, other.joining), (tiles, slabs, workers)


def kinds(share: Share, few: int) -> Iterator[Hashable]:
    """What comes behind what in a block, counts of slabs told from each other up to a few; and each item by itself."""
    told = [(part.begun, part.goes_on) for part in share.parts]
    slabs = [part.slabs for part in share.parts]
    yield from zip(slabs, told, strict=True)
    capped = [("ends", "ends"), *((min(n, few), own) for n, own in zip(slabs, told, strict=True)), ("ends", "ends")]
    yield from pairwise(capped)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sm_90a", "sm_80"])
def test_larger_launches_have_nothing_that_those_looked_at_do_not_have(name: str) -> None:
    program = STREAMED[name].derivation.program
    slabs = slabs_of(program)
    assert slabs is not None
    seen = {kind for case in streamed_cases(program, slabs) for share in case.shares for kind in kinds(share, 3)}
    for tiles, number in product(range(1, 17), range(9)):
        for workers in range(1, min(11, most_workers(tiles, number)) + 1):
            for share in shares(tiles, number, workers):
                assert seen.issuperset(kinds(share, 3)), (tiles, number, workers, share)


HOPPER_TEXT = show(STREAMED["sm_90a"].derivation.program)
AMPERE_TEXT = show(STREAMED["sm_80"].derivation.program)
PAIRED_TEXT = show(STREAMED["sm_90a, clusters of 2x1"].derivation.program)
TURNS = "AB_sums_turns"
LEFT = "flow AB_sums -> AB.before"


def deeper(depth: int) -> Program:
    program = with_ring(read(HOPPER_TEXT), "A.shared+B.shared", depth=depth)
    for name in ("A.shared", "B.shared"):
        program = with_buffer(program, name, depth=depth)
    return program


def asking(ahead: int) -> str:
    """The wait for a slab stands under a condition: that so many terms are left from its beginning on."""
    lines = HOPPER_TEXT.splitlines()
    place = next(n for n, line in enumerate(lines) if "t1} full" in line)
    waiting = [f"  {line}" for line in lines[place : place + 3]]
    asked = f"        when K >= 16*item.first + 16*t1 + {ahead}:"
    return "\n".join([*lines[:place], asked, *waiting, *lines[place + 3 :]])


HARMLESS = {
    "a wait where terms are left": read(asking(1)),
    "two slots": deeper(2),
    "five slots": deeper(5),
    "more blocks": read(HOPPER_TEXT.replace("walked by 3 blocks", "walked by 7 blocks")),
    "as many blocks as run": read(HOPPER_TEXT.replace("walked by 3 blocks", "walked by as many blocks as run at once")),
    "another value of the flags": read(HOPPER_TEXT.replace("} at 1", "} at 5").replace("block} as 1", "block} as 5")),
    "the first slab as the value": read(
        HOPPER_TEXT.replace("} at 1", f"}} at {ITEM_FIRST}").replace("} as 1", f"}} as {ITEM_FIRST} + {ITEM_SLABS}")
    ),
    "without covers": read("\n".join(x for x in HOPPER_TEXT.splitlines() if not x.strip().startswith("covers"))),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_changes_are_accepted_and_keep_the_bits(name: str) -> None:
    planned, program = STREAMED["sm_90a"], read(HOPPER_TEXT)
    changed = HARMLESS[name]
    assert check_program(changed).accepted, str(check_program(changed))
    for slabs, tiles in ((1, 3), (4, 5)):
        found = planned.run(changed, slabs, tiles, seed=slabs)
        assert "blocks" in name or found == planned.run(program, slabs, tiles)


def exchanged(old: str, new: str, text: str = HOPPER_TEXT, count: int = -1) -> str:
    assert old in text
    return text.replace(old, new, count)


def late(condition: str) -> str:
    """Slots of the item before are waited for under another condition."""
    return exchanged("    when t0 >= leaving:\n      retire", f"    when {condition}:\n      retire", AMPERE_TEXT)


PUT_BACK = f"release {TURNS}{{block - 1}} as 0"
HARMFUL = {
    "no acquisition": (without(HOPPER_TEXT, "acquire", 2), "passing", "nothing tells what comes first", "release"),
    "another value": (exchanged("} at 1", "} at 2"), "deadlock", "no block passes the tile on so", "acquire"),
    "the value at the launch": (exchanged("} at 1", "} at 0"), "deadlock", "a ring of waits", "acquire"),
    "not put back": (without(HOPPER_TEXT, PUT_BACK, 2), "passing", "is 1 when the launch ends", "release"),
    "put back too early": (
        exchanged("acquire", "X").replace(PUT_BACK, f"acquire {TURNS}{{block - 1}} at 1")
        .replace(f"X {TURNS}{{block - 1}} at 1", PUT_BACK), "passing", "nothing tells what comes first", "",
    ),
    "not passed on": (without(HOPPER_TEXT, f"release {TURNS}{{block}}", 2), "deadlock", "no block passes", "acquire"),
    "passed on too early": (without(HOPPER_TEXT, "meet 0", 2, 1), "covered", LEFT, "copy AB.before"),
    "taken too early": (without(HOPPER_TEXT, "meet 0", 2), "covered", LEFT, "copy AB.before"),
    "the flag of a block behind": (exchanged("{block - 1} at", "{block + 1} at"), "passing", "", ""),
    "blocks that begin later": (
        exchanged("when t0 == joining:", "X").replace("when t0 == 0:", "when t0 == joining:")
        .replace("when leaving == 1:", "when t0 == joining:").replace("X", "when leaving - t0 == 1:")
        .replace("block - 1}", "block + 1}").replace("64*block - 64", "64*block + 64"),
        "passing", "may not have begun", "acquire",
    ),
    "the flag of another number": (exchanged("{block - 1}", "{2*block - 2}"), "passing", "at a distance from", "acq"),
    "its own flag": (exchanged("{block - 1}", "{block}"), "deadlock", "a ring of waits", "acquire"),
    "the tile of another": (exchanged("64*block - 64", "64*block - 128"), "memory", "leaves the tile", "AB.before"),
    "its own tile": (exchanged("64*block - 64", "64*block"), "rank", "what no block has left", "AB.before"),
    "beyond the tile": (exchanged("64*block - 64", "64*block - 63"), "memory", "leaves the tile", "AB.before"),
    "a tile of the product": (exchanged("64*block - 64", "64*cta.i"), "memory", "not known to copy", "AB.before"),
    "no such flags": (exchanged(f"acquire {TURNS}", "acquire others"), "passing", "is called others", "acquire"),
    "every item waits": (exchanged("when t0 == joining:", "when t0 >= joining:"), "passing", "", "acquire"),
    "joined an item late": (
        exchanged("when t0 == joining:", "when t0 == joining + 1:"), "passing", "", "",
    ),
    "told by the block": (exchanged("t0 == joining:", "block >= 1:"), "control", "asks for block", "streamed"),
    "slabs of no size": (exchanged("(K + 15)/16) sl", "(X + 15)/16) sl"), "control", "with one of M, K, N", "stream"),
    "slabs that no item has": (exchanged("1 .. item.slabs - 1", "1 .. item.slabs"), "count", "but 2 arrive", "x 3"),
    "tiles of a ring counted anew": (without(HOPPER_TEXT, "advance", 1), "count", "2 arrive", "x 3"),
    "counted anew by who loads": (without(HOPPER_TEXT, "advance", 1, 1), "arrivals", "", ""),
    "a late item that does not meet": (late("9 >= t0"), "covered", "A.shared", "copy A.shared"),
    "an item that is too late": (late("99 >= t0"), "control", "asks for item number 99", ""),
    "no wait for the last terms": (asking(9), "covered", "flow A.shared -> AB", "multiply"),
    "slots of the item before": (without(AMPERE_TEXT, "t0 >= leaving:", 9), "covered", "A.shared", "copy A.shared"),
    "the block beside": (
        exchanged(f"{TURNS}{{block - 2}}", f"{TURNS}{{block - 1}}", PAIRED_TEXT), "passing", "", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_changes_are_refused_on_their_line(name: str) -> None:
    text, code, words, guilty = HARMFUL[name]
    if not guilty:
        found = check_program(read(text)).findings[0]
        assert (found.code.removeprefix("synchronisation."), words in found.message) == (code, True), found.message
        return
    code_found, message, line = refused(text)
    assert (code_found, words in message) == (code, True), message
    assert guilty in text.splitlines()[line - 1]
