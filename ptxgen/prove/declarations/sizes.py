"""Sizes that a text tells of its program and of its buffers, which all else in it decides."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Severity
from ptxgen.tile import Buffer, Program, Space


def size_faults(program: Program) -> Iterator[Finding]:
    """Numbers that are told otherwise than they follow."""
    if not program.told:
        return
    wanted = {("the program", "warps"): program.warps, ("the program", "shared bytes"): program.shared_bytes}
    wanted |= {(each.name, unit): count for each in program.buffers for unit, count in _sizes(each)}
    for told in program.told:
        count = wanted.get((told.subject, told.unit))
        if count is not None and count != told.count:
            text = f"{told.subject} has {count} {told.unit}, not {told.count}: leave the number to what is declared"
            yield Finding("declaration.size", Severity.ERROR, text, told.line)


def _sizes(buffer: Buffer) -> Iterator[tuple[str, int]]:
    if buffer.space is Space.SHARED:
        yield "bytes", buffer.slot_bytes * buffer.depth
    if buffer.space is Space.REGISTERS:
        yield "values a lane", buffer.distribution.value_count * buffer.depth
