"""What is still open of tensor copies, asked of an sm_90 GPU; the simulator refuses it by name. Each test prints the
answer (`pytest -s`).
"""

import numpy as np
import pytest

from isa.tensor_maps import ELEMENTS, Im2col, Interleave, TensorMap
from ptxgen.ir import Module
from ptxgen.runtime import load
from tests.device.test_tensor_copies import bounded
from tests.simulate.asynchronous import test_tensor_copies as copies

UNTOUCHED = 0xABABABAB
FILLING = """
mov.u32 %r3, %r1;
FILL:
setp.ge.u32 %p1, %r3, %r15; @%p1 bra FILLED;
mad.wide.u32 %rd3, %r3, 4, %rd2; ld.global.u32 %r5, [%rd3]; mad.lo.u32 %r4, %r3, 4, %r2; st.shared.u32 [%r4], %r5;
add.u32 %r3, %r3, 128; bra FILL;
FILLED:
fence.proxy.async.shared::cta;
bar.sync 0;
"""


def moved(
    module: Module, described: TensorMap, tensor: np.ndarray, content: np.ndarray, start: tuple[int, ...]
) -> None:
    c = np.array([*start, *[0] * (5 - len(start))], np.int32).tobytes()
    load(module)["one"]((tensor, described), content, c, bytes(6), content.nbytes // 4, grid=1, block=128)


@pytest.mark.parametrize("element", ["f32.ftz", "tf32", "tf32.ftz"])
def test_what_fills_outside(element: str) -> None:
    """A row of which only the first 16 bytes are in the tensor."""
    inside = 16 // ELEMENTS[element].bytes
    described = TensorMap(element, (inside, 1), (256,), (4 * inside, 1), nan_fill=True)
    found = np.zeros(16, np.uint32)
    moved(copies.module(bounded(), copies.LOAD, 2, "tile"), described, np.zeros(64, np.uint32), found, (0, 0))
    print(f"\n{element}: outside stands {sorted({f'{each:08x}' for each in found[4:].tolist()})}")
    assert not found[:4].any()


@pytest.mark.parametrize("channels", [1, 2, 8, 16])
def test_which_pixels_of_an_interleaved_tensor_a_column_has(channels: int) -> None:
    """Every element is its own number. The barrier expects 4096 bytes, whatever the copy brings, so the wait may give
    up: what has come by then is printed.
    """
    form = Im2col((0, 0), (0, 0), 24)
    described = TensorMap(
        "u16", (8, 6, 4, 3), (1 << 8, 1 << 11, 1 << 13), (channels,), interleave=Interleave.BYTES_16, im2col=form
    )
    tensor = np.arange(1, 32769, dtype=np.uint16)
    found = np.full(1024, UNTOUCHED, np.uint32)
    made = copies.module(FILLING + bounded(after=""), copies.LOAD, 4, "im2col", offsets=2)
    moved(made, described, tensor, found, (0, 0, 0, 0))
    told = []
    for unit in found.view(np.uint16).reshape(-1, 8):
        untouched = (unit.view(np.uint32) == UNTOUCHED).all()
        told.append("." if untouched else f"{2 * (int(unit[0]) - 1):#x}" if unit.any() else "-")
    print(f"\n{described}: where each 16 bytes come from, '-' zeros, '.' untouched")
    for place in range(0, len(told), 8):
        print("   ", " ".join(told[place : place + 8]))
