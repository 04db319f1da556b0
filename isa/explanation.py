"""What a name of PTX means, as a value and in print."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from enum import Enum

from attrs import frozen

from isa.availability import Availability
from isa.operands import OperandKind, Role

_FORMS_IN_PRINT, _ROWS_IN_PRINT, _WIDTH = 24, 40, 96


class Subject(Enum):
    """What sort of thing is explained."""

    INSTRUCTION = "instruction"
    SPECIAL_REGISTER = "special register"
    DIRECTIVE = "directive"
    SPACE = "state space"
    TYPE = "type"
    MODIFIER = "modifier"


class UnknownName(LookupError):
    """Nothing has this name; `close` are names that are spelled much like it."""

    def __init__(self, name: str, reason: str, close: tuple[str, ...]) -> None:
        self.name, self.reason, self.close = name, reason, close
        super().__init__(reason + (f"; perhaps: {', '.join(close)}" if close else ""))


@frozen
class ExplainedOperand:
    """An operand: its name, whether it is read or written, what may stand there, in words."""

    name: str
    role: Role
    kind: OperandKind
    type: str
    notes: tuple[str, ...]


@frozen
class ExplainedTable:
    """Which words go together, one combination a row, each with where it exists."""

    slots: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], Availability], ...]


@frozen
class ExplainedForm:
    """One line of the manual's syntax, where it exists, and what is left open: in `spelling` `<slot>` is one of the
    words that `choices` has for it, `dated` are the words that need more than the line, `tables` what goes together.
    """

    spelling: str
    availability: Availability
    choices: tuple[tuple[str, tuple[str, ...]], ...]
    operands: tuple[ExplainedOperand, ...]
    dated: tuple[tuple[str, Availability], ...]
    tables: tuple[ExplainedTable, ...]


@frozen
class Explanation:
    """What a name means. `section` is the manual's, `following` the words that may come next (empty: the name may end),
    `longer` the opcodes that begin with the name, or the components of a special register, each with what it is.
    `str` prints it, long lists cut.
    """

    name: str
    subject: Subject
    about: str
    section: str
    availability: Availability
    forms: tuple[ExplainedForm, ...] = ()
    following: tuple[str, ...] = ()
    longer: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows of a table as lines of text, the columns as wide as they must be."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _lines(explanation: Explanation) -> Iterator[str]:
    yield f"{explanation.name}: {explanation.about}" if explanation.about else explanation.name
    facts: list[tuple[str, ...]] = [("manual", explanation.section), ("exists", str(explanation.availability))]
    if explanation.following:
        first, *more = textwrap.wrap(
            " ".join(f".{each}" if each else "(end)" for each in explanation.following), _WIDTH
        )
        facts += [("next", first), *(("", line) for line in more)]
    yield from (f"  {line}" for line in aligned([*facts, *(("", note) for note in explanation.notes)]))
    if explanation.longer:
        yield ""
        yield from (f"  {line}" for line in aligned(list(explanation.longer)))
    before: tuple[ExplainedOperand, ...] | None = None
    for form in explanation.forms[:_FORMS_IN_PRINT]:
        yield ""
        yield from _form(form, before)
        before = form.operands
    if (left := len(explanation.forms) - _FORMS_IN_PRINT) > 0:
        yield f"\n... and {left} more forms: name more words to see them"


def _form(form: ExplainedForm, before: tuple[ExplainedOperand, ...] | None) -> Iterator[str]:
    yield form.spelling
    facts: list[tuple[str, ...]] = [("", "exists", str(form.availability))]
    for slot, words in form.choices:
        first, *more = textwrap.wrap(" ".join(f".{word}" for word in words), _WIDTH)
        facts += [("", f"<{slot}>", first), *(("", "", line) for line in more)]
    if form.operands == before:
        facts.append(("", "operands", "as above"))
    else:
        facts += [("", each.name, _operand(each)) for each in form.operands]
    facts += [("", word, f"since {since}") for word, since in form.dated]
    yield from (f"  {line}" for line in aligned(facts))
    for table in form.tables:
        rows = [(*cells, str(since)) for cells, since in table.rows[:_ROWS_IN_PRINT]]
        yield from (f"      {line}" for line in aligned([(*table.slots, ""), *rows]))
        if (left := len(table.rows) - _ROWS_IN_PRINT) > 0:
            yield f"      ... and {left} more rows"


_ROLES = {Role.READ: "read", Role.WRITE: "written", Role.BOTH: "read and written"}


def _operand(operand: ExplainedOperand) -> str:
    of_type = f" of {operand.type}" if operand.type else ""
    return ", ".join([f"{_ROLES[operand.role]}: {operand.kind.value}{of_type}", *operand.notes])
