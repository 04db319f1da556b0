"""Products whose blocks share the slabs of all tiles: who takes what, on the tile machine, in the simulator, and what a
launch provides."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import pairwise, product
from operator import add
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from polyhedral import var
from ptxgen import tile
from ptxgen.compute import bf16, f16, f32, s8
from ptxgen.derive import Derivation
from ptxgen.errors import LaunchError, PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, matmul_compute, matmul_plan, parse_epilogue
from ptxgen.kernels.launching.entry import Entry, entry_of, from_json, to_json
from ptxgen.kernels.launching.generated import generate
from ptxgen.kernels.launching.launch import block_count, prepare, workers_of
from ptxgen.kernels.launching.workspaces import on_the_cpu, workspace_bytes
from ptxgen.order.atoms import Acquire, Release
from ptxgen.order.synchronisation import Synchronised
from ptxgen.order.threads import Threads
from ptxgen.plan import grouped, hilbert, rows, sms
from ptxgen.prove.passing import order_faults
from ptxgen.prove.proof import check_meetings
from ptxgen.testing.tensor_core import in_chains
from ptxgen.tile import Workspace, show
from ptxgen.tile.machine import run
from ptxgen.tile.machine.streaming import shares
from ptxgen.tile.mutants import without_each_synchronisation
from tests.kernels.cases import bits, judge, random_inputs, run_matmul, scalars_of
from tests.kernels.clusters import FACTS, TINY, derived, faults, memories, on_machine

SMALL = evolve(TINY, workers=3, stream=True)
HOPPER = MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False, workers=4, stream=True)
AMPERE = MatmulTiling(i=64, j=64, k=32, warps=4, depth=3, isolate=False, workers=4, stream=True)
VOLTA = MatmulTiling(i=64, j=64, k=16, warps=4, isolate=False, workers=4, stream=True)
THREADS = {"load": Threads(1, 1), "math": Threads(1, 128)}


def streamed(tiling: MatmulTiling = SMALL, cluster: tuple[int, int] = (1, 1)) -> Derivation:
    return derived(cluster, tiling=tiling)


def starts(tiles: int, slabs: int, workers: int) -> list[int]:
    """Where the runs of the blocks begin among the slabs of streamed tiles, and where the last one ends: none where
    whole rounds are all there is, else those of the last whole round and what is beyond it, or of all tiles."""
    rest = tiles % workers
    shared = (min(tiles, workers + rest) if rest else 0) * slabs
    each, longer = divmod(shared, workers)
    return [worker * each + min(worker, longer) for worker in range(workers + 1)]


CASES = [
    (t, s, w) for t, s, w in product((1, 2, 3, 4, 7, 9, 12), (1, 2, 3, 5), (1, 2, 3, 4, 5)) if w <= min(2 * t, t * s)
]


@pytest.mark.parametrize("tiles, slabs, workers", CASES)
def test_every_slab_is_taken_once_and_evenly(tiles: int, slabs: int, workers: int) -> None:
    """In ascending order of the blocks each tile's parts ascend; a block leaves its first item alone, which the next
    one joins; no tile has more than three parts, and no block two slabs more than another one beside whole tiles."""
    found = shares(tiles, slabs, workers)
    taken = sorted((i.tile, i.first + n) for share in found for i in share.items for n in range(i.slabs))
    assert taken == list(product(range(tiles), range(slabs)))
    parts: dict[int, list[tuple[int, int, int, int]]] = {}
    for worker, share in enumerate(found):
        for place, item in enumerate(share.items):
            parts.setdefault(item.tile, []).append((worker, place, item.first, item.first + item.slabs))
    for chain in parts.values():
        assert len(chain) <= 3
        assert [first for *_, first, _ in chain] == [0, *(last for *_, last in chain[:-1])]
        for (worker, place, *_), (after, joining, *_) in pairwise(chain):
            assert (after, place) == (worker + 1, 0)
            assert found[worker].leaving == 1
            assert found[after].joining == joining
    leaving = {chain[n][0] for chain in parts.values() for n in range(len(chain) - 1)}
    assert {w for w, share in enumerate(found) if share.leaving} == leaving
    assert {w for w, share in enumerate(found) if share.joining >= 0} == {worker + 1 for worker in leaving}
    counts = [sum(item.slabs for item in share.items) for share in found]
    assert max(counts) - min(counts) <= 1


SIZES = ((64, 64, 80), (72, 24, 72), (64, 16, 16), (8, 8, 0), (136, 40, 88), (320, 16, 80), (64, 32, 88))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("workers", [2, 3, 4])
def test_the_machine_finds_no_fault(workers: int, size: tuple[int, int, int]) -> None:
    program = streamed(evolve(SMALL, workers=workers)).program
    for seed in (None, 1):
        on_machine(program, *size, seed)


@pytest.mark.parametrize("raster", [rows, grouped(2), hilbert(2)], ids=str)
def test_equal_bits_in_every_interleaving(raster: Any) -> None:
    program = streamed(evolve(SMALL, workers=4, raster=raster)).program
    held, sizes, _ = memories(Layout.NN, 136, 40, 72)
    found = [run(program, held, sizes, seed=seed).arrays["D"].tobytes() for seed in (None, 1, 2)]
    assert len(set(found)) == 1


def test_clusters_share_slabs_of_clusters_of_tiles() -> None:
    for cluster in ((2, 1), (1, 2)):
        program = streamed(evolve(SMALL, workers=6), cluster).program
        assert "AB_sums_turns{block - 2}" in show(program)
        for seed, size in ((None, (200, 40, 88)), (4, (8, 8, 0)), (5, (448, 16, 80))):
            on_machine(program, *size, seed)


def test_parts_of_the_program() -> None:
    program = streamed().program
    text = show(program)
    assert "streamed: tiles of floor((K + 15)/16) slabs" in text
    assert text.count("when t0 == joining:") == 2
    assert text.count("when t0 >= leaving:") == 1
    assert program.grid.work_list == tile.WorkList(3, tile.Quotient(var("K") + 15, 16))


SEEN = ((128, 32, 80), (64, 48, 16), (64, 16 * 5, 40))


def test_nothing_that_passes_a_tile_on_can_be_left_out() -> None:
    """Of all that synchronises one is not missed: a fence that is there for the assembler."""
    found: dict[str, list[set[str]]] = {}
    unharmed = []
    for mutant in without_each_synchronisation(streamed().program):
        shown = faults(mutant.program, SEEN)
        found.setdefault(type(mutant.removed).__name__, []).append(shown)
        if not shown:
            unharmed.append(type(mutant.removed))
    assert unharmed == [tile.RegisterFence]
    assert found["Acquire"] == [{"tile.race"}]
    assert found["Release"] == [{"tile.flag"}, {"tile.deadlock"}]
    assert all(shown in ({"tile.race"}, {"tile.deadlock"}) for shown in found["Meet"])


def judged(derivation: Derivation, synchronised: Synchronised) -> tuple[str, ...]:
    (part,) = derivation.parts
    return check_meetings(synchronised, part.requirements, needless=False, threads=THREADS).codes


def test_the_checker_refuses_what_lacks_an_atom_or_has_another_number() -> None:
    derivation = streamed()
    whole = derivation.parts[0].synchronised
    assert judged(derivation, whole) == ()
    passing = 0
    for number, atom in enumerate(whole.atoms):
        others = (*whole.atoms[:number], *whole.atoms[number + 1 :])
        assert judged(derivation, evolve(whole, atoms=others)), atom
        if isinstance(atom.atom, Acquire | Release):
            passing += 1
            wrong = [evolve(atom, rank=atom.rank + by) for by in (-1, 1)]
            wrong += [evolve(atom, domain=atom.domain.intersect(atom.rank >= 99))]
            wrong += [evolve(atom, domain=other.domain) for other in whole.atoms if other.time.loops == atom.time.loops]
            for other in wrong:
                if other.domain.equals(atom.domain) and other.rank == atom.rank:
                    continue
                assert "synchronisation.passing" in judged(derivation, evolve(whole, atoms=(*others, other))), other
    assert passing == 3


def test_a_block_waits_for_the_one_before_it_alone() -> None:
    derivation = streamed()
    whole = derivation.parts[0].synchronised
    renumbered = tuple(
        evolve(op, touches=tuple(evolve(t, rank=t.rank + 2) if t.rank.names == ("block",) else t for t in op.touches))
        if op.name == "AB.before"
        else op
        for op in whole.ops
    )
    atoms = tuple(
        evolve(a, rank=a.rank + 2) if isinstance(a.atom, Acquire) or a.atom == Release("AB_sums", True, True) else a
        for a in whole.atoms
    )
    codes = judged(derivation, evolve(whole, ops=renumbered, atoms=atoms))
    assert "synchronisation.passing" in codes


def test_sums_are_passed_on_where_tiles_are_shared_and_there_alone() -> None:
    program = streamed().program
    assert list(order_faults(program)) == []
    alone = evolve(program, grid=evolve(program.grid, work_list=tile.WorkList(3)))
    assert [f.code for f in order_faults(alone)] == ["synchronisation.passing"]
    assert [f.code for f in order_faults(evolve(program, workspaces=()))] == ["synchronisation.passing"]


def walked(down: int, across: int, group: int) -> Iterator[tuple[int, int]]:
    """Bands of so many rows of tiles, each column by column."""
    for first in range(0, down, group):
        yield from ((row, column) for column in range(across) for row in range(first, min(first + group, down)))


def expected(arrays: dict[str, Any], tiling: MatmulTiling, order: Any) -> Any:
    """The product as the work list's definition cuts it, each part a chain from zero, added in ascending order."""
    a, b = arrays["A"].astype(float), arrays["B"].astype(float)
    (m, k), n = a.shape, b.shape[1]
    down, across, slabs = -(-m // tiling.i), -(-n // tiling.j), -(-k // tiling.k)
    tiles, group = down * across, tiling.raster.group
    numbered = list(product(range(down), range(across))) if group == 1 else list(walked(down, across, group))
    assert isinstance(tiling.workers, int)
    runs = starts(tiles, slabs, min(tiling.workers, 2 * tiles, tiles * slabs))
    found = np.empty((m, n), np.float32)
    assert any(start % slabs for start in runs)
    for number, (row, column) in enumerate(numbered):
        down_to = slice(row * tiling.i, (row + 1) * tiling.i)
        to = slice(column * tiling.j, (column + 1) * tiling.j)
        inner = {s - number * slabs for s in runs if number * slabs < s < (number + 1) * slabs}
        cuts = [0, *sorted(inner), slabs]
        terms = [slice(x * tiling.k, y * tiling.k) for x, y in pairwise(cuts)]
        found[down_to, to] = reduce(add, [in_chains(a[down_to, t], b[t, to], order) for t in terms])
    return found


@pytest.mark.parametrize(
    "size, workers",
    [((136, 72, 200), 4), ((136, 200, 72), 5), ((72, 72, 456), 7), ((264, 72, 88), 4), ((8, 8, 328), 2)],
)
@pytest.mark.parametrize("group", [1, 2])
def test_simulated_bits_are_those_of_the_definition(size: tuple[int, int, int], workers: int, group: int) -> None:
    tiling = evolve(HOPPER, workers=workers, raster=grouped(group))
    outcome = Matmul(MatmulSpec(output=f32), "sm_90a", tiling)(dict(of_size(size)))
    (order,) = outcome.kernel.derivation.signature()
    assert np.array_equal(
        bits(outcome.arrays["D"]), bits(expected(dict(outcome.arrays), tiling, evolve(order, cut=None)))
    )


def of_size(size: tuple[int, int, int]) -> dict[str, Any]:
    return random_inputs(matmul_compute(MatmulSpec(output=f32)), dict(zip("MNK", size, strict=True)))


PLANS = {
    "hopper": ("sm_90a", HOPPER, "bias,relu"),
    "hopper, drained": ("sm_90a", evolve(HOPPER, drain=64), "bias,gelu,residual"),
    "hopper, overlapped": ("sm_90a", evolve(HOPPER, drain=32, overlap=True), "row_bias,silu"),
    "hopper, 96 columns": ("sm_90a", evolve(HOPPER, j=96), "bias,relu"),
    "hopper, 192 rows": ("sm_90a", evolve(HOPPER, i=192, j=96, warps=12, drain=32), "bias,relu"),
    "hopper, clusters": ("sm_90a", evolve(HOPPER, workers=6, cluster=(2, 1), drain=64), "bias,keep,relu"),
    "hopper, swapped": ("sm_90a", evolve(HOPPER, i=16, j=64, swap=True), "bias,relu"),
    "warps with boxes": ("sm_90", evolve(HOPPER, boxed=True, drain=32), "bias,relu"),
    "ampere": ("sm_80", AMPERE, "bias,keep,relu"),
    "ampere, drained": ("sm_80", evolve(AMPERE, drain=32), "alpha,beta,bias"),
    "volta": ("sm_70", VOLTA, "bias,relu"),
    "volta, drained": ("sm_70", evolve(VOLTA, drain=32), "residual,clamp"),
}


def simulated(spec: MatmulSpec, size: tuple[int, int, int], tiling: MatmulTiling, target: str) -> None:
    """Simulated without a finding, and within the bound of float64."""
    made = Matmul(spec, target, tiling)
    sizes, scalars = dict(zip("MNK", size, strict=True), batches=3), scalars_of(made.compute)
    outcome = made(random_inputs(made.compute, sizes), scalars)
    (order,) = outcome.kernel.derivation.signature()
    assert order.cut is not None
    assert is_cut(outcome.kernel.entry, sizes)
    judge(made.compute, outcome.arrays, scalars, exact=False, target=target, orders=(order,))


def is_cut(entry: Entry, sizes: dict[str, int]) -> bool:
    """Whether some tile of a launch is cut between blocks."""
    shared, together = entry.grid.work_list, entry.grid.cluster
    assert shared is not None
    assert shared.slabs is not None
    slabs, tiles = shared.slabs.numerator.evaluate(sizes) // shared.slabs.divisor, block_count(entry, sizes)
    blocks = workers_of(entry, tiles, 132, slabs)
    return any(share.leaving for share in shares(tiles // together, slabs, blocks // together))


@pytest.mark.parametrize("name", PLANS)
def test_simulated_without_a_finding(name: str) -> None:
    target, tiling, epilogue = PLANS[name]
    layout = list(Layout)[list(PLANS).index(name) % 4]
    simulated(MatmulSpec(layout, epilogue=parse_epilogue(epilogue)), (136, 72, 200), tiling, target)


@pytest.mark.parametrize("size", [(1, 1, 1), (8, 8, 8), (40, 72, 0), (72, 8, 456)], ids=str)
def test_ragged_and_tiny_products(size: tuple[int, int, int]) -> None:
    for target, tiling in (("sm_90a", HOPPER), ("sm_80", AMPERE)):
        made = Matmul(MatmulSpec(output=f32), target, tiling)
        inputs = random_inputs(made.compute, dict(zip("MNK", size, strict=True)))
        found = made(inputs).arrays["D"]
        wanted = inputs["A"].astype(float) @ inputs["B"].astype(float)
        assert np.abs(found - wanted).max(initial=0) < 1e-3


def test_types_and_batches() -> None:
    simulated(MatmulSpec(Layout.NT, f32, bf16, input=bf16), (136, 72, 200), HOPPER, "sm_90a")
    simulated(MatmulSpec(batched=True), (72, 72, 40), evolve(VOLTA, workers=5), "sm_70")
    simulated(MatmulSpec(Layout.NT, batched=True), (72, 72, 136), evolve(HOPPER, workers=5), "sm_90a")


def test_sums_over_rows_are_of_the_last_part() -> None:
    spec = MatmulSpec(output=f32, epilogue=parse_epilogue("bias,row_sum"))
    made = Matmul(spec, "sm_90a", HOPPER)
    inputs = random_inputs(made.compute, {"M": 72, "N": 136, "K": 200})
    arrays = made(inputs).arrays
    wanted = inputs["A"].astype(float) @ inputs["B"].astype(float) + inputs["bias"]
    assert np.abs(arrays["D"] - wanted).max() < 1e-4
    assert np.abs(arrays["row_sum"] - wanted.sum(axis=1)).max() < 1e-3


def test_flags_are_zero_again_and_a_launch_says_what_it_takes() -> None:
    kernel = generate(matmul_plan(matmul_compute(MatmulSpec()), MatmulSpec(), FACTS, HOPPER, "sm_90a"))
    assert from_json(to_json(kernel.entry)) == kernel.entry
    sums, turns = kernel.entry.workspaces
    assert (workspace_bytes(sums, 3), workspace_bytes(turns, 3)) == (3 * 64 * 64 * 4, 3 * 4)
    provided: dict[str, Any] = {}

    def provide(wanted: Workspace, blocks: int) -> Any:
        assert blocks == 4
        return provided.setdefault(wanted.name, on_the_cpu(wanted, blocks))

    for _ in range(2):
        held, _, wanted = memories(Layout.NN, 136, 72, 200)
        launch = prepare(kernel.entry, held, {}, provide=provide)
        assert launch.blocks == 4
        report = kernel.decoded.run(
            grid=launch.blocks, block=launch.threads, args=launch.arguments, shared_bytes=launch.shared_bytes
        )
        report.raise_findings()
        assert np.abs(held["D"] - wanted).max() < 3e-2
        assert not provided["AB_sums_turns"].any()


@pytest.mark.parametrize(
    "workers, cluster, tiles, slabs, blocks",
    [
        (sms, (1, 1), 264, 8, 132),
        (sms, (1, 1), 100, 8, 132),
        (sms, (1, 1), 40, 8, 80),
        (sms, (1, 1), 40, 1, 40),
        (7, (1, 1), 264, 8, 7),
        (sms, (2, 1), 264, 8, 132),
        (7, (2, 1), 264, 8, 6),
        (sms, (2, 1), 4, 8, 8),
        (sms, (1, 1), 0, 8, 0),
    ],
)
def test_up_to_two_blocks_for_each_tile(workers: Any, cluster: Any, tiles: int, slabs: int, blocks: int) -> None:
    entry = entry_of(streamed(evolve(SMALL, workers=workers), cluster).program)
    assert workers_of(entry, tiles, 132, slabs) == blocks


def test_more_slabs_than_are_counted_are_refused() -> None:
    entry = entry_of(streamed(evolve(SMALL, workers=1 << 16)).program)
    with pytest.raises(LaunchError, match="65536 slabs of a tile are too many for 65536 blocks to share"):
        workers_of(entry, 1 << 20, 132, 1 << 16)


def test_the_signature_tells_where_sums_are_cut() -> None:
    (order,) = streamed().signature()
    assert (
        "slabs of 16 in ascending k, cut where the even shares of 3 blocks end in the tiles (i=64, j=16) as grouped(8) "
        "orders them, each part from zero, added (rn) in ascending order: another count of blocks is another order"
    ) in str(order)
    others = [evolve(SMALL, workers=4), evolve(SMALL, i=128, warps=8), evolve(SMALL, raster=rows), evolve(SMALL, k=32)]
    assert all(streamed(tiling).signature() != (order,) for tiling in others)
    assert streamed(evolve(SMALL, depth=4)).signature() == (order,)
    assert "as many blocks as run at once in clusters of i=2" in str(
        streamed(evolve(SMALL, workers=sms), (2, 1)).signature()[0]
    )


@pytest.mark.parametrize("tiling", [evolve(HOPPER, i=128, j=256, warps=8, depth=4, drain=64)], ids=str)
def test_a_whole_tile_spills_nothing_and_stays_asynchronous(tiling: MatmulTiling) -> None:
    spec = MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu"))
    kernel = generate(matmul_plan(matmul_compute(spec), spec, FACTS, evolve(tiling, workers=sms), "sm_90a"))
    assert kernel.assembled().spills == 0
    text = str(kernel.listing)
    assert text.count("ld.acquire.gpu") == 1
    assert text.count("st.release.gpu") == 2


REFUSED = {
    "no workers": (MatmulSpec(), evolve(HOPPER, workers=None), "blocks that stay share the slabs of all tiles"),
    "turns": (MatmulSpec(), evolve(HOPPER, warps=8, turns=True), "stream=True: warpgroups that take tiles in turn"),
    "split": (MatmulSpec(), evolve(HOPPER, split=2), "a sum is cut one way or the other"),
    "integers": (MatmulSpec.of(s8), HOPPER, "stream=True: parts are joined in f32, the sums are integers"),
    "halves": (MatmulSpec(accumulate=f16), HOPPER, "would be rounded by each block; take sums in f32"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_combined_is_refused_by_name(name: str) -> None:
    spec, tiling, words = REFUSED[name]
    with pytest.raises(PlanError, match=words):
        matmul_plan(matmul_compute(spec), spec, FACTS, tiling, "sm_90a")


def test_arguments_that_deny_warpgroups_are_multiplied_whole() -> None:
    run_matmul(MatmulSpec(), (33, 35, 37), HOPPER, target="sm_90a")


def test_groups_of_stores_that_blocks_without_a_first_tile_open_before_their_items() -> None:
    """So that as many are pending from the first piece on; whose tile goes on elsewhere opens them there."""
    spec = MatmulSpec(Layout.NT, epilogue=parse_epilogue("row_bias,silu,keep"))
    tiling = evolve(HOPPER, i=128, warps=8, drain=32, workers=7)
    made = Matmul(spec, "sm_90a", tiling)
    outcome = made(random_inputs(made.compute, {"M": 392, "N": 200, "K": 200}))
    judge(made.compute, outcome.arrays, {}, exact=False, target="sm_90")
    text = show(outcome.kernel.program)
    before, _, _ = text[text.index("role math") :].partition("for each item")
    assert "when 0 >= leaving:\n      commit cp.async.bulk" in before
