"""Plans for a matrix product on the tensor cores of a warp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from attrs import evolve, field, frozen

from isa.limits import limits
from isa.targets import target as target_named
from ptxgen.compute import Compute, e4m3, e5m2, f64, segmented_place
from ptxgen.derive.facts import Facts
from ptxgen.errors import PlanError
from ptxgen.kernels.alignment import UNIT_BYTES, fits_boxes, shown_bytes
from ptxgen.kernels.epilogue import Axis, Beta, Bias, Keep, Residual, operand_names
from ptxgen.kernels.generations import (
    Generation,
    copies_tensors,
    generation_of,
    has_warpgroups,
    moves_registers,
    warpgroup_product,
)
from ptxgen.kernels.matmul_compute import Layout, MatmulSpec
from ptxgen.kernels.matmul_drain import BARRIERS_BYTES, DEPTH, by_boxes, by_rows, fitting
from ptxgen.kernels.matmul_finish import Finish, fits_beside
from ptxgen.kernels.matmul_split import check_split, joined, joins_in_cluster, passed_on
from ptxgen.kernels.tiling_bounds import from_one, from_zero, two_from_one
from ptxgen.plan import (
    BlockOrder,
    By,
    Drain,
    Eviction,
    Fact,
    LayoutWish,
    MatrixInstruction,
    Plan,
    Swizzle,
    Workers,
    blocks,
    congruous,
    cp_async,
    crosswise,
    fragments,
    free,
    grouped,
    hybrid,
    ld,
    ldmatrix,
    registers,
    role,
    shared,
    sms,
    st,
    swizzle,
    tensor,
    warpgroups,
    warps,
)
from ptxgen.tile import granule, is_power, power_below

ROWS_FOR_CROSSWISE = 32
LEAST_COPY_BYTES = 4
SLAB_BYTES, GROUP_SLAB_BYTES = 64, 128
GROUP_ROWS, GROUP_LANES, MOST_REGISTERS = 64, 128, 232
UNPACKING = (9, 10)
BOXED_DEPTH = 3
LEAST_SPAN_BYTES, MOST_SPAN_BYTES = 32, 128
ROLE_REGISTERS = {2: (40, 232), 3: (32, 160)}
WARP_GRIDS: dict[int, tuple[int, int]] = {1: (1, 1), 2: (1, 2), 4: (2, 2), 8: (2, 4)}
WARP_COUNTS = (*WARP_GRIDS, 12)
MOST_COLUMNS, COLUMN_STEP = 256, 8


@frozen
class MatmulTiling:
    """The choices of a plan: the block's tile (i, j, k), warps, slabs and fragments held at once, how far they run
    ahead, whether full tiles are apart, and the order of blocks. With `workers` so many blocks stay and walk the tiles
    in that order, and full tiles are not apart. `cluster` are the neighbours along i and j that bring each other what
    they have in common, where tensor copies bring it. `drain` is the extent of the pieces in which results leave
    through shared memory, columns of a warpgroup's tile (fewer where it does not divide those) or rows of a warp's; 0:
    they leave from registers, as they do where the facts allow no other way. With `swap` the factors change places: the
    rows of a warpgroup's product are columns of the result, of which a tile may then have few rows. With `overlap` a
    launch may begin before those ahead of it have ended. With `turns` each of several warpgroups takes every n-th tile
    that its block walks, and one multiplies while another finishes. `evict` tells the L2 cache which lines of A, B and
    the results it gives up first or last, `maps_early` has tensor maps fetched as the kernel begins; both where tensor
    copies move them. Of `split` parts of k, summed apart by blocks of their own, neighbours of a cluster join a slice
    of the tile each and store it from registers; others pass the sum on through memory. With `boxed` warps multiply,
    also where warpgroups could, and one warp beside them has the slabs copied as boxes, where the target and the facts
    allow it: no thread spends instructions on copies, and no block meets at its slabs. With `stream` the blocks that
    stay share the slabs of k of all tiles evenly, so that none of them ends long before the others. Only tiles of
    warpgroups may have extents along i and j that are no powers of two, and 12 warps. Of results that warpgroups drain
    by tensor copies, `drain_depth` pieces are on their way at once, of fewer columns where else not all results find
    room. With `piecewise` each of them is finished just before it leaves, and what registers hold beside the sums of a
    bias or residual is loaded as the tile begins; with a `residual_depth` tensor copies bring so many pieces of a
    residual ahead instead. An epilogue with sums over rows is finished in whole tiles. `group_rows` are the rows of the
    tile that a warpgroup has (columns, with `swap`), 64 for each of its products. `default_tiling` gives one for an
    epilogue and a target."""

    i: int = field(default=128, validator=from_one)
    j: int = field(default=128, validator=from_one)
    k: int = field(default=32, validator=from_one)
    warps: int = 4
    depth: int = field(default=2, validator=from_one)
    prefetch: bool = True
    fragment_depth: int = field(default=2, validator=from_one)
    isolate: bool = True
    raster: BlockOrder = field(factory=lambda: grouped(8))
    workers: int | Workers | None = None
    cluster: tuple[int, int] = field(default=(1, 1), validator=two_from_one)
    drain: int = field(default=0, validator=from_zero)
    swap: bool = False
    overlap: bool = False
    turns: bool = False
    evict: tuple[Eviction | None, Eviction | None, Eviction | None] = (None, None, None)
    maps_early: bool = False
    split: int = field(default=1, validator=from_one)
    boxed: bool = False
    stream: bool = False
    drain_depth: int = field(default=DEPTH, validator=from_one)
    piecewise: bool = False
    residual_depth: int = field(default=0, validator=from_zero)
    group_rows: int = field(default=GROUP_ROWS, validator=from_one)

    @property
    def walking(self) -> str:
        """Who walks the tiles, in words; nothing where each has a block of its own."""
        match self.workers:
            case None:
                return ""
            case Workers.SMS:
                return "as many blocks as run at once"
            case count:
                return f"{count} blocks"

    @property
    def isolates(self) -> bool:
        """Whether full tiles are kept apart."""
        return self.isolate and self.workers is None

    @property
    def fits_warpgroups(self) -> bool:
        """Whether each warpgroup of four warps can take `group_rows` of the tile, and one product all that lies across
        64 of them, and nobody asks for warps."""
        along, across = (self.j, self.i) if self.swap else (self.i, self.j)
        fits = across in range(COLUMN_STEP, MOST_COLUMNS + 1, COLUMN_STEP)
        together = self.warps // self.units
        shared_out = along == self.group_rows * (together // 4) and self.group_rows % GROUP_ROWS == 0
        return shared_out and together % 4 == 0 and fits and not self.boxed

    @property
    def units(self) -> int:
        """How many warpgroups have a tile each; 1 where all warps share one."""
        return max(1, self.warps // 4) if self.turns else 1

    @property
    def for_warps(self) -> MatmulTiling:
        """The same with extents and warps that are powers of two, the next below: what warps deal out."""
        return evolve(self, i=power_below(self.i), j=power_below(self.j), warps=self._dealing_warps)

    @property
    def _dealing_warps(self) -> int:
        return max(count for count in WARP_GRIDS if count <= self.warps)

    @property
    def warp_tile(self) -> tuple[int, int]:
        """Rows and columns of a warp's tile, of the tile for warps where this one is for warpgroups alone, and at most
        what divides this one. PlanError for a count of warps that has no grid."""
        if self.warps not in WARP_COUNTS:
            raise PlanError(f"a product runs on {', '.join(map(str, WARP_COUNTS))} warps, got {self.warps}")
        rows, columns = WARP_GRIDS[self._dealing_warps]
        down, across = power_below(self.i) // rows, power_below(self.j) // columns
        return min(down, granule(self.i)), min(across, granule(self.j))

    def __str__(self) -> str:
        return (
            f"{self.i}x{self.j}x{self.k}, {self.warps} warps, depth {self.depth}, prefetch {int(self.prefetch)}, "
            f"fragments {self.fragment_depth}, {'isolated' if self.isolates else 'guarded'}, {self.raster}"
            + (f", walked by {self.walking}" if self.workers else "")
            + (f", clusters of {self.cluster[0]}x{self.cluster[1]}" if self.cluster != (1, 1) else "")
            + (f", drained by {self.drain}" if self.drain else "")
            + (", factors swapped" if self.swap else "")
            + (", launches overlapped" if self.overlap else "")
            + (", in turns" if self.turns else "")
            + (f", L2 {' '.join(wish.value if wish else '-' for wish in self.evict)}" if any(self.evict) else "")
            + (", maps early" if self.maps_early else "")
            + (f", k split in {self.split}" if self.split > 1 else "")
            + (", boxed" if self.boxed else "")
            + (", k streamed" if self.stream else "")
            + (f", {self.drain_depth} pieces on their way" if self.drain and self.drain_depth != DEPTH else "")
            + (", finished in pieces" if self.piecewise else "")
            + (f", {self.residual_depth} pieces of residuals ahead" if self.residual_depth else "")
            + (f", {self.group_rows} rows a warpgroup" if self.group_rows != GROUP_ROWS else "")
        )


def matmul_plan(compute: Compute, spec: MatmulSpec, facts: Iterable[Fact], tiling: MatmulTiling, target: str) -> Plan:
    """The product staged to shared memory and fragments as the target's generation feeds its tensor cores, finished and
    stored by registers.

    `facts` are what the arguments of the launch allow to assume. PlanError where the tiling does not fit.
    """
    check_split(spec, tiling, target)
    generation = generation_of(target, spec.input, spec.accumulate, spec.b_input)
    plan = Plan(compute, target).assume(*facts)
    if tiling.overlap:
        plan = plan.overlap_launch()
    if spec.promote:
        plan = plan.rewrite(hybrid("AB", every=spec.promote))
    product = by_warpgroups(plan, spec, tiling)
    if isinstance(product, MatrixInstruction):
        return _by_warpgroups(plan, spec, tiling, product)
    if has_warpgroups(target) and tiling.fits_warpgroups:
        tiling = _by_warps_instead(tiling, spec, generation)
    boxed = tiling.boxed and fits_boxes(plan, "A", "B") and _least_span(spec, tiling) >= LEAST_SPAN_BYTES
    if tiling.boxed and not boxed:
        tiling = _copied_instead(tiling, spec, generation, target)
    rows, columns = tiling.warp_tile
    if tiling.warps not in WARP_GRIDS:
        raise PlanError(f"a product on {tiling.warps} warps is one of warpgroups, but {product}")
    plan = _on_blocks(plan.tile("cta", **spec.outer, i=tiling.i, j=tiling.j, k=tiling.k), tiling)
    plan = plan.tile("warp", i=rows, j=columns).place("warp", onto=warps).tile("step", k=generation.step)
    if boxed:
        plan = _boxed(plan, spec, tiling)
        copied = ["A", "B"]
    else:
        copied = _copied(plan, tiling, generation)
        plan = _staged(plan, spec, tiling, generation, copied)
    plan = _in_fragments(plan, spec, tiling, generation).multiply("AB", generation.instruction, at="step.k")
    plan = _shifted(plan, tiling, generation, copied, boxed=boxed).unroll("step.k")
    for statement in compute.statements[1:]:
        plan = plan.finish(statement.name, at="warp")
    plan = _split(plan, spec, tiling)
    rings, over = _ring_bytes(spec, tiling), not (boxed and tiling.workers)
    plan = by_rows(plan, _drain(plan, spec, tiling), (tiling.i, tiling.j), rows, rings, may_lie_over=over)
    return plan.isolate("cta") if tiling.isolates else plan


def by_warpgroups(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling) -> MatrixInstruction | str:
    """The product of a warpgroup that carries out a plan's tiling, or why none does."""
    if tiling.boxed:
        return "warps are asked for, which have their slabs brought as boxes"
    if not tiling.fits_warpgroups:
        along = "columns" if tiling.swap else "rows"
        each = f"{tiling.group_rows} {along} for each four warps"
        return f"a tile of {tiling.i}x{tiling.j} on {tiling.warps} warps is none of {each}"
    left, right = spec.inputs[::-1] if tiling.swap else spec.inputs
    across = tiling.i if tiling.swap else tiling.j
    product = warpgroup_product(plan.target, across, left, spec.accumulate, right)
    if product is None:
        return f"{plan.target} has no products of warpgroups for {spec.input} with n={across}"
    if any(total.along is Axis.COLUMNS for total in spec.totals):
        return "sums over the rows of a column would cross the warps of a warpgroup"
    if tiling.k < product.k:
        return f"a tile of {tiling.k} along k is less than the {product.k} of wgmma"
    for name, along_k in (("A", not spec.layout.a_transposed), ("B", spec.layout.b_transposed)):
        if spec.input.bits != 16 and not along_k:
            return f"{name} does not lie together along k, as wgmma needs it of {spec.input}"
    for name, span in row_spans(spec, tiling).items():
        if span < LEAST_SPAN_BYTES:
            return f"rows of {name}'s tile are spans of {span} bytes, a swizzle spans {LEAST_SPAN_BYTES} at least"
    why = [reason for name in ("A", "B") if (reason := unmapped(plan, name))]
    return product if not why else "; ".join(why)


def _by_warps_instead(tiling: MatmulTiling, spec: MatmulSpec, generation: Generation) -> MatmulTiling:
    """What warps carry out of a tiling for warpgroups where the facts or the statements deny it: a block for each tile
    with shorter slabs, since warps hold operands and addresses in registers too, and extents that warps deal out, at
    least an instruction's columns to each, with `swap` its rows too."""
    dealt = tiling.for_warps
    rows, columns = WARP_GRIDS[dealt.warps]
    i = max(dealt.i, 2 * rows * 8) if tiling.swap else dealt.i
    j = max(dealt.j, columns * generation.instruction.n)
    k = max(min(tiling.k, SLAB_BYTES // spec.input.byte_count), generation.step, spec.promote or 0)
    return evolve(dealt, i=i, j=j, k=k, workers=None, cluster=(1, 1), swap=False, turns=False, stream=False)


def _copied_instead(tiling: MatmulTiling, spec: MatmulSpec, generation: Generation, target: str) -> MatmulTiling:
    """What warps carry out of a boxed tiling where the target or the facts deny boxes: shorter slabs, since threads
    hold addresses of what they copy, and half the columns where a multiprocessor has room for two such blocks."""
    k = max(min(tiling.k, SLAB_BYTES // spec.input.byte_count), generation.step, spec.promote or 0)
    found = evolve(tiling, k=k, boxed=False)
    halved = found.j == MOST_COLUMNS and found.warps == 8 and _has_room_for_two(found, spec, target)
    return evolve(found, j=found.j // 2, warps=4) if halved else found


def _by_warpgroups(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling, product: MatrixInstruction) -> Plan:
    """One thread has boxes of both operands copied; warpgroups multiply what has landed and finish it."""
    groups = tiling.warps // 4
    plan = _on_blocks(plan.tile("cta", **spec.outer, i=tiling.i, j=tiling.j, k=tiling.k), tiling)
    if tiling.cluster != (1, 1):
        plan = plan.cluster(i=tiling.cluster[0], j=tiling.cluster[1])
    plan = plan.tile("group", **{"j" if tiling.swap else "i": tiling.group_rows}).place("group", onto=warpgroups)
    for name, span in row_spans(spec, tiling).items():
        plan = plan.stage(name, at="cta.k", into=shared(tiling.depth, swizzle(span)), by=tensor)
    finish = _finish(plan, spec, tiling)
    plan = finish.tiled(plan)
    budgets = ROLE_REGISTERS.get(groups, (None, None))
    each = groups if tiling.turns else 0
    math = role(warpgroups=each, registers=budgets[1])
    plan = plan.roles(**finish.roles(("A.shared", "B.shared"), budgets[0]), math=math)
    window = min(1, tiling.depth - 1) if tiling.prefetch and not spec.promote else 0
    plan = plan.multiply("AB", product, at="group", in_flight=window, rows="j" if tiling.swap else None)
    if tiling.turns:
        plan = plan.turns("math", "cta", "AB", split_items=True)
    plan = _split(finish.finished(plan), spec, tiling)
    of_a, both = _ring_bytes(spec, tiling)
    rings, rows = (of_a, both + finish.brought_bytes(plan, tiling.i)), tiling.i * tiling.units
    over = tiling.workers is None
    plan = by_boxes(plan, finish.columns, rows, rings, depth=tiling.drain_depth, may_lie_over=over)
    plan = _hinted(plan, tiling)
    return plan.isolate("cta") if tiling.isolates else plan


def _finish(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling) -> Finish:
    """How the statements behind the product are finished: in whole tiles or in the pieces in which they leave."""
    if tiling.turns and tiling.residual_depth:
        raise PlanError(
            f"residual_depth={tiling.residual_depth} with turns: warpgroups that take tiles in turn would read pieces "
            "of each other's tiles from one ring; ask for one of both"
        )
    wished = _piece(tiling, _drain(plan, spec, tiling))
    if not tiling.piecewise or not wished or spec.totals:
        return Finish(_columns(plan, spec, tiling, wished, {}))
    named = zip(spec.epilogue, operand_names(spec.epilogue), strict=True)
    read = {name: piece for piece, name in named if name and isinstance(piece, (Residual, Bias))}
    boxed = [name for name, piece in read.items() if isinstance(piece, Residual) and not unmapped(plan, name)]
    brought = dict.fromkeys(boxed, tiling.residual_depth) if tiling.residual_depth and not tiling.swap else {}
    sums = tiling.group_rows * (tiling.i if tiling.swap else tiling.j) // GROUP_LANES
    rest = sorted((name for name in read if name not in brought), key=lambda name: isinstance(read[name], Bias))
    held = {name: _held_of(read[name], sums, tiling) for name in rest}
    budget = ROLE_REGISTERS.get(tiling.warps // 4, (0, MOST_REGISTERS))[1]
    loaded = fits_beside(sums, held, budget)
    return Finish(_columns(plan, spec, tiling, wished, brought), True, brought, loaded)


def _columns(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling, wished: int, brought: dict[str, int]) -> int:
    """The columns of a piece: as many as find room, those wished where pieces may lie over A's ring."""
    if tiling.workers is None and not brought:
        return wished
    rows, rings = tiling.i * tiling.units, _ring_bytes(spec, tiling)
    return fitting(plan, wished, rows, rings, depth=tiling.drain_depth, brought=brought)


def _held_of(piece: Residual | Bias, sums: int, tiling: MatmulTiling) -> int:
    """The registers of a thread that an operand's tile takes, beside so many sums of the same rows and columns."""
    if isinstance(piece, Residual):
        return sums * piece.element.byte_count // 4
    along_columns = (piece.along is Axis.COLUMNS) is not tiling.swap
    return sums * piece.element.byte_count // 8 if along_columns else 2


def _piece(tiling: MatmulTiling, wished: int) -> int:
    """The columns of a piece: those `wished`, or as many as divide the tile. None where with `swap` all warpgroups are
    beside each other in a piece, and both its extents are no powers of two."""
    both = tiling.swap and not is_power(tiling.i) and not is_power(tiling.j)
    return 0 if both else min(wished, granule(tiling.j))


def _hinted(plan: Plan, tiling: MatmulTiling) -> Plan:
    """What caches are told of the operands, and of results that leave in boxes."""
    boxed = [step for step in plan.steps if isinstance(step, Drain) and step.by == tensor]
    results = [f"{step.array}.global" for step in boxed]
    for ops, wish in zip((["A.shared"], ["B.shared"], results), tiling.evict, strict=True):
        if wish is not None and ops:
            plan = plan.hint(*ops, l2=wish)
    return plan.hint("A.shared", "B.shared", *results, map_early=True) if tiling.maps_early else plan


def _on_blocks(plan: Plan, tiling: MatmulTiling) -> Plan:
    """A block for each tile, or blocks that stay."""
    if tiling.workers is None:
        return plan.place("cta", onto=blocks, raster=tiling.raster)
    return plan.persist("cta", raster=tiling.raster, workers=tiling.workers)


def _drain(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling) -> int:
    """The extent of the pieces in which results leave through shared memory; a slice leaves from registers."""
    sliced = tiling.split > 1 and joins_in_cluster(spec, tiling, plan.target)
    return 0 if sliced else tiling.drain


def _split(plan: Plan, spec: MatmulSpec, tiling: MatmulTiling) -> Plan:
    """The plan with k in parts, or streamed, where the tiling asks for it."""
    if tiling.stream:
        return plan.stream("k")
    if tiling.split == 1:
        return plan
    if not joins_in_cluster(spec, tiling, plan.target):
        return passed_on(plan, tiling.split)
    of_a, both = _ring_bytes(spec, tiling)
    tile_bytes = tiling.i * tiling.j * spec.summed.byte_count
    return joined(plan, tiling.split, tile_bytes, {"B.shared": both - of_a, "A.shared": of_a})


def _ring_bytes(spec: MatmulSpec, tiling: MatmulTiling) -> tuple[int, int]:
    """The bytes of A's ring, and of A's and B's."""
    of_a, of_b = (tiling.depth * tiling.k * element.byte_count for element in spec.inputs)
    return of_a * tiling.i, of_a * tiling.i + of_b * tiling.j


def row_spans(spec: MatmulSpec, tiling: MatmulTiling) -> dict[str, int]:
    """The bytes over which the rows of A's and B's tiles are swizzled: a row, or as much of it as divides it, 128 at
    most."""
    rows = {
        "A": tiling.i if spec.layout.a_transposed else tiling.k,
        "B": tiling.k if spec.layout.b_transposed else tiling.j,
    }
    widths = dict(zip(("A", "B"), spec.inputs, strict=True))
    return {name: min(MOST_SPAN_BYTES, granule(row * widths[name].byte_count)) for name, row in rows.items()}


def unmapped(plan: Plan, name: str) -> str:
    """Why the facts do not show of an operand what a tensor map needs, an address and strides of whole 16 bytes; "" if
    they do."""
    known = shown_bytes(plan, name)
    if not known:
        return f"no dimension of {name} lies together in memory"
    wanted = f"a multiple of {UNIT_BYTES} bytes for a tensor map"
    if segmented_place(plan.compute, name) == plan.compute.array(name).contiguous_dimension:
        return f"{name} lies together along groups, which begin anywhere, not at {wanted}"
    return "" if known == UNIT_BYTES else f"{name} begins and steps by multiples of {known} bytes, not {wanted}"


def copies_words(plan: Plan, name: str) -> bool:
    """Whether the facts show aligned neighbours of 4 bytes in an operand, which `cp.async` needs; else its tiles go
    through registers."""
    array = plan.compute.array(name)
    place, width = array.contiguous_dimension, array.element.byte_count
    if place is None or segmented_place(plan.compute, name) == place:
        return False
    values = [stride for stride in array.strides if not stride.is_constant]
    count = Facts.of(plan).vector(name, width, (*values, array.extents[place]), max(1, LEAST_COPY_BYTES // width))
    return count * width >= LEAST_COPY_BYTES


def _copied(plan: Plan, tiling: MatmulTiling, generation: Generation) -> list[str]:
    """The operands whose tiles are copied past the registers; of slabs that are streamed and prefetched both or none,
    since an item that goes on in another block prefetches the two alike."""
    found = [name for name in ("A", "B") if generation.past_registers and copies_words(plan, name)]
    return [] if tiling.stream and tiling.prefetch and len(found) == 1 else found


def _least_span(spec: MatmulSpec, tiling: MatmulTiling) -> int:
    return min(row_spans(spec, tiling).values())


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
    load = role("A.shared", "B.shared", warps=loading_warps(tiling, plan.target), registers=lent)
    return plan.roles(load=load, math=role(registers=taken))


def loading_warps(tiling: MatmulTiling, target: str) -> int:
    """The warps beside those that multiply, which have boxes copied: a whole warpgroup to give registers away, as most
    do that warpgroups load for; none where warps copy for themselves."""
    if has_warpgroups(target) and tiling.fits_warpgroups:
        return 4
    return 0 if not tiling.boxed else 4 if moves_registers(target) and tiling.warps // 4 in ROLE_REGISTERS else 1


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


def default_tiling(spec: MatmulSpec, target: str = "sm_70") -> MatmulTiling:
    """128x128 with 64 bytes along k on 4 warps; on 8 where a thread of 4 may have to hold more than its registers, as
    ptxas counts them: the result in 32 bits, row or column sums, chains beside their total, or operands of the
    epilogue: any matrix or three vectors beside sums of 32 bits, two matrices, or one with two vectors, beside sums in
    f16. Four matrices and sums over rows or columns are too many for 8 warps too: tiles of 64 rows; f64 takes 64x64.

    From Ampere on 128x256 on 8 warps, three slabs ahead, warpgroups with 128 bytes along k; half the columns where much
    is held (by warpgroups: more than one matrix beside results of 16 bits), and on 4 warps where a multiprocessor has
    room for two such blocks, of which one multiplies while the other waits; their results leave through shared memory
    in pieces of 32 rows. Where the target copies tensors and warps can give registers away, they keep the 128x256 and
    have slabs of 128 bytes brought as boxes. A slab is as long as a chain at least. Blocks of warpgroups stay and walk
    the tiles in bands of 16, their launches overlap, and their results leave through shared memory in pieces of 64
    columns; not so where chains are promoted.
    """
    found = _by_registers(spec, target)
    by_groups = has_warpgroups(target) and found.fits_warpgroups
    boxed = not by_groups and found.j == MOST_COLUMNS and copies_tensors(target) and moves_registers(target)
    if boxed:
        found = evolve(found, boxed=True, drain=32)
    elif not by_groups and found.j == MOST_COLUMNS and _has_room_for_two(found, spec, target):
        found = evolve(found, j=128, warps=4, drain=32)
    if by_groups and not spec.promote:
        if _finishes_wide(spec):
            found = evolve(found, i=128, j=256, warps=8)
        found = evolve(found, workers=sms, raster=grouped(16), drain=64, overlap=True)
    grouped_bytes = GROUP_SLAB_BYTES if by_groups or boxed else SLAB_BYTES
    least = generation_of(target, spec.input, spec.accumulate, spec.b_input).step
    k = max(grouped_bytes // spec.input.byte_count, least, spec.promote or 0)
    depth = found.depth if k * spec.input.byte_count <= GROUP_SLAB_BYTES else 2
    found = evolve(found, k=k, depth=depth)
    return evolve(found, depth=_boxed_depth(found, spec, target)) if boxed else found


def _boxed_depth(tiling: MatmulTiling, spec: MatmulSpec, target: str) -> int:
    """The slabs that one block of a multiprocessor holds, three at most, which are enough ahead for warps."""
    _, ring = _ring_bytes(spec, evolve(tiling, depth=1))
    return max(1, min(BOXED_DEPTH, (limits(target_named(target)).shared_bytes_per_cta - BARRIERS_BYTES) // ring))


def _finishes_wide(spec: MatmulSpec) -> bool:
    """Whether warpgroups finish 256 columns at once within their registers, as ptxas counts them: results of 16 bits
    with one matrix beside them at most."""
    matrices = sum(isinstance(piece, (Beta, Residual, Keep)) for piece in spec.epilogue)
    return spec.output.bits == 16 and spec.input.bits == 16 and matrices <= 1 and not spec.totals


def _has_room_for_two(tiling: MatmulTiling, spec: MatmulSpec, target: str) -> bool:
    """Whether a multiprocessor holds the rings of two blocks that have half the columns of a tiling."""
    _, rings = _ring_bytes(spec, evolve(tiling, j=tiling.j // 2, k=SLAB_BYTES // spec.input.byte_count))
    return 2 * (rings + BARRIERS_BYTES) <= limits(target_named(target)).shared_bytes_per_sm


def unpacks(spec: MatmulSpec, target: str) -> bool:
    """Whether a product of bytes is taken apart into products of halves, which take registers: so assemblers do on
    sm_90 and sm_100, but for products of warpgroups, which want both operands together along k."""
    along_k = spec.layout is Layout.NT and has_warpgroups(target)
    return spec.input in (e4m3, e5m2) and target_named(target).number // 10 in UNPACKING and not along_k


def _by_registers(spec: MatmulSpec, target: str) -> MatmulTiling:
    matrices = sum(isinstance(piece, (Beta, Residual, Keep)) for piece in spec.epilogue)
    vectors = sum(isinstance(piece, Bias) for piece in spec.epilogue)
    held = (3 * matrices + vectors > 2) if spec.summed.bits == 32 else (2 * matrices + vectors > 3)
    eight = bool(spec.output.bits >= 32 or spec.totals or held or spec.promote or unpacks(spec, target))
    past = generation_of(target, spec.input, spec.accumulate, spec.b_input).past_registers
    if spec.accumulate is f64:
        return MatmulTiling(i=64, j=64, depth=4, isolate=False)
    if matrices + len(spec.totals) > 3:
        return MatmulTiling(i=64, warps=8, depth=4 if past else 2)
    if past:
        return MatmulTiling(j=128 if eight else 256, warps=8, depth=4, isolate=False)
    return MatmulTiling(warps=8 if eight else 4)


def menu() -> Iterator[MatmulTiling]:
    """Other tilings that a product may be planned with, each different from the default in one or two choices."""
    base = MatmulTiling()
    for i, j in product((64, 128), repeat=2):
        yield evolve(base, i=i, j=j)
    for k in (16, 64):
        yield evolve(base, i=64, j=64, k=k)
    for count in (1, 2, 8):
        yield evolve(base, i=64, j=64, warps=count)
    yield evolve(base, warps=8)
    yield evolve(base, depth=1)
    yield evolve(base, depth=1, prefetch=False)
    yield evolve(base, prefetch=False)
    yield evolve(base, fragment_depth=1)
    yield evolve(base, isolate=False)
    yield evolve(base, raster=BlockOrder(1))
    yield evolve(base, raster=grouped(2))
    yield evolve(base, i=64, j=64, k=16, warps=1)
    yield evolve(base, i=64, k=16, warps=2, fragment_depth=1)
    yield evolve(base, j=64, k=16, depth=1, isolate=False)
    yield evolve(base, i=64, j=64, k=16, warps=8, isolate=False)
    yield evolve(base, i=128, j=64, k=64, warps=4, raster=BlockOrder(1))
    yield evolve(base, i=32, j=64, warps=2)
    yield evolve(base, i=64, j=32, warps=1, depth=1)
    yield evolve(base, i=128, j=128, k=16, warps=8, raster=grouped(4))
    yield evolve(base, i=32, j=32, warps=1, prefetch=False)
    yield evolve(base, i=256, j=64, warps=8)
    yield evolve(base, i=64, j=128, k=64, warps=4, prefetch=False)
    yield evolve(base, drain=32)
    yield evolve(base, i=64, j=64, k=16, warps=1, depth=1, isolate=False, drain=32)
