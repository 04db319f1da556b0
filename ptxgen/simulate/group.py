"""Groups: warps that stand at the same instruction, and how they part and meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ptxgen.simulate.asynchronous.waiting import Wait

Array: TypeAlias = NDArray[Any]
LANES = 32


class Group:
    """Warps at one instruction. Registers are immutable arrays that broadcast to [warps, 32]; a step rebinds them.

    `warps` are sorted numbers within the batch. `alive` is None when every lane of every warp is here, else [warps,
    32]; what dead lanes compute nobody reads. `last_turn` is when the group was last scheduled, `forced` lets it pass a
    meeting that cannot come about, `missing` are the lanes of its warps that were elsewhere when it arrived at a
    barrier, `barrier` and `threads` what it waits for there, `answer` writes what a reducing barrier found. `waits` is
    what it is parked for. One that is `alone` runs its instruction before it is joined with others. `frames` are the
    calls that it is in, the outermost first.
    """

    __slots__ = (
        "_census", "alive", "alone", "answer", "barrier", "forced", "frames", "last_turn", "missing", "pc", "registers",
        "threads", "waits", "warps",
    )  # fmt: skip

    def __init__(
        self, pc: int, warps: Array, alive: Array | None, registers: list[Any], last_turn: int = 0,
        frames: tuple[Frame, ...] = (),
    ) -> None:  # fmt: skip
        self.pc, self.warps, self.alive, self.registers = pc, warps, alive, registers
        self.last_turn, self.forced, self.frames = last_turn, False, frames
        self.missing: Array | None = None
        self.barrier = 0
        self.threads: int | None = None
        self.waits: tuple[Wait, ...] = ()
        self.alone = False
        self.answer: Callable[[Group, Array, Array], None] | None = None
        self._census: tuple[int, int] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of a register that differs from lane to lane."""
        return (len(self.warps), LANES)

    def census(self) -> tuple[int, int]:
        """How many warps have a live lane here, and how many lanes are live."""
        if self._census is None:
            if self.alive is None:
                self._census = (len(self.warps), len(self.warps) * LANES)
            else:
                self._census = (int(np.count_nonzero(some_lane(self.alive))), int(np.count_nonzero(self.alive)))
        return self._census

    def lanes(self) -> Array:
        """The live lanes as a mask [warps, 32]."""
        return np.ones(self.shape, np.bool_) if self.alive is None else self.alive

    def keep(self, alive: Array) -> None:
        """Leave only these lanes alive."""
        self.alive = alive
        self._census = None

    def active(self, guard: Array | None) -> Array | None:
        """The live lanes where the guard holds, [warps, 32]; None for all lanes."""
        if guard is None or (guard.size == 1 and guard.flat[0]):
            return self.alive
        if self.alive is not None:
            return guard & self.alive
        return np.broadcast_to(guard, self.shape) if not guard.all() else None

    def part(self, alive: Array, pc: int) -> Group | None:
        """The group of the given lanes (a subset of the live ones) at `pc`; None without lanes.

        Registers are shared. Warps without a live lane are dropped when they are the majority or all that is left is
        whole.
        """
        rows = some_lane(alive)
        count = int(np.count_nonzero(rows))
        if count == 0:
            return None
        turn, frames = self.last_turn, self.frames
        if count == len(rows):
            whole = bool(alive.all())
            return Group(pc, self.warps, None if whole else alive, self.registers.copy(), turn, frames)
        kept = alive[rows]
        whole = bool(kept.all())
        if whole or 2 * count <= len(rows):
            alone = None if whole else kept
            return Group(pc, self.warps[rows], alone, _rows(self.registers, rows), turn, frames)
        return Group(pc, self.warps, alive, self.registers.copy(), turn, frames)

    def lanes_of(self, warps: Array) -> Array:
        """The live lanes of these warps (sorted) that are here, [warps, 32]."""
        rows = np.minimum(np.searchsorted(self.warps, warps), len(self.warps) - 1)
        own: Array = self.warps[rows] == warps
        here: Array = self.lanes()[rows] & own[:, None]
        return here

    def meets(self, other: Group) -> bool:
        """True if the two stand at the same instruction of the same calls, so that they can become one."""
        if self.pc != other.pc:
            return False
        mine, others = self.frames, other.frames
        return mine is others or (
            len(mine) == len(others)
            and all(a is b or (a.site == b.site and a.base == b.base) for a, b in zip(mine, others, strict=True))
        )


def some_lane(lanes: Array) -> Array:
    """The warps with a lane that is set, [warps] from [warps, 32]."""
    words = np.ascontiguousarray(lanes).view(np.uint64)
    some: Array = (words[:, 0] | words[:, 1] | words[:, 2] | words[:, 3]) != 0
    return some


@frozen(eq=False)
class Frame:
    """A call that has not come back: the instruction `site`, where its frame starts in local memory, `base`, and the
    group that made it, placed behind the call, whose registers those that come back find again.
    """

    site: int
    base: int
    caller: Group

    def with_caller(self, caller: Group) -> Frame:
        """The same call for other lanes."""
        return Frame(self.site, self.base, caller)


def _rows(registers: list[Any], rows: Array) -> list[Any]:
    count = len(rows)
    return [each[rows] if each is not None and each.shape[0] == count else each for each in registers]


def merged(a: Group, b: Group, live: Callable[[int], Iterable[int]]) -> Group:
    """The two groups, which meet, as one; only the registers at the places `live` at their instruction survive."""
    union = a.warps if np.array_equal(a.warps, b.warps) else _union([a.warps, b.warps])
    a_rows, a_lanes = _spread(a, union)
    b_rows, b_lanes = _spread(b, union)
    registers: list[Any] = [None] * len(a.registers)
    for place in live(a.pc):
        mine, other = a.registers[place], b.registers[place]
        if mine is other and (mine is None or mine.shape[0] == 1 or a_rows is None):
            registers[place] = mine
        elif mine is None or other is None:
            registers[place] = (
                _placed(other, b_rows, len(b.warps)) if mine is None else _placed(mine, a_rows, len(a.warps))
            )
        else:
            mine, other = _placed(mine, a_rows, len(a.warps)), _placed(other, b_rows, len(b.warps))
            registers[place] = np.where(b_lanes, other, mine)
    alive = a_lanes | b_lanes
    frames = a.frames if a.frames is b.frames else _joined(a, b, live)
    together = Group(a.pc, union, None if alive.all() else alive, registers, min(a.last_turn, b.last_turn), frames)
    together.barrier, together.threads, together.answer = a.barrier, a.threads, a.answer
    if a.missing is not None or b.missing is not None:
        missing = _missing(a, a_rows, union) | _missing(b, b_rows, union)
        together.missing = missing & ~alive
    return together


def merged_all(groups: Sequence[Group], live: Callable[[int], Iterable[int]]) -> Group:
    """Any number of groups, which meet, as one; as `merged`."""
    first = groups[0]
    if len(groups) < _MANY or any(each.frames is not first.frames for each in groups):
        for other in groups[1:]:
            first = merged(first, other, live)
        return first
    union = _union([each.warps for each in groups])
    rows = [np.searchsorted(union, each.warps) for each in groups]
    alive = np.zeros((len(union), LANES), np.bool_)
    for each, places in zip(groups, rows, strict=True):
        alive[places] |= each.lanes()
    registers: list[Any] = [None] * len(first.registers)
    for place in live(first.pc):
        registers[place] = _gathered([each.registers[place] for each in groups], groups, rows, alive.shape)
    turn = min(each.last_turn for each in groups)
    return Group(first.pc, union, None if alive.all() else alive, registers, turn, first.frames)


_MANY = 3


def _union(warps: Sequence[Array]) -> Array:
    """The sorted numbers that stand in any of the arrays."""
    here = np.zeros(1 + max(int(each[-1]) for each in warps), np.bool_)
    for each in warps:
        here[each] = True
    return np.flatnonzero(here)


def _gathered(values: list[Any], groups: Sequence[Group], rows: list[Array], shape: tuple[int, int]) -> Any:
    """One register of all groups; lanes of none hold anything."""
    same = values[0]
    if all(each is same for each in values) and (same is None or same.shape[0] == 1):
        return same
    dtype = next(each.dtype for each in values if each is not None)
    whole = np.zeros(shape, dtype)
    for value, group, places in zip(values, groups, rows, strict=True):
        if value is not None:
            whole[places] = value if group.alive is None else np.where(group.alive, value, whole[places])
    return whole


def _joined(a: Group, b: Group, live: Callable[[int], Iterable[int]]) -> tuple[Frame, ...]:
    """The calls of both groups: each caller with the lanes of its own group."""
    frames: list[Frame] = []
    for mine, other in zip(a.frames, b.frames, strict=True):
        parts = [
            frame.caller.part(group.lanes_of(frame.caller.warps), frame.caller.pc)
            for frame, group in ((mine, a), (other, b))
        ]
        first, second = parts
        if mine is other or first is None or second is None:
            frames.append(mine if second is None or mine is other else other)
        else:
            frames.append(mine.with_caller(merged(first, second, live)))
    return tuple(frames)


def _spread(group: Group, union: Array) -> tuple[Array | None, Array]:
    """For each warp of the union its row in the group (any row for a stranger), and the group's live lanes there."""
    if group.warps is union or len(group.warps) == len(union):
        return None, group.lanes()
    rows = np.minimum(np.searchsorted(group.warps, union), len(group.warps) - 1)
    own = group.warps[rows] == union
    return rows, group.lanes()[rows] & own[:, None]


def _placed(value: Array, rows: Array | None, count: int) -> Array:
    return value if rows is None or value.shape[0] != count or count == 1 else value[rows]


def _missing(group: Group, rows: Array | None, union: Array) -> Array:
    if group.missing is None:
        return np.zeros((len(union), LANES), np.bool_)
    if rows is None:
        return group.missing
    own: Array = group.warps[rows] == union
    return np.logical_and(group.missing[rows], own[:, None])
