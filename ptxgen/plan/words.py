"""The small words that steps are spelled with. Each is checked where it is written: TypeError or ValueError there names
the word, what it wants and what came."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import Attribute, field, frozen

from polyhedral import Affine, var
from ptxgen.compute import Array, Element

MOST_ROWS_OF_A_BAND = 1 << 16
MOST_SIDE = 64
WIDEST_ACCESS_BYTES = 16


def _count(instance: Any, attribute: Attribute[int], value: object) -> None:
    what = f"{type(instance).__name__}: {attribute.name}"
    if type(value) is not int:
        raise TypeError(f"{what} is a whole number of at least 1, got {value!r}")
    if value < 1:
        raise ValueError(f"{what} is at least 1, got {value}")


def _some(instance: Any, attribute: Attribute[int], value: object) -> None:
    if value != 0:
        _count(instance, attribute, value)


def _registers(instance: Any, attribute: Attribute[Any], value: object) -> None:
    if value is None:
        return
    _count(instance, attribute, value)
    if not isinstance(value, int) or value % 8 or not 24 <= value <= 256:
        raise ValueError(f"setmaxnreg takes a multiple of 8 from 24 to 256 registers, got {value}")


def _of(kind: type | tuple[type, ...], wanted: str) -> Any:
    def check(instance: Any, attribute: Attribute[Any], value: object) -> None:
        if not isinstance(value, kind):
            raise TypeError(f"{type(instance).__name__}: {attribute.name} is {wanted}, got {value!r}")

    return check


class Onto(Enum):
    """What a level's tiles are dealt to."""

    BLOCKS = "blocks"
    WARPS = "warps"
    WARPGROUPS = "warpgroups"

    @property
    def inside_block(self) -> bool:
        """Whether the tiles are dealt inside a block."""
        return self is not Onto.BLOCKS


blocks = Onto.BLOCKS
warps = Onto.WARPS
warpgroups = Onto.WARPGROUPS


class Workers(Enum):
    """How many blocks walk a work list. SMS: as many as the device runs at once."""

    SMS = "sms"


sms = Workers.SMS


class LayoutWish(Enum):
    """What a shared layout keeps together in one 16-byte unit. All but LINEAR are swizzled free of bank conflicts.

    CONGRUOUS: consecutive elements of the contiguous dimension. CROSSWISE: what one lane reads for two instructions
    (k runs of two rows). FREE: whichever of the two the operand asks for.
    """

    FREE = "free"
    CONGRUOUS = "congruous"
    CROSSWISE = "crosswise"
    LINEAR = "linear"


free = LayoutWish.FREE
congruous = LayoutWish.CONGRUOUS
crosswise = LayoutWish.CROSSWISE
linear = LayoutWish.LINEAR


SWIZZLE_SPANS = (32, 64, 128)


def _span(instance: Any, attribute: Attribute[int], value: int) -> None:
    _count(instance, attribute, value)
    if value not in SWIZZLE_SPANS:
        raise ValueError(f"a swizzle spans 32, 64 or 128 bytes, got {value}")


@frozen
class Swizzle:
    """Rows of `span` bytes one behind the other, their 16-byte units permuted by the row's number, as tensor copies and
    products of warpgroups have it (PTX ISA, swizzling modes)."""

    span: int = field(validator=_span)

    @property
    def value(self) -> str:
        """How a plan spells it."""
        return f"swizzle({self.span})"


def swizzle(span: int) -> Swizzle:
    """The swizzle of 32, 64 or 128 bytes."""
    return Swizzle(span)


@frozen
class IntoRegisters:
    """Staging registers, held until the next op stores them."""

    def __str__(self) -> str:
        return "registers()"


@frozen
class IntoShared:
    """A ring of `depth` tiles in shared memory; with `alias`, over the ring of that op, whose last use is then over."""

    depth: int = field(validator=_count)
    layout: LayoutWish | Swizzle = field(
        validator=_of((LayoutWish, Swizzle), "free, congruous, crosswise, linear or swizzle(bytes)")
    )
    alias: str | None = field(default=None, validator=_of((str, type(None)), "the name of an op such as 'A.shared'"))

    def __str__(self) -> str:
        over = f", alias={self.alias}" if self.alias else ""
        return f"shared(depth={self.depth}, layout={self.layout.value}{over})"


@frozen
class IntoFragments:
    """A ring of `depth` operand tiles in registers, distributed as the reader asks."""

    depth: int = field(validator=_count)

    def __str__(self) -> str:
        return f"fragments(depth={self.depth})"


@frozen
class IntoWorkspace:
    """A tile in memory of the kernel's own, for each tile of the grid, which the launcher provides."""

    def __str__(self) -> str:
        return "workspace()"


Into = IntoRegisters | IntoShared | IntoFragments


class Transport(Enum):
    """Which instruction moves the tile. CP_ASYNC: from global to shared memory past the registers; LDMATRIX: from
    shared memory to fragments, a matrix of 8 rows of 16 bytes at a time; STMATRIX: the way back; TENSOR: a box of an
    array to shared memory, or back, by one thread; CONVERT: none, what a statement left in registers is the operand."""

    LD = "ld"
    ST = "st"
    CP_ASYNC = "cp_async"
    LDMATRIX = "ldmatrix"
    STMATRIX = "stmatrix"
    TENSOR = "tensor"
    CONVERT = "convert"


_ACCESS_BYTES: dict[Transport, tuple[int, ...]] = {
    Transport.LD: (1, 2, 4, 8, 16),
    Transport.ST: (1, 2, 4, 8, 16),
    Transport.CP_ASYNC: (4, 8, 16),
    Transport.LDMATRIX: (16,),
    Transport.STMATRIX: (16,),
    Transport.TENSOR: (16,),
    Transport.CONVERT: (4,),
}
_MATRICES = (1, 2, 4)
_BY_MATRICES = (Transport.LDMATRIX, Transport.STMATRIX)


def _access_bytes(instance: By, attribute: Attribute[int], value: int) -> None:
    _count(instance, attribute, value)
    _one_of(instance, "an access moves", value, _ACCESS_BYTES[instance.transport], " bytes")


def _matrices(instance: By, attribute: Attribute[int], value: int) -> None:
    _count(instance, attribute, value)
    _one_of(instance, "one instruction moves", value, _MATRICES, " matrices")


def _one_of(instance: By, what: str, value: int, allowed: tuple[int, ...], unit: str) -> None:
    if value not in allowed:
        wanted = " or ".join(
            (", ".join(map(str, allowed[:-1])), str(allowed[-1])) if allowed[1:] else map(str, allowed)
        )
        raise ValueError(f"{instance.transport.value}: {what} {wanted}{unit}, got {value}")


@frozen
class By:
    """A transport with the most bytes that one access may move; for `ldmatrix` and `stmatrix` the most matrices of an
    instruction, for `convert` the type that registers hold."""

    transport: Transport = field(validator=_of(Transport, "a Transport"))
    vector_bytes: int = field(validator=_access_bytes)
    matrices: int = field(default=1, validator=_matrices)
    element: Element | None = field(default=None, validator=_of((Element, type(None)), "an element type such as f16"))

    def __str__(self) -> str:
        if self.transport is Transport.TENSOR:
            return "tensor"
        if self.transport is Transport.CONVERT:
            return f"convert({self.element})"
        most = f"matrices={self.matrices}" if self.transport in _BY_MATRICES else f"vector={self.vector_bytes}"
        return f"{self.transport.value}({most})"


def registers() -> IntoRegisters:
    """Into staging registers."""
    return IntoRegisters()


def shared(depth: int = 2, layout: LayoutWish | Swizzle = LayoutWish.FREE, alias: str | None = None) -> IntoShared:
    """Into a ring of `depth` tiles in shared memory; `alias` names the op in whose ring it lies."""
    return IntoShared(depth, layout, alias)


def workspace() -> IntoWorkspace:
    """Into memory of the kernel's own, one tile for each tile of the grid."""
    return IntoWorkspace()


def fragments(depth: int = 2) -> IntoFragments:
    """Into a ring of `depth` operand tiles in registers."""
    return IntoFragments(depth)


def ld(vector: int = 16) -> By:
    """By loads of at most `vector` bytes: 1, 2, 4, 8 or 16."""
    return By(Transport.LD, vector)


def st(vector: int = 16) -> By:
    """By stores of at most `vector` bytes: 1, 2, 4, 8 or 16."""
    return By(Transport.ST, vector)


def cp_async(vector: int = 16) -> By:
    """By asynchronous copies of at most `vector` bytes, 4, 8 or 16, which fill zeros outside the array (PTX ISA,
    cp.async; sm_80 and later)."""
    return By(Transport.CP_ASYNC, vector)


def ldmatrix(matrices: int = 4) -> By:
    """By loads of at most 1, 2 or 4 matrices of 8 rows of 16 bytes at once (PTX ISA, ldmatrix; sm_75 and later)."""
    return By(Transport.LDMATRIX, 16, matrices)


def stmatrix(matrices: int = 4) -> By:
    """By stores of at most 1, 2 or 4 matrices of 8 rows of 16 bytes at once (PTX ISA, stmatrix; sm_90 and later)."""
    return By(Transport.STMATRIX, 16, matrices)


def convert(element: Element) -> By:
    """By no copy: the registers in which a statement left its result, rounded to `element`, are the fragments."""
    return By(Transport.CONVERT, 4, element=element)


tensor = By(Transport.TENSOR, 16)


class OperandPlace(Enum):
    """Where the A operand of a warpgroup's product is."""

    SHARED = "shared"
    REGISTERS = "registers"


@frozen
class Role:
    """Ops that warps of their own carry out: `warps` of them, or `warpgroups` of four. `registers` are those of each
    thread while it runs (PTX ISA, setmaxnreg), None to leave them as they are."""

    ops: tuple[str, ...]
    warps: int = field(default=0, validator=_some)
    warpgroups: int = field(default=0, validator=_some)
    registers: int | None = field(default=None, validator=_registers)

    @property
    def warp_count(self) -> int:
        """Its warps; 0 where the plan's tiles decide."""
        return self.warps or 4 * self.warpgroups

    def __str__(self) -> str:
        words = [*map(repr, self.ops)]
        words += [f"warps={self.warps}"] if self.warps else []
        words += [f"warpgroups={self.warpgroups}"] if self.warpgroups else []
        words += [f"registers={self.registers}"] if self.registers is not None else []
        return f"role({', '.join(words)})"


def role(*ops: str, warps: int = 0, warpgroups: int = 0, registers: int | None = None) -> Role:
    """A role for these ops. The role without any takes the rest."""
    return Role(ops, warps, warpgroups, registers)


@frozen
class Multiple:
    """The fact that `value`, a size or stride, is a multiple of `factor`."""

    value: Affine = field(validator=_of(Affine, "an affine expression of sizes and strides"))
    factor: int = field(validator=_count)

    def __str__(self) -> str:
        parts = len(self.value.terms) + (self.value.constant != 0)
        return f"{self.value if parts < 2 else f'({self.value})'} % {self.factor} == 0"


@frozen
class Aligned:
    """The fact that the address of `array` is a multiple of `byte_count`."""

    array: str = field(validator=_of(str, "an array or its name"))
    byte_count: int = field(validator=_count)

    def __str__(self) -> str:
        return f"aligned({self.array}, {self.byte_count})"


Fact = Multiple | Aligned


def multiple(value: Affine | str, of: int) -> Multiple:
    """The fact that a size or stride is a multiple of `of`."""
    return Multiple(var(value) if isinstance(value, str) else value, of)


def aligned(*arrays: Array | str, bytes: int) -> tuple[Aligned, ...]:
    """The fact that the addresses of these arrays are multiples of `bytes`."""
    return tuple(Aligned(array.name if isinstance(array, Array) else array, bytes) for array in arrays)


def _band(instance: BlockOrder, attribute: Attribute[int], value: int) -> None:
    _count(instance, attribute, value)
    if value > MOST_ROWS_OF_A_BAND:
        raise ValueError(f"a band has at most {MOST_ROWS_OF_A_BAND} tile rows, got {value}")


def _curve(instance: BlockOrder, attribute: Attribute[bool], value: object) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"BlockOrder: curve is True or False, got {value!r}")
    side = instance.group
    if value and (side & (side - 1) or not 1 < side <= MOST_SIDE):
        raise ValueError(f"Hilbert's curve fills squares of 2, 4, 8, ... {MOST_SIDE} tiles a side, got {side}")


@frozen
class BlockOrder:
    """`group` 1: rows of tiles one after the other; more: bands of that many rows, walked column by column, or with
    `curve` square by square, each along Hilbert's curve."""

    group: int = field(validator=_band)
    curve: bool = field(default=False, validator=_curve)

    def __str__(self) -> str:
        if self.curve:
            return f"hilbert({self.group})"
        return "rows" if self.group == 1 else f"grouped({self.group})"


rows = BlockOrder(1)


def grouped(count: int) -> BlockOrder:
    """Bands of `count` tile rows, 1 to 65536, walked column by column."""
    return BlockOrder(count)


def hilbert(side: int = 16) -> BlockOrder:
    """Bands of squares of `side` by `side` tiles, a power of two from 2 to 64, each walked along Hilbert's curve."""
    return BlockOrder(side, True)


class Eviction(Enum):
    """Which lines the L2 cache gives up: FIRST those that nobody will ask for again, LAST those that many will."""

    FIRST = "evict_first"
    LAST = "evict_last"


evict_first = Eviction.FIRST
evict_last = Eviction.LAST
