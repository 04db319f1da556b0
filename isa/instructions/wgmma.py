"""Multiply-accumulate of a warpgroup: `wgmma`, asynchronous, on sm_90a only."""

from __future__ import annotations

from isa.availability import since
from isa.derive import fragment_type, multiplicand_type, warpgroup_count
from isa.instructions.matrix import ALIGNED, SYNC
from isa.instructions.vocabulary import immediate, register
from isa.operands import OneOf, OperandKind, Range, Role
from isa.rows import Constraint, Line, Operand, Slot, family, flag, line, slot, table, word
from isa.types import b32, pred, u64

COLUMNS = range(8, 257, 8)
INTEGER_COLUMNS = (8, 16, 24, *range(32, 257, 16))
_SINCE, _SPARSE_SINCE = since("8.0", "sm_90a"), since("8.2", "sm_90a")


def _shapes(depth: int, columns: range | tuple[int, ...] = COLUMNS) -> Slot:
    return slot("shape", " ".join(f"m64n{column}k{depth}" for column in columns))


_D = Operand("d", Role.BOTH, OperandKind.REGISTER, fragment_type("d"), warpgroup_count())
_A = Operand("a", Role.READ, OperandKind.REGISTER, multiplicand_type(), 4)
_A_DESCRIPTOR, _B_DESCRIPTOR = register("a_desc", u64), register("b_desc", u64)
_SCALE_D = Operand("scale_d", Role.READ, OperandKind.PREDICATE, pred, negatable=True, immediates=True)
_SIGN = OneOf((-1, 1))
_SIGNS = (immediate("scale_a", _SIGN), immediate("scale_b", _SIGN))
_TRANSPOSED_A, _TRANSPOSED_B = immediate("trans_a", OneOf((0, 1))), immediate("trans_b", OneOf((0, 1)))


def _forms(
    *slots: Slot,
    shared: tuple[Operand, ...] = (),
    registers: tuple[Operand, ...] = (),
    rules: tuple[Constraint, ...] = (),
) -> tuple[Line, Line]:
    """A through a descriptor of shared memory, and A in registers; what follows `scale_d` differs."""
    named = (word("mma_async"), SYNC, ALIGNED, *slots)
    return (
        line(*named, operands=(_D, _A_DESCRIPTOR, _B_DESCRIPTOR, _SCALE_D, *shared), since=_SINCE, rules=rules),
        line(*named, operands=(_D, _A, _B_DESCRIPTOR, _SCALE_D, *registers), since=_SINCE, rules=rules),
    )


def _sparse(
    *slots: Slot,
    pairs: bool,
    shared: tuple[Operand, ...] = (),
    registers: tuple[Operand, ...] = (),
    rules: tuple[Constraint, ...] = (),
) -> tuple[Line, Line]:
    """The same with a sparse A, twice as deep; the metadata lies in two lanes of four where `pairs`, else in all."""
    named = (word("mma_async"), word("sp"), SYNC, ALIGNED, *slots)
    metadata = (register("metadata", b32), immediate("selector", OneOf((0, 1) if pairs else (0,))))
    head = (_B_DESCRIPTOR, *metadata, _SCALE_D)
    return (
        line(*named, operands=(_D, _A_DESCRIPTOR, *head, *shared), since=_SPARSE_SINCE, rules=rules),
        line(*named, operands=(_D, _A, *head, *registers), since=_SPARSE_SINCE, rules=rules),
    )


def _types(result: str, elements: str) -> tuple[Slot, ...]:
    return slot("dtype", result), slot("atype", elements), slot("btype", elements)


_HALVES = table("dtype atype btype", (_SINCE, "f16 f32", "f16", "f16"), (_SINCE, "f32", "bf16", "bf16"))
_MIXED = since("8.4", "sm_90a")
_INTEGERS = table("atype btype", (_SINCE, "s8", "s8"), (_SINCE, "u8", "u8"), (_MIXED, "s8", "u8"), (_MIXED, "u8", "s8"))

FAMILIES = (
    family(
        "wgmma",
        *_forms(_shapes(16), *_types("f16 f32", "f16 bf16"), rules=(_HALVES,),
                shared=(*_SIGNS, _TRANSPOSED_A, _TRANSPOSED_B), registers=(*_SIGNS, _TRANSPOSED_B)),
        *_forms(_shapes(8), *_types("f32", "tf32"), shared=_SIGNS, registers=_SIGNS),
        *_forms(_shapes(32), *_types("f16 f32", "e4m3 e5m2"), shared=_SIGNS, registers=_SIGNS),
        *_forms(_shapes(32, INTEGER_COLUMNS), flag("satfinite"), *_types("s32", "s8 u8"), rules=(_INTEGERS,)),
        *_forms(_shapes(256, INTEGER_COLUMNS), *_types("s32", "b1"), word("and"), word("popc")),
        *_sparse(_shapes(32), *_types("f16 f32", "f16 bf16"), rules=(_HALVES,), pairs=True,
                 shared=(*_SIGNS, _TRANSPOSED_A, _TRANSPOSED_B), registers=(*_SIGNS, _TRANSPOSED_B)),
        *_sparse(_shapes(16), *_types("f32", "tf32"), pairs=True, shared=_SIGNS, registers=_SIGNS),
        *_sparse(_shapes(64), *_types("f16 f32", "e4m3 e5m2"), pairs=False, shared=_SIGNS, registers=_SIGNS),
        *_sparse(_shapes(64, INTEGER_COLUMNS), flag("satfinite"), *_types("s32", "s8 u8"), rules=(_INTEGERS,),
                 pairs=False),
        line(slot("what", "fence commit_group"), SYNC, ALIGNED, since=_SINCE),
        line(word("wait_group"), SYNC, ALIGNED, operands=(immediate("n", Range(0, 7)),), since=_SINCE),
        about="D = A * B + D over a warpgroup, asynchronously; fence, commit and wait for it",
    ),
)  # fmt: skip
