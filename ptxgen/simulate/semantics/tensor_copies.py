"""`cp.async.bulk.tensor` and what goes with it: boxes of tensors copied, combined and prefetched; tensor maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isa.tensor_maps import ELEMENTS, TensorMap
from ptxgen.ir import Register, TensorCoordinate
from ptxgen.simulate.accesses import WINDOWS, address_reader
from ptxgen.simulate.asynchronous import boxes
from ptxgen.simulate.asynchronous.boxes import Box
from ptxgen.simulate.asynchronous.operations import Issue
from ptxgen.simulate.asynchronous.runs import Run, check_source, shared_run
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.memory import GLOBAL_BASE, RANK_MASK
from ptxgen.simulate.semantics.copy_starts import (
    Lane,
    Loaded,
    Stored,
    into_shared,
    issuers,
    out_of_shared,
    refuse_unsupported,
    targets_of,
)
from ptxgen.simulate.semantics.mbarrier_users import place_of_slot
from ptxgen.simulate.semantics.tensor_elements import combine_elements, loaded
from ptxgen.simulate.semantics.tensor_maps import map_at, publish, replace
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Reader, Site

SHARED_ALIGNMENT = 128


_REFUSED = {"im2col::w": "im2col::w", "im2col::w::128": "im2col::w::128", "im2col_no_offs::w": "im2col_no_offs::w",
            "cta_group::2": "copies that signal the other CTA of a pair"}  # fmt: skip


class _Coordinates:
    """The map and coordinates of a tensor operand, and the offsets of `im2col`."""

    def __init__(self, site: Site) -> None:
        for word, why in _REFUSED.items():
            if site.has(word):
                raise site.unsupported(why)
        operand = site.operands[place_of_slot(site, "tensor")]
        if not isinstance(operand, TensorCoordinate) or operand.whole is not None:
            raise site.unsupported("coordinates that are no tuple")
        self.site = site
        generic = np.dtype(np.int64)
        self.map: Reader = site.scalar(operand.map, generic)
        if not isinstance(operand.map, Register):
            window = dict(WINDOWS)["param"] if operand.map.name not in site.bank.ranked else 0
            read = self.map
            inside = site.symbol(operand.map.name) < GLOBAL_BASE
            self.map = lambda r: read(r) + (window if inside else 0)
        self.coordinates = [site.scalar(each, np.dtype(np.int32)) for each in operand.coordinates]
        place = place_of_slot(site, "offsets")
        self.offsets = site.vector(place, np.dtype(np.uint16)) if place >= 0 else []

    def box(self, batch: Batch, lane: Lane, issue: Issue, *, stored: bool = False) -> tuple[TensorMap, int, Box] | None:
        """The map, the tensor's address and the box that a lane names; None, and a report, where they do not fit."""
        r = lane.group.registers
        found = map_at(batch, issue, lane.value(self.map(r)))
        if found is None:
            return None
        described, address = found
        start = [lane.value(each(r)) for each in self.coordinates]
        spread = self.site.has("tile::gather4", "tile::scatter4")
        pixelwise = self.site.has("im2col", "im2col_no_offs")
        if (2 if spread else len(start)) != described.rank or pixelwise != (described.im2col is not None):
            what = f"does not fit the map: {described}"
            batch.journal.fault("tensor.map", issue.site, lambda: what, thread=issue.thread)
            return None
        wrong = "" if spread else boxes.misfit(described, start, stored=stored)
        if wrong:
            batch.journal.fault("tensor.box", issue.site, lambda: wrong, thread=issue.thread)
            return None
        if spread:
            return described, address, boxes.rows(described, start[0], start[1:])
        if pixelwise:
            offsets = [lane.value(each(r)) for each in self.offsets] or [0] * (described.rank - 2)
            return described, address, boxes.pixels(described, start, offsets)
        return described, address, boxes.tile(described, start, stored=stored)


def _tensor_run(batch: Batch, issue: Issue, address: int, box: Box) -> Run | None:
    """The units of a box that lie in the tensor; None, and a report, where the tensor is no allocated memory."""
    memory = batch.spaces["global"]
    start = address - GLOBAL_BASE
    index = start + box.offsets[box.inside]
    outside = (index < 0) | (index > memory.size_bytes - box.width)
    if not outside.any():
        outside = memory.arena.shadow[index] == 0
    if outside.any():
        wrong = int(index[int(outside.argmax())]) + GLOBAL_BASE
        what = f"goes to {wrong:#x}, inside the tensor that its map describes but outside every allocation"
        batch.journal.fault("memory.bounds", issue.site, lambda: what, thread=issue.thread, address=wrong)
        return None
    return Run(memory, index, box.width, address)


def load(site: Site) -> Step:
    """A box of a tensor to shared memory, ending at an mbarrier there."""
    lanes, ranks, coordinates = issuers(site), targets_of(site), _Coordinates(site)
    destination, mbar = (address_reader(site, place_of_slot(site, name)) for name in ("destination", "mbar"))

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        to, bars = destination(r), mbar(r)
        for lane, issue in lanes(group, batch):
            found = coordinates.box(batch, lane, issue)
            if found is None or not aligned(batch, issue, lane.value(to)):
                continue
            described, address, box = found
            taken = _tensor_run(batch, issue, address, box)
            if taken is None:
                continue
            check_source(batch, issue, taken)
            arranged = _arranged(described, box, lane.value(to) & RANK_MASK)
            into_shared(
                batch, issue, Loaded(taken, box.bytes, arranged), (lane.value(to), lane.value(bars)), ranks(lane)
            )

    return step


def _arranged(described: TensorMap, box: Box, address: int) -> Callable[[Array], Array]:
    element = ELEMENTS[described.element]

    def arranged(taken: Array) -> Array:
        content = boxes.filled(described, box)
        content[box.inside] = loaded(element, taken)
        units = content.reshape(-1, boxes.grain(described.swizzle))
        places = boxes.swizzled(described.swizzle, address, box.bytes)
        result = np.empty_like(units)
        result[places] = units
        return result

    return arranged


def aligned(batch: Batch, issue: Issue, address: int) -> bool:
    """Whether tensor copies take a place in shared memory; it is reported if not."""
    if address % SHARED_ALIGNMENT:
        what = f"has {address:#x} in shared memory, which is no multiple of {SHARED_ALIGNMENT}"
        batch.journal.fault("memory.misaligned", issue.site, lambda: what, thread=issue.thread, address=address)
        return False
    return True


def store(site: Site) -> Step:
    """A box in shared memory to a tensor, copied or combined with what is there; it ends with a group of the thread."""
    lanes, coordinates = issuers(site), _Coordinates(site)
    source = address_reader(site, place_of_slot(site, "source"))
    operation = str(site.instruction.form.words["op"]) if site.opcode.startswith("cp.reduce") else None

    def step(group: Group, batch: Batch) -> None:
        start = source(group.registers)
        for lane, issue in lanes(group, batch):
            found = coordinates.box(batch, lane, issue, stored=True)
            if found is None or not aligned(batch, issue, lane.value(start)):
                continue
            described, address, box = found
            taken = shared_run(batch, issue, lane.value(start), box.bytes, what="copies", remote=False)
            given = _tensor_run(batch, issue, address, box)
            if taken is None or given is None:
                continue
            places = boxes.swizzled(described.swizzle, lane.value(start) & RANK_MASK, box.bytes)
            combining = None if operation is None else combine_elements(operation, ELEMENTS[described.element])
            stored = Stored(given, combining, lambda got, places=places, box=box: _unswizzled(got, places, box))  # type: ignore[misc]
            out_of_shared(batch, issue, taken, stored)

    return step


def _unswizzled(got: Array, places: Array, box: Box) -> Array:
    content: Array = got.reshape(len(places), -1)[places].reshape(-1, box.width)[box.inside]
    return content


def prefetch(site: Site) -> Step:
    """Bring a box into L2: nothing that the simulator models, but the map must be one."""
    lanes, coordinates = issuers(site), _Coordinates(site)

    def step(group: Group, batch: Batch) -> None:
        for lane, issue in lanes(group, batch):
            coordinates.box(batch, lane, issue)

    return step


def tensor_copy(site: Site) -> Step:
    """A copy of a box, in whichever direction."""
    refuse_unsupported(site)
    return store(site) if site.has("bulk_group") else load(site)


MAKERS: dict[str, Callable[[Site], Any]] = {
    "cp.async.bulk.tensor": tensor_copy, "cp.reduce.async.bulk.tensor": store,
    "cp.async.bulk.prefetch.tensor": prefetch, "tensormap.replace": replace, "tensormap.cp_fenceproxy": publish,
}  # fmt: skip
