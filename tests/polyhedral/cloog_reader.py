"""Reads scanning inputs in CLooG's matrix notation."""

from __future__ import annotations

import re
from pathlib import Path

from attrs import frozen

from polyhedral import Affine, Constraint, Set, System, var


class NotTaken(Exception):
    """The input uses a notation that this reader does not know."""


@frozen
class Scanning:
    """One input: what is known of the parameters, and for each statement a set over its times and iterators.

    `widths` says how many of the dimensions are times; without scattering they are the iterators again.
    """

    params: tuple[str, ...]
    context: System
    statements: tuple[Set, ...]
    widths: tuple[int, ...]


class _Lines:
    def __init__(self, text: str) -> None:
        lines = [re.sub(r"#.*", "", line).split() for line in text.splitlines()]
        self.lines = [line for line in lines if line]
        self.place = 0

    def line(self) -> list[str]:
        if self.place >= len(self.lines):
            raise NotTaken("the input ends early")
        self.place += 1
        return self.lines[self.place - 1]

    def numbers(self) -> list[int]:
        line = self.line()
        if not all(re.fullmatch(r"[-+]?\d+", word) for word in line):
            raise NotTaken(f"{' '.join(line)!r} where numbers are due")
        return [int(word) for word in line]

    def count(self) -> int:
        found = self.numbers()
        if len(found) != 1:
            raise NotTaken(f"{found} where one number is due")
        return found[0]

    def names(self, some: bool) -> None:
        if self.place < len(self.lines) and self.count() and some:
            self.line()


@frozen
class _Matrix:
    rows: list[list[int]]
    outputs: int | None
    locals: int


def _matrices(lines: _Lines) -> list[_Matrix]:
    header = lines.numbers()
    count = 1
    if len(header) == 1:
        count, header = header[0], lines.numbers()
    found = []
    for number in range(count):
        if number:
            header = lines.numbers()
        if len(header) not in (2, 6):
            raise NotTaken(f"{header} where the size of a matrix is due")
        rows = [lines.numbers() for _ in range(header[0])]
        if any(len(row) != header[1] for row in rows):
            raise NotTaken("a row of another width than its matrix")
        found.append(_Matrix(rows, header[2] if len(header) == 6 else None, header[4] if len(header) == 6 else 0))
    return found


def _system(matrix: _Matrix, names: tuple[str, ...], params: tuple[str, ...]) -> System:
    own = tuple(f"e{k}" for k in range(matrix.locals))
    parts = []
    for row in matrix.rows:
        affine = Affine.of(dict(zip((*names, *own, *params), row[1:-1], strict=True)), row[-1])
        parts.append(Constraint(affine, equality=row[0] == 0))
    return System.of(*parts, exists=own)


def _names(letter: str, matrix: _Matrix, others: int) -> tuple[str, ...]:
    width = len(matrix.rows[0]) - 2 - others - matrix.locals if matrix.rows else 0
    return tuple(f"{letter}{k}" for k in range(width))


def read(path: Path) -> Scanning:
    """The input at `path`; NotTaken where it is in another notation."""
    lines = _Lines(path.read_text())
    lines.line()
    context, params = _context(lines)
    domains = []
    for _ in range(lines.count()):
        matrices = _matrices(lines)
        dims = _names("x", matrices[0], len(params))
        domains.append(Set(dims, tuple(_system(m, dims, params) for m in matrices)))
        lines.numbers()
    lines.names(any(d.dims for d in domains))
    count = lines.count() if lines.place < len(lines.lines) else 0
    statements, widths = [], []
    for number, domain in enumerate(domains):
        if number < count:
            matrices = _matrices(lines)
            times = _names("t", matrices[0], len(params) + len(domain.dims))
            relations = [_system(m, (*times, *domain.dims), params) for m in matrices]
        else:
            times = tuple(f"t{k}" for k in range(len(domain.dims)))
            relations = [System.of(*(var(a).equals(var(b)) for a, b in zip(times, domain.dims, strict=True)))]
        pieces = tuple(p & r for p in domain.pieces for r in relations)
        statements.append(Set((*times, *domain.dims), pieces).normalised())
        widths.append(len(times))
    return Scanning(params, context, tuple(statements), tuple(widths))


def _context(lines: _Lines) -> tuple[System, tuple[str, ...]]:
    header = lines.numbers()
    if len(header) == 1:
        header = lines.numbers()
    rows = [lines.numbers() for _ in range(header[0])]
    matrix = _Matrix(rows, None, header[4] if len(header) == 6 else 0)
    params = tuple(f"p{k}" for k in range(header[1] - 2 - matrix.locals))
    system = _system(matrix, (), params)
    lines.names(bool(params))
    return system, params
