"""Buffers that lie over each other: the users of one, and those who fill another one after them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations

from attrs import frozen

from ptxgen.errors import UnsupportedError
from ptxgen.order.nest import Nest
from ptxgen.order.ranks import Access, moves_alike
from ptxgen.tile import Buffer


@frozen(eq=False)
class Overlap:
    """`first` uses one of two buffers that lie over each other before `second` fills the other one, `buffer`: in the
    iteration of the innermost of `loops` that is `distance` later."""

    first: Access
    second: Access
    buffer: Buffer
    loops: tuple[str, ...]
    distance: int


def overlaps(accesses: Iterable[tuple[Buffer, list[Access]]], places: Nest) -> Iterator[Overlap]:
    """Who must be done with one buffer before who fills the one over or under it: what comes first in the body that
    both stand in goes first there, and what comes later goes before the next iteration of each loop around it. Slots
    that share no byte are apart.

    What has filled a tile that is read in the same loops is not named: it is done before its reader is.
    """
    beds: dict[str, list[tuple[Buffer, list[Access]]]] = {}
    for buffer, own in accesses:
        beds.setdefault(buffer.alias or buffer.name, []).append((buffer, own))
    for bed in beds.values():
        for (used, users), (filled, others) in permutations(bed, 2):
            yield from _pairs(users, used, others, filled, places)


def _pairs(users: list[Access], used: Buffer, others: list[Access], filled: Buffer, places: Nest) -> Iterator[Overlap]:
    for first in (user for user in users if not _surely_read(user, users)):
        for second in (other for other in others if other.writes and _meet(first, used, other, filled)):
            common = places.common_depth(first.number, second.number)
            loops = first.op.time.loops[:common]
            if first.op.role != second.op.role:
                _check_over(first, second, used, filled, common)
                continue
            if places.positions[first.number][common] < places.positions[second.number][common]:
                yield Overlap(first, second, filled, loops, 0)
            yield from (Overlap(first, second, filled, loops[:level], 1) for level in range(common, 0, -1))


def _meet(first: Access, used: Buffer, second: Access, filled: Buffer) -> bool:
    """Whether the bytes of two accesses may be the same."""
    a, b = _bytes(first, used), _bytes(second, filled)
    return a.start < b.stop and b.start < a.stop


def _bytes(access: Access, buffer: Buffer) -> range:
    """The bytes from the buffer's start that an access may use: those of its slot where that is known."""
    if not access.rank.is_constant:
        return range(buffer.slot_bytes * buffer.depth)
    start = access.rank.constant % buffer.depth * buffer.slot_bytes
    return range(start, start + buffer.slot_bytes)


def _check_over(first: Access, second: Access, used: Buffer, filled: Buffer, common: int) -> None:
    """Roles do not wait for each other here: nothing may come again once the buffers change hands."""
    if common or filled.alias:
        raise UnsupportedError(
            f"{second.op} ({second.op.line}) of the role {second.op.role} fills {filled.name}, which lies over or "
            f"under {used.name} that {first.op} ({first.op.line}) of the role {first.op.role} uses: give it memory "
            f"of its own"
        )


def _surely_read(writer: Access, users: list[Access]) -> bool:
    """Whether every tile that an access fills is read by another one in the same loops."""
    if not writer.writes or writer.reads:
        return False
    loops = writer.op.time.loops
    return any(
        reader.reads
        and not reader.writes
        and reader.op.time.loops == loops
        and moves_alike(writer, reader, len(loops))
        and reader.rank == writer.rank
        and writer.op.domain.is_subset(reader.op.domain)
        for reader in users
    )
