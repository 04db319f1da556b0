"""Warpgroups that take tiles in turn while tensor copies bring pieces of residuals ahead, into one ring that the
warpgroups hand over: bits of the tile machine and of the simulator, what the judge says of it, and who must wait."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.derive import derive
from ptxgen.errors import InternalError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.kernels.choosing.legal import is_legal
from ptxgen.kernels.launching.binding import bind
from ptxgen.kernels.launching.entry import program_arrays
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.plan import Turns, sms
from ptxgen.prove.trees import check_program
from ptxgen.tile import Arrive, Node, Program, Wait, show
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.mutants import without_each_synchronisation
from ptxgen.tile.reading import read
from tests.kernels.cases import bits, judge, random_inputs, scalars_of
from tests.kernels.clusters import changed

PAIR = MatmulTiling(
    i=64, j=128, k=64, warps=8, workers=2, drain=32, depth=2, isolate=False, turns=True, piecewise=True,
    residual_depth=2,
)  # fmt: skip
FULL = evolve(PAIR, j=256, depth=4, workers=sms)
TINY = evolve(PAIR, j=64, k=16, drain=16, workers=1)
Size = tuple[int, int, int]


def product_of(epilogue: str, tiling: MatmulTiling, **others: Any) -> Matmul:
    return Matmul(MatmulSpec(Layout.TN, epilogue=parse_epilogue(epilogue), **others), "sm_90a", tiling)


def poisoned(product: Matmul, size: Size) -> dict[str, Any]:
    """Small random integers, of which every order of a sum gives the same, and outputs that are no numbers."""
    inputs = random_inputs(product.compute, dict(zip("MNK", size, strict=True), batches=2))
    inputs = {name: np.rint(array) for name, array in inputs.items()}
    whole = product.with_outputs(inputs)
    return {name: array if name in inputs else np.full_like(array, np.nan) for name, array in whole.items()}


def on_machine(program: Program, held: dict[str, Any], scalars: dict[str, float], seed: int | None) -> dict[str, Any]:
    arrays = {array.name: np.array(held[array.name]) for array in program_arrays(program)}
    sizes = dict(bind(program_arrays(program), arrays).sizes)
    return dict(run(program, arrays, sizes, scalars, seed=seed).arrays)


CASES: dict[str, tuple[str, MatmulTiling, Size]] = {
    "two results": ("residual,keep,relu", PAIR, (264, 136, 64)),
    "rounds that are not full": ("bias,residual,keep,clamp", PAIR, (136, 392, 200)),
    "clusters of rows": ("residual,relu", evolve(PAIR, cluster=(2, 1)), (264, 136, 64)),
    "clusters of columns": ("residual,relu", evolve(PAIR, cluster=(1, 2)), (136, 264, 72)),
    "three units": ("residual", evolve(PAIR, warps=12, j=64), (328, 136, 64)),
    "three of 16": ("residual", evolve(PAIR, drain=16, drain_depth=3, residual_depth=3), (200, 136, 72)),
    "one piece at once": ("residual", evolve(PAIR, drain_depth=1, residual_depth=1), (200, 136, 72)),
    "two products a unit": ("residual,keep,relu", evolve(PAIR, i=128, group_rows=128, j=64), (328, 136, 72)),
    "no slab": ("residual", evolve(PAIR, overlap=True), (136, 264, 0)),
}


QUICK = ("two results", "clusters of rows")


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in CASES])
def test_the_bits_of_machine_simulator_and_arithmetic(name: str) -> None:
    epilogue, tiling, size = CASES[name]
    product = product_of(epilogue, tiling)
    held, scalars = poisoned(product, size), scalars_of(product.compute)
    kernel = product.kernel_for(held)
    assert is_legal(product.spec, "sm_90a", tiling)
    assert "turns of D" in {ring.name for ring in kernel.program.rings}
    machine = on_machine(kernel.program, held, scalars, seed=2)
    report = kernel.simulate(held, scalars)
    assert report is not None
    report.raise_findings()
    judge(product.compute, held, scalars, exact=False, target="sm_90a")
    for name in {"D", "E"} & set(held):
        assert np.array_equal(bits(held[name]), bits(machine[name])), name
    whole = poisoned(product, size)
    evolve(product, tiling=evolve(tiling, residual_depth=0)).kernel_for(whole).simulate(whole, scalars)
    assert np.array_equal(bits(held["D"]), bits(whole["D"]))


@cache
def tiny() -> GeneratedKernel:
    product = product_of("residual", TINY)
    return product.kernel_for(poisoned(product, (64, 64, 40)))


def found(program: Program, rows: int, seed: int | None, terms: int = 40) -> Any:
    """The result of a walk of so many rows on the machine."""
    product = product_of("residual", TINY)
    return on_machine(program, poisoned(product, (rows, 64, terms)), {}, seed)["D"]


@pytest.mark.parametrize("rows", [8, 128, 264, 320])
def test_every_interleaving_gives_the_same_bits(rows: int) -> None:
    """From one tile, which leaves a unit without any, to five."""
    wanted = found(tiny().program, rows, None)
    assert not np.isnan(wanted.astype(float)).any()
    for seed in range(1, 5):
        assert np.array_equal(bits(found(tiny().program, rows, seed)), bits(wanted))


def test_without_a_turn_for_the_pieces_the_judge_sees_a_phase_confused() -> None:
    """Who has the next tile could wait for a slot's phase before the last one is complete."""
    plan = tiny().plan
    steps = tuple(evolve(step, phases=("AB",)) if isinstance(step, Turns) else step for step in plan.steps)
    with pytest.raises(InternalError, match=r"ring R.shared, full, .* turns are wanted \[synchronisation.seen\]"):
        derive(evolve(plan, steps=steps))


def test_the_program_is_judged_as_a_tree_and_read_back() -> None:
    program = tiny().program
    assert check_program(program).accepted
    assert read(show(program)) == program
    (brought,) = [buffer for buffer in program.buffers if buffer.name.startswith("R.shared")]
    assert brought.depth == 2


def fails(program: Program) -> bool:
    """Whether the machine finds a fault, or a result that is another one, where sums are short enough for a warpgroup
    to come to its pieces while the other one is at its own."""
    wanted = found(tiny().program, 264, None, terms=16)
    for seed in (None, *range(1, 9)):
        try:
            if not np.array_equal(bits(found(program, 264, seed, terms=16)), bits(wanted)):
                return True
        except MachineFault:
            return True
    return False


def is_of_the_pieces(node: object) -> bool:
    return isinstance(node, Wait | Arrive) and node.ring in ("turns of D", "R.shared")


def test_no_turn_wait_or_arrival_of_the_pieces_can_be_left_out() -> None:
    mutants = [each for each in without_each_synchronisation(tiny().program) if is_of_the_pieces(each.removed)]
    assert len(mutants) == 9
    for mutant in mutants:
        assert not check_program(mutant.program).accepted, f"{mutant.role}: {mutant.removed}"
        assert fails(mutant.program), f"{mutant.role}: {mutant.removed}"


def other_numbers(node: Node) -> Iterator[Node]:
    """A turn or a piece of another number."""
    if isinstance(node, Wait | Arrive) and node.ring in ("turns of D", "R.shared"):
        yield from (evolve(node, rank=node.rank + more) for more in (-1, 1))


@pytest.mark.slow
def test_turns_and_pieces_of_other_numbers_are_refused() -> None:
    """But that who brings a piece may wait for the slot of the next one too, as if the ring had one slot less."""
    mutants = list(changed(tiny().program, other_numbers))
    accepted = [(node, program) for node, program in mutants if check_program(program).accepted]
    assert (len(mutants), len(accepted)) == (18, 1)
    for node, program in mutants:
        assert fails(program) is not any(node is harmless for harmless, _ in accepted), node


def test_a_ring_counted_by_the_arrivals_of_all_units_is_refused() -> None:
    """One unit alone frees a slot: its four warps."""
    program = tiny().program
    assert {ring.empty_count for ring in program.rings if ring.name != "A.shared+B.shared"} == {4}
    for count in (1, 8):
        rings = tuple(evolve(ring, empty_count=count) if ring.name == "R.shared" else ring for ring in program.rings)
        wrong = evolve(program, rings=rings)
        assert not check_program(wrong).accepted
        assert fails(wrong)


@pytest.mark.parametrize("epilogue", ["residual", "bias,residual,relu"])
def test_a_full_tile_is_assembled_without_a_note_and_without_spills(epilogue: str) -> None:
    product = product_of(epilogue, FULL)
    cubin = product.kernel_for(poisoned(product, (256, 256, 256))).assembled()
    assert (cubin.spills, cubin.notes) == (0, ())
