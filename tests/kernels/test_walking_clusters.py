"""Clusters of blocks that stay and walk the tiles together: on the tile machine and in the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, default_tiling, parse_epilogue
from ptxgen.kernels.launching.entry import entry_of
from ptxgen.kernels.launching.generated import generate
from ptxgen.kernels.launching.launch import workers_of
from ptxgen.plan import grouped, sms
from ptxgen.tile import RegisterFence, WorkList, show
from ptxgen.tile.mutants import Mutant, without_each_synchronisation
from tests.kernels.cases import bits, random_inputs, run_matmul
from tests.kernels.clusters import (
    CLUSTERS,
    TINY,
    changed,
    derived,
    faults,
    memories,
    on_machine,
    other_numbers,
    plan_of,
)

DEPTH = TINY.depth
WALKED = evolve(TINY, workers=4, drain=16)
SMALL = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, workers=sms, drain=64)
SLABS = (0, 1, DEPTH - 1, DEPTH, DEPTH + 1, 2 * DEPTH + 1)
SEVERAL = ((200, 40, 16 * (DEPTH + 1)), (200, 40, 16), (72, 24, 16 * (2 * DEPTH + 1)))


@pytest.mark.parametrize(
    "slabs", [*SLABS[:2], *(pytest.param(n, marks=pytest.mark.slow) for n in SLABS[2:-1]), SLABS[-1]]
)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_end_of_the_ring_on_the_machine(cluster: tuple[int, int], slabs: int) -> None:
    program = derived(cluster, tiling=WALKED).program
    for rows, seed in ((72, 1), (200, 2)):
        on_machine(program, rows, 40, 16 * slabs, seed)
    if slabs:
        on_machine(program, 264, 8, 16 * slabs - 8)


@pytest.mark.parametrize("layout", [Layout.NT, Layout.TN], ids=lambda layout: layout.value)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_bits_of_a_block_for_each_tile(cluster: tuple[int, int], layout: Layout) -> None:
    """Also where the last clusters have tiles beyond the arrays, whose blocks run the ring in step."""
    together, alone = (plan_of(c, layout, t) for c, t in ((cluster, WALKED), ((1, 1), TINY)))
    for m, n, k in ((136, 72, 40), (200, 24, 72)):
        held, _, wanted = memories(layout, m, n, k)
        first = {**held, "D": held["D"].copy()}
        report = generate(together).simulate(held)
        assert report is not None
        report.raise_findings()
        assert report.grid[0] == 4
        assert np.abs(held["D"] - wanted).max() < 3e-2
        generate(alone).simulate(first)
        assert np.array_equal(bits(held["D"]), bits(first["D"]))


@pytest.mark.parametrize("cluster", [CLUSTERS[0], *(pytest.param(c, marks=pytest.mark.slow) for c in CLUSTERS[1:])])
def test_nothing_that_synchronises_can_be_left_out(cluster: tuple[int, int]) -> None:
    """But for the fence of later products, which is there for the assembler."""
    needed = unharmed = 0
    for mutant in without_each_synchronisation(derived(cluster, tiling=WALKED).program):
        found = faults(mutant.program, SEVERAL)
        needed, unharmed = needed + bool(found), unharmed + (not found)
        assert found or _is_second_fence(mutant), mutant.removed
    assert (needed, unharmed) == (22, 1)


def _is_second_fence(mutant: Mutant) -> bool:
    return isinstance(mutant.removed, RegisterFence) and mutant.position > 1


@pytest.mark.slow
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_changed_mask_and_number_is_a_fault(cluster: tuple[int, int]) -> None:
    """But for a writer that waits for a later release than it needs, which only makes it wait longer."""
    harmless = 0
    for node, mutant in changed(derived(cluster, tiling=WALKED).program, other_numbers):
        found = faults(mutant, SEVERAL)
        harmless += not found
        assert found or str(getattr(node, "rank", "")) == "cta.k.past + t1 + 1", node
    assert harmless == 1


def test_a_cluster_walks_pairs_of_tiles() -> None:
    program = derived((2, 1), tiling=WALKED).program
    assert program.grid.work_list == WorkList(4)
    assert "walked by 4 blocks: of W clusters number w takes clusters of tiles w, w + W, ..." in show(program)
    tail = show(program.roles[1].body).splitlines()
    assert tail[-3].strip() == "wait A.shared+B.shared{cta.k.past + 2} empty"


@pytest.mark.parametrize(
    ("cluster", "workers", "resident", "blocks"),
    [
        ((2, 1), sms, 132, 132),
        ((2, 2), sms, 126, 124),
        ((2, 1), 7, 132, 6),
        ((2, 2), 3, 132, 4),
        ((2, 1), sms, 1000, 264),
    ],
)
def test_whole_clusters_are_launched(cluster: tuple[int, int], workers: Any, resident: int, blocks: int) -> None:
    entry = entry_of(derived(cluster, tiling=evolve(WALKED, workers=workers)).program)
    assert workers_of(entry, 264, resident) == blocks
    assert workers_of(entry, 0, resident) == 0


@pytest.mark.parametrize("epilogue", ["", "bias,relu", "alpha,beta,bias,gelu,keep"])
@pytest.mark.parametrize("cluster", [(2, 1), (1, 2)])
def test_epilogues_and_batches(cluster: tuple[int, int], epilogue: str) -> None:
    spec = MatmulSpec(Layout.NT, epilogue=parse_epilogue(epilogue), batched=True)
    run_matmul(spec, (136, 200, 72), evolve(SMALL, cluster=cluster, workers=4, raster=grouped(2)), target="sm_90a")


@pytest.mark.parametrize("size", [(1, 1, 1), (8, 8, 8), (40, 200, 8), (200, 40, 264), (64, 136, 0)])
def test_ragged_and_tiny_products(size: tuple[int, int, int]) -> None:
    for cluster in CLUSTERS:
        run_matmul(MatmulSpec(), size, evolve(SMALL, cluster=cluster), target="sm_90a")


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [(2, 1), (1, 2)])
def test_the_default_tile_in_clusters(cluster: tuple[int, int]) -> None:
    spec = MatmulSpec()
    default = default_tiling(spec, "sm_90a")
    run_matmul(spec, (264, 264, 264), evolve(default, cluster=cluster, workers=2), target="sm_90a")


@pytest.mark.parametrize("layout", [Layout.NN, Layout.NT, Layout.TN, Layout.TT], ids=lambda layout: layout.value)
@pytest.mark.parametrize("cluster", [(2, 1), (1, 2)])
def test_the_default_tile_is_assembled_without_a_note_and_without_spills(
    cluster: tuple[int, int], layout: Layout
) -> None:
    spec = MatmulSpec(layout, epilogue=parse_epilogue("bias,relu"))
    tiling = evolve(default_tiling(spec, "sm_90a"), cluster=cluster)
    product = Matmul(spec, "sm_90a", tiling)
    arrays = product.with_outputs(random_inputs(product.compute, {"M": 256, "N": 256, "K": 256}))
    cubin = product.kernel_for(arrays).assembled()
    assert (cubin.spills, cubin.notes) == (0, ())
