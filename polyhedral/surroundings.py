"""What is known around a place of a loop tree, kept in parts so that a question meets only what it is about."""

from __future__ import annotations

from attrs import frozen

from polyhedral.part import NOTHING, Part, Parts, in_place, touching
from polyhedral.parts import conjoined, gist_of
from polyhedral.system import FALSE, System, disjoint


@frozen(cache_hash=True)
class Surroundings:
    """A conjunction in parts no two of which share a variable. Some integer point is taken to satisfy each."""

    parts: Parts = ()

    @staticmethod
    def of(system: System) -> Surroundings:
        """The surroundings in which `system` holds."""
        return Surroundings(system.parts)

    def __and__(self, other: System) -> Surroundings:
        return Surroundings(conjoined(self.parts, other.parts))

    def near(self, *systems: System) -> System:
        """What is known of the variables of these systems, and of those that it connects to them."""
        names = frozenset().union(*[p.visible for s in systems for p in s.parts])
        return System(touching(self.parts, names))

    def gist_of(self, system: System) -> System:
        """What of `system` is left to test."""
        if not system.parts:
            return system
        found: list[Part] = []
        left: Parts = ()
        for one in system.parts:
            left = gist_of((one,), touching(self.parts, one.visible), bool(one.equalities))
            if left == NOTHING:
                return FALSE
            found += left
        return System(left if len(system.parts) == 1 else in_place(found))

    def exclude(self, *systems: System) -> bool:
        """Whether no integer point is in all of the systems here."""
        return disjoint(self.near(*systems), *systems)
