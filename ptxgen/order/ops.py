"""Ops: what is left of a statement after tiling. One instance is a whole tile copy, one multiplication of fragments,
one epilogue piece; the requirements between them decide the synchronisation."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from attrs import field, frozen

from isa.mechanisms import Mechanism
from polyhedral import Affine, Set, var
from ptxgen.compute import SourceLine
from ptxgen.order.clusters import Masks
from ptxgen.tile import Buffer, Node


class TouchKind(Enum):
    """How an op uses a buffer."""

    READ = "read"
    WRITE = "write"


@frozen
class Touch:
    """One tile of one buffer: tile number `rank`, an affine expression of the op's loop dims, in the buffer's ring.

    Where a ring goes on from one round of its loop to the next, or to another loop, `rank` has the term `counter`: the
    tiles of all rounds before, which no affine expression gives.

    In a cluster the op of block c touches the tile of each block in `masks[c]`, or its own where there are none; of
    each it touches one of `shares` equal parts.
    """

    buffer: Buffer
    kind: TouchKind
    rank: Affine
    counter: str = ""
    masks: Masks = ()
    shares: int = 1


@frozen
class Time:
    """When an instance runs: in each loop, outermost first, `ahead` steps before the step of its own index, and inside
    each body at `place` (one number more than loops: the first orders the top level)."""

    loops: tuple[str, ...]
    ahead: tuple[int, ...]
    place: tuple[int, ...]


@frozen
class Op:
    """A tile operation of a role. `domain` is a set over `time.loops` with the context's parameters; `node` is the tile
    program's leaf, affine in the same dims; an unrolled op is one Op for each instance, told apart by `instance`. Of
    what completes in a group the `in_flight` latest instances may be incomplete. An op that `leaves` is the end of its
    role: what its threads have under way must be complete by then."""

    name: str
    role: str
    instance: tuple[int, ...]
    domain: Set
    time: Time
    mechanism: Mechanism
    touches: tuple[Touch, ...]
    node: Node
    line: SourceLine = field(eq=False)
    in_flight: int = 0
    leaves: bool = False

    def __str__(self) -> str:
        suffix = f"[{','.join(map(str, self.instance))}]" if self.instance else ""
        return self.name + suffix


@lru_cache(maxsize=1 << 8)
def time_domain(domain: Set, ahead: tuple[int, ...]) -> Set:
    """The steps of the loops at which the instances of `domain` run, `ahead` steps before their own."""
    shift = {loop: var(loop) + early for loop, early in zip(domain.dims, ahead, strict=True) if early}
    return Set(domain.dims, tuple(piece.substitute(shift) for piece in domain.pieces)) if shift else domain
