"""How the instances of two ops lie apart that touch the same slot of a buffer, at least one of them writing."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from isa.mechanisms import Group
from ptxgen.order.nest import Nest
from ptxgen.order.ranks import (
    Access,
    Pair,
    check_ascending,
    in_other_rounds,
    later_tile,
    next_round,
    same_tile,
    surely_in_order,
)
from ptxgen.tile import Buffer, RequirementKind, Space


@frozen(eq=False)
class Apart:
    """How a pair's instances that conflict lie apart: loop level-1 by `distance`, outer loops not at all."""

    level: int
    distance: int
    kind: RequirementKind


def conflicts(buffer: Buffer, accesses: list[Access], places: Nest) -> Iterator[tuple[Pair, Apart]]:
    """Each pair of accesses of a buffer whose instances conflict, and how far apart, without what another one implies;
    of registers what program order surely orders is left out."""
    for access in accesses:
        check_ascending(access, buffer.name)
    private = buffer.space is Space.REGISTERS
    for first in accesses:
        for second in accesses:
            if (first.writes or second.writes) and not in_other_rounds(first, second):
                common = places.common_depth(first.number, second.number)
                behind = places.positions[second.number][common] > places.positions[first.number][common]
                if (
                    private
                    and not in_flight(first, second)
                    and surely_in_order(first, second, common, buffer.depth, behind=behind)
                ):
                    continue
                pair = Pair.of(first, second, common, buffer.depth)
                yield from ((pair, apart) for apart in _strongest(list(_of_pair(pair, places, private=private))))


def _of_pair(pair: Pair, places: Nest, *, private: bool) -> Iterator[Apart]:
    outermost = pair.common if pair.carried else min(pair.common, 1)
    for level in range(pair.common, outermost - 1, -1):
        counted = pair.step(level) != 0
        if level == pair.common:
            for distance in same_tile(pair, level):
                kind = RequirementKind.FLOW if pair.second.reads else RequirementKind.REWRITE
                apart = Apart(level, distance, kind)
                if _goes_first(pair, apart, places, private=private):
                    yield apart
        if not pair.second.writes:
            continue
        if level == pair.common or counted:
            least = later_tile(pair, level)
            if least is not None:
                yield from _overwrites(pair, level, least)
        if level and not counted and next_round(pair, level):
            yield from _overwrites(pair, level, 1)


def _goes_first(pair: Pair, apart: Apart, places: Nest, *, private: bool) -> bool:
    """Whether the first access comes first at a tile that both use: by turn, else as the program has them."""
    first, second = pair.first, pair.second
    if first.turn != second.turn or not first.writes:
        return first.turn < second.turn
    if private or first.number == second.number or first.op.role != second.op.role:
        return False
    return in_order(pair, apart, places)


def _overwrites(pair: Pair, level: int, distance: int) -> Iterator[Apart]:
    if pair.first.reads:
        yield Apart(level, distance, RequirementKind.REUSE)
    if pair.first.writes:
        yield Apart(level, distance, RequirementKind.REWRITE)


def _strongest(found: list[Apart]) -> list[Apart]:
    """Without those that another one of the same loops implies: a filling is done after its sources are read."""
    if len(found) < 2:
        return found
    kept: list[Apart] = []
    for apart in sorted(found, key=lambda a: (a.distance, a.kind is RequirementKind.REUSE)):
        stronger = (k for k in kept if k.level == apart.level)
        if not any(k.kind in (RequirementKind.FLOW, RequirementKind.REWRITE, apart.kind) for k in stronger):
            kept.append(apart)
    return kept


def in_flight(first: Access, second: Access) -> bool:
    """Whether program order does not order two uses of registers: one of them is a product that runs in a group, and
    the other is none that adds to the same sums."""
    one, other = isinstance(first.op.mechanism.completes, Group), isinstance(second.op.mechanism.completes, Group)
    adds = one and other and first.reads and second.reads and first.writes and second.writes
    return (one or other) and not adds


def in_order(pair: Pair, apart: Apart, places: Nest) -> bool:
    """Whether the plan runs the first access before the second one that lies `apart` from it."""
    first, second = pair.first, pair.second
    level, before, after = apart.level, first.op.time.ahead, second.op.time.ahead
    if level > 1 and before[: level - 1] != after[: level - 1]:
        return False
    steps = apart.distance + before[level - 1] - after[level - 1] if level else 0
    return steps > 0 or (steps == 0 and places.positions[second.number][level] > places.positions[first.number][level])
