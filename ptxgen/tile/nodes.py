"""The tile program: a frozen tree per role whose leaves move, multiply and map whole tiles.

Quantities are affine expressions over parameters, tile indices of the grid ("cta.i") and loop variables. Every node
keeps the user's line that asked for it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from math import prod
from typing import Any

from attrs import field, frozen

from isa.mechanisms import GroupKind, Mechanism
from polyhedral import Affine, Constraint, var
from ptxgen.compute import Element, Expression, ReductionOp, SourceLine
from ptxgen.tile.distribution import Distribution, MatrixRows, SharedLayout
from ptxgen.tile.variables import TILE_NUMBER


class Space(Enum):
    """Where a buffer lives."""

    GLOBAL = "global"
    SHARED = "shared"
    REGISTERS = "registers"


class Outside(Enum):
    """What a copy does beyond the array: NEVER touches it (stores), gives ZERO, or may give ANY value."""

    NEVER = "never"
    ZERO = "zero"
    ANY = "any"


@frozen
class GlobalPlacement:
    """An array in global memory: extents and strides in elements. A block stays below `ends` in it where those are
    given: along segments, below the end of its own."""

    extents: tuple[Affine, ...]
    strides: tuple[Affine, ...]
    ends: tuple[Affine, ...] = ()

    @property
    def reach(self) -> tuple[Affine, ...]:
        """Below what indices a block stays."""
        return self.ends or self.extents


@frozen
class Buffer:
    """Where a tile lives. `shape` has one extent for each dimension of the array; a global buffer is the whole array
    and has an empty shape. `depth` tiles lie one behind the other: tile number n is in slot n mod depth. A shared
    buffer with an `alias` lies where that one begins; one of the two is in use at a time."""

    name: str
    array: str
    element: Element
    space: Space
    shape: tuple[int, ...]
    depth: int
    placement: GlobalPlacement | SharedLayout | Distribution
    alias: str = ""

    @property
    def layout(self) -> SharedLayout:
        """The layout of a shared buffer."""
        assert isinstance(self.placement, SharedLayout), self.name
        return self.placement

    @property
    def distribution(self) -> Distribution:
        """The distribution of a register buffer."""
        assert isinstance(self.placement, Distribution), self.name
        return self.placement

    @property
    def in_memory(self) -> GlobalPlacement:
        """The extents and strides of a global buffer."""
        assert isinstance(self.placement, GlobalPlacement), self.name
        return self.placement

    @property
    def slot_bytes(self) -> int:
        """Bytes of one slot of a shared buffer."""
        return self.layout.size * self.element.byte_count


@frozen
class Region:
    """The box of `buffer` that starts at `origin`, in tile number `rank` of its ring.

    The box has the extents of the distribution or tile that the node moves. In a global buffer `origin` is in elements
    of the array; in a shared or register tile it counts from the tile's corner and is constant, but for the parts of a
    shared tile that blocks of a cluster copy: those start where the block's rank says.
    """

    buffer: Buffer
    rank: Affine
    origin: tuple[Affine, ...]


class RequirementKind(Enum):
    """Why one access must come before another."""

    FLOW = "flow"
    REUSE = "reuse"
    REWRITE = "rewrite"


@frozen
class Covered:
    """A requirement that a synchronisation node discharges: source(n) before sink(n + distance), on `buffer`."""

    kind: RequirementKind
    source: str
    sink: str
    distance: int
    buffer: str

    def __str__(self) -> str:
        return f"{self.kind.value} {self.source} -> {self.sink} ({self.buffer}, distance {self.distance})"


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


@frozen
class Ordering:
    """A node that is there for order alone; `line` where somebody wrote it by hand."""

    line: SourceLine | None = field(default=None, eq=False, kw_only=True, repr=False)


@frozen
class Meet(Ordering):
    """All warps of the role wait for each other; memory accesses before are ordered before those after."""

    barrier: int
    covers: tuple[Covered, ...]


@frozen
class Commit(Ordering):
    """Every lane closes the group of the copies of a kind that it has issued since it last did; it may be empty. Groups
    of stores in bulk are those of the role's first thread."""

    kind: GroupKind


@frozen
class Retire(Ordering):
    """Every lane waits until at most `pending` of the groups that it closed last are incomplete; with `reads_only`,
    until their sources have been read."""

    kind: GroupKind
    pending: int
    covers: tuple[Covered, ...]
    reads_only: bool = False


class Side(Enum):
    """The two barriers of a slot: FULL tells readers that it is filled, EMPTY tells the writer that it is free."""

    FULL = "full"
    EMPTY = "empty"


@frozen
class Wait(Ordering):
    """Every thread of the role waits for a barrier of a ring: FULL until tile number `rank` has landed, EMPTY until its
    slot is free for it."""

    ring: str
    side: Side
    rank: Affine
    covers: tuple[Covered, ...]


class Arriving(Enum):
    """Who arrives: one thread of each warp, or one of each warpgroup."""

    WARP = "each warp"
    WARPGROUP = "each warpgroup"


@frozen
class Arrive(Ordering):
    """The slot of tile number `rank` is free as far as this role goes. With `to` the block of rank c in its cluster
    tells so to all blocks that `to[c]` has bits for, else to itself."""

    ring: str
    rank: Affine
    by: Arriving
    covers: tuple[Covered, ...]
    to: tuple[int, ...] = ()


@frozen
class Expect(Ordering):
    """The bytes of tile number `rank` are announced to its full barrier, one arrival."""

    ring: str
    rank: Affine
    byte_count: int
    covers: tuple[Covered, ...]


@frozen
class ClusterArrive(Ordering):
    """Every thread of the role, or of the block where all enter, tells its cluster that it has come here; what it did
    before is seen behind the wait. Threads that have ended count as if they had told so."""

    covers: tuple[Covered, ...] = ()


@frozen
class ClusterWait(Ordering):
    """Every thread waits until all threads of the cluster have told that they arrived."""

    covers: tuple[Covered, ...] = ()


@frozen
class GridRelease(Ordering):
    """The grids behind this one may begin (PTX ISA, griddepcontrol.launch_dependents)."""


@frozen
class GridWait(Ordering):
    """Every thread waits until the grids ahead have ended, and then sees what they wrote (PTX ISA,
    griddepcontrol.wait)."""


OWN_TILE = var(TILE_NUMBER)


@frozen
class Acquire(Ordering):
    """The role's first thread waits until the flag of a tile in the array `flags`, that of the block's own tile or of
    number `tile` of the workspace, has the value `value`; what came before the release of that value is seen behind the
    next meeting."""

    flags: str
    value: Affine
    covers: tuple[Covered, ...]
    tile: Affine = OWN_TILE


@frozen
class Release(Ordering):
    """The role's first thread gives the flag of a tile in the array `flags` a value; what it has seen of the role by
    then is seen by who acquires that."""

    flags: str
    value: Affine
    covers: tuple[Covered, ...]
    tile: Affine = OWN_TILE


@frozen
class RegisterFence(Ordering):
    """Registers written before are read by later products of the warpgroup (PTX ISA, wgmma.fence)."""

    covers: tuple[Covered, ...]


@frozen
class ProxyFence(Ordering):
    """What a thread has written to shared memory before is seen by what runs in the background behind it (PTX ISA,
    fence.proxy.async)."""

    covers: tuple[Covered, ...]


@frozen
class Quotient:
    """floor(numerator / divisor)."""

    numerator: Affine
    divisor: int

    def __str__(self) -> str:
        return str(self.numerator) if self.divisor == 1 else f"floor(({self.numerator})/{self.divisor})"


@frozen
class Advance(Ordering):
    """The role's counter `variable` goes on by `by`."""

    variable: str
    by: Quotient


@frozen
class Sequence:
    """Its children one after the other."""

    children: tuple[Node, ...]


@frozen
class Loop:
    """`body` for variable = max(lower), max(lower) + step, ... up to and including min(upper)."""

    variable: str
    lower: tuple[Quotient, ...]
    upper: tuple[Quotient, ...]
    step: int
    body: Node


@frozen
class Let:
    """`body` with `variable` = `value`."""

    variable: str
    value: Quotient
    body: Node


@frozen
class When:
    """`then` where every condition holds, else `otherwise`. Conditions are the same for all threads of a block."""

    conditions: tuple[Constraint, ...]
    then: Node
    otherwise: Node | None = None


@frozen
class ForEachItem:
    """`body` for each item of the block's work list in turn: `variable` numbers them from 0, and the grid's variables
    are those of the item's tile. Where the list is streamed, ITEM_FIRST and ITEM_SLABS are its first slab and how many
    it has, BLOCK_NUMBER and BLOCK_COUNT tell of the block. A role that takes some items only has those numbered
    `first`, `first` + `step`, ..."""

    variable: str
    body: Node
    first: int = 0
    step: int = 1


@frozen
class Counter:
    """`body` with `variable`, a number that each role counts for itself: it starts at 0, and `Advance` moves it on."""

    variable: str
    body: Node


Entering = ClusterArrive | ClusterWait | GridRelease | GridWait
Passing = Acquire | Release
Synchronisation = (
    Meet | Commit | Retire | Wait | Arrive | Expect | RegisterFence | ProxyFence | Advance | Passing | Entering
)
Leaf = Copy | Fill | Multiply | Map | Reduce | HandWritten
Node = Sequence | Loop | Let | When | ForEachItem | Counter | Leaf | Synchronisation


class ParameterKind(Enum):
    """POINTER: address of an array. WORKSPACE: that of memory of the kernel's own, which the launcher provides. SIZE:
    s32 extent. STRIDE: s64 distance in elements. SCALAR: f32 number."""

    POINTER = "pointer"
    WORKSPACE = "workspace"
    SIZE = "size"
    STRIDE = "stride"
    SCALAR = "scalar"


@frozen
class Parameter:
    """A kernel parameter; for a pointer, `element` and the alignment in bytes that the kernel relies on."""

    name: str
    kind: ParameterKind
    element: Element | None = None
    alignment: int = 1
    written: bool = False
    line: SourceLine | None = field(default=None, eq=False, kw_only=True, repr=False)


@frozen
class GridDim:
    """A tile index of the grid: `variable` runs over 0 <= variable < floor(count), and on to a multiple of `cluster`:
    so many neighbours along it are in one cluster, and `rank_name(variable)` is a block's number among them."""

    variable: str
    count: Quotient
    cluster: int = 1


@frozen
class Workspace:
    """Memory that the kernel alone uses, `elements` of a type for each tile of the grid (each of its parts together),
    for each block where a work list is streamed; the parameter `name`. With `zeroed` it is zero at the launch, and when
    the kernel ends it is so again."""

    name: str
    element: Element
    elements: int
    zeroed: bool = False
    line: SourceLine | None = field(default=None, eq=False, kw_only=True, repr=False)


MIDDLE, ROUND = 1 << 30, 1 << 34


def turns_name(workspace: str) -> str:
    """The workspace of the flags that tell whose turn it is at each tile of another workspace."""
    return f"{workspace}_turns"


def rank_name(variable: str) -> str:
    """The variable that tells which of the neighbours of its cluster a block is along a tile index of the grid."""
    return f"{variable}.rank"


@frozen
class Raster:
    """The order of blocks. `group` 1: the last grid dim fastest. `group` g > 1: bands of g tiles along the first of
    the last two dims are walked column by column, so that neighbours in time share operands in the L2 cache. With
    `curve` a band is cut into squares of g by g tiles, each walked along Hilbert's curve from its first column to its
    last one in its first row (where it is whole, else column by column), and every second band is walked backwards."""

    group: int = 1
    curve: bool = False

    def over(self, height: int) -> Raster:
        """The same order of tiles of which each is `height` rows high; squares stay powers of two."""
        group = max(1, self.group // height)
        return Raster(1 << group.bit_length() - 1 if self.curve else group, self.curve)


@frozen
class WorkList:
    """How blocks that stay share the tiles: of W blocks number w takes tiles w, w + W, w + 2W, ... in the order of the
    raster. W is at most `workers`, None for as many blocks as the device runs at once, and never more than the tiles.
    Clusters take clusters of tiles: there are as many whole ones as that leaves, one at least.

    With `slabs` the list is streamed: each tile has so many slabs (counted as one where there are none), and W may be
    up to twice the tiles, but no more than all their slabs. Of T tiles the first R = min(T, W + T mod W), none where W
    divides T, have their slabs dealt in order: block w has R * slabs div W of them, one more where w is less than the
    rest, behind those of block w - 1. It takes its tiles from the last to the first one, then as a whole R + w, R + w +
    W, ... Its first LEAVING items, one or none, go on in block w + 1; its item number JOINING, if that is not -1, has
    begun in block w - 1. So whoever waits for a part waits for the first item of the block before."""

    workers: int | None = None
    slabs: Quotient | None = None
    line: SourceLine | None = field(default=None, eq=False, kw_only=True, repr=False)


@frozen
class Segmented:
    """Groups of indices that the s32 array `ends` in memory tells: group number g, the value of the tile index `group`,
    is `first` <= index < `end`, where it begins where the group before ends and ends at `ends[g]`, but not before it
    begins and not beyond `rows`. The counts of the tile indices behind `group` are those of the group."""

    ends: str
    group: str
    first: str
    end: str
    rows: Affine


@frozen
class Grid:
    """All tiles, one block each; the launch is one-dimensional with the product of the counts as blocks. With a work
    list fewer blocks take several tiles each. Blocks of a cluster follow each other, along its last dim first; the
    raster orders clusters. With `parts` the first dim numbers so many parts of a sum, which each tile of the others
    has: all blocks of a part come before those of the next one, in the same order, and TILE_NUMBER is a block's place
    there. With `segments` the first dim numbers groups: the tiles of a group come before those of the next one, in the
    order of the raster, and blocks beyond the last tile have nothing to do.
    """

    dims: tuple[GridDim, ...]
    raster: Raster
    work_list: WorkList | None = None
    parts: int = 1
    segments: Segmented | None = None

    @property
    def cluster(self) -> int:
        """The blocks of a cluster."""
        return prod(dim.cluster for dim in self.dims)


@frozen
class Fact:
    """`value` is a multiple of `modulus`: tested at the launch."""

    value: Affine
    modulus: int
    line: SourceLine | None = field(default=None, eq=False, kw_only=True, repr=False)

    def __str__(self) -> str:
        return f"{self.value} % {self.modulus} == 0"


@frozen
class Role:
    """A set of warps and what they run; `elected`: one thread of them does. `registers` are those of a thread while it
    runs, None for as many as the kernel starts with."""

    name: str
    warps: int
    body: Node
    elected: bool = False
    registers: int | None = None
    line: SourceLine | None = field(default=None, eq=False, kw_only=True, repr=False)


@frozen
class TensorBox:
    """A tensor map that the kernel takes as the parameter `name`: array `array`, its dimensions in `order` from the one
    that lies together in memory on, and the `extents` of a box in that order. `op` copies it; rows are swizzled over
    `span` bytes. The L2 cache fetches `promotion` bytes at once, 0 as many as are asked for; a map that comes `early`
    is fetched as the kernel begins.

    Along dimension `bounded` a copy stays below the end of its block's segment, which is known when it is issued. Such
    a map has MIDDLE elements along that dimension and two dimensions more: index i is at MIDDLE - end + i there, so
    that what is outside is behind the end; `end` is the coordinate in the first dimension more, whose steps are the
    same, and MIDDLE that in the second one, whose steps are ROUND less those. That makes i steps and MIDDLE times
    ROUND, which is 2^64 bytes: addresses are the same after those."""

    name: str
    op: str
    array: str
    order: tuple[int, ...]
    extents: tuple[int, ...]
    span: int
    promotion: int = 0
    early: bool = False
    bounded: int | None = None
    line: SourceLine | None = field(default=None, eq=False, kw_only=True, repr=False)

    @property
    def rank(self) -> int:
        """The dimensions of the map."""
        return len(self.order) + (0 if self.bounded is None else 2)


@frozen
class Ring:
    """A pair of barriers for each of `depth` slots. A filling is complete with one arrival and `byte_count` bytes, a
    slot is free after `empty_count` arrivals, in a cluster whose blocks differ in that after `counts_by_rank`."""

    name: str
    depth: int
    byte_count: int
    empty_count: int
    counts_by_rank: tuple[int, ...] = ()
    line: SourceLine | None = field(default=None, eq=False, kw_only=True, repr=False)


@frozen
class Told:
    """What a text tells its readers of what else it says: a size of `subject`, and on which line."""

    subject: str
    count: int
    unit: str
    line: SourceLine


@frozen
class Program:
    """A kernel at tile level: parameters in launch order, the grid, buffers in order of definition and one tree per
    role. `facts` and the parameters' alignments are what a launcher must test. All threads do what `enter` says behind
    the initialisation of the barriers, before their roles begin. With `overlapped` it may be launched before the grids
    ahead of it have ended."""

    name: str
    target: str
    parameters: tuple[Parameter, ...]
    facts: tuple[Fact, ...]
    grid: Grid
    buffers: tuple[Buffer, ...]
    roles: tuple[Role, ...]
    rings: tuple[Ring, ...] = ()
    boxes: tuple[TensorBox, ...] = ()
    enter: tuple[Entering, ...] = ()
    overlapped: bool = False
    workspaces: tuple[Workspace, ...] = ()
    told: tuple[Told, ...] = field(default=(), eq=False, kw_only=True, repr=False)

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return sum(role.warps for role in self.roles)

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block: of buffers that lie over each other, the one below."""
        return sum(b.slot_bytes * b.depth for b in self.buffers if b.space is Space.SHARED and not b.alias)
