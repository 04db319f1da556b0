"""Warp-level matrix instructions."""

from __future__ import annotations

from isa.availability import since
from isa.derive import fragment_count, fragment_type
from isa.operands import OperandKind, Role
from isa.rows import Operand, family, flag, line, slot, table, word


def _fragment(name: str) -> Operand:
    role = Role.WRITE if name == "d" else Role.READ
    return Operand(name, role, OperandKind.REGISTER, fragment_type(name), fragment_count(name))


FRAGMENTS = tuple(_fragment(name) for name in "dabc")
SYNC, ALIGNED = word("sync"), word("aligned")
ROW, COL = slot("alayout", "row"), slot("blayout", "col")
LAYOUT_A, LAYOUT_B = slot("alayout", "row col"), slot("blayout", "row col")

VOLTA = (
    SYNC, ALIGNED, slot("shape", "m8n8k4"), LAYOUT_A, LAYOUT_B, slot("dtype", "f16 f32"), slot("atype", "f16"),
    slot("btype", "f16"), slot("ctype", "f16 f32"),
)  # fmt: skip
SHAPES = "m8n8k4 m8n8k16 m16n8k4 m16n8k8 m16n8k16 m16n8k32"
TYPED = (
    SYNC, ALIGNED, slot("shape", SHAPES), ROW, COL, flag("satfinite"), slot("dtype", "f16 f32 f64 s32"),
    slot("atype", "f16 bf16 tf32 f64 s8 u8 e4m3 e5m2"), slot("btype", "f16 bf16 tf32 f64 s8 u8 e4m3 e5m2"),
    slot("ctype", "f16 f32 f64 s32"),
)  # fmt: skip
COMBINATIONS = table(
    "shape satfinite dtype atype btype ctype",
    (since("6.5", 75), "m16n8k8", "-", "f16", "f16", "f16", "f16"),
    (since("6.5", 75), "m16n8k8", "-", "f32", "f16", "f16", "f32"),
    (since("7.0", 80), "m16n8k16", "-", "f16", "f16", "f16", "f16"),
    (since("7.0", 80), "m16n8k16", "-", "f32", "f16", "f16", "f32"),
    (since("7.0", 80), "m16n8k8 m16n8k16", "-", "f32", "bf16", "bf16", "f32"),
    (since("7.0", 80), "m16n8k4 m16n8k8", "-", "f32", "tf32", "tf32", "f32"),
    (since("7.0", 80), "m8n8k4", "-", "f64", "f64", "f64", "f64"),
    (since("7.8", 90), "m16n8k4 m16n8k8 m16n8k16", "-", "f64", "f64", "f64", "f64"),
    (since("6.5", 75), "m8n8k16", "- satfinite", "s32", "s8 u8", "s8 u8", "s32"),
    (since("7.0", 80), "m16n8k16 m16n8k32", "- satfinite", "s32", "s8 u8", "s8 u8", "s32"),
    (since("8.4", 89), "m16n8k32", "-", "f32", "e4m3 e5m2", "e4m3 e5m2", "f32"),
)

FAMILIES = (
    family(
        "mma",
        line(
            *VOLTA, operands=FRAGMENTS, since=since("6.4", 70),
            rules=(table("dtype ctype", (since("6.4", 70), "f32", "f16 f32"), (since("6.4", 70), "f16", "f16")),),
        ),
        line(*TYPED, operands=FRAGMENTS, rules=(COMBINATIONS,)),
        about="D = A * B + C over a warp",
    ),
)  # fmt: skip
