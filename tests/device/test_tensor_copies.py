"""Copies of tensors that change what they copy, and of interleaved ones, on an sm_90 GPU and in the simulator."""

import numpy as np
import pytest

from isa.tensor_maps import ELEMENTS, TensorMap, tiled
from ptxgen.ir import Module
from tests.device.test_asynchronous import on_cpu, on_gpu, skip_unless_made
from tests.simulate.asynchronous import test_interleaved_copies as slices
from tests.simulate.asynchronous import test_tensor_copies as copies
from tests.simulate.asynchronous import test_tensor_elements as words

WAITING = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;"
TESTING = """mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 0;
add.u32 %r6, %r6, 1;
setp.lt.and.u32 %p3, %r6, 1000000, !%p2;
@%p3 bra WAIT;"""
AS_IT_WAS = "\n@!%p2 bra DONE;"


def bounded(after: str = AS_IT_WAS) -> str:
    """The kernel that loads a box, with a wait that gives up; it then leaves the memory as it was."""
    assert WAITING in copies.LOADING
    counted = copies.LOADING.replace("WAIT:", "mov.u32 %r6, 0;\nWAIT:", 1)
    return counted.replace(WAITING, TESTING + after)


def equal(body: str, name: str, described: TensorMap, tensor: np.ndarray, content: np.ndarray,
          start: tuple[int, ...]) -> None:  # fmt: skip
    """The same tensor and shared memory after the same kernel here and there."""
    compared(copies.module(body, name, described.rank, "tile"), described, tensor, content, start)


def compared(made: Module, described: TensorMap, tensor: np.ndarray, content: np.ndarray,
             start: tuple[int, ...], offsets: tuple[int, ...] = ()) -> None:  # fmt: skip
    skip_unless_made(described)
    c = np.array([*start, *[0] * (5 - len(start))], np.int32).tobytes()
    o = np.array([*offsets, *[0] * (3 - len(offsets))], np.uint16).tobytes()
    found = []
    for run in (on_cpu, on_gpu):
        mine = tensor.copy(), content.copy()
        run(made, "one", [(mine[0], described), mine[1], c, o, content.nbytes // 4], 1, 128)
        found.append([each.view(np.uint8).reshape(-1).view(np.uint32) for each in mine])
    for here, there in zip(*found, strict=True):
        wrong = np.argwhere(here != there).ravel()
        assert not len(wrong), [(int(each), hex(here[each]), hex(there[each])) for each in wrong[:6]]


@pytest.mark.parametrize("direction", ["load", "store", "add"])
@pytest.mark.parametrize("element", words.ELEMENTS)
def test_words(element: str, direction: str) -> None:
    described = tiled(element, (64, 128), (64, 128))
    for seed in range(8):
        rng = np.random.default_rng(seed)
        tensor, content = words.drawn(rng, 64 * 128), words.drawn(rng, 64 * 128)
        for place, each in enumerate((tensor, content)):
            each[1024 * place :][: len(words.WORDS)] = words.WORDS
        tensor[2048:3072] = content[2048:3072] ^ np.uint32(1 << 31)
        if direction == "load":
            equal(copies.LOADING, copies.LOAD, described, tensor, content, (0, 0))
        else:
            equal(copies.STORING, copies.STORE if direction == "store" else words.ADD, described, tensor, content,
                  (0, 0))  # fmt: skip


@pytest.mark.parametrize("described, start", slices.BOXED, ids=str)
def test_interleaved_boxes_arrive(described: TensorMap, start: tuple[int, ...]) -> None:
    tensor, _ = slices.boxes_and_numpy(described, start)
    equal(bounded(), copies.LOAD, described, tensor, np.full(described.box_bytes // 4, 0xABABABAB, np.uint32), start)


@pytest.mark.parametrize("described, start, adds", slices.STORED, ids=str)
def test_interleaved_boxes_are_stored(described: TensorMap, start: tuple[int, ...], adds: bool) -> None:
    tensor, _ = slices.boxes_and_numpy(described, start)
    content = np.random.default_rng(5).integers(0, 50, described.box_bytes).astype(np.uint8).view(np.uint32)
    equal(copies.STORING, words.ADD if adds else copies.STORE, described, tensor, content, start)


@pytest.mark.parametrize("channel, shift", [(0, 0), (8, 1), (16, 0), (1, 0), (24, 4), (-8, -1)])
@pytest.mark.parametrize("rank", [3, 4, 5])
@pytest.mark.parametrize("interleave", [16, 32])
def test_numbered_units(interleave: int, rank: int, channel: int, shift: int) -> None:
    """Tensors whose rows overlap, from places inside and outside."""
    described = slices.interleaved(
        "u16", interleave, *(each[rank] for each in (slices.DIMS, slices.STRIDES, slices.BOXES))
    )
    content = np.full(described.box_bytes // 4, 0xABABABAB, np.uint32)
    start = (channel, *[shift] * (rank - 1))
    equal(bounded(), copies.LOAD, described, np.arange(65536, dtype=np.uint16), content, start)


@pytest.mark.parametrize("described, start, offsets", slices.IMAGES, ids=str)
def test_interleaved_pixels_arrive(described: TensorMap, start: tuple[int, ...], offsets: tuple[int, ...]) -> None:
    made = copies.module(bounded(), copies.LOAD, described.rank, "im2col", offsets=len(offsets))
    compared(made, described, np.arange(32768, dtype=np.uint16),
             np.full(described.box_bytes // 4, 0xABABABAB, np.uint32), start, offsets)  # fmt: skip


FILLED = [(element, filled) for element in ("f16", "bf16", "f64", *words.ELEMENTS) for filled in (False, True)]


@pytest.mark.parametrize("element, nan_fill", FILLED)
def test_what_stands_outside(element: str, nan_fill: bool) -> None:
    """A row of which only the first 16 bytes are in the tensor."""
    size = ELEMENTS[element].bytes
    described = TensorMap(element, (16 // size, 1), (256,), (64 // size, 1), nan_fill=nan_fill)
    equal(copies.LOADING, copies.LOAD, described, np.zeros(64, np.uint32), np.ones(16, np.uint32), (0, 0))
