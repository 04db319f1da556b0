"""A run step by step."""

import inspect

import numpy as np
import pytest

from isa.types import u32
from ptxgen.build import Module, pointer
from ptxgen.errors import LaunchError
from ptxgen.parse import parse
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


def test_a_trace_of_registers():
    module = parse("""
.version 7.0
.target sm_70
.address_size 64
.visible .entry sums(.param .u64 out)
{
    .reg .b32 %i, %s, %t; .reg .b64 %p; .reg .pred %q, %odd;
    ld.param.u64 %p, [out]; mov.u32 %t, %tid.x; mov.u32 %s, 0; mov.u32 %i, 0;
LOOP:
    and.b32 %s, %s, 255;
    setp.gt.u32 %odd, %t, 1;
    @%odd add.u32 %s, %s, %i;
    add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %t; @%q bra LOOP;
    st.global.u32 [%p], %s; ret;
}
""")

    def traced(thread: int) -> list[tuple[str, object]]:
        run = Simulation(module, grid=2, block=64, args=(np.zeros(1, np.uint32),))
        return [(each.register, each.value) for each in run.trace("%s", "%i", thread=thread)]

    assert traced(3) == [("%s", 0), ("%i", 0), *(pair for i, s in enumerate([0, 1, 3]) for pair in
                         (("%s", [0, 0, 1][i]), ("%s", s), ("%i", i + 1)))]  # fmt: skip
    assert traced(64 + 1) == [("%s", 0), ("%i", 0), ("%s", 0), ("%i", 1)]
    with pytest.raises(LaunchError, match="no register is called %z"):
        Simulation(module, grid=1, block=4, args=(np.zeros(1, np.uint32),)).trace("%z", thread=0)
