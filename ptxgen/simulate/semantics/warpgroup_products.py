"""Products of warpgroups under way: their operands, and the accumulators that they leave."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, evolve

from isa.fragments import Fragment
from ptxgen.simulate.asynchronous.operations import Issue, issue_of, judge
from ptxgen.simulate.asynchronous.runs import Run, check_source
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.elements import elements_of
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.semantics.matrices import Multiply
from ptxgen.simulate.semantics.sparse_matrices import Kept
from ptxgen.simulate.semantics.warpgroup_matrices import (
    ROWS,
    SharedOperand,
    by_lane,
    elements,
    operand_run,
    parts_of,
    warp_places,
)
from ptxgen.simulate.site import Array, Reader, Site
from ptxgen.simulate.sparse import met

WARPS = 4


@define(eq=False)
class Plan:
    """A product as decoded. `metadata` and the reader of its register tell what a sparse A keeps."""

    site: Site
    multiply: Multiply
    a: SharedOperand | None
    b: SharedOperand
    a_registers: tuple[Fragment, list[Reader]] | None
    d: Fragment
    d_type: Any
    stored: Any
    descriptors: tuple[Reader | None, Reader]
    scale_d: Reader
    signs: tuple[int, int]
    places: list[int]
    metadata: tuple[Kept, Reader] | None = None

    @property
    def kept(self) -> int:
        """Elements of a row of A that are multiplied."""
        return self.b.depth if self.metadata is None else self.b.depth // 2


def groups_of(batch: Batch, warps: Array) -> Array:
    """The number of each warp's warpgroup in the batch."""
    cta, warp = np.divmod(warps, batch.warps_per_cta)
    numbers: Array = cta * batch.engines.columns.groups + warp // WARPS
    return numbers


def _issues_of(batch: Batch, site: int, warps: Array) -> list[Issue]:
    """What each of these warps issues now, its lanes together; and last, what all of them do, which is ordered behind
    what every one is ordered behind.
    """
    rows = batch.clocks.release(warps)
    engines = slice(batch.clocks.warps_per_cluster, batch.clocks.width)
    issues = []
    for row, warp in zip(rows, warps.tolist(), strict=True):
        known, (_, seen) = row[: batch.clocks.width], batch.clocks.engine_row(warp)
        seen[:, engines] = known[engines]
        issues.append(evolve(issue_of(batch, site, warp, 0), known=known, seen=seen))
    known, seen = (np.min([getattr(each, name) for each in issues], axis=0) for name in ("known", "seen"))
    return [*issues, evolve(issues[0], known=known, seen=seen)]


class Operands:
    """The operands of a product under way, for each warp of whole warpgroups that issued it."""

    def __init__(self, plan: Plan, batch: Batch, group: Group, rows: Array, numbers: Array) -> None:
        self.plan, self.numbers = plan, numbers
        self.before: list[Array] = []
        self.follows = False
        self.engines: dict[int, tuple[int, int]] = {}
        self.released: dict[int, Array] = {}
        self.a: dict[int, tuple[Issue, Run]] = {}
        self.b: dict[int, tuple[Issue, Run]] = {}
        self.matrices: dict[int, tuple[Array | None, Array]] = {}
        r = group.registers
        self.scaled = np.broadcast_to(plan.scale_d(r), group.shape)[rows, 0]
        self.registers: Array | None = None
        if plan.a_registers is not None:
            values = tuple(np.broadcast_to(each(r), group.shape)[rows] for each in plan.a_registers[1])
            self.registers = np.stack(values)
        self.kept: Array | None = None
        if plan.metadata is not None:
            metadata, told = plan.metadata
            self.kept = metadata.columns(np.broadcast_to(told(r), group.shape)[rows], group, batch, rows)
        first = [int(np.flatnonzero(numbers == number)[0]) for number in np.unique(numbers).tolist()]
        for place in first:
            self._lend(batch, group, int(rows[place]), int(numbers[place]))

    def _lend(self, batch: Batch, group: Group, row: int, number: int) -> None:
        plan, warp = self.plan, int(group.warps[row])
        warps = group.warps[groups_of(batch, group.warps) == number]
        self.released[number] = batch.clocks.release(warps).max(axis=0)
        issues = _issues_of(batch, plan.site.index, warps)
        issue = issues[-1]
        columns, clocks = batch.engines.columns, batch.clocks
        rank = warp // batch.warps_per_cta % batch.cluster
        engine = columns.multiplier(rank, number % columns.groups)
        epoch = clocks.engine_step(warp // clocks.warps_per_cluster, engine)
        self.engines[number] = engine, epoch
        for of, read, into in ((plan.a, plan.descriptors[0], self.a), (plan.b, plan.descriptors[1], self.b)):
            if of is None or read is None:
                continue
            values = np.broadcast_to(read(group.registers), group.shape)
            bits = int(values[row, 0])
            if (values[row] != values[row, 0]).any():
                batch.journal.fault("wgmma.descriptor", plan.site.index, _differs, thread=issue.thread)
            run = operand_run(batch, issue, of, bits)
            if run is not None:
                check_source(batch, issue, run)
                into[number] = issue, run
                for by, part in parts_of(of, run, issues, whole=of is plan.b):
                    judge(batch, run.memory, by, self.engines[number], (np.unique(part), run.width), writes=False)

    def _matrix(self, of: SharedOperand | None, held: dict[int, tuple[Issue, Run]], number: int) -> Array | None:
        if of is None:
            return None
        if number not in held:
            return np.zeros((of.depth, of.rows), np.uint8 if of.bits <= 8 else f"u{of.bits // 8}")
        _, run = held[number]
        shape = (of.depth, of.rows // 8) if of.transposed else (of.rows, of.row_bytes // 16)
        return elements(of, run.fetch().reshape(*shape, 16))

    def finish(self, batch: Batch, group: Group, rows: Array, own: Array) -> None:
        """Compute the rows of these warps and write their accumulators. Shared memory is read when the first warp of a
        warpgroup comes.
        """
        plan, r, count = self.plan, group.registers, len(rows)
        for number in np.unique(self.numbers[own]).tolist():
            if number not in self.matrices:
                b = self._matrix(plan.b, self.b, number)
                assert b is not None
                self.matrices[number] = self._matrix(plan.a, self.a, number), b
        a, b = self._left(group, rows, own), self._right(own)
        d_rows, d_columns = warp_places(plan.d)
        c = np.zeros((ROWS, plan.b.rows, count), plan.d_type)
        held = self._accumulators(group, rows, own).view(plan.d_type)
        held = held.reshape(len(plan.places), count, LANES, -1).transpose(0, 3, 1, 2).reshape(-1, count, LANES)
        c[d_rows, d_columns] = by_lane(held)
        c[:, :, ~self.scaled[own]] = 0
        made = plan.multiply(a, b if self.kept is None else met(b, self.kept[:, :, own]), c)
        back = made[d_rows, d_columns]
        results = back.transpose(1, 2, 0).reshape(len(plan.places), plan.d.values_per_register, count, LANES)
        bits = np.ascontiguousarray(results.transpose(0, 2, 3, 1)).view(plan.stored)[..., 0]
        for place, value in zip(plan.places, bits, strict=True):
            old = r[place]
            whole = np.zeros(group.shape, plan.stored) if old is None else np.array(np.broadcast_to(old, group.shape))
            whole[rows] = value
            r[place] = whole

    def _accumulators(self, group: Group, rows: Array, own: Array) -> Array:
        """The accumulators before the product, [registers, warps, 32]: as an earlier product under way leaves them, or
        as they were at the issue.
        """
        if self.follows:
            values = [np.broadcast_to(group.registers[place], group.shape)[rows] for place in self.plan.places]
        else:
            values = [before[own] for before in self.before]
        return np.ascontiguousarray(np.stack(values))

    def _left(self, group: Group, rows: Array, own: Array) -> Array:
        """A as [K, 16, warps]."""
        plan = self.plan
        if plan.a_registers is None:
            parts = []
            for place in own.tolist():
                a = self.matrices[int(self.numbers[place])][0]
                assert a is not None
                warp = place - int(np.flatnonzero(self.numbers == self.numbers[place])[0])
                parts.append(a[:, warp * ROWS : (warp + 1) * ROWS])
            return self._signed(np.stack(parts, axis=-1), 0)
        fragment, _ = plan.a_registers
        assert self.registers is not None
        elements = elements_of(str(plan.site.instruction.form.words["atype"]))(self.registers[:, own])
        row, column = warp_places(fragment)
        laid = elements.transpose(0, 3, 1, 2).reshape(-1, len(own), LANES)
        made = np.zeros((ROWS, plan.kept, len(own)), laid.dtype)
        made[row, column] = by_lane(laid)
        return self._signed(np.ascontiguousarray(made.swapaxes(0, 1)), 0)

    def _right(self, own: Array) -> Array:
        """B as [K, N, warps]."""
        parts = [self.matrices[int(self.numbers[place])][1] for place in own.tolist()]
        return self._signed(np.stack(parts, axis=-1), 1)

    def _signed(self, bits: Array, operand: int) -> Array:
        """The operand negated where the instruction says so: the sign bit of every element."""
        if self.plan.signs[operand] == 1:
            return bits
        negated: Array = bits ^ bits.dtype.type(1 << (8 * bits.dtype.itemsize - 1))
        return negated


def _differs() -> str:
    return "has descriptors that differ from lane to lane"
