"""Where the shared buffers of a program lie in one pool of bytes."""

from __future__ import annotations

from attrs import frozen

from ptxgen.tile import Program, Space

ALIGNMENT_BYTES = 128
PATTERN_BYTES = 1024
BARRIER_BYTES = 8
TICKET_BYTES = 4


@frozen
class SharedPool:
    """`offsets` gives each shared buffer's first byte by name, `barriers` those of each ring, `ticket` that of the
    block's number where it takes it as it begins; the pool starts at a multiple of `align` bytes.

    No address relies on more: on sm_90 the driver starts static shared memory 1024 bytes into the window, whatever
    alignment the text asks for.
    """

    offsets: dict[str, int]
    barriers: dict[str, int]
    size_bytes: int
    align: int
    ticket: int | None = None


def pooled(program: Program) -> SharedPool:
    """The pool of all shared buffers in order of definition, then the barriers of rings, then a ticket. Where copies
    swizzle, tiles start where the pattern of the swizzle does. A buffer with an alias starts where that one does."""
    offsets: dict[str, int] = {}
    align = PATTERN_BYTES if program.boxes else ALIGNMENT_BYTES
    end = 0
    for buffer in program.buffers:
        if buffer.space is Space.SHARED and not buffer.alias:
            start = -(-end // align) * align
            offsets[buffer.name] = start
            end = start + buffer.slot_bytes * buffer.depth
    offsets |= {buffer.name: offsets[buffer.alias] for buffer in program.buffers if buffer.alias}
    barriers: dict[str, int] = {}
    for ring in program.rings:
        barriers[ring.name] = end
        end += 2 * ring.depth * BARRIER_BYTES
    if program.grid.tickets:
        end = -(-end // TICKET_BYTES) * TICKET_BYTES
        return SharedPool(offsets, barriers, end + TICKET_BYTES, align, end)
    return SharedPool(offsets, barriers, end, align)
