"""A whole kernel at tile level: its declarations, and a tree for each role."""

from __future__ import annotations

from enum import Enum

from attrs import field, frozen

from polyhedral import Affine
from ptxgen.compute import Element, SourceLine
from ptxgen.tile.buffers import Buffer, Space
from ptxgen.tile.grid import Grid
from ptxgen.tile.nodes import Node
from ptxgen.tile.synchronisation import Entering


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
class Workspace:
    """Memory that the kernel alone uses, `elements` of a type for each tile of the grid (each of its parts together),
    for each block where a work list is streamed, or with `single` for the launch; the parameter `name`. With `zeroed`
    it is zero at the launch, and when the kernel ends it is so again."""

    name: str
    element: Element
    elements: int
    zeroed: bool = False
    single: bool = False
    line: SourceLine | None = field(default=None, eq=False, kw_only=True, repr=False)


MIDDLE, ROUND = 1 << 30, 1 << 34


def turns_name(workspace: str) -> str:
    """The workspace of the flags that tell whose turn it is at each tile of another workspace."""
    return f"{workspace}_turns"


def tickets_name(workspace: str) -> str:
    """The workspace of the counter from which the blocks that pass another workspace on take their numbers."""
    return f"{workspace}_tickets"


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
