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
    """D = A * B + C; `warpgroup` for `wgmma`, `words` before the types (`satfinite.`).

    `sparse` is the word of a sparse A (`sp`), of which half the depth is given; its metadata lies where the selector
    says.
    """

    rows: int
    columns: int
    depth: int
    a: str
    b: str
    d: str
    words: str = ""
    warpgroup: bool = False
    sparse: str = ""
    selector: int = 0
    on: str = "sm_90"

    @property
    def name(self) -> str:
        """The instruction."""
        shape = f"m{self.rows}n{self.columns}k{self.depth}"
        sparse = f"{self.sparse}." if self.sparse else ""
        if self.warpgroup:
            return f"wgmma.mma_async.{sparse}sync.aligned.{shape}.{self.words}{self.d}.{self.a}.{self.b}"
        return f"mma.{sparse}sync.aligned.{shape}.row.col.{self.words}{self.d}.{self.a}.{self.b}.{self.d}"

    def __str__(self) -> str:
        return self.name + (f", selector {self.selector}" if self.sparse else "")

    @property
    def kept(self) -> int:
        """Elements of a row of A that are given."""
        return self.depth // 2 if self.sparse else self.depth

    def simulated(self, a: np.ndarray, b: np.ndarray, c: np.ndarray, told: np.ndarray | None = None) -> np.ndarray:
        """D [n, rows, columns] of matrices of bits as the simulator has it; `told` are the metadata registers."""
        return self._done(_simulate, a, b, c, told)

    def on_gpu(self, a: np.ndarray, b: np.ndarray, c: np.ndarray, told: np.ndarray | None = None) -> np.ndarray:
        """D as the GPU has it."""
        return self._done(_launch, a, b, c, told)

    def _done(self, run: "Run", a: np.ndarray, b: np.ndarray, c: np.ndarray, told: np.ndarray | None) -> np.ndarray:
        start = sum_registers(c, self.d)
        extra = [] if told is None else [told]
        if self.warpgroup:
            laid = [in_shared(each) for each in (a, b)]
            sizes = [each.size // len(c) for each in laid]
            forms = [SharedMatrix(0, leading_bytes=128, stride_bytes=32 * size // rows).bits
                     for size, rows in zip(sizes, (self.rows, self.columns), strict=True)]  # fmt: skip
            run(self, [*laid, start, *sizes, *forms, 1, *extra], len(c))
            return sums(start, self.d, self.rows, self.columns)
        made = np.zeros_like(start)
        left, right = operand_registers(a, self.a, is_a=True), operand_registers(b, self.b, is_a=False)
        run(self, [left, right, start, *extra, made], len(c))
        return sums(made, self.d, self.rows, self.columns)


Run = Callable[[Product, list[Any], int], None]


def in_shared(bits: np.ndarray) -> np.ndarray:
    """Rows [n, rows, k] as shared memory holds them, without a swizzle, in words: pieces of 16 bytes, eight rows of one
    after the other.
    """
    content = np.ascontiguousarray(bits).view(np.uint8)
    laid = content.reshape(len(bits), bits.shape[1] // 8, 8, -1, 16).transpose(0, 1, 3, 2, 4)
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
        trailing = ", 1, 1, 0, 0" if WIDTHS[product.a] == 16 else "" if product.d == "s32" else ", 1, 1"
        selector = product.selector if product.sparse else None
        kind = "f32" if product.d == "f32" else "b32"
        return parse(test_wgmma.kernel(product.name, kind, values, trailing, selector=selector))
    a, b = (
        extent * depth * WIDTHS[element] // 32 // max(32, WIDTHS[element])
        for extent, depth, element in (
            (product.rows, product.kept, product.a), (product.columns, product.depth, product.b)
        )
    )  # fmt: skip
    metadata = {"e": 1} if product.sparse else {}
    counts = {"a": a, "b": b, "c": values, **metadata, "d": values}
    return _warp_kernel(product, counts, max(32, WIDTHS[product.d]))


def _warp_kernel(product: Product, counts: dict[str, int], width: int) -> Built:
    """Registers of each operand of a warp lie one after the other, [warps, registers, 32]; `e` is metadata."""
    module = Module(product.on)
    with module.kernel("one", **{key: pointer(bits_type(width)) for key in counts}) as k:

        def place(key: str):
            start = k.mad.lo.u32(k.ctaid.x, 32 * counts[key], k.tid.x)
            return k.add.s64(getattr(k.args, key), k.mul.wide.u32(start, width // 8))

        sources: list[Any] = []
        for key in "abc":
            address = place(key)
            sources.append(tuple(k.emit(f"ld.global.b{width}", address + 4 * width * n) for n in range(counts[key])))
        if "e" in counts:
            sources += [k.emit("ld.global.b32", place("e")), product.selector]
        made = k.emit(product.name, *sources)
        address = place("d")
        for n, value in enumerate(made):
            k.emit(f"st.global.b{width}", address + 4 * width * n, value)
    return module.build()
