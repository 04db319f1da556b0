"""What boxes for any reader and operands in registers ask of a plan: each refusal on its own line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ptxgen.compute import ComputeBuilder, ReductionOp, f16, f32
from ptxgen.derive import derive
from ptxgen.errors import PlanError
from ptxgen.kernels import chained_compute, transpose_compute
from ptxgen.kernels.chained import by_warpgroups
from ptxgen.plan import (
    Plan,
    aligned,
    blocks,
    convert,
    fragments,
    ld,
    m16n8k16,
    multiple,
    role,
    shared,
    st,
    swizzle,
    tensor,
    warpgroups,
    warps,
    wgmma,
)


def chained() -> Plan:
    """Chained products as far as the tiles."""
    plan = Plan(chained_compute(), "sm_90a").assume(aligned("A", "B", "D", "E", bytes=16))
    plan = plan.assume(*(multiple(name, 8) for name in ("lda", "ldb", "ldd", "lde")))
    plan = plan.tile("cta", i=64, j=64, k=64, n=64).place("cta", onto=blocks)
    plan = plan.tile("group", i=64).place("group", onto=warpgroups)
    for name, at in (("A", "cta.k"), ("B", "cta.k"), ("D", "cta.j")):
        plan = plan.stage(name, at=at, into=shared(2, swizzle(128)), by=tensor)
    return plan.roles(load=role("A.shared", "B.shared", "D.shared"), math=role())


def turned(rows: int = 64, columns: int = 64, *, roles: bool = True) -> Plan:
    """A transposition whose tiles come by boxes."""
    plan = Plan(transpose_compute(), "sm_90a").assume(aligned("X", "Y", bytes=16))
    plan = plan.assume(multiple("ldx", 8), multiple("ldy", 8)).tile("cta", i=rows, j=columns)
    plan = plan.place("cta", onto=blocks, dims=("i",)).tile("warp", i=rows).place("warp", onto=warps)
    plan = plan.stage("X", at="cta.j", into=shared(2, swizzle(128)), by=tensor)
    plan = plan.stage("X", at="cta.j", into=fragments(1), by=ld(16))
    plan = plan.roles(load=role("X.shared"), turn=role()) if roles else plan
    return plan.drain("Y", through=None, by=st(16))


def scaled_first() -> Plan:
    """A product whose operand a statement makes of what it loads, in other threads than the instruction takes it."""
    c = ComputeBuilder("scaled_first")
    i, j, n = c.dims(i="M", j="J", n="N")
    x, d = c.input("X", f16, (i, j), ("ldx", 1)), c.input("D", f16, (j, n), ("ldd", 1))
    p, pd, e = c.local("P", f16, (i, j)), c.local("PD", f32, (i, n)), c.output("E", f16, (i, n), ("lde", 1))
    c.define(p[i, j], x[i, j] * 0.5, (i, j))
    c.reduce(ReductionOp.ADD, pd[i, n], p[i, j] * d[j, n], (i, n, j), (j,))
    c.define(e[i, n], pd[i, n], (i, n))
    plan = Plan(c.build(), "sm_90a").assume(aligned("X", "D", "E", bytes=16))
    plan = plan.assume(*(multiple(name, 8) for name in ("ldx", "ldd", "lde")))
    plan = plan.tile("cta", i=64, j=64, n=64).place("cta", onto=blocks)
    plan = plan.tile("group", i=64).place("group", onto=warpgroups)
    plan = plan.stage("D", at="cta.j", into=shared(2, swizzle(128)), by=tensor)
    plan = plan.roles(load=role("D.shared"), math=role())
    plan = plan.stage("P", at="group", into=fragments(1), by=convert(f16))
    return plan.multiply("PD", wgmma(64, f32), at="group", a="registers")


def multiplied(plan: Plan) -> Plan:
    plan = plan.multiply("AB", wgmma(64, f32), at="group")
    return plan.stage("P", at="group", into=fragments(1), by=convert(f16))


def wrong(value: object) -> Any:
    """A value that the type checker would refuse."""
    return value


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "converted from memory": (
        lambda: chained().stage("A", at="group", into=fragments(1), by=convert(f16)),
        "A.fragments: A is in memory",
    ),
    "converted to another type": (
        lambda: chained().stage("P", at="group", into=fragments(1), by=convert(f32)),
        "P.fragments: P holds f16, and what is multiplied is f32: let its statement fill an array of f32",
    ),
    "converted twice": (
        lambda: chained().stage("P", at="group", into=fragments(2), by=convert(f16)),
        "a statement leaves one tile in registers, not 2",
    ),
    "into shared memory": (
        lambda: chained().stage("P", at="group", into=shared(1), by=convert(f16)),
        "P.shared is filled by st or cp_async or tensor, not by convert",
    ),
    "from elsewhere": (
        lambda: chained().multiply("PD", wgmma(64, f32), at="group", a=wrong("elsewhere")),
        "a is 'shared' or 'registers', got 'elsewhere'",
    ),
    "by a warp": (
        lambda: chained().multiply("PD", m16n8k16(f32), at="group", a="registers"),
        "m16n8k16 reads fragments anyhow: a='registers' is for wgmma",
    ),
    "in memory": (
        lambda: chained().multiply("AB", wgmma(64, f32), at="group", a="registers"),
        "A and B are in memory: only what a statement leaves in registers is read there",
    ),
    "not said to be fragments": (
        lambda: derive(
            chained().multiply("AB", wgmma(64, f32), at="group")
            .multiply("PD", wgmma(64, f32), at="group", a="registers")
        ),
        "stage(P, into=fragments(1), by=convert(f16)) is missing",
    ),
    "in other threads": (
        lambda: derive(scaled_first()),
        "takes other elements of P from each thread than it holds",
    ),
    "less than the pattern": (
        lambda: derive(turned(4, 64)),
        "a tile of 512 bytes does not fill the pattern of swizzle(128), 8 rows of it",
    ),
    "no role": (
        lambda: derive(turned(roles=False)),
        "X.shared: one thread has boxes copied, in a role of its own: roles(load=role('X.shared'), ...)",
    ),
    "waits for what comes behind": (
        lambda: derive(
            by_warpgroups(Plan(chained_compute(), "sm_90a").assume(aligned("A", "B", "D", "E", bytes=16))
                          .assume(*(multiple(name, 8) for name in ("lda", "ldb", "ldd", "lde"))))
            .shift("D.shared", ahead=3, at="cta.j")
        ),
        "shift(D.shared, ahead=3, at=cta.j): a role would wait for what comes behind that wait in another one",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    case, words = REFUSED[name]
    with pytest.raises(PlanError) as caught:
        case()
    assert words in str(caught.value)
    assert caught.value.line is not None
    assert caught.value.line.file == __file__ or "kernels" in caught.value.line.file


def test_a_plan_prints_where_its_operands_are() -> None:
    plan = multiplied(chained()).multiply("PD", wgmma(64, f32), at="group", a="registers")
    printed = [str(step) for step in plan.steps]
    assert "stage(P, at=group, into=fragments(depth=1), by=convert(f16))" in printed
    assert "multiply(PD, wgmma(n=64, accumulate=f32, input=f16), at=group, a=registers)" in printed
