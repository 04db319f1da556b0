"""What a role does, one thing after the other, for given sizes and work items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Items
from typing import assert_never

from attrs import field, frozen

from polyhedral import Affine
from ptxgen.errors import Finding, Severity
from ptxgen.prove.trees.accesses import Access, accesses
from ptxgen.tile import (
    WARPGROUP,
    Acquire,
    Advance,
    Arrive,
    Copy,
    Counter,
    Expect,
    Fill,
    ForEachItem,
    HandWritten,
    Leaf,
    Let,
    Loop,
    Map,
    Multiply,
    Node,
    Ordering,
    Quotient,
    Reduce,
    Release,
    Sequence,
    Synchronisation,
    Wait,
    When,
)

MOST_STEPS = 20000


class Untraceable(Exception):
    """A tree that cannot be followed: a name that nothing defines, or loops without end."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.finding = Finding("synchronisation.control", Severity.ERROR, text)


@frozen(eq=False)
class Step:
    """One execution of a node: the variables there, what a leaf touches, and the numbers of the tiles that it, or a
    barrier, is about; of a flag the value and the tile; at a barrier that of each unit is `by_unit` further."""

    node: Leaf | Synchronisation
    values: Mapping[str, int]
    touched: tuple[Access, ...]
    tiles: tuple[int, ...]
    by_unit: int = 0

    def number(self, affine: Affine) -> int:
        """The value of an expression at this step."""
        return value_of(affine, self.values)

    @property
    def rank(self) -> int:
        """The tile that an announcement is for; the value of a flag."""
        return self.tiles[0]

    def rank_of(self, unit: int) -> int:
        """The tile that a wait or an arrival of a unit is for."""
        return self.tiles[0] + unit * self.by_unit

    @property
    def flagged(self) -> int:
        """The tile that a flag is of."""
        return self.tiles[1]


def value_of(affine: Affine, values: Mapping[str, int]) -> int:
    """The value of an expression; Untraceable where a name of it has none."""
    try:
        return affine.evaluate(values)
    except KeyError as error:
        text = f"{error.args[0]} in {affine} is neither a size nor a tile index, a loop or a counter around it"
        raise Untraceable(text) from None


@frozen(eq=False)
class Tracer:
    """Follows trees; what their leaves touch is asked once."""

    known: dict[int, tuple[Access, ...]] = field(factory=dict)

    def steps_of(self, body: Node, values: Mapping[str, int], items: Items[Mapping[str, int]]) -> tuple[Step, ...]:
        """All that a role does with these sizes, tile indices and work items, in order."""
        found: list[Step] = []
        for node, own in _follow(body, dict(values), items):
            found.append(self._step(node, own))
            if len(found) > MOST_STEPS:
                raise Untraceable(f"more than {MOST_STEPS} steps at {dict(values)}")
        return tuple(found)

    def _step(self, node: Leaf | Synchronisation, values: dict[str, int]) -> Step:
        if isinstance(node, Wait | Arrive):
            first = value_of(node.rank, values | {WARPGROUP: 0})
            return Step(node, dict(values), (), (first,), node.rank.coefficient(WARPGROUP))
        if isinstance(node, Expect):
            return Step(node, dict(values), (), (value_of(node.rank, values),))
        if isinstance(node, Acquire | Release):
            return Step(node, dict(values), (), (value_of(node.value, values), value_of(node.tile, values)))
        if isinstance(node, Ordering):
            return Step(node, {}, (), ())
        touched = self.known.get(id(node))
        if touched is None:
            touched = self.known[id(node)] = accesses(node)
        return Step(node, dict(values), touched, tuple(value_of(a.region.rank, values) for a in touched))


def _floor(quotient: Quotient, values: Mapping[str, int]) -> int:
    return value_of(quotient.numerator, values) // quotient.divisor


def _follow(
    node: Node, values: dict[str, int], items: Items[Mapping[str, int]]
) -> Iterator[tuple[Leaf | Synchronisation, dict[str, int]]]:
    """Counters are moved on in `values` itself; what a loop or a `let` names is taken away behind it."""
    match node:
        case Sequence(children):
            for child in children:
                yield from _follow(child, values, items)
        case Loop(variable, lower, upper, step, body):
            first, last = max(_floor(q, values) for q in lower), min(_floor(q, values) for q in upper)
            for number in range(first, last + 1, step):
                yield from _within(body, values, {variable: number}, items)
        case Let(variable, value, body):
            yield from _within(body, values, {variable: _floor(value, values)}, items)
        case When(conditions, then, otherwise):
            holds = all((v == 0 if c.equality else v >= 0) for c in conditions for v in (value_of(c.affine, values),))
            chosen = then if holds else otherwise
            if chosen is not None:
                yield from _follow(chosen, values, items)
        case ForEachItem(variable, body, first, step):
            for number, item in list(enumerate(items))[first::step]:
                yield from _within(body, values, {**item, variable: number}, items)
        case Counter(variable, body):
            yield from _within(body, values, {variable: 0}, items)
        case Advance(variable, by):
            if variable not in values:
                raise Untraceable(f"{variable} is advanced, which nothing counts here")
            values[variable] += _floor(by, values)
        case Copy() | Fill() | Multiply() | Map() | Reduce() | HandWritten() | Ordering():
            yield node, values
        case _:
            assert_never(node)


def _within(
    body: Node, values: dict[str, int], names: Mapping[str, int], items: Items[Mapping[str, int]]
) -> Iterator[tuple[Leaf | Synchronisation, dict[str, int]]]:
    outside = {name: values.get(name) for name in names}
    values.update(names)
    yield from _follow(body, values, items)
    for name, before in outside.items():
        if before is None:
            del values[name]
        else:
            values[name] = before
