"""Small kernels of one kind each, with the arguments that reach all of them and what they are to compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

from isa.types import f32, u32
from ptxgen import ir
from ptxgen.build import Module, pointer
from ptxgen.parse import parse


@frozen(eq=False)
class Launch:
    """Arguments made anew by `make`, which also gives the arrays that are compared, and what these are to hold."""

    grid: int
    block: int
    make: Callable[[], tuple[Any, tuple[Any, ...]]]
    wanted: tuple[Any, ...]
    cluster: int | None = None
    shared_bytes: int = 0


@frozen(eq=False)
class Case:
    """A kernel, the launches that it is judged by, and its name where its module has others."""

    module: ir.Module
    launches: tuple[Launch, ...]
    kernel: str | None = None


def launch(grid: int, block: int, given: tuple[Any, ...], wanted: dict[int, Any], **more: Any) -> Launch:
    """A launch with copies of these arguments; `wanted` are the arrays to compare by their place."""

    def make() -> tuple[Any, tuple[Any, ...]]:
        args = [each.copy() if isinstance(each, np.ndarray) else each for each in given]
        return args, tuple(args[place] for place in wanted)

    return Launch(grid, block, make, tuple(wanted.values()), **more)


def reduction() -> Case:
    """A tree in shared memory; the last rounds keep their barrier."""
    module = Module("sm_70")
    with module.kernel("reduce", source=pointer(f32), out=pointer(f32)) as k:
        tile = k.shared(f32, (128,))
        mine = k.add.u32(k.mov.u32(tile), k.mul.lo.u32(k.tid.x, 4))
        k.st.shared.f32(mine, k.ld.global_.f32(k.add.s64(k.args.source, k.mul.wide.u32(k.tid.x, 4))))
        k.bar.sync(0)
        for step in (64, 32, 16, 8, 4, 2, 1):
            with k.when(k.setp.lt.u32(k.tid.x, step)):
                k.st.shared.f32(mine, k.add.f32(k.ld.shared.f32(mine), k.ld.shared.f32(mine + 4 * step)))
            k.bar.sync(0)
        with k.when(k.setp.eq.u32(k.tid.x, 0)):
            k.st.global_.f32(k.args.out, k.ld.shared.f32(mine))
    source = np.arange(1, 129, dtype=np.float32)
    sums = launch(1, 128, (source, np.zeros(1, np.float32)), {1: source.sum(keepdims=True)})
    return Case(module.build(), (sums,))


def transpose() -> Case:
    """Two tiles one after the other through the same shared memory."""
    module = Module("sm_70")
    with module.kernel("transpose", source=pointer(u32), out=pointer(u32)) as k:
        tile = k.shared(u32, (8, 8))
        start = k.mov.u32(tile)
        row, column = k.shr.u32(k.tid.x, 3), k.and_.b32(k.tid.x, 7)
        there = k.add.u32(start, k.mul.lo.u32(k.tid.x, 4))
        turned = k.add.u32(start, k.mul.lo.u32(k.mad.lo.u32(column, 8, row), 4))
        wide = k.mul.wide.u32(k.tid.x, 4)
        source, out = k.add.s64(k.args.source, wide), k.add.s64(k.args.out, wide)
        for part in range(2):
            k.st.shared.u32(there, k.ld.global_.u32(source + 256 * part))
            k.bar.sync(0)
            k.st.global_.u32(out + 256 * part, k.ld.shared.u32(turned))
            if part == 0:
                k.bar.sync(0)
    source = np.arange(1, 129, dtype=np.uint32)
    turned_tiles = source.reshape(2, 8, 8).transpose(0, 2, 1).reshape(-1)
    return Case(module.build(), (launch(1, 64, (source, np.zeros(128, np.uint32)), {1: turned_tiles}),))


def bounded() -> Case:
    """A sum of two arrays by blocks that go round the grid, of lengths that are no multiple of the block."""
    module = Module("sm_70")
    with module.kernel("bounded", a=pointer(f32), b=pointer(f32), n=u32) as k:
        thread = k.mad.lo.u32(k.ctaid.x, k.ntid.x, k.tid.x)
        with k.range(thread, k.args.n, 128) as place:
            wide = k.mul.wide.u32(place, 4)
            a, b = k.add.s64(k.args.a, wide), k.add.s64(k.args.b, wide)
            k.st.global_.f32(a, k.add.f32(k.ld.global_.f32(a), k.ld.global_.f32(b)))
    launches = []
    for count in (300, 256, 100):
        a, b = np.arange(count, dtype=np.float32), np.ones(count, np.float32)
        launches.append(launch(2, 64, (a, b, count), {0: a + b}))
    return Case(module.build(), tuple(launches))


def pipeline() -> Case:
    """Three tiles through two stages of shared memory, copied while the one before is read."""
    module = Module("sm_80")
    with module.kernel("pipeline", source=pointer(u32), out=pointer(u32)) as k:
        tile = k.shared(u32, (2, 64), align=16)
        mine = k.add.u32(k.mov.u32(tile), k.mul.lo.u32(k.tid.x, 4))
        other = k.add.u32(k.mov.u32(tile), k.xor.b32(k.mul.lo.u32(k.tid.x, 4), 128))
        wide = k.mul.wide.u32(k.tid.x, 4)
        source, out = k.add.s64(k.args.source, wide), k.add.s64(k.args.out, wide)

        def fetch(part: int) -> None:
            k.emit("cp.async.ca.shared.global", mine + 256 * (part % 2), source + 256 * part, 4)
            k.emit("cp.async.commit_group")

        fetch(0)
        fetch(1)
        for part in range(3):
            k.emit("cp.async.wait_group", 1 if part < 2 else 0)
            k.bar.sync(0)
            k.st.global_.u32(out + 256 * part, k.ld.shared.u32(other + 256 * (part % 2)))
            if part == 0:
                k.bar.sync(0)
                fetch(2)
    source = np.arange(1, 193, dtype=np.uint32)
    turned = source.reshape(3, 2, 32)[:, ::-1].reshape(-1)
    return Case(module.build(), (launch(1, 64, (source, np.zeros(192, np.uint32)), {1: turned}),))


HANDED = """.version 7.0
.target sm_70
.address_size 64
.visible .entry hand_over(.param .u64 source, .param .u64 data, .param .u64 flags, .param .u64 out)
{
.reg .pred %p<8>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
ld.param.u64 %rd1, [source]; ld.param.u64 %rd2, [data]; ld.param.u64 %rd3, [flags]; ld.param.u64 %rd4, [out];
mul.wide.u32 %rd5, %r1, 4; xor.b32 %r3, %r1, 32; mul.wide.u32 %rd6, %r3, 4;
add.s64 %rd1, %rd1, %rd5; add.s64 %rd7, %rd2, %rd5; add.s64 %rd8, %rd2, %rd6; add.s64 %rd4, %rd4, %rd6;
setp.ne.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r2, 0;
@%p2 bra SECOND;
ld.global.u32 %r4, [%rd1]; mul.lo.u32 %r4, %r4, 3; st.global.u32 [%rd7], %r4;
bar.sync 0;
@%p1 bra SENT;
fence.acq_rel.gpu;
st.relaxed.gpu.global.u32 [%rd3], 1;
ANSWER:
ld.acquire.gpu.global.u32 %r5, [%rd3+4];
setp.eq.u32 %p3, %r5, 0;
@%p3 bra ANSWER;
SENT:
bar.sync 0;
ld.global.u32 %r6, [%rd8+256]; add.u32 %r6, %r6, 1; st.global.u32 [%rd4], %r6;
bra END;
SECOND:
@%p1 bra CAME;
ASK:
ld.relaxed.gpu.global.u32 %r7, [%rd3];
setp.eq.u32 %p4, %r7, 0;
@%p4 bra ASK;
fence.acq_rel.gpu;
CAME:
bar.sync 0;
ld.global.u32 %r8, [%rd8]; mul.lo.u32 %r8, %r8, 5; st.global.u32 [%rd7+256], %r8;
bar.sync 0;
@%p1 bra END;
st.release.gpu.global.u32 [%rd3+4], 1;
END:
ret;
}
"""


def hand_over() -> Case:
    """Words that a block hands over to another by a flag and fences, and back by a release and an acquire."""
    source = np.arange(5, 69, dtype=np.uint32)
    given = (source, np.zeros(128, np.uint32), np.zeros(2, np.uint32), np.zeros(64, np.uint32))
    turned = source.reshape(2, 32)[::-1].reshape(-1)
    return Case(parse(HANDED), (launch(2, 64, given, {3: 15 * turned + 1}),))


def warps() -> Case:
    """Sums, votes, matches and words passed on within warps, by all lanes and by those of the lower half."""
    module = Module("sm_90")
    with module.kernel("warps", source=pointer(u32), out=pointer(u32)) as k:
        tile = k.shared(u32, (64,))
        mine = k.add.u32(k.mov.u32(tile), k.mul.lo.u32(k.tid.x, 4))
        beside = k.add.u32(k.mov.u32(tile), k.xor.b32(k.mul.lo.u32(k.tid.x, 4), 64))
        wide = k.mul.wide.u32(k.tid.x, 4)
        out = k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 32))
        value = k.ld.global_.u32(k.add.s64(k.args.source, wide))
        total = k.register(u32, value)
        for step in (16, 8, 4, 2, 1):
            k.add.u32(total, k.shfl.sync.bfly.b32(total, step, 31, 0xFFFFFFFF), into=total)
        k.st.global_.u32(out, total)
        large = k.setp.gt.u32(value, 1000)
        k.st.global_.u32(out + 4, k.vote.sync.ballot.b32(large, 0xFFFFFFFF))
        k.st.global_.u32(out + 8, k.match.any.sync.b32(k.and_.b32(value, 3), 0xFFFFFFFF))
        k.st.shared.u32(mine, value)
        k.bar.warp.sync(0xFFFFFFFF)
        k.st.global_.u32(out + 12, k.ld.shared.u32(beside))
        lane = k.and_.b32(k.tid.x, 31)
        with k.when(k.setp.lt.u32(lane, 16)):
            k.st.global_.u32(out + 16, k.redux.sync.max.u32(value, 0xFFFF))
            chosen, one = k.elect.sync(0xFFFF)
            with k.guard(one):
                k.st.global_.u32(out + 20, k.add.u32(chosen, 5, into=k.register(u32)))
            k.st.global_.u32(out + 24, k.shfl.sync.idx.b32(value, 3, 31, 0xFFFF))
    source = np.random.default_rng(0).integers(0, 2000, 64, dtype=np.uint32)
    source[[3, 7, 40]] = 999, 1000, 1001
    wanted = _of_warps(source)
    return Case(module.build(), (launch(1, 64, (source, np.zeros((64, 8), np.uint32)), {1: wanted}),))


def _of_warps(source: Any) -> Any:
    wanted = np.zeros((2, 32, 8), np.uint32)
    for warp, values in zip(wanted, source.reshape(2, 32), strict=True):
        warp[:, 0] = values.sum(dtype=np.uint32)
        warp[:, 1] = sum(1 << lane for lane in np.flatnonzero(values > 1000).tolist())
        warp[:, 2] = [sum(1 << at for at in np.flatnonzero(values & 3 == each & 3).tolist()) for each in values]
        warp[:, 3] = values[np.arange(32) ^ 16]
        warp[:16, 4] = values[:16].max()
        warp[0, 5] = 5
        warp[:16, 6] = values[3]
    return wanted.reshape(64, 8)
