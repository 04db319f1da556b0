"""Instructions of a whole warp: shuffles, votes, matches, reductions, and its barrier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from isa.types import Kind
from ptxgen.ir import Int, Operand
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.signals import Outcome, Signal, Step
from ptxgen.simulate.site import Array, Reader, Site
from ptxgen.simulate.steps import assign

_LANE = np.arange(LANES)
_ALL = 0xFFFFFFFF
_BIT = np.uint32(1) << np.arange(LANES, dtype=np.uint32)


def meeting(site: Site, members: Reader | None, then: Callable[[Group, Batch], None]) -> Step:
    """`then`, once all lanes of the member mask (None: all 32) that have not ended are here; others are reported."""
    guard = site.guard()
    names_all = members is None or any(isinstance(each, Int) and each.value & _ALL == _ALL for each in _masks(site))

    def step(group: Group, batch: Batch) -> Outcome:
        if group.alive is None and guard is None:
            if members is not None and not names_all:
                _judge_masks(site, members, group, batch, np.ones(group.shape, np.bool_))
            then(group, batch)
            return None
        outcome = _gathered(site, members, guard, group, batch)
        if outcome is None:
            then(group, batch)
        return outcome

    return step


def _masks(site: Site) -> Iterator[Operand]:
    """The operand that names the lanes, if there is one."""
    for slot, operand in zip(site.slots, site.operands, strict=False):
        if slot.name == "membermask":
            yield operand


def _judge_masks(site: Site, members: Reader, group: Group, batch: Batch, here: Array) -> None:
    """Report lanes that their own mask does not name, and lanes that name each other in different masks."""
    masks = np.broadcast_to(members(group.registers), group.shape)
    own = (masks & _BIT) != 0
    wrong = here & ~own
    what = "is run by lanes that their own mask does not name"
    if not wrong.any() and (masks != masks[:, :1]).any():
        named = (masks[:, :, None] & _BIT) != 0
        differs = masks[:, :, None] != masks[:, None, :]
        wrong = here & (named & differs & here[:, None, :]).any(axis=2)
        what = "is run by lanes that name each other in different masks"
    if not wrong.any():
        return
    row = int(wrong.any(axis=1).argmax())
    lanes = np.flatnonzero(wrong[row])
    told, thread = ", ".join(map(str, lanes)), batch.thread(group, row, int(lanes[0]))
    batch.journal.fault("warp.mask", site.index, lambda: f"{what}: {told}", thread=thread, count=int(wrong.sum()))


def _gathered(site: Site, members: Reader | None, guard: Reader | None, group: Group, batch: Batch) -> Outcome:
    active = group.active(guard(group.registers) if guard is not None else None)
    here = np.ones(group.shape, np.bool_) if active is None else active
    if members is None:
        wanted = np.ones(group.shape, np.bool_)
    else:
        wanted = (np.broadcast_to(members(group.registers), group.shape) & _BIT) != 0
        wanted = _any_lane(wanted & here) & _asked(members, group, here)
    absent = wanted & ~here & _any_lane(here)
    if members is not None:
        absent &= batch.existing[group.warps]
    if not absent.any() or group.forced:
        if absent.any():
            _report(site, group, batch, absent, here)
        elif members is not None:
            _judge_masks(site, members, group, batch, here)
        group.forced = False
        return None
    elsewhere = absent & batch.present[group.warps]
    if elsewhere.any() and guard is None:
        return Signal.REPEAT
    _report(site, group, batch, absent, here)
    return None


def _any_lane(mask: Array) -> Array:
    """[..., 32] to [..., 1]: whether any lane is set."""
    some: Array = np.logical_or.reduce(mask, axis=-1, keepdims=True)
    return some


def _mask_of(truth: Array) -> Array:
    """[..., 32] to [..., 1]: the lanes that are set, as a mask of 32 bits."""
    mask: Array = np.bitwise_or.reduce(np.where(truth, _BIT, np.uint32(0)), axis=-1, keepdims=True)
    return mask


def _asked(members: Reader, group: Group, here: Array) -> Array:
    """The lanes that some live lane of the warp names in its member mask."""
    masks = np.where(here, np.broadcast_to(members(group.registers), group.shape), np.uint32(0))
    union = np.bitwise_or.reduce(masks, axis=1)
    asked: Array = (union[:, None] & _BIT) != 0
    return asked


def _report(site: Site, group: Group, batch: Batch, absent: Array, here: Array) -> None:
    row = int(np.flatnonzero(absent.any(axis=1))[0])
    lanes = ", ".join(map(str, np.flatnonzero(absent[row])))
    first = int(here[row].argmax())
    what = f"needs lanes of its warp that are elsewhere or have ended: {lanes}"
    thread, count = batch.thread(group, row, first), int(absent.sum())
    batch.journal.fault("warp.divergent", site.index, lambda: what, thread=thread, count=count)


def bar_warp_sync(site: Site) -> Step:
    """The lanes of the mask meet and see each other's writes."""
    return meeting(site, site.read(0, np.uint32), lambda group, batch: batch.clocks.warp_barrier(group.warps))


def shfl(site: Site) -> Step:
    """Each lane takes another lane's value, and perhaps whether that lane lies in its segment."""
    written = sum(slot.written for slot in site.slots)
    a, b, c = (site.read(written + each, np.uint32) for each in range(3))
    members = site.read(written + 3, np.uint32) if site.has("sync") else None
    mode = str(site.instruction.form.words["mode"])
    writers = [assign(site, place) for place in site.destinations()]
    guard = site.guard()

    def then(group: Group, batch: Batch) -> None:
        r = group.registers
        source, inside = _source(mode, b(r), c(r), group)
        value = np.broadcast_to(a(r), group.shape)
        results = (np.take_along_axis(value, source, axis=1), inside)
        keep = guard(r) if guard is not None else None
        for write, result in zip(writers, results, strict=False):
            write(r, result, keep)

    return then if members is None else meeting(site, members, then)


def _source(mode: str, b: Array, c: Array, group: Group) -> tuple[Array, Array]:
    """The lane each lane reads, and whether it is in range, else the lane itself."""
    amount = np.broadcast_to(b, group.shape).astype(np.int64) & 31
    control = np.broadcast_to(c, group.shape).astype(np.int64)
    segment, clamp = (control >> 8) & 31, control & 31
    lowest = _LANE & segment
    highest = lowest | (clamp & ~segment)
    match mode:
        case "up":
            source = _LANE - amount
            inside = source >= highest
        case "down":
            source = _LANE + amount
            inside = source <= highest
        case "bfly":
            source = _LANE ^ amount
            inside = source <= highest
        case _:
            source = lowest | (amount & ~segment)
            inside = source <= highest
    return np.where(inside, source, _LANE) & 31, inside


def vote(site: Site) -> Step:
    """All, any, uniform, or the ballot of a predicate over the lanes of the mask; without `.sync`, that are here."""
    mode = str(site.instruction.form.words["mode"])
    p = site.read(1, np.bool_)

    def agree(group: Group, here: Array) -> Array:
        truth = np.broadcast_to(p(group.registers), group.shape)
        yes, no = _any_lane(truth & here), _any_lane(~truth & here)
        match mode:
            case "all":
                return ~no
            case "any":
                return yes
            case "uni":
                return ~(yes & no)
            case _:
                return _mask_of(truth & here)

    return _collective(site, site.read(2, np.uint32) if site.has("sync") else None, agree)


def _collective(site: Site, members: Reader | None, function: Callable[[Group, Array], Any]) -> Step:
    """The destinations from `function(group, participating lanes)`; without members the lanes that are here."""
    writers = [assign(site, place) for place in site.destinations()]
    guard = site.guard()

    def then(group: Group, batch: Batch) -> None:
        r = group.registers
        keep = guard(r) if guard is not None else None
        active = group.active(keep)
        here = np.ones(group.shape, np.bool_) if active is None else active
        if members is not None:
            here = here & ((np.broadcast_to(members(r), group.shape) & _BIT) != 0)
        found = function(group, here)
        for write, value in zip(writers, found if isinstance(found, tuple) else (found,), strict=False):
            write(r, value, keep)

    return then if members is None else meeting(site, members, then)


def match(site: Site) -> Step:
    """The lanes of the mask that hold the same value; `.all` gives all of them if they all do, else none."""
    written = sum(slot.written for slot in site.slots)
    a, members = site.read(written), site.read(written + 1, np.uint32)
    every = site.has("all")

    def same(group: Group, here: Array) -> Any:
        value = np.broadcast_to(a(group.registers), group.shape)
        equal = (value[:, :, None] == value[:, None, :]) & here[:, None, :]
        if not every:
            return _mask_of(equal)[..., 0]
        agreed = (equal == here[:, None, :]).all(axis=2)
        return np.where(agreed, _mask_of(here), np.uint32(0)), agreed

    return _collective(site, members, same)


def elect(site: Site) -> Step:
    """The lowest lane of the mask is chosen (the manual leaves the choice open): its number, and whether one is it."""

    def lowest(group: Group, here: Array) -> tuple[Array, Array]:
        leader = here.argmax(axis=1)[:, None]
        return leader.astype(np.uint32), np.arange(LANES) == leader

    return _collective(site, site.read(2, np.uint32), lowest)


_REDUCTIONS: dict[str, tuple[Any, Any]] = {
    "add": (np.add, lambda dtype: 0),
    "min": (np.minimum, lambda dtype: np.iinfo(dtype).max),
    "max": (np.maximum, lambda dtype: np.iinfo(dtype).min),
    "and": (np.bitwise_and, lambda dtype: np.iinfo(dtype).max),
    "or": (np.bitwise_or, lambda dtype: 0),
    "xor": (np.bitwise_xor, lambda dtype: 0),
}


def redux(site: Site) -> Step:
    """The reduction of a value over the lanes of the mask."""
    if site.type(0).kind is Kind.FLOAT:
        return _extreme(site)
    function, neutral = _REDUCTIONS[str(site.instruction.form.words["op"])]
    a, members = site.read(1), site.read(2, np.uint32)

    def reduce(group: Group, here: Array) -> Array:
        value = np.broadcast_to(a(group.registers), group.shape)
        rest = value.dtype.type(neutral(value.dtype))
        reduced: Array = function.reduce(np.where(here, value, rest), axis=1, dtype=value.dtype)
        return reduced[:, None]

    return _collective(site, members, reduce)


def _extreme(site: Site) -> Step:
    """The least or greatest f32, with `.abs` of the magnitudes; a NaN gives way to a number unless `.NaN`."""
    least, sizes, nan_wins = site.has("min"), site.has("abs"), site.has("NaN")
    a, members = site.read(1), site.read(2, np.uint32)

    def reduce(group: Group, here: Array) -> Array:
        value = np.broadcast_to(np.abs(a(group.registers)) if sizes else a(group.registers), group.shape)
        nan = np.isnan(value) & here
        ranks = _ranks(value)
        rest = ~(here & ~nan)
        chosen = (np.where(rest, _TOP, ranks).min if least else np.where(rest, -_TOP, ranks).max)(axis=1)
        alone = nan.any(axis=1) if nan_wins else rest.all(axis=1)
        bits = np.where(chosen < 0, ~chosen & 0x7FFFFFFF | 0x80000000, chosen)
        reduced: Array = np.where(alone, 0x7FFFFFFF, bits).astype(np.uint32).view(np.float32)
        return reduced[:, None]

    return _collective(site, members, reduce)


_TOP = np.int64(1) << 40


def _ranks(value: Array) -> Array:
    """Whole numbers in the order of f32 values, -0 below +0."""
    bits = value.view(np.uint32).astype(np.int64)
    ranks: Array = np.where(bits & 0x80000000 != 0, ~(bits & 0x7FFFFFFF), bits)
    return ranks


def activemask(site: Site) -> Step:
    """The lanes of the warp that run together here."""
    write = assign(site, site.destinations()[0])
    guard = site.guard()

    def step(group: Group, batch: Batch) -> None:
        keep = guard(group.registers) if guard is not None else None
        active = group.active(keep)
        here = np.ones(group.shape, np.bool_) if active is None else active
        write(group.registers, _mask_of(here), keep)

    return step
