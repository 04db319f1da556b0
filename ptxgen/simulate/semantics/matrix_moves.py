"""Matrices of 8 x 8 elements of 16 bits between shared memory and the fragments of a warp."""

from __future__ import annotations

import numpy as np
from attrs import evolve

from ptxgen.simulate.accesses import request_of, targets, watch
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.semantics import byte_matrices
from ptxgen.simulate.semantics.warps import meeting
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Reader, Site
from ptxgen.simulate.steps import assign

_ROW_BYTES = 16
_LANE = np.arange(32)
_ROW, _FIRST = _LANE >> 2, 2 * (_LANE & 3)


def _count(site: Site) -> int:
    return int(str(site.instruction.form.words.get("num", "x1"))[1:])


def _of_bytes(site: Site) -> bool:
    return site.instruction.form.words.get("type") != "b16"


def _fragment(rows: Array, matrix: int, transposed: bool) -> Array:
    """The register of each lane: elements (row, 2c) and (row, 2c + 1) of `rows` [warps, 32, 8], eight to a matrix."""
    own = rows[:, 8 * matrix : 8 * matrix + 8]
    pairs = np.stack([own[:, _FIRST + j, _ROW] if transposed else own[:, _ROW, _FIRST + j] for j in range(2)], axis=-1)
    register: Array = np.ascontiguousarray(pairs).view(np.uint32)[..., 0]
    return register


def _rows(registers: list[Array], transposed: bool, warps: int) -> Array:
    """The inverse: the rows that the lanes store, [warps, 32, 8]."""
    rows = np.zeros((warps, 32, 8), np.uint16)
    for matrix, register in enumerate(registers):
        halves = np.ascontiguousarray(register).view(np.uint16).reshape(warps, 32, 2)
        for j in range(2):
            if transposed:
                rows[:, 8 * matrix + _FIRST + j, _ROW] = halves[..., j]
            else:
                rows[:, 8 * matrix + _ROW, _FIRST + j] = halves[..., j]
    return rows


def _addressed(guard: Reader | None, count: int) -> Reader:
    """Lanes below 8 times the number of matrices give addresses."""
    first = np.less(_LANE, 8 * count)[None, :]
    return (lambda r: first) if guard is None else (lambda r: guard(r) & first)


def ldmatrix(site: Site) -> Step:
    """Each lane's address gives one row; the lanes get two elements of each matrix."""
    if _of_bytes(site):
        return byte_matrices.load(site)
    count, transposed = _count(site), site.has("trans")
    request = request_of(site, 1, _ROW_BYTES)
    guard = request.guard
    request = evolve(request, guard=_addressed(guard, count))
    writers = [assign(site, place) for place in site.destinations()]

    def then(group: Group, batch: Batch) -> None:
        raw = np.zeros(group.shape, np.complex128)
        for target in targets(request, group, batch, reads=True):
            loaded = target.memory.arena.load(target.index, _ROW_BYTES)
            watch(request, group, batch, target, None, writes=False)
            raw = loaded if target.mask is None else np.where(target.mask, loaded, raw)
        rows = np.ascontiguousarray(raw).view(np.uint16).reshape(*group.shape, 8)
        keep = guard(group.registers) if guard is not None else None
        for matrix, write in enumerate(writers):
            write(group.registers, _fragment(rows, matrix, transposed), keep)

    return meeting(site, None, then)


def stmatrix(site: Site) -> Step:
    """The lanes' elements go to rows at the addresses that the first lanes give."""
    if _of_bytes(site):
        return byte_matrices.store(site)
    count, transposed = _count(site), site.has("trans")
    request = request_of(site, 0, _ROW_BYTES)
    request = evolve(request, guard=_addressed(request.guard, count))
    sources = site.vector(1, np.uint32)

    def then(group: Group, batch: Batch) -> None:
        registers = [np.broadcast_to(source(group.registers), group.shape) for source in sources]
        rows = _rows(registers, transposed, len(group.warps))
        whole = rows.view(np.complex128)[..., 0]
        for target in targets(request, group, batch, reads=False):
            mask = np.ones(group.shape, np.bool_) if target.mask is None else target.mask
            target.memory.arena.store(target.index[mask], whole[mask], _ROW_BYTES)
            watch(request, group, batch, target, rows[mask], writes=True)

    return meeting(site, None, then)


def movmatrix(site: Site) -> Step:
    """The transpose of a matrix that the warp holds."""
    source, write, guard = site.read(1, np.uint32), assign(site, site.destinations()[0]), site.guard()

    def then(group: Group, batch: Batch) -> None:
        r = group.registers
        rows = _rows([np.broadcast_to(source(r), group.shape)], False, len(group.warps))
        write(r, _fragment(rows, 0, True), guard(r) if guard is not None else None)

    return meeting(site, None, then)
