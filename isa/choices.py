"""What is still open in the lines of an instruction when its first words are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from isa.availability import ALWAYS, Availability
from isa.rows import ABSENT, ANY_WORD, Constraint, Family, Line, Operand, Rule, Slot, Table
from isa.targets import Target

Combination = tuple[tuple[str, ...], Availability]


@frozen(eq=False)
class OpenLine:
    """A line whose slots before `at` are settled: `words` has what they hold. `target` drops what it does not have."""

    family: Family
    line: Line
    at: int
    words: Mapping[str, str]
    target: Target | None

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """All that may exclude a combination of words."""
        return (*self.line.constraints, *self.family.rules)

    @property
    def settled(self) -> frozenset[str]:
        """The names of slots that are decided, those left empty and those that the line does not have among them."""
        return frozenset({name for each in self.constraints for name in each.names}) - {
            slot.name for slot in self.line.slots[self.at :]
        }

    @property
    def availability(self) -> Availability:
        """Where the line exists with the words that it has."""
        since = self.line.since
        for slot in self.line.slots[: self.at]:
            if slot.name in self.words:
                since = since & slot.choices[self.words[slot.name]]
        for slot in self.line.slots[self.at :]:
            if not slot.optional:
                since = since & _any_of(slot)
        for each in self.constraints:
            judged = each.judge(self.words, self.settled)
            since = since & judged if judged is not None else since
        return since

    def possible(self) -> bool:
        """True if the words can be completed, on the target where there is one."""
        if any(each.judge(self.words, self.settled) is None for each in self.constraints):
            return False
        if not self._had(self.availability):
            return False
        return all(slot.optional or self.choices(slot) for slot in self.line.slots[self.at :])

    def choices(self, slot: Slot) -> tuple[str, ...]:
        """The words that an open slot may hold as far as one table alone tells."""
        words = [word for word, since in slot.choices.items() if self._had(since)]
        for each in self.constraints:
            if isinstance(each, Table) and slot.name in each.slots:
                place = each.slots.index(slot.name)
                cells = [cells[place] for since, cells in self._rows(each) if self._had(since)]
                words = [word for word in words if any(word in cell or ANY_WORD in cell for cell in cells)]
            if isinstance(each, Rule):
                words = [word for word in words if self._allowed(each, slot, word)]
        return tuple(words)

    def _allowed(self, rule: Rule, slot: Slot, word: str) -> bool:
        return rule.judge({**self.words, slot.name: word}, self.settled | {slot.name}) is not None

    def _rows(self, table: Table) -> list[tuple[Availability, tuple[frozenset[str], ...]]]:
        return [row for row in table.rows if self._fits(table, row[1])]

    def _fits(self, table: Table, cells: tuple[frozenset[str], ...]) -> bool:
        for name, cell in zip(table.slots, cells, strict=True):
            word = self.words.get(name, ABSENT)
            if name in self.settled and word not in cell and (word == ABSENT or ANY_WORD not in cell):
                return False
        return True

    def _had(self, since: Availability) -> bool:
        return self.target is None or since.least_version(self.target) is not None

    def forced(self) -> dict[str, str]:
        """The words that it has, and those of open slots that leave no choice."""
        words = dict(self.words)
        for slot in self.line.slots[self.at :]:
            if not slot.optional and len(choices := self.choices(slot)) == 1:
                words[slot.name] = choices[0]
        return words

    def is_open(self, name: str) -> bool:
        """True for the name of a slot that is not settled yet and leaves a choice."""
        return name not in self.forced() and any(slot.name == name for slot in self.line.slots[self.at :])

    def spelling(self) -> str:
        """The line with the words that it has: `<slot>` for an open one with a choice, braces around the optional."""
        held = [self.words[slot.name] for slot in self.line.slots[: self.at] if slot.name in self.words]
        name = ".".join([self.family.opcode, *held])
        for slot in self.line.slots[self.at :]:
            words = self.choices(slot)
            if words:
                shown = words[0] if len(words) == 1 else f"<{slot.name}>"
                name += f"{{.{shown}}}" if slot.optional else f".{shown}"
        told = ", ".join(_printed(each) for each in self.line.operands if self.may_stand(each))
        return f"{name} {told}".rstrip()

    def open_choices(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The open slots with more than one word, and their words."""
        for slot in self.line.slots[self.at :]:
            words = self.choices(slot)
            if len(words) > 1:
                yield slot.name, words

    def may_stand(self, operand: Operand) -> bool:
        """True if the words that it has do not rule the operand out."""
        open_names = {slot.name for slot in self.line.slots[self.at :] if self.choices(slot)}
        return all(name in self.words or name in open_names for name in operand.when)

    def dated(self) -> Iterator[tuple[str, Availability]]:
        """The words of open slots that need more than the line does."""
        for slot in self.line.slots[self.at :]:
            for word in self.choices(slot):
                if slot.choices[word] is not ALWAYS:
                    yield f".{word}", slot.choices[word]

    def combinations(self) -> Iterator[tuple[tuple[str, ...], tuple[Combination, ...]]]:
        """The tables with more than one open slot: names of these slots, and the rows that the words leave."""
        open_names = [slot.name for slot in self.line.slots[self.at :]]
        for table in self.constraints:
            if not isinstance(table, Table):
                continue
            places = [place for place, name in enumerate(table.slots) if name in open_names]
            rows = [row for row in self._rows(table) if self._had(row[0])]
            if len(places) > 1 and len(rows) > 1:
                shown = [(tuple(_cell(cells[place]) for place in places), since) for since, cells in rows]
                yield tuple(table.slots[place] for place in places), tuple(dict.fromkeys(shown))


def _any_of(slot: Slot) -> Availability:
    found, *rest = slot.choices.values()
    for each in rest:
        found = found | each
    return found


def _cell(cell: frozenset[str]) -> str:
    return " ".join("any" if each == ANY_WORD else each for each in sorted(cell))


def _printed(operand: Operand) -> str:
    name = f"[{operand.name}]" if operand.kind.value in ("address", "tensor coordinate") else operand.name
    return f"{{{name}}}" if operand.optional else name


def open_lines(family: Family, words: tuple[str, ...], target: Target | None) -> Iterator[OpenLine]:
    """The lines of a family that the words of a name can begin, each as far as they reach."""
    start = len(family.opcode.split("."))
    for line in family.lines:
        seen: set[int] = set()
        for at, chosen in _reached(line.slots, 0, words[start:], {}):
            found = OpenLine(family, line, at, chosen, target)
            if at not in seen and found.possible():
                seen.add(at)
                yield found


def _reached(
    slots: tuple[Slot, ...], at: int, words: tuple[str, ...], chosen: dict[str, str]
) -> Iterator[tuple[int, dict[str, str]]]:
    if not words:
        yield at, chosen
        return
    if at == len(slots):
        return
    slot = slots[at]
    if words[0] in slot.choices:
        yield from _reached(slots, at + 1, words[1:], {**chosen, slot.name: words[0]})
    if slot.optional:
        yield from _reached(slots, at + 1, words, chosen)
