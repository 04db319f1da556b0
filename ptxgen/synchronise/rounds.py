"""The loops that use a ring one after the other: in every role the same, in one order."""

from __future__ import annotations

from collections.abc import Iterable

from ptxgen.errors import UnsupportedError
from ptxgen.order.clusters import is_remote
from ptxgen.order.ops import Op
from ptxgen.order.synchronisation import RingUse


def check_rounds(ops: tuple[Op, ...], uses: tuple[RingUse, ...]) -> None:
    """UnsupportedError where a ring that goes on from round to round is used in a loop that no ring serves, in another
    order by another role, or in several by blocks of a cluster for each other."""
    found = tuple(use for use in uses if use.counter)
    served = {(buffer.name, use.loop) for use in found for buffer in use.buffers}
    orders: dict[str, dict[str, tuple[str, ...]]] = {}
    for counter in dict.fromkeys(use.counter for use in found):
        users = [op for op in ops if any(touch.counter == counter for touch in op.touches)]
        for op in users:
            _check_served(op, counter, served)
        for role in dict.fromkeys(op.role for op in users):
            own = sorted((op for op in users if op.role == role), key=lambda op: op.time.place)
            orders.setdefault(counter, {})[role] = tuple(dict.fromkeys(op.time.loops[-1] for op in own))
    for counter, by_role in orders.items():
        if len(set(by_role.values())) > 1:
            told = "; ".join(f"{role} {', '.join(loops)}" for role, loops in by_role.items())
            raise UnsupportedError(f"{counter}: roles use a ring in the same loops in one order, here {told}")
    for use in uses:
        if is_remote(use.masks) and not _is_counted_once(ops, uses, use):
            raise UnsupportedError(
                f"the ring {use.name} is used in {use.loop or 'no loop'}: blocks of a cluster fill each other's rings "
                "in one loop, which is run once or by each work item"
            )


def _is_counted_once(ops: tuple[Op, ...], uses: tuple[RingUse, ...], use: RingUse) -> bool:
    """Whether a ring is used in one loop, at most one other loop around it: behind that its counter tells of all
    tiles."""
    loops = {ops[number].time.loops for number in (*use.writers, *use.readers)}
    alone = all(other.loop == use.loop for other in uses if use.counter and other.counter == use.counter)
    return bool(use.loop) and alone and all(len(own) == 1 + bool(use.counter) for own in loops)


def check_counts(uses: Iterable[RingUse]) -> None:
    """UnsupportedError where other numbers of arrivals free a slot of a ring in one loop than in another."""
    counts: dict[str, dict[tuple[int, ...], str]] = {}
    for use in uses:
        counts.setdefault(use.name, {})[use.counts_by_rank or (use.empty_count,)] = use.loop
    for name, found in counts.items():
        if len(found) > 1:
            told = ", ".join(f"{'/'.join(map(str, count))} in {loop}" for count, loop in found.items())
            raise UnsupportedError(f"the ring {name} is not freed by as many arrivals in each of its loops: {told}")


def _check_served(op: Op, counter: str, served: set[tuple[str, str]]) -> None:
    for touch in op.touches:
        if touch.counter == counter and (touch.buffer.name, op.time.loops[-1]) not in served:
            raise UnsupportedError(
                f"{op} ({op.line}) uses {touch.buffer.name} in the loops {', '.join(op.time.loops)}, in which no "
                f"other role does; roles count the tiles of a ring by the loops that both run"
            )
