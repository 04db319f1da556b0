"""What full tiles and those at an edge do alike is written once, and both still give what numpy does."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from polyhedral import const, var
from ptxgen.compute import Binary, BinaryOp, Comparison, Constant, Operand, Scalar, Select, f32
from ptxgen.kernels import Layout
from ptxgen.lower.alike import told_once
from ptxgen.tile import Advance, Copy, Fill, Map, Multiply, Node, Outside, Program, Quotient, Sequence, When
from ptxgen.tile.machine import MachineFault
from ptxgen.tile.machine import run as run_tiles
from ptxgen.tile.rewriting import spots
from tests.kernels.test_on_the_tile_machine import derived, wanted
from tests.lower.programs import LINE, array, at, program, registers, row_major


def told(found: Program) -> Counter[str]:
    return Counter(node.op for _, node in spots(found) if isinstance(node, (Fill, Map, Multiply)))


def isolated(epilogue: str) -> tuple[Program, dict[str, np.ndarray], dict[str, int]]:
    made, arrays, sizes = derived(Layout.NN, epilogue)
    assert isinstance(made, Program)
    return made, arrays, sizes


@pytest.mark.parametrize("epilogue", ["bias,relu", "bias,residual", "bias,relu,row_sum"])
def test_both_kinds_of_tiles_agree_with_numpy(epilogue: str) -> None:
    made, arrays, sizes = isolated(epilogue)
    report = run_tiles(told_once(made), arrays, sizes)
    reference = wanted(Layout.NN, epilogue)
    assert np.abs(report.arrays["D"] - reference).max() < 2e-2
    if "row_sum" in epilogue:
        assert np.abs(report.arrays["row_sum_parts"].sum(0) - reference.sum(1)).max() < 1e-3


@pytest.mark.parametrize(("epilogue", "maps"), [("bias,relu", 1), ("bias,residual", 2)])
def test_the_last_slab_and_maps_beside_vectors_stand_once(epilogue: str, maps: int) -> None:
    """A matrix beside the sums is not read ahead: it would take as many registers as they do."""
    before, _, _ = isolated(epilogue)
    after = told_once(before)
    steps = told(before)["AB"] // 5
    assert told(before) == {"AB.fill": 2, "AB": 5 * steps, "D": 2}
    assert told(after) == {"AB.fill": 1, "AB": 4 * steps, "D": maps}


def test_guards_of_what_is_read_ahead_are_needed() -> None:
    """Without them, tiles at the edge read beyond the vector."""
    made, arrays, sizes = isolated("bias,relu")
    after = told_once(made)
    ahead = [node for _, node in spots(after) if isinstance(node, Copy) and node.source.buffer.name == "bias"]
    assert [node.guarded for node in ahead] == [(), (0,)]

    def unguarded(node: Node) -> Node:
        match node:
            case Sequence(children):
                return Sequence(tuple(map(unguarded, children)))
            case When(conditions, then, otherwise):
                return When(conditions, unguarded(then), None if otherwise is None else unguarded(otherwise))
            case _:
                return evolve(node, guarded=()) if node in ahead else node

    (role,) = after.roles
    with pytest.raises(MachineFault) as fault:
        run_tiles(evolve(after, roles=(evolve(role, body=unguarded(role.body)),)), arrays, sizes)
    assert fault.value.code == "tile.bounds"


@pytest.mark.parametrize("warpgroup", [False, True])
def test_products_of_warpgroups_stay_where_they_are(warpgroup: bool) -> None:
    made, _, _ = isolated("bias,relu")
    product = next(node for _, node in spots(made) if isinstance(node, Multiply))
    product = evolve(product, row=evolve(product.row, warpgroup=warpgroup))
    body = When((var("K") >= 1,), product, product)
    found = told_once(evolve(made, roles=(evolve(made.roles[0], body=body),))).roles[0].body
    assert found == (body if warpgroup else product)


SUM = Binary(BinaryOp.ADD, Operand(0), Operand(1))
ASKED = Select(Comparison.NOT_EQUAL, Scalar("beta"), Constant(0.0), SUM, Operand(0))
CHANGES = [
    pytest.param({}, True, id="always read"),
    pytest.param({"expression": ASKED}, False, id="read on a condition"),
    pytest.param({"outside": Outside.ZERO}, False, id="zero at guarded points"),
]


@pytest.mark.parametrize(("changes", "is_shared"), CHANGES)
def test_maps_are_shared_whose_guards_only_tell_what_is_read(changes: dict[str, Any], is_shared: bool) -> None:
    made, _, _ = isolated("bias,relu")
    body = When((var("K") >= 1,), *(evolve(node, **changes) for _, node in spots(made) if isinstance(node, Map)))
    found = told_once(evolve(made, roles=(evolve(made.roles[0], body=body),))).roles[0].body
    assert (found != body) is is_shared


def test_a_side_that_changes_the_condition_stays_whole() -> None:
    """Behind the step of the counter the other side would be taken."""
    tile = registers("A.registers", f32, row_major((8, 16), 4))
    filled, step = Fill("fill", at(tile), 0.0, LINE), Advance("n", Quotient(const(1), 1))
    target = array("D", f32, ("M", 16), ("ldd", 1))
    for sides, changed in (((filled, filled), True), ((Sequence((step, filled)), filled), False)):
        body = When((var("n") <= 0,), *sides)
        made = told_once(program((target,), (), body, tile))
        assert (made.roles[0].body != body) is changed
