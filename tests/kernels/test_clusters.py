"""Products whose blocks share operands: what is derived for them, on the tile machine and in the simulator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import f16
from ptxgen.derive import derive
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.kernels.launching.entry import entry_of
from ptxgen.kernels.launching.generated import GeneratedKernel, generate
from ptxgen.kernels.launching.launch import block_count
from ptxgen.order.atoms import Arrive, Commit, Expect, Fence, Retire, Side, Wait
from ptxgen.order.ops import TouchKind
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.order.threads import Threads
from ptxgen.plan import multiple
from ptxgen.prove.proof import check_meetings
from ptxgen.tile import Copy, RegisterFence
from ptxgen.tile.machine.walking import leaves_of
from ptxgen.tile.mutants import without_each_synchronisation
from tests.kernels.cases import bits, random_inputs, run_matmul
from tests.kernels.clusters import (
    CLUSTERS,
    TINY,
    changed,
    derived,
    faults,
    memories,
    on_machine,
    other_masks,
    other_numbers,
    plan_of,
    with_slices,
)

SMALL = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False)
THREADS = {"load": Threads(1, 1), "math": Threads(1, 128)}
DEPTH = TINY.depth
SLABS = (0, 1, DEPTH - 1, DEPTH, DEPTH + 1, 2 * DEPTH + 1)


def copies(cluster: tuple[int, int]) -> dict[str, Copy]:
    program = derived(cluster, tiling=SMALL).program
    found = (leaf for role in program.roles for leaf in leaves_of(role.body))
    return {leaf.op: leaf for leaf in found if isinstance(leaf, Copy) and leaf.ring}


@pytest.mark.parametrize("cluster", [(2, 1), (1, 2), (2, 2), (4, 1), (2, 4), (3, 1)])
def test_blocks_share_a_box_with_those_along_the_dims_that_it_does_not_move_with(cluster: tuple[int, int]) -> None:
    """A's box moves with i, B's with j."""
    rows, columns = cluster
    blocks = [(i, j) for i in range(rows) for j in range(columns)]
    for name, axis in (("A.shared", 0), ("B.shared", 1)):
        copy = copies(cluster)[name]
        shared = tuple(
            sum(1 << rank for rank, other in enumerate(blocks) if other[axis] == own[axis]) for own in blocks
        )
        members = shared[0].bit_count()
        if members == 1:
            assert copy.masks == ()
        elif members == 3:
            assert copy.masks == tuple(mask if mask & -mask == 1 << rank else 0 for rank, mask in enumerate(shared))
        else:
            assert copy.masks == shared
            whole = int(np.prod(copy.destination.buffer.shape))
            assert int(np.prod(copy.distribution.shape)) * members == whole


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_counts_are_those_of_all_readers_that_depend_on_a_writer(cluster: tuple[int, int]) -> None:
    (ring,) = derived(cluster).program.rings
    (own,) = derived((1, 1)).program.rings
    assert ring.empty_count == own.empty_count * (sum(cluster) - 1)
    assert ring.byte_count == own.byte_count


@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.value)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_machine_finds_no_fault(cluster: tuple[int, int], layout: Layout) -> None:
    program = derived(cluster, layout).program
    for seed in (None, 5):
        on_machine(program, 136, 40, 40, seed, layout)


@pytest.mark.parametrize("slabs", SLABS)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_end_of_the_ring_on_the_machine(cluster: tuple[int, int], slabs: int) -> None:
    program = derived(cluster).program
    for seed in (1, 2):
        on_machine(program, 72, 24, 16 * slabs, seed)
    if slabs:
        on_machine(program, 8, 8, 16 * slabs - 8)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_nothing_that_synchronises_can_be_left_out(cluster: tuple[int, int]) -> None:
    """But for the fence of later products, which is there for the assembler. Among what is needed are the last arrivals
    behind the loop, for which a writer waits before its block leaves."""
    program = derived(cluster).program
    needed = unharmed = 0
    for mutant in without_each_synchronisation(program):
        found = faults(mutant.program, ((72, 24, 16 * (2 * DEPTH + 1)), (72, 24, 16)))
        needed, unharmed = needed + bool(found), unharmed + (not found)
        assert found or isinstance(mutant.removed, RegisterFence), mutant.removed
    assert (needed, unharmed) == (14, 1)


@pytest.mark.slow
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_changed_mask_and_number_is_a_fault(cluster: tuple[int, int]) -> None:
    """But for a writer that waits for a later release than it needs, which only makes it wait longer."""
    program = derived(cluster).program
    harmless = 0
    for node, mutant in changed(program, other_numbers):
        found = faults(mutant, ((72, 24, 16 * (2 * DEPTH + 1)), (72, 24, 16)))
        harmless += not found
        assert found or str(getattr(node, "rank", "")) == "t0 + 1", node
    assert harmless == 1


def test_counts_of_arrivals_are_exact_on_the_machine() -> None:
    program = derived((2, 1)).program
    (ring,) = program.rings
    for count in (1, 3, 4):
        wrong = evolve(program, rings=(evolve(ring, empty_count=count),))
        assert faults(wrong, ((72, 24, 16 * (2 * DEPTH + 1)),)), count


def judged(synchronised: Synchronised, cluster: tuple[int, int]) -> tuple[str, ...]:
    (part,) = derived(cluster).parts
    return check_meetings(synchronised, part.requirements, needless=False, threads=THREADS).codes


def altered(atom: Synchronisation) -> Iterator[Synchronisation]:
    """The atom with another mask, number of bytes, pending number, tile, or set of steps."""
    match atom.atom:
        case Arrive(to=to):
            yield from (evolve(atom, atom=evolve(atom.atom, to=masks)) for masks in other_masks(to))
        case Expect(byte_count=count):
            yield from (evolve(atom, atom=evolve(atom.atom, byte_count=count + more)) for more in (-256, 256))
        case Retire(pending=pending):
            yield evolve(atom, atom=evolve(atom.atom, pending=pending + 1))
        case Wait(side=side) if atom.tail:
            yield from (evolve(atom, rank=atom.rank + more) for more in (-1, 1))
            yield evolve(atom, domain=atom.domain.intersect(atom.rank >= DEPTH + 1))
        case Wait(side=side):
            yield evolve(atom, atom=Wait(atom.atom.ring, Side.FULL if side is Side.EMPTY else Side.EMPTY))
        case Fence() | Commit():
            pass


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_checker_refuses_every_change(cluster: tuple[int, int]) -> None:
    (part,) = derived(cluster).parts
    whole = part.synchronised
    assert judged(whole, cluster) == ()
    refused = 0
    for number, atom in enumerate(whole.atoms):
        others = (*whole.atoms[:number], *whole.atoms[number + 1 :])
        assert judged(evolve(whole, atoms=others), cluster), atom
        for other in altered(atom):
            assert judged(evolve(whole, atoms=(*others, other)), cluster), other
            refused += 1
    for place in range(2):
        rest = whole.enter[:place] + whole.enter[place + 1 :]
        assert judged(evolve(whole, enter=rest), cluster)
    (ring,) = whole.rings
    for count in (ring.empty_count - 1, ring.empty_count + 1, 1):
        wrong = evolve(whole, rings=(evolve(ring, empty_count=count),))
        assert judged(wrong, cluster) == ("synchronisation.count",)
    assert refused > 15


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_checker_refuses_copies_that_go_elsewhere(cluster: tuple[int, int]) -> None:
    (part,) = derived(cluster).parts
    whole = part.synchronised
    for number, op in enumerate(whole.ops):
        for place, touch in enumerate(op.touches):
            if touch.kind is TouchKind.WRITE and touch.masks:
                for masks in other_masks(touch.masks):
                    touches = (*op.touches[:place], evolve(touch, masks=masks), *op.touches[place + 1 :])
                    ops = (*whole.ops[:number], evolve(op, touches=touches), *whole.ops[number + 1 :])
                    assert "synchronisation.bytes" in judged(evolve(whole, ops=ops), cluster), masks


@pytest.mark.parametrize("cluster", [(2, 1), (1, 2), (2, 2), (3, 1)])
def test_one_block_may_bring_a_box_for_all(cluster: tuple[int, int]) -> None:
    plan = with_slices(plan_of(cluster), 1)
    derivation = derive(plan)
    on_machine(derivation.program, 136, 40, 16 * (DEPTH + 1) + 8, 3)
    whole = (leaf for role in derivation.program.roles for leaf in leaves_of(role.body))
    assert any(0 in leaf.masks for leaf in whole if isinstance(leaf, Copy))
    for mutant in without_each_synchronisation(derivation.program):
        found = faults(mutant.program, ((72, 24, 16 * (2 * DEPTH + 1)),))
        assert found or isinstance(mutant.removed, RegisterFence), mutant.removed
    simulated(generate(plan), 136, 40, 72)


@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.value)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_clusters_give_the_same_bits(cluster: tuple[int, int], layout: Layout) -> None:
    alone, together = (Matmul(MatmulSpec(layout), "sm_90a", t) for t in (SMALL, evolve(SMALL, cluster=cluster)))
    inputs = random_inputs(alone.compute, {"M": 136, "N": 72, "K": 136})
    outcome = together(inputs)
    assert np.array_equal(bits(outcome.arrays["D"]), bits(alone(inputs).arrays["D"]))
    text = str(outcome.kernel.listing)
    assert ".multicast::cluster" in text
    assert f".reqnctapercluster {cluster[0] * cluster[1]}, 1, 1" in text
    assert outcome.kernel.assembled().spills == 0


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_tile_of_several_spans_beside_each_other_in_dynamic_shared_memory(cluster: tuple[int, int]) -> None:
    """In a cluster shared addresses have the block's rank in bits where a descriptor has a distance."""
    tiling = MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, isolate=False)
    alone, together = (Matmul(MatmulSpec(), "sm_90a", each) for each in (tiling, evolve(tiling, cluster=cluster)))
    inputs = random_inputs(alone.compute, {"M": 136, "N": 264, "K": 136})
    outcome = together(inputs)
    assert np.array_equal(bits(outcome.arrays["D"]), bits(alone(inputs).arrays["D"]))


@pytest.mark.parametrize("size", [(1, 1, 1), (8, 8, 8), (64, 64, 64), (40, 200, 8), (200, 40, 264), (64, 136, 0)])
def test_ragged_and_tiny_products(size: tuple[int, int, int]) -> None:
    for cluster in CLUSTERS:
        run_matmul(MatmulSpec(), size, evolve(SMALL, cluster=cluster), target="sm_90a")


@pytest.mark.parametrize("slabs", SLABS)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_end_of_the_ring_in_the_simulator(cluster: tuple[int, int], slabs: int) -> None:
    """In the layout whose leading dimensions do not vanish with K."""
    layout = next(each for each in Layout if each.a_transposed and not each.b_transposed)
    simulated(generate(plan_of(cluster, layout)), 72, 24, 16 * slabs, layout)


def test_eight_blocks_of_a_cluster() -> None:
    """Their masks by rank fill 64 bits."""
    derivation = derived((2, 4), tiling=SMALL)
    assert str(derivation.parts[0].verdict) == "proved"
    simulated(generate(derivation.plan), 136, 72, 136)


def simulated(kernel: GeneratedKernel, m: int, n: int, k: int, layout: Layout = Layout.NN) -> None:
    """Runs the kernel in the simulator without a finding; what it gives is the product."""
    held, _, wanted = memories(layout, m, n, k)
    report = kernel.simulate(held)
    assert report is not None
    report.raise_findings()
    assert np.abs(held["D"] - wanted).max() < 3e-2


def test_epilogues_batches_and_full_blocks_apart() -> None:
    spec = MatmulSpec(Layout.TN, f16, epilogue=parse_epilogue("bias,gelu,residual"), batched=True)
    run_matmul(spec, (136, 72, 72), evolve(SMALL, cluster=(2, 1), isolate=True), target="sm_90a")
    tiling = MatmulTiling(i=128, j=64, k=64, warps=8, depth=2, isolate=False, cluster=(2, 2))
    run_matmul(MatmulSpec(epilogue=parse_epilogue("bias,relu")), (264, 72, 136), tiling, target="sm_90a")


def test_blocks_beyond_the_last_tile_fill_up_clusters_and_store_nothing() -> None:
    """A tile beyond the last one lies outside the arrays: where there may be one, full tiles are guarded too."""
    program = derived((2, 2)).program
    assert [dim.cluster for dim in program.grid.dims] == [2, 2]
    assert block_count(entry_of(program), {"M": 65, "N": 16, "K": 8}) == 4
    assert block_count(entry_of(program), {"M": 64, "N": 8, "K": 8}) == 4
    assert block_count(entry_of(program), {"M": 0, "N": 8, "K": 8}) == 0
    assert block_count(entry_of(program), {"M": 129, "N": 33, "K": 8}) == 16
    for rows, guarded in ((64, True), (128, False)):
        plan = plan_of((2, 1)).assume(multiple("M", rows), multiple("N", 16))
        kernel = generate(plan)
        leaves = (leaf for role in kernel.program.roles for leaf in leaves_of(role.body))
        stores = [leaf for leaf in leaves if isinstance(leaf, Copy) and leaf.op == "D.global"]
        assert [bool(store.guarded) for store in stores] == [guarded]
        on_machine(kernel.program, rows, 16, 24)
        simulated(kernel, 3 * rows, 16, 32)


def test_a_cluster_without_a_box_in_common_is_refused() -> None:
    plan = plan_of((1, 1))
    batched = Matmul(MatmulSpec(batched=True), "sm_90a", SMALL)
    inputs = random_inputs(batched.compute, {"M": 8, "N": 8, "K": 8, "batches": 2})
    other = batched.kernel_for(batched.with_outputs(inputs)).plan
    with pytest.raises(PlanError, match="no box that tensor copies bring is the same in several blocks"):
        derive(other.cluster(b=2))
    with pytest.raises(PlanError, match=r"sm_80 has no clusters of blocks"):
        derive(evolve(Matmul(MatmulSpec(), "sm_80", evolve(SMALL, warps=4)).kernel().plan.cluster(i=2)))
    with pytest.raises(PlanError, match=r"B.shared: 2 blocks of the cluster share a box of 16x16, which .* 4 slices"):
        derive(with_slices(plan.cluster(i=2), 4))
    narrow = plan_of((1, 1), Layout.NT, evolve(TINY, j=8))
    with pytest.raises(PlanError, match=r"B.shared: 2 blocks .* the swizzle cannot divide into 2 slices"):
        derive(with_slices(narrow.cluster(i=2), 2))
