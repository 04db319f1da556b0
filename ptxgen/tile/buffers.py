"""Where tiles live, and boxes of them."""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from polyhedral import Affine
from ptxgen.compute import Element
from ptxgen.tile.distribution import Distribution, SharedLayout


class Space(Enum):
    """Where a buffer lives."""

    GLOBAL = "global"
    SHARED = "shared"
    REGISTERS = "registers"


@frozen
class GlobalPlacement:
    """An array in global memory: extents and strides in elements. A block stays below `ends` in it where those are
    given: along segments, below the end of its own."""

    extents: tuple[Affine, ...]
    strides: tuple[Affine, ...]
    ends: tuple[Affine, ...] = ()

    @property
    def reach(self) -> tuple[Affine, ...]:
        """Below what indices a block stays."""
        return self.ends or self.extents


@frozen
class Buffer:
    """Where a tile lives. `shape` has one extent for each dimension of the array; a global buffer is the whole array
    and has an empty shape. `depth` tiles lie one behind the other: tile number n is in slot n mod depth. A shared
    buffer with an `alias` lies where that one begins; one of the two is in use at a time."""

    name: str
    array: str
    element: Element
    space: Space
    shape: tuple[int, ...]
    depth: int
    placement: GlobalPlacement | SharedLayout | Distribution
    alias: str = ""

    @property
    def layout(self) -> SharedLayout:
        """The layout of a shared buffer."""
        assert isinstance(self.placement, SharedLayout), self.name
        return self.placement

    @property
    def distribution(self) -> Distribution:
        """The distribution of a register buffer."""
        assert isinstance(self.placement, Distribution), self.name
        return self.placement

    @property
    def in_memory(self) -> GlobalPlacement:
        """The extents and strides of a global buffer."""
        assert isinstance(self.placement, GlobalPlacement), self.name
        return self.placement

    @property
    def slot_bytes(self) -> int:
        """Bytes of one slot of a shared buffer."""
        return self.layout.size * self.element.byte_count


@frozen
class Region:
    """The box of `buffer` that starts at `origin`, in tile number `rank` of its ring.

    The box has the extents of the distribution or tile that the node moves. In a global buffer `origin` is in elements
    of the array; in a shared or register tile it counts from the tile's corner and is constant, but for the parts of a
    shared tile that blocks of a cluster copy: those start where the block's rank says.
    """

    buffer: Buffer
    rank: Affine
    origin: tuple[Affine, ...]
