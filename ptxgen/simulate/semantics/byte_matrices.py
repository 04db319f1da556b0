"""Matrices of bytes between shared memory and the fragments of a warp, also bytes that are packed to 6 or 4 bits there.

Rows of 16 elements lie 16 bytes apart at least, each where its lane's address says; packed rows leave the end of those
16 bytes alone. Unpacked elements stand in the low bits of their bytes. Which lane gets what is `isa.layouts`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from attrs import evolve

from isa.fragments import Fragment
from isa.layouts import matrix_layout
from ptxgen.simulate.accesses import Request, request_of, targets, watch
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.semantics.warps import meeting
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Reader, Site
from ptxgen.simulate.steps import assign

_ROW_ELEMENTS = 16
_PIECES = {"b6x16_p32": ((0, 8), (8, 4)), "b4x16_p64": ((0, 8),)}
_WHOLE_ROW = ((0, 16),)
_BITS = {"b6x16_p32": 6, "b4x16_p64": 4}


def layout_of(site: Site) -> Fragment:
    """Which element of which matrix each value of a lane is; UnsupportedError for a format that is not known."""
    words = site.instruction.form.words
    if words.get("dst_fmt", "b8x16") != "b8x16":
        raise site.unsupported("signed elements of four bits")
    number = int(str(words.get("num", "x1"))[1:])
    return matrix_layout(str(words["shape"]), number, transposed=site.has("trans"))


@cache
def _places(of: Fragment) -> tuple[Array, Array]:
    """The lane that has the row of each value, and the column, [32, values]."""
    places = np.array([[of.place(lane, value) for value in range(of.values)] for lane in range(LANES)])
    return places[..., 0] * of.rows + places[..., 1], places[..., 2]


def _addressed(guard: Reader | None, of: Fragment) -> Reader:
    first = np.less(np.arange(LANES), of.rows * of.tiles)[None, :]
    return (lambda r: first) if guard is None else (lambda r: guard(r) & first)


def _pieces(request: Request, pieces: tuple[tuple[int, int], ...]) -> list[tuple[int, Request]]:
    """A request for each piece of a row, with the byte where it begins."""

    def one(start: int, width: int) -> Request:
        return evolve(request, width_bytes=width, address=lambda r: request.address(r) + start)

    return [(start, one(start, width)) for start, width in pieces]


def _unpacked(rows: Array, bits: int) -> Array:
    """Rows of 16 bytes [..., 16] that hold 16 elements of so many bits, as bytes."""
    if bits == 8:
        return rows
    each = np.unpackbits(rows, axis=-1, bitorder="little")[..., : bits * _ROW_ELEMENTS]
    apart = each.reshape(*rows.shape[:-1], _ROW_ELEMENTS, bits)
    return np.packbits(apart, axis=-1, bitorder="little")[..., 0]


def load(site: Site) -> Step:
    """Each lane's address gives one row; the lanes get four bytes a register."""
    of, packing = layout_of(site), str(site.instruction.form.words.get("src_fmt", ""))
    request = request_of(site, 1, _ROW_ELEMENTS)
    guard = request.guard
    parts = _pieces(evolve(request, guard=_addressed(guard, of)), _PIECES.get(packing, _WHOLE_ROW))
    writers = [assign(site, place) for place in site.destinations()]
    lanes, columns = _places(of)

    def then(group: Group, batch: Batch) -> None:
        rows = np.zeros((*group.shape, _ROW_ELEMENTS), np.uint8)
        for start, part in parts:
            for target in targets(part, group, batch, reads=True):
                loaded = target.memory.arena.load(target.index, part.width_bytes)
                watch(part, group, batch, target, None, writes=False)
                found = np.ascontiguousarray(loaded)[..., None].view(np.uint8)
                kept = found if target.mask is None else np.where(target.mask[..., None], found, 0)
                rows[..., start : start + part.width_bytes] |= kept
        elements = _unpacked(rows, _BITS.get(packing, 8))[:, lanes, columns]
        words = np.ascontiguousarray(elements).view(np.uint32)
        keep = guard(group.registers) if guard is not None else None
        for place, write in enumerate(writers):
            write(group.registers, np.ascontiguousarray(words[..., place]), keep)

    return meeting(site, None, then)


def store(site: Site) -> Step:
    """The lanes' bytes go to rows at the addresses that the first lanes give."""
    of = layout_of(site)
    request = request_of(site, 0, _ROW_ELEMENTS)
    request = evolve(request, guard=_addressed(request.guard, of))
    sources = site.vector(1, np.uint32)
    lanes, columns = _places(of)

    def then(group: Group, batch: Batch) -> None:
        registers = [np.broadcast_to(source(group.registers), group.shape) for source in sources]
        values = np.ascontiguousarray(np.stack(registers, axis=-1)).view(np.uint8)
        rows = np.zeros((*group.shape, _ROW_ELEMENTS), np.uint8)
        rows[:, lanes, columns] = values
        whole = rows.view(np.complex128)[..., 0]
        for target in targets(request, group, batch, reads=False):
            mask = np.ones(group.shape, np.bool_) if target.mask is None else target.mask
            target.memory.arena.store(target.index[mask], whole[mask], _ROW_ELEMENTS)
            watch(request, group, batch, target, rows[mask], writes=True)

    return meeting(site, None, then)
