"""Which event of a run happens before which: a graph of events, closed over paths."""

from __future__ import annotations

from collections import deque

from attrs import define, field, frozen

from ptxgen.errors import Place


@frozen(eq=False)
class Event:
    """What happens once in a run: its name, the line that asks for it, and whether it waits for a barrier."""

    label: str
    line: Place | None
    waits: bool = False


@define(eq=False)
class Happens:
    """Events by number, and for each of them those directly before it. Once the graph is closed, `past[e]` has a bit
    for each event before e."""

    events: list[Event] = field(factory=list)
    before: list[list[int]] = field(factory=list)
    past: list[int] = field(factory=list)

    def add(self, label: str, line: Place | None = None, *after: int, waits: bool = False) -> int:
        """A new event, behind others."""
        self.events.append(Event(label, line, waits))
        self.before.append(list(after))
        return len(self.events) - 1

    def order(self, first: int, second: int) -> None:
        """The first event happens before the second."""
        self.before[second].append(first)

    def close(self) -> tuple[int, ...]:
        """Follows all paths; gives events that wait for each other in a ring, none where all of them can happen."""
        left = [len(set(own)) for own in self.before]
        behind: list[list[int]] = [[] for _ in self.events]
        for event, own in enumerate(self.before):
            for first in set(own):
                behind[first].append(event)
        self.past = [0] * len(self.events)
        ready = deque(event for event, count in enumerate(left) if not count)
        while ready:
            event = ready.popleft()
            seen = self.past[event] | 1 << event
            for later in behind[event]:
                self.past[later] |= seen
                left[later] -= 1
                if not left[later]:
                    ready.append(later)
        stuck = {event for event, count in enumerate(left) if count}
        return self._ring(stuck) if stuck else ()

    def _ring(self, stuck: set[int]) -> tuple[int, ...]:
        event, seen = next(iter(stuck)), list[int]()
        while event not in seen:
            seen.append(event)
            event = next(first for first in self.before[event] if first in stuck)
        ring = seen[seen.index(event) :][::-1]
        first = next((place for place, each in enumerate(ring) if self.events[each].waits), 0)
        return (*ring[first:], *ring[:first])

    def ordered(self, first: int, second: int) -> bool:
        """Whether the first event happens before the second in every run."""
        return bool(self.past[second] >> first & 1)
