"""Memory: spaces, widths, bounds, alignment, what was never written, atomics, arguments."""

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve

from isa.types import b8, b16, b32, f16, f32, s8, u32, u64
from ptxgen.build import Module, array, pointer
from ptxgen.errors import LaunchError
from ptxgen.ir import Function, Scope, Space, Variable
from ptxgen.simulate import Check, simulate, simulator, unwritten


def codes(report) -> set[str]:
    return {finding.code for finding in report.findings}


def copy_kernel(width: int, vector: int) -> Module:
    """Thread i copies element i; the count of threads is given."""
    name = f".v{vector}" if vector > 1 else ""
    module = Module("sm_70")
    with module.kernel("copy", source=pointer(b32), target=pointer(b32), n=u32) as k:
        thread = k.mad.lo.u32(k.ctaid.x, k.ntid.x, k.tid.x)
        offset = k.mul.wide.u32(thread, width // 8 * vector)
        with k.when(k.setp.lt.u32(thread, k.args.n)):
            value = k.emit(f"ld.global{name}.b{width}", k.add.s64(k.args.source, offset))
            k.emit(f"st.global{name}.b{width}", k.add.s64(k.args.target, offset), value)
    return module


@pytest.mark.parametrize(
    "width, vector", [(8, 1), (16, 1), (32, 1), (64, 1), (8, 4), (16, 2), (16, 4), (32, 2), (32, 4), (64, 2)]
)
def test_every_width_and_vector(width, vector):
    each = width // 8 * vector
    source = np.random.default_rng(width).integers(0, 256, 96 * each, dtype=np.uint8)
    target = unwritten(np.zeros(96 * each, np.uint8))
    report = simulate(copy_kernel(width, vector).build(), grid=2, block=64, args=(source, target, 96)).raise_findings()
    assert (source == target.array).all()
    assert all(site.global_.efficiency == 1 for site in report.global_sites)


def test_out_of_bounds_by_one_element():
    source, target = np.zeros(100, np.uint32), np.zeros(100, np.uint32)
    report = simulate(copy_kernel(32, 1).build(), grid=1, block=128, args=(source, target, 101))
    assert codes(report) == {"memory.bounds"}
    assert [fault.thread for fault in report.findings] == [(100, 0, 0)] * 2
    assert [fault.count for fault in report.findings] == [1, 1]


def test_misaligned_accesses():
    source, target = np.zeros(400, np.uint8), np.zeros(400, np.uint8)
    report = simulate(copy_kernel(32, 2).build(), grid=1, block=32, args=((source, 4), target, 32))
    assert codes(report) == {"memory.misaligned"}
    assert report.findings[0].count == 32


def test_reading_what_nothing_wrote():
    source, target = unwritten(np.zeros(32, np.uint32)), np.zeros(32, np.uint32)
    module = copy_kernel(32, 1).build()
    assert codes(simulate(module, grid=1, block=32, args=(source, target, 32))) == {"uninitialised.global"}
    few = frozenset({Check.RACES, Check.TRAFFIC})
    assert not simulate(module, grid=1, block=32, args=(source, target, 32), checks=few).findings


def test_shared_memory_out_of_bounds_and_unwritten():
    module = Module("sm_70")
    with module.kernel("beyond", out=pointer(u32)) as k:
        tile = k.mov.u32(k.shared(b32, 32))
        mine = k.mad.lo.u32(k.tid.x, 4, tile)
        k.st.global_.b32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4)), k.ld.shared.b32(mine))
        k.st.shared.b32(mine + 4, k.tid.x)
    report = simulate(module.build(), grid=1, block=32, args=(np.zeros(32, np.uint32),))
    assert {"memory.bounds", "uninitialised.shared"} <= codes(report)
    bounds = next(each for each in report.findings if each.code == "memory.bounds")
    assert bounds.thread == (31, 0, 0)


def test_bytes_are_extended_by_their_sign():
    module = Module("sm_70")
    with module.kernel("bytes", source=pointer(s8), out=pointer(u32)) as k:
        signed, unsigned = k.register(u32), k.register(u32)
        address = k.add.s64(k.args.source, k.cvt.s64.s32(k.cvt.s32.u32(k.tid.x)))
        k.ld.global_.s8(address, into=signed)
        k.ld.global_.u8(address, into=unsigned)
        k.cvt.s8.u32(unsigned, into=unsigned)
        same = k.setp.eq.u32(signed, unsigned)
        k.selp.u32(signed, 12345, same, into=signed)
        k.st.global_.u32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4)), signed)
    source, out = np.arange(256, dtype=np.uint8), np.zeros(256, np.int32)
    simulate(module.build(), grid=1, block=256, args=(source, out)).raise_findings()
    assert (out == source.view(np.int8)).all()


def test_generic_addresses_find_their_space():
    module = Module("sm_70")
    with module.kernel("generic", data=pointer(u32)) as k:
        tile = k.shared(b32, 32)
        shared = k.cvta.shared.u64(k.cvt.u64.u32(k.mov.u32(tile)))
        far = k.cvta.global_.u64(k.args.data)
        offset = k.mul.wide.u32(k.tid.x, 4)
        near = k.add.s64(shared, offset)
        k.st.b32(near, k.ld.b32(k.add.s64(far, offset)))
        odd = k.setp.ne.u32(k.and_.b32(k.tid.x, 1), 0)
        place = k.selp.b64(k.add.s64(far, offset), near, odd)
        k.st.b32(place, k.add.u32(k.ld.b32(place), 1000))
        k.st.b32(k.add.s64(far, offset), k.ld.b32(near))
    data = np.arange(32, dtype=np.uint32)
    simulate(module.build(), grid=1, block=32, args=(data,)).raise_findings()
    assert data.tolist() == [lane if lane % 2 else lane + 1000 for lane in range(32)]


def shared_addresses(module: Module, sizes: int) -> list[int]:
    out = np.zeros(sizes, np.uint64)
    simulate(module.build(), grid=1, block=1, args=(out,), shared_bytes=64).raise_findings()
    return out.tolist()


@pytest.mark.parametrize("name, base", [("sm_70", 0), ("sm_89", 0), ("sm_90a", 1024), ("sm_120", 1024)])
def test_shared_variables_begin_where_the_target_puts_them(name: str, base: int):
    module = Module(name)
    with module.kernel("places", out=pointer(u64)) as k:
        wide = k.shared(b8, 48, align=4096)
        arrays = (k.shared(b8, 20, name="first"), wide, k.dynamic_shared(256))
        for place, array_ in enumerate(arrays):
            k.st.global_.u64(k.args.out + 8 * place, k.mov.u64(array_))
    first, second, dynamic = shared_addresses(module, 3)
    assert min(first, second) >= base
    assert (second % 4096, dynamic % 256) == (0, 0)
    assert dynamic >= max(first + 20, second + 48)


def swaps_buffers(name: str) -> Module:
    """Two buffers of 1024 bytes, told apart by flipping a bit of the address: right only where they begin at 0."""
    module = Module(name)
    with module.kernel("swaps", out=pointer(u32)) as k:
        mine = k.mad.lo.u32(k.tid.x, 4, k.mov.u32(k.shared(b32, 512, align=1024)))
        k.st.shared.b32(k.xor.b32(mine, 1024), k.tid.x)
        read = k.ld.shared.b32(k.xor.b32(mine, 1024))
        k.st.global_.b32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4)), read)
    return module


def test_a_flipped_bit_of_an_address_is_found_where_shared_memory_does_not_begin_at_0():
    out = np.zeros(32, np.uint32)
    simulate(swaps_buffers("sm_80").build(), grid=1, block=32, args=(out,)).raise_findings()
    assert out.tolist() == list(range(32))
    report = simulate(swaps_buffers("sm_90").build(), grid=1, block=32, args=(out,))
    assert codes(report) == {"memory.bounds"}
    assert report.findings[0].address == 0
    elsewhere = simulate(swaps_buffers("sm_80").build(), target="sm_90", grid=1, block=32, args=(out,))
    assert codes(elsewhere) == {"memory.bounds"}


def test_dynamic_shared_memory():
    module = Module("sm_70")
    with module.kernel("dynamic", out=pointer(u32)) as k:
        k.shared(b8, 20)
        base = k.mov.u32(k.dynamic_shared())
        k.st.shared.b32(k.mad.lo.u32(k.tid.x, 4, base), k.tid.x)
        k.st.global_.b32(
            k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4)), k.ld.shared.b32(k.mad.lo.u32(k.tid.x, 4, base))
        )
    out = np.zeros(64, np.uint32)
    simulate(module.build(), grid=1, block=64, args=(out,), shared_bytes=256).raise_findings()
    assert out.tolist() == list(range(64))
    assert "memory.bounds" in codes(simulate(module.build(), grid=1, block=64, args=(out,), shared_bytes=252))


def test_two_ctas_writing_one_word_race():
    module = Module("sm_70")
    with module.kernel("clash", out=pointer(u32)) as k, k.when(k.setp.eq.u32(k.tid.x, 0)):
        k.st.global_.u32(k.args.out, k.ctaid.x)
    assert codes(simulate(module.build(), grid=2, block=32, args=(np.zeros(1, np.uint32),))) == {"race.global"}
    assert not simulate(module.build(), grid=1, block=32, args=(np.zeros(1, np.uint32),)).findings


def test_writing_over_what_another_thread_read_races():
    """Every thread reads its neighbour's word and then writes its own, in place."""
    module = Module("sm_70")
    with module.kernel("rotate", data=pointer(u32)) as k:
        mine = k.add.s64(k.args.data, k.mul.wide.u32(k.tid.x, 4))
        other = k.add.s64(k.args.data, k.mul.wide.u32(k.xor.b32(k.tid.x, 32), 4))
        k.st.global_.u32(mine, k.ld.global_.u32(other))
    report = simulate(module.build(), grid=1, block=64, args=(np.zeros(64, np.uint32),))
    assert codes(report) == {"race.global"}
    assert "read, with nothing" in str(report)


def test_one_lane_writing_over_what_all_lanes_read_races():
    module = Module("sm_70")
    with module.kernel("broadcast", out=pointer(u32)) as k:
        tile = k.mov.u32(k.shared(b32, 1))
        last = k.setp.eq.u32(k.tid.x, 31)
        with k.guard(last):
            k.st.shared.b32(tile, 1)
        k.bar.sync(0)
        k.st.global_.b32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4)), k.ld.shared.b32(tile))
        with k.guard(last):
            k.st.shared.b32(tile, 2)
    assert codes(simulate(module.build(), grid=1, block=32, args=(np.zeros(32, np.uint32),))) == {"race.shared"}


def test_neighbouring_halves_do_not_race():
    module = Module("sm_70")
    with module.kernel("halves", out=pointer(f16)) as k:
        address = k.add.s64(k.args.out, k.mul.wide.u32(k.mad.lo.u32(k.ctaid.x, k.ntid.x, k.tid.x), 2))
        k.st.global_.b16(address, k.cvt.u16.u32(k.tid.x))
    out = np.zeros(33 * 2, np.uint16)
    simulate(module.build(), grid=2, block=33, args=(out,)).raise_findings()
    assert out.tolist() == [*range(33), *range(33)]


ATOMICS: dict[str, Callable[[list[int]], int]] = {
    "add.u32": lambda values: sum(values) % 2**32,
    "min.u32": min,
    "max.u32": max,
    "or.b32": lambda values: int(np.bitwise_or.reduce(np.array(values, np.uint32))),
    "xor.b32": lambda values: int(np.bitwise_xor.reduce(np.array(values, np.uint32))),
}


@pytest.mark.parametrize("name", ATOMICS)
@pytest.mark.parametrize("opcode", ["atom", "red"])
def test_atomics_on_few_addresses(opcode, name):
    module = Module("sm_70")
    with module.kernel("many", values=pointer(u32), out=pointer(u32)) as k:
        thread = k.mad.lo.u32(k.ctaid.x, k.ntid.x, k.tid.x)
        value = k.ld.global_.u32(k.add.s64(k.args.values, k.mul.wide.u32(thread, 4)))
        bucket = k.add.s64(k.args.out, k.mul.wide.u32(k.and_.b32(thread, 3), 4))
        k.emit(f"{opcode}.global.{name}", bucket, value)
    values = np.random.default_rng(0).integers(0, 1 << 32, 512, dtype=np.uint32)
    out = np.full(4, 5, np.uint32)
    simulate(module.build(), grid=4, block=128, args=(values, out)).raise_findings()
    assert out.tolist() == [ATOMICS[name]([5, *values[bucket::4].tolist()]) for bucket in range(4)]


def test_atomics_return_the_old_value_in_lane_order():
    module = Module("sm_70")
    with module.kernel("tickets", counter=pointer(f32), out=pointer(f32)) as k:
        old = k.atom.global_.add.f32(k.args.counter, 1.0)
        k.st.global_.f32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4)), old)
    counter, out = np.array([10.0], np.float32), np.zeros(64, np.float32)
    simulate(module.build(), grid=1, block=64, args=(counter, out)).raise_findings()
    assert out.tolist() == [10.0 + i for i in range(64)]
    assert counter[0] == 74


def test_a_plain_read_of_an_atomic_word_races():
    module = Module("sm_70")
    with module.kernel("mixed", counter=pointer(u32), out=pointer(u32)) as k:
        k.red.global_.add.u32(k.args.counter, 1)
        k.st.global_.u32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4)), k.ld.global_.u32(k.args.counter))
    report = simulate(module.build(), grid=1, block=64, args=(np.zeros(1, np.uint32), np.zeros(64, np.uint32)))
    assert codes(report) == {"race.global"}


def test_scalar_and_array_parameters():
    module = Module("sm_70")
    with module.kernel("mixed", a=f32, block=array(b16, 3), n=u64, out=pointer(u32)) as k:
        k.st.global_.f32(k.args.out, k.args.a)
        k.st.global_.u64(k.args.out + 8, k.args.n)
    out = np.zeros(4, np.uint32)
    simulate(module.build(), grid=1, block=1, args={"a": 1.5, "block": b"abcdef", "n": 1 << 40, "out": out})
    assert out[:1].view(np.float32)[0] == 1.5
    assert out[2:].view(np.uint64)[0] == 1 << 40


def test_overlapping_arrays_share_memory():
    whole = np.arange(200, dtype=np.uint32)
    simulate(copy_kernel(32, 1).build(), grid=1, block=64, args=(whole[:64], whole[100:164], 64)).raise_findings()
    assert whole[100:164].tolist() == list(range(64))
    assert whole[164:].tolist() == list(range(164, 200))


@pytest.mark.parametrize("args, words", [
    ((np.zeros(4), 3), "takes 3 arguments"),
    ((np.zeros(4), np.zeros(4), -1), "u32 and cannot hold -1"),
    ((np.zeros(4), np.zeros(4), 1.5), r"n of copy is a \.u32, got 1.5"),
    ((np.zeros((4, 4))[:, 1], np.zeros(4), 1), "must be contiguous"),
    ((np.zeros(4), np.zeros(4), np.zeros(4)), "holds no address"),
])  # fmt: skip
def test_arguments_that_do_not_fit(args, words):
    with pytest.raises(LaunchError, match=words):
        simulate(copy_kernel(32, 1).build(), grid=1, block=32, args=args)


def test_launches_that_do_not_fit():
    args = (np.zeros(4), np.zeros(4), 1)
    with pytest.raises(LaunchError, match="at most 1024 threads"):
        simulate(copy_kernel(32, 1).build(), grid=1, block=(32, 64), args=args)
    with pytest.raises(LaunchError, match="grid must be"):
        simulate(copy_kernel(32, 1).build(), grid=0, block=32, args=args)
    with pytest.raises(LookupError, match="copy"):
        simulate(copy_kernel(32, 1).build(), "other", grid=1, block=32, args=args)


def test_variables_of_the_module():
    module = Module("sm_70")
    table = module.variable("table", u32, (4,), space="const", init=(10, 20, 30, 40))
    total = module.variable("total", u32, space="global", init=5)
    with module.kernel("look", out=pointer(u32)) as k:
        base = k.mov.u64(table)
        offset = k.mul.wide.u32(k.and_.b32(k.tid.x, 3), 4)
        value = k.ld.const.u32(k.add.u64(base, offset))
        old = k.atom.global_.add.u32(k.mov.u64(total), value)
        k.st.global_.u32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4)), old)
    out = np.zeros(8, np.uint32)
    simulate(module.build(), grid=1, block=8, args=(out,)).raise_findings()
    assert out.tolist() == [5, 15, 35, 65, 105, 115, 135, 165]


def test_local_memory_belongs_to_a_thread():
    module = Module("sm_70")
    with module.kernel("stack", out=pointer(u32)) as k:
        place = k.shl.b32(k.and_.b32(k.tid.x, 3), 2)
        k.st.local.u32(place, k.tid.x)
        value = k.ld.local.u32(place)
        k.st.global_.u32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4)), value)
    built = module.build()
    (kernel,) = built.items
    assert isinstance(kernel, Function)
    assert kernel.body is not None
    body = Scope((Variable("room", u32, Space.LOCAL, (4,)), *kernel.body.statements))
    out = np.zeros(64, np.uint32)
    roomy = evolve(built, items=(evolve(kernel, body=body),))
    simulate(roomy, grid=1, block=64, args=(out,)).raise_findings()
    assert out.tolist() == list(range(64))
    assert codes(simulate(built, grid=1, block=64, args=(out,))) == {"memory.bounds"}


def test_a_decoded_kernel_runs_again_with_other_arguments():
    decoded = simulator(copy_kernel(32, 1).build())
    for count, block in [(10, 32), (200, 64), (64, 32)]:
        source, target = np.arange(count, dtype=np.uint32), np.zeros(count, np.uint32)
        decoded.run(grid=-(-count // block), block=block, args=(source, target, count)).raise_findings()
        assert (source == target).all()
