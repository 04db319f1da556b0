"""The steps of a plan, as data, and the small words that they are spelled with."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from attrs import field, frozen

from polyhedral import Affine
from ptxgen.compute import Array, Element, SourceLine


class Onto(Enum):
    """What a level's tiles are dealt to."""

    BLOCKS = "blocks"
    WARPS = "warps"


blocks = Onto.BLOCKS
warps = Onto.WARPS


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


class Serpentine(Enum):
    """The order of the instructions of one multiplication."""

    SERPENTINE = "serpentine"


serpentine = Serpentine.SERPENTINE


@frozen
class IntoRegisters:
    """Staging registers, held until the next op stores them."""

    def __str__(self) -> str:
        return "registers()"


@frozen
class IntoShared:
    """A ring of `depth` tiles in shared memory."""

    depth: int
    layout: LayoutWish

    def __str__(self) -> str:
        return f"shared(depth={self.depth}, layout={self.layout.value})"


@frozen
class IntoFragments:
    """A ring of `depth` operand tiles in registers, distributed as the reader asks."""

    depth: int

    def __str__(self) -> str:
        return f"fragments(depth={self.depth})"


Into = IntoRegisters | IntoShared | IntoFragments


class Transport(Enum):
    """Which instruction moves the tile."""

    LD = "ld"
    ST = "st"


@frozen
class By:
    """A transport with the most bytes that one access may move."""

    transport: Transport
    vector_bytes: int

    def __str__(self) -> str:
        return f"{self.transport.value}(vector={self.vector_bytes})"


def registers() -> IntoRegisters:
    """Into staging registers."""
    return IntoRegisters()


def shared(depth: int = 2, layout: LayoutWish = LayoutWish.FREE) -> IntoShared:
    """Into a ring of `depth` tiles in shared memory."""
    return IntoShared(depth, layout)


def fragments(depth: int = 2) -> IntoFragments:
    """Into a ring of `depth` operand tiles in registers."""
    return IntoFragments(depth)


def ld(vector: int = 16) -> By:
    """By loads of at most `vector` bytes."""
    return By(Transport.LD, vector)


def st(vector: int = 16) -> By:
    """By stores of at most `vector` bytes."""
    return By(Transport.ST, vector)


@frozen
class MatrixInstruction:
    """A multiplication instruction: shape and element types, checked against the target's rows when derived."""

    name: str
    m: int
    n: int
    k: int
    input: Element
    accumulate: Element

    def __str__(self) -> str:
        return f"{self.name}({self.input}, accumulate={self.accumulate})"


def m8n8k4(accumulate: Element, input: Element = Element.F16) -> MatrixInstruction:
    """Volta's quad-pair multiplication: four 8x8x4 products a warp (PTX ISA, mma.sync.aligned.m8n8k4)."""
    return MatrixInstruction("m8n8k4", 8, 8, 4, input, accumulate)


@frozen
class Multiple:
    """The fact that `value`, a size or stride, is a multiple of `factor`."""

    value: Affine
    factor: int

    def __str__(self) -> str:
        return f"{self.value} % {self.factor} == 0"


@frozen
class Aligned:
    """The fact that the address of `array` is a multiple of `byte_count`."""

    array: str
    byte_count: int

    def __str__(self) -> str:
        return f"aligned({self.array}, {self.byte_count})"


Fact = Multiple | Aligned


def multiple(value: Affine | str, of: int) -> Multiple:
    """The fact that a size or stride is a multiple of `of`."""
    from polyhedral import var

    return Multiple(var(value) if isinstance(value, str) else value, of)


def aligned(*arrays: Array | str, bytes: int) -> tuple[Aligned, ...]:
    """The fact that the addresses of these arrays are multiples of `bytes`."""
    return tuple(Aligned(a if isinstance(a, str) else a.name, bytes) for a in arrays)


@frozen
class BlockOrder:
    """`group` 1: rows of tiles one after the other; more: bands of that many rows, walked column by column."""

    group: int

    def __str__(self) -> str:
        return "rows" if self.group == 1 else f"grouped({self.group})"


rows = BlockOrder(1)


def grouped(count: int) -> BlockOrder:
    """Bands of `count` tile rows, walked column by column."""
    return BlockOrder(count)


@frozen
class Assume:
    facts: tuple[Fact, ...]
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"assume({', '.join(map(str, self.facts))})"


@frozen
class Tile:
    level: str
    extents: tuple[tuple[str, int], ...]
    line: SourceLine = field(eq=False)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The tile's extent along each dim."""
        return dict(self.extents)

    def __str__(self) -> str:
        return f"tile({self.level}, {', '.join(f'{dim}={size}' for dim, size in self.extents)})"


@frozen
class Place:
    """`dims` are the level's dims that are dealt out; its others stay loops."""

    level: str
    onto: Onto
    raster: BlockOrder
    dims: tuple[str, ...]
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"place({self.level}, onto={self.onto.value}, raster={self.raster})"


@frozen
class Stage:
    array: str
    at: str
    into: Into
    by: By
    line: SourceLine = field(eq=False)

    @property
    def op(self) -> str:
        """The name of the op that fills the buffer."""
        match self.into:
            case IntoRegisters():
                return f"{self.array}.registers"
            case IntoShared():
                return f"{self.array}.shared"
            case IntoFragments():
                return f"{self.array}.fragments"

    def __str__(self) -> str:
        return f"stage({self.array}, at={self.at}, into={self.into}, by={self.by})"


@frozen
class MultiplyBy:
    statement: str
    instruction: MatrixInstruction
    at: str
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"multiply({self.statement}, {self.instruction}, at={self.at}, order=serpentine)"


@frozen
class Finish:
    statement: str
    at: str
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"finish({self.statement}, at={self.at})"


@frozen
class Drain:
    array: str
    by: By
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"drain({self.array}, through=None, by={self.by})"


@frozen
class Shift:
    ops: tuple[str, ...]
    ahead: int
    at: str
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"shift({', '.join(self.ops)}, ahead={self.ahead}, at={self.at})"


@frozen
class Order:
    at: str
    ops: tuple[str, ...]
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"sequence({self.at}, {', '.join(self.ops)})"


@frozen
class Unroll:
    loop: str
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"unroll({self.loop})"


@frozen
class Isolate:
    level: str
    line: SourceLine = field(eq=False)

    def __str__(self) -> str:
        return f"isolate({self.level})"


Step = Assume | Tile | Place | Stage | MultiplyBy | Finish | Drain | Shift | Order | Unroll | Isolate
