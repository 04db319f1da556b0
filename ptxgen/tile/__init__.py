"""The tile program: buffers, copies, multiplies and meetings, one tree per role (see README.md)."""

from ptxgen.tile.distribution import LANE_BITS, Coordinate, Distribution, SharedLayout, bit_count, zero
from ptxgen.tile.nodes import (
    Buffer,
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
    Role,
    Sequence,
    Space,
    When,
)
from ptxgen.tile.printer import show

__all__ = [
    "LANE_BITS", "Buffer", "Coordinate", "Copy", "Covered", "Distribution", "Fact", "Factor", "Fill",
    "GlobalPlacement", "Grid", "GridDim", "Iteration", "Let", "Loop", "Map", "MapOperand", "MatrixOrder", "Meet",
    "Multiply", "MultiplyRow", "Node", "Outside", "Parameter", "ParameterKind", "Program", "Quotient", "Raster",
    "Reduce", "Region", "RequirementKind", "Role", "Sequence", "SharedLayout", "Space", "When", "bit_count", "show",
    "zero",
]  # fmt: skip
