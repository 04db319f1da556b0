"""Kernels whose requests to memory are counted: by the simulator, and by a profiler around this program.

`python -m tests.device.counted` launches each once, in order, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from ptxgen import Kernel, Module, Report, b8, f32, pointer, simulate, u32
from ptxgen.ir import Module as BuiltModule
from ptxgen.kernels import (
    Matmul,
    MatmulSpec,
    MatmulTiling,
    generate,
    parse_epilogue,
    softmax_compute,
    softmax_plan,
    transpose_compute,
    transpose_plan,
)
from ptxgen.kernels.launching.binding import arrays_in_memory, bind, facts_of
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.kernels.launching.launch import prepare
from ptxgen.kernels.launching.views import DTYPES
from ptxgen.runtime import DeviceArray, load
from tests.kernels.cases import random_inputs

BLOCKS, THREADS = 4, 128


@frozen(eq=False)
class Counted:
    """A kernel with its launch; `arrays` are made anew for each run."""

    name: str
    module: BuiltModule
    grid: int
    block: int
    arrays: Callable[[], tuple[Any, ...]] = field(repr=False)
    shared_bytes: int = 0

    def simulated(self) -> Report:
        """The run on the CPU."""
        arguments = self.arrays()
        report = simulate(self.module, grid=self.grid, block=self.block, args=arguments, shared_bytes=self.shared_bytes)
        report.raise_findings()
        return report

    def launched(self) -> None:
        """The run on the GPU, which waits for its end."""
        kernel = load(self.module)[self.module.function().name]
        held = tuple(on_device(each) for each in self.arrays())
        kernel(*held, grid=self.grid, block=self.block, shared_bytes=self.shared_bytes)
        for each in held:
            if isinstance(each, DeviceArray):
                each.read(np.empty(each.shape, each.dtype))


def on_device(argument: Any) -> Any:
    """An array in device memory; a number as it is."""
    if not isinstance(argument, np.ndarray):
        return argument
    held = DeviceArray.empty(argument.shape, argument.dtype)
    held.write(argument)
    return held


def shared_pattern(name: str, width: int, unit: Callable[[Kernel, Any], Any], *, half: bool = False) -> Counted:
    """Each thread, or every second one, stores to shared memory at `unit(tid)` times `width` bytes and loads what the
    same lane of another warp has stored, all of it, since assemblers load no more than is used."""
    module = Module("sm_80")
    with module.kernel("pattern", out=pointer(u32)) as k:
        tile = k.mov.u32(k.shared(b8, 1 << 15, align=16))

        def address(thread: Any) -> Any:
            place = k.and_.b32(unit(k, thread), (1 << 15) // width - 1)
            return k.add.u32(k.mul.lo.u32(place, width), tile)

        takes_part = k.setp.eq.u32(k.and_.b32(k.tid.x, int(half)), 0)
        with k.when(takes_part):
            match width:
                case 16:
                    k.st.shared.v4.b32(address(k.tid.x), (k.tid.x,) * 4)
                case 8:
                    k.st.shared.b64(address(k.tid.x), k.cvt.u64.u32(k.tid.x))
                case _:
                    k.st.shared.b32(address(k.tid.x), k.tid.x)
        k.bar.sync(0)
        with k.when(takes_part):
            theirs = address(k.xor.b32(k.tid.x, 32))
            match width:
                case 16:
                    value, *others = k.ld.shared.v4.b32(theirs)
                    for other in others:
                        value = k.add.u32(value, other)
                case 8:
                    both = k.ld.shared.b64(theirs)
                    value = k.add.u32(k.cvt.u32.u64(both), k.cvt.u32.u64(k.shr.u64(both, 32)))
                case _:
                    value = k.ld.shared.b32(theirs)
            index = k.mad.lo.u32(k.ctaid.x, THREADS, k.tid.x)
            k.st.global_.u32(k.mad.wide.u32(index, 4, k.args.out), value)
    return Counted(name, module.build(), BLOCKS, THREADS, lambda: (np.zeros(BLOCKS * THREADS, np.uint32),))


def global_pattern(name: str, width: int, unit: Callable[[Kernel, Any], Any]) -> Counted:
    """Each thread loads `width` bytes of global memory at `unit(thread)` units, and stores four bytes in a row."""
    module = Module("sm_80")
    with module.kernel("pattern", source=pointer(u32), out=pointer(u32)) as k:
        index = k.mad.lo.u32(k.ctaid.x, THREADS, k.tid.x)
        address = k.mad.wide.u32(unit(k, index), width, k.args.source)
        match width:
            case 16:
                value, *others = k.ld.global_.v4.b32(address)
                for other in others:
                    value = k.add.u32(value, other)
            case 1:
                value = k.ld.global_.u8(address, into=k.register(u32))
            case _:
                value = k.ld.global_.u32(address)
        k.st.global_.u32(k.mad.wide.u32(index, 4, k.args.out), value)
    out = BLOCKS * THREADS
    return Counted(
        name, module.build(), BLOCKS, THREADS, lambda: (np.arange(1 << 16, dtype=np.uint32), np.zeros(out, np.uint32))
    )


def transposed(name: str, pitch: int) -> Counted:
    """A 32 x 32 tile through shared memory with rows of `pitch` words."""
    module = Module("sm_80")
    with module.kernel("transpose", source=pointer(f32), out=pointer(f32)) as k:
        tile = k.mov.u32(k.shared(f32, 32 * pitch))
        column, row = k.and_.b32(k.tid.x, 31), k.shr.u32(k.tid.x, 5)
        for step in range(0, 32, THREADS // 32):
            here = k.add.u32(row, step)
            value = k.ld.global_.f32(k.mad.wide.u32(k.mad.lo.u32(here, 32, column), 4, k.args.source))
            k.st.shared.f32(k.mad.lo.u32(k.mad.lo.u32(here, pitch, column), 4, tile), value)
        k.bar.sync(0)
        for step in range(0, 32, THREADS // 32):
            here = k.add.u32(row, step)
            value = k.ld.shared.f32(k.mad.lo.u32(k.mad.lo.u32(column, pitch, here), 4, tile))
            k.st.global_.f32(k.mad.wide.u32(k.mad.lo.u32(here, 32, column), 4, k.args.out), value)
    return Counted(
        name, module.build(), 1, THREADS, lambda: (np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32))
    )


def derived(name: str, kernel: GeneratedKernel, arrays: Mapping[str, Any]) -> Counted:
    """A derived kernel on these arrays."""
    launch = prepare(kernel.entry, arrays, {}, None)
    return Counted(name, kernel.module, launch.blocks, launch.threads, lambda: launch.arguments, launch.shared_bytes)


def product(name: str, tiling: MatmulTiling, size: tuple[int, int, int]) -> Counted:
    """A product on the tensor cores of a warp."""
    matmul = Matmul(MatmulSpec(epilogue=parse_epilogue("bias,relu")), "sm_80", tiling)
    arrays = matmul.with_outputs(random_inputs(matmul.compute, dict(zip("MNK", size, strict=True))))
    return derived(name, matmul.kernel_for(arrays), arrays)


def stated(name: str, compute: Any, plan: Any, sizes: dict[str, int]) -> Counted:
    """Another derived kernel."""
    arrays = random_inputs(compute, sizes)
    for array in arrays_in_memory(compute):
        if array.name not in arrays:
            arrays[array.name] = np.zeros([e.evaluate(sizes) for e in array.extents], DTYPES[array.element])
    facts = facts_of(compute, bind(arrays_in_memory(compute), arrays))
    return derived(name, generate(plan(compute, facts, "sm_80")), arrays)


def cases() -> list[Counted]:
    """All of them."""
    return [
        shared_pattern("words in a row", 4, lambda k, t: t),
        shared_pattern("every second word", 4, lambda k, t: k.mul.lo.u32(t, 2)),
        shared_pattern("every third word", 4, lambda k, t: k.mul.lo.u32(t, 3)),
        shared_pattern("every 32nd word", 4, lambda k, t: k.mul.lo.u32(t, 32)),
        shared_pattern("every 17th word of half the lanes", 4, lambda k, t: k.mul.lo.u32(t, 34), half=True),
        shared_pattern("words of pairs, scattered", 8, lambda k, t: k.xor.b32(k.mul.lo.u32(t, 37), 5)),
        shared_pattern("8 bytes, every second", 8, lambda k, t: k.mul.lo.u32(t, 2)),
        shared_pattern("16 bytes in a row", 16, lambda k, t: t),
        shared_pattern("16 bytes, every second", 16, lambda k, t: k.mul.lo.u32(t, 2)),
        shared_pattern("16 bytes, every 8th", 16, lambda k, t: k.mul.lo.u32(t, 8)),
        global_pattern("global words in a row", 4, lambda k, t: t),
        global_pattern("global words, one off", 4, lambda k, t: k.add.u32(t, 1)),
        global_pattern("every second global word", 4, lambda k, t: k.mul.lo.u32(t, 2)),
        global_pattern("every 9th global word", 4, lambda k, t: k.mul.lo.u32(t, 9)),
        global_pattern("16 global bytes in a row", 16, lambda k, t: t),
        global_pattern("16 global bytes, every third", 16, lambda k, t: k.mul.lo.u32(t, 3)),
        global_pattern("global bytes in a row", 1, lambda k, t: t),
        transposed("transpose", 32),
        transposed("padded transpose", 33),
        product("product", MatmulTiling(i=64, j=64, k=32, warps=4, depth=3), (128, 136, 96)),
        stated("softmax", softmax_compute(), softmax_plan, {"M": 8, "N": 300}),
        stated("derived transpose", transpose_compute(), transpose_plan, {"M": 96, "N": 136}),
    ]


if __name__ == "__main__":
    for case in cases():
        case.launched()
        print(case.name)
