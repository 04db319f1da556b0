"""The tile program: buffers, copies, multiplies and meetings, one tree per role (see README.md)."""

from ptxgen.tile.buffers import Buffer, GlobalPlacement, Region, Space
from ptxgen.tile.cropping import Coordinate, CroppingError, bit_count, coordinate_bits, granule, is_power, power_below
from ptxgen.tile.distribution import LANE_BITS, Distribution, MatrixRows, SharedLayout, matrix_rows, zero
from ptxgen.tile.grid import Grid, GridDim, Raster, Segmented, WorkList, rank_name
from ptxgen.tile.leaves import (
    Carrier,
    Code,
    Copy,
    Eviction,
    Factor,
    Fill,
    HandWritten,
    Iteration,
    Leaf,
    Map,
    MapOperand,
    MatrixOrder,
    Multiply,
    MultiplyRow,
    Outside,
    Reduce,
)
from ptxgen.tile.nodes import Counter, ForEachItem, Let, Loop, Node, Sequence, When
from ptxgen.tile.printing import show
from ptxgen.tile.program import (
    MIDDLE,
    ROUND,
    Fact,
    Parameter,
    ParameterKind,
    Program,
    Ring,
    Role,
    TensorBox,
    Told,
    Workspace,
    tickets_name,
    turns_name,
)
from ptxgen.tile.quotient import Quotient
from ptxgen.tile.synchronisation import (
    Acquire,
    Advance,
    Arrive,
    Arriving,
    ClusterArrive,
    ClusterWait,
    Commit,
    Covered,
    Entering,
    Expect,
    GridRelease,
    GridWait,
    Meet,
    Ordering,
    ProxyFence,
    RegisterFence,
    Release,
    RequirementKind,
    Retire,
    Side,
    Synchronisation,
    Wait,
)
from ptxgen.tile.variables import (
    BLOCK_COUNT,
    BLOCK_NUMBER,
    ITEM_FIRST,
    ITEM_SLABS,
    JOINING,
    LEAVING,
    TILE_COUNT,
    TILE_NUMBER,
    WARPGROUP,
)

__all__ = [
    "BLOCK_COUNT", "BLOCK_NUMBER", "ITEM_FIRST", "ITEM_SLABS", "JOINING", "LANE_BITS", "LEAVING", "MIDDLE", "ROUND",
    "TILE_COUNT", "TILE_NUMBER", "WARPGROUP", "Acquire", "Advance", "Arrive", "Arriving", "Buffer", "Carrier",
    "ClusterArrive", "ClusterWait", "Code", "Commit", "Coordinate", "Copy", "Counter", "Covered", "CroppingError",
    "Distribution", "Entering", "Eviction", "Expect", "Fact", "Factor", "Fill", "ForEachItem", "GlobalPlacement",
    "Grid", "GridDim", "GridRelease", "GridWait", "HandWritten", "Iteration", "Leaf", "Let", "Loop", "Map",
    "MapOperand", "MatrixOrder", "MatrixRows", "Meet", "Multiply", "MultiplyRow", "Node", "Ordering", "Outside",
    "Parameter", "ParameterKind", "Program", "ProxyFence", "Quotient", "Raster", "Reduce", "Region", "RegisterFence",
    "Release", "RequirementKind", "Retire", "Ring", "Role", "Segmented", "Sequence", "SharedLayout", "Side", "Space",
    "Synchronisation", "TensorBox", "Told", "Wait", "When", "WorkList", "Workspace", "bit_count", "coordinate_bits",
    "granule", "is_power", "matrix_rows", "power_below", "rank_name", "show", "tickets_name", "turns_name", "zero",
]  # fmt: skip
