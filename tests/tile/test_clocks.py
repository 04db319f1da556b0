"""Vector clocks against the definition: accesses of two warps are ordered when a meeting lies between them."""

from random import Random

import numpy as np
import pytest

from ptxgen.tile.machine.clocks import Clocks, Stamp

WARPS, ELEMENTS = 4, 3
Access = tuple[int, int, bool]
MEETING = None


def history(chance: Random) -> list[Access | None]:
    """Accesses (warp, element, writes) and meetings of all warps, in the order of one interleaving."""

    def access() -> Access:
        return chance.randrange(WARPS), chance.randrange(ELEMENTS), chance.random() < 0.4

    return [MEETING if chance.random() < 0.2 else access() for _ in range(30)]


def first_race(events: list[Access | None]) -> int | None:
    """The first access that conflicts with an earlier one of another warp without a meeting between."""
    for now, event in enumerate(events):
        if event is None:
            continue
        last_meeting = max((place for place in range(now) if events[place] is None), default=-1)
        for earlier in events[last_meeting + 1 : now]:
            assert earlier is not None
            if earlier[0] != event[0] and earlier[1] == event[1] and (earlier[2] or event[2]):
                return now
    return None


def first_conflict(events: list[Access | None]) -> int | None:
    """The first access that the clocks call unordered."""
    clocks = Clocks(ELEMENTS, WARPS)
    seen = [np.array([int(w == v) for v in range(WARPS)], np.int64) for w in range(WARPS)]
    for now, event in enumerate(events):
        if event is None:
            joined = np.maximum.reduce(seen)
            seen = [joined + np.eye(WARPS, dtype=np.int64)[w] for w in range(WARPS)]
            continue
        warp, element, writes = event
        note = clocks.write if writes else clocks.read
        if note(Stamp(1, int(seen[warp][warp]), warp, 0), seen[warp], np.array([element])) is not None:
            return now
    return None


@pytest.mark.parametrize("seed", range(300))
def test_the_first_race_is_found_where_it_is(seed: int) -> None:
    events = history(Random(seed))
    assert first_conflict(events) == first_race(events)


def test_a_stamp_survives_packing() -> None:
    stamp = Stamp(200_000, 10_000_000, 63, 16_000)
    assert Stamp.unpack(stamp.packed) == stamp


def test_reads_of_several_blocks_conflict_with_a_write_of_the_last_one() -> None:
    clocks, seen, index = Clocks(1, 1), np.array([5], np.int64), np.array([0])
    assert clocks.read(Stamp(1, 5, 0, 0), seen, index) is None
    assert clocks.read(Stamp(2, 5, 0, 0), seen, index) is None
    assert clocks.write(Stamp(2, 5, 0, 1), seen, index) is not None
