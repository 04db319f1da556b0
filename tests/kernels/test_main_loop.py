"""What the main loop of the default plan consists of, counted by the simulator."""

from __future__ import annotations

from functools import cache

import pytest

from ptxgen.kernels import Layout, MatmulSpec
from ptxgen.simulate import Region, Report
from tests.kernels.cases import run_matmul

SLABS, WARPS = 6, 4
TENSOR_CLOCKS = 8
SHARED_CLOCKS = {"v4": 4, "v2": 2}


@cache
def report(layout: Layout) -> Report:
    found = run_matmul(MatmulSpec(layout), (128, 128, 32 * SLABS)).report
    assert found is not None
    return found


def main_loop(layout: Layout) -> Region:
    loop = report(layout).main_loop
    assert loop is not None
    return loop


def steps(loop: Region) -> int:
    """How often the body ran: each warp branches back once a step."""
    return max(s.count.warps for s in loop.statements if s.instruction.form.opcode == "bra") // WARPS


every_layout = pytest.mark.parametrize("layout", Layout, ids=lambda layout: layout.value)


@every_layout
def test_one_barrier_for_each_slab(layout: Layout) -> None:
    loop = main_loop(layout)
    barriers = sum(s.count.warps for s in loop.statements if s.instruction.form.opcode == "bar")
    assert barriers == steps(loop) * WARPS


@every_layout
def test_no_bank_conflicts_anywhere(layout: Layout) -> None:
    assert report(layout).conflicts == 0


@every_layout
def test_global_loads_use_full_sectors(layout: Layout) -> None:
    loads = [s.global_ for s in main_loop(layout).statements if s.instruction.form.name.startswith("ld.global")]
    assert loads
    assert all(traffic.efficiency == 1.0 for traffic in loads)


@every_layout
def test_two_thirds_of_the_instructions_multiply(layout: Layout) -> None:
    assert main_loop(layout).share("mma") >= 0.65


@every_layout
def test_the_tensor_pipe_is_the_busiest(layout: Layout) -> None:
    """A warp's m8n8k4 hold its tensor pipe 8 clocks each; one shared pipe serves all 4 warps, 4 clocks for 128 bits."""
    loop = main_loop(layout)
    tensor = shared = 0
    for statement in loop.statements:
        words = statement.instruction.form.name.split(".")
        if words[0] == "mma":
            tensor += TENSOR_CLOCKS * statement.count.warps
        elif words[:2] in (["ld", "shared"], ["st", "shared"]):
            shared += next((SHARED_CLOCKS[w] for w in words if w in SHARED_CLOCKS), 1) * statement.count.warps
    issue = loop.total.warps
    assert max(issue / WARPS, shared) <= 0.70 * tensor / WARPS
