"""Tile programs as they are, derived and changed by hand: what the judge of trees accepts runs on the tile machine, and
what it refuses it refuses for a reason, on the line of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from attrs import evolve

from ptxgen.derive import derive
from ptxgen.errors import Place
from ptxgen.plan import Plan
from ptxgen.prove.trees import check_program
from ptxgen.tile import Meet, Program, RegisterFence, Retire, Wait, show
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.mutants import without_each_synchronisation
from ptxgen.tile.reading import read
from ptxgen.tile.rewriting import spots
from tests.derive.computes import ampere, chained, hopper, softmax, transpose, volta
from tests.derive.test_derived_programs import matmul_case
from tests.derive.test_persistent_programs import persisted, run_hopper, small_hopper
from tests.kernels import clusters

PLANS: dict[str, Callable[[], Plan]] = {
    "transpose": transpose,
    "softmax": softmax,
    "ampere": lambda: ampere(tile=(64, 64, 32)),
    "hopper": hopper,
    "volta, walking": lambda: persisted(volta()),
    "hopper, walking": lambda: persisted(small_hopper()),
}
RING = "A.shared+B.shared"
WALKING = show(derive(persisted(small_hopper())).program)
AMPERE = show(derive(ampere(tile=(64, 64, 32))).program)


def refused(text: str) -> tuple[str, str, int]:
    """Code and message of the first finding, and its line."""
    verdict = check_program(read(text, "mine.tile"))
    assert not verdict.accepted
    first = verdict.findings[0]
    place: Place | None = first.origin
    assert place is not None
    assert place.file == "mine.tile"
    return first.code.removeprefix("synchronisation."), first.message, place.line


def line_of(text: str, words: str, number: int = 0) -> int:
    return [n for n, line in enumerate(text.splitlines(), start=1) if words in line][number]


def without(text: str, words: str, lines: int, number: int = 0) -> str:
    """The text without the line that has these words, and those behind it, so many in all."""
    kept, first = text.splitlines(), line_of(text, words, number) - 1
    return "\n".join(kept[:first] + kept[first + lines :])


@pytest.mark.parametrize("name", PLANS)
def test_what_is_derived_is_accepted(name: str) -> None:
    verdict = check_program(derive(PLANS[name]()).program)
    assert verdict.accepted, str(verdict)


@pytest.mark.slow
def test_chained_products_are_accepted() -> None:
    assert check_program(derive(chained()).program).accepted


def deeper(depth: int) -> str:
    return (
        WALKING.replace("64x64 x 3", f"64x64 x {depth}")
        .replace("64x16 x 3", f"64x16 x {depth}")
        .replace(f"{RING} x 3", f"{RING} x {depth}")
    )


def swapped() -> str:
    lines, first = WALKING.splitlines(), line_of(WALKING, "copy A.shared") - 1
    return "\n".join(lines[:first] + lines[first + 2 : first + 4] + lines[first : first + 2] + lines[first + 4 :])


@pytest.mark.parametrize("text", [deeper(2), deeper(5), swapped()], ids=["two slots", "five slots", "copies swapped"])
def test_harmless_changes_are_accepted_and_keep_the_bits(text: str) -> None:
    changed, program = read(text), read(WALKING)
    assert changed != program
    assert check_program(changed).accepted
    for slabs, tiles in ((0, 1), (1, 3), (5, 2)):
        wanted, _ = run_hopper(program, slabs, tiles)
        found, _ = run_hopper(changed, slabs, tiles, seed=slabs)
        assert found.arrays["D"].tobytes() == wanted.arrays["D"].tobytes()


HARMFUL = {
    "a ring of one slot": (deeper(1), "deadlock", "wait", "wait A.shared+B.shared{cta.k.past + t1} empty"),
    "slots of A alone": (
        WALKING.replace("64x64 x 3", "64x64 x 2"), "covered", "reuse C -> A.shared (A.shared, distance 2)",
        "copy A.shared",
    ),
    "no wait for what has landed": (
        without(WALKING, "t1} full", 3), "covered", "flow A.shared -> C (A.shared, distance 0)", "multiply C",
    ),
    "no wait for a free slot": (
        without(WALKING, "t1} empty", 3, 1), "covered", "reuse C -> A.shared (A.shared, distance 3)", "copy A.shared",
    ),
    "another count": (WALKING.replace("empty by 1", "empty by 2"), "count", "reuse C -> A.shared", f"{RING} x 3"),
    "fewer bytes": (WALKING.replace("full, 10240", "full, 10224"), "bytes", "10240 land", "expect"),
    "one more pending": (
        WALKING.replace("wgmma, pending 1", "wgmma, pending 2"), "covered", "reuse C -> A.shared", "copy A.shared",
    ),
    "a release one step late": (
        WALKING.replace("t1 - 1} empty", "t1 - 2} empty"), "arrivals", "reuse C -> A.shared", "arrive",
    ),
    "no last release": (without(WALKING, "when t1 >= 0", 4), "arrivals", "reuse C -> A.shared", f"{RING} x 3"),
    "another step of a counter": (
        WALKING.replace("by floor((K + 63)/64)", "by floor((K + 64)/64)", 1), "arrivals", "reuse", "arrive",
    ),
    "no fence": (without(WALKING, "register fence", 3), "covered", "flow C.fill -> C", "multiply C"),
    "a window left open": (WALKING.replace("wgmma, pending 0", "wgmma, pending 1"), "window", "C.fill", "multiply C"),
    "no meeting": (without(AMPERE, "meet 0", 7), "covered", "A.shared -> A.fragments", "copy A.fragments"),
    "one more open": (AMPERE.replace("pending 0", "pending 1"), "covered", "A.shared -> A.fragments", "copy A.fragm"),
    "no group closed": (without(AMPERE, "commit cp.async", 1, 2), "covered", "A.shared", "copy A."),
    "a barrier too many": (AMPERE.replace("meet 0", "meet 16", 1), "barrier", "16 barriers", "meet 16"),
    "the wrong tile": (
        AMPERE.replace("copy A.fragments{0} <- A.shared{0}", "copy A.fragments{0} <- A.shared{1}"), "rank", "tile 1",
        "copy A.fragments{0} <- A.shared{1}",
    ),
    "a thread that is none": (WALKING.replace(", one thread elected", ""), "count", "every thread of load", "expect"),
    "no such ring": (WALKING.replace(f"wait {RING}{{cta", "wait other{cta", 1), "barrier", "no ring", "wait other"),
    "a name that is none": (WALKING.replace("cta.k.past + t1 - 1", "cta.k.past + t9"), "control", "t9", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_changes_are_refused_on_their_line(name: str) -> None:
    text, code, words, guilty = HARMFUL[name]
    assert text not in (WALKING, AMPERE)
    if not guilty:
        (finding,) = check_program(read(text)).findings
        assert words in finding.message
        return
    found, message, line = refused(text)
    assert (found, words in message) == (code, True), message
    assert guilty in text.splitlines()[line - 1]


def faults(program: Program, cases: Iterator[tuple[int, int]]) -> set[str]:
    seen = set()
    for slabs, tiles in cases:
        try:
            run_hopper(program, slabs, tiles)
        except MachineFault as fault:
            seen.add(fault.code)
    return seen


def test_machine_and_judge_agree_on_each_missing_piece() -> None:
    """What the judge lets go is a fence that the machine does not miss either."""
    harmless = []
    for mutant in without_each_synchronisation(read(WALKING)):
        found = faults(mutant.program, iter(((4, 3), (1, 3), (7, 3), (3, 3))))
        accepted = check_program(mutant.program).accepted
        assert accepted == (not found), mutant.removed
        harmless += [type(mutant.removed)] if accepted else []
    assert harmless == [RegisterFence]


def test_machine_and_judge_agree_without_roles() -> None:
    program = read(AMPERE)
    sizes = [(m, n, k) for m, n in ((64, 64), (40, 56)) for k in (24, 96, 176)]
    for mutant in list(without_each_synchronisation(program))[::4]:
        assert not check_program(mutant.program).accepted
        found = set()
        for m, n, k in sizes:
            arrays, given, _ = matmul_case("nn", m, n, k)
            try:
                run(mutant.program, arrays, given)
            except MachineFault as fault:
                found.add(fault.code)
        assert found, mutant.removed


def test_what_is_written_by_hand_needs_no_covers() -> None:
    bare = "\n".join(line for line in WALKING.splitlines() if not line.strip().startswith("covers"))
    program = read(bare)
    assert check_program(program).accepted
    kinds = [type(node) for _, node in spots(program) if isinstance(node, Wait | Retire | Meet)]
    assert kinds == [type(node) for _, node in spots(read(WALKING)) if isinstance(node, Wait | Retire | Meet)]
    assert evolve(program, roles=()) == evolve(read(WALKING), roles=())


TURNS = show(clusters.derived((1, 1), tiling=evolve(clusters.TINY, warps=8, workers=1, turns=True)).program)
SEVERAL = ((264, 40, 16 * 4), (200, 24, 16), (72, 40, 16 * 7))


@pytest.mark.parametrize("cluster", [(1, 1), (2, 1)])
@pytest.mark.parametrize("warps", [8, 12])
def test_units_that_take_items_in_turn_are_accepted(cluster: tuple[int, int], warps: int) -> None:
    tiling = evolve(clusters.TINY, warps=warps, workers=2, drain=16, turns=True)
    verdict = check_program(clusters.derived(cluster, tiling=tiling).program)
    assert verdict.accepted, str(verdict)


def test_machine_and_judge_agree_on_each_missing_piece_of_turns() -> None:
    """But for the fences of later products all is missed by both."""
    harmless = []
    for mutant in list(without_each_synchronisation(read(TURNS)))[::2]:
        accepted = check_program(mutant.program).accepted
        assert accepted == (not clusters.faults(mutant.program, SEVERAL)), mutant.removed
        harmless += [type(mutant.removed)] if accepted else []
    assert set(harmless) <= {RegisterFence}


WRONG_TURNS = {
    "both take the same items": (TURNS.replace("items 1, 3, 5", "items 0, 2, 4"), "count"),
    "items of each other": (
        TURNS.replace("items 1, 3, 5", "X").replace("items 0, 2, 4", "items 1, 3, 5").replace("X", "items 0, 2, 4"),
        "arrivals",
    ),
    "an item that nobody takes": (
        TURNS.replace("items 1, 3, 5", "items 1, 4, 7").replace("items 0, 2, 4", "items 0, 3, 6"), "arrivals",
    ),
    "one unit takes each item": (TURNS.replace("items 1, 3, 5, ...", "each item"), "count"),
    "another count": (TURNS.replace("and 0 bytes, empty by 4", "and 0 bytes, empty by 1"), "count"),
    "one slot": (TURNS.replace("turns of AB x 2", "turns of AB x 1"), "deadlock"),
    "no turns": ("\n".join(line for line in TURNS.splitlines() if "turns of AB" not in line), "seen"),
    "a turn too late": (TURNS.replace("turns of AB{t0 + 1} empty", "turns of AB{t0 + 2} empty"), "deadlock"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_TURNS)
def test_wrong_turns_are_refused(name: str) -> None:
    text, code = WRONG_TURNS[name]
    assert text != TURNS
    program = read(text)
    assert f"synchronisation.{code}" in check_program(program).codes
    assert clusters.faults(program, SEVERAL)


def test_control_that_turns_far_away_is_refused_at_once() -> None:
    """Sizes are laid out up to where loops and conditions turn, so that must not be a hundred million."""
    bound = next(line.split("floor(")[1] for line in WALKING.splitlines() if "= 0 .. floor((K" in line)
    far = WALKING.replace(f"floor({bound}", f"floor((K - 100000000){bound[bound.index(')') + 1 :]}", 1)
    assert far != WALKING
    verdict = check_program(read(far, "mine.tile"))
    assert [finding.code for finding in verdict.findings] == ["synchronisation.control"]
    assert "rounds of 64 away from K = 0, 1000 may be" in verdict.findings[0].message
