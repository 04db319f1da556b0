"""Where the shared buffers of a program lie in one pool of bytes."""

from __future__ import annotations

from attrs import frozen

from ptxgen.tile import Buffer, Program, Space

ACCESS_BYTES = 16


@frozen
class SharedPool:
    """`offsets` gives each shared buffer's first byte by name; the pool starts at a multiple of `align` bytes.

    A ring of depth 2 starts at a multiple of its own size, so that one XOR with the bytes of a slot changes slots.
    """

    offsets: dict[str, int]
    size_bytes: int
    align: int


def alignment(buffer: Buffer) -> int:
    """The bytes of which a shared buffer's offset is a multiple."""
    return max(ACCESS_BYTES, buffer.slot_bytes * (2 if buffer.depth == 2 else 1))


def pooled(program: Program) -> SharedPool:
    """The pool of all shared buffers: the strictest alignment first, then in order of definition."""
    shared = [buffer for buffer in program.buffers if buffer.space is Space.SHARED]
    offsets: dict[str, int] = {}
    end = 0
    for buffer in sorted(shared, key=lambda each: -alignment(each)):
        start = -(-end // alignment(buffer)) * alignment(buffer)
        offsets[buffer.name] = start
        end = start + buffer.slot_bytes * buffer.depth
    return SharedPool(offsets, end, max(map(alignment, shared), default=ACCESS_BYTES))
