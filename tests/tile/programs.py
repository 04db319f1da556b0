"""Tile programs written by hand: what a derivation might produce, without one."""

from polyhedral import Affine, const, var
from ptxgen.compute import (
    Binary,
    BinaryOp,
    Constant,
    Element,
    Operand,
    ReductionOp,
    SourceLine,
    Unary,
    UnaryOp,
    caller,
    f16,
    f32,
    relu,
)
from ptxgen.tile import (
    Buffer,
    Copy,
    Distribution,
    Factor,
    Fill,
    GlobalPlacement,
    Grid,
    GridDim,
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
    Parameter,
    ParameterKind,
    Program,
    Quotient,
    Raster,
    Reduce,
    Region,
    Role,
    Sequence,
    SharedLayout,
    Space,
    When,
    bit_count,
)

LANE_BITS = 5


def here() -> SourceLine:
    """The line that calls the function that asks."""
    return caller(1)


def cooperative(shape: tuple[int, ...], contiguous: int, vector: int, warp_bits: int) -> Distribution:
    """All warps cover `shape` together: a lane holds `vector` neighbours along `contiguous`, lanes and then warps the
    following bits, and further values the rest; bits without anything left to cover are replicas."""
    order = [contiguous, *(place for place in reversed(range(len(shape))) if place != contiguous)]
    bits = [
        tuple(1 << bit if place == dim else 0 for place in range(len(shape)))
        for dim in order
        for bit in range(bit_count(shape[dim]))
    ]
    none = (0,) * len(shape)
    first, rest = bits[: bit_count(vector)], bits[bit_count(vector) :]
    padded = rest + [none] * (LANE_BITS + warp_bits - len(rest))
    lanes, warps = padded[:LANE_BITS], padded[LANE_BITS : LANE_BITS + warp_bits]
    return Distribution(shape, (*first, *rest[LANE_BITS + warp_bits :]), tuple(lanes), tuple(warps))


def memory(name: str, element: Element, extents: tuple[Affine, ...], strides: tuple[Affine, ...]) -> Buffer:
    return Buffer(name, name, element, Space.GLOBAL, (), 1, GlobalPlacement(extents, strides))


def held(name: str, element: Element, distribution: Distribution, depth: int = 1) -> Buffer:
    array = name.partition(".")[0]
    return Buffer(name, array, element, Space.REGISTERS, distribution.shape, depth, distribution)


def shared(name: str, element: Element, layout: SharedLayout, depth: int) -> Buffer:
    return Buffer(name, name.partition(".")[0], element, Space.SHARED, layout.shape, depth, layout)


def region(buffer: Buffer, *origin: Affine | int, rank: Affine | int = 0) -> Region:
    corner = origin or (0,) * len(buffer.shape)
    return Region(buffer, as_affine(rank), tuple(map(as_affine, corner)))


def as_affine(value: Affine | int) -> Affine:
    return const(value) if isinstance(value, int) else value


def tiles(extent: Affine, tile: int) -> Quotient:
    return Quotient(extent + (tile - 1), tile)


def kernel(name: str, grid: tuple[GridDim, ...], buffers: tuple[Buffer, ...], warps: int, body: Node) -> Program:
    """A program of one role; its parameters are the arrays and all names of their extents and strides."""
    arrays = [b for b in buffers if b.space is Space.GLOBAL]
    pointers = [Parameter(b.name, ParameterKind.POINTER, b.element, 16) for b in arrays]
    extents = dict.fromkeys(n for b in arrays for e in b.in_memory.extents for n in e.names)
    strides = dict.fromkeys(n for b in arrays for s in b.in_memory.strides for n in s.names)
    numbers = [Parameter(n, ParameterKind.SIZE) for n in extents]
    numbers += [Parameter(n, ParameterKind.STRIDE) for n in strides if n not in extents]
    return Program(name, "sm_70", (*pointers, *numbers), (), Grid(grid, Raster()), buffers, (Role("all", warps, body),))


M, N, K = var("M"), var("N"), var("K")


def copying(guarded: tuple[int, ...] = (0, 1), vector: int = 1) -> Program:
    """Y = X, in tiles of 16x32 by two warps."""
    x, y = memory("X", f32, (M, N), (var("ldx"), const(1))), memory("Y", f32, (M, N), (N, const(1)))
    distribution = cooperative((16, 32), 1, vector, 1)
    tile = held("X.registers", f32, distribution)
    corner = (var("cta.i") * 16, var("cta.j") * 32)
    body = Sequence(
        (
            Copy("X.registers", region(x, *corner), region(tile), distribution, vector, guarded, Outside.ANY, here()),
            Copy("Y", region(tile), region(y, *corner), distribution, vector, guarded, Outside.NEVER, here()),
        )
    )
    grid = (GridDim("cta.i", tiles(M, 16)), GridDim("cta.j", tiles(N, 32)))
    return kernel("copying", grid, (x, y, tile), 2, body)


def transposing() -> Program:
    """Y[j,i] = X[i,j], in tiles of 32x32 through shared memory by four warps."""
    x, y = memory("X", f32, (M, N), (N, const(1))), memory("Y", f32, (N, M), (M, const(1)))
    rows = cooperative((32, 32), 1, 1, 2)
    swizzled = SharedLayout((32, 32), (tuple(33 << bit for bit in range(5)), tuple(1 << bit for bit in range(5))))
    tile = shared("X.shared", f32, swizzled, 1)
    incoming, outgoing = held("X.registers", f32, rows), held("Y.registers", f32, rows)
    i, j = var("cta.i") * 32, var("cta.j") * 32
    across = Iteration(("j", "i"), (j, i), (N, M), rows, (0, 1))
    body = Sequence(
        (
            Copy("X.registers", region(x, i, j), region(incoming), rows, 1, (0, 1), Outside.ANY, here()),
            Copy("X.shared", region(incoming), region(tile), rows, 1, (), Outside.NEVER, here()),
            Meet(0, ()),
            Map(
                "Y.registers", across, region(outgoing), (0, 1), Operand(0),
                (MapOperand(region(tile), (1, 0), 1),), here(),
            ),
            Copy("Y", region(outgoing), region(y, j, i), rows, 1, (0, 1), Outside.NEVER, here()),
        )
    )  # fmt: skip
    grid = (GridDim("cta.i", tiles(M, 32)), GridDim("cta.j", tiles(N, 32)))
    return kernel("transposing", grid, (x, y, tile, incoming, outgoing), 4, body)


def softmax(extent: int = 64) -> Program:
    """Y[i,j] = exp(X[i,j] - max_j) / sum_j, 8 rows a block of two warps, N at most `extent`, registers only."""
    x, y = memory("X", f32, (M, N), (N, const(1))), memory("Y", f32, (M, N), (N, const(1)))
    rows = cooperative((8, extent), 1, 2, 1)
    one = rows.project((0,))
    tile, largest = held("X.registers", f32, rows), held("largest", f32, one)
    power, total, out = held("power", f32, rows), held("total", f32, one), held("Y.registers", f32, rows)
    corner = (var("cta.i") * 8, const(0))
    over = Iteration(("i", "j"), corner, (M, N), rows, (0, 1))
    difference = Binary(BinaryOp.SUBTRACT, Operand(0), Operand(1))
    exponential = Unary(UnaryOp.EXP2, Binary(BinaryOp.MULTIPLY, difference, Constant(1.4426950408889634)))
    value, per_row = MapOperand(region(tile), (0, 1), 1), MapOperand(region(largest), (0,), 1)
    body = Sequence(
        (
            Copy("X.registers", region(x, *corner), region(tile), rows, 1, (0, 1), Outside.ANY, here()),
            Fill("largest.start", region(largest), float("-inf"), here()),
            Fill("total.start", region(total), 0.0, here()),
            Reduce("largest", ReductionOp.MAXIMUM, over, region(largest), (0,), Operand(0), (value,), here()),
            Map("power", over, region(power), (0, 1), exponential, (value, per_row), here()),
            Reduce(
                "total", ReductionOp.ADD, over, region(total), (0,), Operand(0),
                (MapOperand(region(power), (0, 1), 1),), here(),
            ),
            Map(
                "Y.registers", over, region(out), (0, 1), Binary(BinaryOp.DIVIDE, Operand(0), Operand(1)),
                (MapOperand(region(power), (0, 1), 1), MapOperand(region(total), (0,), 1)), here(),
            ),
            Copy("Y", region(out), region(y, *corner), rows, 1, (0, 1), Outside.NEVER, here()),
        )
    )  # fmt: skip
    return kernel("softmax", (GridDim("cta.i", tiles(M, 8)),), (x, y, tile, largest, power, total, out), 2, body)


def fragments(m: int, n: int, k: int, warps: tuple[int, int]) -> tuple[Distribution, Distribution, Distribution]:
    """A (row), B (col) and C (f32) of m8n8k4 for a tile m x n x k shared by warps[0] x warps[1] warps."""
    rows, columns = m // warps[0], n // warps[1]

    def repeats(first: int, end: int) -> list[int]:
        return [first << bit for bit in range(bit_count(end // first))]

    row_warps, column_warps = repeats(rows, m), repeats(columns, n)
    a = Distribution(
        (m, k),
        (*((0, bit) for bit in (1, 2)), *((r, 0) for r in repeats(16, rows)), *((0, r) for r in repeats(4, k))),
        ((1, 0), (2, 0), (8, 0), (0, 0), (4, 0)),
        (*((r, 0) for r in row_warps), *((0, 0) for _ in column_warps)),
    )
    b = Distribution(
        (k, n),
        (*((bit, 0) for bit in (1, 2)), *((0, r) for r in repeats(16, columns)), *((r, 0) for r in repeats(4, k))),
        ((0, 1), (0, 2), (0, 0), (0, 8), (0, 4)),
        (*((0, 0) for _ in row_warps), *((0, r) for r in column_warps)),
    )
    c = Distribution(
        (m, n),
        (
            *((0, 1), (2, 0), (0, 4)),
            *((r, 0) for r in repeats(16, rows)),
            *((0, r) for r in repeats(16, columns)),
        ),
        ((1, 0), (0, 2), (8, 0), (0, 8), (4, 0)),
        (*((r, 0) for r in row_warps), *((0, r) for r in column_warps)),
    )
    return a, b, c


class Matmul:
    """D = relu(A @ B + bias), double-buffered: registers and shared one slab ahead, fragments one step of 4 ahead."""

    def __init__(
        self, tile: tuple[int, int, int], warps: tuple[int, int], depth: int = 2, accumulate: Element = f32
    ) -> None:
        self.m, self.n, self.k = tile
        self.accumulate = accumulate
        self.warps = warps
        warp_bits = bit_count(warps[0] * warps[1])
        self.a = memory("A", f16, (M, K), (K, const(1)))
        self.b = memory("B", f16, (K, N), (N, const(1)))
        self.bias = memory("bias", f32, (N,), (const(1),))
        self.d = memory("D", f32, (M, N), (N, const(1)))
        self.a_rows = cooperative((self.m, self.k), 1, 4, warp_bits)
        self.b_rows = cooperative((self.k, self.n), 1, 4, warp_bits)
        a, b, c = fragments(self.m, self.n, 4, warps)
        self.a_registers = held("A.registers", f16, self.a_rows)
        self.b_registers = held("B.registers", f16, self.b_rows)
        self.a_shared = shared("A.shared", f16, SharedLayout.linear((self.m, self.k), 1), depth)
        self.b_shared = shared("B.shared", f16, SharedLayout.linear((self.k, self.n), 1), depth)
        self.a_fragments, self.b_fragments = held("A.fragments", f16, a, 2), held("B.fragments", f16, b, 2)
        self.c, self.out = held("C", accumulate, c), held("D.registers", f32, c)
        self.i, self.j = var("cta.i") * self.m, var("cta.j") * self.n
        self.steps = self.k // 4

    def load(self, t: Affine) -> Node:
        a, b = region(self.a, self.i, t * self.k), region(self.b, t * self.k, self.j)
        return Sequence(
            (
                Copy("A.registers", a, region(self.a_registers, rank=t), self.a_rows, 1, (0, 1), Outside.ZERO, here()),
                Copy("B.registers", b, region(self.b_registers, rank=t), self.b_rows, 1, (0, 1), Outside.ZERO, here()),
            )
        )

    def store(self, t: Affine) -> Node:
        a, b = region(self.a_registers, rank=t), region(self.b_registers, rank=t)
        return Sequence(
            (
                Copy("A.shared", a, region(self.a_shared, rank=t), self.a_rows, 4, (), Outside.NEVER, here()),
                Copy("B.shared", b, region(self.b_shared, rank=t), self.b_rows, 4, (), Outside.NEVER, here()),
            )
        )

    def fetch(self, t: Affine, s: int) -> Node:
        rank = t * self.steps + s
        a, b = region(self.a_shared, 0, 4 * s, rank=t), region(self.b_shared, 4 * s, 0, rank=t)
        a_held, b_held = self.a_fragments, self.b_fragments
        return Sequence(
            (
                Copy("A.fragments", a, region(a_held, rank=rank), a_held.distribution, 1, (), Outside.ANY, here()),
                Copy("B.fragments", b, region(b_held, rank=rank), b_held.distribution, 1, (), Outside.ANY, here()),
            )
        )

    def product(self, t: Affine, s: int) -> Node:
        rank = t * self.steps + s
        row = MultiplyRow(8, 8, 4, f16, self.accumulate, MatrixOrder.ROW, MatrixOrder.COLUMN)
        c = Factor(region(self.c), 0, 1)
        a, b = (Factor(region(held_, rank=rank), 0, 1) for held_ in (self.a_fragments, self.b_fragments))
        repeats = (self.m // self.warps[0] // 16, self.n // self.warps[1] // 16, 1)
        return Multiply("C", row, c, a, b, repeats, here())

    def slab(self, t: Affine) -> Node:
        inner = [node for s in range(self.steps - 1) for node in (self.fetch(t, s + 1), self.product(t, s))]
        return Sequence(tuple(inner))

    def main(self) -> Node:
        t, last = var("t"), Quotient(K - 1, self.k)
        steady = Sequence(
            (
                self.load(t + 1),
                self.slab(t),
                self.store(t + 1),
                Meet(0, ()),
                self.fetch(t + 1, 0),
                self.product(t, self.steps - 1),
            )
        )
        first = const(0)
        prologue = (self.load(first), self.store(first), Meet(0, ()), self.fetch(first, 0))
        loop = Loop("t", (Quotient(const(0), 1),), (Quotient(K - 1 - self.k, self.k),), 1, steady)
        tail = Let("t", last, Sequence((self.slab(t), self.product(t, self.steps - 1))))
        return When((K >= 1,), Sequence((*prologue, loop, tail)))

    def program(self) -> Program:
        over = Iteration(("i", "j"), (self.i, self.j), (M, N), self.c.distribution, (0, 1))
        operands = (MapOperand(region(self.c), (0, 1), 1), MapOperand(region(self.bias, self.j), (1,), 1))
        body = Sequence(
            (
                Fill("C.start", region(self.c), 0.0, here()),
                self.main(),
                Map("D.registers", over, region(self.out), (0, 1), relu(Operand(0) + Operand(1)), operands, here()),
                Copy(
                    "D", region(self.out), region(self.d, self.i, self.j), self.c.distribution, 1, (0, 1),
                    Outside.NEVER, here(),
                ),
            )
        )  # fmt: skip
        grid = (GridDim("cta.i", tiles(M, self.m)), GridDim("cta.j", tiles(N, self.n)))
        buffers = (
            *(self.a, self.b, self.bias, self.d, self.a_registers, self.b_registers, self.a_shared, self.b_shared),
            *(self.a_fragments, self.b_fragments, self.c, self.out),
        )
        return kernel("matmul", grid, buffers, self.warps[0] * self.warps[1], body)
