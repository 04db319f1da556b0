"""Agreement within warps and CTAs, atomics of halves, matrices of a warp, copies by lanes: against plain Python."""

import ml_dtypes
import numpy as np
import pytest

from isa.types import b32, f32, pred, u32, u64
from ptxgen.build import Module, pointer
from ptxgen.simulate import simulate


def thread_address(k, base, width=4):
    return k.add.s64(base, k.mul.wide.u32(k.tid.x, width))


def by_thread(body, block=64, target="sm_90", **arrays):
    """Run `body(k, word of the thread)`; its results (words or predicates) come back as [results, block]."""
    module = Module(target)
    out = np.zeros((4, block), np.uint32)
    words = arrays.get("words", np.zeros(block, np.uint32))
    with module.kernel("one", words=pointer(u32), out=pointer(u32)) as k:
        results = body(k, k.ld.global_.u32(thread_address(k, k.args.words)))
        for row, value in enumerate(results):
            stored = k.selp.u32(1, 0, value) if value.type is pred else value
            k.st.global_.b32(thread_address(k, k.args.out) + 4 * block * row, stored)
    report = simulate(module.build(), grid=1, block=block, args=(words, out), seed=arrays.get("seed"))
    report.raise_findings()
    return out[: len(results)]


def test_match_all_and_any():
    words = np.array([7] * 32 + [7, 8] * 16, np.uint32)

    def body(k, word):
        both = k.register(u32), k.register(pred)
        k.emit("match.all.sync.b32", word, 0xFFFFFFFF, into=both)
        return [*both, k.match.any.sync.b32(word, 0xFFFFFFFF)]

    every, agreed, some = by_thread(body, words=words)
    assert every.tolist() == [0xFFFFFFFF] * 32 + [0] * 32
    assert agreed.tolist() == [1] * 32 + [0] * 32
    assert some.tolist() == [0xFFFFFFFF] * 32 + [0x55555555, 0xAAAAAAAA] * 16


def test_one_lane_is_elected():
    leader, chosen = by_thread(lambda k, word: k.emit("elect.sync", 0xFFFFFFFF))
    assert leader.tolist() == [0] * 64
    assert chosen.tolist() == [1, *[0] * 31] * 2


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_barriers_count_and_judge_the_threads_of_a_cta(seed):
    words = (np.arange(96) % 5 == 0).astype(np.uint32)

    def body(k, word):
        truth = k.setp.ne.u32(word, 0)
        results = [k.bar.red.popc.u32(0, truth), k.bar.red.and_.pred(0, truth), k.bar.red.or_.pred(0, truth)]
        return [*results, k.bar.red.popc.u32(0, k.setp.lt.u32(k.tid.x, 40))]

    count, every, some, again = by_thread(body, block=96, words=words, seed=seed)
    assert set(count.tolist()) == {int(words.sum())}
    assert (set(every.tolist()), set(some.tolist()), set(again.tolist())) == ({0}, {1}, {40})


def test_clocks_only_go_forward():
    first, second = by_thread(lambda k, word: [k.mov.u32(k.special("clock")), k.mov.u32(k.special("clock"))])
    assert (second > first).all()


@pytest.mark.parametrize("element, numpy_type", [("f16x2", np.float16), ("bf16x2", ml_dtypes.bfloat16)])
def test_atomic_sums_of_halves(element, numpy_type):
    module = Module("sm_90")
    values = np.arange(128, dtype=np.float32).astype(numpy_type)
    total = np.array([0.5, -0.25], numpy_type)
    with module.kernel("sum", values=pointer(b32), total=pointer(b32)) as k:
        k.emit(f"red.global.add.noftz.{element}", k.args.total, k.ld.global_.b32(thread_address(k, k.args.values)))
    simulate(module.build(), grid=1, block=64, args=(values.view(np.uint32), total.view(np.uint32))).raise_findings()
    wanted = [numpy_type(0.5), numpy_type(-0.25)]
    for low, high in values.reshape(-1, 2):
        wanted = [numpy_type(float(wanted[0]) + float(low)), numpy_type(float(wanted[1]) + float(high))]
    assert total.tolist() == wanted


def test_a_vector_of_atomic_sums():
    module = Module("sm_90")
    total = np.array([1, 2], np.float32)
    with module.kernel("sum", total=pointer(f32)) as k:
        k.emit("red.global.add.v2.f32", k.args.total, (k.mov.f32(1.0), k.mov.f32(0.5)))
    simulate(module.build(), grid=2, block=32, args=(total,)).raise_findings()
    assert total.tolist() == [65, 34]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_through_shared_memory(count, transposed):
    """Rows that ldmatrix hands out follow the manual's picture, and stmatrix puts them back."""
    module = Module("sm_90")
    rows = np.arange(8 * count * 8, dtype=np.uint16)
    held, back = np.zeros((count, 32), np.uint32), np.zeros_like(rows)
    trans = ".trans" if transposed else ""
    with module.kernel("move", rows=pointer(b32), held=pointer(u32), back=pointer(b32)) as k:
        tile = k.shared(b32, (count * 32,), align=16)
        copy = k.shared(b32, (count * 32,), align=16)
        start, other = k.mov.u32(tile), k.mov.u32(copy)
        word = k.mul.lo.u32(k.tid.x, 4)
        for part in range(count):
            value = k.ld.global_.b32(thread_address(k, k.args.rows) + 128 * part)
            k.st.shared.b32(k.add.u32(start, word) + 128 * part, value)
        k.bar.sync(0)
        row = k.mul.lo.u32(k.and_.b32(k.tid.x, 8 * count - 1), 16)
        made = k.emit(f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16", k.add.u32(start, row))
        for part, value in enumerate(made):
            k.st.global_.b32(thread_address(k, k.args.held) + 128 * part, value)
        k.emit(f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16", k.add.u32(other, row), made)
        k.bar.sync(0)
        for part in range(count):
            value = k.ld.shared.b32(k.add.u32(other, word) + 128 * part)
            k.st.global_.b32(thread_address(k, k.args.back) + 128 * part, value)
    args = (rows.view(np.uint32), held, back.view(np.uint32))
    simulate(module.build(), grid=1, block=32, args=args).raise_findings()
    tiles = rows.reshape(count, 8, 8)
    for matrix in range(count):
        tile_rows = tiles[matrix].T if transposed else tiles[matrix]
        for lane in range(32):
            low, high = tile_rows[lane // 4, 2 * (lane % 4) : 2 * (lane % 4) + 2]
            assert held[matrix, lane] == int(low) | int(high) << 16
    assert (back == rows).all()


def staged(waits: int | None, *, barrier: bool = True, sizes: bool = False):
    """Two groups of copies into shared memory; the first is read after a wait that leaves `waits` under way."""
    module = Module("sm_80")
    with module.kernel("staged", source=pointer(u32), out=pointer(u32)) as k:
        tile = k.shared(u32, (2 * 64,), align=16)
        mine = k.add.u32(k.mov.u32(tile), k.mul.lo.u32(k.tid.x, 4))
        for stage in range(2):
            source = thread_address(k, k.args.source) + 256 * stage
            if sizes:
                k.emit("cp.async.ca.shared.global", mine + 256 * stage, source, 4, k.and_.b32(k.tid.x, 3))
            else:
                k.emit("cp.async.ca.shared.global", mine + 256 * stage, source, 4)
            k.emit("cp.async.commit_group")
        if waits is not None:
            k.emit("cp.async.wait_group", waits)
        if barrier:
            k.bar.sync(0)
        other = k.xor.b32(k.mul.lo.u32(k.tid.x, 4), 128)
        k.st.global_.u32(thread_address(k, k.args.out), k.ld.shared.u32(k.add.u32(k.mov.u32(tile), other)))
    source, out = np.arange(128, dtype=np.uint32) + 0x01020300, np.zeros(64, np.uint32)
    return simulate(module.build(checked=False), grid=1, block=64, args=(source, out)), source, out


def test_copies_arrive_with_their_group():
    report, source, out = staged(1)
    report.raise_findings()
    assert out.tolist() == source[:64][np.arange(64) ^ 32].tolist()


def test_a_shorter_copy_fills_with_zeros():
    report, source, out = staged(0, sizes=True)
    report.raise_findings()
    place = np.arange(64) ^ 32
    assert out.tolist() == [int(source[each]) & ((1 << 8 * (each & 3)) - 1) for each in place]


@pytest.mark.parametrize("waits", [None, 2])
def test_a_missing_wait_is_found_where_the_bytes_are_read(waits):
    report, _, _ = staged(waits)
    (finding,) = report.findings
    assert finding.code == "async.shared"
    assert finding.text.startswith("ld.shared.u32")


def test_a_missing_barrier_behind_the_wait_is_a_race():
    report, _, _ = staged(0, barrier=False)
    assert [finding.code for finding in report.findings] == ["race.shared"]


def test_clocks_as_64_bits():
    module = Module("sm_70")
    out = np.zeros(2, np.uint64)
    with module.kernel("clock", out=pointer(u64)) as k:
        for place in range(2):
            k.st.global_.u64(k.args.out + 8 * place, k.mov.u64(k.special("clock64")))
    simulate(module.build(), grid=1, block=1, args=(out,)).raise_findings()
    assert out[1] > out[0] > 0


def test_redux_of_floats():
    from tests.simulate.statements import results

    values = np.array([0.0, -0.0, 1.5, -2.5, np.nan, np.inf, -np.inf, 1e-40], np.float32)
    rng = np.random.default_rng(5)
    a = np.concatenate(
        [rng.choice(values, (4, 32)), rng.choice(values[:4], (2, 32)), np.full((1, 32), np.nan, np.float32)]
    )
    a = a.astype(np.float32)
    names = [f"{op}{size}{nan}" for op in ("min", "max") for size in ("", ".abs") for nan in ("", ".NaN")]
    flat = a.ravel().view(np.uint32)
    found = results(
        [f"redux.sync.{name}.f32 %d, %a, 0xffffffff;" for name in names], flat, flat, flat, kind="b32", target="sm_100a"
    )

    def rank(value: float) -> tuple[float, float]:
        return value, np.copysign(1, value)

    for name, bits in zip(names, found.view(np.float32).reshape(len(names), -1, 32), strict=True):
        for row, lanes in zip(bits, np.abs(a) if "abs" in name else a, strict=True):
            numbers = [float(lane) for lane in lanes if not np.isnan(lane)]
            nan = ("NaN" in name and len(numbers) < 32) or not numbers
            exact = np.nan if nan else (min if name.startswith("min") else max)(numbers, key=rank)
            assert np.array_equal(row, np.full(32, np.float32(exact)), equal_nan=True), name
            assert nan or (np.signbit(row) == np.signbit(exact)).all()
