"""The leaves of a tree: whole tiles moved, filled, multiplied, mapped, reduced, or whatever somebody wrote by hand."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from attrs import field, frozen

from isa.mechanisms import Mechanism
from polyhedral import Affine
from ptxgen.compute import Element, Expression, ReductionOp, SourceLine
from ptxgen.tile.buffers import Region
from ptxgen.tile.distribution import Distribution, MatrixRows


class Outside(Enum):
    """What a copy does beyond the array: NEVER touches it (stores), gives ZERO, or may give ANY value."""

    NEVER = "never"
    ZERO = "zero"
    ANY = "any"


class Carrier(Enum):
    """What carries a copy. ACCESS: loads or stores of each lane. LANE_COPY: `cp.async` from global to shared memory,
    complete when its group is. MATRIX: `ldmatrix` from shared memory to registers, `stmatrix` the other way; lanes give
    the addresses of the copy's `rows`, and `vector` counts the elements of a row. TENSOR: one thread has a box of
    global memory copied to shared memory; its bytes arrive at the full barrier of the copy's `ring`, and outside the
    array zeros do. From shared to global memory the role's first thread has it copied, complete when its group is, and
    outside the array nothing is."""

    ACCESS = "access"
    LANE_COPY = "cp.async"
    MATRIX = "matrices"
    TENSOR = "tensor copy"


class Eviction(Enum):
    """Which lines the L2 cache gives up: FIRST those that nobody will ask for again, LAST those that many will."""

    FIRST = "evict_first"
    LAST = "evict_last"


@frozen
class Copy:
    """Every element of `distribution` moves from `source` to `destination`, `vector` elements in one access.

    One side is registers and the other global or shared memory, or with LANE_COPY and TENSOR both are memory. `guarded`
    names the dimensions along which the box may leave the array; `outside` says what happens there. With `masks` the
    block of rank c in its cluster copies to the tiles of all blocks that `masks[c]` has bits for, and nothing where it
    has none; from shared memory to registers it copies from the tile of the one block that `masks[c]` names. A tensor
    copy may say what becomes of its lines in the L2 cache.
    """

    op: str
    source: Region
    destination: Region
    distribution: Distribution
    vector: int
    guarded: tuple[int, ...]
    outside: Outside
    line: SourceLine = field(eq=False)
    carrier: Carrier = Carrier.ACCESS
    rows: MatrixRows | None = None
    ring: str = ""
    masks: tuple[int, ...] = ()
    eviction: Eviction | None = None


@frozen
class Fill:
    """Every value of a register buffer becomes `value`."""

    op: str
    destination: Region
    value: float
    line: SourceLine = field(eq=False)


@frozen
class Factor:
    """An operand of a multiplication and the dimensions of its array that are the matrix's rows and columns."""

    region: Region
    row_dimension: int
    column_dimension: int


class MatrixOrder(Enum):
    """How an operand lies in the instruction: `.row` or `.col`."""

    ROW = "row"
    COLUMN = "col"


@frozen
class MultiplyRow:
    """The instruction row used: shape, element types (`input` of A, `b_input` of B), and the operands' orders. Of a
    `warpgroup` A and B are read from shared memory, asynchronously."""

    m: int
    n: int
    k: int
    input: Element
    accumulate: Element
    a_order: MatrixOrder
    b_order: MatrixOrder
    warpgroup: bool = False
    b_input: Element = field(kw_only=True)

    @b_input.default
    def _same(self) -> Element:
        return self.input

    @property
    def shape(self) -> str:
        """`m16n8k16`."""
        return f"m{self.m}n{self.n}k{self.k}"

    @property
    def instruction(self) -> str:
        """The dotted name of the instruction (PTX ISA, mma, wgmma.mma_async)."""
        types = f"{self.accumulate}.{self.input}.{self.b_input}"
        if self.warpgroup:
            return f"wgmma.mma_async.sync.aligned.{self.shape}.{types}"
        orders = f"{self.a_order.value}.{self.b_order.value}"
        return f"mma.sync.aligned.{self.shape}.{orders}.{types}.{self.accumulate}"


@frozen
class Multiply:
    """`c += a * b` on fragments: `repeats` (m, n, k) instructions a warp, visited in a serpentine over (m, n) for each
    k, so that consecutive instructions share an operand. `fresh`: `c = a * b`, whatever c was.

    Value bits of a fragment are, from the lowest: the instruction's own bits, then the repeats of its first matrix
    dimension, then those of its second one. (c: m then n; a: m then k; b: n then k.)
    """

    op: str
    row: MultiplyRow
    c: Factor
    a: Factor
    b: Factor
    repeats: tuple[int, int, int]
    line: SourceLine = field(eq=False)
    fresh: bool = False


@frozen
class MapOperand:
    """What `Operand(index)` of an expression reads: a region whose dimension d is indexed by iteration dim `dims[d]`
    (None: the region's origin alone). A global region is read `vector` elements in one access."""

    region: Region
    dims: tuple[int | None, ...]
    vector: int


@frozen
class Iteration:
    """The box that a Map or Reduce visits: iteration dims by name with their tile origin, the array-wide extent, and
    who holds what. `guarded` lists the positions of dims along which the box may leave the extent."""

    dims: tuple[str, ...]
    origin: tuple[Affine, ...]
    extents: tuple[Affine, ...]
    distribution: Distribution
    guarded: tuple[int, ...]


@frozen
class Map:
    """`target = expression(operands)` at every point of the iteration. The target is a register buffer with the
    iteration's distribution, its dimension d indexed by iteration dim `target_dims[d]`.

    At guarded points memory operands read zero, and the target gets ANY value, which nobody may use, or ZERO, which a
    later sum over those points needs.
    """

    op: str
    iteration: Iteration
    target: Region
    target_dims: tuple[int | None, ...]
    expression: Expression
    operands: tuple[MapOperand, ...]
    line: SourceLine = field(eq=False)
    outside: Outside = Outside.ANY


@frozen
class Reduce:
    """`target = join(target, expression over the dims that the target lacks)`: values of a lane in ascending order,
    then lanes by butterfly (distance 1, 2, 4, ...) over the lane bits that move along reduced dims. Every lane ends
    with the result. Guarded points contribute the identity.

    The target's distribution is the iteration's projection onto `target_dims`. Where only parts of a dim are joined,
    the iteration has the part's number as one more dim: a bit that moves a reduced dim and a kept one is not joined
    over.
    """

    op: str
    join: ReductionOp
    iteration: Iteration
    target: Region
    target_dims: tuple[int, ...]
    expression: Expression
    operands: tuple[MapOperand, ...]
    line: SourceLine = field(eq=False)


@frozen
class Code:
    """Instructions that somebody writes with the builder: `write(hand)`, of which `ptxgen.lower` knows what `hand` is.
    `model` is the same on numpy, None where nobody has told."""

    name: str
    write: Callable[..., None]
    model: Callable[..., Any] | None = None


@frozen
class HandWritten:
    """`code` in place of a derived leaf. It reads and writes the regions declared, of each the elements of the
    `distribution` from the region's corner on, by `mechanism`; nothing else, as far as anybody knows."""

    op: str
    code: Code
    reads: tuple[Region, ...]
    writes: tuple[Region, ...]
    distribution: Distribution
    mechanism: Mechanism
    line: SourceLine = field(eq=False)


Leaf = Copy | Fill | Multiply | Map | Reduce | HandWritten
