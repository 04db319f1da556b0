"""What is known around a place of a loop tree, kept in parts so that a question meets only what it is about."""

from __future__ import annotations

from functools import lru_cache

from attrs import frozen

from polyhedral.system import FALSE, System, components_of, conjoin, disjoint, together


@frozen(cache_hash=True)
class Surroundings:
    """A conjunction as systems no two of which share a variable. Some integer point is taken to satisfy each."""

    parts: tuple[System, ...] = ()

    @staticmethod
    def of(system: System) -> Surroundings:
        """The surroundings in which `system` holds."""
        return Surroundings(components_of(system))

    def __and__(self, other: System) -> Surroundings:
        parts = self.parts
        for part in components_of(other):
            names = _visible(part)
            met = [p for p in parts if not names.isdisjoint(_visible(p))]
            for one in met:
                part = conjoin(one, part)
            if part.is_false:
                return Surroundings((FALSE,))
            if met != [part]:
                parts = (*[p for p in parts if p not in met], part)
        return Surroundings(parts)

    def near(self, *systems: System) -> System:
        """What is known of the variables of these systems, and of those that it connects to them."""
        names = frozenset().union(*map(_visible, systems))
        return together([p for p in self.parts if not names.isdisjoint(_visible(p))])

    def gist_of(self, system: System) -> System:
        """What of `system` is left to test."""
        if system.is_universe:
            return system
        found = []
        for part in components_of(system):
            left = part.gist(self.near(part))
            if left.is_false:
                return FALSE
            if left.names:
                found.append(left)
        return together(found)

    def exclude(self, *systems: System) -> bool:
        """Whether no integer point is in all of the systems here."""
        return disjoint(self.near(*systems), *systems)


@lru_cache(maxsize=1 << 14)
def _visible(system: System) -> frozenset[str]:
    return frozenset(system.visible)


NOWHERE_SPECIAL = Surroundings()
