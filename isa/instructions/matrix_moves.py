"""Matrices between shared memory and the fragments of a warp: `ldmatrix`, `stmatrix`, `movmatrix`."""

from __future__ import annotations

from isa.availability import since
from isa.derive import matrices_count
from isa.instructions.matrix import ALIGNED, SYNC
from isa.instructions.vocabulary import ADDRESS, FAMILY, SPECIFIC, register, written
from isa.operands import OperandKind, Role
from isa.rows import Operand, family, flag, line, slot, word
from isa.types import b32

NUMBER = slot("num", "x1 x2 x4")
TWO = NUMBER.of("x1", "x2")
TRANS_MAYBE, TRANS = flag("trans"), word("trans")
SPACE = slot("space", "shared shared::cta", shared__cta=since("7.8")).maybe
PACKED = (slot("dst_fmt", "b8x16"), slot("src_fmt", "b6x16_p32 b4x16_p64"))

BYTES_SINCE = since("8.6", SPECIFIC) | since("8.8", FAMILY)
_LOADED = (Operand("r", Role.WRITE, OperandKind.REGISTER, b32, matrices_count()), ADDRESS)
_STORED = (ADDRESS, Operand("r", Role.READ, OperandKind.REGISTER, b32, matrices_count()))
_TALL, _SQUARE = slot("shape", "m8n16"), slot("shape", "m16n16")

FAMILIES = (
    family(
        "ldmatrix",
        line(SYNC, ALIGNED, slot("shape", "m8n8"), NUMBER, TRANS_MAYBE, SPACE, slot("type", "b16"), operands=_LOADED,
             since=since("6.5", 75)),
        line(SYNC, ALIGNED, _SQUARE, TWO, TRANS, SPACE, slot("type", "b8"), operands=_LOADED, since=BYTES_SINCE),
        line(SYNC, ALIGNED, _TALL, NUMBER, SPACE, *PACKED, operands=_LOADED, since=BYTES_SINCE),
        line(SYNC, ALIGNED, _SQUARE, TWO, TRANS, SPACE, *PACKED, operands=_LOADED, since=BYTES_SINCE),
        line(SYNC, ALIGNED, _TALL, NUMBER, SPACE, slot("dst_fmt", "s8"), slot("src_fmt", "s4"), operands=_LOADED,
             since=since("9.4", "sm_90a", SPECIFIC, FAMILY)),
        about="load matrices from shared memory into fragments, a row from each lane's address",
    ),
    family(
        "stmatrix",
        line(SYNC, ALIGNED, slot("shape", "m8n8"), NUMBER, TRANS_MAYBE, SPACE, slot("type", "b16"), operands=_STORED,
             since=since("7.8", 90)),
        line(SYNC, ALIGNED, slot("shape", "m16n8"), NUMBER, TRANS, SPACE, slot("type", "b8"), operands=_STORED,
             since=BYTES_SINCE),
        about="store fragments into matrices in shared memory",
    ),
    family(
        "movmatrix",
        line(SYNC, ALIGNED, slot("shape", "m8n8"), TRANS, slot("type", "b16"), since=since("7.8", 75),
             operands=(written("d", b32), register("a", b32))),
        about="transpose a matrix held by a warp",
    ),
)  # fmt: skip
