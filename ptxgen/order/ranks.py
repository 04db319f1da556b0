"""How many steps lie between two accesses that meet in one slot of a ring."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import gcd

from attrs import frozen

from polyhedral import Affine, Set, System, const, var
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op

SEARCHED = 4


@frozen(eq=False)
class Access:
    """An op's use of tile number `rank` of a buffer; `number` is the op's position among the ops, `counter` the term of
    the rank that goes on from item to item."""

    op: Op
    number: int
    rank: Affine
    reads: bool
    writes: bool
    counter: str = ""

    @property
    def turn(self) -> int:
        """Who goes first at one tile: what only fills it 0, what updates it 1, what only reads it 2."""
        return 1 if self.reads and self.writes else 0 if self.writes else 2


@frozen(eq=False)
class Pair:
    """Two accesses of one buffer with `depth` slots, which share `common` loops.

    A distance at `level` means: loops 0 .. level-2 have equal indices on both sides, loop level-1 is that much later at
    the second access, and deeper loops have any index. Level 0 holds no loop; its only distance is 0.
    """

    first: Access
    second: Access
    common: int
    depth: int
    loops: tuple[str, ...]
    difference: Affine

    @classmethod
    def of(cls, first: Access, second: Access, common: int, depth: int) -> Pair:
        """The pair with its common loops and the second rank less the first at equal indices of them.

        Raises PlanError where the two ranks do not count alike in a common loop or in a parameter.
        """
        loops = first.op.time.loops[:common]
        if moves_alike(first, second, common):
            return cls(first, second, common, depth, loops, const(second.rank.constant - first.rank.constant))
        own = {loop: var(loop + "'") for loop in second.op.time.loops[common:]}
        pair = cls(first, second, common, depth, loops, second.rank.substitute(own) - first.rank)
        free = {*first.op.time.loops[common:], *(loop + "'" for loop in second.op.time.loops[common:])}
        wrong = [name for name in pair.difference.names if name not in free]
        if wrong:
            raise PlanError(
                f"{first.op} and {second.op} do not count the tiles of their buffer alike: tile {first.rank} against "
                f"tile {second.rank} in {wrong[0]} ({first.op} is from {first.op.line})",
                line=second.op.line,
            )
        return pair

    @property
    def carried(self) -> bool:
        """Whether the ranks go on across the items of a work list: a distance then counts steps of the innermost loop
        from item to item, and what lies between two items is at no outer loop's distance."""
        return bool(self.first.counter) and self.first.counter == self.second.counter

    def step(self, level: int) -> int:
        """How many tiles one step of loop level-1 advances the ranks; 0 at level 0."""
        return self.first.rank.coefficient(self.loops[level - 1]) if level else 0


def in_other_rounds(first: Access, second: Access) -> bool:
    """Whether two uses of a ring that goes on from round to round stand in different loops: no distance is theirs but
    that of the ring's tiles, each of which one of the loops fills and uses."""
    return bool(first.counter) and first.counter == second.counter and first.op.time.loops != second.op.time.loops


def moves_alike(first: Access, second: Access, common: int) -> bool:
    """Whether the ranks differ by a constant that no loop of one access alone changes, seen from their spelling."""
    terms = first.rank.terms
    return terms == second.rank.terms and (not terms or common == len(first.op.time.loops))


def surely_in_order(first: Access, second: Access, common: int, depth: int, *, behind: bool) -> bool:
    """Whether a glance at the numbers shows that the second access follows the first at every tile and slot that both
    use. `behind`: the second stands behind the first in the body. False says nothing."""
    before, after = first.op.time.ahead, second.op.time.ahead
    outer = max(common - 1, 0)
    if not moves_alike(first, second, common) or before[:outer] != after[:outer]:
        return False
    step = first.rank.coefficient(first.op.time.loops[common - 1]) if common and first.rank.terms else 0
    early = before[common - 1] - after[common - 1] if common else 0
    offset = second.rank.constant - first.rank.constant
    least: list[int] = []
    if first.turn < second.turn and (offset % step == 0 if step else offset == 0):
        least.append(-offset // step if step else 0)
    if second.writes and step:
        least.append(-((offset - depth) // step))
    elif second.writes:
        least.append(0 if offset > 0 and offset % depth == 0 else 1)
    soonest = min(least, default=None)
    return soonest is None or soonest + early > 0 or (soonest + early == 0 and behind)


def same_tile(pair: Pair, level: int) -> Iterator[int]:
    """Distances at `level` at which the second access uses the tile of the first: none or one, least first."""
    if level < pair.common or not pair.difference.is_constant:
        yield from searched(pair, level, later=False)
        return
    step, missing = pair.step(level), -pair.difference.constant
    if missing % step == 0 if step else missing == 0:
        distance = missing // step if step else 0
        if coexist(pair, level, distance):
            yield distance


def later_tile(pair: Pair, level: int) -> int | None:
    """The least distance at `level` at which the second access uses a later tile in the same slot, None without any."""
    if level < pair.common or not pair.difference.is_constant:
        return next(searched(pair, level, later=True), None)
    step, constant = pair.step(level), pair.difference.constant
    if not step:
        return 0 if constant > 0 and constant % pair.depth == 0 and coexist(pair, level, 0) else None
    shared = gcd(step, pair.depth)
    if constant % shared:
        return None
    turns = range(1, step // shared + 1)
    least = min((t * pair.depth - constant) // step for t in turns if (t * pair.depth - constant) % step == 0)
    beyond = least + SEARCHED * (pair.depth // shared)
    for distance in range(least, beyond, pair.depth // shared):
        if coexist(pair, level, distance):
            return distance
    a, b = pair.first.op.domain, pair.second.op.domain
    return None if _both(a, b, pair.loops[:level], beyond, open_ended=True).is_empty() else beyond


def next_round(pair: Pair, level: int) -> bool:
    """Whether the accesses can use one slot in different iterations of loop level-1, which the ranks do not count."""
    held = pair.loops[:level]
    accesses = (pair.first, pair.second)
    free = [c for a in accesses for n, c in a.rank.terms if n in a.op.time.loops and n not in held]
    return pair.difference.constant % gcd(pair.depth, *free) == 0 and coexist(pair, level, 1)


def coexist(pair: Pair, level: int, distance: int) -> bool:
    """Whether both accesses have an instance `distance` apart at `level`; across items there may always be one."""
    if pair.carried:
        return True
    a, b = pair.first.op, pair.second.op
    return _coexist(a.domain, b.domain, pair.loops[:level], distance)


@lru_cache(maxsize=1 << 12)
def _coexist(first: Set, second: Set, held: tuple[str, ...], distance: int) -> bool:
    return not _both(first, second, held, distance).is_empty()


def _both(first: Set, second: Set, held: tuple[str, ...], distance: int, *, open_ended: bool = False) -> Set:
    """Pairs of instances `distance` apart (or more, where open ended); what the second does not share has a prime."""
    own = {d: d + "'" for d in second.dims if d not in held}
    far = var("further") if open_ended else const(0)
    shift = {held[-1]: var(held[-1]) + far + distance} if held else {}
    moved = Set((), tuple(p.substitute(shift).rename(own) for p in second.pieces))
    return (Set((), first.pieces) & moved).intersect(far >= 0)


def searched(pair: Pair, level: int, *, later: bool) -> Iterator[int]:
    """Distances at `level` at which both use one tile (or, with `later`, the second a later tile of the same slot),
    found by deciding one set for each; the least one only. At an outer level only later iterations count."""
    depth = pair.depth
    lowest = 1 if level < pair.common else -SEARCHED if pair.step(level) else 0
    highest = depth + SEARCHED if level else 0
    held = pair.loops[:level]
    own = {d: var(d + "'") for d in pair.second.op.domain.dims if d not in held}
    for distance in range(lowest, highest + 1):
        shift = {held[-1]: var(held[-1]) + distance} if held else {}
        second = pair.second.rank.substitute(own | shift)
        gap = second - pair.first.rank
        slots = System.of(gap.equals(var("turn") * depth), var("turn") >= 1) if later else System.of(gap.equals(0))
        both = _both(pair.first.op.domain, pair.second.op.domain, held, distance)
        if not both.intersect(slots).is_empty():
            yield distance
            return


def check_ascending(access: Access, buffer: str) -> None:
    """Raises PlanError where a later instance of the op uses an earlier tile, so that ranks do not order its uses.

    Loops that the rank does not count start the ring anew. One counted loop with a positive step ascends; several are
    decided on the op's domain, for each loop that two instances can part at.
    """
    counted = tuple(loop for loop in access.op.time.loops if access.rank.coefficient(loop))
    if all(access.rank.coefficient(loop) > 0 for loop in counted) and len(counted) < 2:
        return
    witness = _inversion(access.op.domain, access.rank, access.op.time.loops, counted)
    if witness is not None:
        op = access.op
        raise PlanError(
            f"{op} does not visit the tiles of {buffer} in ascending order: tile {access.rank} of a later instance is "
            f"not behind that of an earlier one",
            line=op.line,
            instances=tuple(witness),
        )


@lru_cache(maxsize=1 << 8)
def _inversion(domain: Set, rank: Affine, loops: tuple[str, ...], counted: tuple[str, ...]) -> tuple[str, str] | None:
    primed = {loop: loop + "'" for loop in counted}
    for place, loop in enumerate(counted):
        equal = {c: c for c in counted[:place]}
        renamed = {c: p for c, p in primed.items() if c not in equal}
        later = Set((), tuple(p.rename(renamed) for p in domain.pieces))
        second = rank.substitute({c: var(p) for c, p in renamed.items()})
        both = (Set((), domain.pieces) & later).intersect(var(loop) < var(loop + "'"), second <= rank)
        point = next((found for piece in both.pieces if (found := piece.sample()) is not None), None)
        if point is not None:
            first = ", ".join(f"{d}={point.get(d, 0)}" for d in loops)
            other = ", ".join(f"{d}={point.get(renamed.get(d, d), 0)}" for d in loops)
            return f"({first})", f"({other})"
    return None
