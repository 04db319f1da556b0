"""Results that leave through shared memory, in loops and in pieces: run on the simulator and the tile machine, and what
is refused on the line of the step."""

from __future__ import annotations

import inspect
from itertools import product

import numpy as np
import pytest

from isa.mechanisms import GroupKind
from ptxgen.compute import Compute, ComputeBuilder, Element, ReductionOp, f16, f32
from ptxgen.derive import derive
from ptxgen.derive.pieces import Pieces
from ptxgen.errors import PlanError
from ptxgen.kernels.launching.generated import GeneratedKernel, generate
from ptxgen.kernels.launching.views import aligned_zeros
from ptxgen.order.atoms import Join, Retire
from ptxgen.plan import (
    By,
    LayoutWish,
    Plan,
    Swizzle,
    aligned,
    blocks,
    free,
    linear,
    multiple,
    shared,
    st,
    stmatrix,
    swizzle,
    tensor,
    warps,
)
from ptxgen.tile import Distribution
from ptxgen.tile.machine import run

COLUMNS = 72


def doubled(element: Element = f16) -> Compute:
    """D = 2 A."""
    builder = ComputeBuilder("doubled")
    i, j = builder.dims(i="M", j="N")
    a, d = builder.input("A", element, (i, j), ("lda", 1)), builder.output("D", element, (i, j), ("ldd", 1))
    builder.define(d[i, j], a[i, j] * 2.0, (i, j))
    return builder.build()


def looped(target: str, rows: int = 16, element: Element = f16) -> Plan:
    """Blocks along j; each walks down its column of tiles, four warps with `rows` rows of a tile each."""
    facts = (multiple("lda", 8), multiple("ldd", 8), multiple("N", 8), aligned("A", "D", bytes=16))
    plan = Plan(doubled(element), target).assume(*facts).tile("cta", i=4 * rows, j=64)
    return plan.place("cta", onto=blocks, dims=("j",)).tile("warp", i=rows).place("warp", onto=warps)


def runs(kernel: GeneratedKernel, rows: int, seeds: tuple[int | None, ...]) -> None:
    a, d = (aligned_zeros(np.dtype(np.float16), (rows, COLUMNS)) for _ in "AD")
    a[...] = np.random.default_rng(rows).standard_normal(a.shape)
    report = kernel.simulate({"A": a, "D": d})
    if report:
        report.raise_findings()
        assert report.conflicts == 0
    assert np.array_equal(d, 2 * a)
    sizes = {"M": rows, "N": COLUMNS, "lda": COLUMNS, "ldd": COLUMNS}
    for seed in seeds:
        left = run(kernel.program, {"A": np.array(a), "D": np.full_like(a, np.nan)}, sizes, seed=seed).arrays["D"]
        assert np.array_equal(left, 2 * a)


WAYS = [("sm_90a", tensor, swizzle(128)), ("sm_90a", st(16), free), ("sm_80", st(16), free), ("sm_70", st(16), free)]


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("pieces", [{}, {"i": 8}], ids=["whole", "halves"])
@pytest.mark.parametrize(("target", "by", "layout"), WAYS, ids=str)
def test_tiles_leave_one_after_the_other(
    target: str, by: By, layout: LayoutWish | Swizzle, pieces: dict[str, int], depth: int
) -> None:
    """Halves of four warps' tiles are boxes that lie apart; in a loop the ring goes on from step to step."""
    kernel = generate(looped(target).drain("D", shared(depth, layout), by, pieces, st(16)))
    for rows in (0, 1, 64, 70, 200):
        runs(kernel, rows, (None, 1))
    atoms = kernel.derivation.parts[0].synchronised.atoms
    meetings = [atom for atom in atoms if isinstance(atom.atom, Join)]
    assert len(meetings) == (1 + len(pieces)) * (2 if depth == 1 else 1)
    waits = [atom.atom for atom in atoms if isinstance(atom.atom, Retire)]
    if by is tensor:
        reads = Retire(GroupKind.BULK, max(0, depth - 2), reads_only=True)
        assert waits == [*([reads] * (1 + len(pieces))), Retire(GroupKind.BULK, 0)]
    else:
        assert not waits


@pytest.mark.parametrize("layout", [swizzle(32), swizzle(64), swizzle(128), linear], ids=str)
def test_every_layout_is_right(layout: LayoutWish | Swizzle) -> None:
    kernel = generate(looped("sm_90a").drain("D", shared(2, layout), st(16), {}, st(8)))
    a, d = (aligned_zeros(np.dtype(np.float16), (70, COLUMNS)) for _ in "AD")
    a[...] = np.random.default_rng(5).standard_normal(a.shape)
    report = kernel.simulate({"A": a, "D": d})
    assert report is not None
    report.raise_findings()
    assert np.array_equal(d, 2 * a)


def test_pieces_are_the_kept_bits_of_a_tile() -> None:
    """A tile of 16x32 of two warps along rows, cut into quarters of 4 rows of each warp's 8 and 16 of 32 columns."""
    pieces = Pieces.of((16, 32), (8, 32), {0: 4, 1: 16})
    assert pieces.packed_shape == (8, 16)
    assert pieces.corners == ((0, 0), (0, 16), (4, 0), (4, 16))
    held = Distribution((16, 32), ((0, 1), (4, 0), (0, 16)), ((0, 2), (0, 4), (0, 8), (1, 0), (2, 0)), ((8, 0),))
    own = pieces.within(held)
    assert own is not None
    every = {held.coordinate(w, lane, v) for w, lane, v in product(range(2), range(32), range(8))}
    parts = [
        {
            tuple(c + s for c, s in zip(corner, own.coordinate(w, lane, v), strict=True))
            for w, lane, v in product(range(2), range(32), range(own.value_count))
        }
        for corner in pieces.corners
    ]
    assert sum(map(len, parts)) == len(every)
    assert set().union(*parts) == every
    assert pieces.unpacked(pieces.packed(own)) == own
    across = Distribution((16, 32), ((0, 1),), ((0, 2), (0, 4), (0, 8), (0, 16), (4, 0)), ((8, 0),))
    assert pieces.within(across) is None


def columns_in_lanes() -> None:
    derive(looped("sm_90a").drain("D", shared(2, swizzle(64)), tensor, {"j": 32}, st(16)))  # refused


def boxes_of_four_rows() -> None:
    derive(looped("sm_90a", 8).drain("D", shared(2, swizzle(128)), tensor, {"i": 4}, st(16)))  # refused


def matrices_of_runs() -> None:
    derive(looped("sm_90a").drain("D", shared(2, swizzle(128)), tensor, {}, stmatrix(4)))  # refused


def matrices_before_hopper() -> None:
    derive(looped("sm_80").drain("D", shared(2, free), st(16), {}, stmatrix(4)))  # refused


def boxes_before_hopper() -> None:
    derive(looped("sm_80").drain("D", shared(2, swizzle(128)), tensor, {}, st(16)))  # refused


def rows_shorter_than_the_swizzle() -> None:
    plan = Plan(doubled(f32), "sm_90a").tile("cta", i=64, j=16).place("cta", onto=blocks)
    plan = plan.tile("warp", i=16).place("warp", onto=warps)
    derive(plan.drain("D", shared(2, swizzle(128)), tensor, {}, st(16)))  # refused


def rows_of_unknown_stride() -> None:
    plan = Plan(doubled(), "sm_90a").tile("cta", i=64, j=64).place("cta", onto=blocks)
    plan = plan.tile("warp", i=16).place("warp", onto=warps)
    derive(plan.drain("D", shared(2, swizzle(128)), tensor, {}, st(16)))  # refused


def sums() -> None:
    builder = ComputeBuilder("sums")
    i, j = builder.dims(i="M", j=64)
    a, total = builder.input("A", f32, (i, j), ("lda", 1)), builder.output("T", f32, (i,), (1,))
    builder.reduce(ReductionOp.ADD, total[i], a[i, j], (i, j), (j,))
    plan = Plan(builder.build(), "sm_80").tile("cta", i=32).place("cta", onto=blocks)
    plan = plan.tile("warp", i=8).place("warp", onto=warps)
    derive(plan.drain("T", shared(2, free), st(16), {}, st(16)))  # refused


REFUSED = {
    columns_in_lanes: "pieces of j=32 are not spread over all threads",
    boxes_of_four_rows: "the parts of a piece lie 8 apart along dimension 0, but a box of fewer than 8 rows",
    matrices_of_runs: "stmatrix(matrices=4) takes from each lane words of rows that lie together in memory",
    matrices_before_hopper: "has no stmatrix.sync.aligned.m8n8.x4.shared.b16",
    boxes_before_hopper: "has no cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
    rows_shorter_than_the_swizzle: "fewer than the 128 of the swizzle",
    rows_of_unknown_stride: "a tensor map needs an address and strides that are multiples of 16 bytes",
    sums: "only a tile with one element for each lane and value leaves through shared memory",
}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.__name__)
def test_refused_on_its_line(case: object) -> None:
    with pytest.raises(PlanError) as caught:
        case()  # type: ignore[operator]
    assert REFUSED[case] in caught.value.reason  # type: ignore[index]
    lines, first = inspect.getsourcelines(case)  # type: ignore[arg-type]
    wanted = next(number for number, line in enumerate(lines, first) if "# refused" in line)
    assert caught.value.line is not None
    assert caught.value.line.line == wanted
