"""Named derivations: the type or the count of an operand as a function of the words of the instruction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from isa.operands import OneOf, Range
from isa.types import Kind, Type, of_width, type_named

Words = Mapping[str, str]


@frozen
class Derivation:
    """A function of the chosen words that can be named, printed and compared."""

    name: str
    arguments: tuple[Any, ...]
    function: Callable[..., Any]

    def of(self, words: Words) -> Any:
        """The type or count for these words."""
        return self.function(words, *self.arguments)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(str(each) for each in self.arguments)})"


def _by(words: Words, slot: str) -> Type:
    return type_named(words[slot])


def _whole(words: Words, slot: str) -> bool:
    return type_named(words[slot]).kind in (Kind.SIGNED, Kind.UNSIGNED)


def _doubled(words: Words, slot: str) -> Type:
    narrow = type_named(words[slot])
    return of_width(narrow.kind, 2 * narrow.bits)


def _vector_count(words: Words, slot: str) -> int:
    width = words.get(slot)
    return int(width[1:]) if width else 0


def _holes(words: Words, vector: str, element: str) -> bool:
    return _vector_count(words, vector) * type_named(words[element]).bits == 256


def _coordinates(words: Words, dim: str, mode: str, fewer: int) -> int:
    return 5 if words.get(mode, "").endswith("4") else int(words[dim][0]) - fewer


def _offsets(words: Words, dim: str, mode: str) -> int:
    return int(words[dim][0]) - 2 if words[mode] == "im2col" else 2


def by(slot: str) -> Derivation:
    """The type that the word in `slot` names."""
    return Derivation("by", (slot,), _by)


def whole(slot: str) -> Derivation:
    """True where the word in `slot` names a type of integers."""
    return Derivation("whole", (slot,), _whole)


def doubled(slot: str) -> Derivation:
    """The integer type twice as wide as the one that the word in `slot` names."""
    return Derivation("doubled", (slot,), _doubled)


def vector_count(slot: str = "vec") -> Derivation:
    """The number of elements that `v2`, `v4`, `v8` ask for; 0 (a single register) where the slot is empty."""
    return Derivation("vector_count", (slot,), _vector_count)


def holes(vector: str = "vec", element: str = "type") -> Derivation:
    """True for the 256-bit vectors, where `_` leaves an element of memory as it is."""
    return Derivation("holes", (vector, element), _holes)


def coordinates(dim: str = "dim", mode: str = "mode", fewer: int = 0) -> Derivation:
    """One coordinate a dimension of `1d` to `5d`, so many `fewer`; a column and four rows for gather4 and scatter4."""
    return Derivation("coordinates", (dim, mode, fewer), _coordinates)


def offsets(dim: str = "dim", mode: str = "mode") -> Derivation:
    """The offsets of an im2col copy: one a spatial dimension, or halo and offset for `im2col::w` and `::w::128`."""
    return Derivation("offsets", (dim, mode), _offsets)


def _counted(words: Words, slot: str, counts: tuple[tuple[str, int], ...], otherwise: int) -> int:
    return dict(counts).get(words.get(slot, ""), otherwise)


def counted(slot: str, otherwise: int, **counts: int) -> Derivation:
    """A count by the word in `slot` (`::` written `__`, a leading digit behind `_`), else `otherwise`."""
    named = tuple((word.lstrip("_").replace("__", "::"), count) for word, count in counts.items())
    return Derivation("counted", (slot, named, otherwise), _counted)


def _by_unless(words: Words, slot: str, other: str, exceptions: frozenset[str], instead: Type) -> Type:
    return instead if words.get(other) in exceptions else type_named(words[slot])


def by_unless(slot: str, other: str, exceptions: str, instead: Type) -> Derivation:
    """The type that `slot` names, but `instead` where `other` holds one of the words `exceptions`."""
    return Derivation("by_unless", (slot, other, frozenset(exceptions.split()), instead), _by_unless)


def shape_of(word: str) -> tuple[int, int, int]:
    """`"m16n8k4"` as (16, 8, 4)."""
    rows, _, rest = word[1:].partition("n")
    columns, _, depth = rest.partition("k")
    return int(rows), int(columns), int(depth)


def tiles_per_warp(shape: str, element: Type) -> int:
    """How many products of that shape a warp does in one instruction: four for the f16 m8n8k4, else one."""
    return 4 if shape == "m8n8k4" and element.bits == 16 else 1


_FRAGMENT_REGISTER = {"f16": "f16x2", "f32": "f32", "f64": "f64", "s32": "s32"}
_BYTE_CONTAINERS = frozenset({"kind::f8f6f4", "kind::mxf8f6f4"})


def _element_bits(words: Words, slot: str) -> int:
    """Bits that an element takes in a register: 4- and 6-bit floats lie in bytes unless the kind packs them."""
    narrow = type_named(words[slot]).bits
    return 8 if narrow < 8 and words.get("kind") in _BYTE_CONTAINERS else narrow


def _fragment_type(words: Words, operand: str) -> Type:
    return type_named(_FRAGMENT_REGISTER.get(words[operand + "type"], "b32"))


def _fragment_count(words: Words, operand: str) -> int:
    rows, columns, depth = shape_of(words["shape"])
    kept = depth // 2 if operand == "a" and "sparsity" in words else depth
    extent = {"a": rows * kept, "b": depth * columns}.get(operand, rows * columns)
    bits = _element_bits(words, operand + "type")
    tiles = tiles_per_warp(words["shape"], type_named(words["atype"]))
    return extent * bits * tiles // 32 // max(32, bits)


def _metadata_selectors(words: Words) -> Range:
    _, _, depth = shape_of(words["shape"])
    bits_per_row = depth * 2 if words["atype"] == "tf32" else depth // 2 if _packed_nibbles(words) else depth
    return Range(0, 64 // bits_per_row - 1)


def _packed_nibbles(words: Words) -> bool:
    return _element_bits(words, "atype") == 4


_BYTES_OF_SCALES = {"scale_vec::1X": (0, 1, 2, 3), "scale_vec::2X": (0, 2), "scale_vec::4X": (0,)}
_SCALES_BY_DEFAULT = {
    "kind::mxf8f6f4": "scale_vec::1X",
    "kind::mxf4": "scale_vec::2X",
    "kind::mxf4nvf4": "scale_vec::4X",
}


def _scale_bytes(words: Words) -> OneOf:
    return OneOf(_BYTES_OF_SCALES[words.get("scale_vec") or _SCALES_BY_DEFAULT[words["kind"]]])


def scale_bytes() -> Derivation:
    """The values of byte-id: the bytes of a register where the scales of a row of an `mma` may begin."""
    return Derivation("scale_bytes", (), _scale_bytes)


def metadata_selectors() -> Derivation:
    """The values that choose the lanes holding the metadata of a sparse `mma`: 64 bits a row need all of them."""
    return Derivation("metadata_selectors", (), _metadata_selectors)


_DOUBLED_BY_WMMA = frozenset({"f16"})
_WMMA_REGISTER = {**_FRAGMENT_REGISTER, "bf16": "bf16x2", "tf32": "tf32"}


def _wmma_type(words: Words, operand: str, slot: str) -> Type:
    return type_named(_WMMA_REGISTER.get(words[slot], "s32"))


def _wmma_count(words: Words, operand: str, slot: str) -> int:
    rows, columns, depth = shape_of(words["shape"])
    extent = {"a": rows * depth, "b": depth * columns}.get(operand, rows * columns)
    bits = type_named(words[slot]).bits
    if operand in "ab" and words[slot] in _DOUBLED_BY_WMMA:
        return 8
    return extent * bits // 32 // max(32, bits)


def wmma_type(operand: str, slot: str = "") -> Derivation:
    """The register type of a `wmma` fragment whose element type stands in `slot` (its own by default)."""
    return Derivation("wmma_type", (operand, slot or operand + "type"), _wmma_type)


def wmma_count(operand: str, slot: str = "") -> Derivation:
    """Registers of a `wmma` fragment: elements shared out among the lanes, but 8 for every f16 A and B."""
    return Derivation("wmma_count", (operand, slot or operand + "type"), _wmma_count)


_MULTIPLICAND = {"f16": "f16x2", "bf16": "bf16x2", "tf32": "tf32", "e4m3": "e4m3x4", "e5m2": "e5m2x4"}


def _multiplicand_type(words: Words, slot: str) -> Type:
    return type_named(_MULTIPLICAND.get(words[slot], "s32"))


def multiplicand_type(slot: str = "atype") -> Derivation:
    """The type of a `wgmma` register of A: packed floats of the type in `slot`, words for integers and bits."""
    return Derivation("multiplicand_type", (slot,), _multiplicand_type)


def _warpgroup_count(words: Words) -> int:
    _, columns, _ = shape_of(words["shape"])
    return columns // 4 if words["dtype"] == "f16" else columns // 2


def warpgroup_count() -> Derivation:
    """Registers of a `wgmma` accumulator: 64 rows shared out among 128 lanes, two f16 a register."""
    return Derivation("warpgroup_count", (), _warpgroup_count)


_CELLS = {"16x128b": 2, "16x256b": 4}


def _tensor_memory_count(words: Words) -> int:
    return int(words["num"][1:]) * _CELLS.get(words["shape"], 1)


def tensor_memory_count() -> Derivation:
    """Registers of `tcgen05.ld` and `st`: repetitions times 32-bit cells that a lane has of the shape."""
    return Derivation("tensor_memory_count", (), _tensor_memory_count)


def _compressed_count(words: Words, values_per_register: int) -> int:
    return max(int(words["num"][1:]) // values_per_register, 1)


def compressed_count(values_per_register: int) -> Derivation:
    """Registers of `tcgen05.ld.spcompress`: half of the values loaded, or 2 bits of index for each of those."""
    return Derivation("compressed_count", (values_per_register,), _compressed_count)


def _ratio(words: Words) -> tuple[int, int]:
    kept, _, of = words["ratio"].removeprefix("sp::").partition(":")
    return int(kept), int(of)


def _sparse_bits(words: Words, what: str) -> int:
    """Bits of what `spcompress` and `spdecompress` take and give, over all elements of a lane."""
    kept, of = _ratio(words)
    element, index, number = int(words["type"][1:]), int(words["index"][1:]), int(words["num"][1:])
    groups = 32 * number // (kept * element) if words.get("direction") == "down" else number
    return {"whole": of * element, "kept": kept * element, "metadata": kept * index}[what] * groups


def _sparse_count(words: Words, what: str, down: bool) -> int:
    said = {**words, "direction": "down"} if down else words
    return max(-(-_sparse_bits(said, what) // 32), 1)


def sparse_count(what: str, *, down: bool) -> Derivation:
    """Registers of `spcompress` (`down`) and `spdecompress` for `what`: whole, kept, or metadata (indices).

    `num` counts the registers that `spcompress` gives, and the groups that `spdecompress` fills.
    """
    return Derivation("sparse_count", (what, down), _sparse_count)


def _matrices_count(words: Words) -> int:
    return int(words["num"][1:]) * (2 if words["shape"] == "m16n16" else 1)


def matrices_count() -> Derivation:
    """Registers of `ldmatrix` and `stmatrix`: one a matrix, two where it is 16 by 16."""
    return Derivation("matrices_count", (), _matrices_count)


def fragment_type(operand: str) -> Derivation:
    """The register type of the fragment of `mma` operand a, b, c or d."""
    return Derivation("fragment_type", (operand,), _fragment_type)


def fragment_count(operand: str) -> Derivation:
    """Registers per lane: rows * columns * bits * tiles per warp / 32 lanes / max(32, bits)."""
    return Derivation("fragment_count", (operand,), _fragment_count)
