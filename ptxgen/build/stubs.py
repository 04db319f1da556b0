"""The stub that lets editors complete and type checkers check `k.ld.shared.v4.f32(...)`, made from the rows.

`python -m ptxgen.build.stubs` writes it anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from attrs import field, frozen

from isa.availability import Availability
from isa.instructions import FAMILIES
from isa.rows import Constraint, Family, Line
from ptxgen.build.chain import attribute_of
from ptxgen.build.specials import STEADY, VECTORS

STUB = Path(__file__).with_name("instructions.pyi")
_HEAD = '''"""What may follow what in an instruction's name: made by `python -m ptxgen.build.stubs`, not by hand."""

from collections.abc import Sequence
from typing import Any, SupportsFloat, SupportsIndex, TypeAlias

from ptxgen.build.handles import Label, Not, Offset, SpecialRegister, Symbol, Value, _SinkType

Scalar: TypeAlias = Value | Not | Offset | Symbol | Label | SpecialRegister | SupportsFloat | SupportsIndex | _SinkType
Source: TypeAlias = Scalar | Sequence[Scalar | Sequence[Scalar]]
Destination: TypeAlias = Value | _SinkType

class Call:
    def __call__(self, *sources: Source, into: Destination | Sequence[Destination | None] | None = None) -> Any: ...
'''


@frozen(cache_hash=True)
class _Item:
    """A place in a line: `at` counts its slots, negative ones the words of the opcode still to come.

    `chosen` are the words in slots that some constraint names.
    """

    family: Family
    line: Line
    at: int
    chosen: tuple[tuple[str, str], ...]
    since: Availability

    def constraints(self) -> tuple[Constraint, ...]:
        """All that may exclude a combination of words."""
        return (*self.line.constraints, *self.family.rules)


_Edges = tuple[tuple[str, int], ...]


class _Automaton:
    """The least automaton of all names: states are shared by equal continuations."""

    def __init__(self) -> None:
        self.states: dict[tuple[bool, _Edges], int] = {}
        self._known: dict[frozenset[_Item], int | None] = {}

    def state(self, items: frozenset[_Item]) -> int | None:
        """The number of the state with these items; None where no name can end from here."""
        if items not in self._known:
            self._known[items] = None
            further: dict[str, set[_Item]] = {}
            for item in items:
                for word, after in _steps(item):
                    further.setdefault(word, set()).add(after)
            edges = [(word, self.state(frozenset(further[word]))) for word in sorted(further)]
            ends = any(map(_ends, items))
            kept = tuple((word, number) for word, number in edges if number is not None)
            if ends or kept:
                self._known[items] = self.states.setdefault((ends, kept), len(self.states))
        return self._known[items]


@cache
def _steps(item: _Item) -> tuple[tuple[str, _Item], ...]:
    return tuple(_walked(item))


def _walked(item: _Item) -> Iterator[tuple[str, _Item]]:
    if item.at < 0:
        word = item.family.opcode.split(".")[item.at]
        yield word, _Item(item.family, item.line, item.at + 1, item.chosen, item.since)
        return
    named = frozenset[str]().union(*map(_names, item.constraints()))
    for place in range(item.at, len(item.line.slots)):
        slot = item.line.slots[place]
        for word, available in slot.choices.items():
            since = item.since & available
            chosen = (*item.chosen, (slot.name, word)) if slot.name in named else item.chosen
            after = _Item(item.family, item.line, place + 1, chosen, since)
            if since.terms and _open(after, named):
                yield word, after
        if not slot.optional:
            return


def _open(item: _Item, named: frozenset[str]) -> bool:
    decided = frozenset(named - {slot.name for slot in item.line.slots[item.at :]})
    return all(_judged(each, _of(item, each), decided & _names(each)) is not None for each in item.constraints())


def _of(item: _Item, constraint: Constraint) -> tuple[tuple[str, str], ...]:
    named = _names(constraint)
    return tuple(each for each in item.chosen if each[0] in named)


@cache
def _names(constraint: Constraint) -> frozenset[str]:
    return frozenset(constraint.names)


@cache
def _judged(
    constraint: Constraint, chosen: tuple[tuple[str, str], ...], decided: frozenset[str] | None
) -> Availability | None:
    return constraint.judge(dict(chosen), decided)


@cache
def _ends(item: _Item) -> bool:
    if item.at < 0 or not all(slot.optional for slot in item.line.slots[item.at :]):
        return False
    since = item.since
    for each in item.constraints():
        judged = _judged(each, _of(item, each), None)
        if judged is None:
            return False
        since = since & judged
    return bool(since.terms)


@frozen
class Names:
    """The automaton: for each state whether a name may end there and its edges; the opcodes' first words lead in."""

    states: tuple[tuple[bool, _Edges], ...] = field(repr=False)
    first: tuple[tuple[str, int], ...]

    def following(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """As `isa.forms.continuations`: what may follow the words, `""` where the name may end."""
        ends, edges = False, self.first
        for word in words:
            ends, edges = self.states[dict(edges)[word]]
        return (*([""] if ends else []), *(word for word, _ in edges))


def names() -> Names:
    """The least automaton of all instructions' names."""
    made = _Automaton()
    first = []
    for word in sorted(FAMILIES):
        items = frozenset(
            _Item(family, line, 1 - len(family.opcode.split(".")), (), line.since)
            for family in FAMILIES[word]
            for line in family.lines
        )
        number = made.state(items)
        if number is not None:
            first.append((word, number))
    return Names(tuple(made.states), tuple(first))


def stub() -> str:
    """The text of `instructions.pyi`."""
    found = names()
    lines = [_HEAD.rstrip()]
    for number, (ends, edges) in enumerate(found.states):
        if edges:
            lines += ["", f"class W{number}{'(Call)' if ends else ''}:"]
            lines += [f"    {attribute_of(word)}: {_class(found, after)}" for word, after in edges]
    lines += ["", "class Axes:", "    x: Value", "    y: Value", "    z: Value", "", "class Instructions:"]
    lines += [f"    {attribute_of(word)}: {_class(found, after)}" for word, after in found.first]
    special = sorted({name.partition(".")[0] for name in STEADY})
    lines += [f"    {name}: {'Axes' if name in VECTORS else 'Value'}" for name in special]
    return "\n".join([*lines, ""])


def _class(found: Names, number: int) -> str:
    return f"W{number}" if found.states[number][1] else "Call"


if __name__ == "__main__":
    STUB.write_text(stub())
