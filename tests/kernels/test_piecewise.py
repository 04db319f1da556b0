"""Products whose results are finished in the pieces in which they leave: the bits of whole tiles, on the simulator and
the tile machine, with what the pieces read loaded as a tile begins or brought ahead by tensor copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, bf16, f16, f32
from ptxgen.errors import PlanError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, Outcome, parse_epilogue
from ptxgen.kernels.launching.binding import bind
from ptxgen.kernels.launching.entry import program_arrays
from ptxgen.kernels.products.defaults import default_tiling
from ptxgen.kernels.products.epilogue import PIECES, Keep, Residual
from ptxgen.plan import Drain, Finish, Stage
from ptxgen.tile import Copy, Loop, Map, Node, Program, ProxyFence, RequirementKind
from ptxgen.tile.machine import MachineFault, run
from ptxgen.tile.mutants import without_each_synchronisation
from ptxgen.verify import verify
from tests.kernels.cases import bits, judge, random_inputs, scalars_of
from tests.kernels.test_drain import conflicts

GROUP = MatmulTiling(i=64, j=128, k=64, warps=4, depth=3, isolate=False, drain=64)
PAIR = MatmulTiling(i=128, j=64, k=64, warps=8, depth=2, drain=32, workers=2)
MIXED = "bias,residual,keep,gelu"
Size = tuple[int, int, int]


def on_cpu(spec: MatmulSpec, tiling: MatmulTiling, size: Size) -> Outcome:
    """The product on the simulator, every finding an error, held against float64 where its arrays are those asked."""
    product = Matmul(spec, "sm_90a", tiling)
    inputs = random_inputs(product.compute, dict(zip("MNK", size, strict=True), batches=2))
    scalars = scalars_of(product.compute)
    outcome = product(inputs, scalars)
    if not spec.totals:
        judge(product.compute, outcome.arrays, scalars, exact=False, target="sm_90a")
    return outcome


def both(spec: MatmulSpec, tiling: MatmulTiling, size: Size, depth: int = 0) -> Outcome:
    """The product in pieces, after its bits were found to be those of whole tiles."""
    whole = on_cpu(spec, tiling, size)
    pieces = on_cpu(spec, evolve(tiling, piecewise=True, residual_depth=depth), size)
    for name, array in whole.arrays.items():
        assert np.array_equal(bits(pieces.arrays[name]), bits(array)), name
    return pieces


def finished_at(outcome: Outcome) -> set[str]:
    return {step.at for step in outcome.kernel.plan.steps if isinstance(step, Finish)}


@pytest.mark.parametrize("piece", [str(piece) for piece in PIECES if str(piece) not in ("row_sum", "column_sum")])
def test_every_piece_of_an_epilogue(piece: str) -> None:
    outcome = both(MatmulSpec(Layout.TN, epilogue=parse_epilogue(piece)), PAIR, (136, 72, 64))
    assert finished_at(outcome) == {"piece.j"}
    assert not conflicts(outcome)
    assert verify(outcome.kernel.module) == ()


@pytest.mark.parametrize("depth", [0, 2], ids=["loaded", "brought"])
@pytest.mark.parametrize("output", [f16, bf16, f32], ids=str)
@pytest.mark.parametrize(
    "tiling", [pytest.param(GROUP, marks=pytest.mark.slow, id="alone"), pytest.param(PAIR, id="pair")]
)
def test_types_and_ragged_edges(tiling: MatmulTiling, output: Element, depth: int) -> None:
    kind = bf16 if output is bf16 else f16
    spec = MatmulSpec.of(kind, layout=Layout.NT, output=output, epilogue=parse_epilogue(MIXED))
    both(spec, tiling, (1, 8, 8), depth)
    outcome = both(spec, tiling, (136, 136, 72), depth)
    assert not conflicts(outcome)
    ways = {step.op: str(step.by) for step in outcome.kernel.plan.steps if isinstance(step, Stage)}
    assert ("R.shared" in ways) == bool(depth)
    assert outcome.kernel.assembled().spills == 0


ELEMENTS = [(f32, f16), (f16, f32), (f32, f32)]


@pytest.mark.slow
@pytest.mark.parametrize(("residual", "kept"), ELEMENTS, ids=str)
def test_residuals_and_second_results_of_other_types(residual: Element, kept: Element) -> None:
    spec = MatmulSpec(Layout.TN, epilogue=(Residual(residual), Keep(kept)))
    for depth in (0, 2):
        assert finished_at(both(spec, PAIR, (136, 72, 72), depth)) == {"piece.j"}


EITHER_WAY = [pytest.param(0, marks=pytest.mark.slow, id="loaded"), pytest.param(2, id="brought")]
TILINGS: dict[str, tuple[MatmulTiling, Size]] = {
    "in turns": (evolve(PAIR, i=64, turns=True), (264, 136, 64)),
    "clusters of rows": (evolve(PAIR, cluster=(2, 1)), (264, 136, 64)),
    "clusters of columns": (evolve(PAIR, workers=None, cluster=(1, 2)), (136, 264, 64)),
    "factors swapped": (evolve(PAIR, i=16, j=128, swap=True, drain=64), (40, 264, 64)),
    "sum passed on": (evolve(PAIR, workers=None, split=3), (136, 72, 256)),
    "twelve warps": (evolve(PAIR, i=192, j=48, warps=12, drain=16), (200, 104, 72)),
    "thirteen pieces": (evolve(GROUP, j=208, drain=16, drain_depth=3, workers=2), (72, 216, 72)),
    "deep": (evolve(GROUP, drain=32, drain_depth=4, workers=2), (72, 264, 72)),
    "one on its way": (evolve(GROUP, drain_depth=1, workers=2), (72, 264, 72)),
    "isolated": (evolve(PAIR, workers=None, isolate=True), (136, 200, 72)),
}


@pytest.mark.parametrize("depth", EITHER_WAY)
@pytest.mark.parametrize("name", TILINGS)
def test_every_way_of_dealing_tiles(name: str, depth: int) -> None:
    """But that those whose factors change places have nothing brought ahead."""
    tiling, size = TILINGS[name]
    if depth and tiling.swap:
        with pytest.raises(PlanError, match="residual_depth"):
            both(MatmulSpec(Layout.TN, epilogue=parse_epilogue("residual,keep,relu")), tiling, size, depth)
        return
    outcome = both(MatmulSpec(Layout.TN, epilogue=parse_epilogue("residual,keep,relu")), tiling, size, depth)
    assert finished_at(outcome) == {"piece.j"}
    assert all(step.through for step in outcome.kernel.plan.steps if isinstance(step, Drain))


def test_pieces_over_the_first_operand() -> None:
    """Nine slabs leave no room beside them for four pieces of f32."""
    tiling = evolve(PAIR, workers=None, depth=9, drain_depth=4)
    outcome = both(MatmulSpec(output=f32, epilogue=parse_epilogue("bias")), tiling, (136, 72, 200))
    (drain,) = [step for step in outcome.kernel.plan.steps if isinstance(step, Drain)]
    assert drain.through is not None
    assert drain.through.alias == "A.shared"


def test_pieces_that_no_map_describes_are_stored_from_registers() -> None:
    outcome = both(MatmulSpec(Layout.NT, epilogue=parse_epilogue("residual,keep,relu")), PAIR, (136, 77, 72), 2)
    assert finished_at(outcome) == {"piece.j"}
    assert not any(step.through for step in outcome.kernel.plan.steps if isinstance(step, Drain))


def test_sums_over_rows_are_finished_in_whole_tiles() -> None:
    spec = MatmulSpec(Layout.TN, epilogue=parse_epilogue("residual,keep,row_sum,relu"))
    assert finished_at(on_cpu(spec, PAIR, (136, 136, 72))) == {"group"}
    with pytest.raises(PlanError, match="piecewise=True: an epilogue with sums"):
        on_cpu(spec, evolve(PAIR, piecewise=True), (136, 136, 72))


def test_a_second_output_is_finished_in_pieces_unless_somebody_says_otherwise() -> None:
    """Whole tiles of it and of an activation want more registers than there are."""
    for epilogue in ("keep,gelu", "keep,silu", "bias,keep,gelu"):
        tiling = default_tiling(MatmulSpec(Layout.TN, epilogue=parse_epilogue(epilogue)), "sm_90a")
        assert tiling.piecewise, epilogue
        assert made(epilogue, tiling).assembled().spills == 0, epilogue


def made(epilogue: str, tiling: MatmulTiling) -> Any:
    product = Matmul(MatmulSpec(Layout.TN, epilogue=parse_epilogue(epilogue)), "sm_90a", tiling)
    inputs = random_inputs(product.compute, {"M": 64, "N": 64, "K": 64})
    return product.kernel_for(product.with_outputs(inputs))


def order_of(program: Program, role: str) -> list[str]:
    """The ops of a role in the order of its text, loops over k and pieces as brackets around theirs."""
    body = next(each.body for each in program.roles if each.name == role)
    found: list[str] = []

    def visit(node: Node) -> None:
        match node:
            case Loop():
                found.append("(")
                visit(node.body)
                found.append(")")
            case Copy() | Map():
                found.append(node.op)
            case _:
                for child in getattr(node, "children", ()) or (getattr(node, "body", None),):
                    if child is not None:
                        visit(child)

    visit(body)
    return found


def test_what_is_read_is_loaded_ahead_of_the_sum_and_results_take_turns() -> None:
    program = made("bias,residual,keep,relu", evolve(PAIR, piecewise=True)).program
    order = order_of(program, "math")
    pieces = ["(", "E", "E.shared", "E.global", "D", "D.shared", "D.global", ")"]
    assert sorted(order[:2]) == ["R.registers", "bias.registers"]
    assert order[-len(pieces) :] == pieces
    brought = made("residual,keep,relu", evolve(PAIR, piecewise=True, residual_depth=2)).program
    assert order_of(brought, "bring") == ["(", "R.shared", ")"]
    assert order_of(brought, "math")[-9:] == ["(", "R.fragments", *pieces[1:]]


def test_registers_that_do_not_hold_an_operand_read_it_with_each_piece() -> None:
    """A residual of 64 registers beside 128 sums, and no bias of as many."""
    tiling = MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, drain=32, workers=2, piecewise=True)
    staged = [step.op for step in made("bias,residual", tiling).plan.steps if isinstance(step, Stage)]
    assert staged == ["A.shared", "B.shared", "R.registers"]


def test_fewer_columns_where_two_results_find_no_room_else() -> None:
    """34 KB beside four slabs of 128x256x64: two pieces of 32 columns of each result."""
    tiling = MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, drain=64, workers=2)
    for epilogue, piecewise in (("keep,silu", False), ("keep,gelu", True)):
        kernel = made(epilogue, evolve(tiling, piecewise=piecewise))
        drains = [step for step in kernel.plan.steps if isinstance(step, Drain)]
        assert [step.pieces for step in drains] == [(("j", 32),)] * 2
        assert kernel.assembled().spills == 0


SMALL = evolve(PAIR, i=64, j=64, k=16, warps=4, depth=2, drain=16, workers=1, piecewise=True, residual_depth=2)


def on_machine(program: Program, tiles: int, seed: int | None = None) -> dict[str, Any]:
    product = Matmul(MatmulSpec(Layout.NT, epilogue=parse_epilogue("residual,keep,relu")), "sm_90a", SMALL)
    whole = product.with_outputs(random_inputs(product.compute, {"M": 64, "N": 64 * tiles, "K": 40}))
    arrays = {name: whole[name] for name in ("A", "B", "R", "E", "D")}
    sizes = dict(bind(program_arrays(program), arrays).sizes)
    for name in "ED":
        arrays[name] = np.full_like(arrays[name], np.nan)
    return dict(run(program, arrays, sizes, seed=seed, workers=1).arrays)


def small() -> Program:
    product = Matmul(MatmulSpec(Layout.NT, epilogue=parse_epilogue("residual,keep,relu")), "sm_90a", SMALL)
    program: Program = product.kernel_for(
        product.with_outputs(random_inputs(product.compute, {"M": 64, "N": 64, "K": 40}))
    ).program
    return program


def test_every_interleaving_on_the_tile_machine_gives_the_same_bits() -> None:
    program = small()
    for tiles in (1, 2, 3):
        wanted = on_machine(program, tiles)
        for seed in range(1, 6):
            found = on_machine(program, tiles, seed)
            assert all(np.array_equal(bits(found[name]), bits(wanted[name])) for name in "ED")
        assert not np.isnan(wanted["D"].astype(float)).any()


def faults(program: Program) -> bool:
    """Whether the machine finds one, or NaN is left."""
    for seed in (None, 1, 2):
        try:
            found = on_machine(program, 3, seed)
        except MachineFault:
            return True
        if any(np.isnan(found[name].astype(float)).any() for name in "ED"):
            return True
    return False


def covers_pieces(removed: object) -> bool:
    """Whether a node covers what passes through the rings of pieces, within a tile or at its end. Of what lies between
    two tiles the machine shows nothing, whose stores are done by then, nor of generic reads before copies."""
    ways = {"R.shared", "E.shared", "D.shared", "E", "D"}
    reads = isinstance(removed, ProxyFence) and all(c.kind is RequirementKind.REUSE for c in removed.covers)
    return not reads and any(c.buffer in ways and c.distance != 1 for c in getattr(removed, "covers", ()))


def test_no_wait_arrival_or_fence_inside_a_tile_is_needless() -> None:
    """Without any of those that pieces need the tile machine faults."""
    mutants = [mutant for mutant in without_each_synchronisation(small()) if covers_pieces(mutant.removed)]
    assert len(mutants) >= 10
    for mutant in mutants:
        assert faults(mutant.program), f"{mutant.role}: {mutant.removed}"
