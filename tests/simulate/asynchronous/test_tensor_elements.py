"""What tensor copies do to words of f32, tf32 and their flushed kinds: what a GPU said, and integer arithmetic."""

from pathlib import Path

import numpy as np
import pytest

from isa.descriptors import InvalidDescriptor
from isa.tensor_maps import tiled
from ptxgen.errors import UnsupportedError
from tests.simulate.asynchronous import test_tensor_copies as copies

ELEMENTS = ["f32", "f32.ftz", "tf32", "tf32.ftz"]
ADD = copies.REDUCE.replace("{op}", "add")
RECORDED: list[np.ndarray] = list(np.array([
    [int(each, 16) for each in line.split()[1:]]
    for line in (Path(__file__).parent / "hardware_tensor_copies.txt").read_text().splitlines()
    if line.startswith("word")
], np.uint32).T)  # fmt: skip
WORDS = RECORDED[0]


def said(element: str, direction: str) -> np.ndarray:
    """What an H200 made of the words."""
    match direction:
        case "load" if element.startswith("tf32"):
            return RECORDED[1]
        case "add":
            return RECORDED[3 if element.endswith("ftz") else 2]
    return WORDS


def padded(words: np.ndarray) -> np.ndarray:
    return np.concatenate([words, np.zeros(-len(words) % 64, np.uint32)])


@pytest.mark.parametrize("direction", ["load", "store", "add"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_words_become_what_a_gpu_makes_of_them(element, direction):
    words, found = padded(WORDS), np.zeros(64, np.uint32)
    described = tiled(element, (1, 64), (1, 64))
    if direction == "load":
        made = copies.module(copies.LOADING, copies.LOAD, 2, "tile")
        report = copies.launch(made, described, words, found, (0, 0))
    else:
        made = copies.module(copies.STORING, copies.STORE if direction == "store" else ADD, 2, "tile")
        report = copies.launch(made, described, found, words, (0, 0))
    report.raise_findings()
    assert [hex(each) for each in found] == [hex(each) for each in padded(said(element, direction))]


def drawn(rng: np.random.Generator, count: int) -> np.ndarray:
    """Words with an eye to ties, subnormals and the largest numbers."""
    words = rng.integers(0, 1 << 32, count, np.uint32)
    words[::4] &= np.uint32(0x807FFFFF)
    near_ties = rng.integers(0xFFF, 0x1002, count // 4, np.uint32)
    words[1::4] = words[1::4] & np.uint32(0xFFFFE000) | near_ties
    words[2::16] |= np.uint32(0x7F7F0000)
    return words


def to_tf32(words: np.ndarray) -> np.ndarray:
    """To the nearest and ties to even by carries among integers, as they order floats of one sign."""
    wide = words.astype(np.int64)
    rounded = (wide + 0xFFF + (wide >> 13 & 1)) & 0xFFFFE000
    return np.where(wide & 0x7FFFFFFF > 0x7F800000, 0x7FFFE000, rounded).astype(np.uint32)


@pytest.mark.parametrize("element", ["tf32", "tf32.ftz"])
def test_loads_round_to_tf32(element):
    words = drawn(np.random.default_rng(1), 64 * 128)
    found = np.zeros(64 * 128, np.uint32)
    made = copies.module(copies.LOADING, copies.LOAD, 2, "tile")
    copies.launch(made, tiled(element, (64, 128), (64, 128)), words.copy(), found, (0, 0)).raise_findings()
    assert np.array_equal(found, to_tf32(words))


def test_what_lies_outside_is_zero_among_rounded_words():
    words, found = np.full((2, 6), 0x3F801FFF, np.uint32), np.ones(16, np.uint32)
    described = tiled("tf32", (2, 6), (2, 8), pitch_bytes=(32,))
    made = copies.module(copies.LOADING, copies.LOAD, 2, "tile")
    tensor = np.zeros((2, 8), np.uint32)
    tensor[:, :6] = words
    copies.launch(made, described, tensor, found, (0, 1)).raise_findings()
    assert found.tolist() == [0x3F802000] * 6 + [0] * 10


def test_flushed_sums_take_subnormals_in_the_tensor_as_zeros():
    there = np.array([1, 0x80000001, 0x00800001, 0x3F800000] * 16, np.uint32)
    come = np.array([0x00800000, 0x80000001, 0x80800000, 0x007FFFFF] * 16, np.uint32)
    made = copies.module(copies.STORING, ADD, 2, "tile")
    for element, wanted in (("f32.ftz", [0x00800000, 0x80000000, 0, 0x3F800000]),
                            ("f32", [0x00800001, 0x80000002, 1, 0x3F800000])):  # fmt: skip
        tensor = there.copy()
        copies.launch(made, tiled(element, (1, 64), (1, 64)), tensor, come.copy(), (0, 0)).raise_findings()
        assert [hex(each) for each in tensor[:4]] == [hex(each) for each in wanted]


@pytest.mark.parametrize("described, body, name, mode, words", [
    (tiled("tf32.ftz", (4, 8), (4, 8)), copies.STORING, copies.REDUCE.replace("{op}", "min"), "tile",
     ".min on tensors of tf32.ftz"),
    (tiled("b4x16", (4, 64), (4, 32)), copies.LOADING, copies.LOAD, "tile", "b4x16, which stand packed"),
])  # fmt: skip
def test_what_no_gpu_has_told_is_refused_by_name(described, body, name, mode, words):
    made = copies.module(body, name, described.rank, mode, offsets=int(mode == "im2col"))
    content = np.zeros(described.box_bytes // 4, np.uint32)
    with pytest.raises(UnsupportedError, match=words):
        copies.launch(made, described, np.zeros(4096, np.uint8), content, (0,) * described.rank, (0,))


def test_integers_are_not_filled_with_nan():
    with pytest.raises(InvalidDescriptor, match="only floats"):
        tiled("s32", (4, 8), (4, 8), nan_fill=True)
