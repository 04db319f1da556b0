"""Textures and surfaces."""

from __future__ import annotations

from collections.abc import Iterator

from isa.availability import ALWAYS, Availability, since
from isa.derive import by, by_unless, counted, vector_count
from isa.instructions.vocabulary import VECTOR, VECTOR_MAYBE, written, written_predicate
from isa.operands import OperandKind, Role
from isa.rows import Constraint, Line, Operand, Slot, family, line, rule, slot, table, word
from isa.types import b32, f32, s32, u32, u64

GEOMETRY = slot("geom", "1d 2d 3d a1d a2d cube acube 2dms a2dms")
MIPMAPPED = GEOMETRY.of("1d", "2d", "3d", "a1d", "a2d", "cube", "acube")
_HALVES = since("4.2", 53)
DTYPE = slot("dtype", "u32 s32 f32 f16 f16x2", f16=_HALVES, f16x2=_HALVES)
CTYPE = slot("ctype", "s32 f32")
COMPONENT = slot("comp", "r g b a")
GATHERED = slot("geom", "2d a2d cube acube", a2d=since("4.3"), cube=since("4.3"), acube=since("4.3"))
WORD = slot("type", "b32")

_INDEXED = "a1d a2d acube 2dms a2dms"
_COUNT = counted("geom", 4, _1d=1, _2d=2, a1d=2)
_TEXEL = by_unless("ctype", "geom", _INDEXED, b32)
_VECTOR = OperandKind.REGISTER


def _place(*, sampler: bool) -> Operand:
    return Operand("c", Role.READ, OperandKind.COORDINATE, _TEXEL, _COUNT, sampler=sampler)


_FETCHED = Operand("d", Role.WRITE, _VECTOR, by("dtype"), vector_count())
_RESIDENT = written_predicate("p", joined=True)
_OFFSET = Operand("e", Role.READ, _VECTOR, s32, counted("geom", 2, _1d=1, a1d=1, _3d=4), immediates=True)
_COMPARED = Operand("f", Role.READ, OperandKind.VALUE, f32)
_LEVEL = Operand("lod", Role.READ, OperandKind.VALUE, by("ctype"))
_GRADIENTS = tuple(
    Operand(name, Role.READ, _VECTOR, f32, counted("geom", 4, _1d=1, a1d=1, _2d=2, a2d=2)) for name in ("dPdx", "dPdy")
)
_EXTRAS = since("4.3")
_RESIDENCY = since("7.1", 60)

_TEXELS = table("vec dtype", (ALWAYS, "v4", "u32 s32 f32 f16"), (ALWAYS, "v2", "f16x2"))
_CUBES = rule(when={"geom": "cube acube"}, only={"ctype": "f32"})
_SAMPLES = rule(when={"geom": "2dms a2dms"}, only={"ctype": "s32"})
_NO_OFFSET = rule(never={"geom": "cube acube"})
_COMPARABLE = (rule(never={"geom": "3d 2dms a2dms"}), rule(only={"ctype": "f32"}))


def _lookups(
    slots: tuple[Slot, ...], between: tuple[Operand, ...] = (), first: Availability = ALWAYS, *rules: Constraint
) -> Iterator[Line]:
    """With and without sampler, residency, offset and depth to compare; `between` stand behind the coordinates."""
    for sampler in (False, True):
        place = (_place(sampler=sampler), *between)
        for predicate, late in (((), ALWAYS), ((_RESIDENT,), _RESIDENCY)):
            plain = (_FETCHED, *predicate, *place)
            yield line(*slots, operands=plain, since=first & late, rules=rules)
            further = first & late & _EXTRAS
            yield line(*slots, operands=(*plain, _OFFSET), since=further, rules=(*rules, _NO_OFFSET))
            yield line(*slots, operands=(*plain, _COMPARED), since=further, rules=(*rules, *_COMPARABLE))
            both = (*plain, _OFFSET, _COMPARED)
            yield line(*slots, operands=both, since=further, rules=(*rules, _NO_OFFSET, *_COMPARABLE))


_TAIL = (VECTOR, DTYPE, CTYPE)
_CUBE_GRADIENTS = rule(when={"geom": "cube acube"}, since=since("4.3"))

LOADED = Operand("d", Role.WRITE, _VECTOR, by("type"), vector_count(), wide=True)
STORED = Operand("c", Role.READ, OperandKind.VALUE, by("type"), vector_count(), wide=True)
_SURFACE = Operand("b", Role.READ, OperandKind.COORDINATE, s32, _COUNT)
_HANDLE = Operand("a", Role.READ, OperandKind.ADDRESS, u64)
PLACE = slot("geom", "1d 2d 3d a1d a2d")
FLAT = PLACE.of("1d", "2d", "3d")
OUTSIDE = slot("clamp", "trap clamp zero")
STORED_TYPE = slot("type", "b8 b16 b32 b64")
_NARROW = rule(when={"vec": "v4"}, never={"type": "b64"})
REDUCED = slot("op", "add min max and or")
_LONG = since("8.1")
_REDUCIBLE = table(
    "op type",
    (ALWAYS, "add min max", "u32 s32"),
    (ALWAYS, "add", "u64"),
    (_LONG, "min max", "u64 s64"),
    (ALWAYS, "and or", "b32"),
)
_SAMPLED = table("op type", (ALWAYS, "add min max and or", "b32"), (_LONG, "min max", "b64"))
_REDUCED = (_SURFACE, Operand("c", Role.READ, OperandKind.VALUE, by("type")))

FAMILIES = (
    family(
        "tex",
        *_lookups((GEOMETRY, *_TAIL)),
        *_lookups((word("base"), GEOMETRY, *_TAIL)),
        *_lookups((word("level"), MIPMAPPED, *_TAIL), (_LEVEL,)),
        *_lookups((word("grad"), MIPMAPPED, *_TAIL), _GRADIENTS, ALWAYS, _CUBE_GRADIENTS),
        rules=(_TEXELS, _CUBES, _SAMPLES),
        about="look up texels; p: they are resident, e: offset, f: depth to compare",
    ),
    family(
        "tld4",
        *_lookups((COMPONENT, GATHERED, VECTOR.of("v4"), DTYPE.of("u32", "s32", "f32"), CTYPE.of("f32"))),
        about="one component of the four texels around a place",
    ),
    family(
        "txq",
        line(slot("query", "width height depth channel_data_type channel_order normalized_coords array_size "
                  "num_mipmap_levels num_samples force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 "
                  "addr_mode_2", **dict.fromkeys(("array_size", "num_mipmap_levels", "num_samples"), since("4.1"))),
             WORD, operands=(written("d", u32), _HANDLE)),
        line(word("level"), slot("query", "width height depth"), WORD, since=since("4.3"),
             operands=(written("d", u32), _HANDLE, Operand("lod", Role.READ, OperandKind.VALUE, u32))),
        about="an attribute of a texture or sampler",
    ),
    family(
        "istypep",
        line(slot("kind", "texref samplerref surfref"), since=since("4.0", 30), operands=(
            written_predicate("p"), Operand("a", Role.READ, OperandKind.REGISTER, u64, symbol=True))),
        about="does a handle name a texture, sampler or surface",
    ),
    family(
        "suld",
        line(word("b"), PLACE, slot("cop", "ca cg cs cv").maybe, VECTOR_MAYBE, STORED_TYPE, OUTSIDE,
             operands=(LOADED, _SURFACE), rules=(_NARROW,)),
        about="load from a surface",
    ),
    family(
        "sust",
        line(word("b"), PLACE, slot("cop", "wb cg cs wt").maybe, VECTOR_MAYBE, STORED_TYPE, OUTSIDE,
             operands=(_SURFACE, STORED), rules=(_NARROW,)),
        line(word("p"), FLAT, VECTOR_MAYBE, WORD, OUTSIDE, operands=(_SURFACE, STORED)),
        about="store to a surface, as bytes or as samples",
    ),
    family(
        "sured",
        line(word("b"), REDUCED, FLAT, slot("type", "u32 u64 s32 b32 s64"), OUTSIDE, operands=_REDUCED,
             rules=(_REDUCIBLE,)),
        line(word("p"), REDUCED, FLAT, slot("type", "b32 b64"), OUTSIDE, operands=_REDUCED, rules=(_SAMPLED,)),
        about="reduce into a surface",
    ),
    family(
        "suq",
        line(slot("query", "width height depth channel_data_type channel_order array_size memory_layout",
                  array_size=since("4.1"), memory_layout=since("4.2")), WORD,
             operands=(written("d", u32), _HANDLE)),
        about="an attribute of a surface",
    ),
)  # fmt: skip
