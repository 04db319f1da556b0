"""Products whose k neighbouring blocks sum in parts: what is derived, on the tile machine and in the simulator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from attrs import evolve

from polyhedral import var
from ptxgen import tile
from ptxgen.compute import Element, bf16, f16, f32, s8
from ptxgen.derive import Derivation, derive
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan, parse_epilogue
from ptxgen.kernels.launching.generated import generate
from ptxgen.order.atoms import Arrive, ClusterArrive, ClusterWait
from ptxgen.order.ops import Op, TouchKind
from ptxgen.order.synchronisation import Synchronised
from ptxgen.order.threads import Threads
from ptxgen.plan import Split, shared
from ptxgen.prove.proof import check_meetings
from ptxgen.tile import Copy, Node, Space, show
from ptxgen.tile.mutants import without_each_synchronisation
from tests.kernels.cases import bits, random_inputs, run_matmul
from tests.kernels.clusters import FACTS, TINY, changed, derived, faults, on_machine, plan_of

SMALL = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False)
LARGE = MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, isolate=False)
PARTS = (2, 4, 8)
THREADS = {"load": Threads(1, 1), "math": Threads(1, 128)}
DEPTH = TINY.depth
MOST_SLABS = 2 * DEPTH + 1


def split(parts: int, layout: Layout = Layout.NN, cluster: tuple[int, int] = (1, 1)) -> Derivation:
    return derived(cluster, layout, evolve(TINY, split=parts))


@pytest.mark.parametrize("parts, layout", [*((2, layout) for layout in Layout), (4, Layout.NN), (8, Layout.TT)])
def test_the_machine_finds_no_fault(parts: int, layout: Layout) -> None:
    program = split(parts, layout).program
    assert program.grid.cluster == parts
    for seed in (None, 5):
        on_machine(program, 72, 24, 16 * parts + 40, seed, layout)


@pytest.mark.parametrize("parts", (2, 4))
def test_every_count_of_slabs_also_fewer_than_parts(parts: int) -> None:
    """Parts differ by one slab at most; those with none join zeros."""
    program = split(parts).program
    counts = {0, 1, parts - 1, parts, parts + 1, parts * DEPTH, parts * (DEPTH + 1) - 1, parts * MOST_SLABS}
    for slabs in sorted(counts):
        on_machine(program, 8, 24, 16 * slabs, slabs)
        if slabs:
            on_machine(program, 8, 8, 16 * slabs - 8)


def test_no_half_of_a_barrier_can_be_left_out() -> None:
    """Of all that synchronises two are not missed: a fence that is there for the assembler, and the release of the last
    slot of a block that takes one tile."""
    program = split(2).program
    barriers, unharmed = 0, []
    for mutant in without_each_synchronisation(program):
        if not faults(mutant.program, ((8, 8, 32 * MOST_SLABS), (8, 8, 16))):
            unharmed.append(type(mutant.removed))
        barriers += isinstance(mutant.removed, tile.ClusterArrive | tile.ClusterWait)
    assert barriers == 4
    assert unharmed == [tile.RegisterFence, tile.Arrive]


def judged(derivation: Derivation, synchronised: Synchronised) -> tuple[str, ...]:
    (part,) = derivation.parts
    return check_meetings(synchronised, part.requirements, needless=False, threads=THREADS).codes


@pytest.mark.parametrize("parts", (2, 4))
def test_the_checker_refuses_what_lacks_an_atom(parts: int) -> None:
    derivation = split(parts)
    whole = derivation.parts[0].synchronised
    assert judged(derivation, whole) == ()
    halves = 0
    for number, atom in enumerate(whole.atoms):
        others = (*whole.atoms[:number], *whole.atoms[number + 1 :])
        codes = judged(derivation, evolve(whole, atoms=others))
        assert codes, atom
        if isinstance(atom.atom, ClusterArrive | ClusterWait):
            halves += 1
            assert "synchronisation.gathering" in codes
    assert halves == 4


def test_the_checker_refuses_a_missing_barrier_and_one_that_some_blocks_pass_by() -> None:
    derivation = split(4)
    whole = derivation.parts[0].synchronised
    halves = [a for a in whole.atoms if isinstance(a.atom, ClusterArrive | ClusterWait)]
    first, last = halves[:2], halves[2:]
    for missing, word in ((first, "AB.parts"), (last, "leave")):
        rest = evolve(whole, atoms=tuple(a for a in whole.atoms if a not in missing))
        (part,) = derivation.parts
        verdict = check_meetings(rest, part.requirements, needless=False, threads=THREADS)
        assert verdict.codes[0] == "synchronisation.covered"
        assert word in str(verdict)
    some = evolve(last[1], domain=last[1].domain.intersect(var("M") >= 64))
    passed_by = evolve(whole, atoms=(*(a for a in whole.atoms if a is not last[1]), some))
    assert "synchronisation.gathering" in judged(derivation, passed_by)


def test_the_checker_refuses_a_role_that_outstays_the_barrier() -> None:
    """The barrier is complete when the loading thread has ended, which must not wait for what comes behind it."""
    derivation = split(2)
    whole = derivation.parts[0].synchronised
    release = next(a for a in whole.atoms if isinstance(a.atom, Arrive) and a.tail)
    late = evolve(release, time=evolve(release.time, place=(99, *release.time.place[1:])))
    codes = judged(derivation, evolve(whole, atoms=(*(a for a in whole.atoms if a is not release), late)))
    assert "synchronisation.gathering" in codes


def reads(op: Op) -> bool:
    return any(touch.masks and touch.kind is TouchKind.READ for touch in op.touches)


def test_each_block_reads_every_part_in_turn() -> None:
    for parts in PARTS:
        own = [op for op in split(parts).parts[0].ops if reads(op)]
        assert [op.touches[0].masks for op in own] == [(1 << part,) * parts for part in range(parts)]
    square = [op.touches[0].masks for op in split(2, cluster=(2, 1)).parts[0].ops if reads(op)]
    assert square == [(1, 2, 1, 2), (4, 8, 4, 8)]


def other_blocks(node: Node) -> Iterator[Node]:
    """A read of another part than its own."""
    if isinstance(node, Copy) and node.source.buffer.space is Space.SHARED and node.masks:
        yield from (evolve(node, masks=m) for m in ((1, 1), (2, 2), (1, 2), (2, 1)) if m != node.masks)


def test_reads_of_other_blocks_are_other_sums() -> None:
    program = split(2).program
    mutants = [mutant for _, mutant in changed(program, other_blocks)]
    assert len(mutants) == 6
    for mutant in mutants:
        with pytest.raises(AssertionError):
            on_machine(mutant, 64, 8, 64)


def test_the_sum_is_in_ascending_order_of_the_part() -> None:
    derivation = split(4)
    assert "(((AB.part{0}[i, j] + AB.part{1}[i, j]) + AB.part{2}[i, j]) + AB.part{3}[i, j])" in show(derivation.program)
    (order,) = derivation.signature()
    assert (order.parts, order.slab) == (4, 16)
    assert "slabs of 16 dealt in turn to 4 parts, each from zero, added (rn) in ascending order" in str(order)


EPILOGUES = ("", "bias,relu", "bias,gelu", "row_bias,silu", "bias,keep,relu", "residual,clamp", "alpha,beta,bias")


@pytest.mark.parametrize("epilogue", EPILOGUES)
@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.value)
def test_simulated_bits_are_those_of_the_loop(layout: Layout, epilogue: str) -> None:
    parts = PARTS[(len(epilogue) + list(Layout).index(layout)) % 3]
    run_matmul(
        MatmulSpec(layout, epilogue=parse_epilogue(epilogue)), (136, 72, 264), evolve(SMALL, split=parts), 3, "sm_90a"
    )


@pytest.mark.parametrize(
    "accumulate, output, element", [(f16, f16, f16), (f32, f32, f16), (f32, bf16, bf16), (f32, f32, bf16)]
)
def test_types(accumulate: Element, output: Element, element: Element) -> None:
    spec = MatmulSpec(Layout.NT, accumulate, output, parse_epilogue("bias"), input=element)
    run_matmul(spec, (72, 136, 328), evolve(SMALL, split=4), target="sm_90a")


@pytest.mark.parametrize("size", [(1, 1, 1), (8, 8, 8), (64, 64, 64), (40, 200, 8), (200, 40, 520), (64, 136, 0)])
def test_ragged_and_tiny_products(size: tuple[int, int, int]) -> None:
    """Sizes that deny warpgroups are multiplied by warps, whose blocks meet as well."""
    for parts in (2, 8):
        run_matmul(MatmulSpec(), size, evolve(SMALL, split=parts), target="sm_90a")


def test_batches_chains_and_full_blocks_apart() -> None:
    batched = MatmulSpec(Layout.TN, epilogue=parse_epilogue("bias,relu"), batched=True)
    run_matmul(batched, (136, 72, 200), evolve(SMALL, split=2, isolate=True), target="sm_90a")
    chained = MatmulSpec(accumulate=f16, promote=32, output=f16)
    run_matmul(chained, (72, 72, 328), evolve(SMALL, split=4), target="sm_90a")


@pytest.mark.parametrize("cluster", [(2, 1), (1, 2), (2, 2)], ids=str)
def test_clusters_bring_boxes_to_blocks_of_the_same_part(cluster: tuple[int, int]) -> None:
    """Neighbours along i and j share boxes, those along k none; bits are those of parts without them."""
    derivation = split(2, cluster=cluster)
    assert derivation.program.grid.cluster == 2 * cluster[0] * cluster[1]
    for seed in (None, 3):
        on_machine(derivation.program, 136, 40, 16 * MOST_SLABS, seed)
    alone, together = (Matmul(MatmulSpec(), "sm_90a", evolve(SMALL, split=2, cluster=c)) for c in ((1, 1), cluster))
    inputs = random_inputs(alone.compute, {"M": 136, "N": 136, "K": 328})
    outcome = together(inputs)
    assert np.array_equal(bits(outcome.arrays["D"]), bits(alone(inputs).arrays["D"]))
    assert ".multicast::cluster" in str(outcome.kernel.listing)


def test_a_partial_tile_lies_over_a_ring_or_beside() -> None:
    over = matmul_plan(matmul_compute(MatmulSpec()), MatmulSpec(), FACTS, evolve(SMALL, split=2), "sm_90a")
    alone = evolve(over, steps=tuple(evolve(s, through=shared(1)) if isinstance(s, Split) else s for s in over.steps))
    plain, beside = derive(over).program, derive(alone).program
    assert beside.shared_bytes == plain.shared_bytes + 64 * 64 * 4
    on_machine(beside, 72, 72, 200)


@pytest.mark.parametrize("parts", PARTS)
def test_a_whole_tile_spills_nothing_and_stays_asynchronous(parts: int) -> None:
    spec = MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu"))
    kernel = generate(matmul_plan(matmul_compute(spec), spec, FACTS, evolve(LARGE, split=parts), "sm_90a"))
    cubin = kernel.assembled()
    assert cubin.spills == 0
    text = str(kernel.listing)
    assert text.count("barrier.cluster.arrive") == text.count("barrier.cluster.wait") == 2
    assert text.count("ld.shared::cluster.v4.b32") == 32


HALVED = evolve(SMALL, split=2)
TURNED = evolve(HALVED, warps=8, workers=2, turns=True)
REFUSED = {
    "workers": (MatmulSpec(), evolve(HALVED, workers=4), "blocks that stay and walk the tiles do not share a sum"),
    "turns": (MatmulSpec(), TURNED, "split=2: warpgroups that take tiles in turn do not share a sum"),
    "integers": (MatmulSpec.of(s8), HALVED, "split=2: parts are joined in f32, the sums are integers"),
    "no room": (MatmulSpec(), evolve(LARGE, split=2, depth=3), "a partial tile has 131072 bytes, more than any ring"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_combined_is_refused_by_name(name: str) -> None:
    spec, tiling, words = REFUSED[name]
    with pytest.raises(PlanError, match=words):
        derive(matmul_plan(matmul_compute(evolve(spec, parts=tiling.warp_tile)), spec, FACTS, tiling, "sm_90a"))


def test_what_a_cluster_does_not_join_is_refused_by_the_derivation() -> None:
    sums = MatmulSpec(epilogue=parse_epilogue("row_sum"))
    plan = matmul_plan(matmul_compute(evolve(sums, parts=(16, 64))), sums, FACTS, SMALL, "sm_90a")
    with pytest.raises(PlanError, match="row_sum_parts sums over j, but each block joins a slice of the tile only"):
        derive(plan.split("k", parts=2))
    odd = plan_of((1, 1), tiling=evolve(TINY, j=48))
    with pytest.raises(PlanError, match="dealt to warps by bits, but j=48 of level 'cta' is no power of two"):
        derive(odd.split("k", parts=2))
    below = Matmul(MatmulSpec(), "sm_80", evolve(SMALL, warps=4)).kernel().plan
    with pytest.raises(PlanError, match="sm_80 has no clusters of blocks"):
        derive(below.split("k", parts=2))


def test_swapped_factors_and_overlapped_launches() -> None:
    """Rows of the product are columns of the result: slices are of what does not lie together in memory."""
    tiling = MatmulTiling(i=16, j=64, k=64, warps=4, depth=3, isolate=False, swap=True, split=2)
    for each in (tiling, evolve(tiling, split=4, overlap=True)):
        run_matmul(MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu")), (24, 72, 264), each, target="sm_90a")
