"""Figures that are told in several places are the same: the table of shapes, its plot, and what is said of both."""

from __future__ import annotations

import re
from statistics import median

import pytest

from benchmarks.throughput import PLOT, README, SIDES, Row, drawn, rows_of

ROWS = rows_of(README.read_text(encoding="utf-8"))
OURS, LIBRARY = SIDES["ptxgen"][0], SIDES["cuBLASLt"][0]
BOUND_BY_TENSOR_CORES = 6


def within_rounding(told: float, one: float, digits: int, *rounded: float) -> bool:
    """Whether a figure told with some digits may be the one that follows from rounded microseconds."""
    off = sum((0.5 if each >= 1000 else 0.05) / each for each in rounded)
    return abs(told - one) <= one * off + 0.5 / float(10**digits) + 1e-9


def test_the_plot_is_drawn_from_the_table() -> None:
    assert PLOT.read_text(encoding="utf-8") == drawn(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "x".join(map(str, row.shape)))
def test_what_follows_from_microseconds_is_what_is_told(row: Row) -> None:
    ours, library = row.microseconds[OURS], row.microseconds[LIBRARY]
    assert within_rounding(row.rate, row.rate_of(OURS), 0, ours)
    assert within_rounding(row.share, library / ours, 3, ours, library)


def test_what_is_said_of_the_table_is_what_it_tells() -> None:
    shares = [row.share for row in ROWS]
    said = re.search(r"the median is ([\d.]+)\.\s", README.read_text(encoding="utf-8"))
    assert said is not None
    assert float(said[1]) == pytest.approx(median(shares[:BOUND_BY_TENSOR_CORES]), abs=5e-4)
    front = (README.parents[1] / "README.md").read_text(encoding="utf-8")
    said = re.search(r"it has ([\d.]+) to ([\d.]+) of the speed of cuBLASLt at fourteen shapes", front)
    assert said is not None
    assert (float(said[1]), float(said[2])) == (round(min(shares), 2), round(max(shares), 2))
    assert len(shares) == 14
