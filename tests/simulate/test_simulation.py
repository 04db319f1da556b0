"""A run step by step."""

import inspect

import numpy as np
import pytest

from isa.types import u32
from ptxgen.build import Module, pointer
from ptxgen.errors import LaunchError
from ptxgen.simulate import Simulation, simulate


def counting(rounds: int = 3):
    """Every thread adds its number `rounds` times; the line of the addition comes with the module."""
    module = Module("sm_70")
    with module.kernel("count", out=pointer(u32)) as k:
        total, thread = k.register(u32, 0, name="total"), k.tid.x
        with k.range(0, rounds):
            k.add.u32(total, thread, into=total)
            frame = inspect.currentframe()
            assert frame is not None
            line = frame.f_lineno - 3
        k.st.global_.u32(k.add.s64(k.args.out, k.mul.wide.u32(thread, 4)), total)
    return module.build(), line


def test_registers_after_each_round():
    module, line = counting()
    out = np.zeros(64, np.uint32)
    simulation = Simulation(module, grid=1, block=64, args=(out,))
    for rounds in (1, 2, 3):
        step = simulation.until(line=line)
        assert step is not None
        assert step.instruction is not None
        assert step.instruction.form.name == "add.u32"
        assert len(step.threads) == 64
        assert simulation.registers(5)["%total"] == 5 * rounds
        assert simulation.registers(63)["%total"] == 63 * rounds
    assert simulation.until(line=line) is None
    assert simulation.ended
    assert out.tolist() == [3 * thread for thread in range(64)]
    assert simulation.registers(5) == {}


def test_all_steps_are_the_whole_run():
    module, _ = counting()
    out, other = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    simulation = Simulation(module, grid=1, block=64, args=(out,))
    steps = list(simulation)
    whole = simulate(module, grid=1, block=64, args=(other,))
    assert simulation.report().total == whole.total
    assert sum(len(step.threads) for step in steps) == whole.total.lanes
    assert (out == other).all()


def test_a_watched_address():
    module, _ = counting()
    out = np.zeros(64, np.uint32)
    simulation = Simulation(module, grid=1, block=64, args=(out,))
    step = simulation.until(address=simulation.address_of(out) + 4 * 7)
    assert step is not None
    assert step.instruction is not None
    assert step.instruction.form.opcode == "st"
    simulation.report()
    assert out[7] == 21


def test_until_wants_something():
    module, _ = counting()
    simulation = Simulation(module, grid=1, block=64, args=(np.zeros(64, np.uint32),))
    with pytest.raises(LaunchError, match="wants a line"):
        simulation.until()
    with pytest.raises(LaunchError, match="no address"):
        simulation.until(address=5)
