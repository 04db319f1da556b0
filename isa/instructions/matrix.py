"""Warp-level multiply-accumulate: `mma`, dense and sparse, with and without scaled blocks."""

from __future__ import annotations

from isa.availability import Availability, since
from isa.derive import fragment_count, fragment_type, metadata_selectors, scale_bytes
from isa.instructions.vocabulary import register, value
from isa.operands import OperandKind, Range, Role
from isa.rows import Constraint, Line, Operand, Slot, family, flag, line, rule, slot, table, word
from isa.types import b32, u16


def _fragment(name: str, *, untyped: bool = False) -> Operand:
    role = Role.WRITE if name == "d" else Role.READ
    return Operand(name, role, OperandKind.REGISTER, fragment_type(name), fragment_count(name), untyped=untyped)


FRAGMENTS = tuple(_fragment(name) for name in "dabc")
SCALED_FRAGMENTS = tuple(_fragment(name, untyped=name in "ab") for name in "dabc")
METADATA = (
    Operand("e", Role.READ, OperandKind.REGISTER, b32),
    Operand("f", Role.READ, OperandKind.IMMEDIATE, domain=metadata_selectors()),
)


def _selector(name: str, threads: int) -> Operand:
    """Where the scales lie: the first byte of them in a register, and the lanes of four that hold them."""
    parts = (value("byte", u16, scale_bytes()), value("thread", u16, Range(0, threads - 1)))
    return Operand(f"selector_{name}", Role.READ, OperandKind.REGISTER, u16, 2, immediates=True, parts=parts)


SCALES = (
    register("scale_a", b32), _selector("a", 2), register("scale_b", b32), _selector("b", 4),
)  # fmt: skip
SYNC, ALIGNED = word("sync"), word("aligned")
ROW, COL = slot("alayout", "row"), slot("blayout", "col")
LAYOUT_A, LAYOUT_B = slot("alayout", "row col"), slot("blayout", "row col")
SPARSITY = slot("sparsity", "sp sp::ordered_metadata", sp__ordered_metadata=since("8.5", 80))
ORDERED = SPARSITY.of("sp::ordered_metadata")
ACCUMULATED = slot("dtype", "f16 f32 f64 s32"), slot("ctype", "f16 f32 f64 s32")
_ELEMENTS = "f16 bf16 tf32 f64 s8 u8 s4 u4 e4m3 e5m2"
MULTIPLIED = slot("atype", _ELEMENTS), slot("btype", _ELEMENTS)
_TINY = "e4m3 e5m2 e3m2 e2m3 e2m1"
TINY = slot("atype", _TINY), slot("btype", _TINY)
FAMILY_12X = since("8.7", "sm_120a") | since("8.8", "sm_120f sm_121a sm_121f")
SPECIFIC_12X = since("8.7", "sm_120a sm_121a")

VOLTA = (
    SYNC, ALIGNED, slot("shape", "m8n8k4"), LAYOUT_A, LAYOUT_B, slot("dtype", "f16 f32"), slot("atype", "f16"),
    slot("btype", "f16"), slot("ctype", "f16 f32"),
)  # fmt: skip


def _typed(shapes: str) -> tuple[Slot, ...]:
    return (
        SYNC, ALIGNED, slot("shape", shapes), ROW, COL, flag("satfinite"),
        ACCUMULATED[0], *MULTIPLIED, ACCUMULATED[1],
    )  # fmt: skip


_T, _A = since("6.5", 75), since("7.0", 80)
_F8 = since("8.7", 89)
DENSE = table(
    "shape satfinite dtype atype btype ctype",
    (_T, "m16n8k8", "-", "f16", "f16", "f16", "f16"),
    (_T, "m16n8k8", "-", "f32", "f16", "f16", "f32"),
    (_A, "m16n8k16", "-", "f16", "f16", "f16", "f16"),
    (_A, "m16n8k16", "-", "f32", "f16", "f16", "f32"),
    (_A, "m16n8k8 m16n8k16", "-", "f32", "bf16", "bf16", "f32"),
    (_A, "m16n8k4 m16n8k8", "-", "f32", "tf32", "tf32", "f32"),
    (_A, "m8n8k4", "-", "f64", "f64", "f64", "f64"),
    (since("7.8", 90), "m16n8k4 m16n8k8 m16n8k16", "-", "f64", "f64", "f64", "f64"),
    (_T, "m8n8k16", "- satfinite", "s32", "s8 u8", "s8 u8", "s32"),
    (_A, "m16n8k16 m16n8k32", "- satfinite", "s32", "s8 u8", "s8 u8", "s32"),
    (_T, "m8n8k32", "- satfinite", "s32", "s4 u4", "s4 u4", "s32"),
    (_A, "m16n8k32 m16n8k64", "- satfinite", "s32", "s4 u4", "s4 u4", "s32"),
    (since("8.4", 89), "m16n8k32", "-", "f32", "e4m3 e5m2", "e4m3 e5m2", "f32"),
    (_F8, "m16n8k16", "-", "f32", "e4m3 e5m2", "e4m3 e5m2", "f32"),
    (_F8, "m16n8k16 m16n8k32", "-", "f16", "e4m3 e5m2", "e4m3 e5m2", "f16"),
)
_S = since("7.1", 80)
SPARSE = table(
    "sparsity shape satfinite dtype atype btype ctype",
    (_S, "*", "m16n8k16 m16n8k32", "-", "f16", "f16", "f16", "f16"),
    (_S, "*", "m16n8k16 m16n8k32", "-", "f32", "f16", "f16", "f32"),
    (_S, "*", "m16n8k16 m16n8k32", "-", "f32", "bf16", "bf16", "f32"),
    (_S, "*", "m16n8k8 m16n8k16", "-", "f32", "tf32", "tf32", "f32"),
    (_S, "*", "m16n8k32 m16n8k64", "- satfinite", "s32", "s8 u8", "s8 u8", "s32"),
    (_S, "*", "m16n8k64 m16n8k128", "- satfinite", "s32", "s4 u4", "s4 u4", "s32"),
    (since("8.4", 89), "*", "m16n8k64", "-", "f32", "e4m3 e5m2", "e4m3 e5m2", "f32"),
    (FAMILY_12X, "sp::ordered_metadata", "m16n8k64", "-", "f16", "e4m3 e5m2", "e4m3 e5m2", "f16"),
)
_XOR, _AND = since("7.0", 80), since("7.1", 80)
SINGLE_BIT = table(
    "shape bitop",
    (since("7.0", 75), "m8n8k128", "xor"),
    (_AND, "m8n8k128", "and"),
    (_XOR, "m16n8k128 m16n8k256", "xor"),
    (_AND, "m16n8k128 m16n8k256", "and"),
)
SCALED = table(
    "kind scale_vec stype atype btype",
    (FAMILY_12X, "kind::mxf8f6f4", "- scale_vec::1X", "ue8m0", _TINY, _TINY),
    (FAMILY_12X, "kind::mxf4", "- scale_vec::2X", "ue8m0", "e2m1", "e2m1"),
    (FAMILY_12X, "kind::mxf4nvf4", "scale_vec::2X", "ue8m0", "e2m1", "e2m1"),
    (FAMILY_12X, "kind::mxf4nvf4", "scale_vec::4X", "ue4m3", "e2m1", "e2m1"),
    (since("9.1", "sm_120a sm_120f sm_121a sm_121f"), "kind::mxf4nvf4", "scale_vec::4X", "ue8m0", "e2m1", "e2m1"),
)
_SAME_ACCUMULATOR = table("dtype ctype", (FAMILY_12X, "f16", "f16"), (FAMILY_12X, "f32", "f32"))
_SPARSE_FOURS = rule(when={"kind": "kind::mxf4 kind::mxf4nvf4"}, since=SPECIFIC_12X)
_F32 = slot("dtype", "f32"), slot("ctype", "f32")
SCALE_VEC = slot("scale_vec", "scale_vec::1X scale_vec::2X scale_vec::4X").maybe
SCALE_TYPE = slot("stype", "ue8m0 ue4m3")


def _of_kind(
    shape: str,
    kind: tuple[Slot, ...],
    types: tuple[Slot, ...],
    operands: tuple[Operand, ...],
    *rules: Constraint,
    before: tuple[Slot, ...] = (),
) -> tuple[Line, Line]:
    """The kind behind the layouts, as the manual prints it now, and before the shape, as it did and CUTLASS does."""
    shaped = (slot("shape", shape), ROW, COL)
    return (
        line(*before, SYNC, ALIGNED, *shaped, *kind, *types, operands=operands, rules=rules),
        line(*before, SYNC, ALIGNED, *kind, *shaped, *types, operands=operands, rules=rules),
    )


def _scaled(kinds: str, shape: str, *rules: Constraint, sparse: bool) -> tuple[Line, Line]:
    kind = (slot("kind", kinds), word("block_scale"), SCALE_VEC)
    types = (_F32[0], *TINY, _F32[1], SCALE_TYPE)
    operands = (*SCALED_FRAGMENTS, *METADATA, *SCALES) if sparse else (*SCALED_FRAGMENTS, *SCALES)
    return _of_kind(shape, kind, types, operands, SCALED, *rules, before=(ORDERED,) if sparse else ())


_FOURS = "kind::mxf4 kind::mxf4nvf4"
_PLAIN_KIND = (slot("kind", "kind::f8f6f4"),)
_PLAIN_TYPES = (slot("dtype", "f16 f32"), *TINY, slot("ctype", "f16 f32"))
_VOLTA_SINCE: Availability = since("6.4", 70)

FAMILIES = (
    family(
        "mma",
        line(
            *VOLTA, operands=FRAGMENTS, since=_VOLTA_SINCE,
            rules=(table("dtype ctype", (_VOLTA_SINCE, "f32", "f16 f32"), (_VOLTA_SINCE, "f16", "f16")),),
        ),
        line(
            *_typed("m8n8k4 m8n8k16 m8n8k32 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64"),
            operands=FRAGMENTS, rules=(DENSE,),
        ),
        line(
            SYNC, ALIGNED, slot("shape", "m8n8k128 m16n8k128 m16n8k256"), ROW, COL, slot("dtype", "s32"),
            slot("atype", "b1"), slot("btype", "b1"), slot("ctype", "s32"), slot("bitop", "xor and"), word("popc"),
            operands=FRAGMENTS, rules=(SINGLE_BIT,),
        ),
        *_of_kind("m16n8k32", _PLAIN_KIND, _PLAIN_TYPES, FRAGMENTS, _SAME_ACCUMULATOR),
        *_scaled("kind::mxf8f6f4", "m16n8k32", sparse=False),
        *_scaled(_FOURS, "m16n8k64", sparse=False),
        line(
            SPARSITY, *_typed("m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128"),
            operands=(*FRAGMENTS, *METADATA), rules=(SPARSE,),
        ),
        *_of_kind(
            "m16n8k64", _PLAIN_KIND, _PLAIN_TYPES, (*FRAGMENTS, *METADATA), _SAME_ACCUMULATOR, before=(ORDERED,)
        ),
        *_scaled("kind::mxf8f6f4", "m16n8k64", sparse=True),
        *_scaled(_FOURS, "m16n8k128", _SPARSE_FOURS, sparse=True),
        about="D = A * B + C over a warp",
    ),
)  # fmt: skip
