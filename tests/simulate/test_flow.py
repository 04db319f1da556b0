"""Branches, loops, barriers, warps: what threads compute when they part and meet."""

import numpy as np
import pytest
from attrs import evolve

from isa.types import b32, f32, u32
from ptxgen.build import Module, pointer
from ptxgen.errors import KernelError
from ptxgen.ir import Instruction, Scope
from ptxgen.parse import parse
from ptxgen.simulate import LimitReached, simulate


def codes(report) -> set[str]:
    return {finding.code for finding in report.findings}


def thread_address(k, base, bytes_each: int = 4):
    """The address of this thread's element, by its number in the grid."""
    thread = k.mad.lo.u32(k.ctaid.x, k.ntid.x, k.tid.x)
    return thread, k.add.s64(base, k.mul.wide.u32(thread, bytes_each))


def collatz_kernel() -> Module:
    module = Module("sm_70")
    with module.kernel("collatz", starts=pointer(u32), steps=pointer(u32)) as k:
        _, source = thread_address(k, k.args.starts)
        _, target = thread_address(k, k.args.steps)
        value = k.register(u32)
        k.ld.global_.u32(source, into=value)
        count = k.register(u32, 0)
        with k.loop() as rounds:
            rounds.break_(k.setp.le.u32(value, 1))
            odd = k.setp.ne.u32(k.and_.b32(value, 1), 0)
            with k.when(odd):
                k.mad.lo.u32(value, 3, 1, into=value)
            with k.otherwise():
                k.shr.u32(value, 1, into=value)
            k.add.u32(count, 1, into=count)
        k.st.global_.u32(target, count)
    return module


def collatz(value: int) -> int:
    steps = 0
    while value > 1:
        value = 3 * value + 1 if value % 2 else value // 2
        steps += 1
    return steps


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_divergent_loops(seed):
    starts = np.arange(256, dtype=np.uint32)
    steps = np.zeros(256, np.uint32)
    report = simulate(collatz_kernel().build(), grid=2, block=128, args=(starts, steps), seed=seed).raise_findings()
    assert steps.tolist() == [collatz(value) for value in range(256)]
    rounds = sum(max(collatz(each) for each in range(start, start + 32)) for start in range(0, 256, 32))
    shifts = next(each for each in report.statements if each.instruction.form.name == "add.u32")
    assert shifts.count.lanes == sum(map(collatz, range(256)))
    if seed is None:
        assert shifts.count.warps == rounds
        assert report.counts["st.global.u32"].warps == 8
        assert report.main_loop is not None
        assert report.main_loop.counts["add.u32"].warps == rounds


def test_partial_warps_and_three_dimensions():
    module = Module("sm_70")
    with module.kernel("where", out=pointer(u32)) as k:
        row = k.mad.lo.u32(k.tid.z, k.ntid.y, k.tid.y)
        place = k.mad.lo.u32(row, k.ntid.x, k.tid.x)
        cta = k.mad.lo.u32(k.ctaid.y, k.nctaid.x, k.ctaid.x)
        place = k.mad.lo.u32(cta, 5 * 3 * 2, place)
        value = k.mad.lo.u32(k.tid.z, 100, k.tid.x)
        value = k.mad.lo.u32(k.tid.y, 10, value)
        value = k.mad.lo.u32(k.ctaid.y, 1000, value)
        k.st.global_.u32(k.add.s64(k.args.out, k.mul.wide.u32(place, 4)), value)
    out = np.zeros((3, 2, 2, 3, 5), np.uint32)
    simulate(module.build(), grid=(2, 3), block=(5, 3, 2), args=(out,)).raise_findings()
    y, _, z, j, i = np.indices(out.shape)
    assert (out == 1000 * y + 100 * z + 10 * j + i).all()


def test_special_registers_are_converted_directly_and_w_is_0():
    lines = ("cvt.u32.u16 %r, %tid.x;", "cvt.s64.u32 %rd, %ntid.w; cvt.u32.u64 %q, %rd; add.u32 %r, %r, %q;")
    module = parse(
        ".version 8.0\n.target sm_70\n.visible .entry k(.param .u64 out) {\n.reg .u32 %r, %q; .reg .u64 %rd, %p;\n"
        "mov.b64 %rd, {%tid.x, %tid.w}; ld.param.u64 %p, [out]; mad.lo.u64 %p, %rd, 4, %p;\n"
        + "\n".join(lines)
        + "st.global.u32 [%p], %r; ret;\n}\n"
    )
    out = np.full(300, 7, np.uint32)
    simulate(module, grid=(1,), block=(300,), args=(out,)).raise_findings()
    assert (out == np.arange(300)).all()


def reversal(*, barrier: bool = True) -> Module:
    """Each CTA reverses its 128 words through shared memory."""
    module = Module("sm_70")
    with module.kernel("reverse", data=pointer(u32)) as k:
        _, address = thread_address(k, k.args.data)
        tile = k.shared(b32, 128)
        base = k.mov.u32(tile)
        mine = k.mad.lo.u32(k.tid.x, 4, base)
        k.st.shared.b32(mine, k.ld.global_.b32(address))
        if barrier:
            k.bar.sync(0)
        back = k.sub.u32(127, k.tid.x)
        k.st.global_.b32(address, k.ld.shared.b32(k.mad.lo.u32(back, 4, base)))
    return module


@pytest.mark.parametrize("seed", [None, 3])
def test_exchange_through_shared_memory(seed):
    data = np.arange(128 * 5, dtype=np.uint32)
    simulate(reversal().build(), grid=5, block=128, args=(data,), seed=seed).raise_findings()
    assert (data.reshape(5, 128) == np.arange(640).reshape(5, 128)[:, ::-1]).all()


def test_a_missing_barrier_is_a_race():
    data = np.arange(128 * 5, dtype=np.uint32)
    report = simulate(reversal(barrier=False).build(), grid=5, block=128, args=(data,))
    assert "race.shared" in codes(report)
    fault = next(each for each in report.findings if each.code == "race.shared")
    assert fault.origin is not None
    assert fault.origin.function == "reversal"
    assert "ld.shared" in fault.text
    assert fault.related
    assert fault.thread == (0, 0, 0)
    assert fault.address == 127 * 4


def test_barrier_under_a_divergent_branch():
    module = Module("sm_70")
    with module.kernel("apart") as k:
        with k.when(k.setp.lt.u32(k.tid.x, 16)):
            k.bar.sync(0)
        k.bar.sync(1)
    assert "barrier.divergent" in codes(simulate(module.build(checked=False), grid=1, block=64, args=()))


def test_warps_at_different_barriers_are_a_deadlock():
    module = Module("sm_70")
    with module.kernel("stuck") as k:
        first = k.setp.lt.u32(k.tid.x, 32)
        with k.when(first):
            k.bar.sync(0)
        with k.otherwise():
            k.bar.sync(1)
    report = simulate(module.build(), grid=1, block=64, args=())
    assert codes(report) == {"deadlock"}
    assert "barrier 1 (statement" in str(report)


def test_ended_warps_are_not_waited_for():
    module = Module("sm_70")
    with module.kernel("early", out=pointer(u32)) as k:
        last = k.setp.ge.u32(k.tid.x, 32)
        with k.guard(last):
            k.exit()
        k.bar.sync(0)
        _, address = thread_address(k, k.args.out)
        k.st.global_.u32(address, 1)
    out = np.zeros(96, np.uint32)
    simulate(module.build(), grid=1, block=96, args=(out,)).raise_findings()
    assert out.sum() == 32


def producer_consumer(*, arrive: bool) -> Module:
    """Warp 0 fills a tile and arrives, warp 1 waits for 64 threads and reads it."""
    module = Module("sm_70")
    with module.kernel("roles", out=pointer(u32)) as k:
        tile = k.mov.u32(k.shared(b32, 32))
        lane = k.and_.b32(k.tid.x, 31)
        mine = k.mad.lo.u32(lane, 4, tile)
        with k.when(k.setp.lt.u32(k.tid.x, 32)):
            k.st.shared.b32(mine, lane)
            k.bar.arrive(1, 64) if arrive else k.bar.arrive(2, 64)
        with k.otherwise():
            k.bar.sync(1, 64) if arrive else None
            neighbour = k.xor.b32(mine, 4)
            k.st.global_.b32(k.add.s64(k.args.out, k.mul.wide.u32(lane, 4)), k.ld.shared.b32(neighbour))
    return module


def test_arrival_orders_what_was_written():
    out = np.zeros(32, np.uint32)
    simulate(producer_consumer(arrive=True).build(), grid=1, block=64, args=(out,)).raise_findings()
    assert out.tolist() == [lane ^ 1 for lane in range(32)]
    assert "race.shared" in codes(
        simulate(producer_consumer(arrive=False).build(checked=False), grid=1, block=64, args=(out,))
    )


def neighbours(*, synchronise: bool) -> Module:
    """Lanes of one warp exchange through shared memory."""
    module = Module("sm_70")
    with module.kernel("lanes", out=pointer(u32)) as k:
        tile = k.mov.u32(k.shared(b32, 32))
        mine = k.mad.lo.u32(k.tid.x, 4, tile)
        k.st.shared.b32(mine, k.tid.x)
        if synchronise:
            k.bar.warp.sync(0xFFFFFFFF)
        k.st.global_.b32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4)), k.ld.shared.b32(k.xor.b32(mine, 4)))
    return module


def test_lanes_of_a_warp_need_the_warp_barrier():
    out = np.zeros(32, np.uint32)
    simulate(neighbours(synchronise=True).build(), grid=1, block=32, args=(out,)).raise_findings()
    assert out.tolist() == [lane ^ 1 for lane in range(32)]
    assert codes(simulate(neighbours(synchronise=False).build(), grid=1, block=32, args=(out,))) == {"race.shared"}


SHUFFLES = {
    "bfly": lambda lane, by: lane ^ by,
    "down": lambda lane, by: lane + by if lane + by < 32 else lane,
    "up": lambda lane, by: lane - by if lane >= by else lane,
    "idx": lambda lane, by: by,
}


@pytest.mark.parametrize("mode", SHUFFLES)
@pytest.mark.parametrize("by", [1, 5, 16])
def test_shuffles(mode, by):
    module = Module("sm_70")
    with module.kernel("exchange", out=pointer(u32)) as k:
        value = k.mad.lo.u32(k.tid.x, 3, 7)
        clamp = 0 if mode == "up" else 31
        taken = k.emit(f"shfl.sync.{mode}.b32", value, by, clamp, 0xFFFFFFFF)
        _, address = thread_address(k, k.args.out)
        k.st.global_.b32(address, taken)
    out = np.zeros(64, np.uint32)
    simulate(module.build(), grid=1, block=64, args=(out,)).raise_findings()
    assert out.tolist() == [3 * (warp * 32 + SHUFFLES[mode](lane, by)) + 7 for warp in range(2) for lane in range(32)]


def test_votes_and_ballots():
    module = Module("sm_70")
    with module.kernel("votes", out=pointer(u32)) as k:
        p = k.setp.lt.u32(k.tid.x, 40)
        ballot = k.vote.sync.ballot.b32(p, 0xFFFFFFFF)
        all_of = k.selp.u32(1, 0, k.vote.sync.all.pred(p, 0xFFFFFFFF))
        any_of = k.selp.u32(1, 0, k.vote.sync.any.pred(p, 0xFFFFFFFF))
        address = k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 16))
        k.st.global_.v4.u32(address, (ballot, all_of, any_of, k.activemask.b32()))
    out = np.zeros((96, 4), np.uint32)
    simulate(module.build(), grid=1, block=96, args=(out,)).raise_findings()
    full = 0xFFFFFFFF
    assert out[::32].tolist() == [[full, 1, 1, full], [0xFF, 0, 1, full], [0, 0, 0, full]]


def test_a_shuffle_waits_for_its_lanes_or_reports_them():
    module = Module("sm_70")
    with module.kernel("half", out=pointer(u32)) as k:
        _, address = thread_address(k, k.args.out)
        with k.when(k.setp.lt.u32(k.tid.x, 8)):
            k.st.global_.b32(address, k.shfl.sync.bfly.b32(k.tid.x, 1, 31, 0xFFFFFFFF))
    report = simulate(module.build(checked=False), grid=1, block=32, args=(np.zeros(32, np.uint32),))
    assert codes(report) == {"warp.divergent"}


def lock_kernel() -> Module:
    """Every thread takes the same lock, adds to a plain counter and lets go."""
    module = Module("sm_70")
    with module.kernel("lock", state=pointer(u32), counter=pointer(u32)) as k, k.loop() as rounds:
        old = k.atom.global_.cas.b32(k.args.state, 0, 1)
        won = k.setp.eq.u32(old, 0)
        with k.when(won):
            k.membar.gl()
            value = k.ld.volatile.global_.u32(k.args.counter)
            k.st.volatile.global_.u32(k.args.counter, k.add.u32(value, 1))
            k.membar.gl()
            k.atom.global_.exch.b32(k.args.state, 0)
        rounds.break_(won)
    return module


def test_a_lock_taken_by_every_thread_advances():
    state, counter = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    report = simulate(lock_kernel().build(), grid=1, block=64, args=(state, counter), limit=2_000_000)
    assert counter[0] == 64
    assert state[0] == 0
    report.raise_findings()


def test_a_lock_behind_a_spinning_loop_advances():
    """The loop comes first in the order of blocks; the owner of the lock stands behind it and must get its turn."""
    module = Module("sm_70")
    with module.kernel("spin", state=pointer(u32), counter=pointer(u32)) as k:
        with k.loop() as rounds:
            rounds.break_(k.setp.eq.u32(k.atom.global_.cas.b32(k.args.state, 0, 1), 0))
        k.membar.gl()
        value = k.ld.volatile.global_.u32(k.args.counter)
        k.st.volatile.global_.u32(k.args.counter, k.add.u32(value, 1))
        k.membar.gl()
        k.atom.global_.exch.b32(k.args.state, 0)
    state, counter = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    simulate(module.build(), grid=1, block=64, args=(state, counter), limit=500_000).raise_findings()
    assert counter[0] == 64


@pytest.mark.parametrize("seed", [None, *range(8)])
def test_a_barrier_that_halves_of_a_warp_reach_apart(seed):
    module = Module("sm_70")
    with module.kernel("halves", out=pointer(u32)) as k:
        tile = k.mov.u32(k.shared(b32, 64))
        mine = k.mad.lo.u32(k.tid.x, 4, tile)
        with k.when(k.setp.lt.u32(k.and_.b32(k.tid.x, 31), 16)):
            k.st.shared.b32(mine, k.tid.x)
            k.barrier.sync(0)
        with k.otherwise():
            k.st.shared.b32(mine, k.add.u32(k.tid.x, 1000))
            k.barrier.sync(0)
        _, address = thread_address(k, k.args.out)
        k.st.global_.b32(address, k.ld.shared.b32(k.xor.b32(mine, 4 * 48)))
    out = np.zeros(64, np.uint32)
    simulate(module.build(), grid=1, block=64, args=(out,), seed=seed).raise_findings()
    other = np.arange(64) ^ 48
    assert out.tolist() == (other + 1000 * (other % 32 >= 16)).tolist()


def test_the_limit_stops_an_endless_loop():
    module = Module("sm_70")
    with module.kernel("endless") as k, k.loop() as rounds:
        rounds.continue_()
    with pytest.raises(LimitReached):
        simulate(module.build(), grid=1, block=32, args=(), limit=1000)


def test_unknown_instructions_are_listed_before_anything_runs():
    module = Module("sm_100a")
    with module.kernel("unknown", out=pointer(u32)) as k:
        _, address = thread_address(k, k.args.out)
        stochastic = k.emit("cvt.rs.bf16x2.f32", k.mov.f32(1.0), k.mov.f32(2.0), k.mov.b32(7))
        k.st.global_.u32(address, k.emit("fma.rn.oob.bf16x2", stochastic, stochastic, stochastic))
    out = np.zeros(32, np.uint32)
    with pytest.raises(KernelError, match=r"cvt\.rs\.bf16x2(.|\n)*fma\.rn\.oob"):
        simulate(module.build(), grid=1, block=32, args=(out,))


def test_uninitialised_registers_are_found_per_thread():
    module = Module("sm_70")
    with module.kernel("maybe", out=pointer(f32)) as k:
        _, address = thread_address(k, k.args.out)
        value = k.register(f32)
        first = k.setp.lt.u32(k.tid.x, 20)
        with k.guard(first):
            k.mov.f32(1.5, into=value)
        with k.guard(first):
            k.st.global_.f32(address, value)
    out = np.zeros(32, np.float32)
    simulate(module.build(), grid=1, block=32, args=(out,)).raise_findings()
    assert out.sum() == 30


def without(module, opcode: str):
    """The module's only kernel with the instructions of one opcode taken out."""
    (kernel,) = module.items
    kept = tuple(
        each for each in kernel.body.statements if not isinstance(each, Instruction) or each.form.opcode != opcode
    )
    return evolve(module, items=(evolve(kernel, body=Scope(kept)),))


def test_a_register_read_before_it_is_written():
    module = Module("sm_70")
    with module.kernel("maybe", out=pointer(u32)) as k:
        _, address = thread_address(k, k.args.out)
        value = k.register(u32)
        k.popc.b32(k.tid.x, into=value)
        with k.guard(k.setp.lt.u32(k.tid.x, 20)):
            k.add.u32(k.tid.x, 1, into=value)
        k.st.global_.u32(address, value)
    out = np.zeros(32, np.uint32)
    simulate(module.build(), grid=1, block=32, args=(out,)).raise_findings()
    report = simulate(without(module.build(), "popc"), grid=1, block=32, args=(out,))
    assert codes(report) == {"uninitialised.register"}
    (fault,) = report.findings
    assert fault.thread == (20, 0, 0)
    assert fault.count == 12
    assert out[:20].tolist() == list(range(1, 21))
