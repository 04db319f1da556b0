"""A hand-written matrix product for sm_70 as a tile program: prefetched slabs, double-buffered shared memory, unrolled
steps, fragments one step ahead."""

from __future__ import annotations

from attrs import frozen

from isa.fragments import Place, fragment
from polyhedral import var
from ptxgen.compute import Element, Expression, Operand, f16, f32
from ptxgen.tile import (
    Buffer,
    Copy,
    Distribution,
    Factor,
    Fill,
    Iteration,
    Let,
    Loop,
    Map,
    MapOperand,
    MatrixOrder,
    Meet,
    Multiply,
    MultiplyRow,
    Node,
    Outside,
    Program,
    Quotient,
    Sequence,
    SharedLayout,
    When,
)
from tests.lower.programs import (
    LINE,
    affine,
    array,
    at,
    copy,
    program,
    registers,
    row_major,
    shared,
    tiles,
)

ROWS = {(0, 1): 1, (0, 2): 2, (0, 4): 16, (1, 0): 8, (2, 0): 0, (3, 0): 8}
COLUMNS = {(0, 1): 1, (0, 2): 2, (0, 4): 16, (1, 0): 0, (2, 0): 8, (3, 0): 8}
DEPTHS = {(0, 1): 1, (0, 2): 2, (1, 0): 0, (2, 0): 0}
SLAB, STEP = 32, 4
PLAIN = Operand(0)
STEPS = SLAB // STEP


@frozen
class Shape:
    """Warps along rows and columns, and the tile of each."""

    warps: tuple[int, int] = (2, 2)
    warp_tile: tuple[int, int] = (64, 64)

    @property
    def rows(self) -> int:
        return self.warps[0] * self.warp_tile[0]

    @property
    def columns(self) -> int:
        return self.warps[1] * self.warp_tile[1]


def repeats(extent: int) -> list[int]:
    """The steps of the repeat bits along a warp tile's extent: 4, then 32, 64 ..."""
    return [4, *(1 << b for b in range(5, extent.bit_length() - 1))]


def placed(places: tuple[Place, ...], first: dict, second: dict, swapped: bool) -> tuple[tuple[int, int], ...]:
    """Images of instruction bits in a tile; `swapped` where the array has the matrix's column first."""
    images = [
        (first[(tile, row)] if (tile or row) else 0, second[(tile, column)] if (tile or column) else 0)
        for tile, row, column in places
    ]
    return tuple((b, a) if swapped else (a, b) for a, b in images)


def along(dimension: int, steps: list[int]) -> tuple[tuple[int, int], ...]:
    """Images of single bits along one dimension."""
    return tuple((step, 0) if dimension == 0 else (0, step) for step in steps)


def warp_images(shape: Shape, row_dimension: int | None, column_dimension: int | None) -> tuple[tuple[int, int], ...]:
    """Images of the warp bits: those of rows first."""
    images = []
    for count, extent, dimension in zip(shape.warps, shape.warp_tile, (row_dimension, column_dimension), strict=True):
        for bit in range(count.bit_length() - 1):
            step = extent << bit
            images.append((0, 0) if dimension is None else along(dimension, [step])[0])
    return tuple(images)


def fragments(shape: Shape, accumulate: Element, a_row: bool, b_row: bool) -> tuple[Distribution, ...]:
    """The distributions of A (dims i, k or k, i), B (dims k, j or j, k) and C (i, j). `a_row`: k contiguous in A, last;
    `b_row`: j contiguous in B, last."""
    a_map = fragment("m8n8k4", "a", "f16", "row" if a_row else "col")
    b_map = fragment("m8n8k4", "b", "f16", "row" if b_row else "col")
    c_map = fragment("m8n8k4", "c", accumulate.label)
    m, n = repeats(shape.warp_tile[0]), repeats(shape.warp_tile[1])
    i, j = (0, 1) if a_row else (1, 0), (1, 0) if b_row else (0, 1)
    a = Distribution(
        (shape.rows, STEP) if a_row else (STEP, shape.rows),
        placed(a_map.value_bits, ROWS, DEPTHS, not a_row) + along(i[0], m),
        placed(a_map.lane_bits, ROWS, DEPTHS, not a_row), warp_images(shape, i[0], None),
    )  # fmt: skip
    b = Distribution(
        (STEP, shape.columns) if b_row else (shape.columns, STEP),
        placed(b_map.value_bits, DEPTHS, COLUMNS, not b_row) + along(j[0], n),
        placed(b_map.lane_bits, DEPTHS, COLUMNS, not b_row), warp_images(shape, None, j[0]),
    )  # fmt: skip
    c = Distribution(
        (shape.rows, shape.columns),
        placed(c_map.value_bits, ROWS, COLUMNS, False) + along(0, m) + along(1, n),
        placed(c_map.lane_bits, ROWS, COLUMNS, False), warp_images(shape, 0, 1),
    )  # fmt: skip
    return a, b, c


def crosswise(extent: int) -> SharedLayout:
    """k contiguous: rows s and s + 4 share 16 bytes; dims (s, k)."""
    bits = extent.bit_length() - 1
    s = [16, 32, 4, 8, 64 ^ 8, *(4 << b for b in range(5, bits))][:bits]
    k = [1, 2, 4 * extent, 4 ^ 8 * extent, 8 ^ 16 * extent]
    return SharedLayout((extent, SLAB), (tuple(s), tuple(k)))


def congruous(extent: int, for_b: bool) -> SharedLayout:
    """m or n contiguous; dims (k, m)."""
    bits = extent.bit_length() - 1
    if extent < 64:
        return SharedLayout.linear((SLAB, extent), 1)
    middle = [8 ^ extent, 16 ^ 2 * extent, 32] if for_b else [32, 8 ^ extent, 16 ^ 2 * extent]
    m = [1, 2, 4, *middle, *(1 << b for b in range(6, bits))][:bits]
    k = [8, 16, *(extent << b for b in range(2, 5))]
    return SharedLayout((SLAB, extent), (tuple(k), tuple(m)))


@frozen
class Side:
    """One operand: its buffers and how it goes from stage to stage."""

    array: Buffer
    staged: Buffer
    tile: Buffer
    held: Buffer
    spread: Distribution
    store_vector: int
    k_dimension: int
    origin: str
    extent: int
    vector: int = 8
    guarded: tuple[int, ...] = ()

    def load(self, slab) -> Copy:
        k, other = affine(slab) * SLAB, var(self.origin) * self.extent
        origin = (k, other) if self.k_dimension == 0 else (other, k)
        return copy(at(self.array, *origin), at(self.staged), self.spread, self.vector, self.guarded, Outside.ZERO)

    def put(self, slab) -> Copy:
        return copy(at(self.staged), at(self.tile, rank=affine(slab)), self.spread, self.store_vector)

    def fetch(self, slab, step: int) -> Copy:
        origin = (0, STEP * step) if self.k_dimension == 1 else (STEP * step, 0)
        rank = affine(slab) * STEPS + step
        return copy(at(self.tile, *origin, rank=affine(slab)), at(self.held, rank=rank), self.held.distribution, 8)


def matmul(
    shape: Shape = Shape(), a_row: bool = True, b_row: bool = True, accumulate: Element = f32, out: Element = f16,
    guarded: bool = True, aligned: bool = True, expression: Expression = PLAIN, more: tuple[MapOperand, ...] = (),
    arrays: tuple[Buffer, ...] = (), scalars: tuple[str, ...] = (), group: int = 1,
) -> Program:  # fmt: skip
    """D = expression(A @ B, more operands)."""
    warps = shape.warps[0] * shape.warps[1]
    held_a, held_b, held_c = fragments(shape, accumulate, a_row, b_row)
    both, vector = ((0, 1) if guarded else ()), 8 if aligned else 1
    a = side(
        "A",
        shape.rows,
        held_a,
        a_row,
        "cta.i",
        vector,
        both,
        warps,
        crosswise(shape.rows) if a_row else congruous(shape.rows, False),
        ("M", "K"),
    )
    b = side(
        "B",
        shape.columns,
        held_b,
        not b_row,
        "cta.j",
        vector,
        both,
        warps,
        congruous(shape.columns, True) if b_row else crosswise(shape.columns),
        ("N", "K"),
    )
    c, d = registers("C", accumulate, held_c), registers("D.registers", out, held_c)
    whole = array("D", out, ("M", "N"), ("ldd", 1))
    orders = (MatrixOrder.ROW if a_row else MatrixOrder.COLUMN, MatrixOrder.ROW if b_row else MatrixOrder.COLUMN)
    row = MultiplyRow(8, 8, 4, f16, accumulate, *orders)
    counts = (len(repeats(shape.warp_tile[0])), len(repeats(shape.warp_tile[1])))

    def product(slab, step: int) -> Multiply:
        rank = affine(slab) * STEPS + step
        factors = Factor(at(c), 0, 1), Factor(at(a.held, rank=rank), *((0, 1) if a_row else (1, 0))), Factor(
            at(b.held, rank=rank), *((0, 1) if b_row else (1, 0)))  # fmt: skip
        return Multiply("C", row, *factors, (1 << counts[0], 1 << counts[1], 1), LINE)

    def slab_body(slab, ahead: bool) -> Node:
        nodes: list[Node] = [a.load(slab + 1), b.load(slab + 1)] if ahead else []
        for step in range(STEPS - 1):
            nodes += [a.fetch(slab, step + 1), b.fetch(slab, step + 1), product(slab, step)]
        if ahead:
            nodes += [a.put(slab + 1), b.put(slab + 1), Meet(0, ()), a.fetch(slab + 1, 0), b.fetch(slab + 1, 0)]
        return Sequence((*nodes, product(slab, STEPS - 1)))

    t, slabs = var("cta.k"), var("slabs")
    first = Sequence((a.load(0), b.load(0), a.put(0), b.put(0), Meet(0, ()), a.fetch(0, 0), b.fetch(0, 0)))
    last = Let("cta.k", Quotient(slabs - 1, 1), slab_body(t, False))
    origin = (var("cta.i") * shape.rows, var("cta.j") * shape.columns)
    limits = (0, 1) if guarded else ()
    iteration = Iteration(("i", "j"), origin, (var("M"), var("N")), held_c, limits)
    finish = Map("D", iteration, at(d), (0, 1), expression, (MapOperand(at(c), (0, 1), 1), *more), LINE)
    neighbours = 8 if accumulate is f16 else 2
    drain = copy(at(d), at(whole, *origin), held_c, neighbours if aligned else 1, limits)
    body = Let(
        "slabs", Quotient(var("K") + (SLAB - 1), SLAB),
        Sequence((
            Fill("C", at(c), 0.0, LINE),
            When((slabs >= 1,), first),
            Loop("cta.k", (Quotient(affine(0), 1),), (Quotient(slabs - 2, 1),), 1, slab_body(t, True)),
            When((slabs >= 1,), last),
            finish, drain,
        )),
    )  # fmt: skip
    grid = tiles(i=("M", shape.rows), j=("N", shape.columns))
    buffers = (a.staged, a.tile, a.held, b.staged, b.tile, b.held, c, d)
    return program(
        (a.array, b.array, *arrays, whole), grid, body, *buffers, warps=warps, group=group,
        alignment=16 if aligned else 2, scalars=scalars,
    )  # fmt: skip


def side(
    name: str, extent: int, held: Distribution, k_last: bool, origin: str, vector: int, guarded: tuple[int, ...],
    warps: int, layout: SharedLayout, sizes: tuple[str, str],
) -> Side:  # fmt: skip
    """The buffers of one operand."""
    shape = (extent, SLAB) if k_last else (SLAB, extent)
    spread = row_major(shape, 8, warps)
    named = sizes if k_last else sizes[::-1]
    whole = array(name, f16, named, (f"ld{name.lower()}", 1))
    staged = registers(f"{name}.registers", f16, spread)
    tile = shared(f"{name}.shared", f16, layout, 2)
    held_buffer = registers(f"{name}.fragments", f16, held, 2)
    store = 4 if k_last else 8
    return Side(whole, staged, tile, held_buffer, spread, store, 1 if k_last else 0, origin, extent, vector, guarded)
