"""Programs that the derivation was not built with, by tensor copies: they pass through it as they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from ptxgen.compute import Compute, ComputeBuilder, ReductionOp, f16, f32, reciprocal, relu
from ptxgen.derive.part import threads_of
from ptxgen.derive.space import IndexSpace
from ptxgen.kernels import GeneratedKernel, generate
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.plan import (
    Plan,
    blocks,
    convert,
    fragments,
    ld,
    ldmatrix,
    m16n8k16,
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
from ptxgen.prove.proof import check_meetings
from ptxgen.prove.trees import check_program
from tests.kernels.cases import judge
from tests.kernels.test_boxed_kernels import given

TARGET = "sm_90a"


def scaled() -> Compute:
    """D[i,j] = A[i,j] * s[j]."""
    c = ComputeBuilder("scaled")
    i, j = c.dims(i="M", j="N")
    a, s = c.input("A", f16, (i, j), ("lda", 1)), c.input("s", f32, (j,), (1,))
    d = c.output("D", f16, (i, j), ("ldd", 1))
    c.define(d[i, j], a[i, j] * s[j], (i, j))
    return c.build()


def scaled_plan(plan: Plan) -> Plan:
    plan = plan.tile("cta", i=32, j=64).persist("cta", workers=2).tile("warp", i=16).place("warp", onto=warps)
    plan = plan.stage("A", at="cta", into=shared(3, swizzle(128)), by=tensor)
    plan = plan.stage("A", at="cta", into=fragments(1), by=ldmatrix(4)).roles(load=role("A.shared"), scale=role())
    return plan.drain("D", through=shared(1, swizzle(128)), by=tensor, put=stmatrix(4))


def once_plan(plan: Plan) -> Plan:
    """A block for each tile: what is brought once, outside all loops, is waited for and never freed."""
    plan = plan.tile("cta", i=32, j=64).place("cta", onto=blocks).tile("warp", i=16).place("warp", onto=warps)
    plan = plan.stage("A", at="cta", into=shared(1, swizzle(128)), by=tensor)
    plan = plan.stage("A", at="cta", into=fragments(1), by=ldmatrix(4)).roles(load=role("A.shared"), scale=role())
    return plan.drain("D", through=shared(1, swizzle(128), alias="A.shared"), by=tensor, put=stmatrix(4))


def blended() -> Compute:
    """D[i,j] = A[i,j] * 0.25 + B[j,i], one operand turned."""
    c = ComputeBuilder("blended")
    i, j = c.dims(i="M", j="N")
    a, b = c.input("A", f16, (i, j), ("lda", 1)), c.input("B", f16, (j, i), ("ldb", 1))
    d = c.output("D", f16, (i, j), ("ldd", 1))
    c.define(d[i, j], a[i, j] * 0.25 + b[j, i], (i, j))
    return c.build()


def blended_plan(plan: Plan) -> Plan:
    """A block takes a strip of rows; its loop is along them."""
    plan = plan.tile("cta", i=64, j=64).place("cta", onto=blocks, dims=("i",))
    plan = plan.tile("warp", i=16).place("warp", onto=warps)
    for name, depth in (("A", 3), ("B", 2)):
        plan = plan.stage(name, at="cta.j", into=shared(depth, swizzle(128)), by=tensor)
        plan = plan.stage(name, at="cta.j", into=fragments(1), by=ldmatrix(4))
    plan = plan.roles(load=role("A.shared", "B.shared"), blend=role())
    return plan.drain("D", through=shared(2, swizzle(64)), by=tensor, pieces={"j": 32}, put=stmatrix(4))


def normed() -> Compute:
    """Y[i,j] = X[i,j] * w[j] / sum_j |X[i,j]|, the sum and then the rows by one ring."""
    c = ComputeBuilder("normed")
    i, j = c.dims(i="M", j="N")
    x, w = c.input("X", f32, (i, j), ("ldx", 1)), c.input("w", f32, (j,), (1,))
    total = c.local("total", f32, (i,))
    y = c.output("Y", f16, (i, j), ("ldy", 1))
    c.reduce(ReductionOp.ADD, total[i], relu(x[i, j]) + relu(x[i, j] * -1.0), (i, j), (j,))
    c.define(y[i, j], x[i, j] * w[j] * reciprocal(total[i]), (i, j))
    return c.build()


def normed_plan(plan: Plan) -> Plan:
    plan = plan.tile("cta", i=8, j=64).persist("cta", workers=3, dims=("i",))
    plan = plan.tile("warp", i=2).place("warp", onto=warps)
    plan = plan.stage("X", at="cta.j", into=shared(2, swizzle(128)), by=tensor)
    plan = plan.stage("X", at="cta.j", into=fragments(1), by=ld(16)).roles(load=role("X.shared"), rows=role())
    return plan.drain("Y", through=None, by=st(8))


def product_of_three() -> Compute:
    """O = f16(relu(Q @ K^T)) @ V with Q of M x 64: attention without its softmax."""
    c = ComputeBuilder("three")
    i, j, k, n = c.dims(i="M", j="J", k=64, n="N")
    q, kt = c.input("Q", f16, (i, k), ("ldq", 1)), c.input("K", f16, (j, k), ("ldk", 1))
    v = c.input("V", f16, (j, n), ("ldv", 1))
    s, p, o = c.local("S", f32, (i, j)), c.local("P", f16, (i, j)), c.local("PV", f32, (i, n))
    out = c.output("O", f16, (i, n), ("ldo", 1))
    c.reduce(ReductionOp.ADD, s[i, j], q[i, k] * kt[j, k], (i, j, k), (k,))
    c.define(p[i, j], relu(s[i, j] * 0.125), (i, j))
    c.reduce(ReductionOp.ADD, o[i, n], p[i, j] * v[j, n], (i, n, j), (j,))
    c.define(out[i, n], o[i, n], (i, n))
    return c.build()


def product_of_three_plan(plan: Plan) -> Plan:
    plan = plan.tile("cta", i=128, j=64, n=64).place("cta", onto=blocks)
    plan = plan.tile("group", i=64).place("group", onto=warpgroups)
    for name, depth in (("Q", 2), ("K", 2), ("V", 3)):
        plan = plan.stage(name, at="cta.j", into=shared(depth, swizzle(128)), by=tensor)
    plan = plan.roles(load=role("Q.shared", "K.shared", "V.shared", warps=4), math=role())
    plan = plan.multiply("S", wgmma(64, f32), at="group").stage("P", at="group", into=fragments(1), by=convert(f16))
    plan = plan.multiply("PV", wgmma(64, f32), at="group", a="registers")
    return plan.drain("O", through=shared(2, swizzle(64)), by=tensor, pieces={"n": 32}, put=stmatrix(4))


def product() -> Compute:
    """D = A @ B, by warps."""
    c = ComputeBuilder("product")
    i, j, k = c.dims(i="M", j="N", k="K")
    a, b = c.input("A", f16, (i, k), ("lda", 1)), c.input("B", f16, (k, j), ("ldb", 1))
    ab, d = c.local("AB", f32, (i, j)), c.output("D", f32, (i, j), ("ldd", 1))
    c.reduce(ReductionOp.ADD, ab[i, j], a[i, k] * b[k, j], (i, j, k), (k,))
    c.define(d[i, j], ab[i, j], (i, j))
    return c.build()


def product_plan(plan: Plan) -> Plan:
    """The tiles by one thread's tensor copies, multiplied by the instruction of a warp."""
    plan = plan.tile("cta", i=64, j=64, k=64).place("cta", onto=blocks)
    plan = plan.tile("warp", i=32, j=32).place("warp", onto=warps).tile("step", k=16)
    for name in ("A", "B"):
        plan = plan.stage(name, at="cta.k", into=shared(3, swizzle(128)), by=tensor)
        plan = plan.stage(name, at="step.k", into=fragments(2), by=ldmatrix(4))
    plan = plan.roles(load=role("A.shared", "B.shared"), math=role())
    plan = plan.multiply("AB", m16n8k16(f32), at="step.k").unroll("step.k")
    return plan.shift("A.fragments", "B.fragments", ahead=1, at="step.k").drain("D", through=None, by=st(8))


def weighted(*, sum_first: bool) -> Compute:
    """D = (A @ B)[i,j] * sum_k |X[i,k]|, the sum beside the product, before it or behind it in each step."""
    c = ComputeBuilder("weighted")
    i, j, k = c.dims(i="M", j="N", k="K")
    a, b = c.input("A", f16, (i, k), ("lda", 1)), c.input("B", f16, (k, j), ("ldb", 1))
    x, total = c.input("X", f16, (i, k), ("ldx", 1)), c.local("total", f32, (i,))
    ab, d = c.local("AB", f32, (i, j)), c.output("D", f32, (i, j), ("ldd", 1))

    def summed() -> None:
        c.reduce(ReductionOp.ADD, total[i], relu(x[i, k]) + relu(x[i, k] * -1.0), (i, k), (k,))

    if sum_first:
        summed()
    c.reduce(ReductionOp.ADD, ab[i, j], a[i, k] * b[k, j], (i, j, k), (k,))
    if not sum_first:
        summed()
    c.define(d[i, j], ab[i, j] * total[i], (i, j))
    return c.build()


def weighted_plan(plan: Plan, depth: int = 3) -> Plan:
    """One ring where X has the slots of A and B: warps read X from it by themselves, a product in flight A and B."""
    plan = plan.tile("cta", i=64, j=64, k=64).persist("cta", workers=2)
    plan = plan.tile("group", i=64).place("group", onto=warpgroups)
    for name, slots in (("A", 3), ("B", 3), ("X", depth)):
        plan = plan.stage(name, at="cta.k", into=shared(slots, swizzle(128)), by=tensor)
    plan = plan.stage("X", at="cta.k", into=fragments(1), by=ldmatrix(4))
    plan = plan.roles(load=role("A.shared", "B.shared", "X.shared", warps=4), math=role())
    plan = plan.multiply("AB", wgmma(64, f32), at="group", in_flight=1)
    return plan.drain("D", through=None, by=st(8))


def rated(*, weights_first: bool) -> Compute:
    """Y = X / sum_j |X * W|, or X / sum_j |X| * W: of two loops over the rows both read X, and one the weights."""
    c = ComputeBuilder("rated")
    i, j = c.dims(i="M", j="N")
    x, w = c.input("X", f32, (i, j), ("ldx", 1)), c.input("W", f32, (i, j), ("ldw", 1))
    total, y = c.local("total", f32, (i,)), c.output("Y", f16, (i, j), ("ldy", 1))
    size, weight = (relu(array[i, j]) + relu(array[i, j] * -1.0) for array in (x, w))
    c.reduce(ReductionOp.ADD, total[i], size * weight if weights_first else size, (i, j), (j,))
    rows = x[i, j] * reciprocal(total[i])
    c.define(y[i, j], rows if weights_first else rows * w[i, j], (i, j))
    return c.build()


def rated_plan(plan: Plan, *, workers: int | None) -> Plan:
    plan = plan.tile("cta", i=8, j=64)
    plan = plan.persist("cta", workers=workers, dims=("i",)) if workers else plan.place("cta", onto=blocks, dims=("i",))
    plan = plan.tile("warp", i=2).place("warp", onto=warps)
    for name, depth in (("X", 3), ("W", 2)):
        plan = plan.stage(name, at="cta.j", into=shared(depth, swizzle(128)), by=tensor)
        plan = plan.stage(name, at="cta.j", into=fragments(1), by=ld(16))
    return plan.roles(load=role("X.shared", "W.shared"), rows=role()).drain("Y", through=None, by=st(8))


Program = tuple[Callable[[], Compute], Callable[[Plan], Plan], tuple[dict[str, int], ...], bool]
PROGRAMS: dict[str, Program] = {
    "scaled": (scaled, scaled_plan, ({"M": 64, "N": 64}, {"M": 37, "N": 200}, {"M": 1, "N": 8}), True),
    "once": (scaled, once_plan, ({"M": 64, "N": 64}, {"M": 37, "N": 200}), True),
    "blended": (blended, blended_plan, ({"M": 64, "N": 64}, {"M": 72, "N": 264}, {"M": 8, "N": 8}), True),
    "normed": (normed, normed_plan, ({"M": 8, "N": 64}, {"M": 29, "N": 200}, {"M": 3, "N": 8}), False),
    "three": (
        product_of_three,
        product_of_three_plan,
        ({"M": 128, "J": 64, "N": 64}, {"M": 72, "J": 200, "N": 136}, {"M": 8, "J": 8, "N": 8}),
        True,
    ),
    "product": (product, product_plan, ({"M": 64, "N": 64, "K": 64}, {"M": 72, "N": 136, "K": 328}), True),
}
PROGRAMS |= {
    f"weighted, the sum {'before' if first else 'behind'}": (
        partial(weighted, sum_first=first),
        weighted_plan,
        ({"M": 64, "N": 64, "K": 64}, {"M": 136, "N": 72, "K": 328}),
        False,
    )
    for first in (True, False)
}
PROGRAMS |= {
    f"rated, weights {'first' if first else 'last'}, {workers or 'no'} workers": (
        partial(rated, weights_first=first),
        partial(rated_plan, workers=workers),
        ({"M": 8, "N": 64}, {"M": 29, "N": 264}),
        False,
    )
    for first in (True, False)
    for workers in (None, 3)
}


def made(name: str, sizes: dict[str, int]) -> tuple[GeneratedKernel, dict[str, Any]]:
    compute, planner = PROGRAMS[name][0](), PROGRAMS[name][1]
    arrays = given(compute, sizes)
    facts = facts_of(compute, bind(arrays_in_memory(compute), arrays))
    return generate(planner(Plan(compute, TARGET).assume(*facts))), arrays


@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_without_a_finding_and_is_right(name: str) -> None:
    compute, _, all_sizes, exact = PROGRAMS[name]
    for sizes in all_sizes:
        kernel, arrays = made(name, sizes)
        report = kernel.simulate(arrays, {})
        assert report is not None
        report.raise_findings()
        judge(compute(), arrays, {}, exact=exact, target=TARGET, orders=kernel.derivation.signature())


@pytest.mark.parametrize("name", PROGRAMS)
def test_assembles_and_lacks_none_of_its_atoms(name: str) -> None:
    kernel, _ = made(name, PROGRAMS[name][2][0])
    assembled = kernel.assembled()
    assert (assembled.spills, assembled.notes) == (0, ())
    part = kernel.derivation.parts[0]
    threads = threads_of(IndexSpace(kernel.plan))
    assert check_meetings(part.synchronised, part.requirements, threads=threads).accepted
    assert check_program(kernel.derivation.program).accepted
    for atom in part.synchronised.atoms:
        kept = tuple(other for other in part.synchronised.atoms if other is not atom)
        fewer = type(part.synchronised)(part.synchronised.ops, kept, part.synchronised.rings, part.synchronised.enter)
        assert not check_meetings(fewer, part.requirements, threads=threads).accepted, atom
