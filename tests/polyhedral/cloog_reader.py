"""Reads scanning inputs of CLooG, sets and relations written as matrices or in isl's notation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from attrs import evolve, frozen

from polyhedral import Affine, Constraint, Set, System, parse_map, parse_set, var

BOXES: dict[str, dict[int, int]] = {"constbound": {1: 60}, "equality2": {0: 100}, "vasilache": {0: 1, 1: 1}}
"""Inputs with too many instances to run: the greatest value kept of dimensions, by their number."""


class NotTaken(Exception):
    """The input uses a notation that this reader does not know."""


@frozen
class Scanning:
    """One input: what is known of the parameters, and for each statement a set over its times and iterators.

    `widths` says how many of the dimensions are times; without scattering they are the iterators again.
    """

    params: tuple[str, ...]
    context: Set
    statements: tuple[Set, ...]
    widths: tuple[int, ...]

    def within(self, box: Mapping[int, int]) -> Scanning:
        """The input with only the instances whose dimensions are at most what `box` says of their numbers."""
        cut = tuple(
            points.intersect(*(var(d) <= box[k] for k, d in enumerate(points.dims[width:]) if k in box))
            for points, width in zip(self.statements, self.widths, strict=True)
        )
        return evolve(self, statements=cut)


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

    def braced(self) -> str | None:
        """The text up to the closing brace where the next line starts isl's notation."""
        if self.place >= len(self.lines) or not re.match(r"[\[{]", self.lines[self.place][0]):
            return None
        text = ""
        while "}" not in text:
            text += " " + " ".join(self.line())
        return text

    def names(self, some: bool) -> None:
        if self.place < len(self.lines) and self.count() and some:
            self.line()


@frozen
class _Matrix:
    rows: list[list[int]]
    columns: int
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
        found.append(_Matrix(rows, header[1], header[4] if len(header) == 6 else 0))
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
        domains.append(_domain(lines, params))
        lines.numbers()
    lines.names(any(d.dims for d in domains))
    count = lines.count() if lines.place < len(lines.lines) else 0
    statements, widths = [], []
    for number, domain in enumerate(domains):
        if number < count:
            times, relations = _scattering(lines, domain, params)
        else:
            times = tuple(f"t{k}" for k in range(len(domain.dims)))
            relations = (System.of(*(var(a).equals(var(b)) for a, b in zip(times, domain.dims, strict=True))),)
        cases = context.disjoint().pieces if len(context.pieces) > 1 else (System(),)
        pieces = tuple(p & r & c for p in domain.pieces for r in relations for c in cases)
        statements.append(Set((*times, *domain.dims), pieces).normalised())
        widths.append(len(times))
    return Scanning(params, context, tuple(statements), tuple(widths))


def _domain(lines: _Lines, params: tuple[str, ...]) -> Set:
    text = lines.braced()
    if text is None:
        matrices = _matrices(lines)
        dims = _names("x", matrices[0], len(params))
        return Set(dims, tuple(_system(m, dims, params) for m in matrices))
    ((_, points),) = parse_set(text).parts
    return points.rename({d: f"x{k}" for k, d in enumerate(points.dims)})


def _scattering(lines: _Lines, domain: Set, params: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[System, ...]]:
    """The names of the times and the conditions on them and the iterators of the domain."""
    text = lines.braced()
    if text is None:
        matrices = _matrices(lines)
        times = _names("t", matrices[0], len(params) + len(domain.dims))
        return times, tuple(_system(m, (*times, *domain.dims), params) for m in matrices)
    ((_, _, relation),) = parse_map(text).parts
    times = tuple(f"t{k}" for k in range(len(relation.out_dims)))
    names = dict(zip((*relation.in_dims, *relation.out_dims), (*domain.dims, *times), strict=True))
    return times, relation.as_set().rename(names).pieces


def _context(lines: _Lines) -> tuple[Set, tuple[str, ...]]:
    text = lines.braced()
    if text is not None:
        ((_, context),) = parse_set(text).parts
        params = tuple(re.findall(r"\w+", text.partition("->")[0])) if "->" in text else ()
    else:
        matrices = _matrices(lines)
        params = tuple(f"p{k}" for k in range(matrices[0].columns - 2 - matrices[0].locals))
        context = Set((), tuple(_system(m, (), params) for m in matrices))
    lines.names(bool(params))
    return context, params
