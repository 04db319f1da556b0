"""What the manual leaves open of tensor copies, asked of an sm_90 GPU: what they do to flushed and tf32 elements, and
where the channels of interleaved tensors lie. Each test prints the answer (`pytest -s`).
"""

import numpy as np
import pytest

from isa.descriptors import Swizzle
from isa.tensor_maps import ELEMENTS, Interleave, TensorMap, tiled
from ptxgen.ir import Module
from ptxgen.runtime import load
from tests.simulate.asynchronous import test_tensor_copies as copies

PATIENT = "@!%p2 bra WAIT;"
IMPATIENT = "add.u32 %r6, %r6, 1; setp.lt.and.u32 %p2, %r6, 1000000, !%p2; @%p2 bra WAIT;"
WORDS = (
    0, 1 << 31, 1, 1 << 31 | 1, 0xFFF, 0x1000, 0x1FFF, 0x2000, 0x7FFFFF, 0x807FFFFF, 0x800000, 0x80800000, 0x3F800000,
    0x3F800001, 0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F801FFF, 0x3F802FFF, 0x3F803000, 0x3F803001, 0xBF801000,
    0xBF803000, 0x7F7FFFFF, 0x7F7FE000, 0x7F7FEFFF, 0x7F7FF000, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001,
    0x7F801FFF, 0x7FC00000, 0x7FC00001, 0xFFC01234, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FA00000, 0xFF802001,
)  # fmt: skip


def moved(
    module: Module, described: TensorMap, tensor: np.ndarray, content: np.ndarray, start: tuple[int, ...]
) -> None:
    c = np.array([*start, *[0] * (5 - len(start))], np.int32).tobytes()
    load(module)["one"]((tensor, described), content, c, bytes(6), content.nbytes // 4, grid=1, block=128)


@pytest.mark.parametrize("direction", ["load", "store", "add"])
@pytest.mark.parametrize("element", ["f32", "f32.ftz", "tf32", "tf32.ftz"])
def test_what_happens_to_words(element: str, direction: str) -> None:
    """A row of words from the tensor, to it, or added to zeros there."""
    described = tiled(element, (1, 64), (1, 64))
    words = np.zeros(64, np.uint32)
    words[: len(WORDS)] = WORDS
    if direction == "load":
        made = copies.module(copies.LOADING, copies.LOAD, 2, "tile")
        found = np.zeros(64, np.uint32)
        moved(made, described, words.copy(), found, (0, 0))
    else:
        name = copies.STORE if direction == "store" else copies.REDUCE.replace("{op}", "add")
        made = copies.module(copies.STORING, name, 2, "tile")
        found = np.zeros(64, np.uint32)
        moved(made, described, found, words.copy(), (0, 0))
    print(f"\n{element}, {direction}")
    for given, came in zip(WORDS, found.tolist(), strict=False):
        print(f"  {given:08x} -> {came:08x}" + ("" if given == came else "   changed"))
    assert found[len(WORDS) :].tolist() == [0] * (64 - len(WORDS))


STRIDES = {3: (1 << 8, 1 << 12), 4: (1 << 6, 1 << 9, 1 << 13), 5: (1 << 6, 1 << 8, 1 << 10, 1 << 13)}
DIMS = {3: (32, 6, 5), 4: (32, 6, 5, 4), 5: (32, 3, 3, 3, 3)}
BOXES = {3: (16, 3, 2), 4: (16, 3, 2, 2), 5: (16, 2, 2, 2, 2)}


@pytest.mark.parametrize("rank", [3, 4, 5])
@pytest.mark.parametrize("interleave", [Interleave.BYTES_16, Interleave.BYTES_32])
@pytest.mark.parametrize("channel, shift", [(0, 0), (8, 1), (16, 0), (1, 0), (24, 4), (-8, -1)])
def test_where_interleaved_elements_lie(interleave: Interleave, rank: int, channel: int, shift: int) -> None:
    """Every element of the memory is its own number, so that what a box brings tells from where it came."""
    swizzle = Swizzle.BYTES_32 if interleave is Interleave.BYTES_32 else Swizzle.NONE
    described = TensorMap("u16", DIMS[rank], STRIDES[rank], BOXES[rank], interleave=interleave, swizzle=swizzle)
    tensor = np.arange(1, 65536, dtype=np.uint16)
    tensor = np.concatenate([tensor, np.zeros(1, np.uint16)])
    made = copies.module(copies.LOADING.replace(PATIENT, IMPATIENT).replace("WAIT:", "mov.u32 %r6, 0;\nWAIT:", 1),
                         copies.LOAD, rank, "tile")  # fmt: skip
    start = (channel, *[shift] * (rank - 1))
    taken = np.full(described.box_bytes // 4, 0xABABABAB, np.uint32)
    moved(made, described, tensor, taken, start)
    plain = np.array([taken.view(np.uint8)[swizzle.place(byte)] for byte in range(taken.nbytes)], np.uint8)
    print(f"\n{described}\n  from {start}: where each 16 bytes come from, '-' zeros, '~' not in a row")
    elements = plain.view(np.uint16).reshape(-1, 8)
    told = []
    for unit in elements:
        nothing = not unit.any()
        row = np.array_equal(unit, unit[0] + np.arange(8))
        told.append("-" if nothing else f"{2 * (int(unit[0]) - 1):#x}" + ("" if row else "~"))
    for place in range(0, len(told), 8):
        print("   ", " ".join(told[place : place + 8]))


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f32.ftz", "tf32", "tf32.ftz", "f64"])
def test_what_fills_outside(element: str) -> None:
    """A row of which only the first 16 bytes are in the tensor."""
    inside = 16 // ELEMENTS[element].bytes
    described = TensorMap(element, (inside, 1), (256,), (4 * inside, 1), nan_fill=True)
    found = np.zeros(16, np.uint32)
    moved(copies.module(copies.LOADING, copies.LOAD, 2, "tile"), described, np.zeros(64, np.uint32), found, (0, 0))
    print(f"\n{element}: outside stands {sorted({f'{each:08x}' for each in found[4:].tolist()})}")
    assert not found[:4].any()
