"""What the numbers of a tiling may be, whatever the product and its target."""

from __future__ import annotations

from typing import Any

from attrs import Attribute

from ptxgen.errors import PlanError


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


def _at_least(least: int, attribute: Attribute[int], value: object) -> None:
    if type(value) is not int or value < least:
        raise PlanError(f"MatmulTiling: {attribute.name} is a whole number of at least {least}, got {value!r}")
