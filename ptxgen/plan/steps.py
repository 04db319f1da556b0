"""The steps of a plan, as data: `str(step)` is the call that adds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from ptxgen.compute import SourceLine
from ptxgen.plan.block_orders import BlockOrder
from ptxgen.plan.by_hand import Completes, Issued
from ptxgen.plan.facts import Fact
from ptxgen.plan.instructions import MatrixInstruction
from ptxgen.plan.rewriting import Hybrid
from ptxgen.plan.roles import Role
from ptxgen.plan.splitting import Join
from ptxgen.plan.transports import By
from ptxgen.plan.words import (
    Eviction,
    Into,
    IntoFragments,
    IntoRegisters,
    IntoShared,
    IntoWorkspace,
    Onto,
    OperandPlace,
    Workers,
)


@frozen
class Assume:
    facts: tuple[Fact, ...]
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"assume({', '.join(map(str, self.facts))})"


@frozen
class Tile:
    level: str
    extents: tuple[tuple[str, int], ...]
    line: SourceLine = field(eq=False)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The tile's extent along each dim."""
        return dict(self.extents)

    def __str__(self) -> str:
        return f"tile({self.level}, {', '.join(f'{dim}={size}' for dim, size in self.extents)})"


@frozen
class Place:
    """`dims` are the level's dims that are dealt out; its others stay loops. `raster` orders blocks."""

    level: str
    onto: Onto
    raster: BlockOrder
    dims: tuple[str, ...]
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        raster = f", raster={self.raster}" if self.onto is Onto.BLOCKS else ""
        dims = ", ".join(self.dims) + ("," if len(self.dims) == 1 else "")
        return f"place({self.level}, onto={self.onto.value}{raster}, dims=({dims}))"


@frozen
class Persist(Place):
    """A place onto blocks of which `workers` stay and take several tiles each."""

    workers: int | Workers = Workers.SMS

    def __str__(self) -> str:
        workers = self.workers if isinstance(self.workers, int) else self.workers.value
        dims = ", ".join(self.dims) + ("," if len(self.dims) == 1 else "")
        return f"persist({self.level}, raster={self.raster}, workers={workers}, dims=({dims}))"


@frozen
class Cluster:
    """`extents` are the neighbours along each dim that form a cluster of blocks."""

    extents: tuple[tuple[str, int], ...]
    line: SourceLine = field(eq=False)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The cluster's extent along each dim."""
        return dict(self.extents)

    def __str__(self) -> str:
        return f"cluster({', '.join(f'{dim}={size}' for dim, size in self.extents)})"


@frozen
class Stage:
    """`slices`: how many blocks of a cluster bring equal parts of a box that they have in common, None for as many as
    there are where the box divides."""

    array: str
    at: str
    into: Into
    by: By
    line: SourceLine = field(eq=False)
    slices: int | None = None

    @property
    def op(self) -> str:
        """The name of the op that fills the buffer."""
        match self.into:
            case IntoRegisters():
                return f"{self.array}.registers"
            case IntoShared():
                return f"{self.array}.shared"
            case IntoFragments():
                return f"{self.array}.fragments"

    def __str__(self) -> str:
        slices = f", slices={self.slices}" if self.slices is not None else ""
        return f"stage({self.array}, at={self.at}, into={self.into}, by={self.by}{slices})"


@frozen
class MultiplyBy:
    statement: str
    instruction: MatrixInstruction
    at: str
    line: SourceLine = field(eq=False)
    in_flight: int = 0
    rows: str | None = None
    a: OperandPlace = OperandPlace.SHARED

    def __str__(self) -> str:
        held = f", a={self.a.value}" if self.a is not OperandPlace.SHARED else ""
        window = f", in_flight={self.in_flight}" if self.in_flight else ""
        rows = f", rows={self.rows}" if self.rows else ""
        return f"multiply({self.statement}, {self.instruction}, at={self.at}{held}{window}{rows})"


@frozen
class Finish:
    statement: str
    at: str
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"finish({self.statement}, at={self.at})"


@frozen
class Drain:
    """The way out of an output's tile: from registers, or with `through` in pieces by a ring in shared memory, which
    `put` fills. `pieces` are the extents of one piece along some dims of a warp's tile."""

    array: str
    by: By
    line: SourceLine = field(eq=False)
    through: IntoShared | None = None
    pieces: tuple[tuple[str, int], ...] = ()
    put: By | None = None

    @property
    def op(self) -> str:
        """The name of the op that fills the ring."""
        return f"{self.array}.shared"

    @property
    def rows(self) -> str:
        """The name of the op that reads the ring, where threads store what they have read."""
        return f"{self.array}.rows"

    def __str__(self) -> str:
        if self.through is None:
            return f"drain({self.array}, through=None, by={self.by})"
        sizes = ", ".join(f"{dim}={size}" for dim, size in self.pieces)
        return f"drain({self.array}, through={self.through}, pieces=({sizes}), put={self.put}, by={self.by})"


@frozen
class Shift:
    ops: tuple[str, ...]
    ahead: int
    at: str
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"shift({', '.join(self.ops)}, ahead={self.ahead}, at={self.at})"


@frozen
class Order:
    at: str
    ops: tuple[str, ...]
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"sequence({self.at}, {', '.join(self.ops)})"


@frozen
class ByHand:
    """`code` writes the instructions of op `op`; `reads` and `writes` are the buffers that they touch, by name. `model`
    is what they do, on numpy."""

    op: str
    code: Callable[..., None]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    issued: Issued
    completes: Completes
    line: SourceLine = field(eq=False)
    model: Callable[..., Any] | None = None

    def __str__(self) -> str:
        touched = f"reads={', '.join(self.reads) or 'nothing'}, writes={', '.join(self.writes) or 'nothing'}"
        return f"by_hand({self.op}, {self.code.__name__}, {touched}, {self.issued.value}, {self.completes.value})"


@frozen
class Unroll:
    loop: str
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"unroll({self.loop})"


@frozen
class Isolate:
    level: str
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"isolate({self.level})"


@frozen
class OverlapLaunch:
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return "overlap_launch()"


@frozen
class Roles:
    roles: tuple[tuple[str, Role], ...]
    line: SourceLine = field(eq=False)

    def of(self, op: str) -> str:
        """The role that carries out an op: the one that names it, else the one that names none."""
        rest = next(name for name, found in self.roles if not found.ops)
        return next((name for name, found in self.roles if op in found.ops), rest)

    def __str__(self) -> str:
        return f"roles({', '.join(f'{name}={found}' for name, found in self.roles)})"


@frozen
class Rewrite:
    rule: Hybrid
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"rewrite({self.rule})"


@frozen
class Split:
    """The sum over `dim` in `parts` that are summed apart by blocks of their own. `through` is where partial sums meet:
    in shared memory neighbours of a cluster join a share of the tile each, through a workspace each part adds its own
    to the sum of those before it, and the last one has them all."""

    dim: str
    parts: int
    join: Join
    through: IntoShared | IntoWorkspace
    line: SourceLine = field(eq=False)

    @property
    def together(self) -> bool:
        """Whether the parts of a tile are blocks of a cluster."""
        return isinstance(self.through, IntoShared)

    def __str__(self) -> str:
        return f"split({self.dim}, parts={self.parts}, join={self.join.value}, through={self.through})"


@frozen
class Stream:
    """The sum over `dim` dealt by its slabs: blocks that stay share those of all tiles evenly, so that a tile may be
    cut between them. Partial sums meet in a workspace, each added to the sum of those before it. With `tickets` blocks
    take their shares in the order in which they begin."""

    dim: str
    join: Join
    line: SourceLine = field(eq=False)
    tickets: bool = False

    def __str__(self) -> str:
        return f"stream({self.dim}, join={self.join.value}{', tickets=True' if self.tickets else ''})"


@frozen
class Turns:
    """Warpgroups of `role` take the phases in rotation in the loop `over`; with `split_items` each takes every n-th
    item of the work list that the level `over` is dealt by."""

    role: str
    over: str
    phases: tuple[str, ...]
    split_items: bool
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        split = ("split_items=True",) if self.split_items else ()
        return f"turns({', '.join((self.role, self.over, *self.phases, *split))})"


@frozen
class Hint:
    """What caches are told of `ops`, which tensor copies carry out: whether the L2 cache gives up their lines first or
    last, and that their maps are fetched as the kernel begins."""

    ops: tuple[str, ...]
    l2: Eviction | None
    map_early: bool
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        words = [
            *self.ops,
            *([f"l2={self.l2.value}"] if self.l2 else []),
            *(["map_early=True"] if self.map_early else []),
        ]
        return f"hint({', '.join(words)})"


Step = (
    Assume | Rewrite | Roles | Tile | Place | Cluster | Split | Stage | MultiplyBy | Finish | Drain | Shift | Order
    | Unroll | Isolate | OverlapLaunch | Stream | Turns | Hint | ByHand
)  # fmt: skip
