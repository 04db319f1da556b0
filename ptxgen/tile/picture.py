"""A shared-memory access as a picture: which lane touches which bank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import frozen

from ptxgen.tile.buffers import Space
from ptxgen.tile.distribution import LANE_BITS
from ptxgen.tile.leaves import Copy

BANKS = 32
WORD_BYTES = 4
PHASE_BYTES = 128
CELL_WIDTH, CELL_HEIGHT = 22, 18
LEFT, TOP = 70, 52
PHASE_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#eeca3b", "#9d755d")


@frozen
class Word:
    """One 4-byte word of a request: its row of 128 bytes, its bank, the lanes that ask for it and their phase."""

    row: int
    bank: int
    lanes: tuple[int, ...]
    phase: int


def request_words(copy: Copy, warp: int = 0, access: int = 0) -> tuple[Word, ...]:
    """The words that access number `access` of each lane of a warp touches, on the shared side of `copy`.

    A request is served in phases of 128 bytes: 8 lanes of 16 bytes, 16 of 8, or all 32.
    """
    side = copy.source if copy.source.buffer.space is Space.SHARED else copy.destination
    width = side.buffer.element.byte_count
    corner = tuple(origin.constant for origin in side.origin)
    lanes_in_phase = min(1 << LANE_BITS, PHASE_BYTES // (copy.vector * width))
    found: dict[int, list[int]] = {}
    for lane in range(1 << LANE_BITS):
        for value in range(access * copy.vector, (access + 1) * copy.vector):
            place = copy.distribution.coordinate(warp, lane, value)
            offset = side.buffer.layout.offset(tuple(p + c for p, c in zip(place, corner, strict=True)))
            lanes = found.setdefault(offset * width // WORD_BYTES, [])
            if lane not in lanes:
                lanes.append(lane)
    return tuple(
        Word(word // BANKS, word % BANKS, tuple(lanes), lanes[0] // lanes_in_phase)
        for word, lanes in sorted(found.items())
    )


def bank_picture(panels: Iterable[tuple[str, Copy]]) -> str:
    """An SVG of one request in each panel (its title and the copy): columns are the 32 banks, rows 128 bytes of the
    tile, colours the phases, numbers the first lane that asks.

    A phase is free of conflicts when no two cells of its colour stand in one column.
    """
    body: list[str] = []
    top = 0
    for title, copy in panels:
        words = request_words(copy)
        body += [f'<g transform="translate(0,{top})">', *_panel(title, words), "</g>"]
        top += TOP + len({word.row for word in words}) * CELL_HEIGHT + 44
    width = LEFT + BANKS * CELL_WIDTH + 10
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{width}" height="{top}" fill="white"/>', *body, "</svg>"]) + "\n"


def _panel(title: str, words: tuple[Word, ...]) -> Iterator[str]:
    rows = sorted({word.row for word in words})
    yield f'<text x="{LEFT}" y="18" font-size="14">{title}</text>'
    yield from _axes(rows)
    for word in words:
        yield from _cell(word, rows.index(word.row))
    yield from _legend(words, TOP + len(rows) * CELL_HEIGHT + 10)


def _axes(rows: list[int]) -> Iterator[str]:
    for bank in range(0, BANKS, 4):
        x = LEFT + bank * CELL_WIDTH
        yield f'<text x="{x + 2}" y="{TOP - 6}" font-size="10" fill="#666">bank {bank}</text>'
    for place, row in enumerate(rows):
        y = TOP + place * CELL_HEIGHT
        yield f'<text x="4" y="{y + 13}" font-size="10" fill="#666">byte {row * PHASE_BYTES}</text>'
        yield f'<rect x="{LEFT}" y="{y}" width="{BANKS * CELL_WIDTH}" height="{CELL_HEIGHT}" fill="#eee"/>'


def _cell(word: Word, place: int) -> Iterator[str]:
    x, y = LEFT + word.bank * CELL_WIDTH, TOP + place * CELL_HEIGHT
    colour = PHASE_COLOURS[word.phase % len(PHASE_COLOURS)]
    yield f'<rect x="{x}" y="{y}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}" fill="{colour}" stroke="white"/>'
    centre = f'x="{x + CELL_WIDTH // 2}" y="{y + 13}" text-anchor="middle"'
    yield f'<text {centre} font-size="9" fill="white">{word.lanes[0]}</text>'


def _legend(words: tuple[Word, ...], y: int) -> Iterator[str]:
    for place, phase in enumerate(sorted({word.phase for word in words})):
        x, of_phase = LEFT + place * 240, [word.bank for word in words if word.phase == phase]
        worst = max(of_phase.count(bank) for bank in of_phase)
        colour = PHASE_COLOURS[phase % len(PHASE_COLOURS)]
        yield f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 17}" y="{y + 10}" font-size="11">phase {phase}: {worst} words in one bank at most</text>'
