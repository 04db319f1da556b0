"""Schedule trees: which statement instances run, and in what order."""

from __future__ import annotations

from typing import TypeAlias

from attrs import field, frozen

from polyhedral.sets import Set
from polyhedral.spaces import UnionMap, UnionSet
from polyhedral.statement import Option


@frozen
class OptionRange:
    """`option` for member number `member` of a band, at the times of `times` or everywhere.

    `isolated` says that it is meant for the isolated part of the band, and no other.
    """

    option: Option
    member: int
    isolated: bool = False
    times: Set | None = None


@frozen
class Leaf:
    """Nothing more is said: instances of one time run in the order of their statements."""


@frozen
class Domain:
    """The root: the instances that run."""

    domain: UnionSet
    child: ScheduleNode = field(factory=Leaf)


@frozen
class Context:
    """What is known of the parameters and of the band members around."""

    context: Set
    child: ScheduleNode = field(factory=Leaf)


@frozen
class Band:
    """Members in order; each gives every instance a time.

    `permutable` says that members may be exchanged, `coincident` for each whether its iterations are
    independent. `isolate` is a set over the members of the bands around and then its own: what is in
    it is kept apart and has options of its own.
    """

    members: tuple[UnionMap, ...]
    permutable: bool = False
    coincident: tuple[bool, ...] = ()
    options: tuple[OptionRange, ...] = ()
    isolate: Set | None = None
    child: ScheduleNode = field(factory=Leaf)


@frozen
class Filter:
    """Only the instances of `filter` go on."""

    filter: UnionSet
    child: ScheduleNode = field(factory=Leaf)


@frozen
class Sequence:
    """The children run one after another."""

    children: tuple[Filter, ...]


@frozen
class Unordered:
    """The children run in any order; a scan takes the one in which they are written."""

    children: tuple[Filter, ...]


@frozen
class Mark:
    """A name for what is below."""

    name: str
    child: ScheduleNode = field(factory=Leaf)


@frozen
class Extension:
    """More instances: `extension` maps the members around to the instances that run there as well."""

    extension: UnionMap
    child: ScheduleNode = field(factory=Leaf)


@frozen
class Expansion:
    """Each instance stands for those that `expansion` maps it to."""

    expansion: UnionMap
    child: ScheduleNode = field(factory=Leaf)


ScheduleNode: TypeAlias = Domain | Context | Band | Filter | Sequence | Unordered | Mark | Extension | Expansion | Leaf
