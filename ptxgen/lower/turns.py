"""Where rings stand in a loop: the slot and the round of a tile number move on with it and are not divided again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from attrs import frozen

from isa.types import s32
from polyhedral import Affine
from ptxgen.build import Value
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.context import Context
from ptxgen.tile import (
    Arrive,
    Carrier,
    Copy,
    Expect,
    Let,
    Multiply,
    MultiplyRow,
    Node,
    Region,
    Sequence,
    Space,
    Wait,
    When,
    is_power,
)


@frozen
class Turn:
    """The tile number `rank`, over symbols, of a ring of `depth` slots."""

    rank: Affine
    depth: int


@frozen
class MovingTurn:
    """The slot of a turn and the parity of its round, which are `advance` tiles further in the next round of a loop."""

    slot: Value
    parity: Value
    depth: int
    advance: int

    def finish_round(self, context: Context) -> None:
        """Moves them to the next round."""
        k = context.k
        further = k.add.s32(self.slot, self.advance)
        again = k.setp.ge.s32(further, self.depth)
        k.selp.b32(k.sub.s32(further, self.depth), further, again, into=self.slot)
        k.xor.b32(self.parity, k.selp.b32(1, 0, again), into=self.parity)


def turns_in(context: Context, node: Node) -> Iterator[Turn]:
    """The turns of rings that the leaves below `node` ask for, those of inner loops excepted. Rings whose depth is a
    power of two are left out: a mask and a shift tell where they stand."""
    match node:
        case Sequence(children):
            for child in children:
                yield from turns_in(context, child)
        case Let(variable, value, body) if value.divisor == 1:
            with context.bound(variable, context.resolved(value.numerator)):
                yield from turns_in(context, body)
        case When(_, then, otherwise):
            yield from turns_in(context, then)
            if otherwise is not None:
                yield from turns_in(context, otherwise)
        case Wait(ring, _, rank) | Arrive(ring, rank) | Expect(ring, rank):
            depth = next(each.depth for each in context.program.rings if each.name == ring)
            yield from _turn(context, rank, depth)
        case Copy(source=source, destination=destination, carrier=Carrier.TENSOR):
            yield from _of_regions(context, (source, destination))
        case Multiply(row=MultiplyRow(warpgroup=True), a=a, b=b):
            yield from _of_regions(context, (a.region, b.region))
        case _:
            pass


def _of_regions(context: Context, regions: Iterable[Region]) -> Iterator[Turn]:
    for region in regions:
        if region.buffer.space is Space.SHARED:
            yield from _turn(context, region.rank, region.buffer.depth)


def _turn(context: Context, rank: Affine, depth: int) -> Iterator[Turn]:
    if not is_power(depth):
        yield Turn(context.resolved(rank), depth)


def turning(
    context: Context, turns: Iterable[Turn], symbol: str, step: int, lower: Affine
) -> dict[Hashable, MovingTurn]:
    """The moving registers of a loop whose `symbol` starts at `lower` and grows by `step`: of the turns that go on by
    less than a round with it."""
    found: dict[Hashable, MovingTurn] = {}
    for turn in turns:
        advance = turn.rank.coefficient(symbol) * step
        if turn not in found and 0 < advance < turn.depth and context.has(turn.rank):
            first = context.integer(turn.rank.substitute({symbol: lower}))
            found[turn] = _started(context, first, turn.depth, advance)
    return found


def _started(context: Context, first: Number, depth: int, advance: int) -> MovingTurn:
    narrow, k = context.narrow, context.k
    rounds = narrow.floor_quotient(first, depth)
    slot = k.register(s32, narrow.value(narrow.subtract(first, narrow.multiply(rounds, depth))))
    return MovingTurn(slot, k.register(s32, narrow.value(narrow.remainder(rounds, 2))), depth, advance)
