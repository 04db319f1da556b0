"""The rows, one file per chapter of the manual. `FAMILIES` maps the first word of an opcode to its families."""

from __future__ import annotations

from isa.instructions import (
    asynchronous,
    atomic,
    comparison,
    compression,
    control,
    conversion,
    copies,
    fabric,
    floating,
    half,
    integer,
    logic,
    matrix,
    matrix_moves,
    mbarrier,
    memory,
    mixed,
    movement,
    synchronisation,
    tcgen05,
    tensors,
    texture,
    video,
    warp,
    wgmma,
    wmma,
)  # fmt: skip
from isa.rows import Family

CHAPTERS: tuple[tuple[Family, ...], ...] = (
    integer.FAMILIES, floating.FAMILIES, half.FAMILIES, mixed.FAMILIES, comparison.FAMILIES, logic.FAMILIES,
    movement.FAMILIES, conversion.FAMILIES, memory.FAMILIES, asynchronous.FAMILIES, copies.FAMILIES, tensors.FAMILIES,
    compression.FAMILIES, fabric.FAMILIES,
    control.FAMILIES, synchronisation.FAMILIES, mbarrier.FAMILIES, atomic.FAMILIES, warp.FAMILIES, matrix.FAMILIES,
    wmma.FAMILIES, matrix_moves.FAMILIES, wgmma.FAMILIES, tcgen05.FAMILIES, texture.FAMILIES, video.FAMILIES,
)  # fmt: skip


def _grouped() -> dict[str, tuple[Family, ...]]:
    grouped: dict[str, tuple[Family, ...]] = {}
    for chapter in CHAPTERS:
        for family in chapter:
            first = family.opcode.partition(".")[0]
            grouped[first] = (*grouped.get(first, ()), family)
    return grouped


FAMILIES: dict[str, tuple[Family, ...]] = _grouped()
