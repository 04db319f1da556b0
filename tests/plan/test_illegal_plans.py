"""Plans that must be refused: with the reason, on the user's line, with two instances where an order is at stake."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Iterable

import pytest

from ptxgen.compute import Compute, ComputeBuilder, f16, f32
from ptxgen.derive import derive
from ptxgen.errors import PlanError
from ptxgen.plan import (
    Plan,
    aligned,
    blocks,
    congruous,
    crosswise,
    fragments,
    ld,
    m8n8k4,
    multiple,
    registers,
    shared,
    st,
    warps,
)
from tests.derive.computes import matmul, multiplied, pipelined, softmax, staged, tiled, volta


def stencil() -> Compute:
    c = ComputeBuilder("stencil")
    i, j = c.dims(i="M", j="N")
    x = c.output("X", f32, c.dims(rows=i.extent + 1, columns=j.extent + 1), ("ldx", 1))
    c.define(x[i.affine + 1, j], x[i, j.affine + 1] + 1.0, (i, j))
    return c.build()


def running_sum() -> Compute:
    c = ComputeBuilder("running_sum")
    (i,) = c.dims(i="M")
    x = c.input("x", f32, (i,), (1,))
    p = c.output("P", f32, c.dims(sums=i.extent + 1), (1,))
    c.define(p[i.affine + 1], p[i] + x[i], (i,))
    return c.build()


def of_rows_too(columns: int | str = "N") -> Compute:
    """A matrix doubled, and a vector as long as its rows are many."""
    c = ComputeBuilder("rows_too")
    i, j = c.dims(i="M", j=columns)
    x, v = c.input("X", f32, (i, j), ("ldx", 1)), c.input("v", f32, (i,), (1,))
    y, t = c.output("Y", f32, (i, j), ("ldy", 1)), c.output("T", f32, (i,), (1,))
    c.define(y[i, j], x[i, j] * 2.0, (i, j))
    c.define(t[i], v[i] * 2.0, (i,))
    return c.build()


def shift_of_fragments_alone() -> None:
    plan = multiplied(staged(tiled(matmul())))
    derive(plan.shift("A.fragments", "B.fragments", ahead=1, at="step.k"))  # refused


def ring_shallower_than_its_lead() -> None:
    plan = multiplied(staged(tiled(matmul())))
    derive(plan.shift("A.registers", "A.shared", "B.registers", "B.shared", ahead=3, at="cta.k"))  # refused


def one_fragment_tile_for_two_steps() -> None:
    derive(pipelined(multiplied(staged(tiled(matmul()), ring=1))))


def store_before_load() -> None:
    plan = multiplied(staged(tiled(matmul()))).sequence("cta.k", "A.shared", "A.registers")  # refused
    derive(plan)


def loads_behind_their_stores() -> None:
    plan = multiplied(staged(tiled(matmul())))
    derive(plan.shift("A.shared", "B.shared", ahead=1, at="cta.k"))  # refused


def shared_memory_over_budget() -> None:
    derive(pipelined(multiplied(staged(tiled(matmul(), m=256, n=128, k=128)))))


def registers_over_budget() -> None:
    derive(pipelined(multiplied(staged(tiled(matmul(), warp=(128, 128))))))


def warp_tile_below_the_instruction() -> None:
    derive(multiplied(staged(tiled(matmul(), warp=(8, 64)))))


def ninety_six_among_warps() -> None:
    plan = Plan(matmul(), "sm_70").tile("cta", i=96, j=64, k=32).place("cta", onto=blocks)  # refused
    derive(multiplied(staged(plan.tile("warp", i=32, j=32).place("warp", onto=warps).tile("step", k=4))))


def no_fragments() -> None:
    plan = tiled(matmul()).stage("A", at="cta.k", into=registers(), by=ld(16))
    derive(multiplied(plan))


def shared_without_registers() -> None:
    plan = tiled(matmul())
    for array in ("A", "B"):
        plan = plan.stage(array, at="cta.k", into=shared(2), by=st(16))  # refused
        plan = plan.stage(array, at="step.k", into=fragments(2), by=ld(16))
    derive(multiplied(plan))


def loop_left_rolled() -> None:
    plan = staged(tiled(matmul())).multiply("C", m8n8k4(f32), at="step.k")
    derive(plan.finish("D", at="warp").drain("D", through=None, by=st(8)))


def accumulators_of_another_type() -> None:
    derive(staged(tiled(matmul())).multiply("C", m8n8k4(f16), at="step.k").unroll("step.k"))  # refused


def congruous_across() -> None:
    plan = tiled(matmul()).stage("A", at="cta.k", into=registers(), by=ld(16))
    plan = plan.stage("A", at="cta.k", into=shared(2, congruous), by=st(16))  # refused
    plan = plan.stage("A", at="step.k", into=fragments(2), by=ld(16))
    plan = plan.stage("B", at="cta.k", into=registers(), by=ld(16)).stage("B", at="cta.k", into=shared(2), by=st(16))
    derive(multiplied(plan.stage("B", at="step.k", into=fragments(2), by=ld(16))))


def crosswise_along() -> None:
    plan = tiled(matmul("tn")).stage("A", at="cta.k", into=registers(), by=ld(16))
    plan = plan.stage("A", at="cta.k", into=shared(2, crosswise), by=st(16))  # refused
    plan = plan.stage("A", at="step.k", into=fragments(2), by=ld(16))
    plan = plan.stage("B", at="cta.k", into=registers(), by=ld(16)).stage("B", at="cta.k", into=shared(2), by=st(16))
    derive(multiplied(plan.stage("B", at="step.k", into=fragments(2), by=ld(16))))


def untiled_dim() -> None:
    derive(Plan(softmax().compute, "sm_70").tile("cta", i=4).place("cta", onto=blocks))


def ragged_ring_of_fragments() -> None:
    derive(multiplied(staged(tiled(matmul()), ring=3)))


ORDER = {
    "k on blocks": (
        lambda: Plan(matmul(), "sm_70").tile("cta", i=128, j=128, k=32).place("cta", onto=blocks, dims=("i", "j", "k")),
        "cta.k cannot be placed onto blocks: its sum is not declared",
    ),
    "k on warps": (
        lambda: tiled(matmul()).tile("split", k=4).place("split", onto=warps, dims=("k",)),
        "split.k cannot be placed onto warps",
    ),
    "epilogue in the k loop": (
        lambda: tiled(matmul()).finish("D", at="cta.k"),
        "D cannot be finished at cta.k: C is not complete",
    ),
    "epilogue in the step loop": (
        lambda: tiled(matmul()).finish("D", at="step.k"),
        "D cannot be finished at step.k: C is not complete",
    ),
    "softmax columns on blocks": (
        lambda: Plan(softmax().compute, "sm_70").tile("cta", i=4, j=64).place("cta", onto=blocks, dims=("i", "j")),
        "cta.j cannot be placed onto blocks",
    ),
    "skewed stencil": (
        lambda: Plan(stencil(), "sm_70").tile("cta", i=8, j=8),
        "the band i, j is not permutable",
    ),
    "running sum on blocks": (
        lambda: Plan(running_sum(), "sm_70").tile("cta", i=64).place("cta", onto=blocks),
        "a dependence crosses",
    ),
    "fragments ahead of their tile": (shift_of_fragments_alone, "the shift empties the interval between A.shared"),
    "lead longer than the ring": (ring_shallower_than_its_lead, "with depth 2"),
    "one fragment tile": (one_fragment_tile_for_two_steps, "the shift empties the interval"),
    "store before load": (store_before_load, "the shift empties the interval between A.registers"),
    "stores ahead of loads": (loads_behind_their_stores, "the shift empties the interval between A.registers"),
}

OTHERS = {
    "shared bytes": (shared_memory_over_budget, "bytes of shared memory, a block has 98304"),
    "registers": (registers_over_budget, "a thread has 255"),
    "small warp tile": (warp_tile_below_the_instruction, "needs a tile of at least 16 along i"),
    "ninety-six": (ninety_six_among_warps, "tile('cta'): i=96 is no power of two"),
    "no fragments": (no_fragments, "stage(A, into=fragments(...)) is missing"),
    "no staging registers": (
        shared_without_registers,
        "A.shared: st stores registers to shared memory: stage(A, into=registers()) first",
    ),
    "rolled inner loop": (loop_left_rolled, "step.k is a loop inside a tile: unroll it"),
    "accumulators": (accumulators_of_another_type, "accumulates f16 in registers, but C is a local array of f32"),
    "congruous across": (congruous_across, "A.shared: a congruous layout does not fit A"),
    "crosswise along": (crosswise_along, "A.shared: a crosswise layout does not fit A"),
    "untiled dim": (untiled_dim, "dim j of extent N is not tiled"),
    "ring of three": (ragged_ring_of_fragments, "a ring of 3 fragments needs a multiple of 3"),
    "wrong transport": (
        lambda: tiled(matmul()).stage("A", at="cta.k", into=shared(2), by=ld(16)),
        "A.shared is filled by st or cp_async or tensor, not by ld",
    ),
    "no such array": (
        lambda: tiled(matmul()).stage("Z", at="cta.k", into=registers(), by=ld(16)),
        "matmul has no array 'Z'; it has A, B",
    ),
    "no such loop": (
        lambda: tiled(matmul()).stage("A", at="cta.z", into=registers(), by=ld(16)),
        "no loop 'cta.z'; level 'cta' tiles i, j, k",
    ),
    "placed loop": (
        lambda: tiled(matmul()).stage("A", at="cta.i", into=registers(), by=ld(16)),
        "cta.i is no loop: it is placed onto blocks",
    ),
    "staged twice": (
        lambda: volta().stage("A", at="cta.k", into=registers(), by=ld(16)),
        "A.registers is staged already",
    ),
    "none": (lambda: Plan(matmul(), "sm_70").tile("cta", i=0), "the extent of i must be at least 1, got 0"),
    "larger inside": (
        lambda: Plan(matmul(), "sm_70").tile("cta", i=32).tile("warp", i=64),
        "i=64 does not divide i=32 of level 'cta'",
    ),
    "no such dim": (lambda: Plan(matmul(), "sm_70").tile("cta", z=8), "no statement has a dim 'z'; there are i, j, k"),
    "level twice": (lambda: tiled(matmul()).tile("cta", i=8), "level 'cta' is tiled already"),
    "no such level": (lambda: tiled(matmul()).place("block", onto=blocks), "no level 'block'; tiled levels are cta"),
    "rows for each block of columns": (
        lambda: Plan(of_rows_too(), "sm_70").tile("cta", i=16, j=64).place("cta", onto=blocks),
        "cta.j cannot be placed onto blocks: the statement that assigns T has no j",
    ),
    "rows for each item of columns": (
        lambda: Plan(of_rows_too(128), "sm_70").tile("cta", i=16, j=64).persist("cta", workers=2),
        "cta.j cannot be placed onto blocks: the statement that assigns T has no j",
    ),
    "placed twice": (lambda: tiled(matmul()).place("cta", onto=blocks), "level 'cta' is placed already"),
    "parametric unroll": (lambda: tiled(matmul()).unroll("cta.k"), "cta.k cannot be unrolled: its length depends"),
    "no such op": (lambda: tiled(matmul()).shift("A.shared", ahead=1, at="cta.k"), "no op 'A.shared' to shift"),
    "late": (lambda: staged(tiled(matmul())).shift("A.shared", ahead=-1, at="cta.k"), "1 step or more, got -1"),
    "no product": (lambda: tiled(matmul()).multiply("D", m8n8k4(f32), at="step.k"), "D is no sum of products"),
    "no such stride": (lambda: Plan(matmul(), "sm_70").assume(multiple("ldx", 8)), "ldx is no size or stride"),
    "odd alignment": (lambda: Plan(matmul(), "sm_70").assume(aligned("A", bytes=12)), "an alignment is a power of two"),
    "drained by load": (lambda: tiled(matmul()).drain("D", through=None, by=ld(8)), "D is drained by st, not by ld"),
    "isolate": (lambda: tiled(matmul()).isolate("tile"), "no level 'tile'"),
}


IN_COMPUTES = {
    "one fragment tile": 'return plan.shift("A.fragments"',
    "shared bytes": '.stage(array, at="cta.k", into=shared(depth), by=st(16))',
    "registers": 'return plan.shift("A.fragments"',
    "small warp tile": 'plan.multiply("C", m8n8k4(f32), at="step.k")',
    "no fragments": 'plan.multiply("C", m8n8k4(f32), at="step.k")',
    "rolled inner loop": '.tile("step", k=4)\n',
    "untiled dim": "c.reduce(ReductionOp.MAXIMUM, largest[i], x[i, j]",
    "ring of three": '.stage(array, at="step.k", into=fragments(ring), by=ld(16))',
}


def refused(case: Callable[[], object]) -> PlanError:
    with pytest.raises(PlanError) as caught:
        case()
    return caught.value


def line_with(file: str, numbers: Iterable[int], text: str) -> int:
    """The number of the only one of these lines of a file that has `text`."""
    (number,) = [number for number in numbers if text in linecache.getline(file, number)]
    return number


def guilty(name: str, case: Callable[[], object]) -> tuple[str, int]:
    """The line of the step that must be blamed: in `computes.py` by its text, here the case's only line or the one
    marked as refused."""
    if name in IN_COMPUTES:
        file = inspect.getsourcefile(volta)
        assert file is not None
        return file, line_with(file, range(1, len(linecache.getlines(file)) + 1), IN_COMPUTES[name])
    code = case.__code__
    numbers = {number for *_, number in code.co_lines() if number}
    if len(numbers) == 1:
        return __file__, numbers.pop()
    return __file__, line_with(__file__, numbers, "# refused")


@pytest.mark.parametrize("name", [*ORDER, *OTHERS])
def test_refused_with_its_reason(name: str) -> None:
    case, words = {**ORDER, **OTHERS}[name]
    assert words in refused(case).reason


@pytest.mark.parametrize("name", ORDER)
def test_names_two_instances(name: str) -> None:
    case, _ = ORDER[name]
    error = refused(case)
    assert len(error.instances) == 2
    assert error.instances[0] != error.instances[1]


def test_an_output_may_lack_what_blocks_do_not_share_out() -> None:
    Plan(of_rows_too(), "sm_70").tile("cta", i=16, j=64).place("cta", onto=blocks, dims=("i",))
    Plan(of_rows_too(64), "sm_70").tile("cta", i=16, j=64).place("cta", onto=blocks)


@pytest.mark.parametrize("name", [*ORDER, *OTHERS])
def test_on_the_users_line(name: str) -> None:
    case, _ = {**ORDER, **OTHERS}[name]
    line = refused(case).line
    assert line is not None
    assert (line.file, line.line) == guilty(name, case)
