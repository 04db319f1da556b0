"""Tensor maps in memory: read by copies, changed and published by instructions."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from isa.descriptors import InvalidDescriptor
from isa.tensor_maps import ELEMENTS, MAP_ALIGNMENT, MAP_BYTES, TensorMap, decode
from ptxgen.simulate.accesses import WINDOWS, address_reader
from ptxgen.simulate.asynchronous import boxes
from ptxgen.simulate.asynchronous.operations import Issue
from ptxgen.simulate.asynchronous.runs import global_run, shared_run
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.memory import GLOBAL_BASE, WINDOW_BYTES, WRITTEN
from ptxgen.simulate.semantics.copy_starts import (
    issuers,
)
from ptxgen.simulate.semantics.mbarrier_users import place_of_slot
from ptxgen.simulate.semantics.warps import meeting
from ptxgen.simulate.signals import Step
from ptxgen.simulate.site import Array, Site


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
    """The 32 words of a tensor map in shared or global memory, to change in place; elsewhere None and a report."""
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
