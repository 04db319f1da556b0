"""Blocks that pass a sum on and take their parts by ticket: however few run at once, and in whichever order they begin,
on the tile machine and in the simulator; what the judge says of counters; what a launch provides."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, f32
from ptxgen.derive import Derivation, derive
from ptxgen.errors import KernelError, PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan, parse_epilogue
from ptxgen.kernels.launching.entry import from_json, to_json
from ptxgen.kernels.launching.generated import GeneratedKernel, build, generate
from ptxgen.kernels.launching.launch import prepare
from ptxgen.kernels.launching.workspaces import on_the_cpu, workspace_bytes
from ptxgen.plan import Split, sms, stream_step, workspace
from ptxgen.prove.passing import order_faults
from ptxgen.prove.trees import check_program
from ptxgen.simulate import LimitReached
from ptxgen.simulate import launch as of_simulator
from ptxgen.tile import Acquire, Node, Program, Release, Workspace, show
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.reading import read
from tests.kernels.cases import bits, judge, random_inputs
from tests.kernels.clusters import FACTS, TINY, changed, derived, memories

HOPPER = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False, tickets=True)
AMPERE = evolve(HOPPER, k=32)
VOLTA = evolve(HOPPER, k=16, depth=2)
SPLIT = evolve(TINY, split=3, tickets=True)
STREAMED = evolve(TINY, workers=7, stream=True, tickets=True)
WAYS = {"split": SPLIT, "streamed": STREAMED}
SIZE = (136, 40, 200)
SEEDS = (None, 1, 2, 3)


def program_of(tiling: MatmulTiling) -> Program:
    return derived((1, 1), tiling=tiling).program


def one_after_the_other(program: Program, seed: int | None) -> Any:
    """The product of a run in which each block ends before another one begins, within the bound of f16."""
    held, sizes, wanted = memories(Layout.NN, *SIZE)
    found = run(program, held, sizes, seed=seed, together=False).arrays["D"]
    assert np.abs(found - wanted).max() < 3e-2
    return found


@pytest.mark.parametrize("way", WAYS)
def test_on_the_machine_blocks_may_begin_one_by_one(way: str) -> None:
    wanted = one_after_the_other(program_of(WAYS[way]), None)
    for seed in SEEDS:
        assert np.array_equal(bits(one_after_the_other(program_of(WAYS[way]), seed)), bits(wanted))


@pytest.mark.parametrize("way", WAYS)
def test_without_tickets_blocks_that_begin_one_by_one_wait_for_ever(way: str) -> None:
    program = program_of(evolve(WAYS[way], tickets=False))
    found = set[str]()
    for seed in SEEDS:
        try:
            one_after_the_other(program, seed)
        except MachineFault as fault:
            found.add(fault.code)
    assert found == {"tile.deadlock"}


def few_at_once(monkeypatch: pytest.MonkeyPatch, resident: int, seed: int) -> None:
    """The simulator runs so many blocks, then others, whichever."""

    def some(launch: of_simulator.Launch, layout: object) -> Iterator[tuple[int, int]]:
        found = [(first, min(resident, launch.ctas - first)) for first in range(0, launch.ctas, resident)]
        Random(seed).shuffle(found)
        yield from found

    monkeypatch.setattr(of_simulator, "batches_of", some)
    monkeypatch.setattr(of_simulator, "grid_wide", lambda launch, layout: False)


def simulated(kernel: GeneratedKernel, limit: int | None = None) -> Any:
    """The product of a run in the simulator without a finding, all of whose flags and tickets are zero again."""
    held, _, wanted = memories(Layout.NN, *SIZE)
    provided: dict[str, Any] = {}

    def provide(each: Workspace, tiles: int) -> Any:
        return provided.setdefault(each.name, on_the_cpu(each, tiles))

    launch = prepare(kernel.entry, held, {}, provide=provide)
    report = kernel.decoded.run(
        grid=launch.blocks, block=launch.threads, args=launch.arguments, shared_bytes=launch.shared_bytes, limit=limit
    )
    report.raise_findings()
    assert np.abs(held["D"] - wanted).max() < 3e-2
    assert not any(provided[name].any() for name in provided if name != "AB_sums")
    return held["D"]


TARGETS = {"sm_90a": HOPPER, "sm_80": AMPERE, "sm_70": VOLTA}


def kernel_of(target: str, tiling: MatmulTiling) -> GeneratedKernel:
    return generate(matmul_plan(matmul_compute(MatmulSpec()), MatmulSpec(), FACTS, tiling, target))


@pytest.mark.parametrize("way", [{"split": 3}, {"workers": 5, "stream": True}], ids=["split", "streamed"])
@pytest.mark.parametrize("target", TARGETS)
def test_the_simulator_runs_few_blocks_at_once(monkeypatch: Any, target: str, way: dict[str, Any]) -> None:
    """In batches of one or two blocks, whichever come first, the bits are those of all of them at once."""
    ticketed = kernel_of(target, evolve(TARGETS[target], **way))
    wanted = simulated(ticketed)
    at_once = kernel_of(target, evolve(TARGETS[target], tickets=False, **way))
    assert np.array_equal(bits(wanted), bits(simulated(at_once)))
    for resident, seed in ((1, 3), (2, 5)):
        few_at_once(monkeypatch, resident, seed)
        assert np.array_equal(bits(simulated(ticketed)), bits(wanted))


def test_without_tickets_the_simulator_waits_for_ever(monkeypatch: Any) -> None:
    few_at_once(monkeypatch, 1, 5)
    with pytest.raises(LimitReached):
        simulated(kernel_of("sm_90a", evolve(HOPPER, split=3, tickets=False)), limit=20_000)


@pytest.mark.parametrize("way", WAYS)
def test_a_program_is_read_as_it_was_printed_and_gives_the_same_kernel(way: str) -> None:
    derivation: Derivation = derived((1, 1), tiling=WAYS[way])
    text = show(derivation.program)
    assert "numbered as they begin, by tickets of AB_sums_tickets" in text
    assert "AB_sums_tickets: 1 of s32 a launch, zero before and after" in text
    again = read(text)
    assert again == derivation.program
    assert check_program(again).accepted
    assert str(build(again).listing) == str(generate(derivation.plan).listing)


def test_a_launch_is_no_cooperative_one_and_says_what_it_takes() -> None:
    for tiling, places in ((evolve(HOPPER, split=3), 6), (evolve(HOPPER, workers=5, stream=True), 5)):
        entry = kernel_of("sm_90a", tiling).entry
        assert from_json(to_json(entry)) == entry
        held, _, _ = memories(Layout.NN, 136, 72, 200)
        launch = prepare(entry, held, {})
        assert not launch.cooperative
        assert prepare(evolve(entry, grid=evolve(entry.grid, tickets="")), held, {}).cooperative
        sums, turns, tickets = entry.workspaces
        asked = [workspace_bytes(each, places) for each in (sums, turns, tickets)]
        assert asked == [places * 64 * 64 * 4, places * 4, 4]


@pytest.mark.parametrize("overlap", [False, True])
def test_the_counter_is_read_behind_the_grids_ahead(overlap: bool) -> None:
    text = str(kernel_of("sm_90a", evolve(HOPPER, split=3, overlap=overlap)).listing)
    assert text.count("atom.relaxed.gpu.global.inc.u32") == 1
    before = text[: text.index("atom.relaxed.gpu.global.inc.u32")]
    assert ("griddepcontrol.wait" in before) is overlap
    assert "%ctaid" not in text
    assert "ld.acquire" not in before


def test_full_tiles_spill_nothing() -> None:
    tiling = evolve(HOPPER, i=128, j=256, warps=8, depth=4, drain=64)
    for way in ({"split": 3}, {"workers": sms, "stream": True}):
        cubin = kernel_of("sm_90a", evolve(tiling, **way)).assembled()
        assert (cubin.spills, cubin.notes) == (0, ())


def other_counters(found: Workspace) -> Iterator[Workspace]:
    yield evolve(found, single=False)
    yield evolve(found, zeroed=False)
    yield evolve(found, elements=2)
    yield evolve(found, element=Element.F32)
    yield evolve(found, name="others")


@pytest.mark.parametrize("way", WAYS)
def test_the_judge_refuses_tickets_of_anything_but_a_counter(way: str) -> None:
    program = program_of(WAYS[way])
    assert list(order_faults(program)) == []
    *others, counter = program.workspaces
    wrong = [evolve(program, workspaces=(*others, each)) for each in other_counters(counter)]
    wrong += [
        evolve(program, workspaces=tuple(others)),
        evolve(program, grid=evolve(program.grid, tickets="")),
        evolve(program, grid=evolve(program.grid, tickets="AB_sums_turns")),
        evolve(program, grid=evolve(program.grid, dims=tuple(evolve(d, cluster=2) for d in program.grid.dims))),
    ]
    for each in wrong:
        assert "synchronisation.tickets" in [finding.code for finding in order_faults(each)]
        with pytest.raises(KernelError):
            build(each)


def test_blocks_that_wait_for_nobody_take_no_tickets() -> None:
    counter = program_of(SPLIT).workspaces[-1]
    alone = program_of(evolve(TINY))
    found = evolve(alone, grid=evolve(alone.grid, tickets=counter.name), workspaces=(counter,))
    assert "synchronisation.tickets" in [finding.code for finding in order_faults(found)]


def of_other_numbers(node: Node) -> Iterator[Node]:
    """A flag with the value of another part, or of another tile."""
    if isinstance(node, Acquire | Release):
        yield from (evolve(node, value=node.value + more) for more in (-1, 1))
        yield from (evolve(node, tile=node.tile + more) for more in (-1, 1))
        yield evolve(node, flags="AB_sums_tickets")


@pytest.mark.parametrize("way", WAYS)
def test_who_waits_for_a_later_number_is_refused(way: str) -> None:
    mutants = list(changed(program_of(WAYS[way]), of_other_numbers))
    assert len(mutants) >= 15
    for node, program in mutants:
        assert not check_program(program).accepted, node


REFUSED = {
    "nobody waits": (evolve(HOPPER), "blocks that pass no sum on through memory wait for no other"),
    "clusters join": (evolve(HOPPER, split=4), "4 parts of a tile are neighbours in a cluster, which begin together"),
    "clusters": (evolve(HOPPER, split=3, cluster=(2, 1)), "those of a cluster begin together; take False, or cluster"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_no_tickets_is_refused_by_name(name: str) -> None:
    tiling, words = REFUSED[name]
    with pytest.raises(PlanError, match=f"tickets=True: .*{words}"):
        Matmul(MatmulSpec(), "sm_90a", tiling)
    with pytest.raises(PlanError, match="tickets=True"):
        matmul_plan(matmul_compute(MatmulSpec()), MatmulSpec(), FACTS, tiling, "sm_90a")


def test_a_plan_that_asks_for_tickets_of_clusters_is_refused_on_its_line() -> None:
    plan = derived((2, 1), tiling=evolve(TINY, split=3)).plan
    steps = tuple(evolve(s, through=workspace(tickets=True)) if isinstance(s, Split) else s for s in plan.steps)
    with pytest.raises(PlanError, match=r"workspace\(tickets=True\)\): blocks take tickets one by one, but 2 blocks"):
        derive(evolve(plan, steps=steps))
    streamed = stream_step(derived((1, 1), tiling=STREAMED).plan.steps)
    assert str(streamed) == "stream(k, join=ordered, tickets=True)"


CASES = {
    "hopper": ("sm_90a", evolve(HOPPER, split=3), "bias,relu"),
    "hopper, drained": ("sm_90a", evolve(HOPPER, split=5, drain=64, overlap=True), "bias,gelu,residual"),
    "hopper, streamed": ("sm_90a", evolve(HOPPER, workers=7, stream=True, drain=32), "bias,relu"),
    "ampere": ("sm_80", evolve(AMPERE, split=4), "bias,keep,relu"),
    "volta, streamed": ("sm_70", evolve(VOLTA, workers=5, stream=True), "bias,relu"),
}


@pytest.mark.parametrize("name", CASES)
def test_simulated_against_float64(name: str) -> None:
    target, tiling, epilogue = CASES[name]
    product = Matmul(MatmulSpec(Layout.NT, f32, f32, epilogue=parse_epilogue(epilogue)), target, tiling)
    outcome = product(random_inputs(product.compute, {"M": 136, "N": 72, "K": 200}))
    assert "by ticket" in str(product.tiled)
    assert any(each.single for each in outcome.kernel.entry.workspaces)
    orders = outcome.kernel.derivation.signature()
    judge(product.compute, outcome.arrays, {}, exact=False, target=target, orders=orders)
