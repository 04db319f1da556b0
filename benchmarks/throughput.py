"""The plot of TFLOP/s by shape, from the table of microseconds in README.md: `python -m benchmarks.throughput`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

HERE = Path(__file__).parent
README, PLOT = HERE / "README.md", HERE / "throughput.svg"
ROW = re.compile(r"\| (\d+), (\d+), (\d+) \|(.+)\|$", re.MULTILINE)
SIDES = {
    "ptxgen": (0, "#1b6ca8"), "cuBLAS": (2, "#7fb069"), "cuBLASLt": (3, "#e6aa68"), "torch.compile": (5, "#b07aa1"),
    "unfused": (4, "#bbbbbb"),
}  # fmt: skip
"""The columns that are drawn, and how."""
LEFT, RIGHT, BASE, HEIGHT, MOST, STEP = 52, 1050, 324.0, 296.0, 800, 100
SHARE, BAR, MIDDLE = 0.8, 0.93, 0.55


@frozen
class Row:
    """A shape, the microseconds of each column, and the two figures that follow from them as they stand there."""

    shape: tuple[int, int, int]
    microseconds: tuple[float, ...]
    rate: float
    share: float

    def rate_of(self, column: int) -> float:
        """TFLOP/s of a column."""
        m, n, k = self.shape
        return 2 * m * n * k / self.microseconds[column] / 1e6


def rows_of(readme: str) -> tuple[Row, ...]:
    """The rows of the table of shapes."""
    found = []
    for m, n, k, cells in ROW.findall(readme):
        *times, rate, share = map(float, cells.split("|"))
        found.append(Row((int(m), int(n), int(k)), tuple(times), rate, share))
    return tuple(found)


def drawn(rows: tuple[Row, ...]) -> str:
    """The plot."""
    bars = (line for place, row in enumerate(rows) for line in _bars(place, row, rows))
    return "\n".join([*_frame(), *bars, "</svg>\n"])


def _frame() -> Iterator[str]:
    yield '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1060 420" font-family="sans-serif" font-size="11">'
    yield '<rect width="100%" height="100%" fill="white"/>'
    for rate in range(0, MOST + 1, STEP):
        y = BASE - HEIGHT * rate / MOST
        line = f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y}" y2="{y}" stroke="#ddd"/>'
        yield f'{line}<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{rate}</text>'
    yield '<text x="8" y="16">TFLOP/s, f16 with bias and ReLU, one H200</text>'
    for place, (name, (_, colour)) in enumerate(SIDES.items()):
        x = 540 + 105 * place
        key = f'<rect x="{x}" y="7" width="11" height="11" fill="{colour}"/>'
        yield f'{key}<text x="{x + 16}" y="17">{name}</text>'


def _bars(place: int, row: Row, rows: tuple[Row, ...]) -> Iterator[str]:
    slot = (RIGHT - LEFT) / len(rows)
    each, left = slot * SHARE / len(SIDES), LEFT + slot * (place + (1 - SHARE) / 2)
    shape = "x".join(map(str, row.shape))
    for number, (name, (column, colour)) in enumerate(SIDES.items()):
        rate = row.rate_of(column)
        height = HEIGHT * rate / MOST
        bar = f'x="{left + number * each:.1f}" y="{BASE - height:.1f}" width="{each * BAR:.1f}" height="{height:.1f}"'
        yield f'<rect {bar} fill="{colour}"><title>{shape} {name} {rate:.0f}</title></rect>'
    at = f"translate({LEFT + slot * (place + MIDDLE):.1f},{BASE + 10}) rotate(-40)"
    yield f'<text transform="{at}" text-anchor="end">{shape}</text>'


if __name__ == "__main__":
    PLOT.write_text(drawn(rows_of(README.read_text(encoding="utf-8"))), encoding="utf-8")
