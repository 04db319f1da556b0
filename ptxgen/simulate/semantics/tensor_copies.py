"""`cp.async.bulk.tensor` and what goes with it: boxes of tensors copied, combined and prefetched; tensor maps."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from isa.descriptors import InvalidDescriptor
from isa.tensor_maps import ELEMENTS, MAP_ALIGNMENT, MAP_BYTES, TensorMap, decode
from ptxgen.ir import Register, TensorCoordinate
from ptxgen.simulate.accesses import WINDOWS, address_reader
from ptxgen.simulate.asynchronous import boxes
from ptxgen.simulate.asynchronous.boxes import Box
from ptxgen.simulate.asynchronous.operations import Issue
from ptxgen.simulate.asynchronous.runs import Run, check_source, global_run, shared_run
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.memory import GLOBAL_BASE, RANK_MASK, WINDOW_BYTES, WRITTEN
from ptxgen.simulate.semantics.bulk_copies import (
    Lane,
    Loaded,
    Stored,
    into_shared,
    issuers,
    out_of_shared,
    refuse_unsupported,
    targets_of,
)
from ptxgen.simulate.semantics.mbarriers import place_of_slot
from ptxgen.simulate.semantics.reductions import combine
from ptxgen.simulate.semantics.warps import meeting
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Reader, Site

SHARED_ALIGNMENT = 128
_REFUSED = {"im2col::w": "im2col::w", "im2col::w::128": "im2col::w::128", "im2col_no_offs::w": "im2col_no_offs::w",
            "cta_group::2": "copies that signal the other CTA of a pair"}  # fmt: skip


@lru_cache(maxsize=64)
def decoded(content: bytes) -> tuple[TensorMap, int]:
    """The map in 128 bytes and the address of its tensor; UnsupportedError for what copies are not simulated of."""
    described, address = decode(content)
    boxes.refuse_unsupported(described)
    return described, address


def map_at(batch: Batch, issue: Issue, address: int) -> tuple[TensorMap, int] | None:
    """The tensor map at a generic address; None, and a report, where there is none."""
    name, start = "global", address - GLOBAL_BASE
    for window_name, window in WINDOWS:
        if window <= address < window + WINDOW_BYTES:
            name, start = window_name, address - window
    memory = batch.spaces[name]
    start -= memory.base if name != "global" else 0
    here = memory.arena.shadow[max(start, 0) : start + MAP_BYTES]
    if address % MAP_ALIGNMENT or start < 0 or len(here) < MAP_BYTES or (here != WRITTEN).any() or name == "local":
        what = f"wants a tensor map of {MAP_BYTES} written bytes at a multiple of {MAP_ALIGNMENT}, got {address:#x}"
        batch.journal.fault("tensor.map", issue.site, lambda: what, thread=issue.thread, address=address)
        return None
    try:
        return decoded(memory.arena.data[start : start + MAP_BYTES].tobytes())
    except InvalidDescriptor as error:
        what = f"finds at {address:#x} {error}"
        batch.journal.fault("tensor.map", issue.site, lambda: what, thread=issue.thread, address=address)
        return None


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

    def box(self, batch: Batch, lane: Lane, issue: Issue) -> tuple[TensorMap, int, Box] | None:
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
        if spread:
            return described, address, boxes.rows(described, start[0], start[1:])
        if pixelwise:
            offsets = [lane.value(each(r)) for each in self.offsets] or [0] * (described.rank - 2)
            return described, address, boxes.pixels(described, start, offsets)
        return described, address, boxes.tile(described, start)


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
    def arranged(taken: Array) -> Array:
        content = boxes.filled(described, box)
        content[box.inside] = taken
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
            found = coordinates.box(batch, lane, issue)
            if found is None or not aligned(batch, issue, lane.value(start)):
                continue
            described, address, box = found
            taken = shared_run(batch, issue, lane.value(start), box.bytes, what="copies", remote=False)
            given = _tensor_run(batch, issue, address, box)
            if taken is None or given is None:
                continue
            places = boxes.swizzled(described.swizzle, lane.value(start) & RANK_MASK, box.bytes)
            combining = None if operation is None else combine(operation, described.element)
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


_FIELDS: dict[str, tuple[int, int, int]] = {
    "rank": (8, 4, 3), "elemtype": (8, 7, 4), "interleave_layout": (8, 11, 2), "swizzle_mode": (8, 13, 2),
    "fill_mode": (8, 15, 1),
}  # fmt: skip


def replace(site: Site) -> Step:
    """`tensormap.replace`: one field of a tensor map in memory."""
    field = str(site.instruction.form.words["field"])
    ordinal = site.read(place_of_slot(site, "ordinal"), np.int64) if place_of_slot(site, "ordinal") >= 0 else None
    new, address = site.read(place_of_slot(site, "new"), np.uint64), address_reader(site, place_of_slot(site, "a"))
    if field == "swizzle_atomicity":
        raise site.unsupported("the atomicity of swizzles")
    space = str(site.instruction.form.words.get("space") or "").partition("::")[0]
    lanes = issuers(site)

    def step(group: Group, batch: Batch) -> None:
        r = group.registers
        at, value = address(r), new(r)
        which = np.zeros(group.shape, np.int64) if ordinal is None else np.broadcast_to(ordinal(r), group.shape)
        for lane, issue in lanes(group, batch):
            words = map_words(batch, issue, space, lane.value(at))
            if words is not None:
                _replace(words, field, int(which[lane.row, lane.lane]), lane.value(value))

    return step


def map_words(batch: Batch, issue: Issue, space: str, address: int) -> Array | None:
    """The 32 words of a tensor map in shared or global memory, to be changed in place; None, and a report, elsewhere.
    """
    if space == "shared" or (not space and address < GLOBAL_BASE):
        run = shared_run(batch, issue, address, MAP_BYTES, what="changes a tensor map", remote=False)
        memory, start = batch.spaces["shared"], -1 if run is None else int(run.index[0])
    else:
        memory, start = batch.spaces["global"], address - GLOBAL_BASE
        if not 0 <= start <= memory.size_bytes - MAP_BYTES or address % 16:
            start = -1
    if start < 0 or (memory.arena.shadow[start : start + MAP_BYTES] != WRITTEN).any():
        what = f"wants a tensor map of {MAP_BYTES} written bytes, got {address:#x}"
        batch.journal.fault("tensor.map", issue.site, lambda: what, thread=issue.thread, address=address)
        return None
    words: Array = memory.arena.data[start : start + MAP_BYTES].view(np.uint32)
    return words


def _replace(words: Array, field: str, ordinal: int, value: int) -> None:
    value &= (1 << 64) - 1
    match field:
        case "global_address":
            words[0], words[1] = value & 0xFFFFFFFF, value >> 32
        case "global_dim":
            words[8 + ordinal] = (value - 1) & 0xFFFFFFFF
        case "global_stride":
            words[3 + ordinal] = value >> 4 & 0xFFFFFFFF
            _set(words, 28, 4 * ordinal, 4, value >> 36)
        case "box_dim":
            _set(words, *((52, 24, 8) if ordinal == 0 else (56, 8 * (ordinal - 1), 8)), value - 1)
        case "element_stride":
            _set(words, 52, 3 * ordinal, 3, value - 1)
        case "elemtype":
            element = next(each for each in ELEMENTS.values() if each.number == value)
            _set(words, *_FIELDS[field], element.code)
            _set(words, 8, 16, 1, int(element.tf32))
        case _:
            _set(words, *_FIELDS[field], value)


def _set(words: Array, byte: int, low: int, width: int, value: int) -> None:
    mask = ((1 << width) - 1) << low
    words[byte // 4] = (int(words[byte // 4]) & ~mask) | (value << low & mask)


def publish(site: Site) -> Step:
    """`tensormap.cp_fenceproxy`: a map from shared to global memory, by a warp; tensor copies see it from then on."""
    destination, source = (address_reader(site, place_of_slot(site, name)) for name in ("destination", "source"))
    lanes = issuers(site)

    def step(group: Group, batch: Batch) -> None:
        to, start = destination(group.registers), source(group.registers)
        firsts = {lane.row: (lane, issue) for lane, issue in reversed(list(lanes(group, batch)))}
        for lane, issue in firsts.values():
            words = map_words(batch, issue, "shared", lane.value(start))
            given = global_run(batch, issue, lane.value(to), MAP_BYTES, what="copies a tensor map")
            if words is not None and given is not None:
                given.put(words.view(np.uint8).reshape(-1, given.width))

    return meeting(site, None, step)


MAKERS: dict[str, Callable[[Site], Any]] = {
    "cp.async.bulk.tensor": tensor_copy, "cp.reduce.async.bulk.tensor": store,
    "cp.async.bulk.prefetch.tensor": prefetch, "tensormap.replace": replace, "tensormap.cp_fenceproxy": publish,
}  # fmt: skip
