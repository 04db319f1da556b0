"""Products whose results leave through shared memory: by tensor copies, or read back and stored in whole rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from attrs import evolve

from isa.mechanisms import GroupKind
from ptxgen.compute import Element, f16, f32
from ptxgen.derive.part import Part, threads_of
from ptxgen.derive.space import IndexSpace
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, Outcome, parse_epilogue
from ptxgen.kernels.launching.binding import bind
from ptxgen.kernels.launching.entry import program_arrays
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.order.atoms import Commit, Retire
from ptxgen.order.synchronisation import Synchronisation
from ptxgen.plan import Drain, Plan
from ptxgen.prove.proof import check_meetings
from ptxgen.tile import Covered, Program
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.mutants import without_each_synchronisation
from ptxgen.verify import verify
from tests.kernels.cases import bits, judge, random_inputs, scalars_of

WARPGROUP = MatmulTiling(i=64, j=128, k=64, warps=4, depth=3, isolate=False, drain=64)
GROUPS = MatmulTiling(i=128, j=64, k=64, warps=8, depth=2, drain=32)
WARPS = MatmulTiling(i=64, j=64, k=32, depth=3, drain=16)
QUADS = MatmulTiling(i=128, j=64, k=32, warps=4, drain=32)
PLANS = [("sm_90a", WARPGROUP), ("sm_90a", GROUPS), ("sm_80", WARPS), ("sm_70", QUADS)]
SIZES = [(72, 136, 72), (128, 256, 64), (1, 8, 8), (200, 264, 0)]


def both(spec: MatmulSpec, target: str, tiling: MatmulTiling, size: tuple[int, int, int]) -> tuple[Outcome, Outcome]:
    """The product drained as the tiling says, and from registers; every finding is an error."""
    found = []
    for drain in (tiling.drain, 0):
        product = Matmul(spec, target, evolve(tiling, drain=drain))
        inputs = random_inputs(product.compute, dict(zip("MNK", size, strict=True), batches=2))
        scalars = scalars_of(product.compute)
        found.append(product(inputs, scalars))
        judge(product.compute, found[-1].arrays, scalars, exact=target == "sm_70", target=target)
    return found[0], found[1]


def drains(plan: Plan) -> dict[str, Drain]:
    return {step.array: step for step in plan.steps if isinstance(step, Drain)}


def conflicts(outcome: Outcome) -> dict[str, int]:
    """Bank conflicts of what puts pieces into the ring and reads them back, by instruction."""
    assert outcome.report is not None
    sites = [s for s in outcome.report.shared_sites if s.instruction.form.opcode in ("stmatrix", "st", "ld")]
    assert sites
    return {s.instruction.form.name: s.shared.conflicts for s in sites if s.shared.conflicts}


@pytest.mark.parametrize("output", [f16, f32], ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("target", "tiling"), PLANS, ids=str)
def test_the_bits_are_those_of_the_drain_from_registers(
    target: str, tiling: MatmulTiling, size: tuple[int, int, int], output: Element
) -> None:
    spec = MatmulSpec(Layout.TN, output=output, epilogue=parse_epilogue("bias,relu"))
    through, direct = both(spec, target, tiling, size)
    assert all(step.through for step in drains(through.kernel.plan).values())
    assert np.array_equal(bits(through.arrays["D"]), bits(direct.arrays["D"]))
    assert not conflicts(through)
    assert verify(through.kernel.module) == ()


@pytest.mark.parametrize("output", [f16, f32], ids=str)
@pytest.mark.parametrize(("target", "tiling"), PLANS, ids=str)
def test_a_second_result_and_batches(target: str, tiling: MatmulTiling, output: Element) -> None:
    spec = MatmulSpec(Layout.NT, output=output, epilogue=parse_epilogue("residual,keep,relu"), batched=True)
    through, direct = both(spec, target, tiling, (72, 136, 72))
    steps = drains(through.kernel.plan)
    assert len(steps) == 2
    assert all(step.through for step in steps.values())
    for name in steps:
        assert np.array_equal(bits(through.arrays[name]), bits(direct.arrays[name])), name
    assert not conflicts(through)


@pytest.mark.parametrize(("target", "tiling"), PLANS, ids=str)
def test_the_text_assembles_without_spills(target: str, tiling: MatmulTiling) -> None:
    for output in (f16, f32):
        made = kernel(target, tiling, output)
        assert made.assembled().spills == 0
        text = made.listing
        words = ("stmatrix", "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", "fence.proxy.async")
        boxes = target == "sm_90a"
        assert [word in str(text) for word in words] == [boxes and output is f16, boxes, boxes]


def kernel(target: str, tiling: MatmulTiling, output: Element = f16, epilogue: str = "bias") -> GeneratedKernel:
    product = Matmul(MatmulSpec(output=output, epilogue=parse_epilogue(epilogue)), target, tiling)
    return product.kernel_for(product.with_outputs(random_inputs(product.compute, {"M": 64, "N": 64, "K": 64})))


def test_where_facts_do_not_hold_results_leave_from_registers() -> None:
    """Odd rows of D: no tensor map tells of them, and no thread stores 16 bytes of them at once. Rows of 16 bytes: no
    swizzle is so narrow, and they are refused."""

    spec = MatmulSpec(epilogue=parse_epilogue("bias"))
    for target, tiling in (*PLANS[:1], *PLANS[2:]):
        product = Matmul(spec, target, tiling)
        inputs = random_inputs(product.compute, {"M": 40, "N": 77, "K": 64})
        plan = product.kernel_for(product.with_outputs(inputs)).plan
        assert [step.through for step in drains(plan).values()] == [None]
        assert [str(step) for step in drains(plan).values()] == ["drain(D, through=None, by=st(vector=16))"]
    with pytest.raises(PlanError, match="drain=8: tensor copies store 32 bytes"):
        kernel("sm_90a", evolve(WARPGROUP, drain=8))


def test_ragged_rows_in_a_wide_array_are_clipped_by_the_map() -> None:
    product = Matmul(MatmulSpec(), "sm_90a", WARPGROUP)
    inputs = random_inputs(product.compute, {"M": 70, "N": 136, "K": 64})
    wide = np.full((70, 208), 7, np.float16)
    arrays = {**inputs, "D": wide[:, 8:144]}
    outcome = product(arrays)
    judge(product.compute, outcome.arrays, {}, exact=False, target="sm_90a")
    assert [bool(step.through) for step in drains(outcome.kernel.plan).values()] == [True]
    assert (wide[:, :8] == 7).all()
    assert (wide[:, 144:] == 7).all()


@pytest.mark.parametrize("output", [f16, f32], ids=str)
@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize(("target", "tiling"), [PLANS[0], PLANS[2]], ids=str)
def test_blocks_that_stay_store_one_tile_while_they_multiply_the_next(
    target: str, tiling: MatmulTiling, workers: int, output: Element
) -> None:
    spec = MatmulSpec(Layout.TN, output=output, epilogue=parse_epilogue("keep,bias"))
    through, direct = both(spec, target, evolve(tiling, workers=workers), (200, 296, 72))
    assert all(step.through for step in drains(through.kernel.plan).values())
    for name in ("D", "E"):
        assert np.array_equal(bits(through.arrays[name]), bits(direct.arrays[name])), name
    assert not conflicts(through)


def test_shared_memory_that_is_short_is_shared_with_the_first_operand() -> None:
    """Four slabs of 128x256x64 leave room for two pieces of a result, seven of 128x128x64 do not."""

    def plan(epilogue: str, depth: int, j: int) -> Plan:
        tiling = MatmulTiling(j=j, k=64, warps=8, depth=depth, isolate=False, drain=64)
        return kernel("sm_90a", tiling, epilogue=epilogue).plan

    def over(plan: Plan) -> list[str | None]:
        return [step.through.alias for step in drains(plan).values() if step.through]

    assert over(plan("bias", 4, 256)) == [None]
    assert over(plan("bias", 7, 128)) == ["A.shared"]
    assert over(plan("keep,bias", 6, 128)) == [None, "A.shared"]


def test_pieces_over_an_operands_ring_are_right() -> None:
    tiling = MatmulTiling(i=64, j=128, k=64, warps=4, depth=9, isolate=False, drain=64)
    for epilogue in ("bias", "keep,bias"):
        spec = MatmulSpec(epilogue=parse_epilogue(epilogue))
        through, direct = both(spec, "sm_90a", tiling, (72, 136, 200))
        assert {step.through.alias for step in drains(through.kernel.plan).values() if step.through} == {"A.shared"}
        assert np.array_equal(bits(through.arrays["D"]), bits(direct.arrays["D"]))
        assert through.kernel.program.shared_bytes == direct.kernel.program.shared_bytes


MUTATED = {
    "boxes": ("sm_90a", WARPGROUP, "bias"),
    "narrow pieces": ("sm_90a", evolve(WARPGROUP, drain=32), "bias"),
    "two results": ("sm_90a", WARPGROUP, "keep,bias"),
    "boxes over A": ("sm_90a", MatmulTiling(i=64, j=128, k=64, warps=4, depth=9, isolate=False, drain=64), "bias"),
    "rows over A": ("sm_80", evolve(WARPS, isolate=False), "bias"),
    "walked": ("sm_90a", evolve(WARPGROUP, workers=2), "bias"),
    "walked, two results": ("sm_90a", evolve(WARPGROUP, drain=32, workers=2), "keep,bias"),
    "rows over A, walked": ("sm_80", evolve(WARPS, workers=2), "bias"),
    "rows, two results": ("sm_80", evolve(WARPS, isolate=False), "keep,bias"),
}


@cache
def mutated(name: str) -> GeneratedKernel:
    target, tiling, epilogue = MUTATED[name]
    return kernel(target, tiling, epilogue=epilogue)


def drains_something(covers: tuple[Covered, ...]) -> bool:
    rings = ("D.shared", "E.shared")
    return any(c.buffer in rings or c.sink == "leave" for c in covers)


def altered(atom: Synchronisation) -> Iterator[Synchronisation | None]:
    """The atom gone, with one more group left open, or waiting for reads alone."""
    yield None
    match atom.atom:
        case Retire(kind=kind, pending=pending, reads_only=reads_only):
            yield evolve(atom, atom=evolve(atom.atom, pending=pending + 1))
            if kind is GroupKind.BULK and not reads_only:
                yield evolve(atom, atom=evolve(atom.atom, reads_only=True))
        case _:
            pass


@pytest.mark.parametrize("name", MUTATED)
def test_the_proof_refuses_every_atom_gone_or_changed(name: str) -> None:
    made = mutated(name)
    part: Part = made.derivation.parts[0]
    threads = threads_of(IndexSpace(made.plan))
    atoms = part.synchronised.atoms
    assert check_meetings(part.synchronised, part.requirements, threads=threads).accepted
    for number, atom in enumerate(atoms):
        for changed in altered(atom):
            other = (*atoms[:number], *((changed,) if changed else ()), *atoms[number + 1 :])
            verdict = check_meetings(evolve(part.synchronised, atoms=other), part.requirements, threads=threads)
            assert not verdict.accepted, changed or atom


RUNS = [(72, None), (40, 1), (8, 2), (136, 3)]


def runs(program: Program, k: int, seed: int | None) -> None:
    """One block on the tile machine, its result judged by numpy."""
    sizes = {"M": 72, "N": 136, "K": k}
    product = Matmul(MatmulSpec(epilogue=parse_epilogue("keep,bias")), "sm_90a", WARPGROUP)
    given = product.with_outputs(random_inputs(product.compute, sizes))
    arrays = {a.name: given[a.name] for a in program_arrays(program)}
    bound = bind(program_arrays(program), arrays).sizes
    first = tuple(0 for _ in program.grid.dims)
    report = run(program, {n: np.array(a) for n, a in arrays.items()}, bound, seed=seed, blocks=[first])
    wanted = given["A"].astype(float) @ given["B"].astype(float) + given["bias"]
    assert np.abs(report.arrays["D"][:64, :64] - wanted[:64, :64]).max() < 2e-2


def fails(program: Program, k: int, seed: int | None) -> bool:
    """Whether the machine finds a fault."""
    try:
        runs(program, k, seed)
    except MachineFault:
        return True
    return False


@pytest.mark.parametrize("name", [name for name in MUTATED if "walked" not in name])
def test_the_machine_shows_what_every_atom_of_the_way_out_is_for(name: str) -> None:
    program = mutated(name).program
    for k, seed in RUNS:
        runs(program, k, seed)
    seen = 0
    for mutant in without_each_synchronisation(program):
        stores = isinstance(mutant.removed, Commit) and mutant.removed.kind is GroupKind.BULK
        if stores or drains_something(getattr(mutant.removed, "covers", ())):
            seen += 1
            assert any(fails(mutant.program, k, seed) for k, seed in RUNS), mutant.removed
    assert seen >= 3
