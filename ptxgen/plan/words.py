"""The small words that steps are spelled with. Each is checked where it is written: TypeError or ValueError there names
the word, what it wants and what came."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import Attribute, field, frozen

from ptxgen.plan.checked import instance_of, whole


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
    whole(instance, attribute, value)
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

    depth: int = field(validator=whole)
    layout: LayoutWish | Swizzle = field(
        validator=instance_of((LayoutWish, Swizzle), "free, congruous, crosswise, linear or swizzle(bytes)")
    )
    alias: str | None = field(
        default=None, validator=instance_of((str, type(None)), "the name of an op such as 'A.shared'")
    )

    def __str__(self) -> str:
        over = f", alias={self.alias}" if self.alias else ""
        return f"shared(depth={self.depth}, layout={self.layout.value}{over})"


@frozen
class IntoFragments:
    """A ring of `depth` operand tiles in registers, distributed as the reader asks."""

    depth: int = field(validator=whole)

    def __str__(self) -> str:
        return f"fragments(depth={self.depth})"


@frozen
class IntoWorkspace:
    """A tile in memory of the kernel's own, for each tile of the grid, which the launcher provides. With `tickets`
    blocks take their work in the order in which they begin."""

    tickets: bool = field(default=False, validator=instance_of(bool, "True or False"))

    def __str__(self) -> str:
        return "workspace(tickets=True)" if self.tickets else "workspace()"


Into = IntoRegisters | IntoShared | IntoFragments


def registers() -> IntoRegisters:
    """Into staging registers."""
    return IntoRegisters()


def shared(depth: int = 2, layout: LayoutWish | Swizzle = LayoutWish.FREE, alias: str | None = None) -> IntoShared:
    """Into a ring of `depth` tiles in shared memory; `alias` names the op in whose ring it lies."""
    return IntoShared(depth, layout, alias)


def workspace(*, tickets: bool = False) -> IntoWorkspace:
    """Into memory of the kernel's own, one tile for each tile of the grid. Blocks wait there for each other, so that
    all of them must run at once; with `tickets` each takes the next part as it begins, and waits for such as have
    begun before it alone, however few run at once."""
    return IntoWorkspace(tickets)


def fragments(depth: int = 2) -> IntoFragments:
    """Into a ring of `depth` operand tiles in registers."""
    return IntoFragments(depth)


class OperandPlace(Enum):
    """Where the A operand of a warpgroup's product is."""

    SHARED = "shared"
    REGISTERS = "registers"


class Eviction(Enum):
    """Which lines the L2 cache gives up: FIRST those that nobody will ask for again, LAST those that many will."""

    FIRST = "evict_first"
    LAST = "evict_last"


evict_first = Eviction.FIRST
evict_last = Eviction.LAST
