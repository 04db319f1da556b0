"""The rows, one file per chapter of the manual. `FAMILIES` maps the first word of an opcode to its families."""

from __future__ import annotations

from isa.instructions import (
    comparison,
    control,
    floating,
    half,
    integer,
    logic,
    matrix,
    mixed,
    movement,
    synchronisation,
)  # fmt: skip
from isa.rows import Family

CHAPTERS: tuple[tuple[Family, ...], ...] = (
    integer.FAMILIES, floating.FAMILIES, half.FAMILIES, mixed.FAMILIES, comparison.FAMILIES, logic.FAMILIES, movement.FAMILIES,
    control.FAMILIES, synchronisation.FAMILIES, matrix.FAMILIES,
)  # fmt: skip


def _grouped() -> dict[str, tuple[Family, ...]]:
    grouped: dict[str, tuple[Family, ...]] = {}
    for chapter in CHAPTERS:
        for family in chapter:
            first = family.opcode.partition(".")[0]
            grouped[first] = (*grouped.get(first, ()), family)
    return grouped


FAMILIES: dict[str, tuple[Family, ...]] = _grouped()
