"""Plans in which warps multiply: what they copied themselves, or a warp beside them had brought."""

from __future__ import annotations

from attrs import evolve

from ptxgen.errors import PlanError
from ptxgen.kernels.products.alignment import copies_words, fits_boxes
from ptxgen.kernels.products.blocks import drain_extent, on_blocks, split
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.drain import by_rows
from ptxgen.kernels.products.generations import Generation, moves_registers
from ptxgen.kernels.products.groups import group_product
from ptxgen.kernels.products.rings import (
    LEAST_SPAN_BYTES,
    SLAB_BYTES,
    has_room_for_two,
    least_span,
    ring_bytes,
    row_spans,
)
from ptxgen.kernels.products.roles import ROLE_REGISTERS, loading_warps
from ptxgen.kernels.products.tiling import MOST_COLUMNS, WARP_GRIDS, MatmulTiling
from ptxgen.plan import (
    By,
    LayoutWish,
    MatrixInstruction,
    Plan,
    Swizzle,
    congruous,
    cp_async,
    crosswise,
    fragments,
    free,
    ld,
    ldmatrix,
    registers,
    role,
    shared,
    st,
    swizzle,
    tensor,
    warps,
)

ROWS_FOR_CROSSWISE = 32


def plan_by_warps(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling, generation: Generation, why: str) -> Plan:
    """Operands staged to shared memory and fragments as a generation feeds its tensor cores, results finished by warps;
    `why` tells why no warpgroups multiply. PlanError where the tiling does not fit."""
    target = plan.target
    if isinstance(group_product(spec, tiling, target), MatrixInstruction):
        tiling = by_warps_instead(tiling, spec, generation)
    boxed = tiling.boxed and fits_boxes(plan, "A", "B") and least_span(spec, tiling) >= LEAST_SPAN_BYTES
    if tiling.boxed and not boxed:
        tiling = copied_instead(tiling, spec, generation, target)
    rows, columns = tiling.warp_tile
    if tiling.warps not in WARP_GRIDS:
        raise PlanError(f"a product on {tiling.warps} warps is one of warpgroups, but {why}")
    plan = on_blocks(plan.tile("cta", **spec.outer, i=tiling.i, j=tiling.j, k=tiling.k), tiling)
    plan = plan.tile("warp", i=rows, j=columns).place("warp", onto=warps).tile("step", k=generation.step)
    if boxed:
        plan = _boxed(plan, spec, tiling)
        copied = ["A", "B"]
    else:
        copied = _copied(plan, tiling, generation)
        plan = _staged(plan, spec, tiling, generation, copied)
    plan = _in_fragments(plan, spec, tiling, generation).multiply("AB", generation.instruction, at="step.k")
    plan = _shifted(plan, tiling, generation, copied, boxed=boxed).unroll("step.k")
    for statement in plan.compute.statements[1:]:
        plan = plan.finish(statement.name, at="warp")
    plan = split(plan, spec, tiling)
    rings, over = ring_bytes(spec, tiling), not (boxed and tiling.workers)
    plan = by_rows(plan, drain_extent(plan, spec, tiling), (tiling.i, tiling.j), rows, rings, may_lie_over=over)
    return plan.isolate("cta") if tiling.isolates else plan


def by_warps_instead(tiling: MatmulTiling, spec: MatmulSpec, generation: Generation) -> MatmulTiling:
    """What warps carry out of a tiling for warpgroups where the facts deny it: a block for each tile
    with shorter slabs, since warps hold operands and addresses in registers too, and extents that warps deal out, at
    least an instruction's columns to each, with `swap` its rows too."""
    dealt = tiling.for_warps
    rows, columns = WARP_GRIDS[dealt.warps]
    i = max(dealt.i, 2 * rows * 8) if tiling.swap else dealt.i
    j = max(dealt.j, columns * generation.instruction.n)
    k = max(min(tiling.k, SLAB_BYTES // spec.input.byte_count), generation.step, spec.promote or 0)
    apart = evolve(dealt, workers=None, cluster=(1, 1), swap=False, turns=False, stream=False, piecewise=False)
    return evolve(apart, i=i, j=j, k=k)


def copied_instead(tiling: MatmulTiling, spec: MatmulSpec, generation: Generation, target: str) -> MatmulTiling:
    """What warps carry out of a boxed tiling where the target or the facts deny boxes: shorter slabs, since threads
    hold addresses of what they copy, and half the columns where a multiprocessor has room for two such blocks."""
    k = max(min(tiling.k, SLAB_BYTES // spec.input.byte_count), generation.step, spec.promote or 0)
    found = evolve(tiling, k=k, boxed=False)
    halved = found.j == MOST_COLUMNS and found.warps == 8 and has_room_for_two(found, spec, target)
    return evolve(found, j=found.j // 2, warps=4) if halved else found


def _copied(plan: Plan, tiling: MatmulTiling, generation: Generation) -> list[str]:
    """The operands whose tiles are copied past the registers; of slabs that are streamed and prefetched both or none,
    since an item that goes on in another block prefetches the two alike."""
    found = [name for name in ("A", "B") if generation.past_registers and copies_words(plan, name)]
    return [] if tiling.stream and tiling.prefetch and len(found) == 1 else found


def _staged(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling, generation: Generation, copied: list[str]) -> Plan:
    rows, columns = tiling.warp_tile
    by_rows = {name: loaded_by(spec, name, generation) == ldmatrix(4) for name in ("A", "B")}
    swizzled = [name for name, span in row_spans(spec, tiling).items() if name in copied and span >= LEAST_SPAN_BYTES]
    layouts: dict[str, LayoutWish | Swizzle] = {
        name: swizzle(span) if name in swizzled and (by_rows[name] or spec.input.bits == 8) else free
        for name, span in row_spans(spec, tiling).items()
    }
    if generation.instruction.orders:
        layouts["A"] = _layout(along_k=not spec.layout.a_transposed, extent=rows)
        layouts["B"] = _layout(along_k=spec.layout.b_transposed, extent=columns)
    for name in layouts:
        if name not in copied:
            plan = plan.stage(name, at="cta.k", into=registers(), by=ld(16))
    for name, layout in layouts.items():
        by = cp_async(16) if name in copied else st(16)
        plan = plan.stage(name, at="cta.k", into=shared(tiling.depth, layout), by=by)
    return plan


def _boxed(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling) -> Plan:
    """One warp has boxes of both operands copied, all others use what has landed; four warps, which give most of their
    registers to the others, where they can."""
    for name, span in row_spans(spec, tiling).items():
        plan = plan.stage(name, at="cta.k", into=shared(tiling.depth, swizzle(span)), by=tensor)
    lent, taken = ROLE_REGISTERS.get(tiling.warps // 4, (None, None)) if moves_registers(plan.target) else (None, None)
    load = role("A.shared", "B.shared", warps=loading_warps(tiling, plan.target, by_groups=False), registers=lent)
    return plan.roles(load=load, math=role(registers=taken))


def _in_fragments(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling, generation: Generation) -> Plan:
    held = fragments_held(tiling, generation)
    for name in ("A", "B"):
        plan = plan.stage(name, at="step.k", into=fragments(held), by=loaded_by(spec, name, generation))
    return plan


def loaded_by(spec: MatmulSpec, name: str, generation: Generation) -> By:
    """What loads an operand's fragments: matrices of rows, but where elements of other than 16 bits lie across k."""
    along_k = not spec.layout.a_transposed if name == "A" else spec.layout.b_transposed
    return generation.fragments if along_k or spec.input.bits == 16 else ld(16)


def fragments_held(tiling: MatmulTiling, generation: Generation) -> int:
    """The fragments of an operand that are held at once: those wished, one where a slab has fewer steps."""
    return tiling.fragment_depth if tiling.k // generation.step % tiling.fragment_depth == 0 else 1


def _shifted(plan: Plan, tiling: MatmulTiling, generation: Generation, copied: list[str], *, boxed: bool) -> Plan:
    """Copies past the registers run as far ahead as the ring allows, as boxes do of themselves, what goes through
    registers one slab; fragments one step, into the next slab where that is there by then."""
    if not tiling.prefetch:
        return plan
    through = [f"{name}.{where}" for where in ("registers", "shared") for name in ("A", "B") if name not in copied]
    if through:
        plan = plan.shift(*through, ahead=1, at="cta.k")
    if copied and tiling.depth > 1 and not boxed:
        plan = plan.shift(*(f"{name}.shared" for name in copied), ahead=tiling.depth - 1, at="cta.k")
    crossing = [f"{name}.fragments" for name in ("A", "B") if name not in copied or tiling.depth > 1]
    if fragments_held(tiling, generation) > 1 and crossing:
        plan = plan.shift(*crossing, ahead=1, at="step.k")
    return plan


def _layout(*, along_k: bool, extent: int) -> LayoutWish:
    """An operand that is contiguous along k lies crosswise, where a lane reads two rows of a warp's `extent`."""
    return congruous if not along_k else crosswise if extent >= ROWS_FOR_CROSSWISE else free
