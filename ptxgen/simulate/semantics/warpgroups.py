"""`wgmma`: products of a warpgroup beside its threads, and the fences, commits and waits that order them."""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.derive import shape_of
from isa.layouts import warpgroup_layout
from isa.targets import Target
from isa.types import type_named
from ptxgen.ir import Register
from ptxgen.simulate.asynchronous.products import Pending, common
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.semantics.control import parted
from ptxgen.simulate.semantics.matrices import Multiply, chained_halves, multiply_of, record_of
from ptxgen.simulate.semantics.mbarrier_users import place_of_slot
from ptxgen.simulate.semantics.sparse_matrices import kept_of, packed_shape
from ptxgen.simulate.semantics.warpgroup_matrices import (
    SharedOperand,
)
from ptxgen.simulate.semantics.warpgroup_products import WARPS, Operands, Plan, groups_of
from ptxgen.simulate.semantics.warpgroup_registers import (
    prepared,
    truth,
)
from ptxgen.simulate.semantics.warps import meeting
from ptxgen.simulate.signals import Outcome, Signal, Step
from ptxgen.simulate.site import Array, Site
from ptxgen.simulate.tensor import halves

_C_DTYPES: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "s32": np.int32}


def wgmma(site: Site, target: Target) -> Step:
    """A product; or a fence, the end of a group of products, the wait for groups."""
    if site.has("fence"):
        return meeting(site, None, _fence)
    if site.has("commit_group"):
        return meeting(site, None, _commit)
    if site.has("wait_group"):
        left = site.read(0, np.int64)
        return meeting(site, None, lambda group, batch: _wait(group, batch, int(left(group.registers).flat[0])))
    return _product(site, target)


def _fence(group: Group, batch: Batch) -> None:
    products = prepared(batch)
    products.touched[group.warps] = False


def _commit(group: Group, batch: Batch) -> None:
    prepared(batch).committed[group.warps] += 1


def _wait(group: Group, batch: Batch, left: int) -> None:
    prepared(batch).retire(batch, group, left)


def _product(site: Site, target: Target) -> Step:
    plan = _plan(site, target)

    def step(group: Group, batch: Batch) -> Outcome:
        outcome = gathered(site, group, batch)
        if outcome is None:
            _issue(plan, group, batch)
        return outcome

    return step


def gathered(site: Site, group: Group, batch: Batch) -> Outcome:
    """None once whole warpgroups are here; those that are not yet wait, those that cannot be are reported."""
    warps, per_cta = group.warps, batch.warps_per_cta
    whole = group.lanes().all(axis=1)
    numbers = groups_of(batch, warps)
    counts = {number: int((whole & (numbers == number)).sum()) for number in np.unique(numbers).tolist()}
    missing = np.array([counts[number] < WARPS for number in numbers.tolist()])
    if not missing.any():
        return None
    if group.forced:
        group.forced = False
        row = int(missing.argmax())
        what = f"needs the {WARPS} warps of its warpgroup, of which {counts[int(numbers[row])]} are here"
        thread = batch.thread(group, row, int(group.lanes()[row].argmax()))
        batch.journal.fault("warpgroup.divergent", site.index, lambda: what, thread=thread)
        return None
    if per_cta % WARPS and (warps % per_cta // WARPS == per_cta // WARPS).any():
        group.forced = True
        return gathered(site, group, batch)
    if missing.all():
        return Signal.REPEAT
    lanes = group.lanes()
    ready = lanes & ~missing[:, None]
    return parted(group, ((ready, site.index), (lanes & missing[:, None], site.index)), counted=False)


def _plan(site: Site, target: Target) -> Plan:
    words = site.instruction.form.words
    shape = str(words["shape"])
    _, columns, depth = shape_of(shape)
    atype, btype, dtype = str(words["atype"]), str(words["btype"]), str(words["dtype"])
    bits, metadata = type_named(btype).bits, kept_of(site)
    kept = depth if metadata is None else depth // 2
    b_transposed = _immediate(site, "trans_b") == 1
    packed = shape if metadata is None else packed_shape(shape)
    from_registers = site.slots[1].count > 1
    d = warpgroup_layout(shape, "d", dtype)
    a = None if from_registers else SharedOperand(64, kept, type_named(atype).bits, _immediate(site, "trans_a") == 1)
    a_registers = None
    if from_registers:
        a_registers = warpgroup_layout(packed, "a", atype), site.vector(1, np.dtype(np.uint32))
    stored = np.dtype(np.uint32)
    first = None if from_registers else site.read(1, np.uint64)
    return Plan(
        site, _multiply(site, target), a, SharedOperand(columns, depth, bits, b_transposed), a_registers, d,
        _C_DTYPES[dtype], stored, (first, site.read(2, np.uint64)), truth(site, place_of_slot(site, "scale_d")),
        (_immediate(site, "scale_a") or 1, _immediate(site, "scale_b") or 1),
        [place for place in site.destinations() if place is not None],
        None if metadata is None else (metadata, site.read(metadata.place, np.uint32)),
    )  # fmt: skip


def _multiply(site: Site, target: Target) -> Multiply:
    """D from the bits of A [K, rows, n] and B [K, columns, n], and C; halves have a way that is faster."""
    words = site.instruction.form.words
    if words["atype"] != "f16" or site.has("sp"):
        return multiply_of(site, target, "wgmma")
    record, to_f16 = record_of(site, target, "wgmma", str(words["shape"])), words["dtype"] == "f16"

    def multiplied(a: Array, b: Array, c: Array) -> Array:
        return chained_halves(halves(a.view(np.float16)), halves(b.view(np.float16)), c, record, to_f16)

    return multiplied


def _immediate(site: Site, name: str) -> int:
    place = place_of_slot(site, name)
    return int(getattr(site.operands[place], "value", 0)) if place >= 0 else 0


def _issue(plan: Plan, group: Group, batch: Batch) -> None:
    """Note the product; its operands in shared memory are read from now until it is waited for."""
    products = prepared(batch)
    numbers = groups_of(batch, group.warps)
    whole = group.lanes().all(axis=1)
    ready = np.array([(whole & (numbers == number)).sum() == WARPS for number in numbers.tolist()])
    if not ready.any():
        return
    rows = np.flatnonzero(ready)
    warps = group.warps[rows]
    watched = batch.engines.registers
    accumulators = tuple(watched[place] for place in plan.places)
    sources = _sources(plan, watched)
    _judge_registers(plan, group, batch, rows, (accumulators, sources))
    operands = Operands(plan, batch, group, rows, numbers[rows])
    pending = Pending(
        plan.site.index, warps, products.committed[warps].copy(), np.ones(len(warps), np.bool_), operands.finish,
        numbers[rows], operands.engines, operands.released, accumulators, sources,
    )  # fmt: skip
    products.pending.append(pending)
    operands.follows = any(
        set(each.accumulators) == set(accumulators) and each.left[common(warps, each.warps)[1]].any()
        for each in products.pending[:-1]
    )
    if not operands.follows:
        _set_aside(plan, group, rows, operands)


def _set_aside(plan: Plan, group: Group, rows: Array, operands: Operands) -> None:
    """Keep the accumulators for the product, and leave a NaN in their place until it is waited for."""
    for place in plan.places:
        old = group.registers[place]
        value = np.zeros(group.shape, plan.stored) if old is None else np.array(np.broadcast_to(old, group.shape))
        operands.before.append(value[rows])
        value[rows] = _poison(plan)
        group.registers[place] = value


def _poison(plan: Plan) -> Any:
    """What stands in accumulators while they are under way."""
    return np.uint32(0x7FFF7FFF if plan.d_type is np.float16 else 0x7FFFFFFF)


def _sources(plan: Plan, watched: dict[int, int]) -> tuple[int, ...]:
    if plan.a_registers is None:
        return ()
    operand = plan.site.operands[1]
    parts = operand if isinstance(operand, tuple) else (operand,)
    return tuple(watched[plan.site.bank.place_of(part)] for part in parts if isinstance(part, Register))


def _judge_registers(
    plan: Plan, group: Group, batch: Batch, rows: Array, used: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    """Report registers that other instructions have touched since the last fence, and accumulators under way in a
    product of another shape.
    """
    products, warps = batch.engines.products, group.warps[rows]
    accumulators, sources = used
    touched = products.touched[warps][:, [*accumulators, *sources]]
    if touched.any():
        row = int(touched.any(axis=1).argmax())
        what = "uses registers that other instructions have accessed, with no wgmma.fence since"
        thread = batch.thread(group, int(rows[row]), 0)
        batch.journal.fault("wgmma.fence", plan.site.index, lambda: what, thread=thread)
        products.touched[warps[:, None], np.array([*accumulators, *sources])] = False
    for earlier in products.pending:
        own, theirs = common(warps, earlier.warps)
        if not len(own) or not earlier.left[theirs].any():
            continue
        same = tuple(earlier.accumulators) == accumulators
        shared = set(accumulators) & set(earlier.accumulators)
        if (shared and not same) or set(sources) & set(earlier.accumulators):
            thread = batch.thread(group, int(rows[0]), 0)
            batch.journal.fault("wgmma.in_flight", plan.site.index, _misused, thread=thread, related=earlier.site)


def _misused() -> str:
    return "uses accumulators of a wgmma under way in another way, with no wait between"
