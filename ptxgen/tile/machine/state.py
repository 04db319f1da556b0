"""What a launch, a block and a warp hold while they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from isa.mechanisms import GroupKind
from polyhedral import Affine
from ptxgen.compute import SourceLine
from ptxgen.tile.buffers import Buffer, Region
from ptxgen.tile.distribution import Distribution
from ptxgen.tile.leaves import Leaf, Multiply
from ptxgen.tile.machine.clocks import Clocks, Conflict, Stamp
from ptxgen.tile.machine.faults import MachineFault
from ptxgen.tile.machine.geometry import Index
from ptxgen.tile.machine.numbers import NUMPY_TYPES, Numbers
from ptxgen.tile.program import Program, Role
from ptxgen.tile.quotient import Quotient

if TYPE_CHECKING:
    from ptxgen.tile.machine.clusters import Cluster
    from ptxgen.tile.machine.passing import Turns
    from ptxgen.tile.machine.rings import RingState
    from ptxgen.tile.machine.streaming import Share

NEVER_WRITTEN = np.iinfo(np.int64).min
IN_FLIGHT = NEVER_WRITTEN + 1


@define(eq=False)
class Storage:
    """Elements one behind the other. `ranks` says of which tile of the ring each is a part (None: of no ring);
    `clocks` orders the accesses (None: only one warp, or nothing but reads). `unfenced` holds 1 more than the place of
    the warp that wrote an element since its last proxy fence, 0 where none did; `shares` are the storages, by buffer,
    that lie in the same place."""

    values: Numbers
    ranks: Index | None
    clocks: Clocks | None
    unfenced: NDArray[np.int16] | None = None
    shares: list[tuple[str, Storage]] = field(factory=list)

    @classmethod
    def ring(cls, buffer: Buffer, tile_size: int, clocks: Clocks | None) -> Storage:
        """A ring of `buffer.depth` tiles, not yet written."""
        size = tile_size * buffer.depth
        values, ranks = np.zeros(size, NUMPY_TYPES[buffer.element]), np.full(size, NEVER_WRITTEN, np.int64)
        return cls(values, ranks, clocks, None if clocks is None else np.zeros(size, np.int16))


@define(eq=False)
class Launch:
    """A program with its sizes, scalars and global memory (by array name; flat). `leaves` numbers the ops,
    `turns` are the flags by which blocks pass tiles on, `shares` what each cluster has of a streamed work list."""

    program: Program
    sizes: dict[str, int]
    scalars: dict[str, float]
    memory: dict[str, Storage]
    leaves: tuple[Leaf, ...]
    leaf_number: dict[int, int]
    turns: Turns
    shares: list[Share] = field(factory=list)
    block_names: dict[tuple[int, int], str] = field(factory=dict)


@define(eq=False)
class Block:
    """A running block: its cluster and its rank there, shared storage, and what replicas have stored. `reached` holds
    the last clock at which each warp of another block reached it."""

    launch: Launch
    cluster: Cluster
    rank: int
    shared: dict[str, Storage]
    replicas: dict[tuple[object, ...], bytes] = field(factory=dict)
    products: dict[tuple[str, int], list[GroupProduct]] = field(factory=dict)
    rings: dict[str, RingState] = field(factory=dict)
    warps: list[Warp] = field(factory=list)
    reached: dict[int, int] = field(factory=dict)
    steps: int = 0
    meetings: int = 0

    @property
    def name(self) -> str:
        return self.launch.block_names[self.cluster.number, self.rank]


@define(eq=False)
class Warp:
    """A running warp: its number in the role, its place in the cluster, the clock that it has seen of each warp of the
    cluster (its own is `seen[place]`), and its registers. `busy` counts the products under way on a register buffer,
    `lent` those that read one; `unfenced` names those touched since the last register fence. Groups of stores are the
    role's first warp's. `before` are the clocks seen of clusters that have passed tiles on, by their numbers."""

    block: Block
    role: Role
    number: int
    place: int
    seen: Index
    registers: dict[str, Storage]
    groups: dict[GroupKind, list[list[Flight]]] = field(factory=dict)
    open_group: dict[GroupKind, list[Flight]] = field(factory=dict)
    product_groups: list[list[GroupProduct]] = field(factory=list)
    open_products: list[GroupProduct] = field(factory=list)
    issued: int = 0
    busy: dict[str, int] = field(factory=dict)
    lent: dict[str, int] = field(factory=dict)
    unfenced: set[str] = field(factory=set)
    open_stores: list[BulkStore] = field(factory=list)
    store_groups: list[list[BulkStore]] = field(factory=list)
    before: dict[int, Index] = field(factory=dict)

    @property
    def name(self) -> str:
        return f"warp {self.number} of {self.role.name}"


@define(eq=False)
class GroupProduct:
    """A product of a warpgroup: the warps that have issued it, and when done the clock of each at that time."""

    node: Multiply
    variables: dict[str, int]
    members: list[Step] = field(factory=list)
    clocks: dict[int, int] = field(factory=dict)
    done: bool = False


@frozen(eq=False)
class Flight:
    """A copy on its way: `values` go to elements `index` of `storage`, as tile number `rank` of `region`, when its
    group is complete."""

    step: Step
    region: Region
    storage: Storage
    index: Index
    values: Numbers
    rank: int


@define(eq=False)
class BulkStore:
    """A store in the background: the elements `index` of `storage`, the tile of `region`, go to `target` of `memory`
    where they are `inside` the array. `values` are there once they have been read."""

    step: Step
    region: Region
    storage: Storage
    index: Index
    memory: Storage
    target: Index
    inside: NDArray[np.bool_]
    values: Numbers | None = None


@frozen(eq=False)
class Step:
    """A leaf being performed by a warp with its loop variables."""

    warp: Warp
    node: Leaf
    variables: Mapping[str, int]

    @property
    def stamp(self) -> Stamp:
        """This access, for the clocks."""
        warp = self.warp
        number = warp.block.launch.leaf_number[id(self.node)]
        return Stamp(warp.block.cluster.number, int(warp.seen[warp.place]), warp.place, number, warp.before)

    def value(self, affine: Affine) -> int:
        """The value of an affine expression here."""
        return evaluate(affine, self.variables, self.node)

    def fault(self, code: str, message: str) -> MachineFault:
        """A fault of this op."""
        return MachineFault(code, f"{self.label}: {message}", self.node.line)

    @property
    def label(self) -> str:
        """Op, warp and block in words."""
        return f"{self.node.op} in {self.warp.name}, block {self.warp.block.name}"

    def race(self, region: Region, what: str, element: str, conflict: Conflict) -> MachineFault:
        """The fault of an access that nothing orders behind an earlier one."""
        launch, earlier = self.warp.block.launch, conflict.earlier
        other = launch.leaves[earlier.op]
        rank, local = divmod(earlier.warp, launch.program.warps)
        place = launch.block_names.get((earlier.block, rank), "before it")
        verb = "written" if conflict.earlier_writes else "read"
        by = f"{other.op} in {self.warp.block.warps[local].name}, block {place}"
        message = f"{self.label} {what} element {element} of {region.buffer.name}, {verb} by {by}: no meeting between"
        return MachineFault("tile.race", message, self.node.line, ((f"{by} is here", other.line),))


def evaluate(expression: Affine | Quotient, values: Mapping[str, int], node: Leaf | None = None) -> int:
    """The integer value; a fault names a variable that is bound nowhere."""
    try:
        match expression:
            case Quotient(numerator, divisor):
                return numerator.evaluate(values) // divisor
            case _:
                return expression.evaluate(values)
    except KeyError as missing:
        line: SourceLine | None = node.line if node else None
        raise MachineFault(
            "tile.unbound", f"{expression} needs {missing.args[0]}, which nothing binds here", line
        ) from None


@frozen
class View:
    """The elements of `region` that the points of `distribution` visit: dimension d by the point's coordinate dims[d]
    (None: the corner alone), `vector` in one access to memory. Of a shared tile it is that of the block of rank `block`
    in the cluster, None for the warp's own."""

    region: Region
    dims: tuple[int | None, ...]
    distribution: Distribution
    vector: int
    block: int | None = None
