"""`wgmma`: products of a warpgroup beside its threads, and the fences, commits and waits that order them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from attrs import define, evolve, frozen

from isa.derive import shape_of
from isa.descriptors import InvalidDescriptor, SharedMatrix, Swizzle
from isa.fragments import Fragment
from isa.layouts import warpgroup_layout
from isa.operands import OperandKind
from isa.targets import Target
from isa.types import type_named
from ptxgen.ir import Instruction, Register
from ptxgen.ir.access import reads, writes
from ptxgen.ir.flow import Flow
from ptxgen.simulate.asynchronous.operations import Issue, issue_of, judge
from ptxgen.simulate.asynchronous.products import Pending, common
from ptxgen.simulate.asynchronous.runs import Run, check_source
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.elements import elements_of
from ptxgen.simulate.group import LANES, Group
from ptxgen.simulate.semantics.control import parted
from ptxgen.simulate.semantics.matrices import Multiply, chained_halves, multiply_of, record_of
from ptxgen.simulate.semantics.mbarriers import place_of_slot
from ptxgen.simulate.semantics.warps import meeting
from ptxgen.simulate.signals import Outcome, Signal, Step
from ptxgen.simulate.site import Array, Bank, Reader, Site, site_of
from ptxgen.simulate.tensor import halves

WARPS = 4
_ROWS = 16
_ROW_BYTES = 32
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
    products = _prepared(batch)
    products.touched[group.warps] = False


def _commit(group: Group, batch: Batch) -> None:
    _prepared(batch).committed[group.warps] += 1


def _wait(group: Group, batch: Batch, left: int) -> None:
    _prepared(batch).retire(batch, group, left)


def _prepared(batch: Batch) -> Any:
    products = batch.engines.products
    products.prepare(batch.warps, len(batch.engines.registers))
    return products


@frozen(eq=False)
class _Matrix:
    """An operand in shared memory: rows (of A, or columns of B) and bytes or elements along K; how a descriptor's
    fields place them. `transposed` is M- or N-major.
    """

    rows: int
    depth: int
    bits: int
    transposed: bool

    def places(self, matrix: SharedMatrix) -> Array:
        """The byte of each piece from the matrix's start before the swizzle: [rows, 32 bytes / 16] for K-major, or [K,
        rows in pieces of 16 bytes] for the other; a piece is 16 bytes.
        """
        if self.transposed:
            return _across(self.rows, self.depth, matrix)
        return _along(self.rows, matrix)


def _along(rows: int, matrix: SharedMatrix) -> Array:
    """K-major: [rows, 2] pieces of 16 bytes along K."""
    row, piece = np.arange(rows)[:, None], np.arange(_ROW_BYTES // 16)[None]
    if matrix.swizzle is Swizzle.NONE:
        return row % 8 * 16 + row // 8 * matrix.stride_bytes + piece * matrix.leading_bytes
    return row % 8 * matrix.swizzle.span + row // 8 * matrix.stride_bytes + piece * 16


def _across(rows: int, depth: int, matrix: SharedMatrix) -> Array:
    """M- or N-major, elements of 2 bytes: [K, rows / 8] pieces of 8 elements along the rows."""
    k, piece = np.arange(depth)[:, None], np.arange(rows // 8)[None]
    if matrix.swizzle is Swizzle.NONE:
        return piece * matrix.stride_bytes + k % 8 * 16 + k // 8 * matrix.leading_bytes
    chunk = matrix.swizzle.span // 16
    return (
        piece % chunk * 16 + piece // chunk * matrix.leading_bytes
        + k % 8 * matrix.swizzle.span + k // 8 * matrix.stride_bytes
    )  # fmt: skip


@cache
def _pieces(of: _Matrix, bits: int) -> tuple[Array, SharedMatrix]:
    """The addresses of the pieces of a matrix as its descriptor has them, in the CTA's shared memory."""
    matrix = SharedMatrix.of(bits)
    plain = matrix.start + of.places(matrix)
    if matrix.swizzle is Swizzle.NONE:
        return plain, matrix
    row = ((plain >> 7) - matrix.base_offset) % (matrix.swizzle.span // matrix.swizzle.unit)
    return plain ^ row * matrix.swizzle.unit, matrix


def _elements(of: _Matrix, content: Array) -> Array:
    """The bits of the elements as [K, rows] from the pieces' bytes [.., .., 16]."""
    if of.bits == 1:
        whole = np.unpackbits(content.reshape(of.rows, -1), axis=1, bitorder="little")
        return np.ascontiguousarray(whole.T)
    dtype = {8: np.uint8, 16: np.uint16, 32: np.uint32}[of.bits]
    flat = np.ascontiguousarray(content).view(dtype).reshape(content.shape[0], -1)
    return flat if of.transposed else np.ascontiguousarray(flat.T)


@define(eq=False)
class _Plan:
    """A product as decoded."""

    site: Site
    multiply: Multiply
    a: _Matrix | None
    b: _Matrix
    a_registers: tuple[Fragment, list[Reader]] | None
    d: Fragment
    d_type: Any
    stored: Any
    descriptors: tuple[Reader | None, Reader]
    scale_d: Reader
    signs: tuple[int, int]
    places: list[int]


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


def groups_of(batch: Batch, warps: Array) -> Array:
    """The number of each warp's warpgroup in the batch."""
    cta, warp = np.divmod(warps, batch.warps_per_cta)
    numbers: Array = cta * batch.engines.columns.groups + warp // WARPS
    return numbers


def _plan(site: Site, target: Target) -> _Plan:
    words = site.instruction.form.words
    shape = str(words["shape"])
    _, columns, depth = shape_of(shape)
    atype, btype, dtype = str(words["atype"]), str(words["btype"]), str(words["dtype"])
    bits = type_named(btype).bits
    b_transposed = _immediate(site, "trans_b") == 1
    from_registers = site.slots[1].count > 1
    d = warpgroup_layout(shape, "d", dtype)
    a = None if from_registers else _Matrix(64, depth, type_named(atype).bits, _immediate(site, "trans_a") == 1)
    a_registers = None
    if from_registers:
        a_registers = warpgroup_layout(shape, "a", atype), site.vector(1, np.dtype(np.uint32))
    stored = np.dtype(np.uint32)
    first = None if from_registers else site.read(1, np.uint64)
    return _Plan(
        site, _multiply(site, target), a, _Matrix(columns, depth, bits, b_transposed), a_registers, d,
        _C_DTYPES[dtype], stored, (first, site.read(2, np.uint64)), _truth(site, place_of_slot(site, "scale_d")),
        (_immediate(site, "scale_a") or 1, _immediate(site, "scale_b") or 1),
        [place for place in site.destinations() if place is not None],
    )  # fmt: skip


def _multiply(site: Site, target: Target) -> Multiply:
    """D from the bits of A [K, rows, n] and B [K, columns, n], and C; halves have a way that is faster."""
    words = site.instruction.form.words
    if words["atype"] != "f16":
        return multiply_of(site, target, "wgmma")
    record, to_f16 = record_of(site, target, "wgmma", str(words["shape"])), words["dtype"] == "f16"

    def multiplied(a: Array, b: Array, c: Array) -> Array:
        return chained_halves(halves(a.view(np.float16)), halves(b.view(np.float16)), c, record, to_f16)

    return multiplied


def _immediate(site: Site, name: str) -> int:
    place = place_of_slot(site, name)
    return int(getattr(site.operands[place], "value", 0)) if place >= 0 else 0


def _truth(site: Site, place: int) -> Reader:
    slot = site.slots[place]
    if slot.kind is OperandKind.PREDICATE and not hasattr(site.operands[place], "value"):
        return site.read(place, np.bool_)
    value = bool(getattr(site.operands[place], "value", 1))
    return lambda r: np.full((1, 1), value)


def _issue(plan: _Plan, group: Group, batch: Batch) -> None:
    """Note the product; its operands in shared memory are read from now until it is waited for."""
    products = _prepared(batch)
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
    operands = _Operands(plan, batch, group, rows, numbers[rows])
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


def _set_aside(plan: _Plan, group: Group, rows: Array, operands: _Operands) -> None:
    """Keep the accumulators for the product, and leave a NaN in their place until it is waited for."""
    for place in plan.places:
        old = group.registers[place]
        value = np.zeros(group.shape, plan.stored) if old is None else np.array(np.broadcast_to(old, group.shape))
        operands.before.append(value[rows])
        value[rows] = _poison(plan)
        group.registers[place] = value


def _poison(plan: _Plan) -> Any:
    """What stands in accumulators while they are under way."""
    return np.uint32(0x7FFF7FFF if plan.d_type is np.float16 else 0x7FFFFFFF)


def _sources(plan: _Plan, watched: dict[int, int]) -> tuple[int, ...]:
    if plan.a_registers is None:
        return ()
    operand = plan.site.operands[1]
    parts = operand if isinstance(operand, tuple) else (operand,)
    return tuple(watched[plan.site.bank.place_of(part)] for part in parts if isinstance(part, Register))


def _judge_registers(
    plan: _Plan, group: Group, batch: Batch, rows: Array, used: tuple[tuple[int, ...], tuple[int, ...]]
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


def _issues_of(batch: Batch, site: int, warps: Array) -> list[Issue]:
    """What each of these warps issues now, its lanes together; and last, what all of them do, which is ordered behind
    what every one is ordered behind.
    """
    rows = batch.clocks.release(warps)
    engines = slice(batch.clocks.warps_per_cluster, batch.clocks.width)
    issues = []
    for row, warp in zip(rows, warps.tolist(), strict=True):
        known, seen = row[: batch.clocks.width], batch.clocks.proxied[warp].copy()
        seen[engines] = known[engines]
        issues.append(evolve(issue_of(batch, site, warp, 0), known=known, seen=seen))
    known, seen = (np.min([getattr(each, name) for each in issues], axis=0) for name in ("known", "seen"))
    return [*issues, evolve(issues[0], known=known, seen=seen)]


def _misused() -> str:
    return "uses accumulators of a wgmma under way in another way, with no wait between"


class _Operands:
    """The operands of a product under way, for each warp of whole warpgroups that issued it."""

    def __init__(self, plan: _Plan, batch: Batch, group: Group, rows: Array, numbers: Array) -> None:
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
            run = _run(batch, issue, of, bits)
            if run is not None:
                check_source(batch, issue, run)
                into[number] = issue, run
                for by, part in _parts(of, run, issues, whole=of is plan.b):
                    judge(batch, run.memory, by, self.engines[number], (np.unique(part), run.width), writes=False)

    def _matrix(self, of: _Matrix | None, held: dict[int, tuple[Issue, Run]], number: int) -> Array | None:
        if of is None:
            return None
        if number not in held:
            return np.zeros((of.depth, of.rows), np.uint8 if of.bits <= 8 else f"u{of.bits // 8}")
        _, run = held[number]
        shape = (of.depth, of.rows // 8) if of.transposed else (of.rows, _ROW_BYTES // 16)
        return _elements(of, run.fetch().reshape(*shape, 16))

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
        d_rows, d_columns = _places(plan.d)
        c = np.zeros((_ROWS, plan.b.rows, count), plan.d_type)
        held = self._accumulators(group, rows, own).view(plan.d_type)
        held = held.reshape(len(plan.places), count, LANES, -1).transpose(0, 3, 1, 2).reshape(-1, count, LANES)
        c[d_rows, d_columns] = _laid(held)
        c[:, :, ~self.scaled[own]] = 0
        made = plan.multiply(a, b, c)
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
                parts.append(a[:, warp * _ROWS : (warp + 1) * _ROWS])
            return self._signed(np.stack(parts, axis=-1), 0)
        fragment, _ = plan.a_registers
        assert self.registers is not None
        elements = elements_of(str(plan.site.instruction.form.words["atype"]))(self.registers[:, own])
        row, column = _places(fragment)
        laid = elements.transpose(0, 3, 1, 2).reshape(-1, len(own), LANES)
        made = np.zeros((_ROWS, plan.b.depth, len(own)), laid.dtype)
        made[row, column] = _laid(laid)
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


def _parts(of: _Matrix, run: Run, issues: list[Issue], *, whole: bool) -> list[tuple[Issue, Array]]:
    """The pieces of a matrix that each warp reads: of A its own rows, of B all."""
    if whole:
        return [(issues[-1], run.index)]
    places = run.index.reshape((of.depth, -1) if of.transposed else (of.rows, -1))
    if of.transposed:
        return [(issue, places[:, 2 * warp : 2 * warp + 2].ravel()) for warp, issue in enumerate(issues[:-1])]
    return [(issue, places[_ROWS * warp :][:_ROWS].ravel()) for warp, issue in enumerate(issues[:-1])]


def _differs() -> str:
    return "has descriptors that differ from lane to lane"


def _laid(values: Array) -> Array:
    """[values, warps, 32] as [32, values, warps]."""
    laid: Array = values.transpose(2, 0, 1)
    return laid


@cache
def _places(of: Fragment) -> tuple[Array, Array]:
    """Row and column of each value of a warp's lanes, [32, values], rows within the warp's 16."""
    places = [[of.position(lane, value) for value in range(of.values)] for lane in range(LANES)]
    table = np.array(places)
    return table[..., 0], table[..., 1]


def _run(batch: Batch, issue: Issue, of: _Matrix, bits: int) -> Run | None:
    """The pieces of a matrix in shared memory; None, and a report, for a descriptor or a place that is none."""
    memory = batch.spaces["shared"]
    try:
        addresses, matrix = _pieces(of, bits)
    except InvalidDescriptor as error:
        what = f"has a descriptor that is none: {error}"
        batch.journal.fault("wgmma.descriptor", issue.site, lambda: what, thread=issue.thread)
        return None
    places = addresses.ravel() - memory.base
    outside = (places < 0) | (places > memory.size_bytes - 16)
    cta = issue.warp // batch.warps_per_cta
    index = places + cta * memory.stride
    if not outside.any():
        outside = memory.arena.shadow[index] == 0
    if outside.any():
        at = int(addresses.ravel()[int(outside.argmax())])
        what = f"reads {at:#x}, outside every allocation of shared memory, by the descriptor {matrix}"
        batch.journal.fault("memory.bounds", issue.site, lambda: what, thread=issue.thread, address=at)
        return None
    return Run(memory, index, 16, int(addresses.min()))


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
    return _truth(site, place_of_slot(site, "scale_d"))


def multiplies(instruction: Instruction) -> bool:
    """Whether an instruction is a product of a warpgroup."""
    return instruction.form.opcode == "wgmma" and len(instruction.operands) > 2


def _touching(
    step: Step, index: int, guard: Callable[[list[Any]], Any] | None, read: list[int], written: list[int]
) -> Step:
    either = sorted({*read, *written})

    def touching(group: Group, batch: Batch) -> Outcome:
        products = _prepared(batch)
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
