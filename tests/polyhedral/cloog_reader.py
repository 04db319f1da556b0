"""Reads scanning inputs in CLooG's matrix notation."""

from __future__ import annotations

import re
from pathlib import Path

from attrs import frozen

from polyhedral import Affine, Constraint, Map, Set, System


class NotTaken(Exception):
    """The input uses a notation that this reader does not know."""


@frozen
class Scanning:
    """One input: what is known of the parameters, and for each statement its domain and its times."""

    params: tuple[str, ...]
    context: System
    domains: tuple[Set, ...]
    scatterings: tuple[Map | None, ...]


class _Tokens:
    def __init__(self, text: str) -> None:
        lines = [re.sub(r"#.*", "", line) for line in text.splitlines()]
        self.tokens = " ".join(lines).split()
        self.place = 0

    def word(self) -> str:
        if self.place >= len(self.tokens):
            raise NotTaken("the input ends early")
        self.place += 1
        return self.tokens[self.place - 1]

    def number(self) -> int:
        word = self.word()
        if not re.fullmatch(r"[-+]?\d+", word):
            raise NotTaken(f"{word!r} where a number is due")
        return int(word)

    def peek_is_number(self) -> bool:
        return self.place < len(self.tokens) and re.fullmatch(r"[-+]?\d+", self.tokens[self.place]) is not None


def _matrix(tokens: _Tokens) -> tuple[int, list[list[int]]]:
    height, width = tokens.number(), tokens.number()
    return width, [[tokens.number() for _ in range(width)] for _ in range(height)]


def _system(rows: list[list[int]], names: tuple[str, ...]) -> System:
    parts = []
    for row in rows:
        affine = Affine.of(dict(zip(names, row[1:-1], strict=True)), row[-1])
        parts.append(Constraint(affine, equality=row[0] == 0))
    return System.of(*parts)


def read(path: Path) -> Scanning:
    """The input at `path`; NotTaken where it is in another notation."""
    tokens = _Tokens(path.read_text())
    tokens.word()
    if not tokens.peek_is_number():
        raise NotTaken("a context in isl's notation")
    width, rows = _matrix(tokens)
    params = tuple(f"p{k}" for k in range(width - 2))
    context = _system(rows, params)
    if tokens.number():
        [tokens.word() for _ in params]
    domains = []
    for _ in range(tokens.number()):
        pieces, dims = [], ()
        for _ in range(tokens.number()):
            width, rows = _matrix(tokens)
            dims = tuple(f"x{k}" for k in range(width - 2 - len(params)))
            pieces.append(_system(rows, (*dims, *params)))
        [tokens.number() for _ in range(3)]
        domains.append(Set(dims, tuple(pieces)).normalised())
    if tokens.number():
        [tokens.word() for _ in range(max(len(d.dims) for d in domains))]
    count = tokens.number() if tokens.peek_is_number() else 0
    scatterings: list[Map | None] = [None] * len(domains)
    for number in range(count):
        width, rows = _matrix(tokens)
        own = domains[number].dims
        times = tuple(f"t{k}" for k in range(width - 2 - len(params) - len(own)))
        scatterings[number] = Map(own, times, (_system(rows, (*times, *own, *params)),))
    return Scanning(params, context, tuple(domains), tuple(scatterings))
