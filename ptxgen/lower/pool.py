"""Where the shared buffers of a program lie in one pool of bytes."""

from __future__ import annotations

from attrs import frozen

from ptxgen.tile import Program, Space

ALIGNMENT_BYTES = 128


@frozen
class SharedPool:
    """`offsets` gives each shared buffer's first byte by name; the pool starts at a multiple of `align` bytes.

    No address relies on more: on sm_90 the driver starts static shared memory 1024 bytes into the window, whatever
    alignment the text asks for.
    """

    offsets: dict[str, int]
    size_bytes: int
    align: int


def pooled(program: Program) -> SharedPool:
    """The pool of all shared buffers in order of definition."""
    offsets: dict[str, int] = {}
    end = 0
    for buffer in program.buffers:
        if buffer.space is Space.SHARED:
            start = -(-end // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
            offsets[buffer.name] = start
            end = start + buffer.slot_bytes * buffer.depth
    return SharedPool(offsets, end, ALIGNMENT_BYTES)
