"""Copies of interleaved tensors: where a GPU found each unit, and numpy arrays whose last axis is a slice."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from isa.descriptors import Swizzle
from isa.tensor_maps import Im2col, Interleave, TensorMap
from tests.simulate.asynchronous import test_tensor_copies as copies

UNIT = 16
DIMS = {3: (32, 6, 5), 4: (32, 6, 5, 4), 5: (32, 3, 3, 3, 3)}
STRIDES = {3: (1 << 8, 1 << 12), 4: (1 << 6, 1 << 9, 1 << 13), 5: (1 << 6, 1 << 8, 1 << 10, 1 << 13)}
BOXES = {3: (16, 3, 2), 4: (16, 3, 2, 2), 5: (16, 2, 2, 2, 2)}
RECORDED = [
    line.split()[1:]
    for line in (Path(__file__).parent / "hardware_tensor_copies.txt").read_text().splitlines()
    if line.startswith("box")
]


def interleaved(element, interleave, dims, strides, box, **more):
    """A map; slices of 32 bytes have the swizzle that they must have."""
    form = Interleave(interleave)
    swizzle = Swizzle.BYTES_32 if form is Interleave.BYTES_32 else Swizzle.NONE
    return TensorMap(element, dims, strides, box, interleave=form, swizzle=swizzle, **more)


def unshuffled(content, swizzle):
    """The bytes of shared memory in the order of the box."""
    return np.array([content[swizzle.place(byte)] for byte in range(len(content))], np.uint8)


@pytest.mark.parametrize("interleave, start, runs", [(int(row[0]), row[1], tuple(row[2:])) for row in RECORDED])
def test_units_come_from_where_a_gpu_took_them(interleave, start, runs):
    """Each element of the tensor is its own number, so the first of a unit tells where it was."""
    first = tuple(int(each) for each in start.split(","))
    described = interleaved("u16", interleave, *(each[len(first)] for each in (DIMS, STRIDES, BOXES)))
    content = np.zeros(described.box_bytes // 4, np.uint32)
    made = copies.module(copies.LOADING, copies.LOAD, len(first), "tile")
    copies.launch(made, described, np.arange(65536, dtype=np.uint16), content, first).raise_findings()
    units = unshuffled(content.view(np.uint8), described.swizzle).view(np.uint16).reshape(-1, UNIT // 2)
    wanted = []
    for run in runs:
        byte, _, count = run.partition("+")
        wanted += [int(byte, 16) + UNIT * each for each in range(int(count))]
    assert (units == units[:, :1] + np.arange(UNIT // 2, dtype=np.uint16)).all()
    assert [hex(2 * int(unit[0])) for unit in units[: len(wanted)]] == [hex(each) for each in wanted]


def packed(element, interleave, dims, box, **more):
    """The map of a tensor without gaps."""
    strides = [interleave]
    for extent in dims[:-1]:
        strides.append(strides[-1] * extent)
    return interleaved(element, interleave, dims, tuple(strides[1:]), box, **more)


BOXED = [
    (packed("f16", 16, (20, 5, 3), (8, 3, 2)), (0, 0, 0)),
    (packed("f16", 16, (9, 7, 4, 3), (5, 3, 2, 2)), (6, -1, 3, 2)),
    (packed("u8", 32, (7, 5, 4, 3, 2), (4, 3, 2, 2, 2)), (-2, 3, -1, 1, 1)),
    (packed("f32", 32, (16, 4, 6), (16, 2, 1)), (3, 1, 5)),
    (packed("u32", 16, (30, 9, 4), (16, 6, 2), element_strides=(3, 2, 1)), (-3, 4, 2)),
    (packed("u64", 32, (24, 5, 3), (12, 3, 2), element_strides=(2, 1, 1)), (15, -1, -1)),
    (packed("bf16", 32, (12, 3, 3), (8, 2, 2), nan_fill=True), (-5, 2, 1)),
    (packed("u16", 16, (32, 4, 3), (16, 2, 2)), (1, 0, 0)),
]


def taken(described, start):
    """For each axis, images first, the indices of the box; and which of its slices lie in the tensor."""
    steps = described.element_strides
    axes = [
        first + step * np.arange(-(-extent // step))
        for first, step, extent in zip(start, steps, described.box, strict=True)
    ]
    axes[-2] = axes[-2][:1]
    axes = axes[::-1]
    inside = [(axis >= 0) & (axis < extent) for axis, extent in zip(axes, described.dims[::-1], strict=True)]
    return axes, inside


def boxes_and_numpy(described, start):
    """A tensor [images, slices, ..., width, bytes of a slice], and what numpy takes of it, zeros (NaNs) outside."""
    rng = np.random.default_rng(3)
    tensor = rng.integers(0, 50, (*described.dims[::-1], described.interleave.value)).astype(np.uint8)
    axes, inside = taken(described, start)
    box = np.zeros((*(len(axis) for axis in axes), described.interleave.value), np.uint8)
    if described.nan_fill:
        box.view(np.uint16)[...] = 0x7FF7
    box[np.ix_(*inside)] = tensor[np.ix_(*(axis[here] for axis, here in zip(axes, inside, strict=True)))]
    return tensor, box


@pytest.mark.parametrize("described, start", BOXED)
def test_slices_arrive(described, start):
    tensor, wanted = boxes_and_numpy(described, start)
    content = np.zeros(described.box_bytes // 4, np.uint32)
    assert content.nbytes == wanted.size
    copies.launch(copies.module(copies.LOADING, copies.LOAD, described.rank, "tile"), described, tensor, content, start
                  ).raise_findings()  # fmt: skip
    assert np.array_equal(unshuffled(content.view(np.uint8), described.swizzle), wanted.ravel())


STORED = [
    (described, tuple(max(0, each) for each in start), adds)
    for described, start in BOXED
    for adds in (False, True)
    if not described.nan_fill and (not adds or described.element in ("u32", "u64"))
]


@pytest.mark.parametrize("described, start, adds", STORED)
def test_slices_are_stored_and_added_inside_the_tensor_only(described, start, adds):
    tensor, _ = boxes_and_numpy(described, start)
    rng = np.random.default_rng(4)
    axes, inside = taken(described, start)
    dtype = f"u{described.element_bytes}"
    box = rng.integers(0, 50, (*(len(axis) for axis in axes), described.interleave.value)).astype(np.uint8).view(dtype)
    wanted = tensor.copy().view(dtype)
    there = np.ix_(*(axis[here] for axis, here in zip(axes, inside, strict=True)))
    wanted[there] = box[np.ix_(*inside)] + (wanted[there] if adds else box.dtype.type(0))
    name = copies.REDUCE.replace("{op}", "add") if adds else copies.STORE
    content = copies.shuffled(box.view(np.uint8).ravel(), described.swizzle).view(np.uint32)
    copies.launch(copies.module(copies.STORING, name, described.rank, "tile"), described, tensor, content, start
                  ).raise_findings()  # fmt: skip
    assert np.array_equal(tensor.view(dtype), wanted)


IMAGES = [
    (packed("u16", 16, (8, 6, 4, 3), (8,), im2col=Im2col((0, 0), (0, 0), 24)), (0, 0, 0, 0), (0, 0)),
    (packed("f16", 16, (7, 6, 3, 2), (16,), im2col=Im2col((-1, -1), (-1, -1), 40)), (2, -1, 1, 0), (2, 1)),
    (packed("u8", 32, (9, 8, 2, 2), (32,), element_strides=(2, 2, 1, 1), im2col=Im2col((0, 0), (-2, -2), 20)),
     (4, 2, 1, 0), (1, 2)),
    (packed("f32", 32, (20, 5, 4), (8,), nan_fill=True, im2col=Im2col((-2,), (1,), 50)), (-2, 3, 1), (3,)),
    (packed("u8", 16, (5, 4, 3, 4, 2), (16,), im2col=Im2col((-1, 0, -1), (0, 0, 0), 70)), (0, 1, -1, 2, 0), (1, 0, 1)),
]  # fmt: skip


@pytest.mark.parametrize("described, start, offsets", IMAGES, ids=str)
def test_slices_of_pixels_arrive_as_columns(described, start, offsets):
    rng = np.random.default_rng(7)
    tensor = rng.integers(0, 50, (*described.dims[::-1], described.interleave.value)).astype(np.uint8)
    content = np.zeros(described.box_bytes // 4, np.uint32)
    made = copies.module(copies.LOADING, copies.LOAD, described.rank, "im2col", offsets=described.rank - 2)
    copies.launch(made, described, tensor, content, start, offsets).raise_findings()
    form, spatial = described.im2col, described.rank - 2
    spans = [
        range(form.lower[axis], described.dims[axis] + form.upper[axis], described.element_strides[axis])
        for axis in range(spatial)
    ]
    every = [(image, *spot) for image in range(start[-1], 99) for spot in itertools.product(*spans[::-1])]
    first = every.index((start[-1], *start[:spatial][::-1]))
    wanted = np.zeros((form.pixels, described.interleave.value), np.uint8)
    if described.nan_fill:
        wanted.view(np.uint16)[...] = 0x7FF7
    for number, (image, *spot) in enumerate(every[first : first + form.pixels]):
        at = [place + offset for place, offset in zip(spot[::-1], offsets, strict=True)]
        index = (image, start[spatial], *at[::-1])
        if all(0 <= each < extent for each, extent in zip(index, tensor.shape[:-1], strict=True)):
            wanted[number] = tensor[index]
    assert np.array_equal(unshuffled(content.view(np.uint8), described.swizzle), wanted.ravel())
