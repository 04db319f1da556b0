"""Copies and reductions between shared memory and the memory of other devices, named by endpoint and offset."""

from __future__ import annotations

from isa.availability import ALWAYS, since
from isa.instructions.vocabulary import (
    COUNTED_HANDLE,
    DATACENTRE,
    HANDLE,
    L2_HINT,
    POLICY,
    immediate,
    value,
)  # fmt: skip
from isa.operands import OneOf, OperandKind, Range, Role
from isa.rows import Line, Operand, Slot, Table, family, flag, line, rule, slot, table, word
from isa.types import u16, u32

SINCE = since("9.3", 100)
NARROW_SINCE = since("9.3", "sm_120a sm_120f sm_121a sm_121f", DATACENTRE)
ASYNC, MULTIMEM, REPORT = word("async"), flag("multimem"), word("mbarrier::report::fabric")
IN_SHARED = slot("space", "shared::cta")
BY_BYTES, BY_SIXTEENS = word("mbarrier::complete_tx::bytes"), word("mbarrier::complete_tx::16B")
COUNTED = word("counted::bytes")
RELAXED, SYSTEM = slot("sem", "relaxed"), slot("scope", "sys")
WHOLE = slot("type", "b128")

_SHARED = Operand("shared", Role.READ, OperandKind.ADDRESS)
_OPERAND = Operand("operand", Role.READ, OperandKind.ADDRESS)
_MBAR = Operand("mbar", Role.READ, OperandKind.ADDRESS)
_BYTES = value("bytes", u32, Range(0, 2**32 - 16, 16))
_ALL_LANES = immediate("membermask", OneOf((0xFFFFFFFF,)))
_SENT = (_SHARED, _BYTES, _MBAR)

_LOGIC = "and or xor"
_WHOLE_NUMBERS = "u32 s32 u64 s64"
REDUCTION, REDUCED = slot("op", f"{_LOGIC} min max add"), slot("type", f"b32 b64 {_WHOLE_NUMBERS} f16 bf16 f32 f64")
REDUCTIONS = table(
    "op type",
    (ALWAYS, _LOGIC, "b32 b64"),
    (ALWAYS, "min max", f"{_WHOLE_NUMBERS} f16 bf16"),
    (ALWAYS, "add", "u32 u64 f16 bf16 f32 f64"),
)
PULLED = slot("type", f"b32 b64 {_WHOLE_NUMBERS} f16 bf16 e4m3 e5m2 f32")
PULLS = table(
    "op acc type",
    (ALWAYS, _LOGIC, "-", "b32 b64"),
    (ALWAYS, "min max", "-", f"{_WHOLE_NUMBERS} f16 bf16"),
    (NARROW_SINCE, "min max", "-", "e4m3 e5m2"),
    (ALWAYS, "add", "-", "u32 u64 f16 bf16 f32"),
    (NARROW_SINCE, "add", "acc::f16", "e4m3 e5m2"),
    (NARROW_SINCE, "add", "acc::f32", "f16 bf16"),
)
EXCHANGED = slot("type", f"b32 b64 b128 {_WHOLE_NUMBERS} f16x2 bf16x2 f32 f64")
EXCHANGES = table(
    "op type",
    (ALWAYS, _LOGIC, "b32 b64"),
    (ALWAYS, "min max", f"{_WHOLE_NUMBERS} f16x2 bf16x2"),
    (ALWAYS, "add", "u32 u64 f16x2 bf16x2 f32 f64"),
    (ALWAYS, "exch cas", "b32 b64 b128"),
)
PLAIN = (BY_SIXTEENS, REPORT)


def _sent(completion: tuple[Slot, ...], *tail: Slot, operands: tuple[Operand, ...], rules: tuple[Table, ...]) -> Line:
    """From shared memory to one endpoint, or to all replicas."""
    head = (ASYNC, MULTIMEM, IN_SHARED, *completion)
    return line(*head, L2_HINT, RELAXED, SYSTEM, *tail, operands=(*operands, POLICY), rules=rules)


FAMILIES = (
    family(
        "fabric.try_get",
        line(ASYNC, IN_SHARED, BY_BYTES, REPORT, L2_HINT, RELAXED, SYSTEM, WHOLE,
             operands=(_SHARED, HANDLE, _BYTES, _MBAR, POLICY)),
        rules=(rule(since=SINCE),),
        about="copy a run of bytes from an endpoint to shared memory",
    ),
    family(
        "fabric.try_put",
        _sent(PLAIN, WHOLE, operands=(HANDLE, *_SENT), rules=()),
        _sent((*PLAIN, word("cp_mask")), WHOLE, operands=(HANDLE, *_SENT, value("byte_mask", u16)), rules=()),
        _sent((*PLAIN, COUNTED), WHOLE, operands=(COUNTED_HANDLE, *_SENT), rules=()),
        rules=(rule(since=SINCE),),
        about="copy a run of bytes from shared memory to an endpoint",
    ),
    family(
        "fabric.try_red",
        _sent(PLAIN, REDUCTION, REDUCED, operands=(HANDLE, *_SENT), rules=(REDUCTIONS,)),
        _sent((*PLAIN, COUNTED), REDUCTION, REDUCED, operands=(COUNTED_HANDLE, *_SENT), rules=(REDUCTIONS,)),
        rules=(rule(since=SINCE),),
        about="combine a run of elements from shared memory into those of an endpoint",
    ),
    family(
        "fabric.try_pullred",
        line(ASYNC, word("multimem"), IN_SHARED, BY_BYTES, REPORT, RELAXED, SYSTEM, REDUCTION,
             slot("acc", "acc::f16 acc::f32").maybe, PULLED, word("sync"), rules=(PULLS,),
             operands=(_SHARED, HANDLE, _BYTES, _MBAR, _ALL_LANES)),
        rules=(rule(since=SINCE),),
        about="combine what all replicas hold into shared memory",
    ),
    family(
        "fabric.try_atom",
        line(ASYNC, IN_SHARED, BY_SIXTEENS, REPORT, RELAXED, SYSTEM, slot("op", f"{_LOGIC} min max add exch cas"),
             EXCHANGED, operands=(HANDLE, _SHARED, _OPERAND, _MBAR), rules=(EXCHANGES,)),
        rules=(rule(since=since("9.4", 100)),),
        about="modify memory of an endpoint at once; the old value comes to shared memory",
    ),
    family(
        "fabric.submit",
        line(flag("op_restrict::fetching"), since=SINCE),
        about="let the operations issued before begin",
    ),
    family(
        "fabric.wait",
        line(slot("restrict", "sync_restrict::reads"), since=SINCE),
        about="wait until submitted operations have read shared memory",
    ),
)  # fmt: skip
