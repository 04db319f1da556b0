"""Loops that choose registers are written out; roles that share a warpgroup change its registers at once."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from polyhedral import const, var
from ptxgen.compute import f32
from ptxgen.derive import derive
from ptxgen.emit import emit
from ptxgen.errors import UnsupportedError
from ptxgen.kernels.launching.generated import generate
from ptxgen.lower import lower
from ptxgen.lower.unrolling import written_out
from ptxgen.plan import Plan, Roles
from ptxgen.tile import Loop, Map, Program, Quotient, Sequence
from ptxgen.tile.rewriting import spots
from tests.derive.test_finishing import in_pieces
from tests.lower.programs import array, at, copy, program, registers, row_major, run


def loops(found: Program) -> list[Loop]:
    return [node for _, node in spots(found) if isinstance(node, Loop)]


def test_a_loop_that_moves_in_registers_has_no_round() -> None:
    """Rows 8..15 of A go to rows 16..23 of D by way of one tile, whose half the step chooses."""
    whole, half = row_major((16, 16), 8), row_major((8, 16), 4)
    source, target = array("A", f32, ("M", 16), ("lda", 1)), array("D", f32, ("M", 16), ("ldd", 1))
    tile = registers("A.registers", f32, evolve(whole, values=(*half.values, (8, 0)), lanes=half.lanes))
    filled = copy(at(source, 0, 0), at(tile), tile.distribution, 4)
    step = copy(at(tile, var("s") * 8, 0), at(target, var("s") * 16, 0), half, 4)
    body = Loop("s", (Quotient(const(0), 1),), (Quotient(const(3), 2),), 1, step)
    made = program((source, target), (), Sequence((filled, body)), tile)
    assert len(loops(made)) == 1
    assert loops(written_out(made)) == []
    a, d = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32), np.zeros((32, 16), np.float32)
    run(made, {"A": a, "D": d, "M": 32, "lda": 16, "ldd": 16})
    assert np.array_equal(d[:8], a[:8])
    assert np.array_equal(d[16:24], a[8:])
    assert not d[8:16].any()


def test_pieces_are_steps_of_a_loop_until_they_are_lowered() -> None:
    before = derive(in_pieces(brought=True)).program
    after = written_out(before)
    maps = [[node.op for _, node in spots(each) if isinstance(node, Map)] for each in (before, after)]
    assert maps == [["E", "D"], ["E", "D"] * 4]
    bring = next(role for role in after.roles if role.name == "bring")
    assert bring == next(role for role in before.roles if role.name == "bring")


def with_registers(load: int | None, bring: int | None) -> Plan:
    """The product with residuals brought, whose roles give registers back."""
    plan, counts = in_pieces(brought=True), {"load": load, "bring": bring, "math": 240}

    def changed(step: Roles) -> Roles:
        return evolve(step, roles=tuple((name, evolve(found, registers=counts[name])) for name, found in step.roles))

    return evolve(plan, steps=tuple(changed(step) if isinstance(step, Roles) else step for step in plan.steps))


def test_roles_that_share_a_warpgroup_change_its_registers_once() -> None:
    text = str(emit(generate(with_registers(24, 24)).module))
    assert text.count("setmaxnreg") == 2


@pytest.mark.parametrize("counts", [(24, 40), (None, 24), (40, None)], ids=str)
def test_roles_that_share_a_warpgroup_have_as_many_registers(counts: tuple[int | None, int | None]) -> None:
    with pytest.raises(UnsupportedError, match="the roles load and bring share a warpgroup"):
        lower(derive(with_registers(*counts)).program)
