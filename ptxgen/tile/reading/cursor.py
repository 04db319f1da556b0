"""Lines by their indentation, and a place in one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

from attrs import define, field

from ptxgen.compute import SourceLine
from ptxgen.errors import PtxSyntaxError

NAME = re.compile(r"[A-Za-z_][\w.#]*(?://\d+)?(?: of \d+)?")
LABEL = re.compile(r"(?:turns of )?[A-Za-z_][\w.#+]*")
INTEGER = re.compile(r"-?\d+")
NUMBER = re.compile(r"-?(?:inf|nan|\d+(?:\.\d*)?(?:e[-+]?\d+)?)")
BOX = re.compile(r"scalar|\d+(?:x\d+)*")
INDENT = 2
WORD = re.compile(r"\w")
DIMENSION = re.compile(r"d\d+")
Chosen = TypeVar("Chosen")


@define(eq=False)
class Line:
    """A line of the text, counted from 1, with the lines below it that are indented further."""

    file: str
    number: int
    column: int
    text: str
    below: list[Line] = field(factory=list)

    @property
    def place(self) -> SourceLine:
        """The line as nodes keep it."""
        return SourceLine(self.file, self.number, "")

    def cursor(self) -> Cursor:
        """The line from its first word on."""
        return Cursor(self, self.column)

    def alone(self) -> None:
        """PtxSyntaxError where lines are indented below this one."""
        if self.below:
            below = self.below[0].cursor()
            raise below.failure(
                f"nothing is indented below {self.text.strip()!r}", "a line that begins where this one does"
            )


def lines_of(text: str, file: str) -> list[Line]:
    """The outermost lines of a text. Empty lines and those that begin with `#` are passed over.

    PtxSyntaxError for an indentation that is none of two more, or one of those before.
    """
    top = Line(file, 0, -INDENT, "")
    stack = [top]
    for number, raw in enumerate(text.splitlines(), start=1):
        stripped = raw.lstrip(" ")
        if not stripped.strip() or stripped.startswith("#"):
            continue
        line = Line(file, number, len(raw) - len(stripped), raw.rstrip())
        while stack[-1].column >= line.column:
            stack.pop()
        if line.column != stack[-1].column + INDENT:
            raise line.cursor().failure(
                "this line belongs to none above it", f"{stack[-1].column + INDENT} spaces before it"
            )
        stack[-1].below.append(line)
        stack.append(line)
    return top.below


@define(eq=False)
class Cursor:
    """A place in a line. What is taken must be there: else PtxSyntaxError says what was wanted."""

    line: Line
    at: int

    def failure(self, message: str, wanted: str = "") -> PtxSyntaxError:
        """The error that something else stands here than was wanted."""
        line = self.line
        return PtxSyntaxError(
            message,
            line=line.number,
            column=self.at + 1,
            wanted=wanted,
            file=line.file,
            text=line.text,
            code="tile.syntax",
        )

    @property
    def rest(self) -> str:
        """What is left of the line."""
        return self.line.text[self.at :]

    def skip(self) -> None:
        while self.at < len(self.line.text) and self.line.text[self.at] == " ":
            self.at += 1

    def sees(self, word: str) -> bool:
        """Whether the line goes on with a word or a mark."""
        self.skip()
        rest = self.rest
        if not rest.startswith(word):
            return False
        return not (WORD.match(word[-1]) and WORD.match(rest[len(word) : len(word) + 1]))

    def took(self, word: str) -> bool:
        """Goes past a word or a mark where it is there."""
        if not self.sees(word):
            return False
        self.at += len(word)
        return True

    def take(self, *words: str) -> None:
        """Goes past words and marks that must be there."""
        for word in words:
            if not self.took(word):
                raise self.failure(self.found(), repr(word))

    def found(self) -> str:
        """What stands here, in words."""
        return f"cannot read {self.rest!r}" if self.rest else "the line ends too early"

    def match(self, pattern: re.Pattern[str], wanted: str) -> str:
        """The text of a pattern that must be here."""
        self.skip()
        found = pattern.match(self.line.text, self.at)
        if found is None:
            raise self.failure(self.found(), wanted)
        self.at = found.end()
        return found.group()

    def name(self, wanted: str = "a name") -> str:
        return self.match(NAME, wanted)

    def label(self, wanted: str) -> str:
        """A name that may join several by `+`."""
        return self.match(LABEL, wanted)

    def integer(self, wanted: str = "a whole number") -> int:
        return int(self.match(INTEGER, wanted))

    def number(self, wanted: str = "a number") -> float:
        return float(self.match(NUMBER, wanted))

    def box(self, wanted: str = "extents as 128x32") -> tuple[int, ...]:
        found = self.match(BOX, wanted)
        return () if found == "scalar" else tuple(map(int, found.split("x")))

    def dimension(self) -> int:
        """`d1`."""
        return int(self.match(DIMENSION, "a dimension as d0")[1:])

    def chosen(self, choices: dict[str, Chosen], what: str) -> Chosen:
        """What one of several words stands for; of words that begin alike the longest."""
        for word in sorted(choices, key=len, reverse=True):
            if self.took(word):
                return choices[word]
        raise self.failure(self.found(), f"{what}: {', '.join(choices)}")

    def until(self, mark: str, wanted: str) -> str:
        """The text up to a mark, which is passed."""
        self.skip()
        end = self.line.text.find(mark, self.at)
        if end < 0:
            raise self.failure(self.found(), wanted)
        text = self.line.text[self.at : end]
        self.at = end + len(mark)
        return text

    def separated(self, mark: str = ",") -> Iterator[None]:
        """Once for each of several parts with a mark between them."""
        yield None
        while self.took(mark):
            yield None

    def end(self) -> None:
        """PtxSyntaxError where something is left."""
        self.skip()
        if self.rest:
            raise self.failure(f"cannot read {self.rest!r}", "the end of the line")
