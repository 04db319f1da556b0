"""What a matrix product with an epilogue computes."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from types import NoneType
from typing import Any, assert_never

from attrs import define, field, frozen

from ptxgen.compute import (
    Array,
    Comparison,
    Compute,
    ComputeBuilder,
    Constant,
    Dim,
    Element,
    Expression,
    Load,
    ReductionOp,
    Scalar,
    Select,
    clamp,
    e4m3,
    e5m2,
    f16,
    f32,
    f64,
    gelu,
    relu,
    s8,
    s32,
    silu,
    tf32,
    u8,
)
from ptxgen.kernels.products.epilogue import (
    Activate,
    Activation,
    Alpha,
    Axis,
    Beta,
    Bias,
    Clamp,
    Epilogue,
    Keep,
    Piece,
    Residual,
    Total,
    operand_names,
)
from ptxgen.kernels.products.stated_kinds import a_chain, check_kind, kind, pieces_of, two_counts
from ptxgen.plan.instructions import SUMS


class Layout(Enum):
    """How A and B are stored: `n` as M x K and K x N in rows, `t` transposed (K x M and N x K in rows)."""

    NN = "nn"
    NT = "nt"
    TN = "tn"
    TT = "tt"

    @property
    def a_transposed(self) -> bool:
        """Whether A is stored K x M."""
        return self.value[0] == "t"

    @property
    def b_transposed(self) -> bool:
        """Whether B is stored N x K."""
        return self.value[1] == "t"


class Grouping(Enum):
    """What comes in groups, one behind the other, of which the array `ends` has the ends. ROWS: those of A and of the
    result; B has a matrix for each group. TERMS: those of the sums, columns of A and rows of B; the result has a matrix
    for each group."""

    ROWS = "rows"
    TERMS = "terms"


TYPES = "an element type such as ptxgen.compute.f16"
USUAL_SUMS = {f64: f64, s8: s32, u8: s32}
USUAL_RESULTS = {tf32: f32, e4m3: f16, e5m2: f16, s8: s32, u8: s32}


@frozen
class MatmulSpec:
    """Everything that the statements of a product depend on: layouts, element types, epilogue, whether batched, and
    what comes in groups: then a bias of columns has one vector for each.

    `parts` are the rows and columns of the tile whose sums a `Total` keeps apart; None: it sums them all, which is what
    the user is told, but no single kernel computes. `input` is the type of A, and of B unless `b_input` is another;
    tf32 lies in memory as f32. With `promote`, sums are chains of so many terms in `accumulate`, promoted into f32.
    """

    layout: Layout = field(default=Layout.NN, validator=kind(Layout, "a Layout such as Layout.NT"))
    accumulate: Element = field(default=f32, validator=kind(Element, TYPES))
    output: Element = field(default=f16, validator=kind(Element, TYPES))
    epilogue: Epilogue = field(default=(), validator=pieces_of(Piece))
    batched: bool = field(default=False, validator=kind(bool, "True or False"))
    parts: tuple[int, int] | None = field(default=None, validator=two_counts)
    input: Element = field(default=f16, validator=kind(Element, TYPES))
    b_input: Element | None = field(default=None, validator=kind((Element, NoneType), f"{TYPES}, or None"))
    promote: int | None = field(default=None, validator=a_chain)
    grouped: Grouping | None = field(default=None, validator=kind((Grouping, NoneType), "a Grouping or None"))

    @classmethod
    def of(cls, input: Element, **others: Any) -> MatmulSpec:
        """A product of arrays of one type, accumulated and stored as is usual for it, but for what `others` say."""
        if not isinstance(input, Element):
            raise TypeError(f"MatmulSpec: input is {TYPES}, got {input!r}")
        usual = {"accumulate": USUAL_SUMS.get(input, f32), "output": USUAL_RESULTS.get(input, input)}
        return cls(**{"input": input, **usual, **others})

    @property
    def inputs(self) -> tuple[Element, Element]:
        """The types of A and B."""
        return self.input, self.b_input or self.input

    @property
    def outer(self) -> dict[str, int]:
        """The dims ahead of the rows, of which a block's tile has one each."""
        return {"b": 1} if self.batched else {"g": 1} if self.grouped else {}

    @property
    def summed(self) -> Element:
        """The type of the sums as the epilogue sees them."""
        return f32 if self.promote else self.accumulate

    @property
    def results(self) -> tuple[Element, ...]:
        """The types of what is stored element by element, in order."""
        return (*(piece.element for piece in self.epilogue if isinstance(piece, Keep)), self.output)

    @property
    def totals(self) -> tuple[Total, ...]:
        """The sums over rows or columns that the epilogue asks for."""
        return tuple(piece for piece in self.epilogue if isinstance(piece, Total))


def matmul_compute(spec: MatmulSpec) -> Compute:
    """`AB[i,j] = sum_k A[i,k] * B[k,j]`, then `D[i,j]` = the epilogue's pieces one after the other.

    Sizes are M, N, K (and `batches` or `groups`), strides lda, ldb, ldd and one for each matrix of the epilogue in
    elements, with `batch_a` and so on where batched, where grouped of what has one matrix for each group. The epilogue
    is one expression in f32, in f64 where sums or arrays are f64; ValueError for element types that no instruction
    multiplies, accumulates in or stores.
    """
    check_kind("matmul_compute", "spec", spec, MatmulSpec, "a MatmulSpec")
    check_types(spec)
    left, right = spec.inputs
    builder = ComputeBuilder("matmul")
    batch, (i, j, k) = _grouped_dims(builder, spec.grouped) if spec.grouped else _dims(builder, spec.batched)
    arrays = EpilogueArrays(builder, batch, i, j, grouped=spec.grouped is not None)
    at_a = arrays.element("A", left, (k, i) if spec.layout.a_transposed else (i, k))
    at_b = arrays.element("B", right, (j, k) if spec.layout.b_transposed else (k, j))
    product = builder.local("AB", spec.summed, arrays.over)[arrays.over]
    following = arrays.following(spec.epilogue, spec.parts)
    output = arrays.element("D", spec.output, (i, j), written=True)
    builder.reduce(ReductionOp.ADD, product, at_a * at_b, (*arrays.over, k), (k,))
    value = arrays.follow(following, product)
    builder.define(output, value, arrays.over)
    return builder.build()


Dims = tuple[tuple[Dim, ...], tuple[Dim, Dim, Dim]]


def _dims(builder: ComputeBuilder, batched: bool) -> Dims:
    batch = builder.dims(b="batches") if batched else ()
    i, j, k = builder.dims(i="M", j="N", k="K")
    return batch, (i, j, k)


def _grouped_dims(builder: ComputeBuilder, grouping: Grouping) -> Dims:
    g, i, j, k = builder.dims(g="groups", i="M", j="N", k="K")
    ends = builder.input("ends", s32, (g,), (1,))
    match grouping:
        case Grouping.ROWS:
            i = builder.segments("i", "M", ends=ends, group=g)
        case Grouping.TERMS:
            k = builder.segments("k", "K", ends=ends, group=g)
        case _:
            assert_never(grouping)
    return (g,), (i, j, k)


def check_types(spec: MatmulSpec) -> None:
    """ValueError where no tensor core multiplies the inputs into the sums asked for, or the result cannot hold them."""
    for choice, told in type_faults(spec):
        raise ValueError(f"{choice.value} {told}")


class Choice(Enum):
    """What of a product's types does not fit the others, as its faults begin."""

    INPUT = "input"
    ACCUMULATE = "accumulator"
    PROMOTE = "promotion of"
    OUTPUT = "output"
    GROUPED = "a grouped product"
    SUMS = "row and column sums"


def type_faults(spec: MatmulSpec) -> Iterator[tuple[Choice, str]]:
    """What of a product's types does not fit the others, and why, the first fault first."""
    left, right = spec.inputs
    if left not in SUMS:
        yield Choice.INPUT, f"{left}: a product has {', '.join(map(str, SUMS))}"
        return
    mates = next((kinds for kinds in ((s8, u8), (e4m3, e5m2)) if left in kinds), (left,))
    if right not in mates:
        yield Choice.INPUT, f"{left} by {right}: {left} is multiplied by {' or '.join(map(str, mates))}"
    if spec.accumulate not in SUMS[left]:
        yield Choice.ACCUMULATE, f"{spec.accumulate}: a product of {left} has {' or '.join(map(str, SUMS[left]))}"
    if spec.promote is not None and spec.accumulate not in (f16, f32):
        yield Choice.PROMOTE, f"{spec.accumulate}: chains of f16 or f32 are promoted into f32"
    held = [element for element in Element if element is not tf32 and (element is not s32 or spec.summed is s32)]
    if spec.output not in held:
        yield Choice.OUTPUT, f"{spec.output}: a result of sums in {spec.summed} is {', '.join(map(str, held))}"
    if spec.output is s32 and any(not isinstance(piece, Keep) for piece in spec.epilogue):
        yield Choice.OUTPUT, "s32: an epilogue is arithmetic in f32; store f32 or a narrower type after it"
    if spec.grouped and (spec.batched or spec.totals):
        yield Choice.GROUPED, "is not batched, and has no row or column sums"
    if f64 in (spec.summed, spec.output) and spec.totals:
        yield Choice.SUMS, "are in f32, the product is in f64"


Pointwise = Alpha | Beta | Bias | Residual | Activate | Clamp


@define
class EpilogueArrays:
    """Declares the arrays of a product, with their strides and the batch dim in front: where that numbers groups, of
    all arrays but those whose indices tell the group."""

    builder: ComputeBuilder
    batch: tuple[Dim, ...]
    i: Dim
    j: Dim
    grouped: bool = False

    @property
    def over(self) -> tuple[Dim, ...]:
        """All elements of the result."""
        return (*self.batch, self.i, self.j)

    def front(self, *dims: Dim) -> tuple[Dim, ...]:
        """The dims in front of an array over `dims`."""
        return () if any(dim.segments for dim in dims) else self.batch

    def matrix(self, name: str, element: Element, dims: tuple[Dim, Dim], written: bool = False) -> Array:
        """A matrix in rows: strides `ld<name>` and 1, and `batch_<name>` where something is in front."""
        declare = self.builder.output if written else self.builder.input
        label, front = name.lower(), self.front(*dims)
        strides = [f"batch_{label}"] if front else []
        return declare(name, element, (*front, *dims), (*strides, f"ld{label}", 1))

    def element(self, name: str, element: Element, dims: tuple[Dim, Dim], written: bool = False) -> Load:
        """An element of such a matrix, at its dims."""
        return self.matrix(name, element, dims, written)[(*self.front(*dims), *dims)]

    def sums(self, total: Total, parts: tuple[int, int] | None) -> Load:
        """The element that (i, j) is added to: one for each index that is kept, and each part of the one summed."""
        summed, kept = (self.j, self.i) if total.along is Axis.ROWS else (self.i, self.j)
        if parts is None:
            strides = (f"batch_{total}", 1) if self.batch else (1,)
            return self.builder.output(str(total), f32, (*self.batch, kept), strides)[(*self.batch, kept)]
        size = parts[1] if total.along is Axis.ROWS else parts[0]
        (part,) = self.builder.dims(**{f"{total}_part": f"{total}_part_count"})
        array = self.matrix(total.parts, f32, (part, kept), written=True)
        return array[(*self.batch, summed // size, kept)]

    def following(self, epilogue: Epilogue, parts: tuple[int, int] | None = None) -> list[tuple[Piece, Load | None]]:
        """The pieces of an epilogue, each with the element that it reads or fills at (i, j); their arrays are declared
        in that order."""
        return [
            (piece, self.sums(piece, parts) if isinstance(piece, Total) else self.of(piece, name))
            for piece, name in zip(epilogue, operand_names(epilogue), strict=True)
        ]

    def follow(self, following: list[tuple[Piece, Load | None]], value: Expression) -> Expression:
        """`value` after all pieces; those that store it or sum it become statements."""
        for piece, operand in following:
            match piece:
                case Keep():
                    assert operand is not None
                    self.builder.define(operand, value, self.over)
                case Total(along):
                    assert operand is not None
                    summed = (self.j,) if along is Axis.ROWS else (self.i,)
                    self.builder.reduce(ReductionOp.ADD, operand, value, self.over, summed)
                case _:
                    value = apply(piece, value, operand)
        return value

    def of(self, piece: object, name: str | None) -> Load | None:
        """The element that a piece reads or fills at (i, j)."""
        match piece:
            case Bias(along, element):
                assert name is not None
                dim = self.i if along is Axis.ROWS else self.j
                front = self.front(dim) if self.grouped else ()
                strides = (f"batch_{name}", 1) if front else (1,)
                return self.builder.input(name, element, (*front, dim), strides)[(*front, dim)]
            case Residual(element) | Beta(element) | Keep(element):
                assert name is not None
                return self.element(name, element, (self.i, self.j), written=isinstance(piece, Keep))
            case _:
                return None


def apply(piece: Pointwise, value: Expression, operand: Load | None) -> Expression:
    """`value` after one piece of the epilogue; `operand` is the element that the piece reads, if it reads one."""
    match piece:
        case Alpha():
            return value * Scalar("alpha")
        case Beta():
            assert operand is not None
            beta = Scalar("beta")
            return value + beta * Select(Comparison.NOT_EQUAL, beta, Constant(0.0), operand, Constant(0.0))
        case Bias() | Residual():
            assert operand is not None
            return value + operand
        case Activate(function):
            return _activated(function, value)
        case Clamp():
            return clamp(value, Scalar("low"), Scalar("high"))
        case _:
            assert_never(piece)


def _activated(function: Activation, value: Expression) -> Expression:
    match function:
        case Activation.RELU:
            return relu(value)
        case Activation.GELU:
            return gelu(value)
        case Activation.SILU:
            return silu(value)
        case _:
            assert_never(function)
