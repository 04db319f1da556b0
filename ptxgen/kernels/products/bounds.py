"""What the numbers of a tiling may be, whatever the product and its target."""

from __future__ import annotations

from types import NoneType
from typing import Any

from attrs import Attribute

from ptxgen.errors import PlanError
from ptxgen.plan import BlockOrder, Eviction, Workers

MOST_BLOCKS = 2**31 - 1


def from_one(tiling: Any, attribute: Attribute[int], value: object) -> None:
    """PlanError for what is no whole number of at least 1."""
    _at_least(1, attribute, value)


def from_zero(tiling: Any, attribute: Attribute[int], value: object) -> None:
    """PlanError for what is no whole number of at least 0."""
    _at_least(0, attribute, value)


def two_from_one(tiling: Any, attribute: Attribute[tuple[int, int]], value: object) -> None:
    """PlanError for what is not the rows and columns of a cluster."""
    if not isinstance(value, tuple) or len(value) != 2 or any(type(each) is not int or each < 1 for each in value):
        raise PlanError(f"MatmulTiling: {attribute.name} is two whole numbers of at least 1, got {value!r}")


def yes_or_no(tiling: Any, attribute: Attribute[bool], value: object) -> None:
    """PlanError for what is neither True nor False."""
    if type(value) is not bool:
        raise PlanError(f"MatmulTiling: {attribute.name} is True or False, got {value!r}")


def an_order(tiling: Any, attribute: Attribute[BlockOrder], value: object) -> None:
    """PlanError for what is no order of tiles."""
    if not isinstance(value, BlockOrder):
        raise PlanError(f"MatmulTiling: {attribute.name} is an order such as grouped(8), got {value!r}")


def who_stays(tiling: Any, attribute: Attribute[int | Workers | None], value: object) -> None:
    """PlanError for what is no count of blocks."""
    if not (value is None or isinstance(value, Workers) or (type(value) is int and 1 <= value <= MOST_BLOCKS)):
        raise PlanError(
            f"MatmulTiling: {attribute.name} is None, sms or a whole number from 1 to {MOST_BLOCKS}, got {value!r}"
        )


def three_evictions(tiling: Any, attribute: Attribute[Any], value: object) -> None:
    """PlanError for what is not a wish each for lines of A, B and the results."""
    if not isinstance(value, tuple) or len(value) != 3 or any(not isinstance(v, (Eviction, NoneType)) for v in value):
        wanted = "an Eviction or None for each of A, B and the results"
        raise PlanError(f"MatmulTiling: {attribute.name} is {wanted}, got {value!r}")


def _at_least(least: int, attribute: Attribute[int], value: object) -> None:
    if type(value) is not int or value < least:
        raise PlanError(f"MatmulTiling: {attribute.name} is a whole number of at least {least}, got {value!r}")
