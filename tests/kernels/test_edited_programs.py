"""Kernels of tile programs that were printed, changed by hand and read again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import bf16, e4m3, f64, s8, tf32
from ptxgen.derive import derive
from ptxgen.errors import KernelError, UnsupportedError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.kernels.launching.generated import build, generate
from ptxgen.kernels.products.samples import menu
from ptxgen.plan import Fact, aligned, evict_first, evict_last, grouped, hilbert, multiple, sms
from ptxgen.prove.trees import check_program
from ptxgen.tile import Copy, Program, Space, show
from ptxgen.tile.reading import read
from ptxgen.tile.rewriting import Spot, moved, spots, with_buffer, with_ring
from tests.derive.computes import hopper
from tests.derive.test_derived_programs import matmul_case
from tests.derive.test_persistent_programs import persisted, small_hopper
from tests.kernels.clusters import memories

SIZES = ("M", "N", "K", "lda", "ldb", "ldd")
FACTS: tuple[Fact, ...] = (*(multiple(name, 8) for name in SIZES), *aligned("A", "B", "D", bytes=16))


def of(spec: MatmulSpec, target: str, tiling: MatmulTiling | None = None) -> Program:
    facts = FACTS if target != "sm_70" else ()
    return Matmul(spec, target, tiling).kernel(facts).program


def some() -> Iterator[tuple[str, Program]]:
    """A program of each generation, with clusters, work lists, drains and other epilogues."""
    nt = MatmulSpec(layout=Layout.NT)
    yield "volta", of(MatmulSpec(epilogue=parse_epilogue("bias,gelu")), "sm_70")
    yield "turing", of(MatmulSpec(epilogue=parse_epilogue("clamp,keep")), "sm_75")
    yield "ampere", of(MatmulSpec(epilogue=parse_epilogue("row_sum,column_sum")), "sm_80")
    yield "batched", of(MatmulSpec(batched=True), "sm_80", MatmulTiling(drain=32))
    yield "cluster", of(nt, "sm_90a", MatmulTiling(i=128, j=128, k=64, warps=8, depth=3, cluster=(2, 1), drain=32))
    yield "overlapped", of(nt, "sm_90a", MatmulTiling(i=64, j=32, k=64, warps=4, depth=2, isolate=False, overlap=True))
    yield "swapped", of(nt, "sm_90a", MatmulTiling(i=16, j=64, k=64, warps=4, depth=2, isolate=False, swap=True))
    yield "walking", of(nt, "sm_90a", MatmulTiling(i=128, j=128, k=64, warps=8, depth=3, workers=sms, drain=32))

    walking = MatmulTiling(i=64, j=32, k=64, warps=4, depth=3, workers=4, drain=32)
    yield "walking clusters", of(nt, "sm_90a", evolve(walking, cluster=(2, 2)))
    yield "turns", of(nt, "sm_90a", evolve(walking, warps=8, turns=True))
    yield "told", of(nt, "sm_90a", evolve(walking, evict=(evict_last, None, evict_first), maps_early=True))
    yield "along a curve", of(nt, "sm_90a", evolve(walking, raster=hilbert(4)))
    flat = MatmulTiling(i=64, j=32, k=64, warps=4, depth=3, isolate=False)
    yield "joined in clusters", of(nt, "sm_90a", evolve(flat, split=2, cluster=(2, 1)))
    yield "passed on", of(nt, "sm_90a", evolve(flat, split=3, drain=32))
    yield (
        "passed on, of turing",
        of(MatmulSpec(epilogue=parse_epilogue("bias,row_sum")), "sm_75", MatmulTiling(split=2)),
    )
    yield "streamed", of(nt, "sm_90a", evolve(walking, stream=True))
    yield "streamed clusters", of(nt, "sm_90a", evolve(walking, stream=True, workers=sms, cluster=(2, 1)))
    yield (
        "streamed, of turing",
        of(MatmulSpec(epilogue=parse_epilogue("bias,silu")), "sm_75", MatmulTiling(workers=sms, stream=True)),
    )
    everything = evolve(walking, warps=8, turns=True, cluster=(2, 1), raster=hilbert(2), evict=(evict_last,) * 3)
    yield "all of these", of(nt, "sm_90a", everything)


def all_of_them() -> Iterator[tuple[str, Program]]:
    yield from some()
    for tiling in menu():
        yield str(tiling), of(MatmulSpec(epilogue=parse_epilogue("bias,silu")), "sm_70", tiling)
    for element, target in product((bf16, tf32, f64, s8, e4m3), ("sm_80", "sm_90a")):
        if (element, target) != (e4m3, "sm_80"):
            yield f"{element} {target}", of(MatmulSpec.of(element), target)
    for workers, cluster, drain in product((None, sms, 5), ((1, 1), (2, 1), (1, 2), (2, 2)), (0, 32)):
        if not workers or cluster == (1, 1):
            tiling = MatmulTiling(
                i=128, j=128, k=64, warps=8, depth=4, workers=workers, cluster=cluster, drain=drain, isolate=False
            )
            yield str(tiling), of(MatmulSpec(layout=Layout.NT), "sm_90a", tiling)
    for split, cluster, drain in (
        (2, (2, 1), 0),
        (2, (1, 1), 0),
        (4, (2, 1), 0),
        (4, (1, 1), 0),
        (5, (1, 1), 0),
        (5, (1, 1), 32),
    ):
        tiling = MatmulTiling(i=128, j=64, k=64, warps=8, depth=3, cluster=cluster, drain=drain, split=split)
        yield str(tiling), of(MatmulSpec(layout=Layout.NT), "sm_90a", tiling)
    for cluster, drain, raster in product(((1, 1), (2, 1), (1, 2)), (0, 32), (grouped(8), hilbert(2))):
        tiling = MatmulTiling(
            i=64, j=64, k=64, warps=4, depth=3, cluster=cluster, drain=drain, raster=raster, workers=sms, stream=True
        )
        yield str(tiling), of(MatmulSpec(layout=Layout.NT), "sm_90a", tiling)
    yield "chains", of(MatmulSpec(promote=64, layout=Layout.NT), "sm_90a")


def test_programs_are_read_as_they_were_printed() -> None:
    for name, program in some():
        assert read(show(program)) == program, name


@pytest.mark.slow
def test_every_program_of_the_menus_is_read_as_it_was_printed_and_accepted() -> None:
    count = 0
    for name, program in all_of_them():
        assert read(show(program)) == program, name
        assert check_program(program).accepted, name
        count += 1
    assert count > 50


def test_a_program_that_was_read_gives_the_same_kernel() -> None:
    tiling = MatmulTiling(i=64, j=32, k=64, warps=4, depth=3, isolate=False)
    parts = (Matmul(MatmulSpec(), "sm_90a", evolve(tiling, split=split)).kernel(FACTS).plan for split in (2, 3))
    shared = Matmul(MatmulSpec(), "sm_90a", evolve(tiling, workers=3, stream=True)).kernel(FACTS).plan
    for plan in (hopper(), persisted(small_hopper()), *parts, shared):
        kernel = generate(plan)
        again = build(read(show(kernel.program)))
        assert str(again.listing) == str(kernel.listing)
        assert again.entry == kernel.entry


def test_another_depth_gives_the_same_bits_in_the_simulator() -> None:
    program = derive(persisted(small_hopper())).program
    found = []
    for depth in (3, 2):
        changed = with_ring(program, "A.shared+B.shared", depth=depth)
        for name in ("A.shared", "B.shared"):
            changed = with_buffer(changed, name, depth=depth)
        arrays, _, reference = matmul_case("nt", 64, 32, 200)
        kernel = build(changed)
        shared = kernel.program.shared_bytes
        assert shared == depth * (64 * 64 + 64 * 16) * 2
        report = kernel.simulate({**arrays, "B": arrays["B"].T}, sizes={"ldd": 32})
        assert report is not None
        report.raise_findings()
        assert np.abs(arrays["D"].astype(float) - reference).max() < 1.0
        found.append(arrays["D"].tobytes())
    assert len(set(found)) == 1


def copies(program: Program) -> list[Spot]:
    return [s for s, n in spots(program) if isinstance(n, Copy) and n.destination.buffer.space is Space.SHARED]


def test_copies_change_places_but_not_with_their_barrier() -> None:
    program = derive(persisted(small_hopper())).program
    first, second = copies(program)
    swapped = moved(program, second, first)
    assert swapped != program
    build(swapped)
    expect = Spot(first.role, (*first.steps[:-1], first.steps[-1] - 2))
    with pytest.raises(KernelError) as caught:
        build(moved(program, first, expect))
    assert "is refused" in str(caught.value)
    assert {f.code for f in caught.value.findings} >= {"synchronisation.covered"}
    assert "reuse C -> A.shared (A.shared, distance 3)" in str(caught.value)


def test_a_built_kernel_has_no_plan() -> None:
    kernel = build(derive(hopper()).program)
    with pytest.raises(UnsupportedError, match="built from a tile program"):
        _ = kernel.plan


STREAMED = {
    "sm_90a": MatmulTiling(i=64, j=32, k=64, warps=4, depth=3, isolate=False, workers=4, stream=True),
    "sm_80": MatmulTiling(i=64, j=64, k=32, warps=4, depth=3, isolate=False, workers=4, stream=True),
}
CHANGED = (
    ("walked by 4 blocks", "walked by 5 blocks"), ("} at 1", "} at 3"), ("{block} as 1", "{block} as 3"),
    ("  covers", "  # covers"),
)  # fmt: skip


@pytest.mark.parametrize("target", STREAMED)
def test_a_streamed_program_changed_by_hand_runs_in_the_simulator(target: str) -> None:
    """Judged, built, without a finding, and equal to float64 in tiles that blocks leave to each other."""
    text = show(of(MatmulSpec(), target, STREAMED[target]))
    for old, new in CHANGED:
        assert old in text
        text = text.replace(old, new)
    arrays, _, reference = memories(Layout.NN, 72, 72, 200)
    report = build(read(text)).simulate(arrays)
    assert report is not None
    report.raise_findings()
    assert np.abs(arrays["D"].astype(float) - reference).max() < 3e-2
