"""`wmma`: fragments whose layout the manual leaves open. Here the elements, row by row, are dealt out to the lanes in
runs; where a fragment has room for more, its second half repeats the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import evolve, frozen

from isa.derive import shape_of
from isa.targets import Target
from isa.types import type_named
from ptxgen.simulate.accesses import Request, request_of, targets, watch
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.elements import elements_of
from ptxgen.simulate.fragments import stacked
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.semantics.matrices import multiply_of
from ptxgen.simulate.semantics.warps import meeting
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Reader, Site
from ptxgen.simulate.steps import assign

_RECORDED_SHAPES = {"f16": "m16n8k16", "bf16": "m16n8k16", "tf32": "m16n8k8"}
_VOLTA = (70, 72)
_DTYPES: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32}


@frozen(eq=False)
class _Opaque:
    """A fragment: extents of its matrix, type of its elements, registers. `turned` for a B whose columns are dealt
    out: those of less than a byte lie in memory so.
    """

    rows: int
    columns: int
    element: str
    registers: int
    turned: bool = False

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return type_named(self.element).bits

    @property
    def held(self) -> int:
        """Different elements that a lane holds."""
        return self.rows * self.columns // LANES

    def matrix(self, registers: Array) -> Array:
        """[registers, warps, 32] as element bits [rows, columns, warps]."""
        elements = np.moveaxis(elements_of(self.element)(registers), 0, 2)
        values = elements.reshape(*elements.shape[:2], -1)[..., : self.held]
        order = (2, 1, 0) if self.turned else (1, 2, 0)
        return np.ascontiguousarray(values.reshape(len(values), self.rows, self.columns).transpose(order))

    def registers_of(self, matrix: Array) -> Array:
        """The inverse, for elements of 8 bits or more: [warps, 32, registers] of unsigned words."""
        values = np.ascontiguousarray(matrix.transpose(2, 0, 1)).reshape(matrix.shape[2], LANES, self.held)
        return self.packed(values)

    def packed(self, values: Array) -> Array:
        """Values [warps, 32, held] in registers, repeated where there is room."""
        word = np.uint64 if self.bits == 64 else np.uint32
        wanted = self.registers * max(1, 32 // self.bits)
        repeated = np.concatenate([values] * (wanted // self.held), axis=2)
        words: Array = np.ascontiguousarray(repeated).view(word)
        return words


def _fragment(site: Site, operand: str, element: str, slot: int) -> _Opaque:
    rows, columns, depth = shape_of(str(site.instruction.form.words["shape"]))
    turned = operand == "b" and type_named(element).bits < 8
    extents = {"a": (rows, depth), "b": (columns, depth) if turned else (depth, columns)}.get(operand, (rows, columns))
    return _Opaque(*extents, element, site.slots[slot].count, turned)


def wmma(site: Site, target: Target) -> Step:
    """Load, multiply or store opaque fragments."""
    if site.has("load", "store"):
        return _move(site)
    return _multiply(site, target)


def _move(site: Site) -> Step:
    words = site.instruction.form.words
    operand = next(each for each in ("a", "b", "c", "d") if each in words)
    loads, element = "load" in words, str(words["type"])
    place = 1 if loads else 0
    of = _fragment(site, operand, element, 0 if loads else 1)
    if of.bits < 8:
        return _load(site, _words(of), [_run_request(site, of, place)])
    requests = _requests(site, of, place)
    return _load(site, of, requests) if loads else _store(site, of, requests)


def _words(of: _Opaque) -> _Opaque:
    """Elements of less than a byte as words: each lane holds one, a run of a row of A or of a column of B."""
    return _Opaque(of.rows, of.columns * of.bits // 32, "b32", of.registers)


def _run_request(site: Site, of: _Opaque, address: int) -> Request:
    """The request for a lane's word of elements of less than a byte; the stride counts elements."""
    whole, words = request_of(site, address, 4), of.columns * of.bits // 32
    stride = site.read(2, np.int64) if len(site.slots) > 2 else (lambda r: np.full((1, 1), of.columns, np.int64))
    row, word = np.divmod(np.arange(LANES)[None, :], words)
    return evolve(whole, address=lambda r: whole.address(r) + row * (stride(r) * of.bits // 8) + 4 * word)


def _requests(site: Site, of: _Opaque, address: int) -> list[Request]:
    """One request for each element that a lane holds."""
    whole = request_of(site, address, of.bits // 8)
    by_row = site.instruction.form.words["layout"] == "row"
    default = of.columns if by_row else of.rows
    stride = site.read(2, np.int64) if len(site.slots) > 2 else (lambda r: np.full((1, 1), default, np.int64))
    made = []
    for value in range(of.held):
        row, column = np.divmod(np.arange(LANES)[None, :] * of.held + value, of.columns)
        far, near = (row, column) if by_row else (column, row)
        made.append(evolve(whole, address=_element(whole.address, stride, far, near, of.bits // 8)))
    return made


def _element(base: Reader, stride: Reader, far: Array, near: Array, size: int) -> Reader:
    return lambda r: base(r) + (far * stride(r) + near) * size


def _load(site: Site, of: _Opaque, requests: list[Request]) -> Step:
    writers = [assign(site, place) for place in site.destinations()]
    dtype, guard = np.dtype(f"u{of.bits // 8}"), site.guard()

    def then(group: Group, batch: Batch) -> None:
        values = np.zeros((*group.shape, of.held), dtype)
        for place, request in enumerate(requests):
            for target in targets(request, group, batch, reads=True):
                found = target.memory.arena.load(target.index, dtype.itemsize)
                watch(request, group, batch, target, None, writes=False)
                values[..., place] = found if target.mask is None else np.where(target.mask, found, values[..., place])
        words = of.packed(values)
        keep = guard(group.registers) if guard is not None else None
        for place, write in enumerate(writers):
            write(group.registers, np.ascontiguousarray(words[..., place]), keep)

    return meeting(site, None, then)


def _store(site: Site, of: _Opaque, requests: list[Request]) -> Step:
    word = np.dtype(np.uint64 if of.bits == 64 else np.uint32)
    sources = site.vector(1, word)

    def then(group: Group, batch: Batch) -> None:
        registers = stacked(tuple(source(group.registers) for source in sources), group)
        elements = np.moveaxis(elements_of(of.element)(registers), 0, 2).reshape(*group.shape, -1)
        for place, request in enumerate(requests):
            values = elements[..., place]
            for target in targets(request, group, batch, reads=False):
                mask = np.ones(group.shape, np.bool_) if target.mask is None else target.mask
                target.memory.arena.store(target.index[mask], values[mask], of.bits // 8)
                watch(request, group, batch, target, values[mask][:, None], writes=True)

    return meeting(site, None, then)


def _multiply(site: Site, target: Target) -> Step:
    words = site.instruction.form.words
    atype, btype = str(words.get("atype", "f16")), str(words.get("btype", "f16"))
    shape = "m8n8k4" if atype == "f16" and target.number in _VOLTA else _RECORDED_SHAPES.get(atype, "")
    multiply = multiply_of(site, target, shape=shape)
    of_a, of_b = _fragment(site, "a", atype, 1), _fragment(site, "b", btype, 2)
    of_c, of_d = _fragment(site, "c", str(words["ctype"]), 3), _fragment(site, "d", str(words["dtype"]), 0)
    readers = [site.vector(place, np.uint64 if atype == "f64" else np.uint32) for place in (1, 2, 3)]
    writers = [assign(site, place) for place in site.destinations()]
    guard = site.guard()

    def then(group: Group, batch: Batch) -> None:
        r = group.registers
        a, b, c = (stacked(tuple(read(r) for read in each), group) for each in readers)
        start = of_c.matrix(c).view(_DTYPES[of_c.element])
        made = multiply(of_a.matrix(a).swapaxes(0, 1), of_b.matrix(b), start)
        bits = of_d.registers_of(made.view(f"u{of_d.bits // 8}"))
        keep = guard(r) if guard is not None else None
        for place, write in enumerate(writers):
            write(r, np.ascontiguousarray(bits[..., place]), keep)

    return meeting(site, None, then)
