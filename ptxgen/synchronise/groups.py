"""Copies that complete in groups: after which of them a body commits, and how many groups a wait may leave open."""

from __future__ import annotations

from bisect import bisect_right

from attrs import frozen

from isa.mechanisms import Group, GroupKind, IssuedBy
from ptxgen.order.nest import Body, Nest
from ptxgen.order.ops import Op


def lane_group(op: Op) -> GroupKind | None:
    """The kind of group that an op completes in, seen by the lane that issued it, be it every lane or an elected one;
    None for what completes otherwise."""
    match op.mechanism.completes:
        case Group(kind=kind, owner=IssuedBy.LANE) if op.mechanism.issued_by in (IssuedBy.LANE, IssuedBy.ELECTED):
            return kind
        case _:
            return None


@frozen(eq=False)
class Commits:
    """The gaps of a body of `size` items at which a kind of group is closed, in ascending order. Gap g lies directly
    before item g; a run of copies at the body's end is closed at gap `size`. `copies` are the items that it closes."""

    size: int
    gaps: tuple[int, ...]
    copies: tuple[int, ...]

    def after(self, position: int) -> int:
        """The gap at which the copy at `position` is committed."""
        return next(gap for gap in self.gaps if gap > position)

    def pending(self, position: int, retired: int) -> int:
        """Groups that the lane closes after the one of the copy at `position` and no later than at the gap `retired`,
        counted on from gap 0 of the copy's step."""
        own = self.after(position)
        whole, last = divmod(retired, self.size)
        until = whole * len(self.gaps) + bisect_right(self.gaps, last)
        return until - bisect_right(self.gaps, own)

    def incomplete(self, gap: int, pending: int, *, cyclic: bool) -> int:
        """How many of the copies issued before a wait at `gap`, which leaves open `pending` groups, may be incomplete
        behind it; -1 where it would have to wait for a group that is closed later."""
        if pending < 0:
            return -1
        rounds = range(pending + 2 if cyclic else 1)
        closed = [own - self.size * back for back in rounds for own in reversed(self.gaps)]
        closed = [place for place in closed if place <= gap]
        last = closed[pending] if pending < len(closed) else -self.size * len(rounds)
        issued = (own - self.size * back for back in rounds for own in self.copies)
        return sum(1 for own in issued if last <= own < gap)

    def without(self, gap: int) -> Commits:
        """The same without the closing at `gap`: its copies join the next group."""
        return Commits(self.size, tuple(own for own in self.gaps if own != gap), self.copies)


def commits(body: Body, places: Nest, ops: tuple[Op, ...], meetings: frozenset[int]) -> dict[GroupKind, Commits]:
    """Where a body closes groups: behind every run of copies of a kind that no meeting divides.

    Closing is what a later wait counts, so a run is as long as it can be: one group for all operands of a step.
    """
    kinds: dict[int, GroupKind] = {}
    for number, (role, path) in enumerate(zip(places.roles, places.paths, strict=True)):
        kind = lane_group(ops[number])
        if kind is not None and Body(role, path) == body:
            kinds[places.positions[number][len(path)]] = kind
    size = len(places.items[body])
    found: dict[GroupKind, list[int]] = {}
    for position, kind in sorted(kinds.items()):
        if kinds.get(position + 1) is not kind or position + 1 in meetings:
            found.setdefault(kind, []).append(position + 1)
    copies = {kind: tuple(position for position, own in sorted(kinds.items()) if own is kind) for kind in found}
    return {kind: Commits(size, tuple(gaps), copies[kind]) for kind, gaps in found.items()}
