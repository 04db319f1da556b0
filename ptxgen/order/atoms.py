"""Atoms: what a role does at one step, as the checker sees it. Every completion mechanism is spelled with them."""

from __future__ import annotations

from enum import Enum

from attrs import evolve, field, frozen

from isa.mechanisms import Group, GroupKind, IssuedBy, Mechanism
from polyhedral import FloorDiv
from ptxgen.errors import Place
from ptxgen.order.clusters import Masks
from ptxgen.order.requirement import EventKind


class Side(Enum):
    """The two mbarriers of a ring: FULL tells readers that a slot is filled, EMPTY tells the writer that it is free."""

    FULL = "full"
    EMPTY = "empty"

    __hash__ = object.__hash__


@frozen
class Issue:
    """One instance of an op. With a transaction, `byte_count` bytes land on the full barrier of `ring`, in a cluster on
    that of each block in `to[c]` when block c issues it; without one it is those blocks' tiles that are read."""

    op: str
    mechanism: Mechanism
    ring: str = ""
    byte_count: int = 0
    to: Masks = ()

    def __str__(self) -> str:
        return self.op


@frozen
class Commit:
    """Closes the group of what was issued since the last commit. `every_step`: also when the copies have run out;
    `for_outside`: a wait behind the loop counts on it."""

    kind: GroupKind
    every_step: bool = True
    for_outside: bool = False

    def __str__(self) -> str:
        return f"commit {self.kind.value}"


@frozen
class Retire:
    """Waits until at most `pending` of the latest groups are open; with `reads_only`, until their sources are read."""

    kind: GroupKind
    pending: int
    reads_only: bool = False

    def __str__(self) -> str:
        reads = " reads" if self.reads_only else ""
        return f"retire {self.kind.value}{reads}, pending {self.pending}"


@frozen
class Wait:
    """Every thread of the role waits for a phase: FULL for the filling of its index, EMPTY for the release that frees
    the slot of its index."""

    ring: str
    side: Side

    def __str__(self) -> str:
        return f"wait {self.side.value} of {self.ring}"


@frozen
class Arrive:
    """One arrival per arriving unit on a barrier of a ring, in a cluster on that of each block in `to[c]` when block c
    arrives."""

    ring: str
    side: Side
    by: IssuedBy
    to: Masks = ()

    def __str__(self) -> str:
        return f"arrive at {self.side.value} of {self.ring}"


@frozen
class Expect:
    """An elected arrival at the full barrier that announces `byte_count` bytes."""

    ring: str
    byte_count: int

    def __str__(self) -> str:
        return f"expect {self.byte_count} bytes on {self.ring}"


@frozen
class Join:
    """The threads of the role meet at named barrier `barrier`; `for_passing` alone, so that they do so in those steps
    only in which a tile is passed on."""

    barrier: int
    for_passing: bool = False

    def __str__(self) -> str:
        return f"meet at barrier {self.barrier}"


@frozen
class Advance:
    """Behind an item of a work list, the role's counter goes on by the tiles of that item: `by` of them."""

    counter: str
    by: FloorDiv

    def __str__(self) -> str:
        return f"advance {self.counter} by {self.by}"


@frozen
class Acquire:
    """The role's first thread waits until the block of the part before has passed on its tile of a workspace. What is
    passed on `once` lies in a tile of its own, the number of which the block knows."""

    workspace: str
    once: bool = False

    def __str__(self) -> str:
        return f"acquire the tile of {self.workspace}"


@frozen
class Release:
    """The role's first thread passes the tile of a workspace on to the block of the next part, `on` numbers behind its
    own; with `last` there is none, and the flag is what it was at the launch. What is passed on `once` lies in a tile
    of its own."""

    workspace: str
    last: bool = False
    once: bool = False
    on: int = 1

    def __str__(self) -> str:
        return f"{'put back' if self.last else 'release'} the tile of {self.workspace}"


@frozen
class TakeTurn:
    """Every thread of the unit that has an item, or that comes to the phase, waits for the unit before it to pass the
    turn."""

    turns: str

    def __str__(self) -> str:
        return f"take the turn of {self.turns}"


@frozen
class PassTurn:
    """Each warp of the unit that has an item, or that was in the phase, passes the turn on to the next unit."""

    turns: str

    def __str__(self) -> str:
        return f"pass the turn of {self.turns}"


class FenceKind(Enum):
    """PROXY orders generic accesses before asynchronous ones, REGISTER register writes before a warpgroup multiply."""

    PROXY = "proxy"
    REGISTER = "register"

    __hash__ = object.__hash__


@frozen
class Fence:
    """A fence in every thread of the role. `every_step`: at every index of the arrivals of its body and behind it."""

    kind: FenceKind
    every_step: bool = True

    def __str__(self) -> str:
        return f"{self.kind.value} fence"


class Edge(Enum):
    """The beginning or the end of a nested loop."""

    BEGIN = "begin"
    END = "end"

    __hash__ = object.__hash__


@frozen
class Passage:
    """All threads of the role come to one end of the nested loop `loop`, in which they fill rings that others use, or
    use what others fill."""

    loop: str
    edge: Edge
    fills: bool

    def __str__(self) -> str:
        return f"{self.edge.value} of {self.loop}, which {'fills' if self.fills else 'uses'} rings"


@frozen
class ClusterArrive:
    """Every thread of the block tells its cluster that it has come here."""

    def __str__(self) -> str:
        return "arrive at the cluster's barrier"


@frozen
class ClusterWait:
    """Every thread waits until all threads of the cluster have told so."""

    def __str__(self) -> str:
        return "wait for the cluster's barrier"


Entering = ClusterArrive | ClusterWait
Turning = TakeTurn | PassTurn
Passing = Acquire | Release
Atom = (
    Issue | Commit | Retire | Wait | Arrive | Expect | Join | Fence | Advance | Turning | Passing | Passage | Entering
)


@frozen
class Placed:
    """An atom of a role's body: at step t it acts for index t + `ahead`. `line` is the user's line."""

    atom: Atom
    ahead: int = 0
    line: Place | None = field(default=None, eq=False)

    def __str__(self) -> str:
        return f"{self.atom}{f' ({self.ahead:+d})' if self.ahead else ''}"


@frozen
class RoleBody:
    """A role of `units` warpgroups or warps with `threads` threads in all. `body` repeats step by step where
    `periodic`; `tail` follows the last step and acts for the step after it. Where the role `resumes`, that is one item
    of a work list: behind the tail the next item's steps go on with the next index, and behind those of the last item
    follows what the role does before it may `leave`, for the index after the last.

    With `alternates` each unit takes every n-th work item, so that one unit alone passes each index.
    """

    name: str
    units: int
    threads: int
    body: tuple[Placed, ...]
    tail: tuple[Placed, ...] = ()
    periodic: bool = True
    alternates: bool = False
    registers: int = 0
    resumes: bool = False
    leave: tuple[Placed, ...] = ()

    @property
    def atoms(self) -> tuple[Placed, ...]:
        """All atoms: those of the body, then the tail, then what is done before leaving."""
        return (*self.body, *self.tail, *self.leave)


@frozen
class Ring:
    """Slots with a full and an empty barrier: the initial counts. Where those of the empty one are not the same in all
    blocks of a cluster, `counts_by_rank` has them. The rings `aside` count other tiles, so that one of theirs says
    nothing of this ring's."""

    name: str
    depth: int
    full_count: int
    empty_count: int
    counts_by_rank: tuple[int, ...] = ()
    aside: tuple[str, ...] = ()


@frozen
class Obligation:
    """`event` of instance n of op `source` must happen before instance n + `distance` of op `sink` is issued.

    `own` asks it of each thread (or collective) by itself, for registers; `fence` is one that the path must pass, in
    the source's thread or, where `remote`, in the sink's. `label` is the requirement in words. In a cluster it is asked
    for each of `ctas`: the source's block, the block whose tile both touch, the sink's block; without any, in each
    block by itself. A tile that is `passed` on through memory is not in every step. The rings `aside` count other tiles
    than those of the ops.
    """

    source: str
    event: EventKind
    sink: str
    distance: int
    label: str
    fence: FenceKind | None = None
    own: bool = False
    remote: bool = False
    ctas: tuple[tuple[int, int, int], ...] = ()
    passed: bool = False
    aside: tuple[str, ...] = ()


@frozen
class Turn:
    """Extra order between the units of an alternating role: atom number `before` of the last step of an item comes
    before atom number `after` of the first step of the next item, which the next unit takes."""

    role: str
    before: int
    after: int


@frozen
class Budget:
    """What a block uses and may use: bytes of shared memory, registers of a thread and of the block."""

    shared_bytes: int = 0
    shared_limit: int = 232448
    registers_per_thread: int = 255
    registers_per_block: int = 65536


@frozen
class AtomProgram:
    """The roles of a kernel in steps of one loop, and what must hold between their ops. Each of `cluster` blocks runs
    all of it; `enter` is what their threads do behind the initialisation of the barriers, before anything else."""

    roles: tuple[RoleBody, ...]
    rings: tuple[Ring, ...]
    obligations: tuple[Obligation, ...]
    turns: tuple[Turn, ...] = ()
    budget: Budget = Budget()
    cluster: int = 1
    enter: tuple[Entering, ...] = ()

    def ring(self, name: str) -> Ring:
        """The ring called `name`; KeyError where there is none."""
        for ring in self.rings:
            if ring.name == name:
                return ring
        raise KeyError(f"no ring {name!r}; there are {', '.join(r.name for r in self.rings) or 'none'}")

    def replaced(self, old: RoleBody, new: RoleBody) -> AtomProgram:
        """The program with one role exchanged."""
        return evolve(self, roles=tuple(new if role is old else role for role in self.roles))


def issuer(role: RoleBody, kind: GroupKind) -> IssuedBy:
    """Who issues the ops of a group kind in a role, and so who commits and retires them; LANE where there are none."""
    for placed in role.body + role.tail:
        match placed.atom:
            case Issue(mechanism=Mechanism(completes=Group(kind=own), issued_by=by)) if own is kind:
                return by
    return IssuedBy.LANE


def performed_by(role: RoleBody, atom: Atom) -> IssuedBy:
    """Who performs an atom: ELECTED is one thread of each unit, anything else every thread."""
    match atom:
        case Issue(mechanism=mechanism):
            return mechanism.issued_by
        case Commit(kind=kind) | Retire(kind=kind):
            return issuer(role, kind)
        case Arrive(by=by):
            return by
        case Expect() | Acquire() | Release():
            return IssuedBy.ELECTED
        case (
            Wait()
            | Join()
            | Fence()
            | Advance()
            | TakeTurn()
            | PassTurn()
            | Passage()
            | ClusterArrive()
            | ClusterWait()
        ):
            return IssuedBy.LANE


def is_synchronisation(atom: Atom) -> bool:
    """Whether an atom is there for order alone."""
    return not isinstance(atom, Issue | Passage)
