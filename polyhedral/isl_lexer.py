"""Words of isl's notation."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORDS = re.compile(
    r"(?P<space>(\s|#[^\n]*|\\\n)+)|(?P<number>\d+)|(?P<name>[A-Za-z_$][A-Za-z_0-9$']*)"
    r"|(?P<string>\"[^\"]*\")"
    r"|(?P<sign>->|<<=|>>=|<<|>>|<=|>=|!=|==|&&|\|\||[-+*/%()\[\]{}<>=,;:!?@])"
)
_SPELLINGS = {"&&": "and", "||": "or", "==": "=", "!": "not", "%": "mod"}


class Word(NamedTuple):
    """One word: its kind (`number`, `name`, `sign`, `string` or `end`), its spelling and its place in the text."""

    kind: str
    text: str
    place: int


class NotationError(ValueError):
    """The text is not in isl's notation, or uses a part of it that is not read here; the message says where."""


def words(text: str) -> list[Word]:
    """The words of `text` and then one of kind `end`; raises NotationError at a character that starts none."""
    found: list[Word] = []
    place = 0
    while place < len(text):
        match = _WORDS.match(text, place)
        if match is None:
            raise NotationError(f"{text[place : place + 20]!r} at {place} starts no word of isl's notation")
        place = match.end()
        kind = str(match.lastgroup)
        if kind != "space":
            spelling = match.group(kind)
            found.append(Word(kind, _SPELLINGS.get(spelling, spelling), match.start()))
    return [*found, Word("end", "", len(text))]


class Words:
    """Words being read from the front."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words(text)
        self.place = 0

    @property
    def next(self) -> Word:
        """The word to be read next."""
        return self.words[self.place]

    def ahead(self, count: int) -> Word:
        """The word `count` places after the next one, or the last."""
        return self.words[min(self.place + count, len(self.words) - 1)]

    def read(self) -> Word:
        """Takes the next word."""
        word = self.next
        self.place = min(self.place + 1, len(self.words) - 1)
        return word

    def take(self, *spellings: str) -> str | None:
        """Takes the next word if it is spelled as one of these."""
        return self.read().text if self.next.text in spellings and self.next.kind != "end" else None

    def expect(self, spelling: str) -> None:
        """Takes a word that must be spelled so."""
        if not self.take(spelling):
            raise self.mistake(f"{spelling!r} is due")

    def mistake(self, what: str) -> NotationError:
        """An error that says what is wrong at the next word."""
        word = self.next
        return NotationError(f"{what} at {word.place}, but the text has {self.text[word.place : word.place + 24]!r}")
