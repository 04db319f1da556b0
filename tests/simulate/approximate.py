"""Approximate instructions on arrays, and what they approximate, in float64."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from ptxgen.parse import parse
from ptxgen.simulate import simulate

KINDS = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
CHANCE = np.random.default_rng(11)
SOME = np.concatenate([CHANCE.uniform(-8, 8, 2000), 2.0 ** CHANCE.uniform(-12, 6, 1000), [0.5, 1, 2, -1, 0.75]])
CASES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "div.approx.f32": lambda a, b: a / b, "div.full.f32": lambda a, b: a / b, "rcp.approx.f32": lambda a, b: 1 / b,
    "sqrt.approx.f32": lambda a, b: np.sqrt(b), "rsqrt.approx.f32": lambda a, b: 1 / np.sqrt(b),
    "sin.approx.f32": lambda a, b: np.sin(b), "cos.approx.f32": lambda a, b: np.cos(b),
    "lg2.approx.f32": lambda a, b: np.log2(b), "ex2.approx.f32": lambda a, b: np.exp2(b),
    "ex2.approx.f16": lambda a, b: np.exp2(b), "ex2.approx.ftz.bf16": lambda a, b: np.exp2(b),
    "tanh.approx.f32": lambda a, b: np.tanh(b), "tanh.approx.f16": lambda a, b: np.tanh(b),
    "tanh.approx.bf16": lambda a, b: np.tanh(b), "ex2.approx.f16x2": lambda a, b: np.exp2(b),
}  # fmt: skip


_TEXT = """
.version 7.8
.target sm_90
.address_size 64
.visible .entry main(.param .u64 a, .param .u64 b, .param .u64 d)
{{
    .reg .{register} %a, %b, %d; .reg .b32 %t, %x; .reg .b64 %p<5>;
    ld.param.u64 %p1, [a]; ld.param.u64 %p2, [b]; ld.param.u64 %p3, [d];
    mov.u32 %t, %tid.x; mov.u32 %x, %ctaid.x; mad.lo.u32 %t, %x, {block}, %t; mul.wide.u32 %p4, %t, {width};
    add.s64 %p1, %p1, %p4; add.s64 %p2, %p2, %p4; add.s64 %p3, %p3, %p4;
    ld.global.b{bits} %a, [%p1]; ld.global.b{bits} %b, [%p2];
    {name} %d, {operands};
    st.global.b{bits} [%p3], %d; ret;
}}
"""
_CTAS = 5


def operands(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Values of the instruction's type, as many as whole CTAs take; positive where it wants them so."""
    values = np.abs(SOME) if name.startswith(("sqrt", "rsqrt", "lg2")) else SOME
    b = values[:3000].clip(-9, 9).astype(KINDS[element_of(name)])
    return np.roll(b, 7), b


def element_of(name: str) -> str:
    """The type of the results."""
    return name.rpartition(".")[2].removesuffix("x2")


def run(name: str, a: Any, b: Any, seed: int | None = None, *, on_gpu: bool = False) -> np.ndarray:
    """The results of an instruction as float64: nearest ones, or drawn by a seed, or those of GPU 0."""
    width = a.itemsize * (2 if name.endswith("x2") else 1)
    register = "f32" if name.endswith("f32") else f"b{8 * width}"
    block = a.nbytes // width // _CTAS
    sources = "%a, %b" if name.startswith("div") else "%b"
    module = parse(
        _TEXT.format(name=name, register=register, block=block, width=width, bits=8 * width, operands=sources)
    )
    words = [each.view(f"u{each.itemsize}") for each in (a, b, np.zeros_like(a))]
    if on_gpu:
        from ptxgen.runtime import load

        load(module)["main"](*words, grid=_CTAS, block=block)
    else:
        simulate(module, grid=_CTAS, block=block, args=words, approximate=seed).raise_findings()
    values: np.ndarray = words[2].view(KINDS[element_of(name)]).astype(np.float64)
    return values
