"""Tiles of a workspace that blocks which walk a work list pass on: each block one, in a place of its own.

What a block is told of its items is the work list's word (`WorkList`): its first LEAVING items, one at most, go on in
the next block, where they are item number JOINING, and no other item has begun elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from polyhedral import Affine, Set, var
from ptxgen.order.ops import Op, TouchKind
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.tile import BLOCK_NUMBER, JOINING, LEAVING, Program, Space

Atoms = list[Synchronisation]


def streaming_faults(
    synchronised: Synchronised, workspace: str, takes: Atoms, passes: Atoms, last: Atoms
) -> Iterator[str]:
    """What is wrong with who acquires, who releases, and who puts a flag back, of a workspace each of whose tiles is
    passed on once: where an item does so, each stands once in the body of the items."""
    every = (*takes, *passes, *last)
    if [len(takes), len(passes), len(last)] != [1, 1, 1] or any(len(atom.time.loops) != 1 for atom in every):
        yield "a tile is not passed on once, by an acquisition, a release and a flag put back in the body of an item"
        return
    (take,), (give,), (back,) = takes, passes, last
    items = take.time.loops
    if any(atom.time.loops != items or any(atom.time.ahead) for atom in every):
        yield "a tile is not passed on in the item that has it"
        return
    whole = Set(items, tuple({p: None for op in synchronised.ops if op.time.loops == items for p in op.domain.pieces}))
    if not take.domain.equals(whole.intersect(var(items[0]).equals(var(JOINING)))):
        yield "a block waits for the one before in another item than the one that began there"
    if not give.domain.equals(whole.intersect(var(items[0]) < var(LEAVING))):
        yield "a block releases a tile in another item than the one that goes on in the next block"
    if not back.domain.equals(take.domain):
        yield "a flag is not put back by the item that acquires the tile, and by it alone"
    if back.time.place < take.time.place:
        yield "a flag is put back before the tile is acquired"
    if take.time.place > give.time.place:
        yield "a block releases its tile before it has that of the block before"
    yield from _misnumbered(synchronised.ops, workspace, take, give, back)


def _misnumbered(
    ops: tuple[Op, ...], workspace: str, take: Synchronisation, give: Synchronisation, back: Synchronisation
) -> Iterator[str]:
    """Flags of other tiles than those that are read and filled; tiles that are not the block's own, or an earlier
    one's, so that no blocks wait for each other in a circle."""
    touched = [(t.kind, t.rank) for op in ops for t in op.touches if _is_of(t.buffer.array, t.buffer.space, workspace)]
    read, filled = ({rank for kind, rank in touched if kind is wanted} for wanted in (TouchKind.READ, TouchKind.WRITE))
    if read != {take.rank} or take.rank != back.rank:
        yield "a tile is acquired by another number than that of the tile that is read"
    if filled != {give.rank} or give.rank != var(BLOCK_NUMBER):
        yield "a tile is released by another number than that of the block that fills it"
    if not _is_before(take.rank, give.rank):
        yield "a block waits for one that does not come before it"


def _is_of(array: str, space: Space, workspace: str) -> bool:
    return array == workspace and space is Space.GLOBAL


def _is_before(first: Affine, second: Affine) -> bool:
    between = second - first
    return between.is_constant and between.constant > 0


def shared_faults(program: Program) -> Iterator[str]:
    """A work list is streamed where sums are passed on, and there alone."""
    shared = program.grid.work_list
    streamed = shared is not None and shared.slabs is not None
    if streamed != bool(program.workspaces):
        yield f"{len(program.workspaces)} workspaces, and tiles are {'' if streamed else 'not '}shared slab by slab"
