"""A run of a program as events: what representative threads do, when copies and products are complete, when phases of
barriers are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import define, field, frozen

from isa.mechanisms import GroupKind, IssuedBy
from ptxgen.errors import Place
from ptxgen.order.clusters import ranks_in
from ptxgen.prove.trees.accesses import mechanism_of
from ptxgen.prove.trees.happens import Happens
from ptxgen.prove.trees.tracing import Step
from ptxgen.tile import (
    WARPGROUP,
    Acquire,
    Arrive,
    Arriving,
    Commit,
    Copy,
    Leaf,
    Multiply,
    Ordering,
    Program,
    Release,
    Retire,
    Role,
    Side,
    Synchronisation,
    Wait,
)
from ptxgen.tile.trees import ends_of

GROUP_WARPS = 4
Barrier = tuple[str, Side, int, int]


@frozen
class Member:
    """A representative thread: of a role's unit (a warpgroup, or all of the role's warps) in a block, its first thread
    or another one."""

    role: str
    block: int
    unit: int
    first: bool


@frozen(eq=False)
class Done:
    """When a leaf's sources are read and when it is complete."""

    read: int
    done: int


@frozen(eq=False)
class Flagged:
    """An acquisition or a release of a flag: its event, the block, the flag's value, the line."""

    event: int
    block: int
    value: int
    line: Place | None


@define(eq=False)
class Flag:
    """What happens at the flag of a tile, by blocks of all parts of it."""

    acquired: list[Flagged] = field(factory=list)
    released: list[Flagged] = field(factory=list)


@define(eq=False)
class Execution:
    """The events of a run. `steps[role, block]` is what the role does there, `issued[member]` the event of each step
    that a member takes part in, of a wait its end, `reached_at[member]` the one before, `completed[place, member,
    step]` when what it issued at a step is complete at the tiles of block `place`, `fences[member]` its fences,
    `phases` the completions of barriers, `gathered` those of clusters' barriers, `ends[member]` its end, `flags` what
    happens at flags in memory.

    Blocks are those of one cluster of tiles, of each part of its sums, or where tiles are shared slab by slab those of
    a launch: block number b has rank b mod the cluster's size in its cluster, and the blocks of a cluster, or of a
    part, come before those of the next one."""

    program: Program
    steps: Mapping[tuple[str, int], tuple[Step, ...]]
    happens: Happens = field(factory=Happens)
    issued: dict[Member, dict[int, int]] = field(factory=dict)
    reached_at: dict[Member, dict[int, int]] = field(factory=dict)
    completed: dict[tuple[int, Member, int], Done] = field(factory=dict)
    fences: dict[tuple[Member, type[Ordering]], list[tuple[int, int]]] = field(factory=dict)
    phases: dict[Barrier, int] = field(factory=dict)
    begun: dict[int, int] = field(factory=dict)
    ends: dict[Member, int] = field(factory=dict)
    joins: dict[tuple[str, int, int], int] = field(factory=dict)
    shared: dict[tuple[Member, int], Done] = field(factory=dict)
    gathered: dict[tuple[int, int], int] = field(factory=dict)
    arrivals: dict[Member, int] = field(factory=dict)
    flags: dict[tuple[str, int], Flag] = field(factory=dict)
    size: int = field(init=False)
    blocks: range = field(init=False)

    @size.default
    def _of_cluster(self) -> int:
        return self.program.grid.cluster

    @blocks.default
    def _laid_out(self) -> range:
        return range(1 + max((block for _, block in self.steps), default=-1))

    @property
    def tiles(self) -> range:
        """The numbers of the tiles of a workspace that the blocks have: one each, those of all parts of a tile one."""
        return self.blocks if self.program.grid.parts == 1 else range(self.size)

    def rank(self, block: int) -> int:
        """The rank of a block in its cluster."""
        return block % self.size

    def together(self, block: int) -> range:
        """The blocks of a block's cluster."""
        first = block - self.rank(block)
        return range(first, first + self.size)

    def reached(self, masks: tuple[int, ...], block: int) -> tuple[int, ...]:
        """The blocks that a block reaches."""
        return tuple(map(self.together(block).__getitem__, ranks_in(masks[self.rank(block)]))) if masks else (block,)

    def gathering(self, block: int, number: int) -> int:
        """The completion of a phase of the barrier of a block's cluster."""
        key = (self.together(block).start, number)
        if key not in self.gathered:
            self.gathered[key] = self.happens.add(f"the cluster's barrier, phase {number}")
        return self.gathered[key]

    @property
    def members(self) -> Iterator[Member]:
        """All representative threads."""
        for block in self.blocks:
            yield from self.members_in(block)

    def members_in(self, block: int) -> Iterator[Member]:
        """Those of a block."""
        for role in self.program.roles:
            yield from members_of(role, block)

    def crew(self, name: str, block: int) -> tuple[Member, ...]:
        """Those of a role of a block."""
        return next(members_of(role, block) for role in self.program.roles if role.name == name)

    def phase(self, ring: str, side: Side, block: int, number: int) -> int:
        """The completion of a barrier for tile `number`: it has landed, or its slot is free again."""
        key = (ring, side, block, number)
        if key not in self.phases:
            where = f" of block {block}" if len(self.blocks) > 1 else ""
            self.phases[key] = self.happens.add(f"{side.value} of {ring}{{{number}}}{where}")
        return self.phases[key]

    def where(self, block: int) -> str:
        return f" in block {block}" if len(self.blocks) > 1 else ""


def members_of(role: Role, block: int) -> tuple[Member, ...]:
    """The threads that stand for a role's."""
    if role.elected:
        return (Member(role.name, block, 0, first=True),)
    units = units_of(role) if _is_told_apart(role) else min(units_of(role), 2)
    return tuple(Member(role.name, block, unit, first) for unit in range(units) for first in (True, False))


def _is_told_apart(role: Role) -> bool:
    """Whether each unit of a role waits or arrives for tiles of its own."""
    return any(isinstance(node, Wait | Arrive) and WARPGROUP in node.rank.names for node in ends_of(role.body))


def units_of(role: Role) -> int:
    """Warpgroups of a role; of what comes by warps all are one unit."""
    return max(1, role.warps // GROUP_WARPS) if not role.elected else 1


def performs(member: Member, node: Leaf | Synchronisation) -> bool:
    """Whether a representative thread takes part in a node."""
    match node:
        case Commit(kind=GroupKind.BULK) | Retire(kind=GroupKind.BULK):
            return member.first and member.unit == 0
        case Acquire() | Release():
            return member.first and member.unit == 0
        case Copy() if mechanism_of(node).issued_by is IssuedBy.ELECTED:
            return member.first and member.unit == 0
        case Arrive(by=Arriving.WARPGROUP):
            return member.first
        case _:
            return True


def depth_of(program: Program, name: str) -> int:
    """The slots of a ring."""
    return next(ring.depth for ring in program.rings if ring.name == name)


def is_product(leaf: Leaf | Synchronisation) -> bool:
    """Whether a leaf is a product of a warpgroup, which runs in the background."""
    return isinstance(leaf, Multiply) and leaf.row.warpgroup
