"""A tile program edited in one place, in every way that changes its synchronisation: a node deleted, moved, or with
another count, parity, pending number, shift, fence, flag or block."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, frozen

from isa.mechanisms import GroupKind
from ptxgen.tile import (
    Acquire,
    Advance,
    Arrive,
    Arriving,
    Carrier,
    Copy,
    Expect,
    Meet,
    Node,
    Ordering,
    Program,
    ProxyFence,
    RegisterFence,
    Release,
    Retire,
    Wait,
    When,
)
from ptxgen.tile.rewriting import Spot, deleted, moved, replaced, spots, with_ring
from ptxgen.tile.trees import ends_of
from tests.kernels.clusters import other_masks

BYTES = 16


@frozen
class Edit:
    """What was edited, how, and the program as it is then."""

    what: str
    how: str
    program: Program

    def __str__(self) -> str:
        return f"{self.what} {self.how}"


def edits(program: Program) -> Iterator[Edit]:
    """Every edit of every node that synchronises, of the blocks that boxes go to, of rings' counts and of what all
    threads do first. Whose tile a block reads is no order, but what is summed."""
    found = list(spots(program))
    places = dict(found)
    for spot, node in found:
        what = f"{type(node).__name__} at {spot}"
        if isinstance(node, Ordering):
            yield Edit(what, "deleted", deleted(program, spot))
            yield from (Edit(what, how, result) for how, result in _moved(program, spot, places))
        for how, other in altered(node):
            yield Edit(what, how, replaced(program, spot, other))
    for ring in program.rings:
        for by in (-1, 1):
            counts = tuple(count + by for count in ring.counts_by_rank)
            changed = with_ring(program, ring.name, empty_count=ring.empty_count + by, counts_by_rank=counts)
            yield Edit(f"ring {ring.name}", f"count {by:+}", changed)
    for place in range(len(program.enter)):
        rest = program.enter[:place] + program.enter[place + 1 :]
        yield Edit(f"first: {type(program.enter[place]).__name__}", "deleted", evolve(program, enter=rest))


def _moved(program: Program, spot: Spot, places: dict[Spot, Node]) -> Iterator[tuple[str, Program]]:
    """The node before the one before it and behind the one behind it, in its body; and where it stands alone or at an
    end, out of the body."""
    *above, own = spot.steps
    before, behind = (Spot(spot.role, (*above, own + by)) for by in (-1, 1))
    if before in places:
        yield "moved up", moved(program, spot, before)
    if behind in places:
        yield "moved down", moved(program, spot, behind, behind=True)
    around = next((Spot(spot.role, spot.steps[:n]) for n in range(len(above), 0, -1) if _is(places, spot, n)), None)
    if around is not None:
        node, rest = places[spot], deleted(program, spot)
        for how, at in (("moved out, before", False), ("moved out, behind", True)):
            here = (node, places_of(rest)[around]) if not at else (places_of(rest)[around], node)
            yield how, replaced(rest, around, *here)


def places_of(program: Program) -> dict[Spot, Node]:
    return dict(spots(program))


def _is(places: dict[Spot, Node], spot: Spot, length: int) -> bool:
    return isinstance(places.get(Spot(spot.role, spot.steps[:length])), When)


def altered(node: Node) -> Iterator[tuple[str, Node]]:
    """The node with another number in it, or of another kind."""
    for by in (-1, 1):
        match node:
            case Wait(rank=rank) | Arrive(rank=rank):
                yield f"parity: tile {by:+}", evolve(node, rank=rank + by)
            case Expect(rank=rank, byte_count=count):
                yield f"parity: tile {by:+}", evolve(node, rank=rank + by)
                yield f"count {by * BYTES:+}", evolve(node, byte_count=count + by * BYTES)
            case Retire(pending=pending) if pending + by >= 0:
                yield f"pending {by:+}", evolve(node, pending=pending + by)
            case Acquire(value=value, tile=tile) | Release(value=value, tile=tile):
                yield f"flag {by:+}", evolve(node, value=value + by)
                yield f"flag of tile {by:+}", evolve(node, tile=tile + by)
            case When(conditions=(first, *rest)) if all(isinstance(each, Ordering) for each in ends_of(node)):
                yield f"shift {by:+}", evolve(node, conditions=(evolve(first, affine=first.affine + by), *rest))
            case Advance(by=step):
                moved_on = evolve(step, numerator=step.numerator + by * step.divisor)
                yield f"count {by:+}", evolve(node, by=moved_on)
            case _:
                pass
    yield from _of_another_kind(node)


def _of_another_kind(node: Node) -> Iterator[tuple[str, Node]]:
    match node:
        case Arrive(by=by, to=to):
            other = Arriving.WARP if by is Arriving.WARPGROUP else Arriving.WARPGROUP
            yield f"count: {other.value}", evolve(node, by=other)
            yield from ((f"to {masks}", evolve(node, to=masks)) for masks in other_masks(to) if to)
        case Copy(masks=masks, carrier=Carrier.TENSOR) if masks:
            yield from ((f"blocks {others}", evolve(node, masks=others)) for others in other_masks(masks))
        case RegisterFence(covers):
            yield "fence: proxy", ProxyFence(covers)
        case ProxyFence(covers):
            yield "fence: register", RegisterFence(covers)
        case Retire(kind=GroupKind.BULK, reads_only=reads):
            yield "fence: all" if reads else "fence: reads", evolve(node, reads_only=not reads)
        case Meet(barrier=barrier):
            yield "barrier 16", evolve(node, barrier=16)
            yield f"barrier {barrier + 1}", evolve(node, barrier=barrier + 1)
        case _:
            pass
