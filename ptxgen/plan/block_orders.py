"""The order in which blocks take tiles."""

from __future__ import annotations

from attrs import Attribute, field, frozen

from ptxgen.plan.checked import whole

MOST_ROWS_OF_A_BAND = 1 << 16
MOST_SIDE = 64


def _band(instance: BlockOrder, attribute: Attribute[int], value: int) -> None:
    whole(instance, attribute, value)
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
