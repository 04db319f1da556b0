"""Copies that move several elements of an array at once: what addresses, strides and extents must be multiples of."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Severity
from ptxgen.prove.declarations.multiples import Known
from ptxgen.tile import Carrier, Copy, Program, Region, Space
from ptxgen.tile.trees import ends_of

LANES = (Carrier.ACCESS, Carrier.LANE_COPY)


def vector_faults(program: Program) -> Iterator[Finding]:
    """Accesses that may not be aligned, or of which a part may lie beyond the end of a row."""
    known = Known(program)
    seen: set[tuple[str, int, tuple[int, ...]]] = set()
    for copy in (node for role in program.roles for node in ends_of(role.body)):
        if not isinstance(copy, Copy) or copy.vector == 1 or copy.carrier not in LANES:
            continue
        for side in (copy.source, copy.destination):
            key = (side.buffer.name, copy.vector, copy.guarded)
            if side.buffer.space is Space.GLOBAL and key not in seen:
                seen.add(key)
                yield from _faults(known, copy, side)


def _faults(known: Known, copy: Copy, side: Region) -> Iterator[Finding]:
    memory, shape = side.buffer.in_memory, copy.distribution.shape
    together = [d for d, stride in enumerate(memory.strides) if stride.is_constant and stride.constant == 1]
    apart = [d for d in range(len(shape)) if d not in together and shape[d] > 1]
    what = f"{copy.op}, {copy.vector} elements at once"
    yield from known.faults(side.buffer, copy.vector * side.buffer.element.byte_count, apart, (what, copy.line))
    for place in set(together) & set(copy.guarded):
        extent = memory.extents[place]
        count = known.divisor(extent)
        if count % copy.vector:
            text = f"rows of {side.buffer.array} have {extent} elements, a multiple of {count}, but {what}, wants"
            line = known.line_of(extent) or copy.line
            yield Finding("declaration.extent", Severity.ERROR, f"{text} {extent} % {copy.vector} == 0", line)
