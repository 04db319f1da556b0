"""Steps that are spelled wrongly, change nothing, or speak of what does not run there: refused on their own line."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from polyhedral import Affine, const, var
from ptxgen.compute import Compute, ComputeBuilder, ReductionOp, f16, f32
from ptxgen.derive import derive
from ptxgen.errors import PlanError
from ptxgen.plan import Plan, aligned, blocks, grouped, ld, m8n8k4, multiple, registers, shared, st, tensor, warps
from tests.derive.computes import chained, matmul, multiplied, pipelined, softmax, staged, tiled, volta


def largest_product() -> Compute:
    c = ComputeBuilder("largest")
    i, j, k = c.dims(i="M", j="N", k="K")
    a, b = c.input("A", f16, (i, k), ("lda", 1)), c.input("B", f16, (k, j), ("ldb", 1))
    largest = c.output("C", f32, (i, j), ("ldc", 1))
    c.reduce(ReductionOp.MAXIMUM, largest[i, j], a[i, k] * b[k, j], (i, j, k), (k,))
    return c.build()


def wrong(value: object) -> Any:
    """A value that the type checker would refuse."""
    return value


def plain() -> Plan:
    return Plan(matmul(), "sm_70")


def finished_on_blocks() -> Plan:
    return plain().tile("cta", i=64).place("cta", onto=blocks).finish("D", at="cta")


def staged_in_rows() -> Plan:
    return plain().tile("cta", i=64).stage("A", at="cta.i", into=registers(), by=ld(16))


def undrained() -> Plan:
    return staged(tiled(matmul())).multiply("C", m8n8k4(f32), at="step.k").unroll("step.k").finish("D", at="warp")


K = var("K")
BOTH_ARE = "contradict each other: they hold together at no sizes"

SPELLING: dict[str, tuple[Callable[[], object], str]] = {
    "raster by name": (
        lambda: plain().tile("cta", i=8).place("cta", onto=blocks, raster=wrong("rows")),
        "raster is rows, grouped(count) or hilbert(side), got 'rows'",
    ),
    "onto by name": (
        lambda: plain().tile("cta", i=8).place("cta", onto=wrong("blocks")),
        "onto is blocks or warps, got 'blocks'",
    ),
    "dims in one word": (
        lambda: plain().tile("cta", i=8, j=8).place("cta", onto=blocks, dims="ij"),
        "dims is a tuple of names, got 'ij'",
    ),
    "by name": (
        lambda: tiled(matmul()).stage("A", at="cta.k", into=registers(), by=wrong("ld")),
        "by is ld(bytes) or st(bytes), got 'ld'",
    ),
    "into by name": (
        lambda: tiled(matmul()).stage("A", at="cta.k", into=wrong("shared"), by=st(16)),
        "into is registers(), shared() or fragments(), got 'shared'",
    ),
    "an array by number": (
        lambda: tiled(matmul()).stage(wrong(7), at="cta.k", into=shared(), by=st(16)),
        "an array is an array of the compute or its name, got 7",
    ),
    "at a number": (
        lambda: tiled(matmul()).stage("A", at=wrong(3), into=shared(), by=st(16)),
        "at is a level such as 'cta' or a loop such as 'cta.k', got 3",
    ),
    "drained by name": (lambda: undrained().drain("D", through=None, by=wrong("st")), "by is st(bytes), got 'st'"),
    "extent by name": (lambda: plain().tile("cta", i=wrong("64")), "the extent of i is a whole number, got '64'"),
    "extent in floating point": (
        lambda: plain().tile("cta", i=wrong(64.0)),
        "the extent of i is a whole number, got 64.0",
    ),
    "true extent": (lambda: plain().tile("cta", i=True), "the extent of i is a whole number, got True"),
    "half a step": (
        lambda: staged(tiled(matmul())).shift("A.shared", ahead=wrong(1.5), at="cta.k"),
        "ahead is a whole number of steps, got 1.5",
    ),
    "instruction by name": (
        lambda: staged(tiled(matmul())).multiply("C", wrong("mma"), at="step.k"),
        "instruction is a matrix instruction such as m8n8k4(f32), got 'mma'",
    ),
    "a fact by name": (
        lambda: plain().assume(wrong("K%8")),
        "a fact is multiple(size, factor) or aligned(array, bytes=count), got 'K%8'",
    ),
    "a fact among facts": (
        lambda: plain().assume([multiple("K", 8), wrong(8)]),
        "a fact is multiple(size, factor) or aligned(array, bytes=count), got 8",
    ),
    "a level with a dot": (
        lambda: plain().tile("cta.k", i=8),
        "a level is named by letters, digits and underscores, a letter first, got 'cta.k'",
    ),
    "a level with a mark": (lambda: plain().tile("cta#2", i=8), "got 'cta#2'"),
    "a level of two words": (lambda: plain().tile("my cta", i=8), "got 'my cta'"),
    "a level without a name": (lambda: plain().tile("", i=8), "got ''"),
    "a level by number": (lambda: plain().tile(wrong(1), i=8), "a level is a name, got 1"),
}


NOTHING: dict[str, tuple[Callable[[], object], str]] = {
    "max by multiplying": (
        lambda: Plan(largest_product(), "sm_70").tile("cta", k=32).multiply("C", m8n8k4(f32), at="cta.k"),
        "m8n8k4 adds products, C does not: C[i, j] = max[k]",
    ),
    "sum of no product": (
        lambda: softmax().multiply("l", m8n8k4(f32), at="cta.j"),
        "l is no sum of products of two arrays",
    ),
    "multiplied twice": (
        lambda: volta().multiply("C", m8n8k4(f32), at="step.k"),
        "C is multiplied already, by multiply(C, m8n8k4(accumulate=f32, input=f16), at=step.k)",
    ),
    "multiplied when finished": (
        lambda: softmax().finish("l", at="warp").multiply("l", m8n8k4(f32), at="cta.j"),
        "l is finished already, by finish(l, at=warp)",
    ),
    "finished twice": (lambda: volta().finish("D", at="warp"), "D is finished already, by finish(D, at=warp)"),
    "finished when multiplied": (lambda: volta().finish("C", at="warp"), "C is multiplied already, by multiply(C"),
    "finished above its registers": (
        lambda: tiled(matmul()).finish("D", at="cta"),
        "D cannot be finished at cta: it runs on the registers of level 'warp'",
    ),
    "finished in another loop": (
        lambda: softmax().finish("m", at="cta"),
        "m cannot be finished at cta: it runs on the registers of level 'warp', in the loops cta.j",
    ),
    "finished on no level": (
        lambda: plain().tile("cta", i=8).finish("D", at="cta"),
        "it runs on no level: none is placed, in the loops cta.i",
    ),
    "placed after finishing": (
        lambda: finished_on_blocks().tile("warp", i=32).place("warp", onto=warps),
        "place level 'warp' before finish(D, at=cta), which depends on it",
    ),
    "placed after staging": (
        lambda: staged_in_rows().place("cta", onto=blocks),
        "place level 'cta' before stage(A, at=cta.i",
    ),
    "drained through nothing known": (
        lambda: undrained().drain("D", through=wrong("shared"), by=st(16)),
        "through is None or shared(depth, layout), got 'shared'",
    ),
    "drained through shared without a put": (
        lambda: undrained().drain("D", through=shared(), by=st(16)),
        "put is st(bytes) or stmatrix(matrices), got None",
    ),
    "put by load": (
        lambda: undrained().drain("D", through=shared(), by=st(16), put=ld(16)),
        "D.shared is filled by st or stmatrix, not by ld",
    ),
    "emptied by load": (
        lambda: undrained().drain("D", through=shared(), by=ld(16), put=st(16)),
        "D is drained by st or tensor, not by ld",
    ),
    "boxes without a swizzle": (
        lambda: undrained().drain("D", through=shared(), by=tensor, put=st(16)),
        "D.shared: tensor copies read swizzle(32), swizzle(64) or swizzle(128), not shared(depth=2, layout=free)",
    ),
    "pieces that are no extents": (
        lambda: undrained().drain("D", through=shared(), by=st(16), pieces=wrong(3), put=st(16)),
        "pieces is extents by dim, as {'j': 32}, or None, got 3",
    ),
    "pieces from registers": (
        lambda: undrained().drain("D", through=None, by=st(16), pieces={"i": 16}),
        "D: pieces and put are of a way through shared memory, and through is None",
    ),
    "pieces of no dim": (
        lambda: undrained().drain("D", through=shared(), by=st(16), pieces={"k": 16}, put=st(16)),
        "D has no dim 'k' to cut; it has i, j",
    ),
    "pieces that do not divide": (
        lambda: undrained().drain("D", through=shared(), by=st(16), pieces={"i": 128}, put=st(16)),
        "a piece of i=128 does not divide i=64 of level 'warp'",
    ),
    "pieces of no power": (
        lambda: undrained().drain("D", through=shared(), by=st(16), pieces={"i": 48}, put=st(16)),
        "the extent of a piece along i must be a power of two, got 48",
    ),
    "over no ring": (
        lambda: undrained().drain("D", through=shared(2, alias="Q.shared"), by=st(16), put=st(16)),
        "no ring 'Q.shared' to lie over; staged in shared memory are",
    ),
    "staged over a ring": (
        lambda: tiled(matmul()).stage("A", at="cta.k", into=shared(2, alias="B.shared"), by=st(16)),
        "A.shared: a ring that lies over another one is for drain, not for stage",
    ),
    "drained twice": (lambda: volta().drain("D", through=None, by=st(16)), "D is drained already"),
    "an input drained": (
        lambda: volta().drain("A", through=None, by=st(16)),
        "A is not drained: it is input, only an output leaves the kernel",
    ),
    "a local drained": (lambda: volta().drain("C", through=None, by=st(16)), "C is not drained: it is local"),
    "shifted outside its loop": (
        lambda: staged(tiled(matmul())).shift("A.shared", ahead=1, at="step.k"),
        "A.shared does not run ahead in step.k: staged at cta.k, it runs in cta.k",
    ),
    "shifted at a level": (
        lambda: staged(tiled(matmul())).shift("A.shared", ahead=1, at="cta"),
        "A.shared does not run ahead in cta: staged at cta.k, it runs in cta.k",
    ),
    "shifted in another product": (
        lambda: chained().shift("D.shared", ahead=1, at="cta.k"),
        "D.shared does not run ahead in cta.k: staged at cta.j, it runs in cta.j",
    ),
    "nothing shifted": (lambda: staged(tiled(matmul())).shift(ahead=1, at="cta.k"), "shift names no op"),
    "shifted by nothing": (
        lambda: staged(tiled(matmul())).shift("A.shared", ahead=0, at="cta.k"),
        "1 step or more, got 0",
    ),
    "shifted twice at once": (
        lambda: staged(tiled(matmul())).shift("A.shared", "A.shared", ahead=1, at="cta.k"),
        "shift names A.shared twice",
    ),
    "ordered by unknown names": (
        lambda: staged(tiled(matmul())).sequence("cta.k", "A.shared", "A.global"),
        "no op 'A.global' to order; there are A.registers, A.shared, A.fragments, B.registers",
    ),
    "ordered before it is staged": (
        lambda: tiled(matmul()).sequence("cta.k", "A.shared", "B.shared"),
        "no op 'A.shared' to order; there are C, C.fill, D, D.global",
    ),
    "ordered elsewhere": (
        lambda: staged(tiled(matmul())).sequence("cta.k", "A.shared", "D"),
        "D does not run directly in cta.k, but in no loop",
    ),
    "ordered in an unrolled loop": (
        lambda: staged(tiled(matmul())).sequence("step.k", "A.shared", "B.shared"),
        "A.shared does not run directly in step.k, but in cta.k",
    ),
    "ordered outside": (
        lambda: staged(tiled(matmul())).sequence("cta", "A.shared", "B.shared"),
        "A.shared does not run directly in cta, but in cta.k",
    ),
    "one op in order": (
        lambda: staged(tiled(matmul())).sequence("cta.k", "A.shared"),
        "sequence(cta.k) orders two ops or more, got A.shared",
    ),
    "an op before itself": (
        lambda: staged(tiled(matmul())).sequence("cta.k", "A.shared", "A.shared"),
        "sequence(cta.k) names A.shared twice",
    ),
    "unrolled twice": (lambda: volta().unroll("step.k"), "step.k is unrolled already"),
    "a level unrolled": (
        lambda: tiled(matmul()).unroll("step"),
        "unroll takes a loop such as 'step.k', got the level 'step'",
    ),
    "no steps to unroll": (
        lambda: tiled(matmul()).tile("inner", i=32).unroll("inner.i"),
        "inner.i has no steps to unroll: no statement reduces i, one op covers its tile",
    ),
    "an inner level isolated": (
        lambda: tiled(matmul()).isolate("warp"),
        "isolate('warp'): full tiles are those of the outermost level, 'cta'",
    ),
    "isolated twice": (lambda: volta().isolate("cta"), "level 'cta' is isolated already"),
    "an output staged": (
        lambda: tiled(matmul()).stage("D", at="cta.k", into=registers(), by=ld(16)),
        "D.registers would feed nothing: no statement reads D",
    ),
    "a local loaded": (
        lambda: tiled(matmul()).stage("C", at="warp", into=registers(), by=ld(16)),
        "C is local to the kernel: the statement that fills it leaves it in registers",
    ),
    "an order of warps": (
        lambda: plain().tile("warp", i=8).place("warp", onto=warps, raster=grouped(2)),
        "raster=grouped(2) is an order of blocks; place('warp') deals to warps",
    ),
    "nothing to deal": (
        lambda: plain().tile("cta", k=8).place("cta", onto=blocks),
        "level 'cta' has no dim to deal: all are summed away",
    ),
    "a dim dealt twice": (
        lambda: plain().tile("cta", i=8).place("cta", onto=blocks, dims=("i", "i")),
        "place('cta') names 'i' twice",
    ),
    "a local aligned": (
        lambda: plain().assume(aligned("C", bytes=16)),
        "aligned(C, 16): C is local to the kernel and has no address",
    ),
    "two facts at odds": (
        lambda: plain().assume(multiple("K", 8), multiple(K + 1, 8)),
        f"K % 8 == 0 and (K + 1) % 8 == 0 {BOTH_ARE}",
    ),
    "at odds with an earlier step": (
        lambda: plain().assume(multiple("K", 8), multiple("M", 4)).assume(multiple(K * 3 + 2, 4)),
        f"K % 8 == 0 and (3*K + 2) % 4 == 0 {BOTH_ARE}",
    ),
    "a fact at odds with itself": (
        lambda: plain().assume(multiple(K * 2 + 1, 4)),
        "(2*K + 1) % 4 == 0 contradicts itself",
    ),
    "a number at odds with itself": (lambda: plain().assume(multiple(const(9), 4)), "9 % 4 == 0 contradicts itself"),
}


@pytest.mark.parametrize("name", [*SPELLING, *NOTHING])
def test_refused_on_its_line(name: str) -> None:
    case, words = {**SPELLING, **NOTHING}[name]
    with pytest.raises(PlanError) as caught:
        case()
    assert words in caught.value.reason
    assert caught.value.line is not None
    assert (caught.value.line.file, caught.value.line.line) == (__file__, case.__code__.co_firstlineno)


FACTS = [multiple(value, factor) for value in (K, K + 1, K * 2 + 1, K * 3 + 2, var("M") + K) for factor in (2, 3, 8)]


@pytest.mark.parametrize("first", range(len(FACTS)))
def test_contradictions_are_those_found_by_counting(first: int) -> None:
    for second in range(first + 1):
        facts = (FACTS[second], FACTS[first])
        holds = any(
            all(fact.value.evaluate({"K": k, "M": m}) % fact.factor == 0 for fact in facts)
            for k, m in product(range(24), range(24))
        )
        if holds:
            plain().assume(facts)
        else:
            with pytest.raises(PlanError, match="at no sizes"):
                plain().assume(facts)


@pytest.mark.parametrize(
    "compute, target, words",
    [
        (ComputeBuilder("unbuilt"), "sm_70", "compute is a Compute, as the build"),
        (matmul(), 70, "target is the name of a target such as 'sm_90a', got 70"),
    ],
)
def test_a_plan_is_of_a_compute_that_is_built_on_a_target_by_name(compute: Any, target: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        Plan(compute, target)


def test_no_facts_are_no_step() -> None:
    assert plain().assume() == plain()


ACCEPTED: dict[str, Callable[[], Plan]] = {
    "finished in its loop": lambda: softmax().finish("Y", at="cta.j").finish("m", at="cta.j"),
    "finished on its registers": lambda: softmax().finish("Y", at="warp").finish("l", at="warp"),
    "shifted in steps": lambda: (
        multiplied(staged(tiled(matmul(), k=8), depth=4))
        .shift("A.registers", "A.shared", ahead=1, at="cta.k")
        .shift("A.registers", "A.shared", ahead=1, at="cta.k")
    ),
    "ordered in its loop": lambda: pipelined(multiplied(staged(tiled(matmul())))).sequence(
        "cta.k", "B.registers", "A.registers"
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_where_it_runs(name: str) -> None:
    assert derive(ACCEPTED[name]()).parts


def test_a_shift_that_is_accepted_changes_when_the_op_runs() -> None:
    plan = multiplied(staged(tiled(matmul())))
    ops = ("A.registers", "A.shared", "B.registers", "B.shared")
    for names, loop in ((ops, "cta.k"), (("A.fragments", "B.fragments"), "step.k")):
        before = derive(plan).parts[0].ops
        plan = plan.shift(*names, ahead=1, at=loop)
        after = derive(plan).parts[0].ops
        assert [op.time for op in before] != [op.time for op in after]


def test_a_printed_plan_says_what_was_asked() -> None:
    plan = volta().assume(multiple(Affine.of({"K": 1}, 1), 1))
    printed = [str(step) for step in plan.steps]
    assert printed[:6] == [
        "assume(lda % 8 == 0, ldb % 8 == 0, ldd % 8 == 0, aligned(A, 16), aligned(B, 16), aligned(D, 16))",
        "tile(cta, i=128, j=128, k=32)",
        "place(cta, onto=blocks, raster=grouped(8), dims=(i, j))",
        "tile(warp, i=64, j=64)",
        "place(warp, onto=warps, dims=(i, j))",
        "tile(step, k=4)",
    ]
    assert "multiply(C, m8n8k4(accumulate=f32, input=f16), at=step.k)" in printed
    assert "drain(D, through=None, by=st(vector=8))" in printed
    assert printed[-1] == "assume((K + 1) % 1 == 0)"
    assert all(step in str(plan) for step in printed)
    assert str(softmax().steps[2]) == "place(cta, onto=blocks, raster=rows, dims=(i,))"
