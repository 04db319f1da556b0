"""Shared layouts against a bank model of their own: 32 banks of 4 bytes, a request served in phases of 128 bytes."""

from __future__ import annotations

import itertools

import pytest

from ptxgen.derive import derive
from ptxgen.derive.layouts import fitting_vector
from ptxgen.derive.vectors import Echelon, extended, intersection
from ptxgen.tile import Copy, SharedLayout, Space
from tests.derive.computes import matmul, multiplied, pipelined, staged, tiled, transpose

BANKS, WORD_BYTES, PHASE_BYTES = 32, 4, 128


def shared_copies(plan: object) -> list[Copy]:
    ops = derive(plan).parts[0].ops  # type: ignore[arg-type]
    copies = [op.node for op in ops if isinstance(op.node, Copy)]
    return [c for c in copies if Space.SHARED in (c.source.buffer.space, c.destination.buffer.space)]


def worst_degree(copy: Copy) -> int:
    """The most distinct words of one bank that any phase of any access asks for."""
    side = copy.source if copy.source.buffer.space is Space.SHARED else copy.destination
    layout, width = side.buffer.layout, side.buffer.element.byte_count
    corner = tuple(o.constant for o in side.origin)
    held, vector = copy.distribution, copy.vector
    lanes_in_phase = min(32, PHASE_BYTES // (vector * width))
    worst = 0
    for first, base in itertools.product(range(0, 32, lanes_in_phase), range(0, held.value_count, vector)):
        words: set[int] = set()
        for lane in range(first, first + lanes_in_phase):
            for value in range(base, base + vector):
                place = held.coordinate(0, lane, value)
                offset = layout.offset(tuple(p + c for p, c in zip(place, corner, strict=True)))
                words.add(offset * width // WORD_BYTES)
        banks = [word % BANKS for word in words]
        worst = max(worst, *(banks.count(bank) for bank in banks))
    return worst


def is_aligned(copy: Copy) -> bool:
    """Whether the elements of each access are one aligned block."""
    side = copy.source if copy.source.buffer.space is Space.SHARED else copy.destination
    corner = tuple(o.constant for o in side.origin)
    for lane, base in itertools.product(range(32), range(0, copy.distribution.value_count, copy.vector)):
        found = set()
        for value in range(base, base + copy.vector):
            place = copy.distribution.coordinate(0, lane, value)
            found.add(side.buffer.layout.offset(tuple(p + c for p, c in zip(place, corner, strict=True))))
        start = min(found)
        if start % copy.vector or found != set(range(start, start + copy.vector)):
            return False
    return True


TILES = [(128, 128, 32, (64, 64)), (128, 128, 32, (64, 32)), (64, 64, 16, (32, 32)), (128, 64, 64, (32, 64))]


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_no_bank_conflict(layout: str, tile: tuple[int, int, int, tuple[int, int]]) -> None:
    copies = shared_copies(pipelined(multiplied(staged(tiled(matmul(layout), *tile)))))
    assert len(copies) == 2 + 2 * tile[2] // 4
    assert [worst_degree(copy) for copy in copies] == [1] * len(copies)
    assert all(is_aligned(copy) for copy in copies)


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_fragments_come_sixteen_bytes_at_once(layout: str) -> None:
    copies = shared_copies(pipelined(multiplied(staged(tiled(matmul(layout))))))
    assert {c.vector for c in copies if c.source.buffer.space is Space.SHARED} == {8}
    assert {c.vector for c in copies if c.source.buffer.space is Space.REGISTERS} <= {4, 8}


def test_transpose_has_no_bank_conflict() -> None:
    copies = shared_copies(transpose())
    assert [worst_degree(copy) for copy in copies] == [1, 1]
    assert all(is_aligned(copy) for copy in copies)


def test_linear_layouts_do_conflict() -> None:
    """The model sees conflicts where there are some: else the tests above could not fail."""
    copy = next(c for c in shared_copies(transpose()) if c.source.buffer.space is Space.SHARED)
    ring = copy.source.buffer
    linear = SharedLayout.linear(ring.shape, 1)
    assert fitting_vector(linear, copy.distribution, 8) == 1
    held = {copy.distribution.coordinate(0, lane, 0) for lane in range(32)}
    banks = [linear.offset(place) * 2 // WORD_BYTES % BANKS for place in held]
    assert max(banks.count(bank) for bank in banks) > 2


@pytest.mark.parametrize("layout", ["nn", "tt"])
def test_layouts_are_bijections(layout: str) -> None:
    for copy in shared_copies(pipelined(multiplied(staged(tiled(matmul(layout)))))):
        for side in (copy.source, copy.destination):
            if side.buffer.space is Space.SHARED:
                shape = side.buffer.shape
                offsets = {side.buffer.layout.offset(at) for at in itertools.product(*map(range, shape))}
                assert offsets == set(range(shape[0] * shape[1]))


def spanned(vectors: list[int]) -> set[int]:
    found = {0}
    for vector in vectors:
        found |= {vector ^ other for other in found}
    return found


def test_subspaces_against_enumeration() -> None:
    families = [[0b0011, 0b0101], [0b0110, 0b1001], [0b1000, 0b0100, 0b0010], [0b0001], [0b1111, 0b1100]]
    for first, second in itertools.product(families, repeat=2):
        assert spanned(intersection(first, second)) == spanned(first) & spanned(second)
        grown = extended(first, second, 4)
        assert spanned(grown) == {a ^ b for a in spanned(first) for b in spanned(second)}
        space = Echelon(first)
        for vector in range(16):
            mask = space.combination(vector)
            assert (mask is not None) == (vector in spanned(first))
            if mask is not None:
                total = 0
                for index, basis in enumerate(space.basis):
                    total ^= basis if mask >> index & 1 else 0
                assert total == vector
