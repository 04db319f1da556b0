"""Warpgroups that take products of a loop in rotation: in which order they come to them, that nothing else changes, and
what an assembler says."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from ptxgen.compute import f32
from ptxgen.errors import PlanError
from ptxgen.kernels import chained_compute
from ptxgen.kernels.chained import by_warpgroups
from ptxgen.kernels.launching.generated import build
from ptxgen.plan import Plan, sms
from ptxgen.prove.trees import check_program
from ptxgen.tile import Arrive, Program, Wait, show
from ptxgen.tile.reading import read
from ptxgen.tile.rewriting import deleted, replaced, spots
from ptxgen.verify import verify
from tests.kernels.cases import bits, judge
from tests.kernels.rotation import BOTH, RUNS, in_rotation, kernel, shown, watched
from tests.kernels.test_boxed_kernels import given, made
from tests.kernels.test_resident import TERMS
from tests.prove.edits import edits

CHOICES: tuple[dict[str, Any], ...] = (
    {},
    {"workers": None, "turns": ("PD",)},
    {"depth": 1, "turns": ("AB", "P", "PD")},
    {"i": 192},
    {"i": 256, "turns": ("AB",), "depth": 3},
)
WITH_SLABS: tuple[dict[str, Any], ...] = ({"over": "cta.k", "turns": ("AB",), "window": 1}, {"turns": ("PD",)})


def usually(cases: tuple[Any, ...], count: int) -> list[Any]:
    """The cases, all behind the first ones slow."""
    marks = [() if number < count else (pytest.mark.slow,) for number in range(len(cases))]
    return [pytest.param(case, marks=own, id=str(case)) for case, own in zip(cases, marks, strict=True)]


@pytest.mark.parametrize("choices", usually(CHOICES, 2))
def test_warpgroups_come_to_each_product_one_after_the_other(
    choices: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every interleaving: all warps of one, then all of the next one, then the first one's of the next step."""
    found = kernel(**choices)
    for sizes, seed in RUNS:
        seen = watched(found.program, sizes, seed, monkeypatch)
        for product in set(choices.get("turns", BOTH)) & set(seen):
            assert in_rotation(seen[product], choices.get("i", 128) // 64), (product, sizes, seed)


def without(program: Program, kind: type[Wait] | type[Arrive], ring: str) -> Program:
    spot = next(spot for spot, node in spots(program) if isinstance(node, kind) and node.ring == ring)
    return deleted(program, spot)


def test_without_turns_they_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for program in (kernel(turns=()).program, without(kernel().program, Wait, "turns of AB")):
        orders = [in_rotation(watched(program, *run, monkeypatch)["AB"], 2) for run in (RUNS[1], RUNS[3])]
        assert not all(orders)
    assert shown(without(kernel().program, Arrive, "turns of AB")) == "tile.deadlock"


@pytest.mark.parametrize("choices", CHOICES[:4], ids=str)
def test_a_program_is_read_and_accepted(choices: dict[str, Any]) -> None:
    program = kernel(**choices).program
    assert read(show(program)) == program
    assert check_program(program).accepted
    assert not shown(program)
    assert str(build(read(show(program))).listing) == str(kernel(**choices).listing)


def test_ranks_tell_the_turns_of_each_warpgroup() -> None:
    """With as many slots as warpgroups, each freed by the four warps of one."""
    program = kernel(i=192).program
    assert [(r.depth, r.byte_count, r.empty_count) for r in program.rings if r.name == "turns of PD"] == [(3, 0, 4)]
    ranks = [
        str(node.rank) for _, node in spots(program) if isinstance(node, Wait | Arrive) and node.ring == "turns of PD"
    ]
    assert ranks == ["3*cta.j.past + 3*t1 + warpgroup + 2", "3*cta.j.past + 3*t1 + warpgroup"]


@pytest.mark.parametrize("size", usually(((72, 136, 72), (64, 64, 64), (8, 8, 8), (136, 200, 64)), 1))
@pytest.mark.parametrize("choices", [{}, {"workers": None, "i": 192}], ids=str)
def test_simulated_bits_are_those_of_the_loop(size: tuple[int, int, int], choices: dict[str, Any]) -> None:
    """And of the same kernel without turns."""
    compute, sizes = chained_compute(f32, TERMS), dict(zip("MJN", size, strict=True))
    arrays = given(compute, sizes)
    other = {name: array.copy() for name, array in arrays.items()}
    for found, held in ((kernel(**choices), arrays), (kernel(**choices, turns=()), other)):
        report = found.simulate(held)
        if report is not None:
            report.raise_findings()
        assert verify(found.module) == ()
    judge(compute, arrays, {}, exact=True, target="sm_90a", orders=kernel(**choices).derivation.signature())
    assert (bits(arrays["E"]) == bits(other["E"])).all()


@pytest.mark.parametrize("choices", WITH_SLABS, ids=str)
def test_turns_where_an_inner_loop_goes_over_slabs(choices: dict[str, Any]) -> None:
    """From slab to slab, or around the outer product alone."""
    compute, found = chained_compute(f32), kernel(None, **choices)
    for size in ((64, 64, 64, 64), (136, 72, 136, 72), (8, 8, 8, 8)):
        arrays = given(compute, dict(zip("MJKN", size, strict=True)))
        report = found.simulate(arrays)
        if report is not None:
            report.raise_findings()
        judge(compute, arrays, {}, exact=True, target="sm_90a", orders=found.derivation.signature())


def test_a_turn_over_more_slabs_than_slots_is_a_cycle() -> None:
    """No slab is freed before all warpgroups have read it, and a second one would wait for the first one's last."""
    with pytest.raises(PlanError) as caught:
        kernel(None, turns=("AB",))
    text = str(caught.value)
    assert "turns(math, cta.j, AB): a unit would wait in a phase for what another one does only behind its own" in text
    for end in ("turns of AB passed on to unit 1", "end of cta.k, which fills rings", "turn of turns of AB by unit 0"):
        assert end in text
    assert caught.value.line is not None
    assert caught.value.line.file.endswith("rotation.py")


def test_one_warpgroup_takes_no_turns() -> None:
    with pytest.raises(PlanError, match=r"turns\(math, cta.j, AB, PD\): its tiles are dealt to 1 warpgroup") as caught:
        kernel(i=64)
    assert caught.value.line is not None
    assert caught.value.line.file.endswith("rotation.py")


@pytest.mark.parametrize(
    "choices", usually(({}, {"turns": ("PD",), "n": 64, "workers": None}, {"i": 256, "n": 64, "depth": 2}), 1)
)
@pytest.mark.parametrize("terms", [64, 128])
def test_whole_tiles_are_assembled_without_a_note_and_without_spills(terms: int, choices: dict[str, Any]) -> None:
    wanted: dict[str, Any] = {"turns": BOTH, "workers": sms} | choices
    compute = chained_compute(f32, terms)
    arrays = given(compute, {"M": 64, "J": 64, "N": 64})
    found = made(compute, lambda c, facts, t: by_warpgroups(Plan(c, t).assume(*facts), **wanted), arrays)
    cubin = found.assembled()
    assert (cubin.spills, cubin.notes) == (0, ())


@pytest.mark.slow
def test_in_clusters_each_block_has_turns_of_its_own() -> None:
    """Whose tiles of B and D come from each other."""
    compute, found = chained_compute(f32, TERMS), kernel(cluster=2, workers=2)
    assert check_program(found.program).accepted
    assert not shown(found.program)
    arrays = given(compute, {"M": 296, "J": 136, "N": 72})
    report = found.simulate(arrays)
    if report is not None:
        report.raise_findings()
    judge(compute, arrays, {}, exact=True, target="sm_90a", orders=found.derivation.signature())
    assert found.assembled().notes == ()


def outcomes(every: int) -> dict[str, int]:
    """How many edits the judge of trees refuses, and how many are harmless on the machine."""
    counts = {"refused": 0, "harmless": 0}
    for edit in list(edits(kernel().program))[::every]:
        accepted = check_program(edit.program).accepted
        assert not accepted or not shown(edit.program), f"{edit} is accepted, and the machine shows a fault"
        counts["harmless" if accepted else "refused"] += 1
    return counts


def test_a_sample_of_edits() -> None:
    counts = outcomes(every=25)
    assert counts["refused"] > counts["harmless"]


@pytest.mark.slow
def test_every_edit() -> None:
    counts = outcomes(every=1)
    print(counts)
    assert counts["refused"] > 2 * counts["harmless"]


def test_turns_of_other_numbers_are_refused_in_a_program() -> None:
    """One that is passed on for the next one, or the one before, holds everybody up; one for the next but one is told
    in the same slot, which the machine does not see."""
    program = kernel().program
    spot, node = next((s, n) for s, n in spots(program) if isinstance(n, Arrive) and n.ring == "turns of PD")
    for more in (-1, 1, 2):
        other = replaced(program, spot, evolve(node, rank=node.rank + more))
        assert not check_program(other).accepted
        assert shown(other) == ("tile.deadlock" if more % 2 else "")
