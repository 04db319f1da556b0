"""Scalar instructions on the simulator and on a GPU: equal bits. Many instructions to a kernel, so few launches."""

import numpy as np
import pytest

from isa.types import bits_type, pred, type_named, u32
from ptxgen.build import Module, pointer
from ptxgen.simulate import simulate

THREADS, COUNT = 128, 128 * 160
MODES = ("rn", "rz", "rm", "rp")
F32, F64, BF16, F16 = ("f32", "f32"), ("f64", "f64"), ("bf16", "bf16"), ("f16", "f16")
PAIRS = ("e4m3x2", "e5m2x2")

# name, input types, output type
GROUPS: dict[str, list[tuple[str, tuple[str, ...], str]]] = {
    "f64": [
        *((f"{name}.{mode}.f64", F64, "f64") for name in ("add", "sub", "mul", "div") for mode in MODES),
        *((f"fma.{mode}.f64", ("f64", "f64", "f64"), "f64") for mode in MODES),
        *((f"{name}.{mode}.f64", ("f64",), "f64") for name in ("rcp", "sqrt") for mode in MODES),
        ("min.f64", F64, "f64"), ("max.f64", F64, "f64"),
        *((f"cvt.{mode}.f64.{of}", (of,), "f64") for mode in MODES for of in ("s64", "u64")),
        *((f"cvt.{mode}.{to}.f64", ("f64",), to) for mode in MODES for to in ("f16", "bf16", "f32")),
    ],
    "f32": [
        ("min.xorsign.abs.f32", F32, "f32"), ("max.NaN.xorsign.abs.f32", F32, "f32"), ("min.NaN.f32", F32, "f32"),
        ("max.ftz.NaN.f32", F32, "f32"), ("add.rz.sat.f32", F32, "f32"), ("mul.rp.ftz.sat.f32", F32, "f32"),
        *((f"setp.{cmp}.f32", F32, "pred") for cmp in ("ne", "neu", "ltu", "num", "nan", "ge")),
        ("set.lt.bf16.f32", F32, "bf16"), ("set.gtu.f16.f32", F32, "f16"), ("set.le.f32.f32", F32, "f32"),
    ],
    "half": [
        *((f"{name}.rn.{of}", (of, of), of) for name in ("add", "sub", "mul")
          for of in ("bf16", "bf16x2", "f16", "f16x2")),
        *((f"fma.rn{way}.{of}", (of, of, of), of) for way in ("", ".relu")
          for of in ("bf16", "bf16x2", "f16", "f16x2")),
        *((f"{name}{way}.{of}", (of, of), of) for name in ("min", "max")
          for way in ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs") for of in ("bf16", "bf16x2", "f16", "f16x2")),
        *((f"{name}.{of}", (of,), of) for name in ("neg", "abs") for of in ("bf16", "bf16x2", "f16", "f16x2")),
        *((f"{name}.ftz.{of}", (of, of), of) for name in ("add", "mul", "min") for of in ("f16", "f16x2")),
        *((f"{name}.sat.{of}", (of, of), of) for name in ("add", "mul") for of in ("f16", "f16x2")),
        *((f"set.{cmp}.{to}.{of}", (of, of), to) for cmp in ("lt", "neu", "nan")
          for to, of in (("bf16x2", "bf16x2"), ("u32", "bf16x2"), ("f16x2", "f16x2"), ("u32", "f16"), ("u16", "bf16"))),
        *((f"setp.{cmp}.{of}", (of, of), "pred") for cmp in ("ne", "gtu", "num") for of in ("f16", "bf16")),
    ],
    "convert": [
        *((f"cvt.{mode}.bf16.{of}", (of,), "bf16") for mode in MODES
          for of in ("f16", "s32", "u32", "s64", "u64", "s16")),
        *((f"cvt.{mode}{relu}{way}.{to}.f32", F32[: 2 if "x2" in to else 1], to) for mode in ("rn", "rz")
          for relu in ("", ".relu") for way in ("", ".satfinite") for to in ("bf16", "bf16x2", "f16x2")),
        *((f"cvt.{mode}{relu}.tf32.f32", ("f32",), "b32") for mode in ("rn", "rz") for relu in ("", ".relu")),
        ("cvt.rna.tf32.f32", ("f32",), "b32"), ("cvt.rna.satfinite.tf32.f32", ("f32",), "b32"),
        *((f"cvt.rn.satfinite{relu}.{to}.f32", F32, to) for relu in ("", ".relu") for to in PAIRS),
        *((f"cvt.rn.satfinite{relu}.{to}.f16x2", ("f16x2",), to) for relu in ("", ".relu") for to in PAIRS),
        *((f"cvt.rn{relu}.f16x2.{of}", (of,), "f16x2") for relu in ("", ".relu") for of in PAIRS),
        ("cvt.f32.bf16", ("bf16",), "f32"), ("cvt.ftz.f32.bf16", ("bf16",), "f32"), ("cvt.f64.bf16", ("bf16",), "f64"),
        *((f"cvt.{mode}.{to}.bf16", ("bf16",), to) for mode in ("rni", "rzi", "rmi", "rpi")
          for to in ("s32", "u32", "s64", "bf16")),
        *((f"cvt.{mode}.f16.bf16", ("bf16",), "f16") for mode in MODES),
        *((f"cvt.sat.{to}.{of}", (of,), to) for to in ("u16", "s32") for of in ("s64", "u64", "s32", "u32")
          if to != of),
        ("cvt.pack.sat.u16.s32", ("s32", "s32"), "u32"), ("cvt.pack.sat.s8.s32.b32", ("s32", "s32", "b32"), "u32"),
        ("cvt.pack.sat.u4.s32.b32", ("s32", "s32", "b32"), "u32"),
        ("cvt.pack.sat.s2.s32.b32", ("s32", "s32", "b32"), "u32"),
    ],
    "integer": [
        *((f"dp4a.{a}.{b}", ("u32", "u32", "u32"), "u32") for a in ("u32", "s32") for b in ("u32", "s32")),
        *((f"dp2a.{half}.{a}.{b}", ("u32", "u32", "u32"), "u32") for half in ("lo", "hi") for a in ("u32", "s32")
          for b in ("u32", "s32")),
        *((f"{name}.{way}.b32", ("small", "small"), "u32") for name in ("bmsk",) for way in ("clamp", "wrap")),
        *((f"szext.{way}.{of}", (of, "small"), of) for way in ("clamp", "wrap") for of in ("u32", "s32")),
        ("fns.b32", ("b32", "place", "offset"), "u32"), ("mad24.hi.sat.s32", ("s32", "s32", "s32"), "s32"),
        ("mul24.hi.u32", ("u32", "u32"), "u32"), ("mad.hi.sat.s32", ("s32", "s32", "s32"), "s32"),
        ("sad.s64", ("s64", "s64", "s64"), "s64"), ("add.sat.s32", ("s32", "s32"), "s32"),
        *((f"{name}.{of}", (of, of), "b32") for name in ("add", "min", "max") for of in ("u16x2", "s16x2")),
        ("min.relu.s16x2", ("s16x2", "s16x2"), "b32"), ("max.relu.s32", ("s32", "s32"), "s32"),
        *((f"{name}.{of}", (of, "small"), of) for name in ("shl", "shr") for of in ("b16", "b32", "b64")),
        ("shr.s16", ("s16", "small"), "s16"), ("shr.s64", ("s64", "small"), "s64"),
        *((f"shf.{way}.{mode}.b32", ("b32", "b32", "small"), "b32") for way in "lr" for mode in ("clamp", "wrap")),
        ("clz.b64", ("b64",), "u32"), ("popc.b64", ("b64",), "u32"), ("brev.b64", ("b64",), "b64"),
        ("bfind.shiftamt.s64", ("s64",), "u32"), ("bfe.s64", ("s64", "small", "small"), "s64"),
        ("bfi.b64", ("b64", "b64", "small", "small"), "b64"), ("cnot.b16", ("b16",), "b16"),
    ],
}  # fmt: skip

LAYOUT = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11), "e4m3": (3, 4), "e5m2": (2, 5)}


def inputs_of(kind: str, seed: int) -> np.ndarray:
    """Bits of a type as unsigned: random ones, numbers near 1, and special ones."""
    rng = np.random.default_rng(seed)
    match kind:
        case "small":
            return np.where(
                rng.random(COUNT) < 0.9, rng.integers(0, 70, COUNT), rng.integers(0, 1 << 32, COUNT)
            ).astype(np.uint32)
        case "place":
            return rng.integers(0, 32, COUNT).astype(np.uint32)
        case "offset":
            return rng.integers(-9, 10, COUNT).astype(np.int32).view(np.uint32)
    bits = type_named(kind).bits
    element = kind.partition("x")[0]
    width = bits // type_named(kind).lanes
    raw = np.frombuffer(rng.bytes(COUNT * bits // 8), f"u{width // 8}").copy()
    if element in LAYOUT:
        fraction, exponent = LAYOUT[element]
        ones = ((1 << exponent) - 1) << fraction
        near = ((1 << exponent - 1) - 1) + rng.integers(-3, 4, len(raw[::2]))
        raw[::2] = (raw[::2] & raw.dtype.type((1 << width) - 1 & ~ones)) | (
            near.astype(raw.dtype) << raw.dtype.type(fraction)
        )
        raw[::6] &= raw.dtype.type((1 << width) - 1 & ~((1 << fraction - fraction // 3) - 1))
        specials = [
            0,
            1,
            ones,
            ones | 1,
            ones - 1,
            1 << fraction,
            (1 << fraction) - 1,
            3 << fraction,
            ones | (1 << fraction) - 1,
        ]
    else:
        specials = [0, 1, (1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1, 2]
    signs = [each | sign for each in specials for sign in (0, 1 << width - 1)]
    raw[3::11] = rng.choice(np.array(signs, raw.dtype), len(raw[3::11]))
    return raw.view(f"u{bits // 8}")


def storage(kind: str) -> int:
    return 32 if kind in ("small", "place", "offset") else type_named(kind).bits


def kernel_of(cases: list[tuple[str, tuple[str, ...], str]]) -> Module:
    kinds = sorted({(kind, place) for _, inputs, _ in cases for place, kind in enumerate(inputs)})
    parameters = {f"{kind}_{place}": pointer(bits_type(storage(kind))) for kind, place in kinds}
    module = Module("sm_90")
    with module.kernel("many", **parameters, out=pointer(bits_type(8)), n=u32) as k:
        thread = k.mad.lo.u32(k.ctaid.x, k.ntid.x, k.tid.x)
        loaded = {}
        for kind, place in kinds:
            width = storage(kind)
            address = k.add.s64(getattr(k.args, f"{kind}_{place}"), k.mul.wide.u32(thread, width // 8))
            loaded[kind, place] = k.emit(f"ld.global.b{width}", address)
        base = k.add.s64(k.args.out, k.mul.wide.u32(thread, 8))
        for number, (name, inputs, out) in enumerate(cases):
            made = k.emit(name, *(loaded[kind, place] for place, kind in enumerate(inputs)))
            if made.type is pred:
                made = k.selp.u32(1, 0, made)
            width = 32 if out == "pred" else type_named(out).bits
            k.emit(f"st.global.b{width}", base + 8 * COUNT * number, made)
    return module


@pytest.mark.device
@pytest.mark.parametrize("group", GROUPS)
def test_equal_bits(group):
    from ptxgen.runtime import load

    cases = GROUPS[group]
    kinds = sorted({(kind, place) for _, inputs, _ in cases for place, kind in enumerate(inputs)})
    arrays = [inputs_of(kind, 31 * place + len(kind)) for kind, place in kinds]
    module = kernel_of(cases).build()
    found, wanted = (np.zeros((len(cases), COUNT), np.uint64) for _ in range(2))
    simulate(module, grid=COUNT // THREADS, block=THREADS, args=(*arrays, found, COUNT)).raise_findings()
    load(module)["many"](*arrays, wanted, COUNT, grid=COUNT // THREADS, block=THREADS)
    given = dict(zip(kinds, arrays, strict=True))
    report = []
    for number, (name, inputs, _) in enumerate(cases):
        wrong = np.flatnonzero(found[number] != wanted[number])
        for at in wrong[:3]:
            operands = [hex(int(given[kind, place][at])) for place, kind in enumerate(inputs)]
            report.append(
                f"{name} {operands}: {found[number][at]:#x}, on the GPU {wanted[number][at]:#x} ({len(wrong)} differ)"
            )
    assert not report, "\n".join(report)
