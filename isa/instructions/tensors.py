"""Asynchronous copies of boxes of tensors, and the maps that describe the tensors."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from isa.availability import ALWAYS, Availability, since
from isa.derive import coordinates, offsets
from isa.instructions.copies import (
    BY_GROUP,
    BY_MBARRIER,
    CLUSTER,
    CTA,
    DESTINATION,
    FROM_CTA,
    FROM_GLOBAL,
    GLOBAL_DESTINATION,
    KEPT,
    L2,
    MASK,
    MBAR,
    MULTICAST,
    MULTICAST_WIDE,
    REPORT,
    SOURCE,
    WIDE_MASK,
)  # fmt: skip
from isa.instructions.vocabulary import (
    ADDRESS,
    DATACENTRE,
    FAMILY,
    L2_HINT,
    POLICY,
    RUBIN,
    SPECIFIC,
    bracket,
    immediate,
    register,
    value,
    vector,
)  # fmt: skip
from isa.operands import OneOf, OperandKind, Range, Role
from isa.rows import Constraint, Line, Operand, Slot, family, line, rule, slot, word
from isa.types import Type, b8, b16, b32, s32, u16, u32, u64

_SM_90 = since("8.0", 90)
DIM = slot("dim", "1d 2d 3d 4d 5d")
DIM_2, DIM_SPATIAL, SEVERAL = DIM.of("2d"), DIM.of("3d", "4d", "5d"), DIM.of("2d", "3d", "4d", "5d")
TILE = slot("mode", "tile").maybe
GATHER = slot("mode", "tile::gather4")
SCATTER = slot("mode", "tile::scatter4")
IM2COL = slot("mode", "im2col im2col::w im2col::w::128")
NO_OFFSETS = slot("mode", "im2col_no_offs im2col_no_offs::w", im2col_no_offs__w=RUBIN)
_BLACKWELL = since("8.6", DATACENTRE)
CTA_GROUP = slot("group", "cta_group::1 cta_group::2", cta_group__1=_BLACKWELL, cta_group__2=_BLACKWELL).maybe
TENSOR = Operand("tensor", Role.READ, OperandKind.COORDINATE, s32, coordinates(), immediates=True)
OFFSETS = Operand("offsets", Role.READ, OperandKind.VALUE, u16, offsets())
_LOADED = (DESTINATION, TENSOR, MBAR)
OPERATION = slot("op", "add min max inc dec and or xor")


BASE = word("override::global_address", RUBIN)
SIZE, SIZES_AND_STRIDES = word("override::global_dim", RUBIN), word("override::global_dim_stride", RUBIN)
BASED = evolve(TENSOR, sampler=True)


def _halos(where: Availability) -> tuple[Constraint, ...]:
    return (
        rule(when={"mode": "im2col::w"}, since=where),
        rule(when={"mode": "im2col::w::128"}, since=_BLACKWELL),
    )


def _based(
    *slots: Slot, operands: tuple[Operand, ...], since: Availability = ALWAYS, rules: tuple[Constraint, ...] = ()
) -> tuple[Line, Line]:
    """A copy of the tensor that its map describes, and the same with another base address."""
    elsewhere = tuple(BASED if each is TENSOR else each for each in operands)
    return (
        line(*slots, operands=operands, since=since, rules=rules),
        line(*slots, BASE, operands=elsewhere, since=since, rules=rules),
    )


def _shaped(dim: Slot, size: Type) -> Operand:
    """A tensor with another base address and other sizes, in registers of 8 or 16 bits, and strides."""
    handles = (evolve(register("map", u64), symbol=True), register("base", u64))
    strides = (vector("strides", b32, coordinates(fewer=1)), register("upper_strides", b16))
    several = strides if dim is SEVERAL else ()
    corner = evolve(vector("corner", s32, coordinates()), immediates=True)
    return bracket("tensor", *handles, vector("sizes", size, coordinates()), *several, corner)


def _reshaped(*slots: Slot, operands: tuple[Operand, ...]) -> Iterator[Line]:
    """A copy in tiles with another base address, other sizes and strides."""
    for dim, word_ in ((DIM.of("1d"), SIZE), (SEVERAL, SIZES_AND_STRIDES)):
        for size in (b16, b8):
            tensor = _shaped(dim, size)
            taken = tuple(tensor if each is TENSOR else each for each in operands)
            yield line(dim, *slots, BASE, word_, operands=taken)


def _loads(to: Slot, gather: Availability, halo: Availability, *multicast: Slot) -> tuple[Line, ...]:
    head, tail = (to, FROM_GLOBAL), (BY_MBARRIER, REPORT, *multicast, CTA_GROUP, L2_HINT)
    wide = MULTICAST_WIDE in multicast
    mask = (WIDE_MASK,) if wide else (MASK,) if multicast else ()
    alone = tuple(each for each in tail if each is not MULTICAST)
    return (
        *_based(DIM, *head, TILE, *tail, operands=(*_LOADED, *mask, POLICY)),
        *_reshaped(*head, TILE, *alone, operands=(*_LOADED, *(mask if wide else ()), POLICY)),
        *_based(DIM_2, *head, GATHER, *tail, operands=(*_LOADED, *mask, POLICY), since=gather),
        *_based(
            DIM_SPATIAL, *head, IM2COL, *tail, operands=(*_LOADED, OFFSETS, *mask, POLICY),
            rules=_halos(halo),
        ),
    )  # fmt: skip


def _stores(*middle: Slot, scattered: bool) -> Iterator[Line]:
    head, tail, operands = (GLOBAL_DESTINATION, FROM_CTA, *middle), (BY_GROUP, L2_HINT), (TENSOR, SOURCE, POLICY)
    yield from _based(DIM, *head, TILE, *tail, operands=operands)
    yield from _reshaped(*head, TILE, *tail, operands=operands)
    if scattered:
        yield from _based(DIM_2, *head, SCATTER, *tail, operands=operands, since=_BLACKWELL)
    yield from _based(DIM_SPATIAL, *head, NO_OFFSETS, *tail, operands=operands)


def _prefetches(tail: Slot) -> tuple[Line, ...]:
    head = (L2, FROM_GLOBAL)
    return (
        *_based(DIM, *head, TILE, tail, operands=(TENSOR, POLICY)),
        *_reshaped(*head, TILE, tail, operands=(TENSOR, POLICY)),
        *_based(DIM_2, *head, GATHER, tail, operands=(TENSOR, POLICY), since=_BLACKWELL),
        *_based(DIM_SPATIAL, *head, IM2COL, tail, operands=(TENSOR, OFFSETS, POLICY), rules=_halos(_BLACKWELL)),
    )


_HALO = since("8.6", 100)
_PRIORITY = (slot("space", "global").maybe, TILE, BY_GROUP, slot("level", "L2::evict_normal"))

# Tensor maps.
MAP_SPACE = slot("space", "global shared::cta").maybe
WHOLE = slot("object", "b1024")
_B32, _B64 = slot("type", "b32"), slot("type", "b64")
_ORDINAL, _STRIDE_ORDINAL = immediate("ordinal", Range(0, 4)), immediate("ordinal", Range(0, 3))
NEW_32, NEW_64 = value("new", u32), value("new", u64)
_NEWER = (SPECIFIC, FAMILY)
_SUB_BYTE, _SWIZZLE_96 = since("8.7", *_NEWER), since("8.8", "sm_103a sm_107a")
_ENUMERATED = (
    ("elemtype", Range(0, 12), ALWAYS), ("elemtype", Range(13, 15), _SUB_BYTE),
    ("interleave_layout", Range(0, 2), ALWAYS),
    ("swizzle_mode", Range(0, 3), ALWAYS), ("swizzle_mode", OneOf((4,)), _SWIZZLE_96),
    ("swizzle_atomicity", Range(0, 3), since("8.6", *_NEWER)), ("fill_mode", Range(0, 1), ALWAYS),
)  # fmt: skip


def _field(words: str, type_: Slot, *operands: Operand, exists: Availability = ALWAYS) -> Line:
    named = slot("field", words)
    return line(word("tile"), named, MAP_SPACE, WHOLE, type_, operands=(ADDRESS, *operands), since=exists)


FAMILIES = (
    family(
        "cp.async.bulk.tensor",
        *_loads(CTA, _HALO, _HALO),
        *_loads(CLUSTER, _BLACKWELL, _BLACKWELL, MULTICAST),
        *_loads(CLUSTER, _BLACKWELL, _BLACKWELL, MULTICAST_WIDE),
        *_stores(scattered=True),
        rules=(rule(since=_SM_90),),
        about="copy a box of a tensor",
    ),
    family(
        "cp.reduce.async.bulk.tensor",
        *_stores(OPERATION, scattered=False),
        rules=(rule(since=_SM_90),),
        about="combine a box into a tensor",
    ),
    family(
        "cp.async.bulk.prefetch.tensor",
        *(each for tail in (L2_HINT, KEPT) for each in _prefetches(tail)),
        rules=(rule(since=_SM_90),),
        about="bring a box of a tensor into L2",
    ),
    family(
        "applypriority.async.bulk.tensor",
        *_based(DIM, *_PRIORITY, operands=(TENSOR,)),
        *_reshaped(*_PRIORITY, operands=(TENSOR,)),
        rules=(rule(since=RUBIN),),
        about="set the eviction priority of a box of a tensor",
    ),
    family(
        "tensormap.replace",
        _field("global_address", _B64, NEW_64),
        _field("rank", _B32, NEW_32),
        _field("box_dim global_dim element_stride", _B32, _ORDINAL, NEW_32),
        _field("global_stride", _B64, _STRIDE_ORDINAL, NEW_64),
        *(_field(name, _B32, immediate("new", domain), exists=exists) for name, domain, exists in _ENUMERATED),
        rules=(rule(since=since("8.3", "sm_90a", *_NEWER)),),
        about="change a field of a tensor map",
    ),
    family(
        "tensormap.cp_fenceproxy",
        line(
            GLOBAL_DESTINATION, FROM_CTA, slot("proxies", "tensormap::generic"), slot("sem", "release"),
            slot("scope", "cta cluster gpu sys"), word("sync"), word("aligned"),
            operands=(DESTINATION, SOURCE, immediate("bytes", OneOf((128,)))), since=since("8.3", 90),
        ),
        about="copy a tensor map to global memory and release it to the tensor copies",
    ),
)  # fmt: skip
