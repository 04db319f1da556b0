"""One product of many matrices, by `mma` or `wgmma`, on the simulator and on a GPU."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from attrs import frozen

from isa.descriptors import SharedMatrix
from isa.types import bits_type
from ptxgen.build import Module, pointer
from ptxgen.ir import Module as Built
from ptxgen.parse import parse
from ptxgen.simulate import simulate
from tests.simulate.asynchronous import test_wgmma
from tests.simulate.pictures import WIDTHS, operand_registers, sum_registers, sums


@frozen
class Product:
    """D = A * B + C; `warpgroup` for `wgmma`, `words` before the types (`satfinite.`)."""

    rows: int
    columns: int
    depth: int
    a: str
    b: str
    d: str
    words: str = ""
    warpgroup: bool = False

    @property
    def name(self) -> str:
        """The instruction."""
        shape = f"m{self.rows}n{self.columns}k{self.depth}"
        if self.warpgroup:
            return f"wgmma.mma_async.sync.aligned.{shape}.{self.words}{self.d}.{self.a}.{self.b}"
        return f"mma.sync.aligned.{shape}.row.col.{self.words}{self.d}.{self.a}.{self.b}.{self.d}"

    def __str__(self) -> str:
        return self.name

    def simulated(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """D [n, rows, columns] of matrices of bits as the simulator has it."""
        return self._done(_simulate, a, b, c)

    def on_gpu(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """D as the GPU has it."""
        return self._done(_launch, a, b, c)

    def _done(self, run: "Run", a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        start = sum_registers(c, self.d)
        if self.warpgroup:
            args = [_in_shared(a), _in_shared(b), start, *self._forms()]
            run(self, args, len(c))
            return sums(start, self.d, self.rows, self.columns)
        made = np.zeros_like(start)
        left, right = operand_registers(a, self.a, is_a=True), operand_registers(b, self.b, is_a=False)
        run(self, [left, right, start, made], len(c))
        return sums(made, self.d, self.rows, self.columns)

    def _forms(self) -> tuple[int, ...]:
        form = SharedMatrix(0, leading_bytes=128, stride_bytes=256).bits
        return self.rows * 8, self.columns * 8, form, form, 1


Run = Callable[[Product, list[Any], int], None]


def _in_shared(bits: np.ndarray) -> np.ndarray:
    """Rows of 32 bytes [n, rows, k] as shared memory holds them, without a swizzle, in words."""
    content = np.ascontiguousarray(bits).view(np.uint8)
    laid = content.reshape(len(bits), bits.shape[1] // 8, 8, 2, 16).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(laid).reshape(-1).view(np.uint32)


def _simulate(product: Product, args: list[Any], count: int) -> None:
    threads = 128 if product.warpgroup else 32
    simulate(module_of(product), grid=count, block=threads, args=args).raise_findings()


def _launch(product: Product, args: list[Any], count: int) -> None:
    from ptxgen.runtime import load

    threads = 128 if product.warpgroup else 32
    load(module_of(product))["one"](*args, grid=count, block=threads)


@cache
def module_of(product: Product) -> Built:
    """The kernel `one`: a warp or a warpgroup of each CTA multiplies once."""
    per = max(1, 32 // WIDTHS[product.d])
    values = product.rows * product.columns // per // (128 if product.warpgroup else 32)
    if product.warpgroup:
        trailing = {16: ", 1, 1, 0, 0", 8: ", 1, 1"}.get(product.depth, "" if product.d == "s32" else ", 1, 1")
        return parse(test_wgmma.kernel(product.name, "f32" if product.d == "f32" else "b32", values, trailing))
    counts = [
        extent * product.depth * WIDTHS[element] // 32 // max(32, WIDTHS[element])
        for extent, element in ((product.rows, product.a), (product.columns, product.b))
    ]
    width = max(32, WIDTHS[product.d])
    return warp_kernel(product.name, dict(zip("abcd", (*counts, values, values), strict=True)), width)


def warp_kernel(name: str, counts: dict[str, int], width: int) -> Built:
    """Registers of each operand of a warp lie one after the other, [warps, registers, 32]."""
    module = Module("sm_90")
    with module.kernel("one", **{key: pointer(bits_type(width)) for key in counts}) as k:

        def place(key: str):
            start = k.mad.lo.u32(k.ctaid.x, 32 * counts[key], k.tid.x)
            return k.add.s64(getattr(k.args, key), k.mul.wide.u32(start, width // 8))

        sources = []
        for key in "abc":
            address = place(key)
            sources.append(tuple(k.emit(f"ld.global.b{width}", address + 4 * width * n) for n in range(counts[key])))
        made = k.emit(name, *sources)
        address = place("d")
        for n, value in enumerate(made):
            k.emit(f"st.global.b{width}", address + 4 * width * n, value)
    return module.build()
