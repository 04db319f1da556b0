"""Statements finished in pieces: one loop over them that the scanner places, what they read in it, and what is refused
on the line of the step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ptxgen.compute import Compute, ComputeBuilder, ReductionOp, f16, f32
from ptxgen.derive import Derivation, derive
from ptxgen.errors import PlanError
from ptxgen.kernels.launching.generated import generate
from ptxgen.kernels.launching.views import aligned_zeros
from ptxgen.order.ops import Op
from ptxgen.plan import (
    Plan,
    aligned,
    blocks,
    fragments,
    free,
    ld,
    ldmatrix,
    m8n8k4,
    multiple,
    registers,
    role,
    shared,
    st,
    stmatrix,
    swizzle,
    tensor,
    warpgroups,
    warps,
    wgmma,
)
from ptxgen.tile.machine import run
from tests.derive.computes import matmul, staged, tiled

NAMES = ("A", "B", "V", "R", "E", "D")


def several() -> Compute:
    """C = A B^T; E = C + R; D = 2 C + V in columns + R; the largest of each row besides, for which blocks have rows of
    tiles."""
    builder = ComputeBuilder("several")
    i, j, k = builder.dims(i="M", j="N", k="K")
    a, b = builder.input("A", f16, (i, k), ("lda", 1)), builder.input("B", f16, (j, k), ("ldb", 1))
    v, r = builder.input("V", f32, (j,), (1,)), builder.input("R", f16, (i, j), ("ldr", 1))
    c = builder.local("C", f32, (i, j))
    e, d = builder.output("E", f16, (i, j), ("lde", 1)), builder.output("D", f16, (i, j), ("ldd", 1))
    s = builder.output("S", f32, (i,), (1,))
    builder.reduce(ReductionOp.ADD, c[i, j], a[i, k] * b[j, k], (i, j, k), (k,))
    builder.define(e[i, j], c[i, j] + r[i, j], (i, j))
    builder.define(d[i, j], c[i, j] * 2.0 + v[j] + r[i, j], (i, j))
    builder.reduce(ReductionOp.MAXIMUM, s[i], c[i, j], (i, j), (j,))
    return builder.build()


def multiplied(brought: bool = False, loaded: bool = False) -> Plan:
    """The product by one warpgroup; R may be brought in pieces, V loaded for the whole tile."""
    plan = Plan(several(), "sm_90a").assume(
        *(multiple(name, 8) for name in ("N", "K", "lda", "ldb", "ldr", "lde", "ldd")), *aligned(*NAMES, bytes=16)
    )
    plan = plan.tile("cta", i=64, j=64, k=16).place("cta", onto=blocks)
    plan = plan.tile("group", i=64).place("group", onto=warpgroups).tile("piece", j=16)
    for name in "AB":
        plan = plan.stage(name, at="cta.k", into=shared(2, swizzle(32)), by=tensor)
    if brought:
        plan = plan.stage("R", at="piece.j", into=shared(2, swizzle(32)), by=tensor)
        plan = plan.stage("R", at="piece.j", into=fragments(1), by=ldmatrix(4))
    if loaded:
        plan = plan.stage("V", at="group", into=registers(), by=ld(16))
    rest = {"bring": role("R.shared", warps=1)} if brought else {}
    plan = plan.roles(load=role("A.shared", "B.shared", warps=3 if brought else 4), **rest, math=role())
    return plan.multiply("C", wgmma(64, f32, f16), at="group").drain("S", through=None, by=st(4))


def in_pieces(brought: bool = False, loaded: bool = False) -> Plan:
    plan = multiplied(brought, loaded).finish("E", at="piece.j").finish("D", at="piece.j").finish("S", at="group")
    for name in "ED":
        plan = plan.drain(name, shared(2, swizzle(32)), tensor, {"j": 16}, stmatrix(4))
    return plan


def named(derivation: Derivation, name: str) -> list[Op]:
    return [op for op in derivation.parts[0].ops if op.name == name]


PLANS = [(False, False), (True, False), (False, True), (True, True)]


@pytest.mark.parametrize(("brought", "loaded"), PLANS, ids=str)
def test_one_op_for_all_pieces(brought: bool, loaded: bool) -> None:
    """Each piece is a step of one loop that both results, and what is brought for both, share."""
    derivation = derive(in_pieces(brought, loaded))
    for name in ("E", "E.shared", "E.global", "D", "D.shared", "D.global"):
        (op,) = named(derivation, name)
        assert op.time.loops == ("cta.j", "piece.j")
        steps = [{"N": 64, "cta.j": 0, "piece.j": piece} for piece in range(-1, 6)]
        assert [op.domain.contains(step) for step in steps] == [0 <= step["piece.j"] < 4 for step in steps], name
    assert [op.time.loops for op in named(derivation, "R.shared")] == [("cta.j", "piece.j")] * brought
    assert [op.time.loops for op in named(derivation, "R.fragments")] == [("cta.j", "piece.j")] * brought
    assert [op.time.loops for op in named(derivation, "V.registers")] == [("cta.j",)] * loaded
    held = {buffer.name: buffer.shape for buffer in derivation.program.buffers}
    assert held["E.registers"] == held["D.registers"] == (64, 16)
    assert held["C"] == (64, 64)


@pytest.mark.parametrize(("brought", "loaded"), PLANS, ids=str)
def test_what_leaves_is_right(brought: bool, loaded: bool) -> None:
    kernel, (rows, columns, length) = generate(in_pieces(brought, loaded)), (72, 104, 40)
    chance = np.random.default_rng(1)
    shapes = {"A": (rows, length), "B": (columns, length), "R": (rows, columns), "V": (columns,)}
    arrays = {n: aligned_zeros(np.dtype(np.float32 if n == "V" else np.float16), s) for n, s in shapes.items()}
    for array in arrays.values():
        array[...] = chance.integers(-4, 5, array.shape)
    left = {"E": (np.float16, (rows, columns)), "D": (np.float16, (rows, columns)), "S": (np.float32, (rows,))}
    results = {name: aligned_zeros(np.dtype(kind), shape) for name, (kind, shape) in left.items()}
    report = kernel.simulate({**arrays, **results})
    if report:
        report.raise_findings()
    c = arrays["A"].astype(float) @ arrays["B"].astype(float).T
    wanted = {"E": c + arrays["R"], "D": 2 * c + arrays["V"] + arrays["R"]}
    sizes = {"M": rows, "N": columns, "K": length, "lda": length, "ldb": length}
    sizes |= dict.fromkeys(("ldr", "lde", "ldd"), columns)
    for seed in (None, 1, 2):
        memory = {**{n: np.array(a) for n, a in arrays.items()}, **{n: np.zeros_like(a) for n, a in results.items()}}
        found = run(kernel.program, memory, sizes, seed=seed).arrays
        for name, values in wanted.items():
            assert np.array_equal(results[name].astype(float), values)
            assert np.array_equal(found[name].astype(float), values)


def warp_pieces(size: int = 32) -> Plan:
    """Pieces of rows, that each warp cuts from its own tile: stored from registers, and through shared memory."""
    plan = staged(tiled(matmul())).tile("piece", i=size).multiply("C", m8n8k4(f32), at="step.k").unroll("step.k")
    return plan.finish("D", at="piece.i")


def test_warps_cut_their_own_tiles() -> None:
    direct = derive(warp_pieces().drain("D", through=None, by=st(8)))
    through = derive(warp_pieces().drain("D", shared(2, free), st(16), {"i": 32}, st(16)))
    for derivation in (direct, through):
        (op,) = named(derivation, "D")
        assert op.time.loops == ("piece.i",)
        held = next(buffer for buffer in derivation.program.buffers if buffer.name == "D.registers")
        assert held.distribution.value_count * 2 == op.node.operands[0].region.buffer.distribution.value_count  # type: ignore[union-attr]


ON_THE_STEP: dict[str, tuple[Callable[[], object], str]] = {
    "a sum": (
        lambda: multiplied().finish("S", at="piece.j"),
        "S cannot be finished in the pieces of piece.j: it is a sum, which is joined over whole tiles",
    ),
    "several dims": (
        lambda: staged(tiled(matmul())).tile("piece", i=16, j=16).finish("D", at="piece.j"),
        "level 'piece' tiles several dims, pieces are cut along one",
    ),
    "pieces that lanes do not share": (
        lambda: derive(warp_pieces(16).drain("D", through=None, by=st(8))),
        "D cannot be finished in pieces of i=16: they are not spread over all threads",
    ),
    "a dim that is not there": (
        lambda: staged(tiled(matmul())).tile("piece", k=2).finish("D", at="piece.k"),
        "D cannot be finished",
    ),
    "pieces that leave otherwise": (
        lambda: derive(in_pieces_of_other_size()),
        "D is finished in pieces of j=16 and leaves in the same ones, not in j=8",
    ),
    "a result that leaves beside them in whole": (
        lambda: derive(one_in_whole()),
        "D is finished in the loop piece.j and E is not, but tensor copies store both",
    ),
}


def in_pieces_of_other_size() -> Plan:
    plan = multiplied().finish("E", at="piece.j").finish("D", at="piece.j").finish("S", at="group")
    plan = plan.drain("E", shared(2, swizzle(32)), tensor, {"j": 16}, stmatrix(4))
    return plan.drain("D", shared(2, swizzle(32)), tensor, {"j": 8}, stmatrix(4))


def one_in_whole() -> Plan:
    plan = multiplied().finish("E", at="group").finish("D", at="piece.j").finish("S", at="group")
    for name in "ED":
        plan = plan.drain(name, shared(2, swizzle(32)), tensor, {"j": 16}, stmatrix(4))
    return plan


@pytest.mark.parametrize("name", ON_THE_STEP)
def test_refused(name: str) -> None:
    case, words = ON_THE_STEP[name]
    with pytest.raises(PlanError) as caught:
        case()
    assert words in caught.value.reason
    assert caught.value.line is not None
    assert caught.value.line.file == __file__


def test_one_warp_has_whole_tiles_before_pieces() -> None:
    """A level outside `warp` is none of pieces, one inside is."""
    plan = Plan(matmul(), "sm_70").tile("cta", i=64, j=64, k=16).place("cta", onto=blocks).tile("mid", j=32)
    plan = plan.tile("warp", i=32, j=32).place("warp", onto=warps)
    with pytest.raises(PlanError, match=r"cannot be finished at mid\.j"):
        plan.finish("D", at="mid.j")
