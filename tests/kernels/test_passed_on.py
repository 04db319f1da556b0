"""Products whose parts of k are passed on through memory: on the tile machine, in the simulator, and what a launch
provides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen import tile
from ptxgen.compute import bf16, f16, f32
from ptxgen.derive import Derivation
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan, parse_epilogue
from ptxgen.kernels.launching.entry import from_json, to_json
from ptxgen.kernels.launching.generated import generate
from ptxgen.kernels.launching.launch import prepare
from ptxgen.kernels.launching.workspaces import on_the_cpu, workspace_bytes
from ptxgen.order.atoms import Acquire, Release
from ptxgen.order.synchronisation import Synchronised
from ptxgen.order.threads import Threads
from ptxgen.prove.passing import order_faults
from ptxgen.prove.proof import check_meetings
from ptxgen.tile import Workspace
from ptxgen.tile.mutants import without_each_synchronisation
from tests.kernels.cases import random_inputs, run_matmul
from tests.kernels.clusters import FACTS, TINY, derived, faults, memories, on_machine

HOPPER = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False)
AMPERE = MatmulTiling(i=64, j=64, k=32, warps=4, depth=3, isolate=False)
VOLTA = MatmulTiling(i=64, j=64, k=16, warps=4)
THREADS = {"load": Threads(1, 1), "math": Threads(1, 128)}


def passed(parts: int, cluster: tuple[int, int] = (1, 1)) -> Derivation:
    return derived(cluster, tiling=evolve(TINY, split=parts))


@pytest.mark.parametrize("parts", [3, 5, 16])
def test_the_machine_finds_no_fault(parts: int) -> None:
    """Any number of parts, also more than there are slabs; clusters of the machine run in any order inside a part."""
    program = passed(parts).program
    assert (program.grid.cluster, program.grid.parts) == (1, parts)
    for seed, size in ((None, (72, 24, 16 * parts + 40)), (3, (72, 40, 16)), (4, (8, 8, 0)), (5, (64, 16, 88))):
        on_machine(program, *size, seed)


def test_clusters_bring_boxes_to_blocks_of_the_same_part() -> None:
    program = passed(3, (2, 1)).program
    assert (program.grid.cluster, program.grid.parts) == (2, 3)
    on_machine(program, 136, 40, 136, 3)


@pytest.mark.parametrize("tiling", [evolve(TINY, j=96), evolve(TINY, j=24), evolve(TINY, i=192, warps=12)], ids=str)
def test_tiles_whose_extents_are_no_powers_of_two_are_passed_on(tiling: MatmulTiling) -> None:
    """Each piece of such a tile lies in it as a whole, so that no tile of the workspace reaches into the next one."""
    program = derived((1, 1), Layout.NT, evolve(tiling, split=2)).program
    assert (program.grid.cluster, program.grid.parts) == (1, 2)
    for seed in (None, 3):
        on_machine(program, 200, 72, 72, seed, Layout.NT)


def test_nothing_that_passes_a_tile_on_can_be_left_out() -> None:
    """Of all that synchronises two are not missed: a fence that is there for the assembler, and the release of the last
    slot of a block that takes one tile."""
    found: dict[str, list[set[str]]] = {}
    unharmed = []
    for mutant in without_each_synchronisation(passed(3).program):
        shown = faults(mutant.program, ((8, 8, 16 * 21), (8, 8, 16)))
        found.setdefault(type(mutant.removed).__name__, []).append(shown)
        if not shown:
            unharmed.append(type(mutant.removed))
    assert unharmed == [tile.RegisterFence, tile.Arrive]
    assert found["Acquire"] == [{"tile.race"}]
    assert found["Release"] == [{"tile.flag"}, {"tile.deadlock"}]
    assert all("tile.race" in shown for shown in found["Meet"])


def judged(derivation: Derivation, synchronised: Synchronised) -> tuple[str, ...]:
    (part,) = derivation.parts
    return check_meetings(synchronised, part.requirements, needless=False, threads=THREADS).codes


def test_the_checker_refuses_what_lacks_an_atom_or_has_another_number() -> None:
    derivation = passed(3)
    whole = derivation.parts[0].synchronised
    assert judged(derivation, whole) == ()
    passing = 0
    for number, atom in enumerate(whole.atoms):
        others = (*whole.atoms[:number], *whole.atoms[number + 1 :])
        assert judged(derivation, evolve(whole, atoms=others)), atom
        if isinstance(atom.atom, Acquire | Release):
            passing += 1
            moved = evolve(atom, rank=atom.rank + 1)
            assert "synchronisation.passing" in judged(derivation, evolve(whole, atoms=(*others, moved))), atom
            never = evolve(atom, domain=atom.domain.intersect(atom.rank >= 99))
            assert "synchronisation.passing" in judged(derivation, evolve(whole, atoms=(*others, never))), atom
    assert passing == 3


def test_a_block_waits_for_none_that_may_not_have_begun() -> None:
    program = passed(3).program
    assert list(order_faults(program)) == []
    other = evolve(program.grid, dims=program.grid.dims[1:] + program.grid.dims[:1])
    assert [f.code for f in order_faults(evolve(program, grid=other))] == ["synchronisation.passing"]
    alone = evolve(program, grid=evolve(program.grid, parts=1))
    assert [f.code for f in order_faults(alone)] == ["synchronisation.passing"]
    stays = evolve(program, grid=evolve(program.grid, work_list=tile.WorkList(4)))
    assert [f.code for f in order_faults(stays)] == ["synchronisation.passing"]


CASES = {
    "hopper": ("sm_90a", evolve(HOPPER, split=3), "bias,relu"),
    "hopper, drained": ("sm_90a", evolve(HOPPER, split=5, drain=64), "bias,gelu,residual"),
    "hopper, full tiles apart": ("sm_90a", evolve(HOPPER, split=3, isolate=True), "row_bias,silu"),
    "hopper, 96 columns": ("sm_90a", evolve(HOPPER, j=96, split=2), "bias,relu"),
    "hopper, 192 rows": ("sm_90a", evolve(HOPPER, i=192, j=96, warps=12, split=3, drain=32), "bias,relu"),
    "ampere": ("sm_80", evolve(AMPERE, split=4), "bias,keep,relu"),
    "ampere, drained": ("sm_80", evolve(AMPERE, split=2, drain=32), "alpha,beta,bias"),
    "volta": ("sm_70", evolve(VOLTA, split=3), "bias,relu"),
    "volta, drained": ("sm_70", evolve(VOLTA, split=2, drain=32), "residual,clamp"),
}


@pytest.mark.parametrize("layout", [Layout.NN, Layout.TT], ids=lambda layout: layout.value)
@pytest.mark.parametrize("name", CASES)
def test_simulated_bits_are_those_of_the_loop(name: str, layout: Layout) -> None:
    target, tiling, epilogue = CASES[name]
    outcome = run_matmul(MatmulSpec(layout, epilogue=parse_epilogue(epilogue)), (72, 72, 200), tiling, 2, target)
    (order,) = outcome.kernel.derivation.signature()
    assert (order.parts, order.slab) == (tiling.split, tiling.k)


@pytest.mark.parametrize("size", [(1, 1, 1), (8, 8, 8), (40, 72, 0), (72, 8, 456)], ids=str)
def test_ragged_and_tiny_products(size: tuple[int, int, int]) -> None:
    run_matmul(MatmulSpec(), size, evolve(HOPPER, split=3), target="sm_90a")
    run_matmul(MatmulSpec(output=f32), size, evolve(AMPERE, split=3), target="sm_80")


def test_types_batches_and_chains() -> None:
    run_matmul(MatmulSpec(Layout.NT, f32, bf16, input=bf16), (72, 72, 200), evolve(HOPPER, split=3), target="sm_90a")
    run_matmul(MatmulSpec(batched=True), (72, 72, 72), evolve(VOLTA, split=2), target="sm_70")
    run_matmul(MatmulSpec(accumulate=f16, promote=32), (72, 72, 200), evolve(AMPERE, split=3), target="sm_80")


def test_sums_over_rows_are_of_the_last_part() -> None:
    """Its block has the whole tile, which no slice is: where sums are asked for, clusters do not join."""
    spec = MatmulSpec(output=f32, epilogue=parse_epilogue("bias,row_sum"))
    product = Matmul(spec, "sm_90a", evolve(HOPPER, split=2))
    inputs = random_inputs(product.compute, {"M": 72, "N": 136, "K": 200})
    arrays = product(inputs).arrays
    wanted = inputs["A"].astype(float) @ inputs["B"].astype(float) + inputs["bias"]
    assert np.abs(arrays["D"] - wanted).max() < 1e-4
    assert np.abs(arrays["row_sum"] - wanted.sum(axis=1)).max() < 1e-3


def test_flags_are_zero_again_and_a_launch_says_what_it_takes() -> None:
    kernel = generate(matmul_plan(matmul_compute(MatmulSpec()), MatmulSpec(), FACTS, evolve(HOPPER, split=3), "sm_90a"))
    assert from_json(to_json(kernel.entry)) == kernel.entry
    sums, turns = kernel.entry.workspaces
    assert (workspace_bytes(sums, 4), workspace_bytes(turns, 4)) == (4 * 64 * 64 * 4, 4 * 4)
    provided: dict[str, Any] = {}

    def provide(wanted: Workspace, tiles: int) -> Any:
        assert tiles == 2 * 2
        return provided.setdefault(wanted.name, on_the_cpu(wanted, tiles))

    for _ in range(2):
        held, _, wanted = memories(Layout.NN, 72, 72, 328)
        launch = prepare(kernel.entry, held, {}, provide=provide)
        assert launch.blocks == 3 * 2 * 2
        report = kernel.decoded.run(
            grid=launch.blocks, block=launch.threads, args=launch.arguments, shared_bytes=launch.shared_bytes
        )
        report.raise_findings()
        assert np.abs(held["D"] - wanted).max() < 3e-2
        assert not provided["AB_sums_turns"].any()


@pytest.mark.parametrize("parts", [3, 16])
def test_a_whole_tile_spills_nothing_and_stays_asynchronous(parts: int) -> None:
    spec = MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu"))
    large = MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, isolate=False, split=parts, drain=64)
    kernel = generate(matmul_plan(matmul_compute(spec), spec, FACTS, large, "sm_90a"))
    assert kernel.assembled().spills == 0
    text = str(kernel.listing)
    assert text.count("ld.acquire.gpu") == 1
    assert text.count("st.release.gpu") == 2


def test_what_is_not_combined_is_refused_by_name() -> None:
    halves = MatmulSpec(accumulate=f16)
    with pytest.raises(PlanError, match="sums in f16 that are passed on through memory would be rounded by each block"):
        matmul_plan(matmul_compute(halves), halves, FACTS, evolve(HOPPER, split=3), "sm_90a")
    with pytest.raises(PlanError, match="split=65: a sum has at most 64 parts"):
        passed(65)
    with pytest.raises(PlanError, match="blocks that stay and walk the tiles do not share a sum"):
        matmul_plan(matmul_compute(MatmulSpec()), MatmulSpec(), FACTS, evolve(HOPPER, split=3, workers=4), "sm_90a")
