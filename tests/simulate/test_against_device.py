"""The same instruction on the simulator and on a GPU: equal bits for everything that is not approximate."""

import numpy as np
import pytest

from tests.simulate.elementwise import run, run_on_gpu

NUMPY = {"u": "u", "s": "i", "f": "f"}
INTEGER = [
    "add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem",
]  # fmt: skip
SINGLE = ["add", "sub", "mul", "div"]
MODES = ["rn", "rz", "rm", "rp"]


def bits(kind: str, seed: int, count: int = 2000) -> np.ndarray:
    """Random bits as values of a type, every twentieth a special one."""
    rng = np.random.default_rng(seed)
    width = int(kind[1:])
    raw = np.frombuffer(rng.bytes(count * width // 8), f"u{width // 8}").copy()
    if kind[0] == "f":
        exponent = {16: 10, 32: 23, 64: 52}[width]
        ones = ((1 << width - 1 - exponent) - 1) << exponent
        specials = [0, 1 << width - 1, 1, ones, ones | 1 << width - 1, ones | 1 << exponent - 1, 3 << exponent - 1]
        near = {16: 15, 32: 127, 64: 1023}[width]
        raw[::2] = (raw[::2] & raw.dtype.type(~ones & (1 << width) - 1)) | (
            (near + rng.integers(-8, 8, len(raw[::2]))).astype(raw.dtype) << raw.dtype.type(exponent)
        )
    else:
        specials = [0, 1, (1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1, width]
    raw[::20] = rng.choice(np.array(specials, raw.dtype), len(raw[::20]))
    return raw.view(f"{NUMPY[kind[0]]}{width // 8}")


WIDTHS = ("u16", "s16", "u32", "s32", "u64", "s64")
CASES: list[tuple[str, tuple[str, ...], str]] = [
    *((f"{name}.{kind}", (kind, kind), kind) for name in INTEGER for kind in WIDTHS),
    *((f"{name}.{mode}.f32", ("f32", "f32"), "f32") for name in SINGLE for mode in MODES),
    *((f"{name}.{mode}.ftz.f32", ("f32", "f32"), "f32") for name in SINGLE for mode in MODES),
    *((f"fma.{mode}.f32", ("f32", "f32", "f32"), "f32") for mode in MODES),
    *((f"fma.{mode}.ftz.sat.f32", ("f32", "f32", "f32"), "f32") for mode in MODES),
    *((f"{name}.{mode}.f32", ("f32",), "f32") for name in ("rcp", "sqrt") for mode in MODES),
    *((f"{name}.f32", ("f32",), "f32") for name in ("neg", "abs", "neg.ftz", "abs.ftz")),
    *((f"{name}.f32", ("f32", "f32"), "f32") for name in ("min", "max", "min.ftz", "max.ftz")),
    *((f"{name}.f16", ("f16", "f16"), "f16") for name in ("add", "sub", "mul", "add.ftz", "mul.sat")),
    *((f"fma.rn.{kind}", (kind, kind, kind), kind) for kind in ("f16", "f64")),
    *((f"cvt.{mode}.f16.f32", ("f32",), "f16") for mode in MODES),
    *((f"cvt.{mode}.f32.f64", ("f64",), "f32") for mode in MODES),
    *((f"cvt.{mode}.{to}.{source}", (source,), to) for mode in ("rni", "rzi", "rmi", "rpi")
      for to in ("s32", "u32", "s64", "u64", "s16", "u16") for source in ("f16", "f32", "f64")),
    *((f"cvt.{mode}.{to}.{source}", (source,), to) for mode in MODES
      for to in ("f16", "f32") for source in ("s32", "u32", "s64", "u64")),
    ("cvt.f32.f16", ("f16",), "f32"), ("cvt.f64.f32", ("f32",), "f64"), ("cvt.rni.f32.f32", ("f32",), "f32"),
    ("cvt.rni.ftz.f32.f32", ("f32",), "f32"), ("cvt.sat.f32.f16", ("f16",), "f32"),
    ("bfe.u32", ("u32", "u32", "u32"), "u32"),
    ("bfi.b32", ("u32", "u32", "u32", "u32"), "b32"), ("prmt.b32", ("u32", "u32", "u32"), "b32"),
    ("set.gtu.ftz.u32.f32", ("f32", "f32"), "u32"), ("slct.u32.f32", ("u32", "u32", "f32"), "u32"),
    ("copysign.f32", ("f32", "f32"), "f32"), ("neg.f16", ("f16",), "f16"), ("abs.f16", ("f16",), "f16"),
    ("neg.f64", ("f64",), "f64"), ("abs.f64", ("f64",), "f64"),
]  # fmt: skip


@pytest.mark.device
@pytest.mark.parametrize("name, kinds, out", CASES, ids=[case[0] for case in CASES])
def test_equal_bits(name, kinds, out):
    inputs: list[np.ndarray] = [bits(kind, seed) for seed, kind in enumerate(kinds)]
    found, wanted = run(name, inputs, out), run_on_gpu(name, inputs, out)
    wrong = np.flatnonzero(found != wanted)
    assert not len(wrong), [[hex(int(each[i])) for each in (*inputs, found, wanted)] for i in wrong[:3]]
