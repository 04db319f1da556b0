"""The fifth generation of tensor cores: allocation of tensor memory, loads, stores and copies, products, and waits."""

from __future__ import annotations

from collections.abc import Iterator

from isa.availability import ALWAYS, since
from isa.derive import compressed_count, counted, tensor_memory_count
from isa.instructions.copies import MULTICAST_WIDE
from isa.instructions.matrix import ALIGNED, SYNC
from isa.instructions.vocabulary import ADDRESS, RUBIN, immediate, register, value, written_vector
from isa.operands import OperandKind, PowerOfTwo, Range, Role
from isa.rows import Constraint, Line, Operand, Slot, family, flag, line, rule, slot, table, word
from isa.types import b32, f32, pred, u16, u32, u64

_SPECIFIC = "sm_100a sm_101a sm_103a sm_107a sm_110a"
_FAMILY = "sm_100f sm_101f sm_103f sm_107f sm_110f"
TENSOR_CORE = since("8.6", _SPECIFIC) | since("8.8", _FAMILY)
INTEGER_KIND = since("8.6", "sm_100a sm_101a sm_110a")
SCALED_INPUT = since("8.6", "sm_100a sm_103a sm_107a") | since("8.8", "sm_100f sm_103f sm_107f")
SCALED_KIND = TENSOR_CORE
SPECIFIC_ONLY = since("8.6", _SPECIFIC)
BLOCKS = since("8.8", _SPECIFIC, _FAMILY)

CTA_GROUP = slot("cta_group", "cta_group::1 cta_group::2")
ONE_CTA = CTA_GROUP.of("cta_group::1")
_TAKEN = Operand("taddr", Role.READ, OperandKind.ADDRESS, b32)
_COLUMNS = value("ncols", u32, PowerOfTwo(32, 512))
_ALL_COLUMNS = value("ncols", u32, Range(32, 576, 32))
EXCLUSIVE = word("exclusive", since("9.4", _SPECIFIC, _FAMILY))

SHAPE = slot("shape", "16x64b 16x128b 16x256b 32x32b")
SPLIT = slot("shape", "16x32bx2")
REPEATED = slot("num", "x1 x2 x4 x8 x16 x32 x64 x128")
_MOST = (
    rule(when={"shape": "16x128b"}, never={"num": "x128"}),
    rule(when={"shape": "16x256b"}, never={"num": "x64 x128"}),
)
_LOADED = Operand("r", Role.WRITE, OperandKind.REGISTER, b32, tensor_memory_count())
_STORED = Operand("r", Role.READ, OperandKind.REGISTER, b32, tensor_memory_count())
_HALF_SPLIT = immediate("half_split_offset")
_WORD = slot("type", "b32")
REDUCTION = slot("op", "min max")
_INTEGERS = slot("type", "u32 s32")
REDUCED_SINCE = since("8.8", "sm_101a sm_103a sm_110a sm_107a sm_101f sm_103f sm_110f sm_107f")

KINDS = slot(
    "kind", "kind::f16 kind::tf32 kind::f8f6f4 kind::i8 kind::ti16", kind__i8=INTEGER_KIND, kind__ti16=RUBIN
)  # fmt: skip
SCALABLE = KINDS.of("kind::f16", "kind::tf32")
_OPERATIONS = ("fill", "use", "lastuse", "discard")
COLLECTOR_A = slot("collector", " ".join(f"collector::a::{each}" for each in _OPERATIONS)).maybe
COLLECTOR_OF_B = slot(
    "collector_b", " ".join(f"collector::b::{each}" for each in _OPERATIONS),
    **{f"collector__b__{each}": RUBIN for each in _OPERATIONS},
).maybe  # fmt: skip
COLLECTORS = (COLLECTOR_A, COLLECTOR_OF_B)
COLLECTOR_B = slot(
    "collector", " ".join(f"collector::b{number}::{each}" for number in range(4) for each in _OPERATIONS)
).maybe
ASHIFT = flag("ashift")
_SHIFTED = rule(when={"ashift": "*"}, never={"collector": "collector::a::use collector::a::fill"})

BLOCK_KINDS = slot("kind", "kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4", kind__mxf4nvf4=since("8.7"))
VECTOR_SIZE = slot(
    "scale_vec", "scale_vec::1X scale_vec::2X scale_vec::4X block16 block32", block16=BLOCKS, block32=BLOCKS,
    scale_vec__1X=SPECIFIC_ONLY, scale_vec__2X=SPECIFIC_ONLY, scale_vec__4X=SPECIFIC_ONLY,
).maybe  # fmt: skip
_SIZES = table(
    "kind scale_vec",
    (ALWAYS, "kind::mxf8f6f4", "- scale_vec::1X block32"),
    (ALWAYS, "kind::mxf4", "- scale_vec::2X block32"),
    (ALWAYS, "kind::mxf4nvf4", "scale_vec::2X scale_vec::4X block16 block32"),
)

_D = Operand("d_tmem", Role.READ, OperandKind.ADDRESS, b32)
_A_DESCRIPTOR, _A_TMEM = register("a_desc", u64), Operand("a_tmem", Role.READ, OperandKind.ADDRESS, b32)
_B_DESCRIPTOR = register("b_desc", u64)
DECOMPRESSED = word("decompress::lut::b", RUBIN)
_LOOKUP = Operand("lut_tmem", Role.READ, OperandKind.ADDRESS, b32)
_METADATA = Operand("sp_meta_tmem", Role.READ, OperandKind.ADDRESS, b32)
_INSTRUCTION = register("idesc", u32)
_LANES = Operand(
    "disable_output_lane", Role.READ, OperandKind.REGISTER, b32, counted("cta_group", 4, cta_group__2=8), optional=True
)
_ENABLE = Operand("enable_input_d", Role.READ, OperandKind.PREDICATE, pred, negatable=True)
_SCALE_D = immediate("scale_input_d", Range(0, 15))
_SCALES = tuple(Operand(f"scale_{name}_tmem", Role.READ, OperandKind.ADDRESS, b32) for name in "ab")
_ZERO_COLUMNS = register("zero_column_mask_desc", u64).maybe


def _sources(sparse: bool) -> Iterator[tuple[bool, tuple[Operand, ...]]]:
    """The operands through `idesc`, with A described in shared memory, and in tensor memory."""
    metadata = (_METADATA,) if sparse else ()
    for in_memory, a in ((False, _A_DESCRIPTOR), (True, _A_TMEM)):
        yield in_memory, (_D, a, _B_DESCRIPTOR, *metadata, _INSTRUCTION)


def _products(sparse: bool, *scaled_rules: Constraint) -> Iterator[Line]:
    for in_memory, sources in _sources(sparse):
        shift: tuple[Slot, ...] = (ASHIFT,) if in_memory else ()
        masked = (*sources, _LANES, _ENABLE)
        tail = (*shift, *COLLECTORS)
        yield line(CTA_GROUP, KINDS, *tail, operands=masked, since=TENSOR_CORE, rules=(_SHIFTED,))
        yield line(CTA_GROUP, SCALABLE, *tail, operands=(*masked, _SCALE_D), since=SCALED_INPUT, rules=(_SHIFTED,))
        yield line(
            CTA_GROUP, BLOCK_KINDS, word("block_scale"), VECTOR_SIZE, *COLLECTORS, since=SCALED_KIND,
            operands=(*sources, *_SCALES, _ENABLE), rules=(_SIZES, *scaled_rules),
        )  # fmt: skip


def _looked_up() -> Iterator[Line]:
    """Products whose B is decompressed by a table in tensor memory."""
    eights, scaled = KINDS.of("kind::f8f6f4"), BLOCK_KINDS.of("kind::mxf8f6f4")
    for a in (_A_DESCRIPTOR, _A_TMEM):
        sources = (_D, a, _B_DESCRIPTOR, _LOOKUP, _INSTRUCTION)
        yield line(CTA_GROUP, eights, DECOMPRESSED, *COLLECTORS, operands=(*sources, _LANES, _ENABLE))
        yield line(
            CTA_GROUP, scaled, word("block_scale"), DECOMPRESSED, VECTOR_SIZE, *COLLECTORS, rules=(_SIZES,),
            operands=(*sources, *_SCALES, _ENABLE),
        )  # fmt: skip


def _stationary(sparse: bool) -> Iterator[Line]:
    for _, sources in _sources(sparse):
        operands = (*sources, _ENABLE, _ZERO_COLUMNS)
        yield line(ONE_CTA, KINDS, COLLECTOR_B, operands=operands, since=TENSOR_CORE)


_FOURS = rule(when={"kind": "kind::mxf4 kind::mxf4nvf4"}, since=SPECIFIC_ONLY)


FORMATS = (flag("b8x16"), slot("src_fmt", "b6x16_p32 b4x16_p64").maybe)
_BOTH = (
    rule(when={"b8x16": "*"}, only={"src_fmt": "*"}),
    rule(when={"b8x16": "-"}, only={"src_fmt": "-"}),
)
_COPY = (_TAKEN, register("s_desc", u64))
_COMPRESSED = word("spcompress", since("9.4", "sm_107a"))
_FOURS_AT_LEAST = REPEATED.of("x4", "x8", "x16", "x32", "x64", "x128")
_KEPT = (
    written_vector("metadata", b32, compressed_count(32)), written_vector("kept", b32, compressed_count(2)),
)  # fmt: skip
READ_ONLY = flag("sync_restrict::shared::read::mma::a", RUBIN)
MULTICAST = slot(
    "multicast", "multicast::cluster multicast::cluster::16b",
    multicast__cluster__16b=since("9.4", _SPECIFIC, _FAMILY),
)  # fmt: skip
ARRIVAL, CLUSTER = word("mbarrier::arrive::one"), slot("space", "shared::cluster").maybe


def _compressions() -> Iterator[Line]:
    """Loads that keep the two greatest or smallest of every four values, and tell which."""
    head, tail = (SYNC, ALIGNED, SHAPE.of("32x32b"), _FOURS_AT_LEAST, REDUCTION, word("sp::2:4")), (word("b2"),)
    least = slot("type", "f32")
    yield line(
        word("ld"), _COMPRESSED, *head, flag("abs"), least, *tail, operands=(*_KEPT, _TAKEN),
    )  # fmt: skip
    yield line(
        word("ld"), word("red"), _COMPRESSED, *head, flag("abs"), flag("NaN"), least, *tail,
        operands=(*_KEPT, Operand("redval", Role.WRITE, OperandKind.REGISTER, f32), _TAKEN),
    )  # fmt: skip


def _reductions() -> Iterator[Line]:
    """Loads that also give the smallest or largest value of the lane's row."""
    for shape, last in ((SHAPE.of("32x32b"), ()), (SPLIT, (_HALF_SPLIT,))):
        for types, of, marks in ((slot("type", "f32"), f32, (flag("abs"), flag("NaN"))), (_INTEGERS, b32, ())):
            reduced = Operand("redval", Role.WRITE, OperandKind.REGISTER, of)
            yield line(
                word("ld"), word("red"), SYNC, ALIGNED, shape, REPEATED, REDUCTION, *marks, types,
                operands=(_LOADED, reduced, _TAKEN, *last), since=REDUCED_SINCE,
                rules=(rule(never={"num": "x1"}),),
            )  # fmt: skip


FAMILIES = (
    family(
        "tcgen05",
        line(word("alloc"), CTA_GROUP, SYNC, ALIGNED, slot("space", "shared::cta").maybe, _WORD,
             operands=(ADDRESS, _COLUMNS)),
        line(word("alloc"), EXCLUSIVE, CTA_GROUP, SYNC, ALIGNED, slot("space", "shared::cta").maybe, _WORD,
             operands=(ADDRESS, _ALL_COLUMNS)),
        line(word("dealloc"), CTA_GROUP, SYNC, ALIGNED, _WORD, operands=(register("taddr", u32), _COLUMNS)),
        line(word("dealloc"), EXCLUSIVE, CTA_GROUP, SYNC, ALIGNED, _WORD,
             operands=(register("taddr", u32), _ALL_COLUMNS)),
        line(word("relinquish_alloc_permit"), CTA_GROUP, SYNC, ALIGNED),
        line(word("ld"), SYNC, ALIGNED, SHAPE, REPEATED, flag("pack::16b"), _WORD, operands=(_LOADED, _TAKEN),
             rules=_MOST),
        line(word("ld"), SYNC, ALIGNED, SPLIT, REPEATED, flag("pack::16b"), _WORD,
             operands=(_LOADED, _TAKEN, _HALF_SPLIT)),
        line(word("st"), SYNC, ALIGNED, SHAPE, REPEATED, flag("unpack::16b"), _WORD, operands=(_TAKEN, _STORED),
             rules=_MOST),
        line(word("st"), SYNC, ALIGNED, SPLIT, REPEATED, flag("unpack::16b"), _WORD,
             operands=(_TAKEN, _HALF_SPLIT, _STORED)),
        line(slot("wait", "wait::ld wait::st"), SYNC, ALIGNED),
        line(slot("fence", "fence::before_thread_sync fence::after_thread_sync")),
        line(word("shift"), CTA_GROUP, word("down"), operands=(_TAKEN,), since=since("8.6", _SPECIFIC)),
        line(word("cp"), CTA_GROUP, slot("shape", "128x256b 4x256b 128x128b"), *FORMATS, operands=_COPY, rules=_BOTH),
        line(word("cp"), CTA_GROUP, slot("shape", "64x128b"), slot("multicast", "warpx2::02_13 warpx2::01_23"),
             *FORMATS, operands=_COPY, rules=_BOTH),
        line(word("cp"), CTA_GROUP, slot("shape", "32x128b"), slot("multicast", "warpx4"), *FORMATS, operands=_COPY,
             rules=_BOTH),
        line(word("commit"), CTA_GROUP, ARRIVAL, READ_ONLY, CLUSTER, slot("type", "b64"), operands=(ADDRESS,)),
        line(word("commit"), CTA_GROUP, ARRIVAL, READ_ONLY, CLUSTER, MULTICAST, slot("type", "b64"),
             operands=(ADDRESS, register("cta_mask", u16))),
        line(word("commit"), CTA_GROUP, ARRIVAL, READ_ONLY, CLUSTER, MULTICAST_WIDE, slot("type", "b64"),
             operands=(ADDRESS, register("cta_mask", u32))),
        *_reductions(),
        *_compressions(),
        about="tensor memory and its tensor cores: allocate, load, store, copy, wait",
        rules=(rule(since=TENSOR_CORE),),
    ),
    family("tcgen05.mma", *_products(False), *_looked_up(), about="D = A * B + D in tensor memory"),
    family("tcgen05.mma.sp", *_products(True, _FOURS), about="the same with a sparse A"),
    family("tcgen05.mma.ws", *_stationary(False), about="the same with stationary weights"),
    family("tcgen05.mma.ws.sp", *_stationary(True), about="the same with stationary weights and a sparse A"),
)  # fmt: skip
