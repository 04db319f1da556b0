"""What a block of the target can hold: shared memory, threads, registers."""

from __future__ import annotations

from isa.limits import limits as limits_of
from isa.targets import target as target_named
from ptxgen.compute import SourceLine
from ptxgen.derive.items import ITEM
from ptxgen.derive.part import Part
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op
from ptxgen.plan import IntoShared, MultiplyBy, Plan, Stage
from ptxgen.tile import Buffer, Multiply, Program, Space

# What ptxas takes of a thread's registers beside the sums of wgmma (C7602, 12.9 and 13).
BESIDE_SUMS, REGISTER_UNIT = 26, 8


def check_budgets(plan: Plan, program: Program, parts: list[Part]) -> None:
    """Refuses a program that no block of the target can hold."""
    limits = limits_of(target_named(plan.target))
    line = plan.steps[-1].line
    if program.shared_bytes > limits.shared_bytes_per_cta:
        rings = ", ".join(f"{b.name} {b.slot_bytes * b.depth}" for b in program.buffers if b.space is Space.SHARED)
        raise PlanError(
            f"{program.shared_bytes} bytes of shared memory, a block has {limits.shared_bytes_per_cta}: {rings}",
            line=shared_line(plan),
        )
    threads = program.warps * limits.lanes_per_warp
    if threads > limits.threads_per_cta:
        raise PlanError(f"{program.warps} warps are {threads} threads, a block has {limits.threads_per_cta}", line=line)
    held = max((most_registers(part.ops) for part in parts), key=held_registers)
    total = held_registers(held)
    if total > limits.registers_per_thread:
        names = ", ".join(f"{buffer.name} {register_count(buffer)}" for buffer in held)
        raise PlanError(
            f"tiles held at once in registers need {total}, a thread has {limits.registers_per_thread}: {names}",
            line=line,
        )


def check_products(plan: Plan, program: Program, parts: list[Part]) -> None:
    """Refuses a product of a warpgroup whose sums the registers that each thread starts with cannot hold beside what
    the assembler wants for itself."""
    limits = limits_of(target_named(plan.target))
    threads = program.warps * limits.lanes_per_warp
    own = min(limits.registers_per_thread, limits.registers_per_cta // threads // REGISTER_UNIT * REGISTER_UNIT)
    lines = {step.statement: step.line for step in plan.steps if isinstance(step, MultiplyBy)}
    for node in (op.node for part in parts for op in part.ops):
        if isinstance(node, Multiply) and node.row.warpgroup:
            sums = node.row.m * node.row.n * node.row.accumulate.bits // (32 * 4 * limits.lanes_per_warp)
            if sums + BESIDE_SUMS > own:
                raise PlanError(
                    f"a product of {node.row.m}x{node.row.n} sums takes {sums} registers and {BESIDE_SUMS} beside "
                    f"them, each of {threads} threads starts with {own}: give it fewer columns or a block fewer warps",
                    line=next(iter(lines.values())),
                )


def most_registers(ops: tuple[Op, ...]) -> tuple[Buffer, ...]:
    """The register buffers that live at once where they are most: each from the first item of the top level, or of the
    body of a work item, that uses it to the last one (what a loop touches lives through the loop)."""
    spans: dict[Buffer, tuple[int, int]] = {}
    for op in ops:
        at = op.time.place[1 if op.time.loops[:1] == (ITEM,) else 0]
        for touch in op.touches:
            if touch.buffer.space is Space.REGISTERS:
                first, last = spans.get(touch.buffer, (at, at))
                spans[touch.buffer] = (min(first, at), max(last, at))
    moments = {first for first, _ in spans.values()}
    live = [tuple(b for b, (first, last) in spans.items() if first <= m <= last) for m in sorted(moments)]
    return max(live, key=held_registers, default=())


def held_registers(buffers: tuple[Buffer, ...]) -> int:
    """The 32-bit registers of a lane that all of these buffers take together."""
    return sum(map(register_count, buffers))


def shared_line(plan: Plan) -> SourceLine | None:
    """The line of the last stage into shared memory."""
    return next((s.line for s in reversed(plan.steps) if isinstance(s, Stage) and isinstance(s.into, IntoShared)), None)


def register_count(buffer: Buffer) -> int:
    """The 32-bit registers of a lane that a register buffer takes."""
    bits = buffer.distribution.value_count * buffer.element.bits
    return max(1, bits // 32) * buffer.depth
