"""The tile program: buffers, copies, multiplies and meetings, one tree per role (see README.md)."""

from ptxgen.tile.distribution import LANE_BITS, Coordinate, Distribution, SharedLayout, bit_count, zero
from ptxgen.tile.nodes import (
    Buffer,
    Commit,
    Copy,
    Covered,
    Fact,
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
    RequirementKind,
    Retire,
    Role,
    Sequence,
    Space,
    Transport,
    When,
)
from ptxgen.tile.printer import show

__all__ = [
    "LANE_BITS", "Buffer", "Commit", "Coordinate", "Copy", "Covered", "Distribution", "Fact", "Factor", "Fill",
    "GlobalPlacement", "Grid", "GridDim", "Iteration", "Let", "Loop", "Map", "MapOperand", "MatrixOrder", "Meet",
    "Multiply", "MultiplyRow", "Node", "Outside", "Parameter", "ParameterKind", "Program", "Quotient", "Raster",
    "Reduce", "Region", "RequirementKind", "Retire", "Role", "Sequence", "SharedLayout", "Space", "Transport", "When",
    "bit_count", "show", "zero",
]  # fmt: skip
