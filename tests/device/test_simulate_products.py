"""Matrix products on the simulator and on an sm_90 GPU: random bits of every kind, equal bits out."""

import numpy as np
import pytest

from isa.types import bits_type
from ptxgen.build import Module, pointer
from ptxgen.simulate import simulate

WARPS = 512
FRACTION = {"f16": (10, 15), "bf16": (7, 127), "tf32": (23, 127), "f32": (23, 127), "f64": (52, 1023), "e4m3": (3, 7),
            "e5m2": (2, 15)}  # fmt: skip
WIDTH = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8}
LAYOUTS = ("row.col", "row.row", "col.col", "col.row")
# name behind `mma.sync.aligned`, types of d a b c, registers of d a b c
CASES = [
    ("m16n8k16.row.col.f32.f16.f16.f32", "f32 f16 f16 f32", (4, 4, 2, 4)),
    ("m16n8k16.row.col.f16.f16.f16.f16", "f16 f16 f16 f16", (2, 4, 2, 2)),
    ("m16n8k8.row.col.f32.bf16.bf16.f32", "f32 bf16 bf16 f32", (4, 2, 1, 4)),
    ("m16n8k16.row.col.f32.bf16.bf16.f32", "f32 bf16 bf16 f32", (4, 4, 2, 4)),
    ("m16n8k4.row.col.f32.tf32.tf32.f32", "f32 tf32 tf32 f32", (4, 2, 1, 4)),
    ("m16n8k8.row.col.f32.tf32.tf32.f32", "f32 tf32 tf32 f32", (4, 4, 2, 4)),
    ("m8n8k4.row.col.f64.f64.f64.f64", "f64 f64 f64 f64", (2, 1, 1, 2)),
    ("m16n8k8.row.col.f64.f64.f64.f64", "f64 f64 f64 f64", (4, 4, 2, 4)),
    ("m16n8k32.row.col.s32.s8.u8.s32", "s32 s8 u8 s32", (4, 4, 2, 4)),
    ("m16n8k32.row.col.satfinite.s32.u8.s8.s32", "s32 u8 s8 s32", (4, 4, 2, 4)),
    ("m16n8k64.row.col.s32.s4.u4.s32", "s32 s4 u4 s32", (4, 4, 2, 4)),
    ("m16n8k256.row.col.s32.b1.b1.s32.and.popc", "s32 b1 b1 s32", (4, 4, 2, 4)),
    ("m16n8k32.row.col.f16.e4m3.e4m3.f16", "f16 e4m3 e4m3 f16", (2, 4, 2, 2)),
    ("m16n8k32.row.col.f16.e5m2.e4m3.f16", "f16 e5m2 e4m3 f16", (2, 4, 2, 2)),
    *((f"m8n8k4.{layout}.f32.f16.f16.f32", "f32 f16 f16 f32", (8, 2, 2, 8)) for layout in LAYOUTS),
    *((f"m8n8k4.{layout}.f16.f16.f16.f16", "f16 f16 f16 f16", (4, 2, 2, 4)) for layout in LAYOUTS),
    ("m16n8k32.row.col.f32.e4m3.e4m3.f32", "f32 e4m3 e4m3 f32", (4, 4, 2, 4)),
    ("m16n8k32.row.col.f32.e5m2.e4m3.f32", "f32 e5m2 e4m3 f32", (4, 4, 2, 4)),
    ("m16n8k16.row.col.f32.e4m3.e5m2.f32", "f32 e4m3 e5m2 f32", (4, 2, 1, 4)),
    ("m16n8k16.row.col.f16.e4m3.e4m3.f16", "f16 e4m3 e4m3 f16", (2, 2, 1, 2)),
]


def registers(element: str, count: int, spread: int, seed: int) -> np.ndarray:
    """Register bits [warps, count, 32]; floats have exponents within `spread` of 1 (0: any bits, infinities too)."""
    rng = np.random.default_rng(seed)
    word = np.dtype(np.uint64 if element == "f64" else np.uint32)
    raw = np.frombuffer(rng.bytes(WARPS * count * 32 * word.itemsize), word).copy().reshape(WARPS, count, 32)
    if element not in WIDTH or not spread:
        return raw
    fraction, bias = FRACTION[element]
    values = raw.view(f"u{WIDTH[element] // 8}")
    field = ((1 << WIDTH[element] - 1) - 1) ^ ((1 << fraction) - 1)
    exponents = np.clip(bias + rng.integers(-spread, spread + 1, values.shape), 0, (field >> fraction) - 1)
    values &= values.dtype.type(~field & (1 << WIDTH[element]) - 1)
    values |= exponents.astype(values.dtype) << values.dtype.type(fraction)
    values[rng.random(values.shape) < 0.1] = 0
    return raw


def kernel(name: str, arrays: dict[str, np.ndarray]) -> Module:
    module = Module("sm_90")
    with module.kernel("one", **{key: pointer(bits_type(8 * each.itemsize)) for key, each in arrays.items()}) as k:

        def place(key: str):
            width = arrays[key].itemsize
            start = k.mad.lo.u32(k.ctaid.x, 32 * arrays[key].shape[1], k.tid.x)
            return k.add.s64(getattr(k.args, key), k.mul.wide.u32(start, width)), 8 * width

        sources = []
        for key in "abc":
            address, bits = place(key)
            count = arrays[key].shape[1]
            sources.append(tuple(k.emit(f"ld.global.b{bits}", address + 4 * bits * each) for each in range(count)))
        made = k.emit(f"mma.sync.aligned.{name}", *sources)
        address, bits = place("d")
        for each, value in enumerate(made):
            k.emit(f"st.global.b{bits}", address + 4 * bits * each, value)
    return module


@pytest.mark.device
@pytest.mark.parametrize("spread", [3, 12, 40, 0])
@pytest.mark.parametrize("name, types, counts", CASES, ids=[case[0] for case in CASES])
def test_equal_bits(name, types, counts, spread):
    from ptxgen.runtime import load

    d, a, b, c = types.split()
    arrays = {key: registers(of, count, spread, seed) for seed, (key, of, count) in
              enumerate(zip("abc", (a, b, c), counts[1:], strict=True))}  # fmt: skip
    arrays["d"] = np.zeros((WARPS, counts[0], 32), np.uint64 if d == "f64" else np.uint32)
    wanted = arrays["d"].copy()
    module = kernel(name, arrays).build()
    simulate(module, grid=WARPS, block=32, args=tuple(arrays.values())).raise_findings()
    load(module)["one"](*list(arrays.values())[:3], wanted, grid=WARPS, block=32)
    wrong = np.argwhere(arrays["d"] != wanted)
    told = [(place.tolist(), hex(arrays["d"][tuple(place)]), hex(wanted[tuple(place)])) for place in wrong[:4]]
    assert not len(wrong), (len(wrong), wanted.size, "simulated and on the GPU:", told)
