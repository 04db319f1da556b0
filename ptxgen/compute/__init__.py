"""What to compute: arrays, accesses, statements and scalar expressions (see README.md)."""

from ptxgen.compute.builder import ComputeBuilder
from ptxgen.compute.elements import Element, f16, f32, s32
from ptxgen.compute.expressions import (
    Binary,
    BinaryOp,
    Comparison,
    Constant,
    Expression,
    Load,
    Operand,
    Round,
    Scalar,
    Select,
    Unary,
    UnaryOp,
    children,
    clamp,
    exp,
    exp2,
    gelu,
    loads,
    maximum,
    minimum,
    rebuild,
    reciprocal,
    relu,
    scalars,
    show,
    sigmoid,
    silu,
    walk,
)
from ptxgen.compute.statements import (
    Array,
    ArrayKind,
    Compute,
    Dim,
    Reduction,
    ReductionOp,
    SourceLine,
    Statement,
    caller,
    names_in,
)

__all__ = [
    "Array", "ArrayKind", "Binary", "BinaryOp", "Comparison", "Compute", "ComputeBuilder", "Constant", "Dim", "Element",
    "Expression", "Load", "Operand", "Reduction", "ReductionOp", "Round", "Scalar", "Select", "SourceLine", "Statement",
    "Unary", "UnaryOp", "caller", "children", "clamp", "exp", "exp2", "f16", "f32", "gelu", "loads", "maximum",
    "minimum", "names_in", "rebuild", "reciprocal", "relu", "s32", "scalars", "show", "sigmoid", "silu", "walk",
]  # fmt: skip
