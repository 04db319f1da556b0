"""A place in a loop tree that grows: what is known there, and levels that have a value and no loop."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from polyhedral.affine import Affine, var
from polyhedral.shadows import Item
from polyhedral.surroundings import Surroundings
from polyhedral.system import UNIVERSE, System


@frozen
class Place:
    """`known` holds around the place; `values` are those of levels without a loop.

    `alone` is the one item that runs there once its conditions on the loops around hold; `open_still` is then what
    its shadow says of them beyond what is known.
    """

    known: Surroundings
    values: Mapping[str, Affine]
    alone: Item | None = None
    open_still: System = UNIVERSE

    def where(self, system: System) -> Place:
        """The place inside, where `system` holds too."""
        return self if system.is_universe else Place(self.known & system, self.values, self.alone, self.open_still)

    def at(self, name: str, value: Affine) -> Place:
        """The place where a level has this value."""
        if value == var(name):
            return self
        return Place(self.known, {**self.values, name: value}, self.alone, self.open_still)

    def valued(self, system: System) -> System:
        """The system with the values put in."""
        return system.substitute(self.values) if self.values else system

    def near(self, *systems: System) -> System:
        """What is known of the variables of systems in which the values are not put in, with these values."""
        equal = [var(n).equals(v) for n, v in self.values.items()]
        said = System.of(*equal) if equal else None
        return self.known.near(*systems) if said is None else self.known.near(said, *systems) & said
