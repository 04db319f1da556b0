"""Registers that products of warpgroups write and read: what other instructions may do to them, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isa.operands import OperandKind
from ptxgen.ir import Instruction, Register
from ptxgen.ir.access import reads, writes
from ptxgen.ir.flow import Flow
from ptxgen.simulate.asynchronous.products import Pending, common
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.semantics.mbarrier_users import place_of_slot
from ptxgen.simulate.signals import Outcome, Step
from ptxgen.simulate.site import Array, Bank, Reader, Site, site_of


def prepared(batch: Batch) -> Any:
    products = batch.engines.products
    products.prepare(batch.warps, len(batch.engines.registers))
    return products


def truth(site: Site, place: int) -> Reader:
    slot = site.slots[place]
    if slot.kind is OperandKind.PREDICATE and not hasattr(site.operands[place], "value"):
        return site.read(place, np.bool_)
    value = bool(getattr(site.operands[place], "value", 1))
    return lambda r: np.full((1, 1), value)


def watch_products(flow: Flow, bank: Bank, steps: list[Step]) -> dict[int, int]:
    """Number the registers that products use, and wrap the other instructions that touch them: what they do to
    accumulators under way is reported, and remembered until the next fence.
    """
    numbers: dict[int, int] = {}
    products = [each for each in flow.instructions if multiplies(each)]
    for instruction in products:
        for operand in instruction.operands[:2]:
            for part in operand if isinstance(operand, tuple) else (operand,):
                if isinstance(part, Register) and part.type.bits == 32:
                    numbers.setdefault(bank.place_of(part), len(numbers))
    if not numbers:
        return {}
    for index, instruction in enumerate(flow.instructions):
        if instruction.form.opcode == "wgmma":
            continue
        read = sorted({numbers[p] for p in map(bank.place_of, reads(instruction)) if p in numbers})
        written = sorted({numbers[p] for p in map(bank.place_of, writes(instruction)) if p in numbers})
        if read or written:
            guard = site_of(instruction, index, bank).guard()
            steps[index] = _touching(steps[index], index, guard, read, written)
    return numbers


def keeps(site: Site) -> Reader:
    """Whether a product reads its accumulators."""
    return truth(site, place_of_slot(site, "scale_d"))


def multiplies(instruction: Instruction) -> bool:
    """Whether an instruction is a product of a warpgroup."""
    return instruction.form.opcode == "wgmma" and len(instruction.operands) > 2


def _touching(
    step: Step, index: int, guard: Callable[[list[Any]], Any] | None, read: list[int], written: list[int]
) -> Step:
    either = sorted({*read, *written})

    def touching(group: Group, batch: Batch) -> Outcome:
        products = prepared(batch)
        keep = guard(group.registers) if guard is not None else None
        active = group.active(keep)
        warps = group.warps if active is None else group.warps[active.any(axis=1)]
        if products.pending and len(warps):
            _judge_touch(index, group, batch, warps, (read, written))
        products.touched[warps[:, None], np.array(either)] = True
        return step(group, batch)

    return touching


def _judge_touch(index: int, group: Group, batch: Batch, warps: Array, used: tuple[list[int], list[int]]) -> None:
    products, (read, written) = batch.engines.products, used
    for product in products.pending:
        hits = set(product.accumulators) & {*read, *written}
        sources = set(product.sources) & set(written)
        if not hits and not sources:
            continue
        own, theirs = common(warps, product.warps)
        left = product.left[theirs]
        if not left.any():
            continue
        warp = int(warps[own[left][0]])
        committed = product.ordinals[theirs[left][0]] < products.committed[warp]
        _report_touch(index, batch, warp, product, which="accumulators" if hits else "registers of A",
                      lacking="wgmma.wait_group" if committed else "wgmma.commit_group and wait_group")  # fmt: skip
        return


def _report_touch(index: int, batch: Batch, warp: int, product: Pending, *, which: str, lacking: str) -> None:
    what = f"touches {which} of a wgmma under way; no {lacking} covers it"
    thread = batch.first_thread + warp * LANES
    batch.journal.fault("wgmma.in_flight", index, lambda: what, thread=thread, related=product.site)
